"""Sentences: where a text may be cut so that each part can be translated by itself. Knows no torch."""

import re
from typing import NamedTuple

# An end mark, perhaps closed by quotes or brackets, then a space and no small letter; after 。！？ no space is needed.
ENDS = re.compile(r"""([.!?…]+["'”’»)\]]*)(\s+)(?=["'“‘«(\[]*[^\sa-z])|([。！？]+[」』”’）]*)(\s*)(?=\S)|(\s*\n\s*)""")
NO_END = re.compile(
    r"(?:^|[\s(\[“‘\"'])(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|etc|e\.g|i\.e|cf|No|Nr|Fig|Vol|z\.B|d\.h|bzw|ca|[A-Z])\.$"
)
NUMBER = re.compile(r"(?:^|\s)\d+\.$")  # of a list, or a German ordinal


class Sentence(NamedTuple):
    """A part of a text, and what stands between it and the next."""

    text: str
    after: str


def sentences_of(text: str) -> list[Sentence]:
    """The sentences of a text. Put together again, they are the text without the space at its ends."""
    stripped = text.strip()
    found, start = [], 0
    for match in ENDS.finditer(stripped):
        mark, gap = _parts(match)
        end = match.start() + len(mark)
        if mark.endswith(".") and _is_no_end(stripped[start:end]):
            continue
        found.append(Sentence(stripped[start:end], gap))
        start = match.end()
    if start < len(stripped):
        found.append(Sentence(stripped[start:], ""))
    return found


def _parts(match: re.Match[str]) -> tuple[str, str]:
    """The end mark and the gap after it."""
    if match[5] is not None:
        return "", match[5]
    return (match[1], match[2]) if match[1] is not None else (match[3], match[4])


def _is_no_end(sentence: str) -> bool:
    return bool(NO_END.search(sentence) or NUMBER.search(sentence))
