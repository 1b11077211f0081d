"""Predicted labels against gold ones: accuracy, macro F1, each label's own scores, and the confusion matrix."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from nungil.errors import UsageError, did_you_mean
from nungil.scoring.sides import check_sides, check_some, first_few


class LabelScores(NamedTuple):
    """One label: its scores, 0 to 1, and how many gold texts have it."""

    precision: float
    recall: float
    f1: float
    support: int


class ClassificationScores(NamedTuple):
    """Scores, 0 to 1, and counts: `confusion[gold][predicted]`, every label in both, in the order given."""

    accuracy: float
    macro_f1: float
    labels: Mapping[str, LabelScores]
    confusion: Mapping[str, Mapping[str, int]]


def score_labels(predicted: Sequence[str], gold: Sequence[str], labels: Sequence[str]) -> ClassificationScores:
    """Score the labels of texts; `labels` are all labels.

    A label that is never predicted has precision 0, one that is never gold recall 0; either makes F1 0. Macro F1 is the
    mean over labels, except those that are neither gold nor predicted anywhere.
    """
    check_sides("predicted labels", predicted, "gold labels", gold)
    check_some("gold labels", gold)
    _check_known(predicted, gold, labels)
    pairs = Counter(zip(gold, predicted, strict=True))
    confusion = {right: {guess: pairs[right, guess] for guess in labels} for right in labels}
    scores = {label: _score_label(label, confusion) for label in labels}
    met = {*predicted, *gold}
    seen = [label for label in labels if label in met]  # not a set, whose order, and so the sum, varies by process
    return ClassificationScores(
        accuracy=sum(confusion[label][label] for label in labels) / len(gold),
        macro_f1=sum(scores[label].f1 for label in seen) / len(seen),
        labels=scores,
        confusion=confusion,
    )


def _score_label(label: str, confusion: Mapping[str, Mapping[str, int]]) -> LabelScores:
    both = confusion[label][label]
    support = sum(confusion[label].values())
    guessed = sum(row[label] for row in confusion.values())
    return LabelScores(
        precision=both / guessed if guessed else 0.0,
        recall=both / support if support else 0.0,
        f1=2 * both / (guessed + support) if both else 0.0,
        support=support,
    )


def _check_known(predicted: Sequence[str], gold: Sequence[str], labels: Sequence[str]) -> None:
    if not labels:
        raise UsageError("labels: none are given; list every label that there is")
    mistakes = [f"{label!r} is listed twice" for label, times in Counter(labels).items() if times > 1]
    mistakes += _unknown("predicted", predicted, labels)
    mistakes += _unknown("gold", gold, labels)
    if mistakes:
        raise UsageError(first_few([f"labels: {mistake}" for mistake in mistakes]))


def _unknown(name: str, side: Sequence[str], labels: Sequence[str]) -> Iterator[str]:
    """A sentence for each label that is not one of them, at the first place it stands."""
    for label in dict.fromkeys(side):
        if label not in labels:
            yield f"{name} {side.index(label) + 1:,} is {label!r}, which is none of them{did_you_mean(label, labels)}"
