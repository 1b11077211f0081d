"""Translations and classifications as plain values."""

from typing import Any

from nungil.records import Classification, Translation


def plain_translation(found: Translation, name_best: bool = True) -> dict[str, Any]:
    """One translation; `n_best` has this one and the next best, if more than one was asked for."""
    plain: dict[str, Any] = {
        "text": found.text,
        "score": found.score,
        "source": found.source,
        "tokens": list(found.tokens),
        "source_tokens": list(found.source_tokens),
        "probabilities": list(found.probabilities),
        "finished": found.finished,
        "cut": found.cut,
        "unknown": list(found.unknown),
        "links": None if found.links is None else pairs_of(found.links),
    }
    return plain | ({"n_best": [plain_translation(one, False) for one in found.n_best]} if name_best else {})


def plain_classification(found: Classification) -> dict[str, Any]:
    """One label, and the probability of each."""
    return {
        "label": found.label,
        "probability": found.probability,
        "probabilities": found.probabilities,
        "source": found.source,
        "cut": found.cut,
        "unknown": list(found.unknown),
    }


def pairs_of(links: str) -> list[list[int]]:
    """`0-0 1-2` as pairs of a source word and a target word, both from 0."""
    return [[int(side) for side in link.split("-")] for link in links.split()]
