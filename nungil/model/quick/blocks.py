"""The blocks of a Transformer for searching: fewer, larger products, and no eye."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from nungil.attention import Heads, MultiHeadAttention
from nungil.attention.softmax import softmax
from nungil.model.blocks import DecoderBlock, EncoderBlock, FeedForward, Residual
from nungil.model.past import Past
from nungil.model.quick.product import Product

# Sizes   B sentences   H heads   T steps, or hypotheses of a beam   S steps to look at   M width   D of a head
# N rows, B × T   R real ones   mask: 0 where a step may be seen, −∞ where not


class Places:
    """Where the real tokens of a batch stand. Only attention needs padding; all other products run without it."""

    def __init__(self, keep: Bool[Tensor, "B S"]) -> None:
        self.sentences, self.full = len(keep), bool(keep.all())
        self.real = keep.flatten().nonzero()[:, 0]
        self.nearest = (keep.flatten().cumsum(0) - 1).clamp_(min=0)  # each place's real token, or the last before it

    def gather(self, rows: Float[Tensor, "N X"]) -> Float[Tensor, "R X"]:
        """The rows of real tokens only."""
        return rows if self.full else rows.index_select(0, self.real)

    def spread(self, rows: Float[Tensor, "R X"]) -> Float[Tensor, "N X"]:
        """Rows of real tokens back at their places. Padding gets a copy of some real row, which attention masks."""
        return rows if self.full else rows.index_select(0, self.nearest)


class QuickAttention:
    """Multi-head attention over given heads. The factor 1/√D is folded into the query's weights."""

    def __init__(self, attention: MultiHeadAttention, kind: torch.dtype | None) -> None:
        self.heads = attention.num_heads
        scale = (attention.d_model // attention.num_heads) ** -0.5
        self.query = _scaled(attention.query, scale)
        self.output = Product.of(attention.output, kind=kind)

    def split(self, rows: Float[Tensor, "N M"], sentences: int) -> Float[Tensor, "B H T D"]:
        """Rows cut into heads."""
        return rows.view(sentences, -1, self.heads, rows.shape[1] // self.heads).transpose(1, 2)

    def read(
        self, query: Float[Tensor, "N M"], heads: Heads, mask: Float[Tensor, "B 1 #T S"] | None
    ) -> Float[Tensor, "N M"]:
        """The context, before the output projection."""
        B, H, S, D = heads.keys.shape
        query_LTD = self.split(query, B).reshape(B * H, -1, D)
        turned_LDS = heads.keys.reshape(B * H, S, D).transpose(1, 2)
        if mask is None:
            scores_LTS = torch.bmm(query_LTD, turned_LDS)
        else:
            scores_LTS = torch.baddbmm(mask.expand(B, H, -1, -1).flatten(0, 1), query_LTD, turned_LDS)
        context_LTD = torch.bmm(softmax(scores_LTS), heads.values.reshape(B * H, S, D))
        return context_LTD.view(B, H, -1, D).transpose(1, 2).reshape(len(query), H * D)


class QuickResidual:
    """The norm before a part or after it. The part itself adds the residual."""

    def __init__(self, around: Residual) -> None:
        self.before, self.norm = around.before, around.norm

    def begin(self, states: Float[Tensor, "N M"]) -> Float[Tensor, "N M"]:
        """The input of the part."""
        return _normed(self.norm, states) if self.before else states

    def end(self, added: Float[Tensor, "N M"]) -> Float[Tensor, "N M"]:
        """The states after the part, residual included."""
        return added if self.before else _normed(self.norm, added)


class QuickFeedForward:
    """W₂ relu(W₁ x + b₁) + b₂, with its residual and norm."""

    def __init__(self, part: FeedForward, around: Residual, kind: torch.dtype | None) -> None:
        self.inner, self.outer = Product.of(part.inner, kind=kind), Product.of(part.outer, kind=kind)
        self.around = QuickResidual(around)

    def __call__(self, states: Float[Tensor, "N M"]) -> Float[Tensor, "N M"]:
        """Applied to each row."""
        return self.around.end(self.outer.plus(self.inner(self.around.begin(states), relu=True), states))


class QuickEncoderBlock:
    """Self-attention, then feed-forward."""

    def __init__(self, block: EncoderBlock, kind: torch.dtype | None) -> None:
        self.attention = QuickAttention(block.attention, kind)
        self.around = QuickResidual(block.around_attention)
        self.project = _joined(self.attention, block.attention, kind)
        self.feed = QuickFeedForward(block.feed_forward, block.around_feed_forward, kind)

    def __call__(
        self, states: Float[Tensor, "R M"], places: Places, mask: Float[Tensor, "B 1 1 S"] | None
    ) -> Float[Tensor, "R M"]:
        """Every word looks at every word of its sentence."""
        projected = places.spread(self.project(self.around.begin(states)))
        query, keys, values = (self.attention.split(part, places.sentences) for part in projected.chunk(3, dim=1))
        read_BHSD = nn.functional.scaled_dot_product_attention(query, keys, values, attn_mask=mask, scale=1.0)
        read = places.gather(read_BHSD.transpose(1, 2).flatten(0, 1).flatten(1))
        return self.feed(self.around.end(self.attention.output.plus(read, states)))


class QuickDecoderBlock:
    """Masked self-attention, cross-attention, feed-forward."""

    def __init__(self, block: DecoderBlock, kind: torch.dtype | None) -> None:
        self.masked, self.cross = QuickAttention(block.masked, kind), QuickAttention(block.cross, kind)
        self.around_masked = QuickResidual(block.around_masked)
        self.around_cross = QuickResidual(block.around_cross)
        self.project = _joined(self.masked, block.masked, kind)
        self.ask = Product(*self.cross.query, kind)
        self.source = Product.of(block.cross.key, block.cross.value, kind=kind)
        self.feed = QuickFeedForward(block.feed_forward, block.around_feed_forward, kind)

    def prepare(self, states: Float[Tensor, "R M"], places: Places) -> Heads:
        """Keys and values of the source, made once."""
        keys, values = places.spread(self.source(states)).chunk(2, dim=1)
        return Heads(*(self.cross.split(part, places.sentences) for part in (keys, values))).contiguous()

    def __call__(
        self,
        states: Float[Tensor, "N M"],
        source: Heads,
        mask: Float[Tensor, "B 1 1 S"] | None,
        past: Past | None,
        seen: Float[Tensor, "B 1 T P"] | None,
    ) -> tuple[Float[Tensor, "N M"], Past]:
        """One step of every row, and the past with it."""
        B = len(source.keys)
        query, keys, values = self.project(self.around_masked.begin(states)).chunk(3, dim=1)
        own = Heads(self.masked.split(keys, B), self.masked.split(values, B))
        kept = Past.of(own) if past is None else past.append(own)
        read = self.masked.read(query, kept.heads, seen)
        states = self.around_masked.end(self.masked.output.plus(read, states))
        read = self.cross.read(self.ask(self.around_cross.begin(states)), source, mask)
        states = self.around_cross.end(self.cross.output.plus(read, states))
        return self.feed(states), kept


def _scaled(layer: nn.Linear, scale: float) -> tuple[Tensor, Tensor | None]:
    return layer.weight.detach() * scale, None if layer.bias is None else layer.bias.detach() * scale


def _joined(attention: QuickAttention, own: MultiHeadAttention, kind: torch.dtype | None) -> Product:
    """Query, keys and values as one product."""
    weight, bias = attention.query
    weights = torch.cat([weight, own.key.weight, own.value.weight])
    return Product(weights, None if bias is None else torch.cat([bias, own.key.bias, own.value.bias]), kind)


def _normed(norm: nn.LayerNorm, states: Tensor) -> Tensor:
    return nn.functional.layer_norm(states, norm.normalized_shape, norm.weight, norm.bias, norm.eps)
