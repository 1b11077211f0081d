"""Reports on one or more classifiers on the same texts: scores with intervals, calibration, comparisons.

Sizes   R resamples   M cells: gold label and the label of each system, with the number of texts   C labels
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nungil.errors import UsageError, did_you_mean
from nungil.scoring.calibration import Calibration, calibration
from nungil.scoring.classification import ClassificationScores, score_labels
from nungil.scoring.resampling import SAMPLES, SEED, Difference, Interval, difference, interval, resample_cells
from nungil.scoring.sides import check_sides, check_some
from nungil.scoring.significance import McNemar, mcnemar, tell, tell_baseline

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
PERCENT = 100.0
MEASURES = {"accuracy": "accuracy", "macro_precision": "precision", "macro_recall": "recall", "macro_f1": "F1"}


class LabelComparison(NamedTuple):
    """The first system and another one: their differences in percent, McNemar's test, and a sentence."""

    first: str
    second: str
    differences: Mapping[str, Difference]
    mcnemar: McNemar
    told: str


class LabelReport(NamedTuple):
    """A report on the labels of some systems for the same texts. Scores are in percent."""

    texts: int
    scores: Mapping[str, Mapping[str, Interval]]  # by system, then by measure
    details: Mapping[str, ClassificationScores]  # each label, and the confusion matrix, by system
    calibration: Mapping[str, Calibration]  # of the systems whose probabilities are known
    comparisons: tuple[LabelComparison, ...]


def report_labels(
    systems: Mapping[str, Sequence[str]],
    gold: Sequence[str],
    labels: Sequence[str] | None = None,
    probabilities: Mapping[str, Sequence[float]] | None = None,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> LabelReport:
    """Score the labels of each system, by its name; the first is compared with the others and with a constant label.

    `labels` are all labels, by default those that occur. `probabilities` are those of the predicted labels.
    """
    if not systems:
        raise UsageError("there is no system to score; give at least one")
    for name, predicted in systems.items():
        check_sides(f"labels of {name}", predicted, "gold labels", gold)
    check_some("gold labels", gold)
    _refuse_strangers(probabilities or {}, systems)
    everything = {**systems, commonest(gold): [Counter(gold).most_common(1)[0][0]] * len(gold)}
    known = list(labels) if labels is not None else sorted({*gold, *(one for side in systems.values() for one in side)})
    details = {name: score_labels(predicted, gold, known) for name, predicted in everything.items()}
    resampled = _resampled(everything, gold, known, samples, seed)
    plain = {name: _plain(found) for name, found in details.items()}
    scores = {
        system: {name: interval(value, resampled[system][name]) for name, value in found.items()}
        for system, found in plain.items()
    }
    first, *others = everything
    return LabelReport(
        texts=len(gold),
        scores=scores,
        details={name: details[name] for name in systems},
        calibration={
            name: calibration(sure, [ours == right for ours, right in zip(systems[name], gold, strict=True)])
            for name, sure in (probabilities or {}).items()
        },
        comparisons=tuple(_compared(everything, gold, plain, resampled, (first, other)) for other in others),
    )


def _refuse_strangers(probabilities: Mapping[str, Sequence[float]], systems: Mapping[str, Sequence[str]]) -> None:
    """Refuse probabilities for systems without labels."""
    for name in probabilities:
        if name not in systems:
            raise UsageError(
                f"probabilities: there is no system {name!r} among those to score{did_you_mean(name, systems)}"
            )


def commonest(gold: Sequence[str]) -> str:
    """The name of the baseline that always says the most frequent label."""
    return f"always saying {Counter(gold).most_common(1)[0][0]!r}"


def _plain(found: ClassificationScores) -> dict[str, float]:
    """The scores that one number tells, in percent; means are over the labels that are met, as that of F1 is."""
    met = [
        one for label, one in found.labels.items() if one.support or any(row[label] for row in found.confusion.values())
    ]
    return {
        "accuracy": PERCENT * found.accuracy,
        "macro_precision": PERCENT * sum(one.precision for one in met) / len(met),
        "macro_recall": PERCENT * sum(one.recall for one in met) / len(met),
        "macro_f1": PERCENT * found.macro_f1,
    }


def _resampled(
    systems: Mapping[str, Sequence[str]], gold: Sequence[str], labels: Sequence[str], samples: int, seed: int
) -> dict[str, dict[str, Array]]:
    """The scores of every resample, the same for all systems. Texts with the same answers are drawn together."""
    numbers = {label: number for number, label in enumerate(labels)}
    cells = Counter(zip(gold, *systems.values(), strict=True))
    met = np.array([[numbers[label] for label in cell] for cell in cells])  # (M, 1 + systems)
    parts: dict[str, list[dict[str, Array]]] = {name: [] for name in systems}
    for drawn in resample_cells(np.array(list(cells.values())), samples, seed):
        for place, name in enumerate(systems, start=1):
            parts[name].append(_scores(drawn, met[:, 0], met[:, place], len(labels)))
    return {
        name: {score: np.concatenate([part[score] for part in found]) for score in MEASURES}
        for name, found in parts.items()
    }


def _scores(drawn_RM: Numbers, right: Numbers, guessed: Numbers, labels: int) -> dict[str, Array]:
    """Accuracy and the means over labels of each resample, in percent."""
    both = _by_label(drawn_RM[:, right == guessed], right[right == guessed], labels)
    gold, made = _by_label(drawn_RM, right, labels), _by_label(drawn_RM, guessed, labels)
    met = np.maximum(((gold + made) > 0).sum(axis=1), 1)
    means = {
        "macro_precision": (both / np.maximum(made, 1)).sum(axis=1) / met,
        "macro_recall": (both / np.maximum(gold, 1)).sum(axis=1) / met,
        "macro_f1": (2 * both / np.maximum(gold + made, 1)).sum(axis=1) / met,
    }
    return {
        name: PERCENT * value for name, value in {"accuracy": both.sum(axis=1) / drawn_RM.sum(axis=1), **means}.items()
    }


def _by_label(drawn_RM: Numbers, of: Numbers, labels: int) -> Numbers:
    """How many of each label, (R, C)."""
    found = np.zeros((len(drawn_RM), labels), dtype=np.int64)
    if len(of):
        order = np.argsort(of, kind="stable")
        met, starts = np.unique(of[order], return_index=True)
        found[:, met] = np.add.reduceat(drawn_RM[:, order], starts, axis=1)
    return found


def _compared(
    systems: Mapping[str, Sequence[str]],
    gold: Sequence[str],
    plain: Mapping[str, Mapping[str, float]],
    resampled: Mapping[str, Mapping[str, Array]],
    names: tuple[str, str],
) -> LabelComparison:
    first, second = names
    apart = {
        name: difference(
            plain[first][name], plain[second][name], resampled[first][name], resampled[second][name], len(gold)
        )
        for name in plain[first]
    }
    test = mcnemar(systems[first], systems[second], gold)
    same = list(systems[first]) == list(systems[second])
    told = tell(first, second, "points of accuracy", apart["accuracy"]._replace(p=test.p), same=same)
    if second == commonest(gold):
        told = tell_baseline(first, second, told)
    return LabelComparison(first, second, apart, test, told)
