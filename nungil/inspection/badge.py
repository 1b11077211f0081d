"""Badge: how far the maps of a model can be trusted, measured on many sentences. No torch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nungil.inspection.ranks import mean_of
from nungil.text.counts import counted

# What is left of the score with even attention, as a share: above the one attention is decoration, below the other a
# pillar.
HARDLY, MUCH = 0.9, 0.5
POINTED = 1.5  # how many times as much erasing by attention costs as erasing at random
FELT = 0.01  # and it costs at least this much probability


@dataclass(frozen=True)
class Badge:
    """Scores with attention as it is and spoiled, what erasing costs, and rank correlations."""

    sentences: int
    metric: str  # chrF, or accuracy
    own: float
    even: float
    permuted: float
    random: float
    aopc: float  # probability that is lost, on average, when the words looked at most are erased
    aopc_random: float  # the same of words at random
    tau_gradient: float | None
    tau_erasing: float | None
    tau_ceiling: float | None
    seed: int
    seconds: float

    @property
    def kept(self) -> float:
        """The share of the score that is left with even attention."""
        return self.even / self.own if self.own > 0 else 1.0

    @property
    def points(self) -> bool:
        """Whether the words that are looked at matter more than others."""
        return self.aopc >= FELT and self.aopc >= POINTED * self.aopc_random

    @property
    def verdict(self) -> str:
        """One sentence, by the thresholds of this file."""
        if self.kept > HARDLY:
            needs = "This model hardly needs its attention"
        else:
            needs = "This model needs its attention" if self.kept <= MUCH else "This model partly needs its attention"
        matter = "are those that matter" if self.points else "matter little more than others"
        if self.kept <= HARDLY and self.points:
            end = "its maps are worth reading"
        else:
            end = "do not take its maps for reasons" if not self.points else "take its maps as hints"
        return f"{needs}, and the words it looks at {matter}: {end}."

    def lines(self) -> tuple[str, ...]:
        """Three figures and the verdict, and then the rest."""
        return (
            f"{self.metric} {self.own:.1f} with its own attention, {self.even:.1f} with even attention "
            f"({100 * self.kept:.0f}% is left), {self.permuted:.1f} permuted, {self.random:.1f} random.",
            f"AOPC {self.aopc:.3f}: the probability that is lost when words are erased, those looked at most first, up "
            f"to half of them; in any order {self.aopc_random:.3f}.",
            f"τ {_tau(self.tau_gradient)} with gradient × input, {_tau(self.tau_erasing)} with leave-one-out (these "
            f"have {_tau(self.tau_ceiling)} with each other).",
            f"Verdict: {self.verdict}",
            f"Measured on {counted(self.sentences, 'sentence')}, seed {self.seed}, in {self.seconds:.0f} s.",
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**vars(self), "kept": self.kept, "points": self.points, "verdict": self.verdict}


@dataclass(frozen=True)
class Spread:
    """The same figures of models that differ in their seed: lowest, mean, highest."""

    badges: tuple[Badge, ...]
    apart: float | None  # JSD of rows of any two models, on average; None where their tokens are not the same

    def of(self, figure: str) -> tuple[float, float, float] | None:
        """Lowest, mean and highest of one figure."""
        known = [number for badge in self.badges if (number := getattr(badge, figure)) is not None]
        mean = mean_of(known)
        return None if mean is None else (min(known), mean, max(known))

    def lines(self) -> tuple[str, ...]:
        """A line for each figure."""
        named: Sequence[tuple[str, str]] = (
            (f"{self.badges[0].metric}, own attention", "own"),
            (f"{self.badges[0].metric}, even attention", "even"),
            ("AOPC", "aopc"),
            ("τ with gradient × input", "tau_gradient"),
            ("τ with leave-one-out", "tau_erasing"),
        )
        lines = [f"Spread over {len(self.badges)} models: lowest, mean, highest."]
        for name, figure in named:
            found = self.of(figure)
            lines.append(f"{name}: " + ("–" if found is None else ", ".join(f"{number:.3g}" for number in found)))
        if self.apart is not None:
            lines.append(f"Their maps of the same output differ by JSD {self.apart:.2f} on average, of at most 0.69.")
        return tuple(lines)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"badges": [badge.to_json() for badge in self.badges], "apart": self.apart}


def _tau(number: float | None) -> str:
    return "–" if number is None else f"{number:.2f}".replace("-", "−")
