"""The verb group in both languages: tense, negation and modal verbs, with every ending a Korean clause can need."""

from functools import cache
from typing import Literal, NamedTuple

from nungil.text.snow.actions import Action
from nungil.text.snow.pieces import Link, Piece
from nungil.text.snow.verbs import (
    EXIST,
    HADA,
    LACK,
    WISH,
    Ending,
    Tense,
    Verb,
    adnominal,
    infinitive,
    inflect,
    negative,
)

# Not to see is not a choice: 보지 못했다. 보지 않았다 would mean that one would not look.
UNWILLED = frozenset({"remember", "understand", "hear", "see", "find"})
NOT_ABLE = Verb("못하다")
KNOW, NOT_KNOW = Verb("알다"), Verb("모르다", "르")
Modal = Literal["", "can", "must", "want"]


class Form(NamedTuple):
    """How an action is said to be: when, whether at all, and whether it can, must or is wished to be."""

    tense: Tense
    negative: bool = False
    modal: Modal = ""


@cache
def verb_group(action: Action, form: Form, ending: Ending, third: bool, first: bool) -> Piece:
    """`did not eat` ↔ 먹지 않았다. The main verb is the first Korean word."""
    if form.modal:
        found = _modal(action, form, ending, third, first)
    elif form.negative:
        found = _negative(action, form, ending, third)
    else:
        found = _affirmative(action, form, ending, third)
    if not action.adverb:
        return found
    return Piece((*found.english, action.adverb), found.korean, (*found.links, (len(found.english), 0, True)))


def _affirmative(action: Action, form: Form, ending: Ending, third: bool) -> Piece:
    korean = inflect(action.korean, form.tense, ending)
    if form.tense == "future":
        links: tuple[Link, ...] = ((0, len(korean) - 1, len(korean) > 1), (1, 0, True))
        return Piece(("will", action.base), korean, links)
    shown = action.past if form.tense == "past" else action.third if third else action.base
    return Piece((shown,), korean, ((0, 0, True),))


def _negative(action: Action, form: Form, ending: Ending, third: bool) -> Piece:
    if action.korean == KNOW:  # 알지 않는다 is not said: not to know is a verb of its own
        korean = inflect(NOT_KNOW, form.tense, ending)
        return Piece((_helper(form, third), "not", action.base), korean, ((0, 0, False), (1, 0, True), (2, 0, True)))
    if action.base in UNWILLED:
        korean = (action.korean.stem + "지", *inflect(NOT_ABLE, form.tense, ending))
    else:
        korean = negative(action.korean, form.tense, ending)
    absorbed = (0, len(korean) - 1, form.tense == "future")  # 것이다 is a word of its own, as `will` is
    return Piece((_helper(form, third), "not", action.base), korean, (absorbed, (1, 1, True), (2, 0, True)))


def _helper(form: Form, third: bool) -> str:
    return {"past": "did", "present": "does" if third else "do", "future": "will"}[form.tense]


def _modal(action: Action, form: Form, ending: Ending, third: bool, first: bool) -> Piece:
    if form.modal == "can":
        last = inflect(LACK if form.negative else EXIST, "present", ending)
        korean = (adnominal(action.korean, "future"), "수", *last)
        return Piece(
            ("cannot" if form.negative else "can", action.base), korean, ((0, 1, True), (0, 2, True), (1, 0, True))
        )
    if form.modal == "must":
        korean = (infinitive(action.korean) + "야", *inflect(HADA, "present", ending))
        return Piece(("must", action.base), korean, ((0, 1, True), (1, 0, True)))
    english = ("wanted" if form.tense == "past" else "wants" if third else "want", "to", action.base)
    stem = action.korean.stem + "고"
    if first:
        return Piece(english, (stem, *inflect(WISH, form.tense, ending)), ((0, 1, True), (1, 0, False), (2, 0, True)))
    korean = (stem, "싶어", *inflect(HADA, form.tense, ending))  # what others wish can only be seen: 싶어 한다
    return Piece(english, korean, ((0, 1, True), (0, 2, False), (1, 0, False), (2, 0, True)))
