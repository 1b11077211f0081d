"""Korean letter by letter: a syllable such as 눈 as its jamo ㄴ ㅜ ㄴ, and back."""

import re
import unicodedata

_SYLLABLES = re.compile("[가-힣]+")


def to_jamo(text: str) -> str:
    """Every Hangul syllable as two or three conjoining jamo (Unicode NFD); all else stays as it is."""
    return text if text.isascii() else _SYLLABLES.sub(lambda found: unicodedata.normalize("NFD", found[0]), text)


def from_jamo(text: str) -> str:
    """Jamo put together again. For any text in Unicode NFC, `from_jamo(to_jamo(text)) == text`."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)
