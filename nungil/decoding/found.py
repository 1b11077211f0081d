"""Found: a sentence that a search has come to."""

from typing import NamedTuple


class Found(NamedTuple):
    """The ids of one sentence without marks, the log-probability of each, and whether it ended.

    One that ended has the log-probability of its end as the last. `score` is what the search ranks by. A searcher that
    knows no log-probability of single tokens gives their sum as `total`.
    """

    ids: list[int]
    log_probabilities: list[float]
    finished: bool
    score: float
    total: float | None = None

    @property
    def length(self) -> int:
        """How many tokens have a log-probability: those of the sentence, and the end."""
        return len(self.ids) + self.finished

    @property
    def log_probability(self) -> float:
        """Of the whole sentence, with that of the end."""
        return sum(self.log_probabilities) if self.total is None else self.total
