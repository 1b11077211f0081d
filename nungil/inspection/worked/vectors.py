"""What a Transformer does to one vector: its position is added, and it is normed. Knows no torch."""

import numpy as np

from nungil.inspection.ledger import Array
from nungil.inspection.sheet import Sheet
from nungil.inspection.worked.parameters import Parameters

EPSILON = 1e-5  # of every norm: keeps the division defined


def norm(weights: Parameters, vectors: Array) -> Array:
    """Ba et al. (2016): mean 0 and variance 1, then a scale and a shift of each unit's own."""
    centred = vectors - vectors.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return np.asarray(centred / np.sqrt(variance + EPSILON) * weights["weight"] + weights["bias"])


def write_norm(sheet: Sheet, weights: Parameters | None, vector: Array, symbol: str = "x", result: str = "n") -> Array:
    """The same of one vector, line by line; without weights, scale and shift are left out."""
    mean = sheet.write("mean", f"μ({symbol})", np.asarray(vector.mean()))
    variance = sheet.write("variance", f"σ²({symbol})", np.asarray(((vector - mean) ** 2).mean()))
    scaled = (vector - mean) / np.sqrt(variance + EPSILON)
    if weights is None:
        return sheet.write("normed", f"{result} = ({symbol} − μ)/√(σ² + 10⁻⁵)", scaled)
    learned = scaled * weights["weight"] + weights["bias"]
    return sheet.write("normed", f"{result} = γ⊙({symbol} − μ)/√(σ² + 10⁻⁵) + β", learned)


def positions(count: int, width: int, first: int = 0) -> Array:
    """PE(p, 2i) = sin(p / 10000^{2i/d}), PE(p, 2i+1) = cos of the same; section 3.5 of Vaswani et al. (2017)."""
    column = np.arange(width)
    angles = np.arange(first, first + count)[:, None] / 10_000 ** (2 * (column // 2) / width)
    return np.asarray(np.where(column % 2 == 0, np.sin(angles), np.cos(angles)))
