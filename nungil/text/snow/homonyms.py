"""What settles a homonym: for each sense, the verbs, adjectives and counters that leave only this one."""

from typing import NamedTuple

from nungil.text.snow.nouns import Noun


class Contexts(NamedTuple):
    """The verbs (by their English) and adjectives beside which a sense is the only one; and does its counter tell?"""

    verbs: frozenset[str]
    adjectives: frozenset[str]
    counter: bool = False


def _contexts(verbs: str, adjectives: str = "", counter: bool = False) -> Contexts:
    return Contexts(frozenset(verbs.split()), frozenset(adjectives.split()), counter)


CONTEXTS: dict[str, Contexts] = {
    "snow": _contexts("fall melt pile freeze cover block clear step", "white"),
    "eye": _contexts("open close rub blink cover wash treat hurt", "blue"),
    "pear": _contexts("eat cut peel pick fall ripen", "sweet fresh delicious", counter=True),
    "ship": _contexts("take sink sail arrive leave cross repair load", "fast old-thing", counter=True),
    "belly": _contexts("rub press poke scratch pat massage lick hurt"),
    "night": _contexts("come pass end spend", "long dark cold-weather quiet"),
    "chestnut": _contexts("eat buy sell peel pick roast boil hide fall", "sweet delicious", counter=True),
    "horse": _contexts("ride buy sell draw run raise brush tie eat drink jump", "white black", counter=True),
    "words": _contexts(
        "believe understand hear repeat misunderstand quote translate follow", "kind warm sad honest-words"
    ),
    "bridge": _contexts("cross repair build destroy paint collapse", "old-thing narrow wide"),
    "leg": _contexts("treat rub scratch massage lick injure stretch bend lift hurt", "thin"),
    "apple": _contexts("eat buy sell wash cut peel pick fall ripen", "red sweet fresh delicious", counter=True),
    "apology": _contexts("accept refuse expect demand", "late polite sincere honest-words short"),
}


def verb_settles(noun: Noun, verb: str) -> bool:
    """Does this verb, with this noun as its subject or object, leave only one sense?"""
    return bool(noun.sense) and verb in CONTEXTS[noun.sense].verbs


def adjective_settles(noun: Noun, adjective: str) -> bool:
    """Does this adjective leave only one sense?"""
    return bool(noun.sense) and adjective in CONTEXTS[noun.sense].adjectives


def counter_settles(noun: Noun) -> bool:
    """Does the counter of this noun leave only one sense?"""
    return bool(noun.sense) and CONTEXTS[noun.sense].counter
