"""Korean conjugation: every form that the grammar of snow uses, from the dictionary form and the kind of verb."""

from functools import cache
from typing import Literal, NamedTuple

from nungil.text.snow.hangul import batchim, compose, decompose, with_tail

Irregular = Literal["", "ㅂ", "ㄷ", "ㅅ", "르", "ㅎ"]
Tense = Literal["past", "present", "future"]
Ending = Literal["final", "and", "but", "quote", "adnominal"]

BRIGHT = frozenset("ㅏㅗㅑ")
# An open stem and 아/어 melt into one syllable: 보 + 아 → 봐. A vowel that is not here keeps 어 apart: 뛰 + 어 → 뛰어.
MELTED = {"ㅏ": "ㅏ", "ㅓ": "ㅓ", "ㅐ": "ㅐ", "ㅔ": "ㅔ", "ㅕ": "ㅕ", "ㅗ": "ㅘ", "ㅜ": "ㅝ", "ㅣ": "ㅕ", "ㅚ": "ㅙ"}
DARKENED = {"ㅏ": "ㅐ", "ㅓ": "ㅐ", "ㅑ": "ㅒ", "ㅕ": "ㅖ"}  # 파랗다 → 파래, 하얗다 → 하얘


class Verb(NamedTuple):
    """A Korean verb or adjective: its dictionary form, its irregularity, and whether it describes."""

    dictionary: str
    irregular: Irregular = ""
    describes: bool = False

    @property
    def stem(self) -> str:
        """The dictionary form without 다."""
        return self.dictionary[:-1]


IDA = Verb("이다", describes=True)
HADA = Verb("하다")
NOT_DO = Verb("않다")
NOT_BE = Verb("않다", describes=True)
EXIST = Verb("있다", describes=True)
LACK = Verb("없다", describes=True)
WISH = Verb("싶다", describes=True)


def softened(verb: Verb) -> str:
    """The stem as it stands before a vowel: 돕 → 도우, 듣 → 들, 짓 → 지."""
    stem = verb.stem
    if verb.irregular == "ㅂ":
        return with_tail(stem, "") + "우"
    if verb.irregular == "ㄷ":
        return with_tail(stem, "ㄹ")
    if verb.irregular in ("ㅅ", "ㅎ"):
        return with_tail(stem, "")
    return stem


@cache
def infinitive(verb: Verb) -> str:
    """The form in 아/어, on which past, 서 and 야 stand: 가, 먹어, 봐, 해, 불러, 도와, 들어, 써."""
    stem = verb.stem
    if stem.endswith("하"):
        return stem[:-1] + "해"
    if stem in ("이", "아니"):
        return stem + "어"
    if verb.irregular == "르":
        before = stem[:-1]
        return with_tail(before, "ㄹ") + ("라" if decompose(before[-1])[1] in BRIGHT else "러")
    if verb.irregular == "ㅂ":
        return with_tail(stem, "") + ("와" if stem in ("돕", "곱") else "워")
    if verb.irregular == "ㅎ":
        lead, vowel, _ = decompose(stem[-1])
        return stem[:-1] + compose(lead, DARKENED[vowel])
    if verb.irregular:
        return softened(verb) + ("아" if decompose(stem[-1])[1] in BRIGHT else "어")
    return _regular_infinitive(stem)


def _regular_infinitive(stem: str) -> str:
    lead, vowel, tail = decompose(stem[-1])
    if tail:
        return stem + ("아" if vowel in BRIGHT else "어")
    if vowel == "ㅡ":
        before = decompose(stem[-2])[1] if len(stem) > 1 else ""
        return stem[:-1] + compose(lead, "ㅏ" if before in BRIGHT else "ㅓ")
    return stem[:-1] + compose(lead, MELTED[vowel]) if vowel in MELTED else stem + "어"


@cache
def past_stem(verb: Verb) -> str:
    """The stem of the past: 갔, 먹었, 했."""
    return with_tail(infinitive(verb), "ㅆ")


@cache
def adnominal(verb: Verb, tense: Tense) -> str:
    """The form before a noun: 읽는, 읽은, 읽을; of an adjective 큰, 추운, 맛있는."""
    has_it = verb.stem.endswith(("있", "없"))
    if tense == "present" and (has_it or not verb.describes):
        return (with_tail(verb.stem, "") if batchim(verb.stem) == "ㄹ" else verb.stem) + "는"
    return _before_consonant(verb, "ㄹ" if tense == "future" else "ㄴ")


def _before_consonant(verb: Verb, tail: str) -> str:
    """The stem with -(으)ㄴ or -(으)ㄹ: 간, 먹은, 만든, 도운, 들은."""
    stem = softened(verb)
    if not batchim(stem) or (batchim(stem) == "ㄹ" and verb.irregular != "ㄷ"):
        open_to_tail = verb.irregular != "ㅅ"
        return with_tail(stem, tail) if open_to_tail else stem + with_tail("으", tail)
    return stem + with_tail("으", tail)


@cache
def plain(verb: Verb, tense: Tense) -> str:
    """The written plain style: 간다, 먹는다, 만든다, 갔다; of an adjective 크다, 컸다."""
    if tense == "past":
        return past_stem(verb) + "다"
    if verb.describes:
        return verb.dictionary
    tail = batchim(verb.stem)
    return with_tail(verb.stem, "ㄴ") + "다" if tail in ("", "ㄹ") else verb.stem + "는다"


@cache
def inflect(verb: Verb, tense: Tense, ending: Ending) -> tuple[str, ...]:
    """The verb as it ends its clause; the future takes a second word, 것이다."""
    if tense == "future":
        thing = {"final": "것이다", "and": "것이고", "but": "것이지만", "quote": "것이라고"}
        return (adnominal(verb, "future"), thing[ending]) if ending != "adnominal" else (adnominal(verb, "future"),)
    if ending == "adnominal":
        return (adnominal(verb, tense),)
    if ending == "quote":
        return (plain(verb, tense) + "고",)
    if ending == "final":
        return (plain(verb, tense),)
    stem = past_stem(verb) if tense == "past" else verb.stem
    return (stem + ("고" if ending == "and" else "지만"),)


@cache
def negative(verb: Verb, tense: Tense, ending: Ending) -> tuple[str, ...]:
    """The long negation: 먹지 않는다, 크지 않다."""
    return (verb.stem + "지", *inflect(NOT_BE if verb.describes else NOT_DO, tense, ending))
