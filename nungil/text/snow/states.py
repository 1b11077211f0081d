"""Clauses without an action: the soup was hot, she has blue eyes, my leg hurts."""

from random import Random

from nungil.text.snow.adjectives import ADJECTIVES
from nungil.text.snow.clauses import Clause, Plan
from nungil.text.snow.homonyms import adjective_settles
from nungil.text.snow.nouns import KINDS, NOUNS, Noun, listed
from nungil.text.snow.phrases import NEVER_VERY, PRONOUNS, Specified, Subject, phrase, pick
from nungil.text.snow.pieces import Mark, Piece, weave, with_particle, word
from nungil.text.snow.relatives import of_object
from nungil.text.snow.verbs import Tense, Verb, inflect, negative

MOODS: tuple[str, ...] = (
    "happy",
    "sad",
    "tired",
    "busy",
    "kind",
    "brave",
    "clever",
    "diligent",
    "honest",
    "rich",
    "poor",
    "famous",
)
HURT = Verb("아프다", describes=True)
BODY = tuple(NOUNS[name] for name in ("leg", "belly", "eye"))
EYE_COLOURS = ("blue", "black", "big", "pretty")


def _predicates(noun: Noun) -> tuple[str, ...]:
    return tuple(key for key in noun.adjectives if ADJECTIVES[key].verb is not None)


UNSAID = frozenset(listed("eye belly leg words apology night baby rain wind star grape leaf strawberry"))
DESCRIBED: tuple[tuple[Noun, tuple[str, ...]], ...] = tuple(
    (noun, keys) for noun in NOUNS.values() if (keys := _predicates(noun)) and noun.english not in UNSAID
)
NOBODY = Subject(Piece((), (), ()), True, False, "nobody")


def state(rng: Random, size: int, plan: Plan) -> Clause | None:
    """A clause that says how someone or something is, of exactly so many words, or nothing."""
    if plan.style not in (None, "past", "state", "was") or plan.negative is not None:
        return None
    tense: Tense = "present" if plan.style == "state" or (plan.style is None and rng.random() < 0.4) else "past"
    chance = rng.random()
    if chance < 0.2:
        return _hurting(rng, size, plan, tense)
    return _eyes(rng, size, plan, tense) if chance < 0.3 else _being(rng, size, plan, tense)


def _someone(rng: Random) -> Subject:
    if rng.random() < 0.6:
        return pick(rng, PRONOUNS)
    noun = pick(rng, KINDS["names"])
    return Subject(phrase(Specified(noun)), True, False, noun.english, noun)


def _being(rng: Random, size: int, plan: Plan, tense: Tense) -> Clause | None:
    """`The soup was not hot` ↔ 국은 뜨겁지 않았다."""
    denied = size > 4 and rng.random() < 0.2
    very = not denied and rng.random() < 0.3
    left = size - 2 - denied - very
    if left == 1:
        subject, keys = _someone(rng), MOODS
    else:
        noun, keys = pick(rng, DESCRIBED)
        piece = phrase(Specified(noun, "the")) if left == 2 else None
        if left >= 5 and not plan.inner:
            piece = of_object(rng, noun, "be", NOBODY, left)
        if piece is None:
            return None
        plural = piece.english[1] != noun.english
        subject = Subject(piece, not plural, plural, noun.english, noun)
    key = pick(rng, keys)
    if subject.name in plan.said or (very and key in NEVER_VERY):
        return None
    predicate = _predicate(subject, key, tense, plan, (denied, very))
    return Clause(_about(subject, plan, predicate, key), frozenset({subject.name, "be"}))


def _predicate(subject: Subject, key: str, tense: Tense, plan: Plan, shades: tuple[bool, bool]) -> Piece:
    """`was not very hot`, without its subject."""
    denied, very = shades
    found = ADJECTIVES[key]
    verb = found.verb or HURT
    korean = negative(verb, tense, plan.ending) if denied else inflect(verb, tense, plan.ending)
    english = [_be(subject, tense), *(["not"] if denied else []), *(["very"] if very else []), found.english]
    links = [(0, len(korean) - 1 + very, False), (len(english) - 1, int(very), True)]
    if denied:
        links.append((1, 1, True))
    if very:
        links.append((1, 0, True))
    return Piece(tuple(english), (*(["아주"] if very else []), *korean), tuple(sorted(links)))


def _about(subject: Subject, plan: Plan, predicate: Piece, key: str) -> Piece:
    piece = with_particle(subject.piece, "이/가" if plan.inner else "은/는")
    woven = weave((piece, predicate), (0, 1))
    told = (len(piece.korean) + ("very" in predicate.english),)
    settles = subject.noun is not None and adjective_settles(subject.noun, key)
    marks = [m._replace(deciders=m.deciders + told * (settles and m.is_head), is_head=False) for m in woven.marks]
    return woven._replace(marks=tuple(marks))


def _be(subject: Subject, tense: Tense) -> str:
    if tense == "past":
        return "were" if subject.plural or subject.name == "you" else "was"
    return "am" if subject.name == "I" else "is" if subject.third else "are"


def _eyes(rng: Random, size: int, plan: Plan, tense: Tense) -> Clause | None:
    """`She has blue eyes` ↔ 그녀는 눈이 파랗다."""
    subject = _someone(rng)
    if size == 5:
        noun = pick(rng, tuple(NOUNS[name] for name in ("baby", "boy", "girl", "woman", "man", "cat", "doll")))
        subject = Subject(phrase(Specified(noun, "the")), True, False, noun.english, noun)
    if size not in (4, 5) or subject.name in plan.said or subject.plural:
        return None
    key = pick(rng, EYE_COLOURS)
    verb = ADJECTIVES[key].verb or HURT
    has = "had" if tense == "past" else "has" if subject.third else "have"
    korean = ("눈이", *inflect(verb, tense, plan.ending))
    mark = Mark(0, "눈", "eye", (1,) if key == "blue" else (), False)
    rest = Piece((has, ADJECTIVES[key].english, "eyes"), korean, ((0, 1, False), (1, 1, True), (2, 0, True)), (mark,))
    piece = with_particle(subject.piece, "이/가" if plan.inner else "은/는")
    return Clause(weave((piece, rest), (0, 1)), frozenset({subject.name, "have"}))


def _hurting(rng: Random, size: int, plan: Plan, tense: Tense) -> Clause | None:
    """`My leg hurts` ↔ 나는 다리가 아프다: the one who is hurt is the topic."""
    noun = pick(rng, BODY)
    many = noun.english == "eye"
    owner = _owner(rng, size)
    if owner is None or owner.name in plan.said or (many and tense == "past"):
        return None
    verb = "hurt" if tense == "past" or many else "hurts"
    korean = (noun.korean + ("가" if noun.english != "eye" else "이"), *inflect(HURT, tense, plan.ending))
    mark = Mark(0, noun.korean, noun.sense, (1,), False)
    rest = Piece((noun.plural if many else noun.english, verb), korean, ((0, 0, True), (1, 1, True)), (mark,))
    holder = with_particle(owner.piece, "이/가" if plan.inner else "은/는")
    return Clause(weave((holder, rest), (0, 1)), frozenset({owner.name, "hurt"}))


def _owner(rng: Random, size: int) -> Subject | None:
    """Whose body it is: `my` for 나, `Minsu's` for 민수, `the boy's` for 소년."""
    if size == 3 and rng.random() < 0.5:
        english, korean, name = pick(rng, (("my", "나", "I"), ("his", "그", "he"), ("her", "그녀", "she")))
        return Subject(word(english, korean), True, False, name)
    if size not in (3, 4):
        return None
    noun = pick(rng, KINDS["names"] if size == 3 else KINDS["people"] + KINDS["youngsters"])
    bare = phrase(Specified(noun, "" if size == 3 else "the"))
    return Subject(
        bare._replace(english=(*bare.english[:-1], bare.english[-1] + "'s")), True, False, noun.english, noun
    )
