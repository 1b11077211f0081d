"""Scores: how well each source step matches each query.

A score has two phases. `memory = score.prepare(keys, keep)` computes, once per sentence, what does not depend on the
query; `score(query, memory)` then scores one step or many. Plain keys may be passed instead of a memory.

Your own score is a subclass with `compare`, and with `project` if something can be computed from the keys alone.
"""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from nungil.attention.attend import Keep, check_keep, check_steps, hide
from nungil.attention.energy import tanh_energy
from nungil.attention.softmax import softmax
from nungil.errors import ShapeError, UsageError

# Sizes   B batch   T target steps   S source steps   Q, K width of query and key   P width compared


class Memory(NamedTuple):
    """What a score has prepared for a batch of sentences, to be used at every step."""

    keys: Float[Tensor, "B S K"]
    projected: Float[Tensor, "B S P"]
    keep: Keep | None

    def select(self, rows: Int[Tensor, " N"]) -> "Memory":
        """The memory of some sentences of the batch, in the order given, perhaps repeated."""
        return Memory(self.keys[rows], self.projected[rows], None if self.keep is None else self.keep[rows])


class Weighed(NamedTuple):
    """Scores, −∞ where hidden, and their weights."""

    scores: Float[Tensor, "B T S"]
    weights: Float[Tensor, "B T S"]


class Score(nn.Module, ABC):
    """What all scores share: two phases, checks of sizes, and softmax from scores to weights."""

    needs_coverage: ClassVar[bool] = False

    def __init__(self, query_size: int | None = None, key_size: int | None = None, **sizes: int) -> None:
        super().__init__()
        for name, size in {"query_size": query_size, "key_size": key_size, **sizes}.items():
            if size is not None and size < 1:
                raise UsageError(f"{type(self).__name__}: {name} must be at least 1, not {size}")
        self.query_size, self.key_size = query_size, key_size

    def project(self, keys: Float[Tensor, "B S K"]) -> Float[Tensor, "B S P"]:
        """What can be computed from the keys alone; by default the keys themselves."""
        return keys

    @abstractmethod
    def compare(self, query: Float[Tensor, "B T Q"], memory: Memory) -> Float[Tensor, "B T S"]:
        """The score of every key for every query."""

    def prepare(self, keys: Float[Tensor, "B S K"], keep: Keep | None = None) -> Memory:
        """Compute, once per sentence, what does not depend on the query."""
        if self.key_size is not None and keys.shape[-1] != self.key_size:
            raise ShapeError(
                f"{self._name()} was built for keys of width {self.key_size}, not keys {tuple(keys.shape)}"
            )
        if keep is not None:
            check_keep(keep, keys)
        return Memory(keys, self.project(keys), keep)

    def forward(
        self,
        query: Float[Tensor, "B T Q"],
        keys: Float[Tensor, "B S K"] | Memory,
        position: int = 0,  # noqa: ARG002  absolute step of the first query, for windows
        coverage: Float[Tensor, "B S"] | None = None,  # noqa: ARG002  weights so far, for Coverage
    ) -> Float[Tensor, "B T S"]:
        """Scores of every key for every query."""
        memory = self.recall(query, keys)
        return self.compare(query, memory)

    def weigh(
        self,
        query: Float[Tensor, "B T Q"],
        memory: Memory,
        position: int = 0,
        coverage: Float[Tensor, "B S"] | None = None,
    ) -> Weighed:
        """Scores over the kept steps, and their softmax."""
        scores = hide(self(query, memory, position, coverage), memory.keep)
        return Weighed(scores, softmax(scores))

    def recall(self, query: Tensor, keys: Tensor | Memory) -> Memory:
        """The memory, prepared if keys were passed; checks that the query fits it."""
        memory = keys if isinstance(keys, Memory) else self.prepare(keys)
        if query.dim() != 3 or memory.keys.dim() != 3 or query.shape[0] != memory.keys.shape[0]:
            raise ShapeError(
                f"{self._name()} takes a query (batch, steps, width) and keys (batch, steps, width) of one batch size, "
                f"not query {tuple(query.shape)} and keys {tuple(memory.keys.shape)}"
            )
        if self.query_size is not None and query.shape[-1] != self.query_size:
            raise ShapeError(
                f"{self._name()} was built for queries of width {self.query_size}, not query {tuple(query.shape)} "
                f"(keys {tuple(memory.keys.shape)})"
            )
        if memory.keys.shape[1] == 0:
            raise ShapeError(f"there is no source step to attend to: keys {tuple(memory.keys.shape)}")
        if torch.float64 in (query.dtype, memory.keys.dtype) and query.dtype != memory.keys.dtype:
            raise ShapeError(f"query is of {query.dtype} and keys of {memory.keys.dtype}; make them one with .to()")
        check_steps(memory.keep, query)
        return memory

    def _name(self) -> str:
        return type(self).__name__


class Dot(Score):
    """hₜᵀ hₛ. Luong et al. (2015), section 3.1."""

    def compare(self, query: Float[Tensor, "B T Q"], memory: Memory) -> Float[Tensor, "B T S"]:
        """One matrix product."""
        if query.shape[-1] != memory.projected.shape[-1]:
            raise ShapeError(
                f"{self._name()} compares a query with keys of its own width: query {tuple(query.shape)}, "
                f"keys {tuple(memory.keys.shape)}; General(query_size, key_size) takes two widths"
            )
        return query @ memory.projected.transpose(1, 2)


class ScaledDot(Dot):
    """hₜᵀ hₛ / √d. Vaswani et al. (2017), eq. 1."""

    def compare(self, query: Float[Tensor, "B T Q"], memory: Memory) -> Float[Tensor, "B T S"]:
        """Dot of the query divided by √d."""
        return super().compare(query * query.shape[-1] ** -0.5, memory)


class General(Score):
    """hₜᵀ Wₐ hₛ. Luong et al. (2015), section 3.1."""

    def __init__(self, query_size: int, key_size: int) -> None:
        super().__init__(query_size, key_size)
        self.bridge = nn.Linear(key_size, query_size, bias=False)

    def project(self, keys: Float[Tensor, "B S K"]) -> Float[Tensor, "B S P"]:
        """Wₐ hₛ."""
        bridged: Tensor = self.bridge(keys)
        return bridged

    def compare(self, query: Float[Tensor, "B T Q"], memory: Memory) -> Float[Tensor, "B T S"]:
        """hₜᵀ (Wₐ hₛ)."""
        return query @ memory.projected.transpose(1, 2)


class Concat(Score):
    """vₐᵀ tanh(Wₐ [hₜ; hₛ]). Luong et al. (2015), section 3.1.

    Wₐ [hₜ; hₛ] is Wₐ's left part times hₜ plus its right part times hₛ, so the two need not be concatenated.
    """

    def __init__(self, query_size: int, key_size: int, size: int) -> None:
        super().__init__(query_size, key_size, size=size)
        self.join = nn.Linear(query_size + key_size, size, bias=False)
        self.vector = nn.Linear(size, 1, bias=False)

    def project(self, keys: Float[Tensor, "B S K"]) -> Float[Tensor, "B S P"]:
        """The right part of Wₐ times hₛ."""
        return nn.functional.linear(keys, self.join.weight[:, self.query_size :])

    def compare(self, query: Float[Tensor, "B T Q"], memory: Memory) -> Float[Tensor, "B T S"]:
        """vₐᵀ tanh(left part times hₜ + right part times hₛ)."""
        projected = nn.functional.linear(query, self.join.weight[:, : self.query_size])
        return tanh_energy(projected, memory.projected, self.vector.weight[0])


class Additive(Score):
    """vᵀ tanh(W s + U h). Bahdanau et al. (2015), appendix A.1.2; U h is computed once per sentence."""

    def __init__(self, query_size: int, key_size: int, size: int) -> None:
        super().__init__(query_size, key_size, size=size)
        self.query = nn.Linear(query_size, size, bias=False)
        self.key = nn.Linear(key_size, size, bias=False)
        self.vector = nn.Linear(size, 1, bias=False)

    def project(self, keys: Float[Tensor, "B S K"]) -> Float[Tensor, "B S P"]:
        """U h."""
        projected: Tensor = self.key(keys)
        return projected

    def compare(self, query: Float[Tensor, "B T Q"], memory: Memory) -> Float[Tensor, "B T S"]:
        """vᵀ tanh(W s + U h)."""
        return tanh_energy(self.query(query), memory.projected, self.vector.weight[0])


class Location(Score):
    """Wₐ hₜ: does not depend on the keys. Luong et al. (2015), eq. 8.

    Wₐ has one row per source position, up to the longest sentence allowed; shorter ones use the first rows.
    """

    def __init__(self, query_size: int, longest: int) -> None:
        super().__init__(query_size, longest=longest)
        self.rows = nn.Linear(query_size, longest, bias=False)

    def compare(self, query: Float[Tensor, "B T Q"], memory: Memory) -> Float[Tensor, "B T S"]:
        """The first S rows of Wₐ times hₜ."""
        S, longest = memory.keys.shape[1], self.rows.out_features
        if longest < S:
            raise ShapeError(
                f"Location was built for at most {longest} source steps, not keys {tuple(memory.keys.shape)}"
            )
        return nn.functional.linear(query, self.rows.weight[:S])


def source_lengths(memory: Memory) -> Int[Tensor, "B T"] | Int[Tensor, "B 1"]:
    """The number of source steps up to the last one kept."""
    B, S = memory.keys.shape[:2]
    if memory.keep is None:
        return torch.full((B, 1), S, device=memory.keys.device)
    rows = memory.keep[:, None] if memory.keep.dim() == 2 else memory.keep
    return (rows * torch.arange(1, S + 1, device=rows.device)).amax(dim=-1)
