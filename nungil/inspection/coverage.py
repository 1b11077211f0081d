"""Coverage: which words of the source were never looked at, and which again and again. No torch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nungil.inspection.merging import merge, spell, words_without_marks
from nungil.inspection.record import READINGS, Array, AttentionRecord

LITTLE = 0.05  # a word that no row gives as much as this was not looked at
NAMED = 8  # words that are named one by one; of many more, the rest is counted
OFTEN = 2.0  # a word that got as much as this many rows have to give was looked at again and again


@dataclass(frozen=True)
class Coverage:
    """The words of the source, and what attention each had from all words that were written.

    Marks are left out on both sides: what `<eos>` looks at translates nothing.
    """

    words: tuple[str, ...]
    total: tuple[float, ...]
    largest: tuple[float, ...]

    @property
    def never(self) -> tuple[int, ...]:
        """The places of the words that no written word looked at."""
        return tuple(place for place, most in enumerate(self.largest) if most < LITTLE)

    @property
    def often(self) -> tuple[int, ...]:
        """The places of the words that were looked at again and again."""
        return tuple(place for place, total in enumerate(self.total) if total >= OFTEN)

    def notes(self) -> tuple[str, ...]:
        """A line for each, where there is any."""
        lines = []
        if self.never:
            words = listed([self.words[place] for place in self.never])
            lines.append(f"Never looked at (no word written gives {100 * LITTLE:.0f}%): {words}.")
        if self.often:
            words = listed([f"{self.words[place]} ({self.total[place]:.1f})" for place in self.often])
            lines.append(f"Looked at again and again (weight of {OFTEN:.0f} words or more): {words}.")
        return tuple(lines)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "words": list(self.words),
            "total": list(self.total),
            "largest": list(self.largest),
            "never": list(self.never),
            "often": list(self.often),
        }


def listed(words: Sequence[str]) -> str:
    """`a, b, c … (12 more)`; a few more than are named by rule are named as well."""
    if len(words) <= NAMED + 2:
        return ", ".join(words)
    return f"{', '.join(words[:NAMED])} … ({len(words) - NAMED} more)"


def coverage_of(record: AttentionRecord, layer: int | None = None, head: int | None = None) -> Coverage | None:
    """Of a cross-attention; None where nothing was written, or nothing looks across.

    Rows that are named after the word just put in do not tell what was written while they looked: nothing is said then.
    """
    if "cross" not in record.kinds or record.reading == READINGS["input"]:
        return None
    weights: Array = record.select("cross", layer, head)
    rows, columns = (words_without_marks(record.tokens_of(side)) for side in ("target", "source"))
    if not rows or not columns:
        return None
    merged = merge(weights, rows, columns)
    words = tuple(spell(record.source_tokens, word) for word in columns)
    return Coverage(words, tuple(merged.sum(axis=0).tolist()), tuple(merged.max(axis=0).tolist()))
