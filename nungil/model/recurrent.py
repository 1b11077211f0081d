"""The recurrent translator: an encoder, a bridge, a decoder, a vocabulary. Posts 000, 001 and 004."""

from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from nungil.attention import Attention, Eye
from nungil.model.cells import Cell, CellState, Layers, width_mistake
from nungil.model.decoders import (
    BahdanauDecoder,
    Decoder,
    DecoderName,
    DecoderState,
    LuongDecoder,
    OutputName,
    PlainDecoder,
    Readout,
)
from nungil.model.embedding import Embedding
from nungil.model.encoders import RecurrentEncoder, RecurrentEncoderSettings
from nungil.model.products import in_full
from nungil.model.results import Decoded, Encoded, Stepped
from nungil.model.scores import ScoreSettings, build_score
from nungil.model.vocabulary import Vocabulary
from nungil.settings import Settings

# Sizes   B batch   S source steps   T target steps   W width of a state   F width of a feature   V target vocabulary


class RecurrentSettings(Settings):
    """A recurrent encoder-decoder."""

    kind: Literal["recurrent"] = "recurrent"
    cell: Cell = Field("lstm", description="lstm, gru or rnn.")
    embedding: int = Field(256, ge=1, le=8_192, description="Width of an embedding.")
    scale_embedding: bool = Field(True, description="Embeddings are multiplied by √embedding when they are read.")
    width: int = Field(512, ge=1, le=8_192, description="Width of a state, of encoder and decoder.")
    encoder_layers: int = Field(1, ge=1, le=32, description="Layers of the encoder.")
    decoder_layers: int = Field(1, ge=1, le=32, description="Layers of the decoder.")
    bidirectional: bool = Field(True, description="The encoder reads in both directions, with half the width each.")
    decoder: DecoderName = Field("luong", description="plain (no attention), luong or bahdanau.")
    score: ScoreSettings = Field(default_factory=ScoreSettings, description="How source steps are scored.")
    output: OutputName = Field("tanh", description="tanh(W[c; s]) before the vocabulary, or [c; s] directly.")
    input_feeding: bool = Field(False, description="Luong only: the feature of each step is an input of the next.")
    tie: bool | None = Field(
        None, description="The vocabulary's matrix is the target embedding; by default where the output is tanh."
    )
    dropout: float = Field(0.2, ge=0, lt=1, description="Share of numbers dropped while training.")
    coverage_loss: float = Field(
        0.1,
        ge=0,
        le=100,
        description="Weight of the loss for reading again; only the score coverage has it. With 1, as in See et al. "
        "(2017) at the end of training, some models never learn to read at all.",
    )

    @model_validator(mode="after")
    def _parts_fit(self) -> "RecurrentSettings":
        odd = width_mistake(self.width, self.bidirectional)
        mistakes = [] if odd is None else [odd]
        if self.input_feeding and self.decoder != "luong":
            mistakes.append(f"input_feeding is Luong's; with decoder {self.decoder} leave it out")
        if self.tie and not self.tied:
            mistakes.append("tie needs decoder luong or bahdanau with output tanh: only then do the widths agree")
        if mistakes:
            raise ValueError("; ".join(mistakes))
        return self

    @property
    def tied(self) -> bool:
        """Whether the vocabulary's matrix is the target embedding."""
        return self.tie is not False and self.decoder != "plain" and self.output == "tanh"


class RecurrentTranslator(nn.Module):
    """RNN, GRU or LSTM to RNN, GRU or LSTM, with any attention between them or none."""

    def __init__(self, settings: RecurrentSettings, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.settings = settings
        width, scaled = settings.embedding, settings.scale_embedding
        self.source_embedding = Embedding(vocabulary.source, width, settings.dropout, scaled)
        self.target_embedding = Embedding(vocabulary.target, width, settings.dropout, scaled)
        self.encoder = RecurrentEncoder(width, _encoder_settings(settings))
        self.bridge = Bridge(settings)
        self.decoder = _build_decoder(settings)
        self.output = nn.Linear(self.decoder.feature_size, vocabulary.target)
        nn.init.zeros_(self.output.bias)
        if settings.tied:
            self.output.weight = self.target_embedding.table.weight

    def forward(
        self,
        source: Int[Tensor, "B S"],
        source_keep: Bool[Tensor, "B S"],
        target_in: Int[Tensor, "B T"],
        eye: Eye | None = None,
    ) -> Decoded:
        """A feature for each target step, reading only what stands before it."""
        return self.decode(target_in, self.start(source, source_keep, eye), eye)

    def decode(self, target_in: Int[Tensor, "B T"], state: DecoderState, eye: Eye | None = None) -> Decoded:
        """The same from a state that `start` or `begin` gave."""
        decoded: Decoded = self.decoder(self.target_embedding(target_in), state, eye)
        return decoded

    def logits(self, features: Float[Tensor, "*B F"]) -> Float[Tensor, "*B V"]:
        """A score per token of the vocabulary, never in bfloat16: near-ties should not be rounded to ties."""
        with in_full():
            scored: Tensor = self.output(features.to(self.output.weight.dtype))
        return scored

    def start(self, source: Int[Tensor, "B S"], keep: Bool[Tensor, "B S"], eye: Eye | None = None) -> DecoderState:
        """Read the source; the state before the first target step."""
        return self.begin(self.encoder(self.source_embedding(source), keep, eye))

    def begin(self, encoded: Encoded) -> DecoderState:
        """The same from encoder states, which need not come from the embeddings of words."""
        attention = getattr(self.decoder, "attention", None)
        memory = attention.prepare(encoded.states, encoded.keep) if isinstance(attention, Attention) else None
        return self.decoder.begin(self.bridge(encoded), memory)

    def step(self, last: Int[Tensor, " B"], state: DecoderState, eye: Eye | None = None) -> Stepped[DecoderState]:
        """The token after the last one."""
        embedded = self.target_embedding(last[:, None])[:, 0]
        feature, weights, state = self.decoder.step(embedded, state, eye)
        return Stepped(self.logits(feature), state, weights)


class Bridge(nn.Module):
    """From the encoder's last state to the decoder's first: tanh(W[→; ←]), with a W for each layer and for h and c."""

    def __init__(self, settings: RecurrentSettings) -> None:
        super().__init__()
        self.layers = settings.decoder_layers
        self.hidden = nn.Linear(settings.width, settings.width * self.layers)
        self.memory = nn.Linear(settings.width, settings.width * self.layers) if settings.cell == "lstm" else None

    def forward(self, encoded: Encoded) -> CellState:
        """The first state of every decoder layer."""
        hidden = self._cross(self.hidden, encoded.last[-1])
        if self.memory is None or encoded.cell is None:
            return CellState(hidden)
        return CellState(hidden, self._cross(self.memory, encoded.cell[-1]))

    def _cross(self, linear: nn.Linear, last: Float[Tensor, "B W"]) -> Float[Tensor, "L B W"]:
        crossed: Tensor = torch.tanh(linear(last))
        return torch.stack(crossed.chunk(self.layers, dim=-1))


def _encoder_settings(settings: RecurrentSettings) -> RecurrentEncoderSettings:
    return RecurrentEncoderSettings(
        cell=settings.cell,
        width=settings.width,
        layers=settings.encoder_layers,
        bidirectional=settings.bidirectional,
        dropout=settings.dropout,
    )


def _build_decoder(settings: RecurrentSettings) -> Decoder:
    width, depth, dropout = settings.width, settings.decoder_layers, settings.dropout
    if settings.decoder == "plain":
        return PlainDecoder(Layers(settings.cell, settings.embedding, width, depth, dropout), width, dropout)
    feature_size = (settings.embedding if settings.tied else width) if settings.output == "tanh" else None
    readout = Readout(width, width, feature_size, dropout)
    attention = Attention(build_score(settings.score, width, width))
    if settings.decoder == "bahdanau":
        layers = Layers(settings.cell, settings.embedding + width, width, depth, dropout)
        return BahdanauDecoder(layers, attention, readout)
    fed = readout.feature_size if settings.input_feeding else 0
    layers = Layers(settings.cell, settings.embedding + fed, width, depth, dropout)
    return LuongDecoder(layers, attention, readout, settings.input_feeding)
