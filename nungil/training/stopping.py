"""Early stopping: the validations so far, the best one, and whether training has stopped improving."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

Metric = Literal["bleu", "chrf", "loss", "accuracy"]


class Mark(NamedTuple):
    """One validation: its update, score, and loss. The loss breaks ties, and counts as progress, too."""

    update: int
    score: float
    loss: float


class Stopper:
    """Keeps every validation. A run is over when `patience` of them have brought neither a better score nor loss.

    The score alone is not enough: BLEU of a thousand sentences fluctuates while the learning rate is high, and stopping
    then would forgo what is gained when the rate falls. Of equal scores the one with the lower loss is better: BLEU
    stays 0 for a while at the beginning, while the loss falls.
    """

    def __init__(self, metric: Metric, patience: int) -> None:
        self.metric, self.patience = metric, patience
        self.history: list[Mark] = []

    def add(self, update: int, scores: Mapping[str, float]) -> bool:
        """Add a validation; returns whether it is the best so far."""
        mark = Mark(update, scores[self.metric], scores["loss"])
        better = not self.history or self._value(mark) > max(map(self._value, self.history))
        self.history.append(mark)
        return better

    @property
    def best(self) -> Mark | None:
        """The best validation; of equal ones the first."""
        return max(self.history, key=self._value, default=None)

    @property
    def is_over(self) -> bool:
        """Whether neither score nor loss has improved in the last `patience` validations."""
        if self.best is None or self.patience == 0:
            return False
        lowest = min(self.history, key=lambda mark: mark.loss if mark.loss == mark.loss else float("inf"))
        last = max(self.best.update, lowest.update)
        return sum(mark.update > last for mark in self.history) >= self.patience

    def ranked(self) -> list[int]:
        """The validated updates, best first; of equal ones the earlier."""
        return [mark.update for mark in sorted(self.history, key=self._value, reverse=True)]

    def is_better(self, scores: Mapping[str, float], other: Mapping[str, float]) -> bool:
        """Whether one validation is better than another."""
        ours, theirs = (Mark(0, one[self.metric], one["loss"]) for one in (scores, other))
        return self._value(ours) > self._value(theirs)

    def _value(self, mark: Mark) -> tuple[float, float]:
        """Higher is better; NaN is worst."""
        value = -mark.score if self.metric == "loss" else mark.score
        return (value if value == value else float("-inf"), -mark.loss if mark.loss == mark.loss else float("-inf"))
