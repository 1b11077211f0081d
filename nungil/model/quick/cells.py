"""Recurrent layers for searching: one product per step, and the share of each token looked up in a table."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from nungil.attention.energy import tanh_
from nungil.model.cells import Cell, CellState, Layers
from nungil.model.quick.product import Product

# Sizes   N rows   V vocabulary   E width of an embedding   I of what else enters   W of a state   G of all gates
FEWER = 3  # a table pays when more than this many tokens are decoded for each one of the vocabulary
TABLE = 2**25  # numbers that the table may have: 128 MB


class QuickLayers:
    """Stacked layers; the lowest reads a token and, where the decoder feeds it one, a context or feature."""

    def __init__(self, layers: Layers, embedding: Float[Tensor, "V E"], kind: torch.dtype | None, lookup: bool) -> None:
        parts = _parts(layers)
        self.words = Words(parts[0], embedding, kind, lookup)
        self.layers = [
            QuickLayer(layers.cell, part, kind, 0 if number else embedding.shape[1])
            for number, part in enumerate(parts)
        ]

    def step(
        self, last: Int[Tensor, " N"], more: Float[Tensor, "N I"] | None, state: CellState
    ) -> tuple[Float[Tensor, "N W"], CellState]:
        """The state of the top layer one step later, and those of all layers."""
        hidden: list[Tensor] = []
        memory: list[Tensor] = []
        known: Tensor | None = self.words(last)
        for number, layer in enumerate(self.layers):
            before = None if state.memory is None else state.memory[number]
            after, kept = layer.step(known, more, state.hidden[number], before)
            hidden.append(after)
            memory += [] if kept is None else [kept]
            known, more = None, after
        return hidden[-1], CellState(torch.stack(hidden), torch.stack(memory) if memory else None)


class Words:
    """What each token contributes to the gates of the lowest layer: W e + b.

    With `lookup` this is computed once for the whole vocabulary.
    """

    def __init__(
        self, layer: nn.RNNBase, embedding: Float[Tensor, "V E"], kind: torch.dtype | None, lookup: bool
    ) -> None:
        weight = _part(layer, "weight_ih")[:, : embedding.shape[1]]
        self.product, self.embedding = Product(weight, _part(layer, "bias_ih"), kind), embedding
        self.table = self.product(self.embedding) if lookup else None

    def __call__(self, ids: Int[Tensor, " N"]) -> Float[Tensor, "N G"]:
        """New rows, which the caller may overwrite."""
        if self.table is not None:
            return self.table.index_select(0, ids)
        return self.product(self.embedding.index_select(0, ids))


class QuickLayer:
    """One layer. The inputs other than a token and the own state share one product; a GRU needs its state apart."""

    def __init__(self, cell: Cell, layer: nn.RNNBase, kind: torch.dtype | None, words: int) -> None:
        self.cell: Cell = cell
        weight_in, bias_in = _part(layer, "weight_ih")[:, words:], None if words else _part(layer, "bias_ih")
        weight_back, bias_back = _part(layer, "weight_hh"), _part(layer, "bias_hh")
        self.enters: Product | None = None
        if cell == "gru":
            self.enters = Product(weight_in, bias_in, kind) if weight_in.shape[1] else None
            self.back = Product(weight_back, bias_back, kind)
        else:
            bias = bias_back if bias_in is None else bias_in + bias_back
            self.back = Product(torch.cat([weight_in, weight_back], dim=1), bias, kind)

    def step(
        self,
        known: Float[Tensor, "N G"] | None,
        more: Float[Tensor, "N I"] | None,
        hidden: Float[Tensor, "N W"],
        memory: Float[Tensor, "N W"] | None,
    ) -> tuple[Float[Tensor, "N W"], Float[Tensor, "N W"] | None]:
        """The new state, from a token's share of the gates (`known`), further inputs (`more`) and the state before."""
        if self.cell == "gru":
            return self._gru(known, more, hidden), None
        given = hidden if more is None else torch.cat([more, hidden], dim=1)
        gates = self.back(given)
        gates = gates if known is None else gates.add_(known)
        if memory is None:
            return tanh_(gates), None
        W = hidden.shape[1]
        new = tanh_(gates[:, 2 * W : 3 * W])
        enters, stays, out = (gates[:, place * W : (place + 1) * W].sigmoid_() for place in (0, 1, 3))
        after = torch.addcmul(enters * new, stays, memory)
        return tanh_(after.clone()).mul_(out), after

    def _gru(self, known: Tensor | None, more: Tensor | None, hidden: Tensor) -> Float[Tensor, "N W"]:
        given = self.enters(more) if self.enters is not None and more is not None else None
        gates = given if known is None else known if given is None else known.add_(given)
        if gates is None:
            raise ValueError("a layer needs a token or the output of the layer below")
        own, W = self.back(hidden), hidden.shape[1]
        reset, stays = (gates[:, : 2 * W] + own[:, : 2 * W]).sigmoid_().chunk(2, dim=1)
        new = tanh_(torch.addcmul(gates[:, 2 * W :], reset, own[:, 2 * W :]))
        return torch.lerp(new, hidden, stays)


def worth_a_table(layers: Layers, embedding: Float[Tensor, "V E"], tokens: int) -> bool:
    """Whether decoding this many tokens justifies a table of the whole vocabulary, and the table is small enough."""
    gates = len(_part(_parts(layers)[0], "bias_ih"))
    return FEWER * len(embedding) < tokens and len(embedding) * gates <= TABLE


def _parts(layers: Layers) -> list[nn.RNNBase]:
    return [part for part in layers.layers if isinstance(part, nn.RNNBase)]


def _part(layer: nn.RNNBase, name: str) -> Tensor:
    part: Tensor = getattr(layer, f"{name}_l0")
    return part.detach()
