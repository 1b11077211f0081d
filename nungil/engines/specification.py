"""Converts a Transformer to CTranslate2's specification of a model."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nungil.attention import MultiHeadAttention
from nungil.batches.batch import Marks
from nungil.engines.library import library
from nungil.errors import UsageError, as_typed
from nungil.model.blocks import DecoderBlock, EncoderBlock, FeedForward
from nungil.model.embedding import sinusoids
from nungil.model.transformer import TransformerTranslator
from nungil.pipeline import Classifier, Translator
from nungil.text.tokenizers.base import EOS, PAD, SOS, UNK

NEVER = -1e4  # added to the scores of `<pad>` and `<sos>`: probability 0, but within the range of float16


class Written(NamedTuple):
    """How a converted model is addressed."""

    source: list[str]  # a name for each id, all different
    target: list[str]
    marks: Marks  # what CTranslate2 adds around a source; `none` if it has its marks already
    positions: int  # tokens that a sentence may have


def transformer_of(folder: str | Path, model: Translator | Classifier) -> tuple[Translator, TransformerTranslator]:
    """A translator and its Transformer; other models are refused with advice."""
    if isinstance(model, Translator):
        if isinstance(model.model, TransformerTranslator):
            return model, model.model
        what = "a recurrent translator"
        instead = (
            f"nungil translate {as_typed(folder)} runs it; to have a Transformer, nungil train --model transformer"
        )
    else:
        what, instead = "a classifier", f"nungil classify {as_typed(folder)} runs it"
    raise UsageError(f"{folder} holds {what}, and CTranslate2 runs only Transformers that translate; {instead}")


def specification(model: TransformerTranslator, written: Written) -> Any:
    """The specification of a model. Weights are copied, because CTranslate2 quantizes in place."""
    settings = model.settings
    layers = settings.encoder_layers, settings.decoder_layers
    found = library().specs.TransformerSpec.from_config(layers, settings.heads, pre_norm=settings.norm == "pre")
    encoder, decoder = found.encoder, found.decoder
    encoder.embeddings[0].weight = numbers(model.source_embedding.table.weight)
    decoder.embeddings.weight = numbers(model.target_embedding.table.weight)
    table = _positions(model, written.positions)
    encoder.position_encodings.encodings = decoder.position_encodings.encodings = table
    for theirs, block in zip(encoder.layer, model.encoder.blocks, strict=True):
        _encoder_block(theirs, block)
    for theirs, block in zip(decoder.layer, model.blocks, strict=True):
        _decoder_block(theirs, block)
    if settings.norm == "pre":
        _norm(encoder.layer_norm, model.encoder.norm)
        _norm(decoder.layer_norm, model.norm)
    _linear(decoder.projection, model.output)
    decoder.projection.bias[[PAD, SOS]] += NEVER  # our own search never writes them either
    _names(found, written)
    found.config.layer_norm_epsilon = nn.LayerNorm(1).eps
    return found


def save(found: Any, folder: str, compute: str) -> None:
    """Write a specification as the files that CTranslate2 loads."""
    found.validate()
    found.optimize(quantization=compute)
    found.save(folder)


def numbers(tensor: Tensor) -> NDArray[np.float32]:
    """A copy of some weights."""
    return tensor.detach().to("cpu", torch.float32).numpy().copy()


def _positions(model: TransformerTranslator, count: int) -> NDArray[np.float32]:
    """The table of positions, since CTranslate2's own sinusoids differ."""
    width = model.settings.width
    if model.settings.positions == "none":
        return np.zeros((count, width), dtype=np.float32)
    return numbers(sinusoids(0, count, width, torch.empty(0)))


def _names(found: Any, written: Written) -> None:
    found.register_source_vocabulary(written.source)
    found.register_target_vocabulary(written.target)
    found.config.unk_token, found.config.eos_token = written.target[UNK], written.target[EOS]
    found.config.bos_token = found.config.decoder_start_token = written.target[SOS]
    found.config.add_source_bos = written.marks == "both"
    found.config.add_source_eos = written.marks in ("both", "eos")


def _encoder_block(theirs: Any, block: nn.Module) -> None:
    if not isinstance(block, EncoderBlock):
        raise TypeError("a Transformer's encoder has encoder blocks")
    _norm(theirs.self_attention.layer_norm, block.around_attention.norm)
    _self_attention(theirs.self_attention, block.attention)
    _norm(theirs.ffn.layer_norm, block.around_feed_forward.norm)
    _feed_forward(theirs.ffn, block.feed_forward)


def _decoder_block(theirs: Any, block: nn.Module) -> None:
    if not isinstance(block, DecoderBlock):
        raise TypeError("a Transformer's decoder has decoder blocks")
    _norm(theirs.self_attention.layer_norm, block.around_masked.norm)
    _self_attention(theirs.self_attention, block.masked)
    _norm(theirs.attention.layer_norm, block.around_cross.norm)
    _linear(theirs.attention.linear[0], block.cross.query)
    _linear(theirs.attention.linear[1], block.cross.key, block.cross.value)
    _linear(theirs.attention.linear[2], block.cross.output)
    _norm(theirs.ffn.layer_norm, block.around_feed_forward.norm)
    _feed_forward(theirs.ffn, block.feed_forward)


def _self_attention(theirs: Any, attention: MultiHeadAttention) -> None:
    _linear(theirs.linear[0], attention.query, attention.key, attention.value)
    _linear(theirs.linear[1], attention.output)


def _feed_forward(theirs: Any, ours: FeedForward) -> None:
    _linear(theirs.linear_0, ours.inner)
    _linear(theirs.linear_1, ours.outer)


def _linear(theirs: Any, *ours: nn.Linear) -> None:
    """One layer, or several with the same input joined into one."""
    theirs.weight = np.concatenate([numbers(one.weight) for one in ours])
    theirs.bias = np.concatenate([numbers(one.bias) for one in ours])


def _norm(theirs: Any, ours: nn.Module) -> None:
    if not isinstance(ours, nn.LayerNorm):
        raise TypeError("a norm is a LayerNorm")
    theirs.gamma, theirs.beta = numbers(ours.weight), numbers(ours.bias)
