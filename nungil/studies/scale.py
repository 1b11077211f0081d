"""Scale: how large a study is. What a study leaves open is the same for all of them. No torch."""

from dataclasses import dataclass, replace

FULL_MINUTES, QUICK_MINUTES = 20, 3
FULL_SEEDS, QUICK_SEEDS = 5, 3
# Of a run that only tells how long others take: updates, one in so many tests, but so many at least.
PROBE_UPDATES, PROBE_SHARE, LEAST_TESTS = 3, 8, 6


@dataclass(frozen=True)
class Scale:
    """Sizes of the data, of training and of the tests."""

    quick: bool
    pairs: int = 8_000  # records that are made, or taken of a user's, for all sets together
    lengths: tuple[int, int] = (3, 12)  # of English words in snow
    tests: int = 300  # sentences that a model is examined on
    updates: int = 600
    sweep_updates: int = 300
    batch: int = 512  # positions of a batch, padding included
    rates: tuple[float, ...] = (0.005, 0.015)
    longest: int = 60  # tokens of a side; longer records of a user's data are left out

    @property
    def minutes(self) -> int:
        """The time that a study may take on two cores."""
        return QUICK_MINUTES if self.quick else FULL_MINUTES

    def probe(self) -> "Scale":
        """The same for a run that only tells how long others take."""
        tests = max(LEAST_TESTS, self.tests // PROBE_SHARE)
        return replace(self, updates=PROBE_UPDATES, sweep_updates=PROBE_UPDATES, tests=tests)
