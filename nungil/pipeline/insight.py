"""Insight: how far what a model shows can be trusted, and what would be if … Translators and classifiers have it alike.

Lenses, honesty, interventions, differences, badges: text in, records out, as with everything of the pipeline.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial

from nungil.errors import UsageError
from nungil.inspection.badge import Badge
from nungil.inspection.changes import Change, Places
from nungil.inspection.difference import Difference
from nungil.inspection.edits import Edit, Traced, edited
from nungil.inspection.example import Example
from nungil.inspection.honesty import Strip
from nungil.inspection.intervention import Intervention, intervene, place_of
from nungil.inspection.judging import Metric, Tell, judge
from nungil.inspection.lenses import missing_lenses, through
from nungil.inspection.lensmap import LensMap
from nungil.inspection.measuring import PERMUTATIONS, is_cheap, measure
from nungil.inspection.wordplaces import places_of
from nungil.model.build import Model
from nungil.model.folder import ModelConfig
from nungil.pipeline.texts import encode, evaluating, not_empty
from nungil.text.tokenizers.base import Tokenizer


class Insight(ABC):
    """What `Translator` and `Classifier` share. `target` is a translation, or a label, in place of the model's own."""

    config: ModelConfig

    @abstractmethod
    def _parts(self) -> tuple[Model, Tokenizer]:
        """The model, and the tokenizer of what it reads."""

    @abstractmethod
    def _example(self, source: Sequence[int], target: str | None) -> Example:
        """What the model makes of these ids."""

    @abstractmethod
    def _room(self, source: Sequence[int]) -> int:
        """How many tokens may be written for these."""

    @abstractmethod
    def _judged(self, records: Sequence[tuple[str, str]]) -> tuple[list[Example], Metric]:
        """Examples of some records, and how the model is scored on them."""

    def example(self, text: str, target: str | None = None) -> Example:
        """The text and what is written for it, as everything below takes it."""
        with evaluating(self._parts()[0]):
            return self._example(self._ids(text), target)

    def lens(
        self,
        text: str,
        lens: str = "raw",
        target: str | None = None,
        *,
        layer: int | None = None,
        head: int | None = None,
    ) -> LensMap:
        """The text through a lens: raw, value-norm, rollout, gradient-input, integrated-gradients or leave-one-out.

        `layer` and `head` are for raw and value-norm. A model without attention has the last three all the same.
        """
        with evaluating(self._parts()[0]):
            return through(self._example(self._ids(text), target), lens, layer, head)

    def honesty(
        self,
        text: str,
        target: str | None = None,
        *,
        layer: int | None = None,
        head: int | None = None,
        permutations: int = PERMUTATIONS,
        seed: int = 1,
    ) -> Strip:
        """How far the map of this text can be trusted: by default that of the last layer, the mean over its heads."""
        with evaluating(self._parts()[0]):
            return measure(self._attending(self._ids(text), target), layer, head, permutations, seed)

    def quick_honesty(
        self, text: str, target: str | None = None, *, layer: int | None = None, head: int | None = None
    ) -> Strip | None:
        """The same without permutations, if it takes no more than a second or so; else None."""
        with evaluating(self._parts()[0]):
            example = self._attending(self._ids(text), target)
            return measure(example, layer, head) if is_cheap(example) else None

    def intervene(
        self,
        text: str,
        *changes: Change,
        target: str | None = None,
        layer: int | None = None,
        head: int | None = None,
        everywhere: bool = False,
    ) -> Intervention:
        """Change rows of attention and see what is written then: `Force(3, "snow")`, `Flatten(1)` …

        In one layer, by default the last, with all its heads or one; or everywhere, in all of them.
        """
        source = self._ids(text)
        with evaluating(self._parts()[0]):
            example = self._attending(source, target)
            place = place_of(example, layer, head, everywhere)
            return intervene(example, changes, place, self._places(example.source), self._room(source))

    def compare(
        self, text: str, *edits: Edit, lens: str = "raw", layer: int | None = None, head: int | None = None
    ) -> Difference:
        """Swap, delete or insert words, and see the new output and where its map differs."""
        after = self._edited(text, edits)
        with evaluating(self._parts()[0]):
            both = (self._example(ids, None) for ids in (self._ids(text), after.ids))
            first, second = (through(example, lens, layer, head) for example in both)
        return Difference(first, second, tuple(str(edit) for edit in edits), tuple(after.origins))

    def edited(self, text: str, *edits: Edit) -> Example:
        """The text after these edits and what is written for it, as everything else takes it."""
        after = self._edited(text, edits)
        with evaluating(self._parts()[0]):
            return self._example(after.ids, None)

    def badge(self, records: Sequence[tuple[str, str]], *, seed: int = 1, tell: Tell | None = None) -> Badge:
        """The badge of the model on texts and their translations, or their labels."""
        if not records:
            raise UsageError("a badge needs some texts with their translations or labels, and got none")
        with evaluating(self._parts()[0]):
            examples, metric = self._judged(records)
            self._refuse_unlooking(examples[0])
            return judge(examples, metric, seed, tell)

    def _edited(self, text: str, edits: Sequence[Edit]) -> Traced:
        if not edits:
            raise UsageError("nothing is to be edited; name an edit, as Swap('snow', 'rain')")
        return edited(self._ids(text), edits, self._places, self._parts()[1].encode)

    def _ids(self, text: str) -> list[int]:
        return encode(not_empty(text), self._parts()[1], self.config).ids

    def _attending(self, source: Sequence[int], target: str | None) -> Example:
        example = self._example(source, target)
        self._refuse_unlooking(example)
        return example

    def _refuse_unlooking(self, example: Example) -> None:
        missing = missing_lenses(example)
        if "raw" in missing:
            raise UsageError(f"there is no map to trust or to change: {missing['raw']}")

    def _places(self, source: Sequence[int]) -> Places:
        tokenizer = self._parts()[1]
        find: Callable[..., Sequence[int]] = places_of
        return partial(find, source=source, tokens=tokenizer.tokens(source), encode=tokenizer.encode)
