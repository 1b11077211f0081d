"""Found: one result of a search."""

from typing import NamedTuple


class Found(NamedTuple):
    """The ids of one sentence without marks, the log-probability of each, and whether it ended.

    If it ended, the last log-probability is that of `<eos>`. `score` is what the search ranks by. A searcher that does
    not report single tokens gives the sum of their log-probabilities as `total`.
    """

    ids: list[int]
    log_probabilities: list[float]
    finished: bool
    score: float
    total: float | None = None

    @property
    def length(self) -> int:
        """The number of tokens, `<eos>` included."""
        return len(self.ids) + self.finished

    @property
    def log_probability(self) -> float:
        """The log-probability of the whole sentence, `<eos>` included."""
        return sum(self.log_probabilities) if self.total is None else self.total
