"""Models that differ in their seed: how far apart are their maps of the same output? Wiegreffe and Pinter (2019)."""

from collections.abc import Sequence
from itertools import combinations

import torch

from nungil.inspection.lenses import through
from nungil.inspection.lensmap import LensMap
from nungil.inspection.othermap import jensen_shannon
from nungil.inspection.ranks import mean_of
from nungil.pipeline.classifier import Classifier
from nungil.pipeline.texts import evaluating
from nungil.pipeline.translator import Translator


def maps_apart(models: Sequence[Translator | Classifier], records: Sequence[tuple[str, str]]) -> float | None:
    """JSD of the rows of any two models for the given translation or label, on average, in nats.

    None where they have no tokens in common: only models of one tokenizer have rows to compare.
    """
    apart: list[float] = []
    for text, target in records:
        maps = [_map(model, text, target) for model in models]
        apart += [number for one, other in combinations(maps, 2) for number in _rows_apart(one, other)]
    return mean_of(apart)


def _map(model: Translator | Classifier, text: str, target: str) -> LensMap:
    with evaluating(model.model):
        return through(model.example(text, target), "raw")


def _rows_apart(one: LensMap, other: LensMap) -> list[float]:
    if (one.rows, one.columns) != (other.rows, other.columns):
        return []
    rows = zip(torch.tensor(one.values), torch.tensor(other.values), strict=True)
    return [float(jensen_shannon(left, right[None])[0]) for left, right in rows]
