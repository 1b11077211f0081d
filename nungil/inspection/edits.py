"""Edits of a source: swap, delete or insert a word. Of ids, so that every tokenizer can have them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nungil.errors import EmptyError
from nungil.inspection.changes import Places, Word, named
from nungil.inspection.merging import MARKS
from nungil.inspection.shown import Shown

Encode = Callable[[str], Sequence[int]]
Cut = Callable[[str], Shown]  # a text as ids, and as they are shown


class Splice(NamedTuple):
    """From where to where a source is replaced, and by what."""

    start: int
    stop: int
    new: Shown = Shown((), ())


class Traced(NamedTuple):
    """A source after edits, and the place that each of its ids had before; None if it is new."""

    source: Shown
    origins: list[int | None]

    def spliced(self, splice: Splice) -> "Traced":
        """After one more edit. New ids stand for the old ones in their order, as far as there are any."""
        start, stop, new = splice
        ids, tokens = self.source
        stand_in = [self.origins[place] if place < stop else None for place in range(start, start + len(new.ids))]
        return Traced(
            Shown((*ids[:start], *new.ids, *ids[stop:]), (*tokens[:start], *new.tokens, *tokens[stop:])),
            [*self.origins[:start], *stand_in, *self.origins[stop:]],
        )


@dataclass(frozen=True)
class Edit(ABC):
    """A source with a word changed."""

    word: Word

    @abstractmethod
    def splice(self, places: Places, cut: Cut) -> Splice:
        """What is done to the ids."""

    @abstractmethod
    def __str__(self) -> str:
        """As it is said."""


@dataclass(frozen=True)
class Swap(Edit):
    """Another word in its place."""

    other: str

    def splice(self, places: Places, cut: Cut) -> Splice:
        """The other word's pieces where this one's stood."""
        found = places(self.word)
        return Splice(found[0], found[-1] + 1, _some(cut, self.other))

    def __str__(self) -> str:
        return f"{named(self.word)} swapped for “{self.other}”"


@dataclass(frozen=True)
class Delete(Edit):
    """The source without the word."""

    def splice(self, places: Places, cut: Cut) -> Splice:
        """Nothing where it stood."""
        del cut
        found = places(self.word)
        return Splice(found[0], found[-1] + 1)

    def __str__(self) -> str:
        return f"{named(self.word)} deleted"


@dataclass(frozen=True)
class Insert(Edit):
    """A new word after this one."""

    new: str

    def splice(self, places: Places, cut: Cut) -> Splice:
        """The new word's pieces after this one's."""
        after = places(self.word)[-1] + 1
        return Splice(after, after, _some(cut, self.new))

    def __str__(self) -> str:
        return f"“{self.new}” inserted after {named(self.word)}"


def edited(source: Shown, edits: Sequence[Edit], find: Callable[[Shown], Places], cut: Cut) -> Traced:
    """The source after all of them, one after another; `find` tells where words are in what is there by then."""
    traced = Traced(source, list(range(len(source.ids))))
    for edit in edits:
        traced = traced.spliced(edit.splice(find(traced.source), cut))
        if all(token in MARKS for token in traced.source.tokens):
            raise EmptyError(f"{edit}: nothing is left to read")
    return traced


def _some(cut: Cut, word: str) -> Shown:
    found = cut(word)
    if not found.ids:
        raise EmptyError("the new word is empty; to take a word out, delete it")
    return found
