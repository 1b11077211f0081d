"""Relative clauses: after the noun in English, before it in Korean, with the verb in its adnominal form."""

from random import Random

from nungil.text.snow.actions import Action
from nungil.text.snow.doings import ACTIONS
from nungil.text.snow.homonyms import verb_settles
from nungil.text.snow.nouns import KINDS, NOUNS, Noun, listed
from nungil.text.snow.parts import ALWAYS_MANY, at_place, object_of
from nungil.text.snow.phrases import PRONOUNS, Specified, Subject, phrase, pick
from nungil.text.snow.pieces import Piece, settled, weave, with_particle
from nungil.text.snow.predicates import Form, verb_group
from nungil.text.snow.scenes import SHORT_PAST

# What can be said of someone to tell which one is meant: where one lives and works, what one does or has just done.
TRAITS = frozenset(listed("live work like teach raise buy lose find write meet sell"))
# How a thing came to be here: the apple that Minsu bought.
ORIGINS = frozenset(listed("buy make write draw bake find fix meet help teach see pick sing"))
MAKING = frozenset(listed("write draw make bake build plant like love hate want see meet find"))
TELLERS = tuple(NOUNS[name] for name in listed("mother father grandmother uncle aunt friend brother sister"))

ANY_WORK = frozenset({"man", "woman", "neighbor"})  # of others the name says where they work


def _is_origin(action: Action, thing: str) -> bool:
    """Who drew a picture made it; who drew a horse did not."""
    return action.base in ORIGINS and (action.base != "draw" or thing == "picture")


BY_DOER: dict[str, tuple[Action, ...]] = {
    noun.english: tuple(
        a for a in ACTIONS if noun in a.who and a.base in TRAITS and (a.base != "work" or noun.english in ANY_WORK)
    )
    for noun in (*KINDS["people"], *KINDS["youngsters"])
}
BY_THING: dict[str, tuple[Action, ...]] = {
    name: found
    for name, noun in NOUNS.items()
    if (found := tuple(a for a in ACTIONS if a.relative and noun in a.what and _is_origin(a, name)))
}


def about_subject(rng: Random, subject: Subject, verb: str, size: int) -> Subject | None:
    """The subject with a relative clause of exactly so many words: `who works at the hospital` ↔ 병원에서 일하는."""
    if subject.noun is None or subject.plural or subject.noun.english not in BY_DOER:
        return None
    action = pick(rng, BY_DOER[subject.noun.english])
    form = Form("present" if action.habit and action.base != "buy" else "past")
    relative = None if action.base == verb else _doing(rng, action, form, subject, size - 1)
    if relative is None:
        return None
    return subject._replace(piece=_before(subject.piece, relative, "who"), relative=True)


def _doing(rng: Random, action: Action, form: Form, subject: Subject, size: int) -> Piece | None:
    """Verb, object and place of a relative clause, without its subject."""
    verb = verb_group(action, form, "adnominal", subject.third, False)
    left = size - len(verb.english)
    pieces, order = [verb], [0]
    if action.where and (action.complement == "goal" or rng.random() < 0.5):
        place = pick(rng, action.where)
        pieces.append(at_place(place, action.place_particle, action.preposition or place.at))
        left -= len(pieces[-1].english)
    if action.what:
        noun = pick(rng, action.what)
        found = object_of(rng, action, noun, form, subject, left) if 0 < left < 4 else None
        if found is None:
            return None
        thing = with_particle(found, action.particle, action.preposition)
        pieces.insert(1, settled(thing, len(thing.korean)) if verb_settles(noun, action.base) else thing)
        left = 0 if not action.preposition else -1
    if left or (not action.what and len(pieces) == 1):
        return None
    order = [2, 1, 0] if len(pieces) == 3 else [1, 0]
    return weave(pieces, order)


def of_object(rng: Random, noun: Noun, verb: str, subject: Subject, size: int, timed: bool = True) -> Piece | None:
    """`the book that my uncle wrote` ↔ 우리 삼촌이 쓴 책, in exactly so many words; with a time only if `timed`."""
    if noun.english not in BY_THING or verb in MAKING:
        return None
    action = pick(rng, BY_THING[noun.english])
    teller = _teller(rng, subject)
    if action.base == verb or teller is None or (teller.noun is not None and teller.noun not in action.who):
        return None
    plural = bool(noun.plural) and noun.kind not in ("people", "youngsters") and rng.random() < 0.2
    plural = plural or noun.english in ALWAYS_MANY
    base = phrase(Specified(noun, "the", plural=plural))
    made = verb_group(action, Form("past"), "adnominal", teller.third, False)
    pieces = [with_particle(teller.piece, "이/가"), made]
    left = size - len(base.english) - 1 - sum(len(piece.english) for piece in pieces)
    order = [0, 1]
    if left:
        time = pick(rng, SHORT_PAST)
        if not timed or len(time.english) != left:
            return None
        pieces, order = [*pieces, time], [0, 2, 1]
    if verb_settles(noun, action.base):
        base = settled(base, -1)  # the verb will stand just before the noun
    return _before(base, weave(pieces, order), "that")


def _teller(rng: Random, subject: Subject) -> Subject | None:
    """Who the relative clause is about: not the one whom the main clause is about."""
    chance = rng.random()
    if chance < 0.35:
        found = PRONOUNS[0]
    elif chance < 0.65:
        noun = pick(rng, KINDS["names"])
        found = Subject(phrase(Specified(noun)), True, False, noun.english, noun)
    else:
        noun = pick(rng, TELLERS)
        found = Subject(phrase(Specified(noun, "my")), True, False, noun.english, noun)
    same = found.noun is None and subject.noun is None
    kin = found.noun and subject.noun and found.noun.kind == subject.noun.kind
    return None if same or kin else found


def _before(head: Piece, relative: Piece, pronoun: str) -> Piece:
    """The noun with its relative clause: `who` and `that` go into the adnominal ending."""
    last = len(relative.korean) - 1
    links = ((0, last, False), *((i + 1, j, sure) for i, j, sure in relative.links))
    marks = tuple(mark._replace(is_head=False) for mark in relative.marks)
    inner = Piece((pronoun, *relative.english), relative.korean, links, marks)
    return weave((head, inner), (1, 0))
