"""Strip: how far one map can be trusted. Three figures and a verdict first, the rest on request. No torch.

The verdict answers two questions by thresholds that stand here. Does the output need this map? Made even, the row
must cost the written words much of their probability. Does it point at the words that matter? The word looked at most
must be one whose loss is felt, and the order of the words must be roughly that of what gradients and erasing find.
"""

import math
from dataclasses import dataclass, fields
from typing import Any

from pydantic import ConfigDict, Field

from nungil.inspection.layout import visible
from nungil.inspection.ranks import mean_of
from nungil.settings import Settings
from nungil.text.counts import counted

NEEDED = 0.1  # the probability that written words lose, on average, when their rows are made even …
FLIPPED = 0.25  # … or the share of steps where another word is then the most probable
POINTED = 2.0  # how many times as much the loss of the word looked at most costs as that of another one
FELT = 0.05  # and it costs at least so much log p: a hundredth of nothing is no reason
AGREED = 0.2  # τ with gradient × input and leave-one-out, on average …
AGREED_SHARE = 0.5  # … or this share of the τ that these two have with each other

VERDICTS = {  # needed, points
    (True, True): "It can be read as where the {output} comes from",
    (True, False): "Read it as where the model looks, not as why: the {output} needs this map, but the {unit}s it "
    "looks at most are not those that matter most",
    (False, True): "Read it as a hint: it points at {unit}s that matter, but the {output} hardly needs this map to "
    "find them",
    (False, False): "Do not read it as the reason: the {output} hardly needs this map, and it does not point at the "
    "{unit}s that matter",
}


class RowFigures(Settings):
    """What was measured of one row."""

    model_config = ConfigDict(strict=True)

    step: int  # from 1
    token: str
    top: str  # the word looked at most
    entropy: float  # of the row, divided by ln n: 0 looks at one word, 1 at all alike
    idle: float  # weight on <sos>, <eos> and punctuation
    tau_gradient: float | None  # with |gradient × input|
    tau_erasing: float | None  # with |leave-one-out|
    tau_ceiling: float | None  # of these two with each other
    tau_norm: float | None  # with the row of value norms
    delta_p: float  # the word's probability with an even row, minus its own
    kl: float  # of the probabilities with an even row from their own
    flips: bool  # whether another word is then the most probable
    drop_top: float  # log p that is lost without the word looked at most
    drop_random: float  # the same without any other word, on average
    percentile: float | None = None  # of that KL among those of permuted rows; None where none was tried
    own_percentile: float | None = None  # of the word's own probability among those with permuted rows


@dataclass(frozen=True)
class Strip:
    """What stands beside one map."""

    where: str
    reading: str
    rows: tuple[RowFigures, ...]
    residual: float | None
    permutations: int = 0
    seed: int = 1
    layers: int = 1  # that look at the source; only one of them is made even
    kind: str = "cross"  # pooling: of a classifier, whose one row is of its label
    layer: int = 0
    head: int | None = None  # None: the mean over all
    unit: str = "word"  # what one token is called; token, where words are in pieces

    @property
    def labels(self) -> bool:
        """Whether a label was given, and no words written."""
        return self.kind == "pooling"

    def mean(self, figure: str) -> float | None:
        """The mean of a figure over the rows where it means something."""
        return mean_of(getattr(row, figure) for row in self.rows)

    @property
    def agreement(self) -> float | None:
        """τ with gradient × input and with leave-one-out: the mean of both."""
        return mean_of([self.mean("tau_gradient"), self.mean("tau_erasing")])

    @property
    def flips(self) -> int:
        """How many steps would write another word if their row were even."""
        return sum(row.flips for row in self.rows)

    @property
    def needed(self) -> bool:
        """Whether the output needs this map."""
        return -(self.mean("delta_p") or 0.0) >= NEEDED or self.flips >= FLIPPED * len(self.rows)

    @property
    def points(self) -> bool:
        """Whether the map points at the words that matter."""
        top, other = self.mean("drop_top") or 0.0, self.mean("drop_random") or 0.0
        if top < FELT or top < POINTED * other or self.agreement is None:
            return False
        ceiling = self.mean("tau_ceiling")
        return self.agreement >= AGREED or (ceiling is not None and self.agreement >= AGREED_SHARE * ceiling > 0)

    @property
    def verdict(self) -> str:
        """One sentence, by the thresholds of this file."""
        others = " (other layers looked on as before)" if self.layers > 1 and not self.needed else ""
        verdict = VERDICTS[self.needed, self.points].format(output="label" if self.labels else "output", unit=self.unit)
        return f"{verdict}{others}."

    def first(self) -> tuple[str, ...]:
        """Three figures and the verdict."""
        top, other = (lost(self.mean(figure)) for figure in ("drop_top", "drop_random"))
        of = " of the label" if self.labels else ""
        return (
            self._even(),
            f"Erased: without the {self.unit} looked at most log p{of} {top}; without another one it {other}.",
            f"Order: τ {_tau(self.agreement)} with what gradients and erasing find (they agree with each other by "
            f"{_tau(self.mean('tau_ceiling'))}).",
            f"Verdict: {self.verdict}",
        )

    def _even(self) -> str:
        changed = _signed(self.mean("delta_p"))
        if self.labels:
            return f"Made even: p of the label changes by {changed}{', and another label wins' if self.flips else ''}."
        steps = f"{self.flips} of {len(self.rows)} {'step' if len(self.rows) == 1 else 'steps'}"
        return f"Made even: p of what was written changes by {changed}, and {steps} would write another {self.unit}."

    def rest(self) -> tuple[str, ...]:
        """All the other figures, a line each."""
        lines = [
            f"Spread: entropy {100 * (self.mean('entropy') or 0):.0f}% of an even row's; "
            f"{100 * (self.mean('idle') or 0):.0f}% of the weight is on marks and punctuation.",
            f"τ with gradient × input {_tau(self.mean('tau_gradient'))}, with leave-one-out "
            f"{_tau(self.mean('tau_erasing'))}, with the value norms {_tau(self.mean('tau_norm'))}.",
            f"KL when made even: {_number(self.mean('kl'))} nats on average.",
        ]
        if self.permutations:
            lines.append(
                f"Among {counted(self.permutations, 'permutation')} of "
                f"{'the' if self.labels else 'each'} row (seed {self.seed}): "
                f"an even row changes more than {self.mean('percentile'):.0f}% of them; the model's own row makes its "
                f"{'label' if self.labels else self.unit} more probable than {self.mean('own_percentile'):.0f}% of "
                "them do."
            )
        if self.residual is not None:
            lines.append(
                f"Recomputed in NumPy from queries and keys, no weight is off by more than {self.residual:.1e}."
            )
        lines.append(f"Of: {self.where}; {self.reading}; tokens as the model has them, marks included.")
        return (*lines, *self._row_by_row())

    def _row_by_row(self) -> tuple[str, ...]:
        """A line for each row; of a classifier's one row all has been said."""
        if self.labels:
            return (f"Of the {self.unit}s it looks most at “{visible(self.rows[0].top)}”.",)
        lines = (
            f"  {row.step} {visible(row.token)}: of the {self.unit}s it looks most at “{visible(row.top)}”; "
            f"made even p {_signed(row.delta_p)}, KL {row.kl:.2g}"
            f"{f', another {self.unit}' if row.flips else ''}; without it log p {lost(row.drop_top)}"
            for row in self.rows
        )
        return ("Row by row:", *lines)

    def to_json(self) -> dict[str, Any]:
        """Plain values: the sentences, the verdict, the means, every row."""
        figures = [name for name in RowFigures.model_fields if name not in ("step", "token", "top", "flips")]
        return {
            "where": self.where,
            "kind": self.kind,
            "layer": self.layer,
            "head": self.head,
            "unit": self.unit,
            "reading": self.reading,
            "lines": list(self.first()),
            "verdict": self.verdict,
            "needed": self.needed,
            "points": self.points,
            "agreement": self.agreement,
            "flips": self.flips,
            "steps": len(self.rows),
            "means": {name: self.mean(name) for name in figures},
            "layers": self.layers,
            "residual": self.residual,
            "permutations": self.permutations,
            "seed": self.seed,
            "rows": [row.model_dump(mode="json") for row in self.rows],
        }

    @classmethod
    def from_written(cls, written: "WrittenStrip") -> "Strip":
        """The strip that `to_json` wrote; what follows from its rows is worked out again."""
        return cls(**{one.name: getattr(written, one.name) for one in fields(cls)})


class WrittenStrip(Settings):
    """A strip as JSON holds it: a closed set of keys."""

    model_config = ConfigDict(strict=True)

    where: str
    kind: str
    layer: int = Field(ge=0)
    head: int | None = Field(None, ge=0)
    unit: str = "word"
    reading: str
    rows: tuple[RowFigures, ...] = Field(strict=False, min_length=1)
    residual: float | None
    permutations: int = Field(ge=0)
    seed: int
    layers: int = Field(ge=1)
    # These follow from the rows and are not read.
    lines: Any = None
    verdict: Any = None
    needed: Any = None
    points: Any = None
    agreement: Any = None
    flips: Any = None
    steps: Any = None
    means: Any = None


def entropy_share(row: list[float]) -> float:
    """The entropy of a row as a share of the largest it could have; a row with one word has none."""
    total = math.fsum(row)
    if len(row) < 2 or total <= 0:
        return 0.0
    shares = [weight / total for weight in row if weight > 0]
    return -math.fsum(share * math.log(share) for share in shares) / math.log(len(row))


def _tau(number: float | None) -> str:
    return "–" if number is None else f"{number:.2f}".replace("-", "−")


def lost(number: float | None) -> str:
    """`falls by 4.00`, or rises."""
    rounded = round(number or 0.0, 2)
    return f"{'rises' if rounded < 0 else 'falls'} by {abs(rounded):.2f}"


def _number(number: float | None) -> str:
    return "–" if number is None else f"{number:.3g}"


def _signed(number: float | None) -> str:
    return "–" if number is None else f"{number:+.2f}".replace("-", "−")
