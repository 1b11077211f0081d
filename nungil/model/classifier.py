"""The classifier: embedding, encoder, pooling, dense layer, labels. As in post 001, but padding gets no weight."""

from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from pydantic import Field, model_validator
from torch import Tensor, nn

from nungil.attention import Attention, Eye
from nungil.attention.dropout import Dropout
from nungil.model.blocks import BlockSettings, Norm, heads_mistake
from nungil.model.cells import width_mistake
from nungil.model.embedding import Embedding
from nungil.model.encoders import (
    NoEncoder,
    Positions,
    RecurrentEncoder,
    RecurrentEncoderSettings,
    TransformerEncoder,
    last_of_kept,
    mean_of_kept,
)
from nungil.model.ngrams import NgramReader, NgramSettings
from nungil.model.results import Classified, Encoded
from nungil.model.scores import ScoreSettings, build_score
from nungil.settings import Settings

# Sizes   B batch   S source steps   W width of a state   D width of the dense layer   C classes
EncoderName = Literal["lstm", "gru", "rnn", "transformer", "none"]
Pooling = Literal["attention", "mean", "max", "last"]
Query = Literal["last", "learned"]


class ClassifierSettings(Settings):
    """A text classifier."""

    kind: Literal["classifier"] = "classifier"
    encoder: EncoderName = Field("lstm", description="lstm, gru, rnn, transformer, or none (embeddings alone).")
    embedding: int = Field(128, ge=1, le=8_192, description="Width of an embedding; a Transformer's is its width.")
    scale_embedding: bool = Field(
        True, description="Embeddings are multiplied by √embedding when they are read; a Transformer's always are."
    )
    width: int = Field(128, ge=1, le=8_192, description="Width of a state; two directions have half of it each.")
    layers: int = Field(1, ge=1, le=64, description="Layers of the encoder.")
    bidirectional: bool = Field(True, description="Recurrent encoders read from both ends.")
    heads: int = Field(4, ge=1, le=128, description="Attention heads of a Transformer encoder.")
    feed_forward: int = Field(256, ge=1, le=65_536, description="Inner width of a Transformer's feed-forward layers.")
    norm: Norm = Field("pre", description="pre or post, of a Transformer encoder.")
    positions: Positions = Field("sinusoidal", description="sinusoidal or none, of a Transformer encoder.")
    pooling: Pooling = Field("attention", description="How states become one: attention, mean, max or last.")
    score: ScoreSettings = Field(
        default_factory=lambda: ScoreSettings(name="additive"), description="How the pooling's attention scores."
    )
    query: Query | None = Field(
        None,
        description="What asks: the last state (as in post 001; the mean where there is none), or a learned vector; "
        "by default the last state of recurrent encoders, else learned.",
    )
    dense: int = Field(64, ge=1, le=8_192, description="Width of the dense layer after the pooling.")
    ngrams: NgramSettings | None = Field(
        None, description="A second reader, of hashed n-grams; the verdict is the mean of both. None: there is none."
    )
    dropout: float = Field(0.3, ge=0, lt=1, description="Share of numbers dropped while training.")

    @model_validator(mode="after")
    def _parts_fit(self) -> "ClassifierSettings":
        if self.encoder == "transformer":
            mistake = heads_mistake(self.width, self.heads)
        else:
            mistake = width_mistake(self.width, self.bidirectional and self.encoder != "none")
        if mistake is not None:
            raise ValueError(mistake)
        return self

    @property
    def asked_by(self) -> Query:
        """What queries the pooling: the setting, or its default for this encoder."""
        return self.query or ("learned" if self.encoder in ("transformer", "none") else "last")

    @property
    def scales(self) -> bool:
        """Whether embeddings are multiplied by √width when they are read; those of a Transformer always are."""
        return self.scale_embedding or self.encoder == "transformer"


class Pooled(NamedTuple):
    """A sentence as one vector, and the attention weights it was read with; None for pooling without attention."""

    vector: Float[Tensor, "B W"]
    weights: Float[Tensor, "B S"] | None = None


class AttentionPooling(nn.Module):
    """Attention over the whole sentence; the query is the last state or a learned vector."""

    def __init__(self, width: int, score: ScoreSettings, query: Query) -> None:
        super().__init__()
        self.attention = Attention(build_score(score, width, width), kind="pooling")
        self.query = nn.Parameter(torch.empty(width)) if query == "learned" else None
        if self.query is not None:
            nn.init.normal_(self.query, std=width**-0.5)

    def forward(self, encoded: Encoded, eye: Eye | None = None) -> Pooled:
        """The weighted sum of the states."""
        asking = encoded.last[-1] if self.query is None else self.query.expand(len(encoded.states), -1)
        context, weights = self.attention(asking[:, None], encoded.states, keep=encoded.keep, eye=eye)
        return Pooled(context[:, 0], weights[:, 0])


class FixedPooling(nn.Module):
    """The baselines: mean, maximum, or last state (of encoders without a final state, that of the last token)."""

    def __init__(self, pooling: Pooling, recurrent: bool) -> None:
        super().__init__()
        self.pooling, self.recurrent = pooling, recurrent

    def forward(self, encoded: Encoded, eye: Eye | None = None) -> Pooled:
        """One vector, without learned weights."""
        del eye
        if self.pooling == "mean":
            return Pooled(mean_of_kept(encoded.states, encoded.keep))
        if self.pooling == "max":
            return Pooled(encoded.states.masked_fill(~encoded.keep[..., None], -torch.inf).amax(dim=1))
        return Pooled(encoded.last[-1] if self.recurrent else last_of_kept(encoded.states, encoded.keep))


class AttentionClassifier(nn.Module):
    """Softmax over the classes; for two of them that is a sigmoid of the difference of their scores."""

    def __init__(self, settings: ClassifierSettings, vocabulary: int, classes: int) -> None:
        super().__init__()
        self.settings = settings
        width = settings.width if settings.encoder == "transformer" else settings.embedding
        self.embedding = Embedding(vocabulary, width, settings.dropout, settings.scales)
        self.encoder = _build_encoder(settings)
        self.pooling = (
            AttentionPooling(self.encoder.width, settings.score, settings.asked_by)
            if settings.pooling == "attention"
            else FixedPooling(settings.pooling, recurrent=isinstance(self.encoder, RecurrentEncoder))
        )
        self.ngrams = None if settings.ngrams is None else NgramReader(settings.ngrams, classes)
        self.dense = nn.Linear(self.encoder.width, settings.dense)
        self.dropout = Dropout(settings.dropout)
        self.output = nn.Linear(settings.dense, classes)

    def forward(
        self, source: Int[Tensor, "B S"], source_keep: Bool[Tensor, "B S"], eye: Eye | None = None
    ) -> Classified:
        """A score per class."""
        return self.decide(self.encoder(self.embedding(source), source_keep, eye), source, eye)

    def decide(self, encoded: Encoded, source: Int[Tensor, "B S"], eye: Eye | None = None) -> Classified:
        """The same from encoded states; n-grams are still taken from the ids."""
        vector, weights = self.pooling(encoded, eye)
        deep = self.judge(vector)
        if self.ngrams is None:
            return Classified(deep, weights)
        wide = self.ngrams(source, encoded.keep)
        return Classified((deep + wide) / 2, weights, deep, wide)

    def judge(self, vector: Float[Tensor, "B W"]) -> Float[Tensor, "B C"]:
        """A score per class from pooled vectors, without the n-grams."""
        dense = torch.relu(self.dense(self.dropout(vector)))
        scores: Tensor = self.output(self.dropout(dense))
        return scores


def _build_encoder(settings: ClassifierSettings) -> RecurrentEncoder | TransformerEncoder | NoEncoder:
    if settings.encoder == "none":
        return NoEncoder(settings.embedding)
    if settings.encoder == "transformer":
        blocks = BlockSettings(
            width=settings.width,
            heads=settings.heads,
            feed_forward=settings.feed_forward,
            dropout=settings.dropout,
            norm=settings.norm,
        )
        return TransformerEncoder(blocks, settings.layers, settings.positions)
    recurrent = RecurrentEncoderSettings(
        cell=settings.encoder,
        width=settings.width,
        layers=settings.layers,
        bidirectional=settings.bidirectional,
        dropout=settings.dropout,
    )
    return RecurrentEncoder(settings.embedding, recurrent)
