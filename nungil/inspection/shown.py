"""Tokens as they are shown: an unknown one with its text, a byte as its letter, a space that can be seen. No torch.

What is shown keeps the signs that words are told by: ▁ begins one, ￭ goes on with one.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from nungil.text.tokenizers.base import SPECIALS, UNK
from nungil.text.tokenizers.pieces import SPACE
from nungil.text.tokenizers.vocabulary import JOINER

UNKNOWN = SPECIALS[UNK].removesuffix(">") + ":"  # <unk:word>
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
_PART = re.compile(r"(.)‹(\d)/(\d)›")


class Shown(NamedTuple):
    """Ids, marks included, and each of them as it is shown."""

    ids: tuple[int, ...]
    tokens: tuple[str, ...]


def unknown(token: str) -> str:
    """A token that no vocabulary has, with its own text: `<unk:snwo>`; one that is glued on stays so."""
    glued = token.startswith(JOINER) and len(token) > 1
    return f"{JOINER}{UNKNOWN}{token[1:]}>" if glued else f"{UNKNOWN}{token}>"


def is_unknown(token: str) -> bool:
    """Whether it is shown as unknown."""
    return token.removeprefix(JOINER).startswith(UNKNOWN) and token.endswith(">")


def bare(token: str) -> str:
    """The text that a shown token stands for, still with the signs of its tokenizer; of a letter's first byte all."""
    if is_unknown(token):
        glue = JOINER if token.startswith(JOINER) else ""
        return glue + token.removeprefix(JOINER)[len(UNKNOWN) : -1]
    part = _PART.fullmatch(token)
    return token if part is None else part[1] if part[2] == "1" else ""


def seen_space(token: str) -> str:
    """A character as it is shown: a space as ▁, so that it can be seen, and a true ▁ as another line."""
    return SPACE if token == " " else "_" if token == SPACE else token


def letters(tokens: Sequence[str]) -> list[str]:
    """Bytes of SentencePiece as what they spell: `<0x4E>` as N, the three of 雪 as 雪‹1/3›, 雪‹2/3› and 雪‹3/3›.

    A byte that spells nothing with its neighbours stays as it is.
    """
    shown, place = list(tokens), 0
    while place < len(shown):
        size, letter = _letter(shown[place : place + 4])
        if size == 1:
            shown[place] = letter
        elif size > 1:
            shown[place : place + size] = [f"{letter}‹{number}/{size}›" for number in range(1, size + 1)]
        place += max(1, size)
    return shown


def _letter(tokens: Sequence[str]) -> tuple[int, str]:
    """How many of these tokens are the bytes of one letter, and the letter."""
    found = b""
    for token in tokens:
        byte = _BYTE.fullmatch(token)
        if byte is None:
            break
        found += bytes.fromhex(byte[1])
    for size in range(1, len(found) + 1):
        try:
            letter = found[:size].decode()
        except UnicodeDecodeError:
            continue
        return (size, letter) if letter.isprintable() and letter != " " else (0, "")
    return 0, ""
