"""Watcher: the eye that keeps every look of one run whole, queries and values too, and changes nothing."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from nungil.attention.eye import Look
from nungil.errors import UsageError
from nungil.inspection.example import Example

# Sizes   B batch   *heads none or one axis   H heads, 1 where there are none   T target steps   S source steps


class Watcher:
    """Keeps looks by kind and layer."""

    def __init__(self) -> None:
        self.looks: dict[tuple[str, int], list[Look]] = {}

    def __call__(self, look: Look) -> Float[Tensor, "B *heads T S"]:
        """Remember the look, and go on with its weights."""
        self.looks.setdefault((look.kind, look.layer), []).append(look)
        return look.weights

    def layers(self, kind: str) -> list[int]:
        """The layers that have attention of this kind."""
        return sorted(layer for seen, layer in self.looks if seen == kind)

    def weights(self, kind: str, layer: int) -> Float[Tensor, "H T S"]:
        """The weights of the first sentence, all steps below each other."""
        return torch.cat([_with_heads(look.weights[0]) for look in self.looks[kind, layer]], dim=1)


def _with_heads(weights: Tensor) -> Float[Tensor, "H T S"]:
    return weights if weights.dim() == 3 else weights[None]


class View(NamedTuple):
    """Which attention a map is of: its kind, layer, and head; without a head, the mean over all of them."""

    kind: str
    layer: int
    head: int | None
    heads: int

    def __str__(self) -> str:
        return self.named("mean")

    def named(self, over: str) -> str:
        """As it is said; `over` is what was made of all heads where none is chosen: their mean, or their sum."""
        which = f"head {self.head}" if self.head is not None else f"{over} over {self.heads} heads"
        return f"{self.kind} attention · layer {self.layer}" + (f" · {which}" if self.heads > 1 else "")

    def of(self, weights: Float[Tensor, "H T S"]) -> Float[Tensor, "T S"]:
        """This head of all, or their mean."""
        return weights.mean(dim=0) if self.head is None else weights[self.head]


def watch(example: Example) -> Watcher:
    """Everything that attention did while this was written."""
    watcher = Watcher()
    with torch.no_grad():  # what is kept is for anyone to calculate with
        example.log_probs(example.read(eye=watcher), watcher)
    return watcher


def view_of(watcher: Watcher, layer: int | None = None, head: int | None = None) -> View:
    """The attention between what is written and what is read: by default that of the last layer, all heads."""
    kind = next((kind for kind in ("cross", "pooling") if watcher.layers(kind)), None)
    if kind is None:
        raise UsageError(f"there is no attention between what is written and what is read: {why_none(watcher)}")
    layers = watcher.layers(kind)
    layer = layers[-1] if layer is None else layer
    if layer not in layers:
        raise UsageError(f"there is no {kind} attention of layer {layer}; its layers, from 0: {_listed(layers)}")
    heads = watcher.weights(kind, layer).shape[0]
    if head is not None and head not in range(heads):
        there = f"its heads, from 0: 0 to {heads - 1}" if heads > 1 else "it has one, 0"
        raise UsageError(f"{kind} attention of layer {layer} has no head {head}; {there}")
    return View(kind, layer, head, heads)


def why_none(watcher: Watcher) -> str:
    """What a model has in its place."""
    if watcher.layers("self"):
        return "the pooling is by a rule; only the encoder attends, to the text itself"
    return "the model has none (a plain decoder, or a pooling by a rule)"


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))
