"""How long texts are, and the padding length that follows, as post 001 reads it off by eye."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

BARS = 12
PERCENTS = (50, 90, 95, 99)
SHORT = 128  # words; texts that nearly all fit below this are cheap to pad to the longest
UNEVEN = 2.0  # the longest text is this many times as long as the mean: padding to it is mostly padding


@dataclass(frozen=True)
class Padding:
    """A padding length in words, the share of texts that would be cut at it, and why it is that."""

    length: int
    cut: float
    reason: str


@dataclass(frozen=True)
class Lengths:
    """The distribution of lengths: mean, percentiles, maximum, and bars (from, to, count)."""

    mean: float
    percentiles: dict[str, int]  # by name, "50" to "99", as JSON has them
    maximum: int
    histogram: tuple[tuple[int, int, int], ...]


def measure(counts: Counter[int]) -> Lengths:
    """The distribution behind counts of lengths."""
    total = counts.total()
    mean = sum(length * count for length, count in counts.items()) / total if total else 0.0
    percentiles = {str(percent): percentile(counts, percent) for percent in PERCENTS}
    return Lengths(mean, percentiles, max(counts, default=0), _histogram(counts, percentile(counts, 99)))


def percentile(counts: Counter[int], percent: int) -> int:
    """The smallest length that at least this part of the texts do not exceed."""
    wanted, met = counts.total() * percent / 100, 0
    for length in sorted(counts):
        met += counts[length]
        if met >= wanted:
            return length
    return 0


def suggest_padding(counts: Counter[int], translating: bool) -> Padding:
    """One number to pad or cut to. Sentences to translate should not be cut; long documents to classify may be."""
    lengths = measure(counts)
    ninety_nine = lengths.percentiles["99"]
    if lengths.maximum <= UNEVEN * lengths.mean:
        return _padding(counts, lengths.maximum, "the longest, because none is much longer than the mean")
    if translating:
        return _padding(counts, ninety_nine, "99% fit; a translation of half a sentence teaches nothing")
    if ninety_nine <= SHORT:
        return _padding(counts, ninety_nine, "99% fit, and texts this short are cheap to pad")
    above = 10 * ceil(1.1 * lengths.mean / 10)
    times = lengths.maximum / lengths.mean
    return _padding(
        counts, above, f"a bit above the mean, because the longest is {times:.0f} times as long as the mean"
    )


def _padding(counts: Counter[int], length: int, reason: str) -> Padding:
    cut = sum(count for one, count in counts.items() if one > length)
    return Padding(length, cut / counts.total() if counts else 0.0, reason)


def _histogram(counts: Counter[int], high: int) -> tuple[tuple[int, int, int], ...]:
    """Bars of equal width up to the 99th percentile, and one for the long tail beyond it."""
    width = max(1, ceil(high / BARS))
    bars: Counter[int] = Counter()
    for length, count in counts.items():
        bars[min((max(length, 1) - 1) // width, BARS)] += count
    last = min(max(bars, default=-1), BARS)
    return tuple(_bar(place, width, counts, bars[place]) for place in range(last + 1))


def _bar(place: int, width: int, counts: Iterable[int], count: int) -> tuple[int, int, int]:
    high = max(counts) if place == BARS else (place + 1) * width
    return place * width + 1, high, count
