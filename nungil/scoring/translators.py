"""Reports on one or more translators on the same sentences: scores with intervals, comparisons."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from nungil.errors import UsageError
from nungil.scoring.measures import Array, Measure, Way, bleu_metric, measure
from nungil.scoring.parts import Length, Place, by_length, by_place, length_unit, reference_quarters, source_quarters
from nungil.scoring.resampling import SAMPLES, SEED, Difference, Interval, difference, interval, resample
from nungil.scoring.sides import check_sides
from nungil.scoring.significance import tell, tell_baseline
from nungil.scoring.translation import bleu_tokenizer

NEAREST = "the nearest training sentence"


class Comparison(NamedTuple):
    """The first system and another one: their difference by each measure, and a sentence on the first measure."""

    first: str
    second: str
    differences: Mapping[str, Difference]
    told: str


class TranslationReport(NamedTuple):
    """A report on the translations of some systems of the same sentences."""

    sentences: int
    measures: Mapping[str, str]  # their titles, the primary one first
    signatures: Mapping[str, str]
    scores: Mapping[str, Mapping[str, Interval]]  # by system, then by measure
    comparisons: tuple[Comparison, ...]
    length_of: str  # "source" or "reference": whose length, and
    length_unit: str  # "words" or "characters"
    lengths: tuple[Length, ...]
    place_in: str  # "source" or "reference"
    places: tuple[Place, ...]


class Given(NamedTuple):
    """Further data: the sources, their language, and links between sources and references."""

    sources: Sequence[str] | None = None
    language: str = ""
    links: Sequence[str] | None = None


def report_translations(
    systems: Mapping[str, Sequence[str]],
    references: Sequence[str],
    way: Way | None = None,
    given: Given | None = None,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> TranslationReport:
    """Score the translations of each system, by its name; the first is compared with each of the others.

    All use the same resamples. `given` are the sources, their language, and word links to references.
    """
    if not systems:
        raise UsageError("there is no system to score; give at least one")
    way, given = way or Way(), given or Given()
    if given.sources is not None:
        check_sides("sources", given.sources, "references", references)
    measured = {name: measure(hypotheses, references, way) for name, hypotheses in systems.items()}
    first, *others = measured
    resampled = _resampled(measured, samples, seed)
    scores = {
        system: {name: interval(one.score(), resampled[system][name]) for name, one in measures.items()}
        for system, measures in measured.items()
    }
    return TranslationReport(
        sentences=len(references),
        measures={name: one.title for name, one in measured[first].items()},
        signatures={name: one.signature for name, one in measured[first].items()},
        scores=scores,
        comparisons=tuple(_compared(systems, measured, resampled, other) for other in others),
        **_parts(systems, measured, references, way, given),
    )


def _resampled(measured: Mapping[str, Mapping[str, Measure]], samples: int, seed: int) -> dict[str, dict[str, Array]]:
    """The scores of every resample, the same for all systems and measures."""
    counts = [one.counts for measures in measured.values() for one in measures.values()]
    sums = resample(np.hstack(counts), samples, seed)
    parts = iter(np.split(sums, np.cumsum([part.shape[1] for part in counts])[:-1], axis=1))
    return {
        system: {name: one.formula(next(parts)) for name, one in measures.items()}
        for system, measures in measured.items()
    }


def _compared(
    systems: Mapping[str, Sequence[str]],
    measured: Mapping[str, Mapping[str, Measure]],
    resampled: Mapping[str, Mapping[str, Array]],
    other: str,
) -> Comparison:
    first = next(iter(measured))
    apart = {
        name: difference(
            one.score(),
            measured[other][name].score(),
            resampled[first][name],
            resampled[other][name],
            len(systems[first]),
        )
        for name, one in measured[first].items()
    }
    headline, one = next(iter(measured[first].items()))
    same = list(systems[first]) == list(systems[other])
    told = tell(first, other, one.title, apart[headline], one.lower_is_better, same)
    return Comparison(first, other, apart, tell_baseline(first, other, told) if other == NEAREST else told)


def _parts(
    systems: Mapping[str, Sequence[str]],
    measured: Mapping[str, Mapping[str, Measure]],
    references: Sequence[str],
    way: Way,
    given: Given,
) -> dict[str, Any]:
    """Scores by length of sentence and by position of word."""
    if given.links is not None and given.sources is None:
        raise UsageError("links lead from sources to references; give the sources too")
    texts, language = (references, way.language) if given.sources is None else (given.sources, given.language)
    unit = length_unit(language)
    return {
        "length_of": "reference" if given.sources is None else "source",
        "length_unit": unit,
        "lengths": by_length(texts, unit, measured),
        "place_in": "reference" if given.links is None else "source",
        "places": _places(systems, references, way, given),
    }


def _places(
    systems: Mapping[str, Sequence[str]], references: Sequence[str], way: Way, given: Given
) -> tuple[Place, ...]:
    cut = bleu_metric(way.tokenizer or bleu_tokenizer(way.language), way.lowercase).tokenizer

    def tokenize(text: str) -> str:
        return str(cut(text.lower() if way.lowercase else text))

    if given.links is not None and given.sources is not None:  # links count words between spaces
        return by_place(references, systems, source_quarters(given.links, references, given.sources), tokenize)
    tokens = [tokenize(text) for text in references]
    return by_place(tokens, systems, reference_quarters(tokens), tokenize)
