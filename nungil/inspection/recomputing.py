"""The weights once more, in NumPy, from the queries and keys that an eye saw: by how much is the model's softmax off?

It shares no code with `nungil.attention`. Everything is in double precision.
"""

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from nungil.attention import Additive, Concat, Coverage, Dot, General, LocalM, LocalP, Location, ScaledDot, Score
from nungil.attention.eye import Look
from nungil.inspection.example import Example
from nungil.inspection.record import Array
from nungil.inspection.watching import View, Watcher


def residual_of(example: Example, watcher: Watcher, view: View) -> float | None:
    """The largest difference of any weight of this layer; None where a score is not one of nungil's own."""
    looks = watcher.looks[view.kind, view.layer]
    score = _score(example)
    largest, step, covered = 0.0, 0, np.zeros(looks[0].keys.shape[-2])
    for look in looks:
        found = _heads(look) if look.weights.dim() == 4 else _rows(look, score, step, covered)
        if found is None:
            return None
        model = _array(look.weights[0])
        largest = max(largest, float(np.abs(found - model).max()))
        step, covered = step + model.shape[-2], covered + (model.sum(axis=0) if model.ndim == 2 else 0.0)
    return largest


def _score(example: Example) -> Score | None:
    holder = getattr(example.model, "decoder" if example.translates else "pooling", None)
    score = getattr(getattr(holder, "attention", None), "score", None)
    return score if isinstance(score, Score) else None


def _heads(look: Look) -> Array:
    """softmax(QKᵀ/√D) of each head."""
    query, keys = _array(look.query[0]), _array(look.keys[0])
    return _softmax(query @ keys.transpose(0, 2, 1) / np.sqrt(query.shape[-1]), np.isfinite(_array(look.scores[0])))


def _rows(look: Look, score: Score | None, step: int, covered: Array) -> Array | None:
    query, keys = _array(look.query[0]), _array(look.keys[0])
    inner = score.score if isinstance(score, LocalM | LocalP) else score
    scores = None if inner is None else _compared(inner, query, keys, covered)
    if scores is None:
        return None
    if not isinstance(score, LocalM | LocalP):
        return _softmax(scores, np.ones_like(scores, dtype=bool))
    distance = np.arange(len(keys)) - _centre(score, query, len(keys), step)[:, None]
    weights = _softmax(scores, np.abs(distance) <= score.reach)
    return weights * np.exp(-(distance**2) / (2 * (score.reach / 2) ** 2)) if isinstance(score, LocalP) else weights


def _centre(score: LocalM | LocalP, query: Array, length: int, step: int) -> Array:
    if isinstance(score, LocalM):
        return np.minimum(step + np.arange(len(query)), length - 1).astype(np.float64)
    inside = np.tanh(query @ _matrix(score.inner).T) @ _matrix(score.outer)[0]
    return np.asarray(length / (1 + np.exp(-inside)))


def _compared(score: Score, query: Array, keys: Array, covered: Array) -> Array | None:
    if isinstance(score, Dot):
        return query @ keys.T / (np.sqrt(query.shape[-1]) if isinstance(score, ScaledDot) else 1.0)
    if isinstance(score, General):
        return np.asarray(query @ (keys @ _matrix(score.bridge).T).T)
    if isinstance(score, Location):
        return np.asarray(query @ _matrix(score.rows)[: len(keys)].T)
    if isinstance(score, Concat):
        left, right = np.split(_matrix(score.join), [query.shape[-1]], axis=1)
        return np.asarray(np.tanh((query @ left.T)[:, None] + keys @ right.T) @ _matrix(score.vector)[0])
    if isinstance(score, Additive):
        inner = (query @ _matrix(score.query).T)[:, None] + keys @ _matrix(score.key).T
        if isinstance(score, Coverage):
            inner = inner + np.outer(covered, _matrix(score.cover)[:, 0])
        return np.asarray(np.tanh(inner) @ _matrix(score.vector)[0])
    return None


def _softmax(scores: Array, seen: NDArray[np.bool_]) -> Array:
    hidden = np.where(seen, scores, -np.inf)
    powers = np.exp(hidden - hidden.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def _matrix(layer: nn.Linear) -> Array:
    return _array(layer.weight)


def _array(tensor: Tensor) -> Array:
    return np.asarray(tensor.detach().double().cpu().numpy())
