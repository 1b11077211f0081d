"""Intervention: rows of attention are changed, and what becomes of the output."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from nungil.decoding.constraints import NEVER, Constraints, padded_prefix
from nungil.decoding.greedy import greedy
from nungil.decoding.stepper import Stepper
from nungil.errors import UsageError
from nungil.inspection.changes import Change, Places
from nungil.inspection.changing import Changing, Several, Where
from nungil.inspection.example import Example
from nungil.inspection.layout import visible
from nungil.inspection.lensmap import POOLED
from nungil.inspection.picture import Picture
from nungil.inspection.record import READING, Array
from nungil.inspection.watching import View, Watcher, view_of, watch
from nungil.model.classifier import AttentionClassifier
from nungil.text.counts import counted

# Sizes   V target vocabulary, or classes   S source steps
CANDIDATES = 5


class Candidate(NamedTuple):
    """A token that may be written, and how probable it is."""

    token: str
    probability: float


class Rows(NamedTuple):
    """The row of one step in one layer, before and after; of all heads that are changed, the mean."""

    layer: int
    before: tuple[float, ...]
    after: tuple[float, ...]


@dataclass(frozen=True)
class Effect:
    """What one changed step does, everything before it left as it was."""

    step: int  # from 1
    token: str
    before: float  # the probability of the token
    after: float
    kl: float  # Σ p ln(p / p′): how far the new probabilities are from the old ones
    flips: bool  # whether another token is now the most probable
    candidates_before: tuple[Candidate, ...]
    candidates_after: tuple[Candidate, ...]
    rows: tuple[Rows, ...]  # of each layer that is changed

    @property
    def row_before(self) -> tuple[float, ...]:
        """The row of the layer that a map shows: the last of those that are changed."""
        return self.rows[-1].before

    @property
    def row_after(self) -> tuple[float, ...]:
        """The same after the change."""
        return self.rows[-1].after


@dataclass(frozen=True)
class Intervention:
    """What was changed where, its effect on each changed step, and the output that follows from it."""

    changes: tuple[str, ...]
    where: str
    source_tokens: tuple[str, ...]
    effects: tuple[Effect, ...]
    output_before: str
    output_after: str
    labels: bool = False  # whether a label is given, and no words are written

    @property
    def differs(self) -> bool:
        """Whether the output is another."""
        return self.output_before != self.output_after

    def lines(self) -> tuple[str, ...]:
        """What happened at each changed step, and to the output."""
        found = []
        for effect in self.effects:
            now = visible(effect.candidates_after[0].token)
            flip = f"; “{now}” is now the most probable" if effect.flips else ""
            change = f"{effect.after - effect.before:+.3f}".replace("-", "−")
            which = "Label" if self.labels else f"Step {effect.step},"
            found += [
                f"{which} “{visible(effect.token)}”: p {effect.before:.3f} → {effect.after:.3f} ({change}), "
                f"KL {effect.kl:.3g} nats{flip}.",
                f"  before: {_listed(effect.candidates_before)}",
                f"  after:  {_listed(effect.candidates_after)}",
            ]
        what = "Label" if self.labels else "Output"
        found += [f"{what} before: {self.output_before}", f"{what} after:  {self.output_after}"]
        return (*found, f"The {what.lower()} is {'another' if self.differs else 'the same'}.")

    def picture(self) -> Picture:
        """The rows before and after, below each other; of every layer that was changed."""
        rows, cells = [], []
        for effect in self.effects:
            named = effect.token if self.labels else f"{effect.step} {effect.token}"
            for one in effect.rows:
                rows += [f"{named} · layer {one.layer}" if len(effect.rows) > 1 else named, "changed"]
                cells += [one.before, one.after]
        array: Array = np.array(cells, dtype=np.float64)
        return Picture(f"changed rows · {self.where}", tuple(rows), self.source_tokens, array, self._notes())

    def _notes(self) -> tuple[str, ...]:
        notes = [f"Changed: {'; '.join(self.changes)}."]
        if self.labels:
            notes.append(f"Reading: {POOLED}.")
        else:
            notes.append(f"Reading: {READING}; the rest of the output is searched greedily, before and after alike.")
        if len(self.effects[0].rows) > 1:
            notes.append("Layers: every one is changed; a row is the mean over the heads of its layer.")
        return tuple(notes)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "changes": list(self.changes),
            "where": self.where,
            "source_tokens": list(self.source_tokens),
            "steps": [_plain(effect) for effect in self.effects],
            "output_before": self.output_before,
            "output_after": self.output_after,
            "differs": self.differs,
        }


def _listed(candidates: Sequence[Candidate]) -> str:
    return " · ".join(f"{visible(one.token)} {one.probability:.3f}" for one in candidates)


def _plain(effect: Effect) -> dict[str, Any]:
    plain = {**vars(effect), "delta_p": effect.after - effect.before}
    plain |= {"row_before": effect.row_before, "row_after": effect.row_after}
    for name in ("candidates_before", "candidates_after", "rows"):
        plain[name] = [one._asdict() for one in plain[name]]
    return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}


@dataclass(frozen=True)
class Place:
    """Where changes are made: the layer and head of a view, or every layer."""

    view: View
    everywhere: bool = False

    def at(self, step: int | None = None) -> Where:
        """The rows of one step, or of all."""
        if self.everywhere:
            return Where(self.view.kind, step=step)
        return Where(self.view.kind, self.view.layer, self.view.head, step)

    def views(self, watcher: Watcher) -> list[View]:
        """The attention of each layer that is changed."""
        if not self.everywhere:
            return [self.view]
        return [View(self.view.kind, layer, None, self.view.heads) for layer in watcher.layers(self.view.kind)]

    def __str__(self) -> str:
        if self.everywhere:
            return f"{self.view.kind} attention · every layer and head"
        if self.view.head is None and self.view.heads > 1:
            return f"{self.view.kind} attention · layer {self.view.layer} · all {self.view.heads} heads"
        return str(self.view)


def place_of(example: Example, layer: int | None = None, head: int | None = None, everywhere: bool = False) -> Place:
    """By default the last layer with all its heads: what a map shows by default."""
    return Place(view_of(watch(example), layer, head), everywhere)


@torch.inference_mode()
def intervene(
    example: Example, changes: Sequence[Change], place: Place, places: Places, longest: int = 0
) -> Intervention:
    """Change rows and see. `longest` is how many tokens a new output may have; a label needs none."""
    if not changes:
        raise UsageError("nothing is to be changed; name a change, as Flatten(step=1)")
    for change in changes:
        _refuse_missing(change.step, example)
    before_watcher, after_watcher = Watcher(), Watcher()
    read = example.read()
    before = example.log_probs(read, before_watcher)[0]
    after = example.log_probs(read, Several((*_eyes(changes, place, places), after_watcher)))[0]
    steps = sorted({change.step for change in changes})
    effects = [
        _effect(
            example,
            step,
            (before[step - 1], after[step - 1]),
            [_rows(view, step, before_watcher, after_watcher) for view in place.views(before_watcher)],
        )
        for step in steps
    ]
    return Intervention(
        tuple(str(change) if example.translates else change.what() for change in changes),
        str(place),
        example.source_tokens,
        tuple(effects),
        _output(example, None, steps[0], longest, before),
        _output(example, Several(_eyes(changes, place, places)), steps[0], longest, after),
        labels=not example.translates,
    )


def _refuse_missing(step: int, example: Example) -> None:
    if step > example.steps:
        there = f"{counted(example.steps, 'token')} written, counted from 1"
        there = there if example.translates else "a classifier gives one label, and its row is step 1"
        raise UsageError(f"there is no step {step}: {there}")


def _rows(view: View, step: int, before: Watcher, after: Watcher) -> Rows:
    """What became of the row of a step, from 1, in the layer of a view."""
    first, second = (view.of(one.weights(view.kind, view.layer))[step - 1].double().tolist() for one in (before, after))
    return Rows(view.layer, tuple(first), tuple(second))


def _eyes(changes: Sequence[Change], place: Place, places: Places) -> tuple[Changing, ...]:
    return tuple(Changing(change.rewrite(places), place.at(change.step - 1)) for change in changes)


def _effect(example: Example, step: int, answers: tuple[Tensor, Tensor], rows: Sequence[Rows]) -> Effect:
    before, after = answers
    chosen = example.written[step - 1]
    return Effect(
        step,
        example.written_tokens[step - 1],
        float(before[chosen].exp()),
        float(after[chosen].exp()),
        divergence(before, after),
        best_of(example, before) != best_of(example, after),
        _candidates(example, before),
        _candidates(example, after),
        tuple(rows),
    )


def divergence(before: Float[Tensor, " V"], after: Float[Tensor, " V"]) -> float:
    """KL(before ‖ after) of log-probabilities, in nats; rounding does not take it below 0."""
    return max(0.0, float((before.exp() * (before - after)).sum()))


def best_of(example: Example, log_probs: Float[Tensor, " V"]) -> int:
    """The most probable token of those that a search may write."""
    return int(writable(example, log_probs).argmax())


def writable(example: Example, log_probs: Float[Tensor, "*B V"]) -> Float[Tensor, "*B V"]:
    """Log-probabilities, −∞ of what no translation holds."""
    if not example.translates:
        return log_probs
    hidden = log_probs.clone()
    hidden[..., NEVER] = -torch.inf
    return hidden


def _candidates(example: Example, log_probs: Float[Tensor, " V"]) -> tuple[Candidate, ...]:
    best = writable(example, log_probs).topk(min(CANDIDATES, len(log_probs)))
    names = example.names_of_written(best.indices.tolist())
    return tuple(Candidate(name, float(one.exp())) for name, one in zip(names, best.values, strict=True))


def _output(example: Example, eye: Several | None, first: int, longest: int, log_probs: Float[Tensor, "T V"]) -> str:
    """A label, or the words that stand before the first changed step and those that greedy search finds after them."""
    if isinstance(example.model, AttentionClassifier):
        return example.text_of([best_of(example, log_probs[0])])
    source, keep = example.tensors()
    prefix = padded_prefix([example.written[: first - 1]]) if first > 1 else None
    constraints = Constraints(torch.tensor([max(longest, example.steps)]), prefix=prefix)
    model: Stepper[Any] = example.model
    (found,) = greedy(model, source, keep, constraints, eye=eye)
    return example.text_of(found.ids)
