"""What can happen: each verb with who may do it, to what, where and how, so that every sentence makes sense."""

from dataclasses import dataclass, replace
from typing import Literal, cast

from nungil.text.snow.nouns import Noun, nouns_of
from nungil.text.snow.scenes import PLACES, Place
from nungil.text.snow.verbs import Irregular, Verb

# What stands after the verb: nothing, a thing, a place one goes to, a part of one's own body, or of another's.
Complement = Literal["none", "object", "goal", "own", "other"]
# How a present tense is meant: never, as a habit with any such things, as a habit with the one thing, or as a state.
Habit = Literal["", "some", "the", "state"]

ADULTS = "@people @kin @names"
ANYONE = "@people @youngsters @kin @names"


@dataclass(frozen=True, eq=False)  # compared by identity, as nouns are
class Action:
    """A verb in both languages, and the company it keeps."""

    base: str
    third: str
    past: str
    korean: Verb
    who: tuple[Noun, ...]
    pronouns: bool
    what: tuple[Noun, ...]
    complement: Complement
    where: tuple[Place, ...]
    how: tuple[str, ...]
    habit: Habit
    particle: str = "을/를"
    preposition: str = ""
    adverb: str = ""
    recipient: str = ""
    place_particle: str = "에서"
    presents: bool = False
    relative: bool = False
    modal: bool = False
    companion: bool = False
    definite: bool = False


def third_person(base: str) -> str:
    """The English third person: goes, washes, carries, plays."""
    if base.endswith(("s", "sh", "ch", "x", "o")):
        return base + "es"
    return base[:-1] + "ies" if base.endswith("y") and base[-2] not in "aeiou" else base + "s"


def act(
    verb: str,
    who: str,
    what: str = "",
    where: str = "",
    how: str = "",
    habit: Habit = "",
    **more: object,
) -> Action:
    """An action from a line such as `eat ate 먹다`; a fourth word names the irregularity, `adj` an adjective."""
    base, past, dictionary, *rest = verb.split()
    irregular = cast(Irregular, next((mark for mark in rest if mark != "adj"), ""))
    complement = cast(Complement, more.pop("complement", "object" if what else "none"))
    people = {"@people", "@kin", "@names"} & set(who.split())
    action = Action(
        base,
        third_person(base),
        past,
        Verb(dictionary, irregular, "adj" in rest),
        nouns_of(who),
        bool(people),
        nouns_of(what),
        complement,
        tuple(_place(name) for name in where.split()),
        tuple(how.split()),
        habit,
    )
    return replace(action, **more)  # type: ignore[arg-type]


def _place(name: str) -> Place:
    """A place by its name; `beach:at` is the beach with another preposition than its own."""
    name, _, at = name.partition(":")
    return replace(PLACES[name], at=at) if at else PLACES[name]


def goal(verb: str, who: str, where: str, preposition: str, **more: object) -> Action:
    """An action that leads to a place, or keeps one there, with 에."""
    extra = {"complement": "goal", "preposition": preposition, "place_particle": "에", **more}
    return act(verb, who, where=where, **extra)  # type: ignore[arg-type]


def body(verb: str, who: str, what: str, complement: Complement = "own", **more: object) -> Action:
    """An action on a part of the body."""
    return act(verb, who, what, complement=complement, **more)  # type: ignore[arg-type]
