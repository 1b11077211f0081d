"""Noun phrases: a noun with its article, number, owner and adjective, in both languages."""

from functools import cache
from random import Random
from typing import NamedTuple, TypeVar

from nungil.text.snow.adjectives import ADJECTIVES
from nungil.text.snow.homonyms import adjective_settles, counter_settles
from nungil.text.snow.nouns import NOUNS, Noun, listed
from nungil.text.snow.pieces import Mark, Piece, word

Item = TypeVar("Item")

NUMBERS = {"two": "두", "three": "세", "four": "네", "five": "다섯"}
OWNERS = {"my": "내", "your": "네", "his": "그의", "her": "그녀의"}
ELDERS = frozenset({"mother", "father", "grandmother", "grandfather", "uncle", "aunt"})  # 우리 어머니, but 내 친구
KIN_OF = ("my", "my", "his", "her")
VERY = "아주"
HE = frozenset(listed("man fisherman boy father grandfather uncle brother Minsu Junho Hyunwoo"))
SHE = frozenset(listed("woman girl mother grandmother aunt sister Jina Yuna Suji Eunyoung Sujin"))
NEVER_VERY = frozenset(listed("new late little red blue white yellow black round delicious polite sincere"))
SILENT_H = frozenset({"honest"})
PEOPLE = frozenset({"people", "youngsters", "babies"})
LIVING = frozenset({"people", "youngsters", "babies", "animals"})


class Subject(NamedTuple):
    """Who a clause is about: the phrase, how English agrees with it, and how it is told from other subjects."""

    piece: Piece
    third: bool
    plural: bool
    name: str
    noun: Noun | None = None
    unknown: bool = False  # not met before: two men, Korean 이/가 and not 은/는
    relative: bool = False  # it has a relative clause, which Korean puts first


class Specified(NamedTuple):
    """All that is said of a noun but relative clauses; it names one phrase, so phrases can be kept."""

    noun: Noun
    determiner: str = ""
    adjective: str = ""
    very: bool = False
    plural: bool = False


PRONOUNS = tuple(
    Subject(word(english, korean), third, plural, english)
    for english, korean, third, plural in (
        ("I", "나", False, False),
        ("you", "너", False, False),
        ("he", "그", True, False),
        ("she", "그녀", True, False),
        ("we", "우리", False, True),
        ("they", "그들", False, True),
    )
)


def pick(rng: Random, items: "tuple[Item, ...] | list[Item]") -> Item:
    """One of these; `Random.choice` is three times slower."""
    return items[int(rng.random() * len(items))]


def article(following: str) -> str:
    """`a` or `an`, by the word that follows."""
    return "an" if following[0] in "aeiou" or following in SILENT_H else "a"


@cache
def phrase(specified: Specified) -> Piece:
    """The noun phrase in both languages: `two red apples` ↔ 빨간 사과 두 개."""
    noun, determiner, adjective = specified.noun, specified.determiner, specified.adjective
    before, korean, links = _modifiers(specified)
    english = [*before, noun.plural if specified.plural or not noun.english else noun.english]
    head = len(korean)
    korean.append(noun.korean + ("들" if _shows_plural(specified) else ""))
    links.append((len(english) - 1, head, True))
    deciders = [head - 1] if adjective_settles(noun, adjective) else []
    if determiner in NUMBERS:
        korean += [NUMBERS[determiner], noun.counter]
        links += [(0, head + 1, True), (0, head + 2, False), (len(english) - 1, head + 2, False)]
        deciders += [head + 2] if counter_settles(noun) else []
    elif determiner in ("the", "a", "an"):
        links.append((0, head, False))
    marks = (Mark(head, noun.korean, noun.sense, tuple(deciders)),) if noun.sense else ()
    return Piece(tuple(english), tuple(korean), tuple(links), marks)


def _shows_plural(specified: Specified) -> bool:
    """들 stands after people, and after animals that are known; never after things, nor beside a number."""
    if not specified.plural or specified.determiner in NUMBERS:
        return False
    return specified.noun.kind in PEOPLE or (specified.noun.kind == "animals" and specified.determiner == "the")


def _modifiers(specified: Specified) -> tuple[list[str], list[str], list[tuple[int, int, bool]]]:
    """What stands before the noun: English words, Korean words, and the links between them."""
    english: list[str] = []
    korean: list[str] = []
    links: list[tuple[int, int, bool]] = []

    def add(left: str, right: str) -> None:
        links.append((len(english), len(korean), True))
        english.append(left)
        korean.append(right)

    noun, determiner = specified.noun, specified.determiner
    if determiner in OWNERS:
        add(determiner, "우리" if determiner == "my" and noun.english in ELDERS else OWNERS[determiner])
    elif determiner.endswith("'s"):
        owner = NOUNS[determiner[:-2]]
        add(determiner, owner.korean + "의")
    elif determiner:
        english.append(determiner)
    if specified.very:
        add("very", VERY)
    if specified.adjective:
        found = ADJECTIVES[specified.adjective]
        add(found.english, found.attributive)
    return english, korean, links


def describe(
    rng: Random, noun: Noun, determiner: str, plural: bool, size: int, fitting: frozenset[str] | None = None
) -> Piece | None:
    """A phrase of exactly so many English words, or nothing if this noun has none."""
    extra = size - 1 - bool(determiner)
    if extra < 0 or extra > 2 or (extra and not noun.adjectives):
        return None
    adjective = pick(rng, noun.adjectives) if extra else ""
    if adjective and fitting is not None and (adjective not in fitting or extra > 1):
        return None
    very = extra == 2
    if very and (adjective in NEVER_VERY or determiner in OWNERS or rng.random() < 0.7):
        return None
    if determiner == "a":
        determiner = article("very" if very else ADJECTIVES[adjective].english if adjective else noun.english)
    return phrase(Specified(noun, determiner, adjective, very, plural))


def subject_of(rng: Random, noun: Noun, longest: int, generic: bool, single: bool = False) -> Subject | None:
    """This noun as what a clause is about, in at most so many words, three or fewer.

    `generic`: all such may be meant, as a bare plural. `single`: only one may be, and kin are mine.
    """
    if noun.kind == "names":
        return _named(noun)
    if noun.kind == "kin":
        return _related(noun, "my" if single else pick(rng, KIN_OF)) if longest > 1 else None
    determiner, plural = _number(rng, noun, longest, generic, single)
    size = 1 + bool(determiner)
    if noun.adjectives and size < min(longest, 3) and rng.random() < 0.5:
        size += 1
    piece = describe(rng, noun, determiner, plural, size) if size <= longest else None
    return Subject(piece, not plural, plural, noun.english, noun, determiner in NUMBERS) if piece else None


@cache
def _named(noun: Noun) -> Subject:
    return Subject(word(noun.english, noun.korean), True, False, noun.english, noun)


@cache
def _related(noun: Noun, determiner: str) -> Subject:
    return Subject(phrase(Specified(noun, determiner)), True, False, f"{determiner} {noun.english}", noun)


def _number(rng: Random, noun: Noun, longest: int, generic: bool, single: bool) -> tuple[str, bool]:
    """The article or number of a subject, and whether it is plural."""
    if not noun.plural or noun.english == "night":
        return "" if longest == 1 or (noun.english != "night" and rng.random() < 0.5) else "the", False
    if generic or noun.english == "leaf":
        return "" if longest == 1 or rng.random() < 0.5 else "the", True
    many = noun.kind in LIVING and not single and rng.random() < 0.25
    if many and noun.counter and rng.random() < 0.4:
        return pick(rng, ("two", "three")), True
    return "the", many
