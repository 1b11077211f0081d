"""The records that stages hand to each other. Knows no torch."""

from typing import NamedTuple

LACKS = 'no "'  # prefix of the reason for withholding a record without one of its texts: `no "ko"`


class Pair(NamedTuple):
    """A sentence and its translation, with file and line (0: none)."""

    source: str
    target: str
    file: str = ""
    line: int = 0
    withheld: str = ""  # why its file marks it as unreliable, such as "fuzzy"; cleaning drops and counts it


class Translation(NamedTuple):
    """A translated sentence. `score` is the mean log-probability of its tokens, `<eos>` included.

    It is None if the search computed no scores.
    """

    text: str
    score: float | None
    tokens: tuple[str, ...]
    source: str
    source_tokens: tuple[str, ...]
    finished: bool = True  # whether it ended before the maximum length
    cut: bool = False  # whether the source was longer than the model reads
    probabilities: tuple[float, ...] = ()  # of each token, if asked for; and of `<eos>`, if finished
    unknown: tuple[str, ...] = ()  # words of the source not in the vocabulary
    n_best: tuple["Translation", ...] = ()  # this one and the next best, if several were asked for
    links: str | None = None  # word links, as `0-0 1-2`, if asked for

    def __repr__(self) -> str:
        """A summary in one line; `_asdict()` has everything."""
        notes = [] if self.score is None else [f"score {self.score:.3f}"]
        notes += [f"best of {len(self.n_best)}"] * bool(self.n_best) + ["source cut"] * self.cut
        notes += ["not finished"] * (not self.finished) + _unknown(self.unknown)
        return f"<Translation {', '.join([f'{self.source!r} → {self.text!r}', *notes])}>"


class Classification(NamedTuple):
    """A classified text: the most probable label, and the probability of each."""

    label: str
    probability: float
    probabilities: dict[str, float]
    source: str
    cut: bool = False
    unknown: tuple[str, ...] = ()  # words not in the vocabulary

    def __repr__(self) -> str:
        """A summary in one line; `_asdict()` has everything."""
        notes = [f"probability {self.probability:.3f}", *["source cut"] * self.cut, *_unknown(self.unknown)]
        return f"<Classification {self.source!r} → {self.label!r}, {', '.join(notes)}>"


class Labelled(NamedTuple):
    """A text and its label, with file and line (0: none)."""

    text: str
    label: str
    file: str = ""
    line: int = 0
    withheld: str = ""  # as for pairs


def _unknown(words: tuple[str, ...]) -> list[str]:
    return [f"unknown: {', '.join(words)}"] if words else []
