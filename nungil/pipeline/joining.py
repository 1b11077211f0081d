"""Joins the translations of a text's sentences to one."""

from collections.abc import Sequence
from itertools import chain

from nungil.records import Translation
from nungil.text.sentences import Sentence


def joined(parts: Sequence[Translation], cut: Sequence[Sentence]) -> Translation:
    """The translations of a text's sentences as one, with the white space that stood between them."""
    if len(parts) == 1:
        return parts[0]
    kept = max(len(part.n_best) for part in parts)
    ranked = [
        [part.n_best[min(number, len(part.n_best) - 1)] if part.n_best else part for part in parts]
        for number in range(kept)
    ]
    return _joined(parts, cut)._replace(n_best=tuple(_joined(row, cut) for row in ranked))


def _joined(parts: Sequence[Translation], cut: Sequence[Sentence]) -> Translation:
    probabilities = tuple(chain.from_iterable(part.probabilities for part in parts))
    lengths = [len(part.tokens) + part.finished if part.source else 0 for part in parts]
    scores = [part.score * length for part, length in zip(parts, lengths, strict=True) if part.score is not None]
    return Translation(
        text="".join(part.text + (between.after or " ") for part, between in zip(parts, cut, strict=True)).strip(),
        score=sum(scores) / max(1, sum(lengths)) if len(scores) == len(parts) else None,
        tokens=tuple(chain.from_iterable(part.tokens for part in parts)),
        source="".join(part.source + between.after for part, between in zip(parts, cut, strict=True)),
        source_tokens=tuple(chain.from_iterable(part.source_tokens for part in parts)),
        finished=all(part.finished for part in parts),
        cut=any(part.cut for part in parts),
        probabilities=probabilities,
        unknown=tuple(dict.fromkeys(chain.from_iterable(part.unknown for part in parts))),
        links=joined_links(parts, cut),
    )


def joined_links(parts: Sequence[Translation], cut: Sequence[Sentence]) -> str | None:
    """The links of consecutive sentences, renumbered."""
    if any(part.links is None for part in parts):
        return None
    found, source, target = [], 0, 0
    for part, between in zip(parts, cut, strict=True):
        for link in (part.links or "").split():
            left, right = map(int, link.split("-"))
            found.append(f"{left + source}-{right + target}")
        source, target = source + len(part.source.split()), target + len(part.text.split())
        if part.source and not between.after:
            source -= 1  # no space, as in Japanese: the next sentence continues the last word
    return " ".join(found)
