"""A whole sentence: one clause, two set against each other, a list of them, or a report."""

from functools import cache
from random import Random

from nungil.text.snow.clauses import Clause, Plan, clause, refusal
from nungil.text.snow.nouns import KINDS, NOUNS, listed
from nungil.text.snow.phrases import PRONOUNS, Specified, Subject, phrase, pick
from nungil.text.snow.pieces import Piece, weave, with_particle, word
from nungil.text.snow.stages import CASTED, EVERYWHERE, STAGES, Style
from nungil.text.snow.states import state
from nungil.text.snow.verbs import Ending, Tense, Verb, inflect

TRIES = 60  # how often a clause of one size is tried before another sentence is begun
LONGEST_CLAUSE = 15
SLACK = 3  # words that a clause may fall short of what was asked
CONTRASTED: tuple[Style, ...] = ("past", "past", "state", "state", "habit", "future")
LIST_STYLES: tuple[Style, ...] = ("past", "past", "past", "past", "future", "habit", "state")
REPORTS: tuple[tuple[str, str, str, Verb, Tense], ...] = (
    ("said", "said", "said", Verb("말하다"), "past"),
    ("heard", "heard", "heard", Verb("듣다", "ㄷ"), "past"),
    ("think", "thinks", "thought", Verb("생각하다"), "present"),
    ("believe", "believes", "believed", Verb("믿다"), "present"),
)
SPEAKING = (PRONOUNS[0], *PRONOUNS[2:4])
REPORTERS = tuple(NOUNS[name] for name in listed("teacher doctor nurse student neighbor lawyer captain writer farmer"))


def sentence(rng: Random, size: int, shortest: int) -> Piece | None:
    """A sentence of about so many English words, never more and never fewer than the shortest; or nothing."""
    slack = min(SLACK, size - shortest)
    chance = rng.random()
    if size < 8 or (size <= LONGEST_CLAUSE and chance < 0.55):
        found = one_clause(rng, size, Plan(slack=slack))
        return found.piece if found else None
    if size <= 18 and chance < 0.7:
        return contrast(rng, size, slack)
    if 9 <= size <= 32 and chance < 0.85:
        return report(rng, size, slack)
    return listing(rng, size, Plan(stage=pick(rng, STAGES), slack=slack))


def one_clause(rng: Random, size: int, plan: Plan) -> Clause | None:
    """A clause of any kind, tried often enough that a possible size is nearly always met."""
    for _ in range(TRIES):
        stative = plan.stage is EVERYWHERE and rng.random() < 0.1
        found = state(rng, size, plan) if stative else clause(rng, size, plan)
        if found is not None:
            return found
    return None


def listing(rng: Random, size: int, plan: Plan) -> Piece | None:
    """`A did this, B did that, and C did a third thing`: each clause about someone else, all in one tense.

    Inside a report each clause after the first has a `that` of its own, or it would be told and no longer reported.
    """
    style = plan.style or pick(rng, LIST_STYLES)
    count = max(2, round((size - 1) / (6.5 + 3.5 * rng.random())))
    pieces: list[Piece] = []
    said = plan.said
    left = size - 1 - (count - 1) * plan.inner
    for more in range(count - 1, -1, -1):  # how many clauses are still to come after this one
        share = left // (more + 1) + (int(rng.random() * 5) - 2 if more else 0)
        ending: Ending = "and" if more else plan.ending
        slack = SLACK if more else plan.slack
        timed = not pieces and style != "habit"  # one habit's day is not another's
        part = Plan(style, ending, plan.inner, timed, said, negative=False, stage=plan.stage, slack=slack)
        found = one_clause(rng, share if more else left, part)
        if found is None:
            return None
        said |= found.said
        left -= len(found.piece.english)
        pieces.append(found.piece)
    return _listed(pieces, plan.inner)


def _listed(pieces: list[Piece], reported: bool) -> Piece:
    """Clauses with commas, and `and` before the last, which goes into the 고 of the clause before it.

    Reported, each but the first begins with `that`, and all of these go into the one 다고 at the end.
    """
    many = len(pieces) > 2
    parts = [_comma(piece, korean=many) for piece in pieces[:-1]]
    parts[-1] = _with_word(parts[-1], "and")
    if not reported:
        return weave([*parts, pieces[-1]], range(len(pieces)))
    that = Piece(("that",), (), ())
    woven = weave(
        [parts[0], *(half for part in (*parts[1:], pieces[-1]) for half in (that, part))], range(2 * len(pieces) - 1)
    )
    linked = {i for i, _, _ in woven.links}
    ends = tuple((i, len(woven.korean) - 1, False) for i in range(len(woven.english)) if i not in linked)
    return woven._replace(links=(*woven.links, *ends))


def _comma(piece: Piece, korean: bool) -> Piece:
    english = (*piece.english[:-1], piece.english[-1] + ",")
    right = (*piece.korean[:-1], piece.korean[-1] + ",") if korean else piece.korean
    return piece._replace(english=english, korean=right)


def _with_word(piece: Piece, conjunction: str) -> Piece:
    """The clause with the English word that its Korean ending stands for."""
    links = (*piece.links, (len(piece.english), len(piece.korean) - 1, False))
    return piece._replace(english=(*piece.english, conjunction), links=links)


def contrast(rng: Random, size: int, slack: int) -> Piece | None:
    """`Minsu likes snow, but I do not`: one does it and another does not, or not to the same thing."""
    stage, style = pick(rng, CASTED), pick(rng, CONTRASTED)
    whole = style == "state" and rng.random() < 0.4
    denied = 5 + int(rng.random() * 3) if whole else 4
    first = _tried(rng, size - 1 - denied, Plan(style, "but", negative=False, stage=stage, brief=True, slack=slack))
    if first is None or first.action is None:
        return None
    plan = Plan(style, "final", False, False, first.said - {first.action.base}, first.action, True, stage, True, slack)
    if whole and first.action.what:
        found = _tried(rng, size - 1 - len(first.piece.english), plan)
        second = found.piece if found else None
    else:
        second = refusal(rng, first.action, style, plan)
    if second is None or len(second.english) + len(first.piece.english) + 1 not in range(size - slack, size + 1):
        return None
    return weave((_with_word(_comma(first.piece, korean=False), "but"), second), (0, 1))


def _tried(rng: Random, size: int, plan: Plan) -> Clause | None:
    for _ in range(TRIES // 4):
        found = clause(rng, size, plan)
        if found is not None:
            return found
    return None


def report(rng: Random, size: int, slack: int) -> Piece | None:
    """`My mother said that …` ↔ 우리 어머니는 …다고 말했다: Korean puts what was said inside."""
    base, third, _, verb, tense = pick(rng, REPORTS)
    speaker = _speaker(rng)
    shown = third if speaker.third else base
    left = size - len(speaker.piece.english) - 2
    style: Style = "future" if tense == "present" and rng.random() < 0.3 else "past"
    told = frozenset({speaker.name, "hear", "believe", *("he", "she")[: 2 * (speaker.noun is None)]})
    stage = EVERYWHERE if left <= LONGEST_CLAUSE - 2 else pick(rng, STAGES)
    inside = _inside(rng, left, Plan(style, "quote", inner=True, said=told, stage=stage, slack=slack))
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


@cache
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
    return Subject(
        phrase(Specified(noun, determiner)), True, False, f"my {noun.english}" if kin else noun.english, noun
    )
