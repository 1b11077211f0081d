"""Recorder: an eye that only watches, and makes records of what it saw."""

from collections.abc import Collection, Sequence

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from nungil.attention.eye import Look
from nungil.errors import ShapeError, UsageError
from nungil.inspection.record import SIDES, Array, AttentionMap, AttentionRecord
from nungil.text.tokenizers.base import SOS, SPECIALS

# Sizes   B batch   *heads none or one axis   T target steps   S source steps
STRAY = 1e-4  # a larger weight on padding is not rounding


class Recorder:
    """Keeps the weights of every look in one run of a model, unchanged.

    The decoder may run over all steps at once, or step by step, or first over a prefix. A beam search reorders rows,
    which a recorder cannot see: record a second pass over the chosen output instead.
    """

    def __init__(self, kinds: Collection[str] | None = None) -> None:
        self._kinds = kinds  # kinds to keep; all by default
        self._looks: dict[tuple[str, int], list[Tensor]] = {}

    def __call__(self, look: Look) -> Float[Tensor, "B *heads T S"]:
        """Keep the weights, and return them unchanged."""
        if self._kinds is None or look.kind in self._kinds:
            self._looks.setdefault((look.kind, look.layer), []).append(look.weights.detach())
        return look.weights

    def record(
        self,
        row: int,
        source_tokens: Sequence[str],
        target_tokens: Sequence[str],
        *,
        source: str = "",
        target: str = "",
        score: float | None = None,
    ) -> AttentionRecord:
        """The record of one sentence of the batch. The tokens include marks.

        Padding, and steps after the end of the sentence, are cut off by the number of tokens.
        """
        if not self._looks:
            raise UsageError("this recorder has seen no attention; hand it to the model as eye=recorder")
        self._refuse_other_batches()
        tokens = {"source": tuple(source_tokens), "target": tuple(target_tokens)}
        tokens["input"] = (SPECIALS[SOS], *target_tokens[:-1])
        maps = []
        for (kind, layer), looks in self._looks.items():
            whole = _joined(kind, [_of_sentence(weights, row) for weights in looks])
            maps.append(AttentionMap(kind, layer, _cut(kind, whole, tokens)))  # type: ignore[arg-type]  # checked there
        fed = tokens["input"] if any(one.columns == "input" for one in maps) else ()
        return AttentionRecord(
            tokens["source"], tokens["target"], tuple(maps), fed, source=source, target=target, score=score
        )

    def _refuse_other_batches(self) -> None:
        """Refuse batches of changing size: a row would not be the same sentence at every step."""
        sizes = [weights.shape[0] for looks in self._looks.values() for weights in looks]
        other = next((size for size in sizes if size != sizes[0]), None)
        if other is not None:
            raise UsageError(
                f"the batch went from {sizes[0]} to {other} sentences while it was recorded; keep the whole batch to "
                "the end, and make a new recorder for each run"
            )


def _of_sentence(weights: Tensor, row: int) -> Array:
    if not 0 <= row < weights.shape[0]:
        raise UsageError(f"there is no sentence {row} (from 0) in a batch of {weights.shape[0]}")
    found = weights[row].cpu()  # a record copies them to float64; NumPy has no bfloat16
    one = (found if found.dtype in (torch.float32, torch.float64) else found.float()).numpy()
    return np.asarray(one if one.ndim == 3 else one[None])


def _joined(kind: str, looks: list[Array]) -> Array:
    """All steps as rows, padded with zeros."""
    if kind in ("self", "pooling") and len(looks) > 1:
        raise UsageError(f"this recorder has seen {len(looks)} runs ({kind} attention); make a new one for each")
    if kind == "masked":
        _refuse_other_order(looks)
    if len(looks) == 1:
        return looks[0]
    columns = max(look.shape[-1] for look in looks)
    wide = [np.pad(look, ((0, 0), (0, 0), (0, columns - look.shape[-1]))) for look in looks]
    return np.concatenate(wide, axis=1)


def _refuse_other_order(looks: list[Array]) -> None:
    """Refuse steps that do not continue each other, with one more word for each: they are of another run."""
    seen = 0
    for look in looks:
        seen += look.shape[1]
        if look.shape[2] != seen:
            raise UsageError(
                f"masked attention of {look.shape[2]} columns after {seen} steps: this recorder has seen more than one "
                "run; make a new one for each"
            )


def _cut(kind: str, weights: Array, tokens: dict[str, tuple[str, ...]]) -> Array:
    """The rows and columns that have a token. Refuses weights on what is cut off."""
    if kind not in SIDES:
        raise UsageError(f"a record cannot hold attention of kind {kind!r}; it knows {', '.join(SIDES)}")
    rows, columns = SIDES[kind]
    T, S = len(tokens[rows]), len(tokens[columns])
    if weights.shape[1] < T or weights.shape[2] < S:
        raise ShapeError(
            f"{kind} attention was seen over {weights.shape[1]} × {weights.shape[2]} steps, fewer than the {T} {rows} "
            f"and {S} {columns} tokens"
        )
    stray = float(weights[:, :T, S:].sum(axis=-1).max(initial=0.0))
    if stray > STRAY:
        raise ShapeError(
            f"{kind} attention: a row looks with {stray:.2f} of its weight at steps after the {S} {columns} tokens; "
            "hand in every token that the model read, <sos> and <eos> included"
        )
    return weights[:, :T, :S]
