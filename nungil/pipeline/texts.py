"""Texts on their way into a model: tidied, cut into ids, marked, padded."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int
from torch import Tensor, nn

from nungil.batches.batch import pad, surround
from nungil.errors import UsageError
from nungil.model.folder import ModelConfig
from nungil.text.tidy import tidy
from nungil.text.tokenizers.base import UNK, Tokenizer


class Marked(NamedTuple):
    """A text as ids with its marks, whether it had to be cut, and its words that the model has never seen."""

    ids: list[int]
    cut: bool
    unknown: tuple[str, ...] = ()


def encode(text: str, tokenizer: Tokenizer, config: ModelConfig) -> Marked:
    """The ids of a text with the marks of the config, cut to the longest that the model reads."""
    ids = tokenizer.encode(text)
    unknown: tuple[str, ...] = ()
    if UNK in ids:
        unknown = tuple(word for word in dict.fromkeys(text.split()) if UNK in tokenizer.encode(word))
    return Marked(surround(ids[: config.longest], config.marks), len(ids) > config.longest, unknown)


def padded(rows: Sequence[Sequence[int]]) -> tuple[Int[Tensor, "B S"], Bool[Tensor, "B S"]]:
    """Sentences of unequal length as one tensor, and which of its ids are real."""
    return pad([np.array(row, dtype=np.int64) for row in rows])


def many(texts: str | Sequence[str]) -> list[str]:
    """The texts, tidied; one is as good as several."""
    return [tidy(text) for text in ([texts] if isinstance(texts, str) else texts)]


def not_empty(text: str) -> str:
    """The text, tidied, if anything is left of it."""
    tidied = tidy(text)
    if not tidied:
        raise UsageError("the text is empty; there is nothing to look at")
    return tidied


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Without dropout; a model that is in training goes on with it, whatever happens in between."""
    was_training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was_training)
