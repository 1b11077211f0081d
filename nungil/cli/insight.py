"""What `nungil look` shows beside a map (honesty) or instead of one: lenses, changed rows, edited texts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from nungil.cli.changes import Asked
from nungil.errors import UsageError

if TYPE_CHECKING:
    from nungil.inspection.measuring import Wanted
    from nungil.inspection.picture import Picture
    from nungil.pipeline import Classifier, Translator

TRUST = "How far to trust it"
Lens = Annotated[
    str | None,
    typer.Option(
        "--lens",
        metavar="NAME",
        help="raw, value-norm, rollout, gradient-input, integrated-gradients or leave-one-out.",
        rich_help_panel=TRUST,
    ),
]
Honesty = Annotated[
    Literal["short", "full", "none"] | None,
    typer.Option(
        "--honesty",
        help="Three figures and a verdict (default, if they take about a second), every figure, or none.",
        rich_help_panel=TRUST,
    ),
]
OtherMap = Annotated[
    bool,
    typer.Option(
        "--other-map", help="For classifiers: the most different map with the same answer.", rich_help_panel=TRUST
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", help="Seed of random changes and permutations.", rich_help_panel=TRUST)
]


class Chosen(NamedTuple):
    """Which map of which text."""

    text: str
    target: str | None = None
    layer: int | None = None
    head: int | None = None
    words: bool = False
    seed: int = 1


class Shown(NamedTuple):
    """A picture, the lines below it, and everything as plain values."""

    picture: "Picture"
    lines: tuple[str, ...]
    plain: dict[str, Any]


class Instead(NamedTuple):
    """What is to be shown instead of the map of attention."""

    asked: Asked = Asked()
    lens: str | None = None
    other_map: bool = False
    everywhere: bool = False

    def check(self, chosen: Chosen, only_of_maps: Sequence[str] = ()) -> None:
        """Refuse more than one question; `only_of_maps` are the given options that choose among maps of attention."""
        changes, edits = self.asked.changes(chosen.seed), self.asked.edits()
        given = {
            "--lens": self.lens is not None and not edits,  # a difference may be of any lens
            "changes of attention": bool(changes),
            "changes of the text": bool(edits),
            "--other-map": self.other_map,
        }
        several = [name for name, one in given.items() if one]
        if len(several) > 1:
            raise UsageError(f"{' and '.join(several)} are two questions; ask one at a time")
        if several and only_of_maps:
            raise UsageError(
                f"{', '.join(only_of_maps)}: only for maps of attention, not with {several[0]}; "
                "that is of what is written, word by word, and of what is read for it"
            )
        if self.everywhere and not changes:
            raise UsageError("--everywhere goes with --force, --move, --zero, --flatten or --permute")
        if edits and chosen.target is not None:
            raise UsageError("--target does not go with an edited text: its translation is the model's own")


def shown_instead(model: "Translator | Classifier", chosen: Chosen, instead: Instead) -> Shown | None:
    """What is shown instead of the map of attention; None for the map itself."""
    if instead.asked.changes(chosen.seed):
        return _intervention(model, chosen, instead)
    if instead.asked.edits():
        return _difference(model, chosen, instead)
    if instead.other_map:
        return _other_map(model, chosen)
    return None if instead.lens is None else _lens(model, chosen, instead.lens)


def _lens(model: "Translator | Classifier", chosen: Chosen, lens: str) -> Shown:
    found = model.lens(chosen.text, lens, chosen.target, layer=chosen.layer, head=chosen.head)
    found = found.merged() if chosen.words else found
    return Shown(found.picture(), (), found.to_json())


def _intervention(model: "Translator | Classifier", chosen: Chosen, instead: Instead) -> Shown:
    found = model.intervene(
        chosen.text,
        *instead.asked.changes(chosen.seed),
        target=chosen.target,
        layer=chosen.layer,
        head=chosen.head,
        everywhere=instead.everywhere,
    )
    return Shown(_words(found.picture(), chosen), found.lines(), found.to_json())


def _difference(model: "Translator | Classifier", chosen: Chosen, instead: Instead) -> Shown:
    lens = instead.lens or "raw"
    found = model.compare(chosen.text, *instead.asked.edits(), lens=lens, layer=chosen.layer, head=chosen.head)
    found = replace(found, before=found.before.merged(), after=found.after.merged()) if chosen.words else found
    return Shown(found.picture(), found.lines(), found.to_json())


def _other_map(model: "Translator | Classifier", chosen: Chosen) -> Shown:
    from nungil.pipeline import Translator

    if isinstance(model, Translator):
        raise UsageError("--other-map is for classifiers; a translator's rows depend on each other")
    found = model.other_map(chosen.text, seed=chosen.seed)
    return Shown(_words(found.picture(), chosen), (), found.to_json())


def _words(picture: "Picture", chosen: Chosen) -> "Picture":
    """The picture with tokens merged to words, if wanted; JSON keeps the model's tokens."""
    return picture.joined() if chosen.words else picture


def strip_wanted(chosen: Chosen, honesty: str | None) -> "Wanted | bool":
    """Which honesty strip to measure: the one asked for, or one that is quick."""
    from nungil.inspection.measuring import PERMUTATIONS, Wanted

    if honesty == "none":
        return False
    permutations = PERMUTATIONS if honesty == "full" else 0
    return Wanted(chosen.layer, chosen.head, permutations, chosen.seed, patient=honesty is not None)
