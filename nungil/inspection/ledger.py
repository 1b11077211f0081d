"""Ledger: one act of attention written down, every number of it, and how far it is off the real module. No torch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Axis:
    """What the numbers along one side of a step are of: `source` tokens, output `words`, `temperature`, or `unit`."""

    name: str
    labels: tuple[str, ...]


def units(size: int) -> Axis:
    """The axis of a vector whose places have no names."""
    return Axis("unit", tuple(str(unit) for unit in range(size)))


def _plain_axis(axis: Axis) -> dict[str, Any]:
    """Only names worth reading are written down."""
    return (
        {"name": "unit", "size": len(axis.labels)}
        if axis.name == "unit"
        else {"name": axis.name, "labels": list(axis.labels)}
    )


@dataclass(frozen=True)
class LedgerStep:
    """One line of arithmetic: its name, its formula, and its numbers with the axes they lie along.

    `head` counts from 0 in multi-head attention. `total_of` names the step whose rows this one is the sum of. Of a
    whole model, `part` says where in it the line belongs, and `layer`, from 0, in which of several layers.
    """

    name: str
    formula: str
    values: Array
    axes: tuple[Axis, ...] = ()
    head: int | None = None
    total_of: str | None = None
    part: str | None = None
    layer: int | None = None

    def __post_init__(self) -> None:
        expected = tuple(len(axis.labels) for axis in self.axes)
        if self.values.shape != expected:
            raise ValueError(f"step {self.name}: values {self.values.shape} do not fit axes {expected}")

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        axes = [_plain_axis(axis) for axis in self.axes]
        plain: dict[str, Any] = {
            "name": self.name,
            "formula": self.formula,
            "axes": axes,
            "values": self.values.tolist(),
        }
        where = {"part": self.part, "layer": self.layer, "head": self.head, "total_of": self.total_of}
        return plain | {name: value for name, value in where.items() if value is not None}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "LedgerStep":
        """The step that `to_json` wrote."""
        axes = tuple(Axis(a["name"], tuple(a["labels"])) if "labels" in a else units(a["size"]) for a in plain["axes"])
        values = np.asarray(plain["values"], dtype=np.float64)
        where = (plain.get(name) for name in ("head", "total_of", "part", "layer"))
        return cls(plain["name"], plain["formula"], values, axes, *where)


@dataclass(frozen=True)
class Ledger:
    """The steps in order, and `residual`: the largest difference between them and what the real module put out.

    Of a trained model, `kind` and `layer` say which of its attentions is written out, and `numbers` holds what was
    asked: the text, the step, the words. Numbers of a user's own belong to no model.
    """

    mechanism: str
    steps: tuple[LedgerStep, ...]
    residual: float
    against: str
    numbers: Mapping[str, Any]
    kind: str | None = None
    layer: int | None = None

    @property
    def of_model(self) -> bool:
        """Whether it is of a trained model."""
        return "model" in self.numbers

    def step(self, name: str, head: int | None = None, part: str | None = None, layer: int | None = None) -> LedgerStep:
        """The step of this name, and of this head, part or layer if given; of several, the last."""
        wanted = {"head": head, "part": part, "layer": layer}
        for step in reversed(self.steps):
            if step.name == name and all(value in (None, getattr(step, key)) for key, value in wanted.items()):
                return step
        raise KeyError(
            f"the ledger of {self.mechanism} has no step {name!r}; it has {[step.name for step in self.steps]}"
        )

    def __contains__(self, name: str) -> bool:
        return any(step.name == name for step in self.steps)

    def to_json(self) -> dict[str, Any]:
        """Plain values; `numbers` is what the ledger was made of."""
        place = {"kind": self.kind, "layer": self.layer}
        return {
            "mechanism": self.mechanism,
            **{name: value for name, value in place.items() if value is not None},
            "numbers": dict(self.numbers),
            "steps": [step.to_json() for step in self.steps],
            "residual": self.residual,
            "against": self.against,
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Ledger":
        """The ledger that `to_json` wrote."""
        steps = tuple(LedgerStep.from_json(step) for step in plain["steps"])
        parts = plain["residual"], plain["against"], plain["numbers"], plain.get("kind"), plain.get("layer")
        return cls(plain["mechanism"], steps, *parts)


def total(values: Sequence[float] | Array) -> Array:
    """The sum over the rows, as an array."""
    return np.asarray(np.sum(values, axis=0), dtype=np.float64)
