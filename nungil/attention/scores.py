"""Scores: how well each source step answers each query.

A score has two phases. `memory = score.prepare(keys, keep)` does, once per sentence, all that does not depend on the
query; `score(query, memory)` then compares one step or many. Handing the keys themselves in prepares them on the way.

A score of one's own is a subclass with `compare`, and `project` if the keys can be worked on beforehand.
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
    """What a score keeps of a batch of sentences: made once, read at every step."""

    keys: Float[Tensor, "B S K"]
    projected: Float[Tensor, "B S P"]
    keep: Keep | None

    def select(self, rows: Int[Tensor, " N"]) -> "Memory":
        """The memory of some sentences of the batch, in the order given; a beam search asks for the same one often."""
        return Memory(self.keys[rows], self.projected[rows], None if self.keep is None else self.keep[rows])


class Weighed(NamedTuple):
    """Scores, −∞ where nothing may be seen, and the weights made of them."""

    scores: Float[Tensor, "B T S"]
    weights: Float[Tensor, "B T S"]


class Score(nn.Module, ABC):
    """What all scores share: the two phases, the check of sizes, and softmax as the way from scores to weights."""

    needs_coverage: ClassVar[bool] = False

    def __init__(self, query_size: int | None = None, key_size: int | None = None, **sizes: int) -> None:
        super().__init__()
        for name, size in {"query_size": query_size, "key_size": key_size, **sizes}.items():
            if size is not None and size < 1:
                raise UsageError(f"{type(self).__name__}: {name} must be at least 1, not {size}")
        self.query_size, self.key_size = query_size, key_size

    def project(self, keys: Float[Tensor, "B S K"]) -> Float[Tensor, "B S P"]:
        """What of the keys can be computed before any query is known; by default the keys as they are."""
        return keys

    @abstractmethod
    def compare(self, query: Float[Tensor, "B T Q"], memory: Memory) -> Float[Tensor, "B T S"]:
        """The score of every key for every query."""

    def prepare(self, keys: Float[Tensor, "B S K"], keep: Keep | None = None) -> Memory:
        """Do, once per sentence, all that does not depend on the query."""
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
        position: int = 0,  # noqa: ARG002  the absolute step of the first query; only windows ask
        coverage: Float[Tensor, "B S"] | None = None,  # noqa: ARG002  what was read so far; only Coverage asks
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
        """The memory itself, or one made of keys; the query must fit it."""
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
        """One product of matrices."""
        if query.shape[-1] != memory.projected.shape[-1]:
            raise ShapeError(
                f"{self._name()} compares a query with keys of its own width: query {tuple(query.shape)}, "
                f"keys {tuple(memory.keys.shape)}; General(query_size, key_size) takes two widths"
            )
        return query @ memory.projected.transpose(1, 2)


class ScaledDot(Dot):
    """hₜᵀ hₛ / √d. Vaswani et al. (2017), eq. 1."""

    def compare(self, query: Float[Tensor, "B T Q"], memory: Memory) -> Float[Tensor, "B T S"]:
        """Dot, of a query made shorter by √d."""
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

    Wₐ [hₜ; hₛ] is Wₐ's left part times hₜ plus its right part times hₛ, so nothing needs to be joined.
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
    """Wₐ hₜ: no key is read. Luong et al. (2015), eq. 8.

    Wₐ has one row per source position, up to the longest sentence there may be; a shorter one uses the first rows.
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
    """The number of real source steps: up to and with the last one kept."""
    B, S = memory.keys.shape[:2]
    if memory.keep is None:
        return torch.full((B, 1), S, device=memory.keys.device)
    rows = memory.keep[:, None] if memory.keep.dim() == 2 else memory.keep
    return (rows * torch.arange(1, S + 1, device=rows.device)).amax(dim=-1)
