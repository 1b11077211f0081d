"""Markup: the texts between the tags of HTML. The tags stay as they were, byte for byte; nothing is ever interpreted.

Tags within a sentence, such as <b> or <a>, split it: each part is translated by itself, so that every tag keeps its
place. Hostile markup is only copied, neither followed nor repaired.
"""

import html
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

TAG = re.compile(r"""</?[A-Za-z](?:[^<>"']|"[^"]*"|'[^']*')*>""")  # with quoted values; incomplete ones are text
NAME = re.compile(r"</?([A-Za-z][A-Za-z0-9-]*)")
ASKED_TO_KEEP = re.compile(r"""\stranslate\s*=\s*["']?no\b""", re.I)  # as Mastodon has it around emoji
KEPT = frozenset({"script", "style", "code", "pre", "textarea"})  # elements whose content is not prose
ALONE = frozenset({"br", "hr", "img", "input", "wbr", "meta", "link"})  # elements without an end tag


class Part(NamedTuple):
    """A part of a text: translated, or kept as it is."""

    text: str
    prose: bool


class Keeping(NamedTuple):
    """The element whose content is kept, and the depth of nested ones of the same name."""

    name: str = ""
    depth: int = 0


def parts_of(text: str) -> list[Part]:
    """The parts of some HTML. Joined, they are the text again."""
    found, start, keeping = [], 0, Keeping()
    for first, last in _tags(text):
        if start < first:
            found.append(_stretch(text[start:first], keeping))
        tag = text[first:last]
        found.append(Part(tag, False))
        keeping, start = _after(tag, keeping), last
    if start < len(text):
        found.append(_stretch(text[start:], keeping))
    return found


def _tags(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each tag, comment or declaration, in one pass."""
    place, comments = text.find("<"), True
    while place >= 0:
        end = -1
        if comments and text.startswith("<!--", place):
            end = text.find("-->", place + 4)
            comments = end >= 0  # where one is not closed, no later one is
            end += 3 if comments else 0
        elif text.startswith(("<!", "<?"), place):
            end = text.find(">", place) + 1
            if end == 0:
                return  # nothing is closed any more
        else:
            found = TAG.match(text, place)
            end = found.end() if found else -1
        if end > 0:
            yield place, end
        place = text.find("<", end if end > 0 else place + 1)


def _stretch(text: str, keeping: Keeping) -> Part:
    return Part(text, not keeping.depth and any(character.isalnum() for character in html.unescape(text)))


def _after(tag: str, keeping: Keeping) -> Keeping:
    """What is kept after this tag."""
    found = NAME.match(tag)
    name = found[1].lower() if found else ""
    closes, alone = tag.startswith("</"), tag.endswith("/>") or name in ALONE
    if keeping.depth:
        if name != keeping.name or alone:
            return keeping
        return Keeping(name, keeping.depth + (-1 if closes else 1))
    opens = not closes and not alone and (name in KEPT or ASKED_TO_KEEP.search(tag) is not None)
    return Keeping(name, 1) if opens else keeping


def prose_of(parts: Sequence[Part]) -> list[str]:
    """The plain text to translate, without white space around it."""
    return [html.unescape(part.text).strip() for part in parts if part.prose]


def joined(parts: Sequence[Part], translated: Sequence[str]) -> str:
    """The HTML with its texts replaced, escaped; white space around them stays."""
    found = iter(translated)
    return "".join(_spaced(part.text, next(found)) if part.prose else part.text for part in parts)


def _spaced(before: str, text: str) -> str:
    bare = before.strip()
    start = before.index(bare)
    return before[:start] + html.escape(text, quote=False) + before[start + len(bare) :]
