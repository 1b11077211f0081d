"""Adjectives: the English word, the Korean one, and whether it may stand alone after "is".

A key is the English word itself, but where Korean makes a difference that English does not: an old man is 늙은, an old
bag 낡은, an old book 오래된.
"""

from typing import NamedTuple, cast

from nungil.text.snow.verbs import Irregular, Verb, adnominal


class Adjective(NamedTuple):
    """An adjective in both languages; a verb of None means a Korean word that never changes, such as 새."""

    english: str
    attributive: str
    verb: Verb | None


def _read(table: str) -> dict[str, Adjective]:
    """One adjective a line: key, Korean dictionary form, irregularity or a dash, and `only` if never a predicate."""
    found = {}
    for line in table.strip().splitlines():
        key, dictionary, irregular, *limits = line.split()
        kind = cast(Irregular, irregular.replace("-", ""))
        verb = Verb(dictionary, kind, describes=True)
        found[key] = Adjective(key.partition("-")[0], adnominal(verb, "present"), None if limits else verb)
    return found


ADJECTIVES: dict[str, Adjective] = {
    "new": Adjective("new", "새", None),
    **_read("""
old 늙다 - only
old-thing 낡다 - only
old-text 오래되다 - only
late 늦다 - only
little 어리다 - only
young 젊다 -
kind 친절하다 -
happy 행복하다 -
sad 슬프다 -
tired 피곤하다 -
brave 용감하다 -
clever 똑똑하다 -
famous 유명하다 -
busy 바쁘다 -
rich 부유하다 -
poor 가난하다 -
honest 정직하다 -
honest-words 솔직하다 -
diligent 부지런하다 -
cute 귀엽다 ㅂ
big 크다 -
small 작다 -
pretty 예쁘다 -
beautiful 아름답다 ㅂ
long 길다 -
short 짧다 -
fast 빠르다 르
slow 느리다 -
hot 뜨겁다 ㅂ
cold 차갑다 ㅂ
cold-weather 춥다 ㅂ
warm 따뜻하다 -
sweet 달콤하다 -
delicious 맛있다 -
fresh 신선하다 -
salty 짜다 -
heavy 무겁다 ㅂ
light 가볍다 ㅂ
expensive 비싸다 -
cheap 싸다 -
clean 깨끗하다 -
dirty 더럽다 ㅂ
quiet 조용하다 -
dark 어둡다 ㅂ
bright 밝다 -
red 빨갛다 ㅎ
blue 파랗다 ㅎ
white 하얗다 ㅎ
yellow 노랗다 ㅎ
black 까맣다 ㅎ
interesting 재미있다 -
boring 지루하다 -
sturdy 튼튼하다 -
wide 넓다 -
narrow 좁다 -
high 높다 -
soft 부드럽다 ㅂ
round 둥글다 - only
thin 가늘다 -
polite 정중하다 -
sincere 진실하다 -
strong 강하다 -
thick 두껍다 ㅂ
dangerous 위험하다 -
important 중요하다 -
"""),
}
