"""When to stop: the best validation so far, and how many came after it."""

from typing import Literal

Metric = Literal["bleu", "chrf", "loss", "accuracy"]


class Stopper:
    """Remembers every validation. A run is over when the best is `patience` validations old."""

    def __init__(self, metric: Metric, patience: int) -> None:
        self.metric, self.patience = metric, patience
        self.history: list[tuple[int, float]] = []

    def add(self, update: int, score: float) -> bool:
        """Note a validation; whether it is the best so far."""
        better = not self.history or self._value(score) > max(self._value(old) for _, old in self.history)
        self.history.append((update, score))
        return better

    @property
    def best(self) -> tuple[int, float] | None:
        """Update and score of the best validation; of equal ones the first."""
        return max(self.history, key=lambda entry: self._value(entry[1]), default=None)

    @property
    def is_over(self) -> bool:
        """Whether nothing has become better for too long."""
        if self.best is None or self.patience == 0:
            return False
        since = [update for update, _ in self.history if update > self.best[0]]
        return len(since) >= self.patience

    def ranked(self) -> list[int]:
        """The validated updates, best first; of equal ones the earlier."""
        return [update for update, _ in sorted(self.history, key=lambda entry: -self._value(entry[1]))]

    def is_better(self, score: float, other: float) -> bool:
        """Whether one score is better than another."""
        return self._value(score) > self._value(other)

    def _value(self, score: float) -> float:
        """Higher is better; what is not a number is worst."""
        value = -score if self.metric == "loss" else score
        return value if value == value else float("-inf")
