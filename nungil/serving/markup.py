"""Markup: the texts between the tags of HTML. The tags stay as they were, byte for byte; nothing is ever interpreted.

What stands inside a sentence, as <b> or <a>, cuts it where it stands: each part is translated by itself, so that every
tag keeps its place. What is hostile is data: it is neither followed nor mended, only kept.
"""

import html
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# A comment, a declaration, or a tag with its quoted values; whatever is not whole is text.
TAG = re.compile(r"""<!--.*?-->|<[!?][^>]*>|</?[A-Za-z](?:[^<>"']|"[^"]*"|'[^']*')*>""", re.S)
NAME = re.compile(r"</?([A-Za-z][A-Za-z0-9-]*)")
KEPT = frozenset({"script", "style", "code", "pre", "textarea"})  # what stands in these is no prose


class Part(NamedTuple):
    """A stretch of a text: translated, or kept as it is."""

    text: str
    prose: bool


def parts_of(text: str) -> list[Part]:
    """The stretches of some HTML. Joined again, they are the text."""
    return list(_parts(text))


def _parts(text: str) -> Iterator[Part]:
    start, kept = 0, ""
    for found in TAG.finditer(text):
        if start < found.start():
            yield Part(text[start : found.start()], not kept and _has_letters(text[start : found.start()]))
        yield Part(found[0], False)
        start = found.end()
        kept = _inside(found[0], kept)
    if start < len(text):
        yield Part(text[start:], not kept and _has_letters(text[start:]))


def _inside(tag: str, kept: str) -> str:
    """The element whose content is kept, after this tag."""
    name = NAME.match(tag)
    word = name[1].lower() if name else ""
    if kept:
        return "" if tag.startswith("</") and word == kept else kept
    opens = word in KEPT and not tag.startswith("</") and not tag.endswith("/>")
    return word if opens else ""


def _has_letters(text: str) -> bool:
    return any(character.isalnum() for character in html.unescape(text))


def prose_of(parts: Sequence[Part]) -> list[str]:
    """What is to be translated: plain text, without white space around it."""
    return [html.unescape(part.text).strip() for part in parts if part.prose]


def joined(parts: Sequence[Part], translated: Sequence[str]) -> str:
    """The HTML with other texts in it, written so that they are text; white space around them stays."""
    found = iter(translated)
    return "".join(
        _spaced(part.text, html.escape(next(found), quote=False)) if part.prose else part.text for part in parts
    )


def _spaced(before: str, text: str) -> str:
    bare = before.strip()
    start = before.index(bare)
    return before[:start] + text + before[start + len(bare) :]
