"""Requests as the server takes them: every field has a type and bounds, and unknown ones are refused."""

from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field, model_validator

from nungil.decoding.settings import SearchSettings
from nungil.inspection.changes import Change, Flatten, Force, Move, Permute, Set, Zero
from nungil.inspection.edits import Delete, Edit, Insert, Swap
from nungil.inspection.lenses import Lens
from nungil.inspection.record import Kind, Reading
from nungil.inspection.words import Language
from nungil.settings import Settings

STRICT = ConfigDict(strict=True)
Named = Annotated[str | None, Field(max_length=200, description="The name of a model; by default the first that can.")]
Text = Annotated[str, Field(min_length=1, description="A sentence.")]
Target = Annotated[
    str | None, Field(min_length=1, description="A translation, or a label, in place of the model's own.")
]
Layer = Annotated[int | None, Field(ge=0, le=1_000, description="From 0; by default the last.")]
Head = Annotated[int | None, Field(ge=0, le=1_000, description="From 0; by default the mean over all.")]
Step = Annotated[int, Field(ge=1, le=100_000, description="A token that is written, from 1.")]
ByName = Annotated[
    Annotated[str, Field(min_length=1, max_length=1_000)] | Annotated[int, Field(ge=1, le=100_000)],
    Field(description="A word by its text, or by the number of its column, from 1."),
]
New = Annotated[str, Field(min_length=1, max_length=1_000)]
Seed = Annotated[int, Field(ge=0, lt=2**63, description="Seed of random changes and permutations.")]


class Translate(SearchSettings):
    """Texts to translate, and search settings."""

    model_config = STRICT

    model: Named = None
    texts: list[str] = Field(min_length=1, description="Texts; each may have several sentences.")
    split: bool = Field(True, description="Translate sentence by sentence.")
    align: bool = Field(False, description="Add word links.")
    prefix: str | list[str | None] | None = Field(
        None, description="What translations begin with: one for all, or one for each."
    )

    def search(self) -> SearchSettings:
        """The search settings alone."""
        given = {name: getattr(self, name) for name in self.model_fields_set if name in SearchSettings.model_fields}
        return SearchSettings.model_validate(given)


class Classify(Settings):
    """Texts to classify."""

    model_config = STRICT

    model: Named = None
    texts: list[Text] = Field(min_length=1, description="Texts.")


class Look(Settings):
    """Which map of which text."""

    model_config = STRICT

    model: Named = None
    text: Text
    target: Target = None
    kind: Kind | None = Field(None, description="Which attention; by default the main one.")
    layer: Layer = None
    head: Head = None
    lens: Lens | None = Field(None, description="By default raw, or gradient-input of a model without attention.")
    reading: Reading = Field("output", description="A row belongs to the word being output, or to the one just put in.")
    words: bool = Field(False, description="Pieces merged to words.")
    honesty: Literal["none", "quick", "full"] = Field(
        "none", description="How far to trust the map: a few figures where they are cheap, or every figure."
    )
    seed: Seed = 1


class Explain(Settings):
    """Which step of which text."""

    model_config = STRICT

    model: Named = None
    text: Text
    target: Target = None
    step: Step = 1
    kind: Kind | None = Field(
        None, description="Which attention is written out; with `self`, a step is a source token."
    )
    layer: Layer = None
    head: Head = None
    lang: Language = Field("en", description="The language of names and stories.")


class ChangeRequest(Settings):
    """A change of a row of attention. Its fields are those of the `Change` that it makes."""

    model_config = STRICT
    makes: ClassVar[type[Change]]

    def change(self) -> Change:
        """The change that is asked for."""
        return self.makes(**self.model_dump(exclude={"do"}))


class EditRequest(Settings):
    """An edit of the text. Its fields are those of the `Edit` that it makes."""

    model_config = STRICT
    makes: ClassVar[type[Edit]]

    def edit(self) -> Edit:
        """The edit that is asked for."""
        return self.makes(**self.model_dump(exclude={"do"}))


class ForceIt(ChangeRequest):
    """All the weight on one word."""

    makes = Force

    do: Literal["force"]
    step: Step
    word: ByName


class MoveIt(ChangeRequest):
    """The weight of one word on another."""

    makes = Move

    do: Literal["move"]
    step: Step
    word: ByName
    to: ByName
    share: float = Field(1.0, ge=0, le=1, description="How much of the weight.")


class ZeroIt(ChangeRequest):
    """No weight on one word."""

    makes = Zero

    do: Literal["zero"]
    step: Step
    word: ByName


class FlattenIt(ChangeRequest):
    """The same weight on every word."""

    makes = Flatten

    do: Literal["flatten"]
    step: Step


class PermuteIt(ChangeRequest):
    """The same weights in another order."""

    makes = Permute

    do: Literal["permute"]
    step: Step
    seed: Seed = 1


class SetIt(ChangeRequest):
    """Your own weights, one for each column; scaled to the sum of the row."""

    makes = Set

    do: Literal["set"]
    step: Step
    weights: list[Annotated[float, Field(ge=0, le=1e6)]] = Field(min_length=1, max_length=100_000)

    def change(self) -> Change:
        """JSON has no tuples."""
        return Set(self.step, tuple(self.weights))


class SwapIt(EditRequest):
    """Another word in its place."""

    makes = Swap

    do: Literal["swap"]
    word: ByName
    other: New


class DeleteIt(EditRequest):
    """The text without a word."""

    makes = Delete

    do: Literal["delete"]
    word: ByName


class InsertIt(EditRequest):
    """A new word after one."""

    makes = Insert

    do: Literal["insert"]
    word: ByName
    new: New


AnyChange = Annotated[ForceIt | MoveIt | ZeroIt | FlattenIt | PermuteIt | SetIt, Field(discriminator="do")]
AnyEdit = Annotated[SwapIt | DeleteIt | InsertIt, Field(discriminator="do")]


class Intervene(Settings):
    """What would be written if attention, or the text, were different."""

    model_config = STRICT

    model: Named = None
    text: Text
    target: Target = None
    changes: list[AnyChange] = Field(default_factory=list, description="Of rows of attention.")
    edits: list[AnyEdit] = Field(default_factory=list, description="Of the text.")
    other_map: bool = Field(
        False, description="Of a classifier: search for the most different map with the same answer."
    )
    layer: Layer = None
    head: Head = None
    everywhere: bool = Field(False, description="Changes of rows in every layer and head.")
    lens: Lens = Field("raw", description="Of edits: which map is compared.")
    words: bool = Field(False, description="Of edits: pieces merged to words.")
    seed: Seed = 1

    def added(self) -> list[str]:
        """The words that edits add to the text."""
        return [
            one.other if isinstance(one, SwapIt) else one.new for one in self.edits if not isinstance(one, DeleteIt)
        ]

    @model_validator(mode="after")
    def _one_question(self) -> "Intervene":
        asked = [name for name in ("changes", "edits", "other_map") if getattr(self, name)]
        if len(asked) != 1:
            raise ValueError(
                f"{' and '.join(asked)} are two questions; ask one at a time"
                if asked
                else "ask one question: changes, edits or other_map"
            )
        if self.everywhere and not self.changes:
            raise ValueError("everywhere goes with changes")
        if self.edits and self.target is not None:
            raise ValueError("target does not go with edits: the translation of an edited text is the model's own")
        return self
