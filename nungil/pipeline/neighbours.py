"""Neighbours: the words whose embeddings have the largest cosine with that of a word."""

from typing import Literal, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from nungil.errors import UsageError, did_you_mean
from nungil.inspection.merging import spell
from nungil.text.tokenizers.base import SPECIALS, UNK, Tokenizer
from nungil.text.tokenizers.pieces import SPACE
from nungil.text.tokenizers.vocabulary import JOINER

Side = Literal["source", "target", "both"]


class Neighbour(NamedTuple):
    """A token of the vocabulary, and its cosine with the word."""

    token: str
    cosine: float


class Neighbours(NamedTuple):
    """The nearest tokens on one side of a model, nearest first; `pieces` are the tokens of the word there."""

    side: Side
    word: str
    pieces: tuple[str, ...]
    nearest: tuple[Neighbour, ...]


class Vectors(NamedTuple):
    """The embeddings of one side, and the tokenizer that numbers them."""

    side: Side
    tokenizer: Tokenizer
    table: Float[Tensor, "V E"]


def neighbours_of(word: str, sides: list[Vectors], count: int = 10) -> list[Neighbours]:
    """The nearest tokens on every side that knows the word."""
    wanted = word.strip()
    if not wanted:
        raise UsageError("the word is empty; there is nothing to find the neighbours of")
    if count < 1:
        raise UsageError(f"{count} neighbours cannot be found; ask for 1 or more")
    found = [_nearest(wanted, side, count) for side in sides if _knows(side.tokenizer, wanted)]
    if not found:
        known = {spell([token], [0]) for side in sides for token in _tokens(side.tokenizer)}
        raise UsageError(f"this model has no embedding for {wanted!r}{_close(wanted, known)}")
    return found


def _knows(tokenizer: Tokenizer, word: str) -> bool:
    ids = tokenizer.encode(word)
    return bool(ids) and UNK not in ids


def _tokens(tokenizer: Tokenizer) -> list[str]:
    return tokenizer.tokens(range(tokenizer.size))[len(SPECIALS) :]


def _close(word: str, known: set[str]) -> str:
    """A hint at the nearest spelling, but never the whole vocabulary."""
    hint = did_you_mean(word, known)
    return hint if hint.startswith("; did") else "; it has never seen the word, or not often enough"


def _nearest(word: str, side: Vectors, count: int) -> Neighbours:
    """The nearest tokens to a word (the mean, if it has several pieces). Pieces within words are not candidates."""
    ids = side.tokenizer.encode(word)
    table = side.table.detach().double()
    unit = table / table.norm(dim=1, keepdim=True).clamp(min=1e-12)
    mean = unit[ids].mean(dim=0)
    cosines = unit @ (mean / mean.norm().clamp(min=1e-12))
    tokens = list(SPECIALS) + _tokens(side.tokenizer)
    pieces = any(token.startswith(SPACE) for token in tokens)
    hidden = [
        place
        for place, token in enumerate(tokens)
        if place < len(SPECIALS) or spell([token], [0]) == word or (pieces and not _begins_word(token))
    ]
    cosines[hidden] = -torch.inf
    values, places = cosines.topk(min(count, len(tokens) - len(hidden)))
    nearest = (
        Neighbour(spell(tokens, [at]), value) for at, value in zip(places.tolist(), values.tolist(), strict=True)
    )
    return Neighbours(side.side, word, tuple(side.tokenizer.tokens(ids)), tuple(nearest))


def _begins_word(token: str) -> bool:
    return token.startswith(SPACE) and len(token) > 1 and not token.startswith(JOINER)
