"""A piece of a sentence in both languages at once, and how pieces are woven into larger ones with their links."""

from collections.abc import Sequence
from typing import NamedTuple

from nungil.text.snow.hangul import attach

Link = tuple[int, int, bool]


class Mark(NamedTuple):
    """A homonym in a piece: where it stands in the Korean, which sense it has, and which Korean words settle that."""

    position: int
    homonym: str
    sense: str
    deciders: tuple[int, ...] = ()
    is_head: bool = True


class Piece(NamedTuple):
    """English words, Korean words, the links (English, Korean, sure?) between them, and the homonyms inside."""

    english: tuple[str, ...]
    korean: tuple[str, ...]
    links: tuple[Link, ...]
    marks: tuple[Mark, ...] = ()


def word(english: str, korean: str, sure: bool = True) -> Piece:
    """One English word for one Korean word."""
    return Piece((english,), (korean,), ((0, 0, sure),))


def weave(pieces: Sequence[Piece], order: Sequence[int]) -> Piece:
    """Pieces in English order, put into Korean in the order given, with all links and marks carried along."""
    starts = [0] * len(pieces)
    korean: list[str] = []
    for number in order:
        starts[number] = len(korean)
        korean += pieces[number].korean
    english: list[str] = []
    links: list[Link] = []
    marks: list[Mark] = []
    for piece, right in zip(pieces, starts, strict=True):
        left = len(english)
        english += piece.english
        links += [(i + left, j + right, sure) for i, j, sure in piece.links]
        for mark in piece.marks:
            marks.append(moved(mark, right))
    return Piece(tuple(english), tuple(korean), tuple(links), tuple(marks))


def moved(mark: Mark, by: int) -> Mark:
    """The mark after `by` Korean words have come before it."""
    return Mark(mark.position + by, mark.homonym, mark.sense, tuple(d + by for d in mark.deciders), mark.is_head)


def with_particle(piece: Piece, particle: str, preposition: str = "") -> Piece:
    """A noun phrase with the particle that gives it its part, and the English preposition which that absorbs."""
    last = len(piece.korean) - 1
    korean = (*piece.korean[:-1], attach(piece.korean[-1], particle))
    if not preposition:
        return Piece(piece.english, korean, piece.links, piece.marks)
    links = ((0, last, False), *((i + 1, j, sure) for i, j, sure in piece.links))
    return Piece((preposition, *piece.english), korean, links, piece.marks)


def settled(piece: Piece, decider: int) -> Piece:
    """The piece with its head homonym, if it has one, settled by the Korean word at `decider`."""
    if not any(mark.is_head for mark in piece.marks):
        return piece
    marks = tuple(m._replace(deciders=(*m.deciders, decider)) if m.is_head else m for m in piece.marks)
    return piece._replace(marks=marks)
