"""Edits of a source: swap, delete or insert a word. Of ids, so that every tokenizer can have them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nungil.errors import UsageError
from nungil.inspection.changes import Places, Word, named

Encode = Callable[[str], Sequence[int]]


class Splice(NamedTuple):
    """From where to where a source is replaced, and by which ids."""

    start: int
    stop: int
    new: tuple[int, ...] = ()


class Traced(NamedTuple):
    """A source after edits, and the place that each of its ids had before; None if it is new."""

    ids: list[int]
    origins: list[int | None]

    def spliced(self, splice: Splice) -> "Traced":
        """After one more edit. New ids stand for the old ones in their order, as far as there are any."""
        start, stop, new = splice
        stand_in = [self.origins[place] if place < stop else None for place in range(start, start + len(new))]
        return Traced(
            [*self.ids[:start], *new, *self.ids[stop:]],
            [*self.origins[:start], *stand_in, *self.origins[stop:]],
        )


@dataclass(frozen=True)
class Edit(ABC):
    """A source with a word changed."""

    word: Word

    @abstractmethod
    def splice(self, places: Places, encode: Encode) -> Splice:
        """What is done to the ids."""

    @abstractmethod
    def __str__(self) -> str:
        """As it is said."""


@dataclass(frozen=True)
class Swap(Edit):
    """Another word in its place."""

    other: str

    def splice(self, places: Places, encode: Encode) -> Splice:
        """The other word's pieces where this one's stood."""
        found = places(self.word)
        return Splice(found[0], found[-1] + 1, _some(encode, self.other))

    def __str__(self) -> str:
        return f"{named(self.word)} swapped for “{self.other}”"


@dataclass(frozen=True)
class Delete(Edit):
    """The source without the word."""

    def splice(self, places: Places, encode: Encode) -> Splice:
        """Nothing where it stood."""
        del encode
        found = places(self.word)
        return Splice(found[0], found[-1] + 1)

    def __str__(self) -> str:
        return f"{named(self.word)} deleted"


@dataclass(frozen=True)
class Insert(Edit):
    """A new word after this one."""

    new: str

    def splice(self, places: Places, encode: Encode) -> Splice:
        """The new word's pieces after this one's."""
        after = places(self.word)[-1] + 1
        return Splice(after, after, _some(encode, self.new))

    def __str__(self) -> str:
        return f"“{self.new}” inserted after {named(self.word)}"


def edited(
    source: Sequence[int], edits: Sequence[Edit], find: Callable[[Sequence[int]], Places], encode: Encode
) -> Traced:
    """The source after all of them, one after another; `find` tells where words are in what is there by then."""
    traced = Traced(list(source), list(range(len(source))))
    for edit in edits:
        traced = traced.spliced(edit.splice(find(traced.ids), encode))
        if not traced.ids:
            raise UsageError(f"{edit}: nothing is left to read")
    return traced


def _some(encode: Encode, word: str) -> tuple[int, ...]:
    found = tuple(encode(word))
    if not found:
        raise UsageError("the new word is empty; to take a word out, delete it")
    return found
