"""Recurrent decoders: plain, Luong's and Bahdanau's. They differ in the query, and in where the context goes.

plain      sₜ = f(sₜ₋₁, yₜ₋₁)                 knows nothing of the source but the last encoder state
Luong      sₜ = f(sₜ₋₁, yₜ₋₁); c from sₜ       the query is the current state; input feeding joins h̃ₜ₋₁ to yₜ₋₁
Bahdanau   c from sₜ₋₁; sₜ = f(sₜ₋₁, [yₜ₋₁; c])   the query is the previous state; c enters the recurrence
"""

from abc import ABC, abstractmethod
from typing import Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from nungil.attention import Attention, Eye, Memory
from nungil.attention.dropout import Dropout
from nungil.model.cells import CellState, Layers
from nungil.model.results import Decoded

# Sizes   B batch   T target steps   S source steps   E width of an embedding   W width of a state   F of a feature
DecoderName = Literal["plain", "luong", "bahdanau"]
OutputName = Literal["tanh", "direct"]


class DecoderState(NamedTuple):
    """The states of the layers, the encoded source, and what earlier steps left: fed feature, coverage, position."""

    cells: CellState
    memory: Memory | None = None
    fed: Float[Tensor, "B F"] | None = None
    coverage: Float[Tensor, "B S"] | None = None
    position: int = 0

    def select(self, rows: Int[Tensor, " N"]) -> "DecoderState":
        """The state of some sentences of the batch, in the order given."""
        return self.regroup(rows, rows)

    def spread(self, beam: int) -> "DecoderState":
        """The state of each sentence so many times, side by side."""
        return self.select(torch.arange(self.cells.hidden.shape[1]).repeat_interleave(beam))

    def regroup(self, rows: Int[Tensor, " N"], sentences: Int[Tensor, " A"] | None = None) -> "DecoderState":
        """The state of some rows. The memory changes only when sentences leave: rows of one sentence share theirs."""
        return DecoderState(
            self.cells.select(rows),
            self.memory if self.memory is None or sentences is None else self.memory.select(rows),
            None if self.fed is None else self.fed[rows],
            None if self.coverage is None else self.coverage[rows],
            self.position,
        )


class Readout(nn.Module):
    """From state and context to a feature: tanh(W_c[c; s]) (Luong 2015, eq. 5), or [c; s] itself, as in post 000."""

    def __init__(self, width: int, key_size: int, feature_size: int | None, dropout: float) -> None:
        super().__init__()
        self.combine = None if feature_size is None else nn.Linear(key_size + width, feature_size, bias=False)
        self.feature_size = feature_size or key_size + width
        self.dropout = Dropout(dropout)

    def forward(self, context: Float[Tensor, "B *T K"], state: Float[Tensor, "B *T W"]) -> Float[Tensor, "B *T F"]:
        """The feature, with dropout."""
        joined = torch.cat([context, state], dim=-1)
        feature: Tensor = self.dropout(joined if self.combine is None else torch.tanh(self.combine(joined)))
        return feature


class Decoder(nn.Module, ABC):
    """What the three share: `forward` runs `step` in a loop, unless a decoder has a faster way."""

    feature_size: int
    layers: Layers

    @abstractmethod
    def begin(self, cells: CellState, memory: Memory | None) -> DecoderState:
        """The state before the first step."""

    @abstractmethod
    def step(
        self, embedded: Float[Tensor, "B E"], state: DecoderState, eye: Eye | None = None
    ) -> tuple[Float[Tensor, "B F"], Float[Tensor, "B S"] | None, DecoderState]:
        """One target step: a feature, where it looked, and the state to go on from."""

    def forward(self, embedded: Float[Tensor, "B T E"], state: DecoderState, eye: Eye | None = None) -> Decoded:
        """All target steps, one after another."""
        features, weights = [], []
        for t in range(embedded.shape[1]):
            feature, looked, state = self.step(embedded[:, t], state, eye)
            features.append(feature)
            if looked is not None:
                weights.append(looked)
        return Decoded(torch.stack(features, dim=1), torch.stack(weights, dim=1) if weights else None)


class PlainDecoder(Decoder):
    """Sutskever et al. (2014): whatever the encoder's last state does not hold is lost."""

    def __init__(self, layers: Layers, width: int, dropout: float) -> None:
        super().__init__()
        self.layers, self.feature_size = layers, width
        self.dropout = Dropout(dropout)

    def begin(self, cells: CellState, memory: Memory | None) -> DecoderState:
        """Only the cell state is used; there is no attention."""
        del memory
        return DecoderState(cells)

    def step(
        self, embedded: Float[Tensor, "B E"], state: DecoderState, eye: Eye | None = None
    ) -> tuple[Float[Tensor, "B F"], Float[Tensor, "B S"] | None, DecoderState]:
        """One step of the layers."""
        del eye
        top, cells = self.layers.step(embedded, state.cells)
        return self.dropout(top), None, DecoderState(cells, position=state.position + 1)

    def forward(self, embedded: Float[Tensor, "B T E"], state: DecoderState, eye: Eye | None = None) -> Decoded:
        """The whole sentence at once."""
        del eye
        return Decoded(self.dropout(self.layers(embedded, state.cells)))


class LuongDecoder(Decoder):
    """Luong et al. (2015): the query is the current state. Without input feeding, all steps attend in one product."""

    def __init__(self, layers: Layers, attention: Attention, readout: Readout, feeds: bool) -> None:
        super().__init__()
        self.layers, self.attention, self.readout, self.feeds = layers, attention, readout, feeds
        self.feature_size = readout.feature_size

    def begin(self, cells: CellState, memory: Memory | None) -> DecoderState:
        """With input feeding, the first step is fed zeros."""
        first = cells.hidden.new_zeros(cells.hidden.shape[1], self.feature_size) if self.feeds else None
        return DecoderState(cells, memory, first, _nothing_read(self.attention, memory))

    def step(
        self, embedded: Float[Tensor, "B E"], state: DecoderState, eye: Eye | None = None
    ) -> tuple[Float[Tensor, "B F"], Float[Tensor, "B S"] | None, DecoderState]:
        """State first, then look, then join the two."""
        inputs = embedded if state.fed is None else torch.cat([embedded, state.fed], dim=-1)
        top, cells = self.layers.step(inputs, state.cells)
        context, weights = _look(self.attention, top, state, eye)
        feature = self.readout(context, top)
        return feature, weights, _after(state, cells, feature if self.feeds else None, weights)

    def forward(self, embedded: Float[Tensor, "B T E"], state: DecoderState, eye: Eye | None = None) -> Decoded:
        """The whole sentence at once, unless input feeding makes each step wait for the one before."""
        if self.feeds:
            return super().forward(embedded, state, eye)
        states = self.layers(embedded, state.cells)
        attended = self.attention(states, state.memory, position=state.position, coverage=state.coverage, eye=eye)
        return Decoded(self.readout(attended.context, states), attended.weights)


class BahdanauDecoder(Decoder):
    """Bahdanau et al. (2015): the query is the previous state, and the context enters the recurrence."""

    def __init__(self, layers: Layers, attention: Attention, readout: Readout) -> None:
        super().__init__()
        self.layers, self.attention, self.readout = layers, attention, readout
        self.feature_size = readout.feature_size

    def begin(self, cells: CellState, memory: Memory | None) -> DecoderState:
        """The first query is the encoder's last state, through the bridge."""
        return DecoderState(cells, memory, None, _nothing_read(self.attention, memory))

    def step(
        self, embedded: Float[Tensor, "B E"], state: DecoderState, eye: Eye | None = None
    ) -> tuple[Float[Tensor, "B F"], Float[Tensor, "B S"] | None, DecoderState]:
        """Look first, then the state, then join the two."""
        context, weights = _look(self.attention, state.cells.hidden[-1], state, eye)
        top, cells = self.layers.step(torch.cat([embedded, context], dim=-1), state.cells)
        return self.readout(context, top), weights, _after(state, cells, None, weights)


def _nothing_read(attention: Attention, memory: Memory | None) -> Tensor | None:
    if memory is None or not attention.score.needs_coverage:
        return None
    return torch.zeros_like(memory.keys[..., 0])


def _look(
    attention: Attention, query: Float[Tensor, "B W"], state: DecoderState, eye: Eye | None
) -> tuple[Float[Tensor, "B K"], Float[Tensor, "B S"]]:
    context, weights = attention(
        query[:, None], state.memory, position=state.position, coverage=state.coverage, eye=eye
    )
    return context[:, 0], weights[:, 0]


def _after(state: DecoderState, cells: CellState, fed: Tensor | None, weights: Tensor) -> DecoderState:
    coverage = None if state.coverage is None else state.coverage + weights
    return DecoderState(cells, state.memory, fed, coverage, state.position + 1)
