"""Parameters: the weights of a model as NumPy arrays, by the names they are stored under. Knows no torch."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nungil.inspection.ledger import Array
from nungil.inspection.numbers import PLACES


def times(vectors: Array, scaled: bool) -> str:
    """`·√256`: by what an embedding was multiplied, as its formula says it."""
    return f"·√{vectors.shape[-1]}" if scaled else ""


class Parameters:
    """The weights of a model, or of one part of it. What is used is widened to double precision, once."""

    def __init__(
        self, arrays: Mapping[str, NDArray[Any]], prefix: str = "", widened: dict[str, Array] | None = None
    ) -> None:
        self._arrays, self._prefix = arrays, prefix
        self._widened = {} if widened is None else widened

    def __getitem__(self, name: str) -> Array:
        whole = self._prefix + name
        if whole not in self._widened:
            self._widened[whole] = self._arrays[whole].astype(np.float64)
        return self._widened[whole]

    def __contains__(self, name: str) -> bool:
        return self._prefix + name in self._arrays

    def under(self, part: str) -> "Parameters":
        """The weights of one part."""
        return Parameters(self._arrays, f"{self._prefix}{part}.", self._widened)

    def rows(self, name: str, numbers: Sequence[int]) -> Array:
        """Some rows of a matrix: a vocabulary may be large, and a sentence is not."""
        return np.asarray(self._arrays[self._prefix + name][list(numbers)], dtype=np.float64)

    def embedded(self, name: str, numbers: Sequence[int], scaled: bool) -> Array:
        """The embeddings of some tokens, as a model reads them."""
        vectors = self.rows(f"{name}.table.weight", numbers)
        return vectors * np.sqrt(vectors.shape[1]) if scaled else vectors

    def linear(self, name: str, vectors: Array) -> Array:
        """W x + b of one vector or of several; b where there is one."""
        product = vectors @ self[f"{name}.weight"].T
        return product + self[f"{name}.bias"] if f"{name}.bias" in self else product

    def symbols(self, *mechanisms: str) -> dict[str, Array]:
        """The matrices of an attention by the symbols of its formulas; `v` and `w_c` are vectors."""
        places = {symbol: place for name in mechanisms for symbol, place in PLACES.get(name, {}).items()}
        return {symbol: self[place].ravel() if symbol[0] in "vw" else self[place] for symbol, place in places.items()}
