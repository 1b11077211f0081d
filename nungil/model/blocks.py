"""The blocks of a Transformer: attention and feed-forward, each with a residual and a norm. Vaswani et al. (2017)."""

from collections.abc import Callable
from typing import Literal

import torch
from jaxtyping import Bool, Float
from pydantic import Field, model_validator
from torch import Tensor, nn

from nungil.attention import Eye, Heads, MultiHeadAttention, causal_keep
from nungil.attention.dropout import Dropout
from nungil.model.past import Past
from nungil.settings import Settings

# Sizes   B batch   S source steps   T target steps, or hypotheses of a beam   P steps so far, T included   M width
Norm = Literal["pre", "post"]


def heads_mistake(width: int, heads: int) -> str | None:
    """Why this many heads cannot share this width, or None if they can."""
    return f"width {width} cannot be shared by {heads} heads; choose a multiple" if width % heads else None


class BlockSettings(Settings):
    """The sizes of a Transformer's blocks."""

    width: int = Field(256, ge=2, le=8_192, description="Width of the model.")
    heads: int = Field(4, ge=1, le=128, description="Attention heads; they share the width.")
    feed_forward: int = Field(1_024, ge=1, le=65_536, description="Inner width of the feed-forward layers.")
    dropout: float = Field(0.1, ge=0, lt=1, description="Share of numbers dropped after each part while training.")
    attention_dropout: float = Field(0.0, ge=0, lt=1, description="The same, of the weights of attention.")
    inner_dropout: float = Field(0.0, ge=0, lt=1, description="The same, within the feed-forward layers.")
    norm: Norm = Field("pre", description="Normalise before each part (pre, steadier) or after it (post, as in 2017).")

    @model_validator(mode="after")
    def _heads_share_the_width(self) -> "BlockSettings":
        mistake = heads_mistake(self.width, self.heads)
        if mistake is not None:
            raise ValueError(mistake)
        return self


class FeedForward(nn.Module):
    """W₂ relu(W₁ x + b₁) + b₂, at each position alike (section 3.3)."""

    def __init__(self, settings: BlockSettings) -> None:
        super().__init__()
        self.inner = nn.Linear(settings.width, settings.feed_forward)
        self.outer = nn.Linear(settings.feed_forward, settings.width)
        self.dropout = Dropout(settings.inner_dropout)
        for layer in (self.inner, self.outer):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, states: Float[Tensor, "B S M"]) -> Float[Tensor, "B S M"]:
        """The same two layers at each position."""
        outer: Tensor = self.outer(self.dropout(torch.relu(self.inner(states))))
        return outer


class Residual(nn.Module):
    """x + part(norm(x)), or norm(x + part(x)) as in 2017; the part's result has dropout."""

    def __init__(self, settings: BlockSettings) -> None:
        super().__init__()
        self.before = settings.norm == "pre"
        self.norm = nn.LayerNorm(settings.width)
        self.dropout = Dropout(settings.dropout)

    def forward(
        self, states: Float[Tensor, "B S M"], part: Callable[[Tensor], Float[Tensor, "B S M"]]
    ) -> Float[Tensor, "B S M"]:
        """The states after one part, which is attention or feed-forward."""
        if self.before:
            added: Tensor = states + self.dropout(part(self.norm(states)))
            return added
        normed: Tensor = self.norm(states + self.dropout(part(states)))
        return normed


class EncoderBlock(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, settings: BlockSettings, layer: int) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(
            settings.width, settings.heads, dropout=settings.attention_dropout, kind="self", layer=layer
        )
        self.feed_forward = FeedForward(settings)
        self.around_attention, self.around_feed_forward = Residual(settings), Residual(settings)

    def forward(
        self, states: Float[Tensor, "B S M"], keep: Bool[Tensor, "B S"] | None, eye: Eye | None = None
    ) -> Float[Tensor, "B S M"]:
        """Every word looks at every word of its sentence."""

        def look(normed: Tensor) -> Tensor:
            return self.attention.read(normed, self.attention.prepare(normed, normed), keep, eye).context

        looked = self.around_attention(states, look)
        fed: Tensor = self.around_feed_forward(looked, self.feed_forward)
        return fed


class DecoderBlock(nn.Module):
    """Masked self-attention, cross-attention, feed-forward."""

    def __init__(self, settings: BlockSettings, layer: int) -> None:
        super().__init__()
        sizes = settings.width, settings.heads
        self.masked = MultiHeadAttention(*sizes, dropout=settings.attention_dropout, kind="masked", layer=layer)
        self.cross = MultiHeadAttention(*sizes, dropout=settings.attention_dropout, kind="cross", layer=layer)
        self.feed_forward = FeedForward(settings)
        self.around_masked, self.around_cross = Residual(settings), Residual(settings)
        self.around_feed_forward = Residual(settings)

    def forward(
        self,
        states: Float[Tensor, "B T M"],
        source: Heads,
        keep: Bool[Tensor, "B S"] | None,
        past: Past | None = None,
        seen: Bool[Tensor, "B T P"] | None = None,
        eye: Eye | None = None,
    ) -> tuple[Float[Tensor, "B T M"], Past]:
        """The states of the next steps, and the past with these steps added.

        Without `seen`, attention is causal. Padding stands on the right, where no real step can see it, so the target
        needs no mask of its own.
        """
        kept: list[Past] = []

        def look_back(normed: Tensor) -> Tensor:
            own = self.masked.prepare(normed, normed)
            kept.append(Past.of(own) if past is None else past.append(own))
            order = seen
            if seen is None and normed.shape[1] > 1:
                order = causal_keep(normed.shape[1], kept[0].length, normed.device).expand(len(normed), -1, -1)
            return self.masked.read(normed, kept[0].heads, order, eye).context

        def look_across(normed: Tensor) -> Tensor:
            return self.cross.read(normed, source, keep, eye).context

        looked_back = self.around_masked(states, look_back)
        looked = self.around_cross(looked_back, look_across)
        fed: Tensor = self.around_feed_forward(looked, self.feed_forward)
        return fed, kept[0]
