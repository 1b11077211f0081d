"""Korean letter by letter: a syllable such as 눈 as its jamo ㄴ ㅜ ㄴ, and back."""

import re
import unicodedata

_SYLLABLES = re.compile("[가-힣]+")
_CONJOINING = re.compile("[\u1100-\u11ff]")


def to_jamo(text: str) -> str:
    """Every Hangul syllable as two or three conjoining jamo (Unicode NFD); all else stays as it is."""
    return text if text.isascii() else _SYLLABLES.sub(lambda found: unicodedata.normalize("NFD", found[0]), text)


def from_jamo(text: str) -> str:
    """Jamo put together again. For any text in Unicode NFC, `from_jamo(to_jamo(text)) == text`."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def seen_jamo(text: str) -> str:
    """Jamo put together as far as they make syllables, the others as letters that stand by themselves: ㅏ, ㄴ.

    A conjoining vowel or final has no width of its own: alone in a terminal it is not seen, and shifts what follows.
    """
    return _CONJOINING.sub(lambda found: _letter(found[0]), from_jamo(text)) if _CONJOINING.search(text) else text


def _letter(jamo: str) -> str:
    """`HANGUL JUNGSEONG A` as `HANGUL LETTER A`; a jamo of old Korean may have none."""
    try:
        return unicodedata.lookup(f"HANGUL LETTER {unicodedata.name(jamo).rpartition(' ')[2]}")
    except (KeyError, ValueError):
        return jamo
