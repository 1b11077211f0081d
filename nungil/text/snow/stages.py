"""Who is on the stage, and where: a long sentence tells of people who belong together, in places that do."""

from dataclasses import replace
from typing import Literal

from nungil.text.snow.actions import Action
from nungil.text.snow.doings import ACTIONS
from nungil.text.snow.nouns import Noun, nouns_of
from nungil.text.snow.verbs import Tense

Style = Literal["past", "future", "habit", "state", "was", "can", "must", "want"]
# The actions that can be told in each style.
Stage = dict[Style, tuple[Action, ...]]

MODALS: tuple[Literal["can", "must", "want"], ...] = ("can", "must", "want")
TENSES: dict[Style, Tense] = {
    "past": "past", "future": "future", "habit": "present", "state": "present", "was": "past",
}  # fmt: skip
# What a sentence is drawn from; what stands here more often is drawn more often.
STYLES: tuple[Style, ...] = (
    *("past",) * 14, *("future",) * 4, *("habit",) * 4, *("state",) * 4, "was", "can", "must", "want",
)  # fmt: skip

CASTS = {
    "family": "@kin",
    "friends": "@names",
    "town": "doctor nurse farmer cook baker singer painter writer carpenter fisherman driver neighbor boy girl",
    "class": "teacher student boy girl child",
}
SETS = {
    "home": ("kitchen home room garden bathroom", "clean fix open close paint carry"),
    "town": ("market street cafe bookstore station theater restaurant bakery", "take wait give show"),
    "school": ("school classroom library playground gym", "give show lend"),
    "country": ("farm garden field forest park lake beach", "climb cross give"),
}


def by_style(actions: tuple[Action, ...]) -> Stage:
    """The actions, sorted by the styles in which they can be told."""
    events = tuple(action for action in actions if action.habit != "state")
    states = tuple(action for action in actions if action.habit == "state")
    modal = tuple(action for action in events if action.modal)
    habits = tuple(action for action in events if action.habit)
    return {
        "past": events, "future": modal, "habit": habits, "state": states, "was": states,
        "can": modal, "must": modal, "want": modal,
    }  # fmt: skip


def _staged(cast: tuple[Noun, ...], places: frozenset[str], loose: frozenset[str]) -> Stage:
    """The everyday actions of these people in these places; `loose` ones need no place."""
    found = []
    for action in ACTIONS:
        who = tuple(noun for noun in action.who if noun in cast)
        where = tuple(place for place in action.where if place.english in places)
        where = where or (action.where if action.complement == "goal" and action.habit == "state" else ())
        fits = where or (action.complement != "goal" and (action.habit == "state" or action.base in loose))
        if who and fits and action.complement in ("none", "object", "goal") and not action.presents:
            found.append(replace(action, who=who, where=where))
    return by_style(tuple(found))


EVERYWHERE: Stage = by_style(ACTIONS)
CASTED: tuple[Stage, ...] = tuple(
    by_style(
        tuple(
            replace(action, who=who)
            for action in ACTIONS
            if (who := tuple(noun for noun in action.who if noun in nouns_of(cast))) and not action.presents
        )
    )
    for cast in (CASTS["family"], CASTS["friends"])
)
STAGES: tuple[Stage, ...] = tuple(
    _staged(nouns_of(CASTS[cast]), frozenset(SETS[scene][0].split()), frozenset(SETS[scene][1].split()))
    for cast, scenes in {
        "family": "home home town country", "friends": "home town school country", "town": "town country",
        "class": "school",
    }.items()
    for scene in scenes.split()
)  # fmt: skip
