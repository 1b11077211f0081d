"""What stands around a verb: objects, owners, companions, places and times, each of an exact English length."""

from functools import cache
from random import Random

from nungil.text.snow.actions import Action
from nungil.text.snow.nouns import KINDS, NOUNS, Noun, listed
from nungil.text.snow.phrases import HE, SHE, Specified, Subject, describe, phrase, pick
from nungil.text.snow.pieces import Piece, weave, with_particle, word
from nungil.text.snow.predicates import Form
from nungil.text.snow.scenes import Place, place_phrase

ALWAYS_THE = frozenset({"sea", "wind", "night"})
ALWAYS_MANY = frozenset({"star", "grape"})  # nobody washes one grape
ALWAYS_A = frozenset({"want", "need"})
MAKING = frozenset({"write", "draw", "make", "bake", "build"})  # what is made now is not known before: a cake
NEWLY_MADE = frozenset(listed("long short beautiful sad interesting sweet delicious big small pretty warm sturdy"))
FITTING = dict.fromkeys(MAKING, NEWLY_MADE) | {
    "like": frozenset(listed("sweet hot warm fresh sad quiet beautiful interesting small big white red")),
    "love": frozenset(listed("beautiful quiet sad small big blue high")),
    "hate": frozenset(listed("salty hot cold strong")),
    "fix": frozenset({"old-thing", "big", "small", "expensive", "heavy", "red", "blue"}),
    "repair": frozenset({"old-thing", "big", "narrow"}),
    "clean": frozenset({"dirty", "big", "small"}),
    "wash": frozenset({"dirty", "big", "small", "fresh", "red"}),
    "pick up": frozenset({"small", "new", "old-thing", "black", "yellow", "red"}),  # a raw chestnut is not sweet yet
    "hide": frozenset({"small"}),
    "follow": frozenset(),
    **dict.fromkeys(
        ("expect", "demand"), frozenset({"polite", "sincere", "honest-words"})
    ),  # nobody hopes for a late one
}
OWNABLE = frozenset({"texts", "things", "clothes", "vehicles"})
OWNED = frozenset({"find", "lose", "fix", "read", "carry", "wash", "break"})  # found your bag, but not bought it
SEVERAL = frozenset({"fruit", "food", "drinks", "texts", "arts", "animals", "senses"})  # of which one has some: books
PAIRED = frozenset({"eye"})
BOTH_LEGS = frozenset({"stretch", "wash", "massage"})
SPEAKERS = tuple(NOUNS[name] for name in listed("teacher doctor lawyer writer captain scientist neighbor"))
PATIENTS = tuple(NOUNS[name] for name in listed("child boy girl student soldier singer farmer"))
PETS = tuple(NOUNS[name] for name in listed("baby dog cat"))
FRIENDS = tuple(NOUNS[name] for name in listed("friend brother sister mother father uncle aunt"))
RECEIVERS = (*FRIENDS, *(NOUNS[name] for name in listed("child boy girl teacher student nurse neighbor guest")))


def object_of(rng: Random, action: Action, noun: Noun, form: Form, subject: Subject, size: int) -> Piece | None:
    """The thing done to, without its particle, in exactly so many words."""
    if noun.kind == "kin":
        return phrase(Specified(noun, "my" if subject.name != "you" else "your")) if size == 2 else None
    if noun.kind == "instruments" and action.definite and size > 2:
        return None
    determiner, plural = _determiner(rng, action, noun, form, subject, size)
    if determiner == "nothing" or (form.negative and size > 1 + bool(determiner)):
        return None
    return describe(rng, noun, determiner, plural, size, FITTING.get(f"{action.base} {action.adverb}".strip()))


def _determiner(rng: Random, action: Action, noun: Noun, form: Form, subject: Subject, size: int) -> tuple[str, bool]:
    """Which article, number or owner, and whether the plural; `nothing` if there is none of this size."""
    counted = bool(noun.plural)
    if noun.english in ALWAYS_THE:
        return ("the", False) if size > 1 else ("nothing", False)
    if action.definite or (action.habit == "the" and form.tense == "present"):
        return ("the", noun.english in ALWAYS_MANY) if size > 1 else ("nothing", False)
    if action.base in ALWAYS_A:
        if subject.plural:
            return "", True
        return ("a", False) if size > 1 else ("nothing", False)
    if form.tense == "present" and not form.modal:
        return "", counted
    if size == 1:
        return ("", counted) if noun.kind in SEVERAL or not counted else ("nothing", False)
    if not counted:
        return ("the", False) if rng.random() < 0.4 else ("", False)
    return _counted(rng, action, noun, form, subject)


def _counted(rng: Random, action: Action, noun: Noun, form: Form, subject: Subject) -> tuple[str, bool]:
    chance = rng.random()
    if noun.english == "grape" or action.base == "gather":
        return "the" if chance < 0.5 else "", True
    if form.negative:
        return "the", False
    if chance < 0.4 or (chance < 0.7 and action.base in MAKING):
        return "a", False
    if chance < 0.7:
        return "the", False
    if chance < 0.85 and noun.counter and not form.negative:
        return pick(rng, ("two", "three", "four", "five")), True
    if noun.kind in OWNABLE and subject.noun is not None and action.base in OWNED:
        return pick(rng, ("my", "your")), False
    if noun.kind in SEVERAL:
        return "", True
    return "a" if action.base in MAKING else "the", False


def own_body(action: Action, noun: Noun, subject: Subject) -> Piece | None:
    """`her eyes` ↔ 눈: Korean leaves the owner unsaid where it is the subject."""
    owner = {"I": "my", "you": "your", "he": "his", "she": "her", "we": "our", "they": "their"}.get(subject.name, "")
    if not owner and subject.plural:
        owner = "their"
    if not owner and subject.noun:
        name = subject.noun.english
        owner = "his" if name in HE else "her" if name in SHE else "its" if subject.noun.kind == "animals" else ""
    if not owner:
        return None
    many = subject.plural or noun.english in PAIRED or (noun.english == "leg" and action.base in BOTH_LEGS)
    if subject.plural and noun.english != "eye" and action.base not in BOTH_LEGS:
        return None  # their bellies: seldom said
    return _owned(noun, owner, many)


@cache
def _owned(noun: Noun, owner: str, many: bool) -> Piece:
    bare = phrase(Specified(noun, plural=many))
    links = ((0, 0, False), *((i + 1, j, sure) for i, j, sure in bare.links))
    return Piece((owner, *bare.english), bare.korean, links, bare.marks)


def others(rng: Random, action: Action, noun: Noun, subject: Subject, size: int) -> Piece | None:
    """`the teacher's words` ↔ 선생님의 말: an owner other than the subject."""
    of_body = noun.english in ("eye", "leg", "belly")
    owners = PETS if noun.english == "belly" and action.base not in ("press",) else PATIENTS if of_body else SPEAKERS
    if not of_body and rng.random() < 0.5:
        owners = KINDS["names"] if rng.random() < 0.4 else FRIENDS
    owner = pick(rng, owners)
    if subject.noun == owner or (subject.noun and subject.noun.kind == owner.kind == "kin"):
        return None
    determiner = "" if owner.kind == "names" else "my" if owner.kind == "kin" else "the"
    extra = size - 2 - bool(determiner)
    plural = noun.english in PAIRED
    if extra not in (0, 1) or (extra and (of_body or not noun.adjectives)) or (determiner == "my" and extra):
        return None
    adjective = pick(rng, noun.adjectives) if extra else ""
    if adjective and adjective not in FITTING.get(action.base, noun.adjectives):
        return None
    return _of_owner(noun, owner, determiner, adjective, plural)


@cache
def _of_owner(noun: Noun, owner: Noun, determiner: str, adjective: str, plural: bool) -> Piece:
    holder = phrase(Specified(owner, determiner))
    holder = holder._replace(english=(*holder.english[:-1], holder.english[-1] + "'s"))
    return weave((with_particle(holder, "의"), phrase(Specified(noun, "", adjective, plural=plural))), (0, 1))


def _person(rng: Random, noun: Noun, particle: str, preposition: str, size: int) -> Piece | None:
    determiner = "" if noun.kind == "names" else "my" if noun.kind == "kin" else "the"
    piece = describe(rng, noun, determiner, False, size - 1)
    return with_particle(piece, particle, preposition) if piece else None


def _known(noun: Noun, subject: Subject, said: frozenset[str]) -> bool:
    """Was this person spoken of before, or is it one of those whom the clause is about?"""
    akin = subject.noun is not None and subject.noun.kind == noun.kind and noun.kind in ("names", "kin")
    return akin or subject.noun is noun or noun.english in said or f"my {noun.english}" in said


def companion(rng: Random, subject: Subject, said: frozenset[str], size: int) -> Piece | None:
    """`with my friend` ↔ 친구와 함께."""
    noun = pick(rng, KINDS["names"] if size == 2 else FRIENDS)
    if size == 2 or subject.name in ("I", "we"):
        piece = None if _known(noun, subject, said) else _person(rng, noun, "과/와", "with", size)
    else:
        strange = subject.noun is None or subject.noun.english == "friend" or subject.plural
        piece = None if strange else with_particle(phrase(Specified(NOUNS["friend"], "a")), "과/와", "with")
    return weave((piece, TOGETHER), (0, 1))._replace(english=piece.english, links=_with(piece)) if piece else None


TOGETHER = word("with", "함께")


def _with(piece: Piece) -> tuple[tuple[int, int, bool], ...]:
    return (*piece.links, (0, len(piece.korean), True))


def recipient(rng: Random, action: Action, subject: Subject, said: frozenset[str], size: int) -> Piece | None:
    """`to the child` ↔ 아이에게; `onto the ship` ↔ 배에."""
    if action.recipient == "onto":
        piece = describe(rng, NOUNS["ship"], "the", False, size - 1)
        return with_particle(piece, "에", "onto") if piece else None
    noun = pick(rng, KINDS["names"] if size == 2 else RECEIVERS)
    if _known(noun, subject, said):
        return None
    return _person(rng, noun, "에게", action.recipient, size)


@cache
def at_place(place: Place, particle: str, preposition: str) -> Piece:
    """A place with its preposition, kept."""
    return place_phrase(place, particle, preposition)


@cache
def errand(place: Place, past: bool, third: bool) -> Piece:
    """`went to the market and` ↔ 시장에 가서, before what was done there."""
    there = place_phrase(place, "에", "to")
    went = "went" if past else "goes" if third else "go"
    links = ((0, 1, True), *((i + 1, j, sure) for i, j, sure in there.links), (len(there.english) + 1, 1, False))
    return Piece((went, *there.english, "and"), (*there.korean, "가서"), links)
