"""A whole sentence of an exact English length: one clause, two set against each other, a list of them, or a report."""

from functools import lru_cache
from random import Random

from nungil.text.snow.clauses import Clause, Plan, clause
from nungil.text.snow.nouns import KINDS, NOUNS
from nungil.text.snow.phrases import PRONOUNS, Specified, Subject, phrase, pick
from nungil.text.snow.pieces import Piece, weave, with_particle, word
from nungil.text.snow.stages import CASTED, EVERYWHERE, STAGES, Style
from nungil.text.snow.states import state
from nungil.text.snow.verbs import Ending, Tense, Verb, inflect

TRIES = 60  # how often a clause of one size is tried before another sentence is begun
LONGEST_CLAUSE = 15
CONTRASTED: tuple[Style, ...] = ("past", "past", "state", "state", "habit", "future")
LIST_STYLES: tuple[Style, ...] = ("past", "past", "past", "past", "future", "habit", "state")
REPORTS: tuple[tuple[str, str, str, Verb, Tense], ...] = (
    ("said", "said", "said", Verb("말하다"), "past"),
    ("heard", "heard", "heard", Verb("듣다", "ㄷ"), "past"),
    ("think", "thinks", "thought", Verb("생각하다"), "present"),
    ("believe", "believes", "believed", Verb("믿다"), "present"),
)
SPEAKING = (PRONOUNS[0], *PRONOUNS[2:4])
REPORTERS = tuple(NOUNS[name] for name in "teacher doctor nurse student neighbor lawyer captain writer farmer".split())


def sentence(rng: Random, size: int) -> Piece | None:
    """A sentence of exactly so many English words, or nothing if the dice fell badly."""
    chance = rng.random()
    if size < 8 or (size <= LONGEST_CLAUSE and chance < 0.55):
        found = one_clause(rng, size, Plan())
        return found.piece if found else None
    if size <= 20 and chance < 0.7:
        return contrast(rng, size)
    if 9 <= size <= 32 and chance < 0.85:
        return report(rng, size)
    return listing(rng, size, Plan(stage=pick(rng, STAGES)))


def one_clause(rng: Random, size: int, plan: Plan) -> Clause | None:
    """A clause of any kind, tried often enough that a possible size is nearly always met."""
    for _ in range(TRIES):
        stative = plan.stage is EVERYWHERE and rng.random() < 0.1
        found = state(rng, size, plan) if stative else clause(rng, size, plan)
        if found is not None:
            return found
    return None


def listing(rng: Random, size: int, plan: Plan) -> Piece | None:
    """`A did this, B did that, and C did a third thing`: each clause about someone else, all in one tense."""
    sizes = _shares(rng, size - 1)
    style = plan.style or pick(rng, LIST_STYLES)
    pieces: list[Piece] = []
    said = plan.said
    for number, share in enumerate(sizes):
        last = number == len(sizes) - 1
        ending: Ending = plan.ending if last else "and"
        inner = Plan(style, ending, plan.inner, number == 0, said, negative=False, stage=plan.stage)
        found = one_clause(rng, share, inner)
        if found is None:
            return None
        said |= found.said
        pieces.append(found.piece)
    return _listed(pieces)


def _shares(rng: Random, size: int) -> list[int]:
    """Cut a length into clauses of a length that a person would write."""
    count = max(2, round(size / (6.5 + 4 * rng.random())))
    shares = [size // count + (number < size % count) for number in range(count)]
    for number in range(count - 1):
        shift = int(rng.random() * 5) - 2
        if shares[number] - shift >= 4 and shares[number + 1] + shift >= 4:
            shares[number] -= shift
            shares[number + 1] += shift
    return shares


def _listed(pieces: list[Piece]) -> Piece:
    """Clauses with commas, and `and` before the last, which goes into the 고 of the clause before it."""
    many = len(pieces) > 2
    parts = [_comma(piece, korean=many) for piece in pieces[:-1]]
    parts[-1] = _with_word(parts[-1], "and")
    return weave([*parts, pieces[-1]], range(len(pieces)))


def _comma(piece: Piece, korean: bool) -> Piece:
    english = (*piece.english[:-1], piece.english[-1] + ",")
    right = (*piece.korean[:-1], piece.korean[-1] + ",") if korean else piece.korean
    return piece._replace(english=english, korean=right)


def _with_word(piece: Piece, conjunction: str) -> Piece:
    """The clause with the English word that its Korean ending stands for."""
    links = (*piece.links, (len(piece.english), len(piece.korean) - 1, False))
    return piece._replace(english=(*piece.english, conjunction), links=links)


def contrast(rng: Random, size: int) -> Piece | None:
    """`Minsu likes snow, but I do not like rain`: the same thing done by one and not by another."""
    cut = int((size - 1) * (0.35 + 0.2 * rng.random()))
    stage = pick(rng, CASTED)
    style = pick(rng, CONTRASTED)
    for _ in range(TRIES // 4):
        first = clause(rng, cut, Plan(style, "but", negative=False, stage=stage, brief=True))
        if first is None or first.action is None:
            continue
        said = first.said - {first.action.base}
        plan = Plan(style, "final", time=False, said=said, action=first.action, negative=True, stage=stage, brief=True)
        for _ in range(TRIES // 4):
            second = clause(rng, size - 1 - cut, plan)
            if second is not None:
                return weave((_with_word(_comma(first.piece, korean=False), "but"), second.piece), (0, 1))
    return None


def report(rng: Random, size: int) -> Piece | None:
    """`My mother said that …` ↔ 우리 어머니는 …다고 말했다: Korean puts what was said inside."""
    base, third, _, verb, tense = pick(rng, REPORTS)
    speaker = _speaker(rng)
    shown = third if speaker.third else base
    left = size - len(speaker.piece.english) - 2
    style: Style = "future" if tense == "present" and rng.random() < 0.3 else "past"
    told = frozenset({speaker.name, "hear", "believe", *("he", "she")[: 2 * (speaker.noun is None)]})
    stage = EVERYWHERE if left <= LONGEST_CLAUSE - 2 else pick(rng, STAGES)
    inside = _inside(rng, left, Plan(style, "quote", inner=True, said=told, stage=stage))
    if inside is None:
        return None
    links = ((0, len(inside.korean) - 1, False), *((i + 1, j, sure) for i, j, sure in inside.links))
    that = inside._replace(english=("that", *inside.english), links=links)
    return weave((with_particle(speaker.piece, "은/는"), _reporting(shown, verb, tense), that), (0, 2, 1))


def _inside(rng: Random, size: int, plan: Plan) -> Piece | None:
    if size > LONGEST_CLAUSE - 2:
        return listing(rng, size, plan)
    found = one_clause(rng, size, plan)
    return found.piece if found else None


@lru_cache(maxsize=None)
def _reporting(english: str, verb: Verb, tense: Tense) -> Piece:
    return word(english, inflect(verb, tense, "final")[0])


def _speaker(rng: Random) -> Subject:
    chance = rng.random()
    if chance < 0.3:
        return pick(rng, SPEAKING)
    if chance < 0.5:
        noun = pick(rng, KINDS["names"])
        return Subject(phrase(Specified(noun)), True, False, noun.english, noun)
    kin = chance < 0.75
    noun = pick(rng, KINDS["kin"] if kin else REPORTERS)
    determiner = "my" if kin else "the"
    return Subject(phrase(Specified(noun, determiner)), True, False, f"my {noun.english}" if kin else noun.english, noun)
