"""Normalises text: Unicode NFC, single spaces, no invisible characters."""

import re
from unicodedata import is_normalized, normalize

# Letters and symbols by category, but invisible: Hangul fillers and the empty Braille cell.
BLANK = re.compile("[\u3164\uffa0\u2800]")
# Control characters that are no white space, soft hyphen, zero-width space, direction marks, BOM, lone surrogates.
UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff]"
)
# The joiners of Persian, Hindi and emoji belong inside words; at the edge of one they are removed.
JOINER_AT_EDGE = re.compile("(?<!\\S)[\u200c\u200d]+|[\u200c\u200d]+(?!\\S)")


def tidy(text: str) -> str:
    """The text in Unicode NFC, with single spaces and without invisible characters. Clean text is unchanged."""
    if (
        text.isprintable()  # runs in C: no control or format characters, no white space but spaces
        and "  " not in text
        and text[:1] != " "
        and text[-1:] != " "
        and (text.isascii() or (is_normalized("NFC", text) and not _has_blank(text)))
    ):
        return text
    text = BLANK.sub(" ", UNSEEN.sub("", text))
    text = normalize("NFC", JOINER_AT_EDGE.sub("", text))
    return " ".join(text.split())


def _has_blank(text: str) -> bool:
    return "\u3164" in text or "\uffa0" in text or "\u2800" in text  # four times as fast as the expression


def repairs(text: str) -> list[str]:
    """What tidying changes in a text, by name."""
    found = []
    if UNSEEN.search(text) or JOINER_AT_EDGE.search(text):
        found.append("unseen characters")
    visible = JOINER_AT_EDGE.sub("", UNSEEN.sub("", text))
    if " ".join(BLANK.sub(" ", visible).split()) != visible:
        found.append("white space")
    if not is_normalized("NFC", visible):
        found.append("Unicode form")
    return found
