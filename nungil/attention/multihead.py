"""Multi-head attention. Vaswani et al. (2017), section 3.2.2."""

from functools import cache
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from nungil.attention.attend import Attended, Keep, causal_keep, check_keep, check_steps, hidden, refuse_empty_rows
from nungil.attention.dropout import Dropout
from nungil.attention.eye import Eye, Look
from nungil.attention.softmax import softmax
from nungil.errors import ShapeError, UsageError

# Sizes   B batch   H heads   T target steps   S source steps   M width of the model   D width of a head, M / H


class Heads(NamedTuple):
    """Keys and values, projected and split into heads."""

    keys: Float[Tensor, "B H S D"]
    values: Float[Tensor, "B H S D"]

    def select(self, rows: Int[Tensor, " N"]) -> "Heads":
        """The heads of some sentences of the batch, in the order given."""
        return Heads(self.keys[rows], self.values[rows])

    def contiguous(self) -> "Heads":
        """The same in contiguous memory: worth it for heads that are read at many steps."""
        return Heads(self.keys.contiguous(), self.values.contiguous())

    def append(self, more: "Heads") -> "Heads":
        """These, followed by more source steps."""
        return Heads(torch.cat([self.keys, more.keys], dim=2), torch.cat([self.values, more.values], dim=2))


class MultiHeadAttention(nn.Module):
    """Project query, keys and values; per head softmax(QKᵀ/√D)V; join the heads and project once more.

    Self-attention is `attention(x, x, x)`, masked self-attention `attention(x, x, x, causal=True)`, and cross-attention
    `attention(decoder, encoder, encoder, keep)`. Attention is written out instead of using the fused kernel: that gives
    the weights, and on a CPU, at the length of sentences, trains as fast.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        *,
        dropout: float = 0.0,
        bias: bool = True,
        kind: str = "self",
        layer: int = 0,
    ) -> None:
        super().__init__()
        _check_heads(d_model, num_heads)
        self.d_model, self.num_heads, self.kind, self.layer = d_model, num_heads, kind, layer
        self.query = nn.Linear(d_model, d_model, bias=bias)
        self.key = nn.Linear(d_model, d_model, bias=bias)
        self.value = nn.Linear(d_model, d_model, bias=bias)
        self.output = nn.Linear(d_model, d_model, bias=bias)
        self.dropout = Dropout(dropout)
        for projection in (self.query, self.key, self.value, self.output):
            nn.init.xavier_uniform_(projection.weight)
            if bias:
                nn.init.zeros_(projection.bias)

    def forward(
        self,
        q: Float[Tensor, "B T M"],
        k: Float[Tensor, "B S M"],
        v: Float[Tensor, "B S M"],
        keep: Keep | None = None,
        causal: bool = False,
        *,
        eye: Eye | None = None,
    ) -> Attended:
        """Attend; the weights are (B, heads, T, S). With `causal`, query t sees keys up to t + S − T."""
        self._check(q, k, v, keep)
        T, S = q.shape[1], k.shape[1]
        if causal and T > 1:  # a single query sees all keys
            order = causal_keep(T, S, q.device)
            keep = (
                order.expand(q.shape[0], T, S) if keep is None else order & (keep if keep.dim() == 3 else keep[:, None])
            )
        if keep is not None:
            refuse_empty_rows(keep)
        return self.read(q, self.prepare(k, v), keep, eye)

    def prepare(self, k: Float[Tensor, "B S M"], v: Float[Tensor, "B S M"]) -> Heads:
        """Project keys and values once, for many steps."""
        return Heads(self._split(self.key(k)), self._split(self.value(v)))

    def read(
        self, q: Float[Tensor, "B T M"], heads: Heads, keep: Keep | None = None, eye: Eye | None = None
    ) -> Attended:
        """Attend to prepared heads. The mask is not checked: a row with nothing to keep gives NaN."""
        query_BHTD, (keys_BHSD, values_BHSD) = self._split(self.query(q)), heads
        wide = _product_type(query_BHTD)
        scores = _scaled_scores(query_BHTD.to(wide), keys_BHSD.to(wide), keep)
        weights = softmax(scores)
        if eye is not None:
            weights = eye(Look(self.kind, self.layer, query_BHTD, keys_BHSD, values_BHSD, scores, weights, keep))
        context_BHTD = self.dropout(weights) @ values_BHSD.to(weights.dtype)
        joined_BTM = context_BHTD.transpose(1, 2).flatten(2).to(query_BHTD.dtype)
        return Attended(self.output(joined_BTM), weights.to(query_BHTD.dtype))

    def _split(self, projected: Float[Tensor, "B S M"]) -> Float[Tensor, "B H S D"]:
        B, S, M = projected.shape
        return projected.view(B, S, self.num_heads, M // self.num_heads).transpose(1, 2)

    def _check(self, q: Tensor, k: Tensor, v: Tensor, keep: Keep | None) -> None:
        sizes = f"q {tuple(q.shape)}, k {tuple(k.shape)}, v {tuple(v.shape)}"
        if any(part.dim() != 3 or part.shape[-1] != self.d_model for part in (q, k, v)):
            raise ShapeError(f"MultiHeadAttention takes (batch, steps, d_model={self.d_model}), not {sizes}")
        if k.shape[:2] != v.shape[:2] or q.shape[0] != k.shape[0]:
            raise ShapeError(f"q, k and v need one batch size, and each key one value: {sizes}")
        if k.shape[1] == 0:
            raise ShapeError(f"there is no source step to attend to: {sizes}")
        if keep is not None:
            check_keep(keep, k)
            check_steps(keep, q)


def _scaled_scores(query_BHTD: Tensor, keys_BHSD: Tensor, keep: Keep | None) -> Float[Tensor, "B H T S"]:
    """QKᵀ/√D, −∞ where hidden. The product adds the mask, which saves a pass over the scores."""
    B, H, T, D = query_BHTD.shape
    query_NTD, keys_NSD = (query_BHTD * D**-0.5).flatten(0, 1), keys_BHSD.flatten(0, 1)
    if keep is None:
        scores_NTS = torch.bmm(query_NTD, keys_NSD.transpose(1, 2))
    else:
        mask = hidden(keep, query_BHTD).expand(B, H, -1, -1).flatten(0, 1)
        scores_NTS = torch.baddbmm(mask, query_NTD, keys_NSD.transpose(1, 2))
    return scores_NTS.view(B, H, T, keys_NSD.shape[1])


def _product_type(tensor: Tensor) -> torch.dtype:
    """float32 in place of bfloat16 on a CPU without bfloat16 products, where they are many times slower."""
    slow = tensor.dtype == torch.bfloat16 and tensor.device.type == "cpu" and not _multiplies_bfloat16()
    return torch.float32 if slow else tensor.dtype


@cache
def _multiplies_bfloat16() -> bool:
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def _check_heads(d_model: int, num_heads: int) -> None:
    if d_model < 1 or num_heads < 1:
        raise UsageError(f"d_model and num_heads must be at least 1, not {d_model} and {num_heads}")
    if d_model % num_heads:
        fitting = ", ".join(str(n) for n in range(1, min(d_model, 64) + 1) if d_model % n == 0)
        raise UsageError(f"d_model {d_model} is not divisible by num_heads {num_heads}; these would fit: {fitting}")
