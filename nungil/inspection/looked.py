"""Lenses that are made of attention itself: raw weights, their value norms, their rollout."""

import torch
from jaxtyping import Float
from torch import Tensor

from nungil.attention.eye import Look
from nungil.attention.multihead import MultiHeadAttention
from nungil.errors import UsageError
from nungil.inspection.example import Example
from nungil.inspection.lensmap import POOLED, LensMap
from nungil.inspection.record import READING
from nungil.inspection.watching import View, Watcher, view_of, watch
from nungil.model.classifier import AttentionClassifier
from nungil.model.encoders import TransformerEncoder
from nungil.model.transformer import TransformerTranslator

# Sizes   H heads   T target steps   S source steps   D width of a value   M width after the projection of the output


def raw(example: Example, layer: int | None = None, head: int | None = None) -> LensMap:
    """The weights as they are."""
    watcher = watch(example)
    view = view_of(watcher, layer, head)
    weights = view.of(watcher.weights(view.kind, view.layer))
    return lens_map(example, "raw", weights, f"the weight of each {example.unit} in the sum that is read", str(view))


def value_norm(example: Example, layer: int | None = None, head: int | None = None) -> LensMap:
    """‖α f(x)‖ of Kobayashi et al. (2020), eq. 4: a word that is looked at, but has next to nothing to say, is pale.

    With heads, f is the value and then its part of the output projection, and their vectors are added up over the
    heads; without, f(x) is the state that is read. Each row is divided by its sum.
    """
    watcher = watch(example)
    view = view_of(watcher, layer, head)
    shares = norm_shares(example, watcher, view)
    measures = (
        f"the length of what each {example.unit} adds to the sum that is read, as a share of the row (Kobayashi 2020)"
    )
    return lens_map(example, "value-norm", shares, measures, view.named("sum"))


def norm_shares(example: Example, watcher: Watcher, view: View) -> Float[Tensor, "T S"]:
    """The lengths of what is added for each word, divided by their sum in each row."""
    look = watcher.looks[view.kind, view.layer][0]
    weights_HTS = watcher.weights(view.kind, view.layer)
    vectors_HSM = _spoken(example, look, view)
    if view.head is not None:
        weights_HTS, vectors_HSM = weights_HTS[view.head, None], vectors_HSM[view.head, None]
    lengths = torch.stack([torch.einsum("hs,hsm->sm", row, vectors_HSM).norm(dim=-1) for row in weights_HTS.unbind(1)])
    sums = lengths.sum(dim=-1, keepdim=True)
    return lengths / torch.where(sums > 0, sums, 1.0)


def _spoken(example: Example, look: Look, view: View) -> Float[Tensor, "H S M"]:
    """What each word would give, looked at with all the weight."""
    values = look.values[0]
    if values.dim() == 2:
        return values[None]
    attention = _module(example, view)
    outward_HMD = attention.output.weight.detach().view(attention.d_model, attention.num_heads, -1).transpose(0, 1)
    return torch.einsum("hmd,hsd->hsm", outward_HMD, values)


def _module(example: Example, view: View) -> MultiHeadAttention:
    if not isinstance(example.model, TransformerTranslator):
        raise TypeError("only a Transformer looks across with several heads")
    attention = example.model.blocks[view.layer].cross
    if not isinstance(attention, MultiHeadAttention):
        raise TypeError("a block of a decoder has cross-attention")
    return attention


def rollout(example: Example, layer: int | None = None, head: int | None = None) -> LensMap:
    """Attention rollout, Abnar and Zuidema (2020), carried over to a decoder. Heads are averaged.

    An encoder layer leaves half of a state where it was and takes the other half from where it looks: E ← (½A + ½I)E.
    A decoder keeps two accounts of its states, what is of the words written so far (W, which begins as I) and what is
    of the source (R, from nothing). Masked attention M: both ← (½M + ½I) of both. Cross-attention C: R ← ½R + ½C·E and
    W ← ½W. The map is R; a row of it and of W sum to 1 together.
    """
    if layer is not None or head is not None:
        raise UsageError("rollout goes through all layers and heads: leave layer and head out")
    why = rollout_missing(example)
    if why is not None:
        raise UsageError(f"this model has no rollout: {why}")
    watcher = watch(example)
    read = rolled_encoder(watcher, len(example.source))
    if isinstance(example.model, AttentionClassifier):
        rolled = watcher.weights("pooling", 0)[0] @ read
        notes: tuple[str, ...] = ()
    else:
        rolled = rolled_decoder(watcher, read, example.steps)
        kept = 1 - rolled.sum(dim=-1)
        notes = (f"The rest of each row, {float(kept.mean()):.2f}, went to the words written before it.",)
    measures = (
        f"the share of each {example.unit} after all layers, if each keeps half of what it had (Abnar and Zuidema 2020)"
    )
    return lens_map(example, "rollout", rolled, measures, "all layers · mean over heads", notes)


def rollout_missing(example: Example) -> str | None:
    """Why rollout means nothing for a model, if it does."""
    if not isinstance(example.model.encoder, TransformerEncoder):
        return "its encoder does not attend, so there are no layers of weights to multiply; its raw weights are all"
    if isinstance(example.model, AttentionClassifier) and example.model.settings.pooling != "attention":
        return f"it pools by {example.model.settings.pooling}, not by attention"
    return None


def rolled_encoder(watcher: Watcher, size: int) -> Float[Tensor, "S S"]:
    """What each state of the encoder holds of each word."""
    rolled: Tensor | None = None
    for layer in watcher.layers("self"):
        mixed = half_kept(watcher.weights("self", layer).mean(dim=0))
        rolled = mixed if rolled is None else mixed @ rolled
    return torch.eye(size) if rolled is None else rolled


def rolled_decoder(watcher: Watcher, read: Float[Tensor, "S S"], steps: int) -> Float[Tensor, "T S"]:
    """What each state of the decoder holds of each word of the source."""
    rolled = read.new_zeros(steps, len(read))
    for layer in watcher.layers("cross"):
        rolled = half_kept(watcher.weights("masked", layer).mean(dim=0)) @ rolled
        rolled = (rolled + watcher.weights("cross", layer).mean(dim=0) @ read) / 2
    return rolled


def half_kept(weights: Float[Tensor, "S S"]) -> Float[Tensor, "S S"]:
    """½A + ½I: the residual connection as attention to itself."""
    return (weights + torch.eye(len(weights), dtype=weights.dtype)) / 2


def lens_map(
    example: Example,
    lens: str,
    values: Float[Tensor, "T S"],
    measures: str,
    where: str = "the whole model",
    notes: tuple[str, ...] = (),
) -> LensMap:
    """A map with the tokens of its example."""
    return LensMap(
        lens,
        example.written_tokens,
        example.source_tokens,
        values.double().numpy(),
        measures,
        where,
        reading=READING if example.translates else POOLED,
        notes=notes,
        output=example.text_of(example.written),
    )
