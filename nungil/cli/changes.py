"""Changes and edits as they are written on the command line: `--force 3:snow`, `--swap snow=rain`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from nungil.errors import UsageError

if TYPE_CHECKING:
    from nungil.inspection.changes import Change, Word
    from nungil.inspection.edits import Edit

ROWS = "Change what it looks at (steps from 1; a word by its text or by its column, from 1)"
WORDS = "Change what it reads"

Texts = list[str] | None
Numbers = list[int] | None
Force = Annotated[
    Texts, typer.Option("--force", metavar="STEP:WORD", help="All weight of a step on one word.", rich_help_panel=ROWS)
]
Move = Annotated[
    Texts, typer.Option("--move", metavar="STEP:A>B", help="The weight of word A on word B.", rich_help_panel=ROWS)
]
Zero = Annotated[Texts, typer.Option("--zero", metavar="STEP:WORD", help="No weight on a word.", rich_help_panel=ROWS)]
Flatten = Annotated[
    Numbers, typer.Option("--flatten", metavar="STEP", help="The same weight everywhere.", rich_help_panel=ROWS)
]
Permute = Annotated[
    Numbers, typer.Option("--permute", metavar="STEP", help="The weights in another order.", rich_help_panel=ROWS)
]
Everywhere = Annotated[
    bool, typer.Option("--everywhere", help="In every layer and head, not only in those shown.", rich_help_panel=ROWS)
]
Swap = Annotated[
    Texts, typer.Option("--swap", metavar="WORD=OTHER", help="Another word in its place.", rich_help_panel=WORDS)
]
Delete = Annotated[Texts, typer.Option("--delete", metavar="WORD", help="Without a word.", rich_help_panel=WORDS)]
Insert = Annotated[
    Texts, typer.Option("--insert", metavar="WORD=NEW", help="A new word after one.", rich_help_panel=WORDS)
]


class Asked(NamedTuple):
    """The options as given; `order` has their names in the order typed."""

    force: Sequence[str] | None = None
    move: Sequence[str] | None = None
    zero: Sequence[str] | None = None
    flatten: Sequence[int] | None = None
    permute: Sequence[int] | None = None
    swap: Sequence[str] | None = None
    delete: Sequence[str] | None = None
    insert: Sequence[str] | None = None
    order: Sequence[str] = ()

    def changes(self, seed: int) -> "tuple[Change, ...]":
        """The changes of attention, in order: each applies to the result of the one before."""
        from nungil.inspection.changes import Flatten, Force, Move, Permute, Zero

        return self._in_order(
            {
                "force": [Force(*_at("--force", one)) for one in self.force or ()],
                "move": [Move(*_moved(one)) for one in self.move or ()],
                "zero": [Zero(*_at("--zero", one)) for one in self.zero or ()],
                "flatten": [Flatten(step) for step in self.flatten or ()],
                "permute": [Permute(step, seed) for step in self.permute or ()],
            }
        )

    def edits(self) -> "tuple[Edit, ...]":
        """The edits of the text, in order."""
        from nungil.inspection.edits import Delete, Insert, Swap

        swaps, inserts = (
            [_named(option, one) for one in given or ()]
            for option, given in (("--swap", self.swap), ("--insert", self.insert))
        )
        return self._in_order(
            {
                "swap": [Swap(word_of(word), other) for word, other in swaps],
                "delete": [Delete(word_of(one)) for one in self.delete or ()],
                "insert": [Insert(word_of(word), new) for word, new in inserts],
            }
        )

    def _in_order(self, given: "dict[str, list[Any]]") -> "tuple[Any, ...]":
        """In the order typed; those not in `order` come last, kind by kind."""
        waiting = {name: iter(several) for name, several in given.items()}
        found = [next(waiting[name]) for name in self.order if name in waiting]
        return (*found, *(one for several in waiting.values() for one in several))


EXAMPLES = {
    "--force": "--force 3:snow",
    "--move": "--move '3:snow>rain'",
    "--zero": "--zero 3:snow",
    "--swap": "--swap snow=rain",
    "--insert": "--insert like=white",
}


def word_of(text: str) -> "Word":
    """A word by its text, or, if it is a number, by its column from 1."""
    return int(text) if text.isascii() and text.isdigit() else text


def _at(option: str, given: str) -> "tuple[int, Word]":
    step, word = _step(option, given)
    return step, word_of(word)


def _step(option: str, given: str) -> tuple[int, str]:
    step, colon, word = given.partition(":")
    if not (step.isascii() and step.isdigit() and colon and word):
        raise _wrong(option, given, "a step, from 1, and a word, with a colon between them,")
    return int(step), word


def _moved(given: str) -> "tuple[int, Word, Word]":
    step, pair = _step("--move", given)
    first, sign, second = pair.partition(">")
    if not (first and sign and second):
        raise _wrong("--move", given, "a step and two words, with > between them,")
    return step, word_of(first), word_of(second)


def _named(option: str, given: str) -> tuple[str, str]:
    word, sign, other = given.partition("=")
    if not (word and sign and other.strip()):
        raise _wrong(option, given, "two words with = between them")
    return word, other.strip()


def _wrong(option: str, given: str, expected: str) -> UsageError:
    return UsageError(f"{option} {given}: {expected} are expected, as in {EXAMPLES[option]}")
