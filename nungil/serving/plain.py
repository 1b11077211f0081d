"""Pictures and words as plain values, for a page to draw."""

from collections.abc import Sequence
from typing import Any

from nungil.inspection.honesty import Strip
from nungil.inspection.merging import MARKS, spell, words_of, words_without_marks
from nungil.inspection.page import spread
from nungil.inspection.picture import Picture
from nungil.inspection.shown import letters


def plain_picture(picture: Picture) -> dict[str, Any]:
    """What a drawing needs; `high` is the end of the colour scale."""
    plain: dict[str, Any] = {
        "title": picture.title,
        "rows": list(picture.rows),
        "columns": list(picture.columns),
        "values": picture.cells.tolist(),
        "notes": list(picture.notes),
        "signed": picture.signed,
        "bars": picture.bars,
        "high": picture.high,
    }
    sums = picture.cells.sum(axis=-1).tolist()
    return plain | {"sums": sums, "spread": None if picture.signed else spread(picture.cells)}


def places(tokens: Sequence[str], merged: bool) -> list[list[int]]:
    """Of each row or column, the places of its tokens, from 0."""
    return words_of(tokens) if merged else [[place] for place in range(len(tokens))]


def plain_side(text: str, tokens: Sequence[str], names: Sequence[str], spelt: Sequence[str]) -> dict[str, Any]:
    """One side of a look. `names` are the tokens as the text has them, `spelt` the same with ▁ where a word begins.

    Bytes of SentencePiece are the letters that they spell.
    """
    words, spelt = words_without_marks(spelt), letters(spelt)
    return {
        "text": text,
        "tokens": list(tokens),
        "names": letters(names),
        "marks": [place for place, token in enumerate(tokens) if token in MARKS],
        "words": [{"text": spell(spelt, word), "places": word} for word in words],
    }


def plain_strip(strip: Strip) -> dict[str, Any]:
    """The strip with its sentences: the first three figures and the verdict, and the rest."""
    return {**strip.to_json(), "lines": list(strip.first()), "more": list(strip.rest())}
