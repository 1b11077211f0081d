"""The nouns that cross stages. Knows no torch."""

from typing import NamedTuple

LACKS = 'no "'  # how the reason begins to withhold a record that lacks one of its texts: `no "ko"`


class Pair(NamedTuple):
    """A sentence and its translation, and where they stand (line 0: nowhere)."""

    source: str
    target: str
    file: str = ""
    line: int = 0
    withheld: str = ""  # why its own file does not vouch for it, such as "fuzzy"; cleaning drops and counts it


class Translation(NamedTuple):
    """A sentence as it was translated. `score` is the mean log-probability of its tokens, the end included.

    It is None where a search was asked to do without.
    """

    text: str
    score: float | None
    tokens: tuple[str, ...]
    source: str
    source_tokens: tuple[str, ...]
    finished: bool = True  # whether it came to its end, and not to the longest that is allowed
    cut: bool = False  # whether the source was longer than the model reads
    probabilities: tuple[float, ...] = ()  # of each token, where asked for; if it ended, that of the end is the last
    unknown: tuple[str, ...] = ()  # words of the source that the model has never seen
    n_best: tuple["Translation", ...] = ()  # this one and the next best, where more than one was asked for
    links: str | None = None  # which word was looked at for which, as `0-0 1-2`, where that was asked for

    def __repr__(self) -> str:
        """What matters of it, in a line; `_asdict()` has all."""
        notes = [] if self.score is None else [f"score {self.score:.3f}"]
        notes += [f"best of {len(self.n_best)}"] * bool(self.n_best) + ["source cut"] * self.cut
        notes += ["not finished"] * (not self.finished) + _unknown(self.unknown)
        return f"<Translation {', '.join([f'{self.source!r} → {self.text!r}', *notes])}>"


class Classification(NamedTuple):
    """A text as it was classified: the most probable label, and the probability of each."""

    label: str
    probability: float
    probabilities: dict[str, float]
    source: str
    cut: bool = False
    unknown: tuple[str, ...] = ()  # words that the model has never seen

    def __repr__(self) -> str:
        """What matters of it, in a line; `_asdict()` has all."""
        notes = [f"probability {self.probability:.3f}", *["source cut"] * self.cut, *_unknown(self.unknown)]
        return f"<Classification {self.source!r} → {self.label!r}, {', '.join(notes)}>"


class Labelled(NamedTuple):
    """A text and its label, and where they stand (line 0: nowhere)."""

    text: str
    label: str
    file: str = ""
    line: int = 0
    withheld: str = ""  # as of a pair


def _unknown(words: tuple[str, ...]) -> list[str]:
    return [f"unknown: {', '.join(words)}"] if words else []
