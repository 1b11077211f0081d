"""Order: which rows make which batch, as a pure function of (lengths, seed, epoch). Knows no torch.

There is no state: a run that stopped within an epoch computes the same epoch again and continues at its step.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nungil.errors import CorpusError

Rows = NDArray[np.integer[Any]]
BAND = 1.06  # longest sides within 6% go together; wider bands have more padding, narrower ones no less
FULL = 0.9  # a batch may use only 90% of its budget to save padding: 3.8% instead of 4.1% on Multi30k
POOL = 65_536  # rows sorted together: enough for batches of one length, few enough to mix a large corpus


class Order:
    """Cuts each epoch into batches of at most `budget` positions: rows × the longest row, padding included."""

    def __init__(self, lengths: Sequence[Rows], budget: int, seed: int) -> None:
        self.lengths, self.budget, self.seed = tuple(lengths), budget, seed
        self._longest = np.maximum.reduce(self.lengths)
        if not len(self._longest):
            raise CorpusError("there is nothing to make batches of: the corpus has no rows")
        if any(int(side.min()) < 1 for side in self.lengths):
            raise CorpusError("a row is empty: there is nothing to attend to; cleaning leaves such rows out")
        if int(self._longest.max()) > budget:
            raise CorpusError(
                f"row {int(self._longest.argmax())} has {int(self._longest.max())} tokens, more than a batch "
                f"of {budget} may hold; allow larger batches or leave out such long rows"
            )

    def epoch(self, number: int) -> list[Rows]:
        """The batches of one epoch: every row once, rows of similar length together, batches shuffled."""
        random = np.random.default_rng([self.seed % 2**63, number])
        shuffled = random.permutation(np.arange(len(self._longest), dtype=np.int32))
        batches: list[Rows] = []
        for start in range(0, len(shuffled), POOL):
            batches += self._cut(shuffled[start : start + POOL])
        return [batches[place] for place in random.permutation(len(batches))]

    def _cut(self, pool: Rows) -> list[Rows]:
        """Sort a pool by length (rows of equal lengths stay shuffled), and cut it into batches near the budget."""
        by_length = pool[self._like_lengths_together(pool)]
        batches, start = [], 0
        while start < len(by_length):
            end = start + self._rows_that_fit(by_length[start : start + self.budget])
            batches.append(by_length[start:end])
            start = end
        return batches

    def _like_lengths_together(self, pool: Rows) -> Rows:
        """Bands of nearly equal longest side; within a band by the first side, up in one and down in the next.

        Sorted by one side alone, an eighth of the other is padding (Multi30k). Alternating avoids jumps at bands.
        """
        band = (np.log(self._longest[pool]) / np.log(BAND)).astype(np.int64)
        _, band = np.unique(band, return_inverse=True)
        up_and_down = np.where(band % 2 == 0, 1, -1)
        return np.lexsort([self.lengths[-1][pool], self.lengths[0][pool] * up_and_down, band])

    def _rows_that_fit(self, rows: Rows) -> int:
        """How many of these rows, in order, make a batch: of the counts that nearly fill it, the one least padded."""
        count = np.arange(1, len(rows) + 1)
        tallest = [np.maximum.accumulate(side[rows]) for side in self.lengths]
        most = max(1, int(np.searchsorted(np.maximum.reduce(tallest) * count, self.budget, side="right")))
        least = max(1, int(most * FULL))
        real = sum(np.cumsum(side[rows]) for side in self.lengths)
        share = real / (sum(tallest) * count)
        return least + int(np.argmax(share[least - 1 : most]))


def shares(batches: Sequence[Rows], world: int) -> Iterator[tuple[Rows, ...]]:
    """One batch for each of `world` processes at a time, in order.

    If fewer batches than processes are left over, their rows are dealt out to all processes: none is dropped or
    repeated. A process may then get no row.
    """
    whole = len(batches) - len(batches) % world
    for start in range(0, whole, world):
        yield tuple(batches[start : start + world])
    if whole < len(batches):
        rest = np.concatenate(batches[whole:])
        yield tuple(rest[rank::world] for rank in range(world))


def padding_share(batches: Sequence[Rows], lengths: Sequence[Rows]) -> float:
    """The share of all positions that are padding."""
    positions = sum(len(rows) * int(side[rows].max()) for rows in batches for side in lengths)
    real = sum(int(side.sum()) for side in lengths)
    return 1 - real / positions
