"""Encoders: embedded sentences to states. Translators and classifiers share them."""

from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from nungil.attention import Eye
from nungil.attention.attend import refuse_empty_rows
from nungil.attention.dropout import Dropout
from nungil.model.blocks import BlockSettings, EncoderBlock
from nungil.model.cells import Cell, make_layer, width_mistake
from nungil.model.embedding import sinusoids
from nungil.model.reading import read
from nungil.model.results import Encoded
from nungil.settings import Settings

# Sizes   B batch   S source steps   E width of an embedding   W width of a state
Positions = Literal["sinusoidal", "none"]


class RecurrentEncoderSettings(Settings):
    """The sizes of a recurrent encoder."""

    cell: Cell = Field("lstm", description="lstm, gru or rnn.")
    width: int = Field(512, ge=1, le=8_192, description="Width of a state; two directions have half of it each.")
    layers: int = Field(1, ge=1, le=32, description="Layers, one above the other.")
    bidirectional: bool = Field(True, description="Read in both directions, so that a state knows what comes after it.")
    dropout: float = Field(0.2, ge=0, lt=1, description="Share of numbers dropped between layers while training.")

    @model_validator(mode="after")
    def _two_directions_share_the_width(self) -> "RecurrentEncoderSettings":
        mistake = width_mistake(self.width, self.bidirectional)
        if mistake is not None:
            raise ValueError(mistake)
        return self


class RecurrentEncoder(nn.Module):
    """RNN, GRU or LSTM layers, in one direction or in both."""

    def __init__(self, input_size: int, settings: RecurrentEncoderSettings) -> None:
        super().__init__()
        self.width, self.cell = settings.width, settings.cell
        half = settings.width // 2 if settings.bidirectional else settings.width
        sizes = [input_size] + [settings.width] * (settings.layers - 1)
        self.layers = nn.ModuleList(make_layer(settings.cell, size, half, settings.bidirectional) for size in sizes)
        self.dropout = Dropout(settings.dropout)

    def forward(
        self,
        embedded: Float[Tensor, "B S E"],
        keep: Bool[Tensor, "B S"],
        eye: Eye | None = None,  # noqa: ARG002  a recurrent encoder does not attend
    ) -> Encoded:
        """States of every step. Padding is never read: a sentence has the same states alone and in any batch."""
        refuse_empty_rows(keep)
        real = None if bool(keep.all()) else keep
        states, hidden, memory = embedded, [], []
        for number, layer in enumerate(self.layers):
            if not isinstance(layer, nn.RNNBase):
                raise TypeError("a recurrent encoder has recurrent layers")
            walked = read(layer, states if number == 0 else self.dropout(states), real)
            states = walked.states
            hidden.append(walked.hidden)
            memory.append(walked.memory)
        states = states if real is None else states * keep[..., None]
        return Encoded(states, keep, torch.stack(hidden), torch.stack(memory) if self.cell == "lstm" else None)


class TransformerEncoder(nn.Module):
    """Self-attention blocks over embeddings with positions."""

    def __init__(self, settings: BlockSettings, layers: int, positions: Positions = "sinusoidal") -> None:
        super().__init__()
        self.width, self.positions = settings.width, positions
        self.blocks = nn.ModuleList(EncoderBlock(settings, layer) for layer in range(layers))
        self.norm = nn.LayerNorm(settings.width) if settings.norm == "pre" else nn.Identity()

    def forward(self, embedded: Float[Tensor, "B S W"], keep: Bool[Tensor, "B S"], eye: Eye | None = None) -> Encoded:
        """States of every step; padding gets exactly no weight."""
        refuse_empty_rows(keep)
        states = embedded
        if self.positions == "sinusoidal":
            states = states + sinusoids(0, states.shape[1], self.width, states)
        seen = None if bool(keep.all()) else keep  # without a mask attention is faster
        for block in self.blocks:
            states = block(states, seen, eye)
        states = self.norm(states)
        return Encoded(states, keep, mean_of_kept(states, keep)[None])


class NoEncoder(nn.Module):
    """The embeddings themselves: a baseline that knows no word order."""

    def __init__(self, input_size: int) -> None:
        super().__init__()
        self.width = input_size

    def forward(
        self,
        embedded: Float[Tensor, "B S E"],
        keep: Bool[Tensor, "B S"],
        eye: Eye | None = None,  # noqa: ARG002
    ) -> Encoded:
        """The embeddings, and their mean in place of a last state."""
        refuse_empty_rows(keep)
        return Encoded(embedded, keep, mean_of_kept(embedded, keep)[None])


def mean_of_kept(states: Float[Tensor, "B S W"], keep: Bool[Tensor, "B S"]) -> Float[Tensor, "B W"]:
    """The mean over real tokens."""
    kept = keep[..., None].to(states.dtype)
    return (states * kept).sum(dim=1) / kept.sum(dim=1)


def last_of_kept(states: Float[Tensor, "B S W"], keep: Bool[Tensor, "B S"]) -> Float[Tensor, "B W"]:
    """The state at the last real token; padding stands on the right."""
    place: Int[Tensor, " B"] = keep.sum(dim=1) - 1
    return states[torch.arange(len(states), device=states.device), place]
