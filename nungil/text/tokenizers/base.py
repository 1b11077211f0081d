"""Tokenizer: text to ids and back, with four ids that mean the same everywhere."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nungil.text.atomic import whole_bytes

PAD, UNK, SOS, EOS = 0, 1, 2, 3
SPECIALS = ("<pad>", "<unk>", "<sos>", "<eos>")


class Ids(NamedTuple):
    """The ids of many texts, concatenated, and the length of each."""

    flat: NDArray[np.int32]
    lengths: NDArray[np.int32]

    @classmethod
    def join(cls, texts: Sequence[Sequence[int]]) -> "Ids":
        """Concatenate the ids of each text."""
        lengths = np.fromiter(map(len, texts), dtype=np.int32, count=len(texts))
        flat = np.fromiter(chain.from_iterable(texts), dtype=np.int32, count=int(lengths.sum()))
        return cls(flat, lengths)

    def cut(self, longest: int) -> "Ids":
        """At most the first so many ids of each text."""
        if not len(self.lengths) or int(self.lengths.max()) <= longest:
            return self
        within = np.arange(len(self.flat)) - np.repeat(np.cumsum(self.lengths) - self.lengths, self.lengths)
        return Ids(self.flat[within < longest], np.minimum(self.lengths, longest))

    def keep(self, rows: NDArray[np.bool_]) -> "Ids":
        """Only the texts where `rows` is true."""
        return Ids(self.flat[np.repeat(rows, self.lengths)], self.lengths[rows])


class Tokenizer(ABC):
    """What all tokenizers do. None adds `<sos>` or `<eos>`, which are added with batches."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many ids there are, the four special ones included."""

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """The ids of a text."""

    @abstractmethod
    def encode_many(self, texts: list[str]) -> Ids:
        """The ids of many texts."""

    @abstractmethod
    def decode(self, ids: Iterable[int]) -> str:
        """The text of some ids; `<pad>`, `<sos>` and `<eos>` are left out."""

    @abstractmethod
    def tokens(self, ids: Iterable[int]) -> list[str]:
        """The token of each id, readable."""

    @property
    @abstractmethod
    def vocabulary(self) -> list[str]:
        """Every token by its id, as the tokenizer itself writes it: all different."""

    def unknown(self, ids: NDArray[np.integer[Any]]) -> int:
        """How many of these ids stand for unknown text."""
        return int(np.count_nonzero(ids == UNK))

    @abstractmethod
    def to_bytes(self) -> bytes:
        """The whole tokenizer, as its file holds it."""

    def save(self, path: Path) -> None:
        """Write the tokenizer to a file."""
        whole_bytes(path, self.to_bytes())
