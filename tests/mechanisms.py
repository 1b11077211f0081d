"""Every mechanism of the package, by name, at sizes that are all different."""

from collections.abc import Callable

import torch
from torch import Tensor

from nungil.attention import Additive, Concat, Coverage, Dot, General, LocalM, LocalP, Location, ScaledDot, Score

B, T, S, Q, K, A, V, LONGEST = 2, 3, 5, 7, 11, 13, 17, 19  # all different: a swapped axis cannot pass

MECHANISMS: dict[str, Callable[[], Score]] = {
    "dot": Dot,
    "scaled-dot": ScaledDot,
    "general": lambda: General(Q, K),
    "concat": lambda: Concat(Q, K, A),
    "additive": lambda: Additive(Q, K, A),
    "location": lambda: Location(Q, LONGEST),
    "coverage": lambda: Coverage(Q, K, A),
    "local-m": lambda: LocalM(General(Q, K), reach=1),
    "local-p": lambda: LocalP(General(Q, K), Q, reach=2),
    "local-m of coverage": lambda: LocalM(Coverage(Q, K, A), reach=1),
    "local-p of additive": lambda: LocalP(Additive(Q, K, A), Q, reach=1),
}
READS_ANY_ORDER = ["dot", "scaled-dot", "general", "concat", "additive"]
SUMS_TO_ONE = [name for name in MECHANISMS if not name.startswith("local-p")]
ONE_WIDTH = ("dot", "scaled-dot")


def key_size(name: str) -> int:
    """The width of a key: a dot product needs that of the query."""
    return Q if name in ONE_WIDTH else K


def build(name: str, dtype: torch.dtype = torch.float64) -> Score:
    return MECHANISMS[name]().to(dtype)


def inputs(
    name: str, dtype: torch.dtype = torch.float64, b: int = B, t: int = T, s: int = S
) -> tuple[Tensor, Tensor, Tensor]:
    """A query, keys and values for this mechanism."""
    query, keys = torch.randn(b, t, Q, dtype=dtype), torch.randn(b, s, key_size(name), dtype=dtype)
    return query, keys, torch.randn(b, s, V, dtype=dtype)


def keep_first(lengths: list[int], s: int) -> Tensor:
    """A mask that keeps the first so many steps of each sentence."""
    return torch.arange(s)[None] < torch.tensor(lengths)[:, None]
