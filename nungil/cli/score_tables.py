"""What `nungil score` found, as lines for people and as plain values for programs."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nungil.cli.histogram import columns_of
from nungil.scoring.classifiers import MEASURES, LabelReport
from nungil.scoring.translators import NEAREST, TranslationReport
from nungil.text.counts import counted

if TYPE_CHECKING:
    from nungil.runs.score import Scored
    from nungil.scoring.calibration import Calibration
    from nungil.scoring.classification import ClassificationScores
    from nungil.scoring.resampling import Interval

MOST_LABELS = 12  # of a confusion table; more would not fit a terminal
MOST_ROWS = 40


def plain(found: "Scored", samples: int, seed: int) -> dict[str, Any]:
    """Every number, for a program."""
    task = "translate" if isinstance(found.report, TranslationReport) else "classify"
    about = {"task": task, "data": found.name, "source": found.languages.source, "target": found.languages.target}
    asked = {"samples": samples, "seed": seed, "seen": dict(found.seen), "engines": _plain(found.engines)}
    return {**about, **asked, **_plain(found.report)}


def shown(found: "Scored", samples: int) -> list[str]:
    """The same for people."""
    if isinstance(found.report, TranslationReport):
        return _translations(found.report, found, samples)
    return _labels(found.report, found, samples)


def _plain(value: Any) -> Any:
    """Named tuples as objects, however deep."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


def _translations(report: TranslationReport, found: "Scored", samples: int) -> list[str]:
    source, target = found.languages
    between = f" from {source or '?'} to {target or '?'}" if source or target else ""
    note = f"In brackets 95% intervals, by {samples:,} resamples."
    return [
        f"{counted(report.sentences, 'sentence')}{between}: {found.name}",
        "",
        *_scores(report.measures, report.scores),
        note + (" TER counts edits: the lower, the better." if "ter" in report.measures else ""),
        *_told(report.comparisons),
        *_lengths(report),
        *_places(report),
        "",
        *(f"{report.measures[name]}: {signature}" for name, signature in report.signatures.items()),
    ]


def _scores(titles: Mapping[str, str], scores: "Mapping[str, Mapping[str, Interval]]", unit: str = "") -> list[str]:
    rows = [["", *scores]]
    for name, title in titles.items():
        cells = (found[name] for found in scores.values())
        rows.append([title, *(f"{one.score:.1f}{unit} ({one.low:.1f}–{one.high:.1f})" for one in cells)])
    return table(rows)


def _told(comparisons: Sequence[Any]) -> list[str]:
    return ["", *(one.told for one in comparisons)] if comparisons else []


def _lengths(report: TranslationReport) -> list[str]:
    measures = dict.fromkeys([next(iter(report.measures)), "bleu"])
    rows = [[f"{report.length_unit} of the {report.length_of}", "sentences"]]
    rows[0] += [f"{system}, {report.measures[name]}" for system in _systems(report) for name in measures]
    for one in report.lengths:
        scores = [f"{one.scores[system][name]:.1f}" for system in _systems(report) for name in measures]
        rows.append([_span(one.shortest, one.longest), f"{one.sentences:,}", *scores])
    return ["", *table(rows)]


def _systems(report: TranslationReport) -> list[str]:
    """Those whose parts are shown: where looking up fails tells nobody much."""
    return [system for system in report.scores if system != NEAREST]


def _span(shortest: int, longest: int) -> str:
    return f"{shortest}–{longest}" if shortest < longest else f"{shortest}"


def _places(report: TranslationReport) -> list[str]:
    if not report.places:  # no word of the references is linked, or there is none
        return []
    rows = [[f"quarter of the {report.place_in}", "words", *(f"{system}, found" for system in _systems(report))]]
    for one in report.places:
        rows.append([one.quarter, f"{one.words:,}", *(f"{one.found[system]:.1%}" for system in _systems(report))])
    return ["", *table(rows)]


def _labels(report: LabelReport, found: "Scored", samples: int) -> list[str]:
    lines = [
        f"{counted(report.texts, 'text')}: {found.name}",
        "",
        *_scores(MEASURES, report.scores, "%"),
        f"In brackets 95% intervals, by {samples:,} resamples. Precision, recall and F1 are means over labels.",
        *_told(report.comparisons),
    ]
    for system, details in report.details.items():
        lines += ["", *_each_label(system, details), "", *_confusion(system, details)]
        if system in report.calibration:
            lines += ["", *_calibration(system, report.calibration[system])]
    return lines


def _each_label(system: str, details: "ClassificationScores") -> list[str]:
    rows = [[system, "precision", "recall", "F1", "texts"]]
    by_support = sorted(details.labels.items(), key=lambda pair: -pair[1].support)
    for label, one in by_support[:MOST_ROWS]:
        rows.append([label, *(f"{value:.1%}" for value in one[:3]), f"{one.support:,}"])
    return table(rows) + _left_out(len(by_support) - MOST_ROWS, "labels")


def _confusion(system: str, details: "ClassificationScores") -> list[str]:
    """Who was taken for whom: as a table, or of many labels the commonest mistakes."""
    labels = list(details.confusion)
    if len(labels) <= MOST_LABELS:
        rows = [["right, and said:", *labels]]
        rows += [[right, *(f"{said[label]:,}" for label in labels)] for right, said in details.confusion.items()]
        return table(rows)
    mistakes = sorted(
        (-count, right, said)
        for right, row in details.confusion.items()
        for said, count in row.items()
        if count and said != right
    )
    if not mistakes:
        return [f"{system} made no mistake."]
    rows = [
        ["right", "said", "texts"],
        *([right, said, f"{-count:,}"] for count, right, said in mistakes[:MOST_LABELS]),
    ]
    return [f"The commonest mistakes of {system}:", *table(rows), *_left_out(len(mistakes) - MOST_LABELS, "kinds")]


def _left_out(count: int, noun: str) -> list[str]:
    return [f"and {count:,} {noun} more"] if count > 0 else []


def _calibration(system: str, found: "Calibration") -> list[str]:
    rows = [["said to be", "texts", "mean", "right"]]
    for one in found.bins:
        span = f"{100 * one.low:.0f}–{100 * one.high:.0f}%"
        rows.append([span, f"{one.texts:,}", f"{one.confidence:.1%}", f"{one.accuracy:.1%}"])
    return [f"Calibration error of {system}: {found.error:.1%}", *table(rows)]


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns two spaces apart, numbers flush right; a Korean character takes two places."""
    widths = [max(columns_of(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = []
    for first, *rest in rows:
        cells = [first + " " * (widths[0] - columns_of(first))]
        cells += [" " * (width - columns_of(cell)) + cell for cell, width in zip(rest, widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return lines
