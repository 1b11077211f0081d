"""Hangul as arithmetic: a lead, a vowel and perhaps a final consonant, the batchim, which chooses the particle."""

from functools import cache

LEADS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
TAILS = ("", *"ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ")
FIRST, LAST = ord("가"), ord("힣")

# After a batchim the left one, after a vowel the right one.
PAIRS = frozenset({"은/는", "이/가", "을/를", "과/와", "으로/로", "이다/다"})
# Pronouns that change their shape before the nominative, and before nothing else.
CHANGED = {("나", "이/가"): "내가", ("너", "이/가"): "네가"}


def is_syllable(letter: str) -> bool:
    """Is this one whole Hangul syllable?"""
    return len(letter) == 1 and FIRST <= ord(letter) <= LAST


def decompose(syllable: str) -> tuple[str, str, str]:
    """`눈` → `("ㄴ", "ㅜ", "ㄴ")`; without a batchim the last part is empty."""
    if not is_syllable(syllable):
        raise ValueError(f"{syllable!r} is not one Hangul syllable")
    number = ord(syllable) - FIRST
    return LEADS[number // 588], VOWELS[number % 588 // 28], TAILS[number % 28]


def compose(lead: str, vowel: str, tail: str = "") -> str:
    """`("ㄴ", "ㅜ", "ㄴ")` → `눈`."""
    return chr(FIRST + LEADS.index(lead) * 588 + VOWELS.index(vowel) * 28 + TAILS.index(tail))


def batchim(word: str) -> str:
    """The final consonant of a word, or nothing."""
    return decompose(word[-1])[2]


def has_batchim(word: str) -> bool:
    """Does the word end in a consonant?"""
    return batchim(word) != ""


def with_tail(word: str, tail: str) -> str:
    """The word with its last syllable ending in this batchim, or in none: `가`, `ㄴ` → `간`."""
    lead, vowel, _ = decompose(word[-1])
    return word[:-1] + compose(lead, vowel, tail)


@cache
def attach(word: str, particle: str) -> str:
    """The word with a particle: `은/는` and its like agree with the last sound; `에`, `의` and others do not change."""
    if particle not in PAIRS:
        return word + particle
    if (word, particle) in CHANGED:
        return CHANGED[word, particle]
    after_consonant, after_vowel = particle.split("/")
    tail = batchim(word)
    if particle == "으로/로" and tail == "ㄹ":  # 연필로: ㄹ counts as a vowel here, and only here
        return word + after_vowel
    return word + (after_consonant if tail else after_vowel)
