"""A clause of an exact English length: who does what, where, when and how, in both languages at once."""

from functools import cache
from itertools import permutations
from random import Random
from typing import NamedTuple

from nungil.text.snow.actions import Action
from nungil.text.snow.homonyms import verb_settles
from nungil.text.snow.nouns import NOUNS, Noun, listed
from nungil.text.snow.parts import at_place, companion, errand, object_of, others, own_body, recipient
from nungil.text.snow.phrases import PRONOUNS, Subject, pick, subject_of
from nungil.text.snow.pieces import Piece, weave, with_particle
from nungil.text.snow.predicates import Form, verb_group
from nungil.text.snow.relatives import about_subject, of_object
from nungil.text.snow.scenes import MANNERS, OFTEN, TIMES
from nungil.text.snow.stages import EVERYWHERE, MODALS, STYLES, TENSES, Stage, Style
from nungil.text.snow.verbs import Ending

CAN_GO = frozenset(listed("school library park market bakery cafe bookstore museum beach theater lake restaurant"))
ENGLISH = (
    "first", "subject", "often", "errand", "verb", "object", "goal", "recipient", "manner", "companion", "place",
    "time",
)  # fmt: skip
KOREAN = (
    "first", "subject", "time", "often", "companion", "errand", "place", "goal", "recipient", "object", "manner",
    "verb",
)  # fmt: skip
PRESENTING = ("first", "time", "place", "subject", "goal", "object", "manner", "verb")
LONGEST_OBJECT = 4
THIN = frozenset(listed("walk run play dance swim study work rest sleep spend"))  # who walked? where? say more
TIMELESS = frozenset(listed("spend come pass end smile ripen build"))  # a night has its own time, a house takes long
LEISURE = frozenset({"listen", "swim", "dance", "sing", "play", "ride", "watch", "walk", "run"})  # what nobody must
UNTASTED = frozenset({"sweet", "fresh", "delicious"})  # nobody knows this of what hangs on a tree, or falls
UNFORCED = frozenset({"happily", "slowly", "loudly", "well"})  # how nobody must do a thing
GENERIC = frozenset({"youngsters", "animals"})  # of whom one says what they all do
ONES_OWN = frozenset(listed("want need know remember believe understand expect"))  # and this is each one's own
MAY_FAIL = frozenset({"fall", "melt", "arrive", "ripen", "leave"})  # that it did not happen is worth saying
SKILLS = frozenset({"swim", "dance"})
COMMON = frozenset(listed("drink eat sell write read teach sing ride swim dance work study play"))
PERSONS = frozenset({"people", "youngsters", "kin", "names"})
FULL = frozenset({"place", "manner", "companion", "errand"})
SHIP = NOUNS["ship"]

Parts = dict[str, Piece]


class Plan(NamedTuple):
    """What a clause must fit into: its style if that is given, its Korean ending, and what was said before.

    `inner`: it stands inside another, so its subject is no topic. `brief`: another is set against it, so it has no
    relative clauses, and nothing that `but I do not` would leave open: how, how often, on which errand. `slack`: so
    many words fewer will do.
    """

    style: Style | None = None
    ending: Ending = "final"
    inner: bool = False
    time: bool = True
    said: frozenset[str] = frozenset()
    action: Action | None = None
    negative: bool | None = None
    stage: Stage = EVERYWHERE
    brief: bool = False
    slack: int = 0


class Clause(NamedTuple):
    """A clause, what the next one should not repeat, and what it says."""

    piece: Piece
    said: frozenset[str]
    action: Action | None = None


class Draft(NamedTuple):
    """A clause in the making: what is done, how it is said, and by whom."""

    action: Action
    form: Form
    subject: Subject
    plan: Plan


def clause(rng: Random, size: int, plan: Plan) -> Clause | None:
    """A clause of so many English words, or a few fewer where the plan has slack; nothing if the dice fell badly."""
    style = plan.style if plan.style is not None else pick(rng, STYLES)
    action = plan.action or pick(rng, plan.stage[style])
    if action.base in plan.said or (style == "must" and action.base in LEISURE):
        return None
    form = choose_form(rng, style, False if action.presents and action.base not in MAY_FAIL else plan.negative)
    left = size - len(verb_group(action, form, "final", False, False).english)
    subject = choose_subject(rng, action, form, left, plan) if left > 0 else None
    if subject is None or subject.name in plan.said:
        return None
    parts: Parts = {}
    draft = Draft(action, form, subject, plan)
    left = _required(rng, draft, parts, left - len(subject.piece.english))
    if left < bool(action.what):
        return None
    left = _optional(rng, draft, parts, left)
    fits, thing = _complete(rng, draft, parts, left)
    if not fits:
        return None
    said = {action.base, subject.name, thing.english if thing else action.base}
    said |= {parts[name].english[-1] for name in ("recipient", "companion") if name in parts}
    if "errand" in parts:
        said |= {"go", parts["errand"].english[-2]}
    elif "place" in parts:
        said.add(parts["place"].english[-1])
    return Clause(_arrange(draft, parts, thing), frozenset(said), action)


def refusal(rng: Random, action: Action, style: Style, plan: Plan) -> Piece | None:
    """`I do not` ↔ 나는 좋아하지 않는다: English leaves the verb unsaid, Korean the object."""
    form = choose_form(rng, style, True)
    subject = choose_subject(rng, action, form, 2 + _least(action), plan)
    if subject is None or subject.name in plan.said:
        return None
    full = verb_group(action, form, "final", subject.third, subject.name in ("I", "we"))
    kept = tuple(link for link in full.links if link[0] < 2)
    unsaid = () if len(full.korean) == 1 else ((0, 0, False),)  # `do` stands for the verb
    verb = Piece(full.english[:2], full.korean, tuple(sorted({*kept, *unsaid})))
    return weave((with_particle(subject.piece, "은/는"), verb), (0, 1))


def choose_form(rng: Random, style: Style, negative: bool | None) -> Form:
    """How an action of this style is said to be."""
    denied = rng.random() < 0.12 if negative is None else negative
    if style in MODALS:
        return Form("present", denied and style == "can", style)
    return Form(TENSES[style], denied)


def choose_subject(rng: Random, action: Action, form: Form, left: int, plan: Plan) -> Subject | None:
    """Someone or something that may do this, in at most so many words."""
    habitual = form.tense == "present" and not form.modal
    staged = plan.stage is not EVERYWHERE
    longest = left - _least(action)
    if longest < 1:
        return None
    if action.pronouns and rng.random() < (0.8 if longest == 1 else 0.12 if staged else 0.3):
        subject = pick(rng, PRONOUNS[:1] if staged else PRONOUNS[2:4] if plan.inner else PRONOUNS)
        return None if (form.modal == "want" and subject.name == "you") or _unclear(action, form, subject) else subject
    noun = pick(rng, action.who)
    generic = habitual and noun.kind in GENERIC and action.base not in ONES_OWN and not staged
    found = subject_of(rng, noun, longest, generic, staged or (form.tense == "present" and not generic))
    if found is None or _unclear(action, form, found) or (found.unknown and form.negative):
        return None
    if action.presents and not UNTASTED.isdisjoint(found.piece.english):
        return None
    if left < 8 or action.presents or plan.inner or plan.brief or rng.random() < 0.5:
        return found
    return about_subject(rng, found, action.base, 3 + int(rng.random() * 6)) or found


def _unclear(action: Action, form: Form, subject: Subject) -> bool:
    """`They read books` may be today's or yesterday's: nobody could say which Korean is right."""
    plain_present = form.tense == "present" and not form.modal and not form.negative
    return action.base == action.past and plain_present and not subject.third


@cache
def _least_object(action: Action) -> int:
    """How many words its object needs at least."""
    return (2 if action.definite or action.complement != "object" else 1) if action.what else 0


@cache
def _least(action: Action) -> int:
    """How many words must follow the verb at least."""
    needed = 2 if action.complement == "goal" else 2 if action.recipient else 0
    return _least_object(action) + needed + bool(action.preposition and action.what)


def _has_time(action: Action) -> bool:
    """Is it worth saying on which day? Not of what lasts, and not of a blink."""
    fleeting = action.complement == "own" and action.base != "injure"
    return action.habit != "state" and action.base not in TIMELESS and not fleeting


@cache
def adjuncts_of(action: Action, timed: bool) -> tuple[tuple[str, ...], ...]:
    """What may be said besides, in every order in which it may be thought of."""
    kinds = {
        "time": timed and _has_time(action),
        "place": bool(action.where) and action.complement != "goal",
        "manner": bool(action.how),
        "companion": action.companion,
        "often": action.habit in ("some", "the"),
    }
    return tuple(permutations([kind for kind, possible in kinds.items() if possible]))


def _required(rng: Random, draft: Draft, parts: Parts, left: int) -> int:
    """Fill in what the verb cannot do without, its object apart; how many words are left then."""
    action, subject = draft.action, draft.subject
    if action.complement == "goal":
        parts["goal"] = at_place(pick(rng, action.where), "에", action.preposition)
        return left - len(parts["goal"].english)
    if action.recipient:
        size = 3 if action.recipient == "onto" or rng.random() < 0.7 else 2
        found = recipient(rng, action, subject, draft.plan.said, size)
        if found is None:
            return -1
        parts["recipient"] = found
        return left - size
    return left - (1 if action.preposition else 0)


def _optional(rng: Random, draft: Draft, parts: Parts, left: int) -> int:
    """Add what may be said besides, until what is left suits the object; how many words are left then."""
    least = _least_object(draft.action)
    for kind in pick(rng, adjuncts_of(draft.action, draft.plan.time)):
        if left <= least or (left <= LONGEST_OBJECT and least and rng.random() < 0.4):
            break
        found = _adjunct(rng, draft, parts, kind, left - least)
        if found is not None and len(found[1].english) <= left - least:
            parts[found[0]] = found[1]
            left -= len(found[1].english)
    return left


def _adjunct(rng: Random, draft: Draft, parts: Parts, kind: str, room: int) -> tuple[str, Piece] | None:
    """One thing that may be said besides, and where it stands."""
    action, form, subject, plan = draft
    habitual = form.tense == "present" and not form.modal
    if kind == "time":
        if "often" in parts or form.modal == "can":
            return None
        if habitual and subject.noun is not None and subject.noun.kind not in PERSONS:
            return None
        times = TIMES["future" if form.modal else form.tense]
        time = pick(rng, times)
        if (form.negative or plan.brief) and time.english[0] == "every":  # never, or not each time? nobody could say
            return None
        # 수요일마다 토끼를 키우는 과학자는: before a relative clause it would be a part of that
        leads = rng.random() < 0.35 and not plan.inner and not subject.relative and form.modal != "want"
        return ("first" if leads else "time"), time
    if form.negative and not (kind == "place" and action.presents):
        return None
    if kind == "often":
        suits = habitual and not plan.brief and "time" not in parts and "first" not in parts
        return ("often", pick(rng, OFTEN)) if suits else None
    if kind == "place":
        place = pick(rng, action.where)
        if place.english in plan.said:
            return None
        goes = place.english in CAN_GO and not form.modal and form.tense != "future" and not action.presents
        if (
            goes
            and not plan.brief
            and action.base != "lose"  # nobody goes there for that
            and room >= 5
            and rng.random() < 0.5
            and "often" not in parts
            and "companion" not in parts
            and "go" not in plan.said
        ):
            return "errand", errand(place, form.tense == "past", subject.third)
        return "place", at_place(place, action.place_particle, place.at)
    if kind == "manner" and rng.random() < 0.6 and not plan.brief and action.habit != "state" and form.modal != "want":
        return _manner(rng, draft, parts)
    if kind == "companion" and "errand" not in parts and parts.get("manner") is None:
        found = companion(rng, subject, plan.said, pick(rng, (2, 3)))
        return ("companion", found) if found else None
    return None


def _manner(rng: Random, draft: Draft, parts: Parts) -> tuple[str, Piece] | None:
    name = pick(rng, draft.action.how)
    if name in ("together", "alone") and ((name == "together") != draft.subject.plural or "companion" in parts):
        return None
    modal = draft.form.modal
    if (modal == "can" and name not in ("well", "quickly")) or (modal == "must" and name in UNFORCED):
        return None
    return "manner", MANNERS[name]


def _complete(rng: Random, draft: Draft, parts: Parts, left: int) -> tuple[bool, Noun | None]:
    """Give the object the words that are left; whether that was possible, and what the object is."""
    action, subject, slack = draft.action, draft.subject, draft.plan.slack
    if not action.what:
        return left <= slack and not _thin(draft, parts), None
    noun = pick(rng, action.what)
    if _thin(draft, parts):
        return False, None
    if subject.noun is noun or noun.english in draft.plan.said:
        return False, None
    for size in range(left, max(left - slack, 1) - 1, -1):
        found = _object(rng, draft, parts, noun, size)
        if found is not None:
            parts["object"] = with_particle(found, action.particle, action.preposition)
            return True, noun
    return False, None


def _thin(draft: Draft, parts: Parts) -> bool:
    """Too little said: who walked, but where? Skills, duties and wishes need no more."""
    base, modal = draft.action.base, draft.form.modal
    enough = modal in ("must", "want") or (modal == "can" and base in SKILLS) or parts.keys() & FULL
    return (base in THIN and not enough) or _bare_habit(draft, parts)


def _bare_habit(draft: Draft, parts: Parts) -> bool:
    """A habit that wants to be told how often: he cleans the room — every day?"""
    action, form = draft.action, draft.form
    if form.tense != "present" or form.modal or action.habit == "state" or action.base in COMMON:
        return False
    return not parts.keys() & {"often", "time", "first"}


def _object(rng: Random, draft: Draft, parts: Parts, noun: Noun, left: int) -> Piece | None:
    action, form, subject, plan = draft
    if action.complement == "own":
        return own_body(action, noun, subject) if left == 2 else None
    if action.complement == "other":
        return others(rng, action, noun, subject, left)
    if left > LONGEST_OBJECT:
        trailing = parts.keys() & {"time", "place", "manner", "companion", "recipient"}
        bare = plan.inner or plan.brief or trailing or (form.tense == "present" and not form.modal)
        return None if bare else of_object(rng, noun, action.base, subject, left, "first" not in parts)
    return object_of(rng, action, noun, form, subject, left)


def _arrange(draft: Draft, parts: Parts, thing: Noun | None) -> Piece:
    """Put the parts into the order of each language, and let the verb settle the homonyms beside it."""
    action, form, subject, plan = draft
    particle = "이/가" if plan.inner or action.presents or subject.unknown else "은/는"
    parts["subject"] = with_particle(subject.piece, particle)
    parts["verb"] = verb_group(action, form, plan.ending, subject.third, subject.name in ("I", "we"))
    names = [name for name in ENGLISH if name in parts]
    # 유나는 강이 어제 얼었다고 들었다: before the inner subject, the time would be that of the hearing
    told = PRESENTING if action.presents and not plan.inner else KOREAN
    order = [names.index(name) for name in told if name in parts]
    woven = weave([parts[name] for name in names], order)
    if not woven.marks:
        return woven
    return _settle(woven, action, len(woven.korean) - len(parts["verb"].korean), (subject.noun, thing))


def _settle(woven: Piece, action: Action, verb: int, beside: tuple[Noun | None, ...]) -> Piece:
    """Name the verb as what settles the subject, the object and the ship that is loaded, where it does."""
    senses = {noun.sense for noun in (*beside, SHIP if action.recipient == "onto" else None) if noun and noun.sense}
    marks = []
    for mark in woven.marks:
        told = mark.deciders
        if mark.is_head and mark.sense in senses and verb_settles(NOUNS[mark.sense], action.base):
            told = (*told, verb)
        marks.append(mark._replace(deciders=told, is_head=False))
    return woven._replace(marks=tuple(marks))
