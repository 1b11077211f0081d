"""Likeliest: the token of the highest score, without the score of every token.

Let x̂ and ŵ be a feature x and a token's weights w, rounded to eight-bit integers. Products of these take a quarter of
the time, and by Cauchy and Schwarz they are not far from the exact ones:

    |w·x − ŵ·x̂| = |ŵ·(x − x̂) + (w − ŵ)·x| ≤ |ŵ| |x − x̂| + |w − ŵ| |x|

So only a token whose rough score is within twice the bound of the highest can be the best. There are usually one or
two of them; these are scored again in single precision.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import pad

from nungil.model.quick.product import Whole, WholeProduct, has_wide_sums, lays_out

# Sizes   N rows   F of a feature   V vocabulary, in whole blocks   P candidate blocks   C candidate tokens
Hide = Callable[[Float[Tensor, "N V"]], Float[Tensor, "N V"]]  # sets what may not come next to −∞, in place
Exact = Callable[[Float[Tensor, "N F"]], Float[Tensor, "N V"]]  # the product by the vocabulary
BLOCK = 32  # tokens whose highest score is taken first
FEWEST = 1_024  # tokens; a smaller vocabulary is not worth it
MANY = 64  # candidates per row; with more, all tokens are scored in single precision
PATIENCE = 3  # steps in a row with too many candidates, after which it is not tried again
ROUNDED = 1e-5  # slack for rounding in single precision, relative to |w| |x| and the bias: enough for 1,000 terms


class Likeliest:
    """The token of each row that `exact` scores highest; of equal ones the first."""

    def __init__(self, layer: nn.Linear, exact: Exact) -> None:
        self.exact = exact
        self.weight = layer.weight.detach()
        self.bias = self.weight.new_zeros(len(self.weight)) if layer.bias is None else layer.bias.detach()
        beyond = -len(self.weight) % BLOCK  # padding, so that all blocks are full
        self.product = WholeProduct(pad(self.weight, (0, 0, 0, beyond)), pad(self.bias, (0, beyond), value=-torch.inf))
        near = Whole.of(self.weight).rows
        self.largest_norm = float(near.norm(dim=1).max())
        self.largest_error = float((self.weight - near).norm(dim=1).max()) + ROUNDED * self.largest_norm
        self.rounded = ROUNDED * float(self.bias.nan_to_num(0.0, 0.0, 0.0).abs().max())
        self._in_vain = 0  # failed steps in a row

    @staticmethod
    def suits(layer: nn.Linear) -> bool:
        """Whether it is quicker, and its sums do not overflow."""
        return layer.out_features >= FEWEST and lays_out(layer.weight, torch.int8) and has_wide_sums()

    def __call__(self, features: Float[Tensor, "N F"], hide: Hide) -> Int[Tensor, " N"]:
        """The best of the tokens that `hide` leaves."""
        found = self._found(features, hide) if self._in_vain < PATIENCE else None
        self._in_vain = 0 if found is not None else self._in_vain + 1
        return hide(self.exact(features)).argmax(dim=1) if found is None else found

    def roughly(self, features: Float[Tensor, "N F"]) -> tuple[Float[Tensor, "N V"], Float[Tensor, "N 1"]]:
        """Integer scores (−∞ for padding), and how far those of a row are off at most."""
        whole = Whole.of(features)
        counted = features / whole.measure  # scaled up to 127, so that no square underflows
        bound_N1 = self.largest_norm * (counted - whole.numbers).norm(dim=1, keepdim=True)
        bound_N1 += self.largest_error * counted.norm(dim=1, keepdim=True)
        return self.product.of(whole), bound_N1 * whole.measure + self.rounded

    def _found(self, features: Float[Tensor, "N F"], hide: Hide) -> Int[Tensor, " N"] | None:
        """By integer products; None where there are too many candidates, or a row has none."""
        roughly_NV, bound_N1 = self.roughly(features)
        N, blocks = len(features), hide(roughly_NV).view(len(features), -1, BLOCK)
        highest = blocks.amax(dim=2)
        least_N1 = highest.amax(dim=1, keepdim=True) - 2 * bound_N1
        near = highest >= least_N1
        if int(near.sum()) > MANY * N:
            return None
        rows_P, blocks_P = near.nonzero(as_tuple=True)
        scores = blocks[rows_P, blocks_P]
        which, places = ((scores >= least_N1[rows_P]) & (scores > -torch.inf)).nonzero(as_tuple=True)
        rows_C, tokens_C = rows_P[which], blocks_P[which] * BLOCK + places
        return None if len(rows_C) > MANY * N else self._best(features, rows_C, tokens_C)

    def _best(
        self, features: Float[Tensor, "N F"], rows: Int[Tensor, " C"], tokens: Int[Tensor, " C"]
    ) -> Int[Tensor, " N"] | None:
        """The best of the candidates, in single precision; None where a row has none."""
        N, none = len(features), len(self.weight)
        if len(rows) > N:
            scores = (self.weight[tokens] * features[rows]).sum(dim=1) + self.bias[tokens]
            highest = scores.new_full((N,), -torch.inf).scatter_reduce_(0, rows, scores, "amax")
            tokens = tokens.where(scores == highest[rows], none)
        chosen = tokens.new_full((N,), none).scatter_reduce_(0, rows, tokens, "amin")
        return None if bool((chosen == none).any()) else chosen
