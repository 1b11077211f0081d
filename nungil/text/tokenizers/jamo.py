"""Korean letter by letter: a syllable such as 눈 as its jamo ㄴ ㅜ ㄴ, and back."""

import unicodedata

FIRST, LAST = 0xAC00, 0xD7A3  # 가 to 힣
_TABLE = {code: unicodedata.normalize("NFD", chr(code)) for code in range(FIRST, LAST + 1)}


def to_jamo(text: str) -> str:
    """Every Hangul syllable as two or three conjoining jamo; all else as it is."""
    return text if text.isascii() else text.translate(_TABLE)


def from_jamo(text: str) -> str:
    """Jamo put together again. For any text in Unicode NFC, `from_jamo(to_jamo(text)) == text`."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)
