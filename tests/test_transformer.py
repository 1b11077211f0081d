"""The Transformer against the paper's formulas, head by head, and against torch's own layers."""

import pytest
import references
import torch
from mechanisms import keep_first
from small_models import (
    HEADS,
    LENGTHS,
    TARGET,
    B,
    F,
    S,
    T,
    W,
    scrambled,
    sentences,
    source_batch,
    step_by_step,
    target_batch,
    transformer,
    weights_of,
)
from torch import nn

from nungil.attention.dropout import Dropout
from nungil.errors import ConfigError
from nungil.model.blocks import BlockSettings, DecoderBlock, EncoderBlock
from nungil.model.embedding import sinusoids

EXACT = 1e-12
ARCHITECTURES = {
    "pre-norm": {},
    "post-norm, as in 2017": {"norm": "post"},
    "no positions": {"positions": "none"},
    "no positions, post-norm": {"positions": "none", "norm": "post"},
    "nothing tied": {"tie": "none"},
    "all tied": {"tie": "all", "joint": True, "norm": "post"},
    "joint, only the target tied": {"tie": "target", "joint": True},
    "one head, one block each": {"heads": 1, "encoder_layers": 1, "decoder_layers": 1},
    "as many heads as numbers, an odd width": {"width": 9, "heads": 9},
}
each = pytest.mark.parametrize("chosen", ARCHITECTURES.values(), ids=list(ARCHITECTURES))
each_norm = pytest.mark.parametrize("norm", ["pre", "post"])


@each
def test_equals_the_paper_sentence_by_sentence(chosen):
    model, (source, keep), target = transformer(**chosen), source_batch(), target_batch()
    logits = model.logits(model(source, keep, target).features)
    for row, words in enumerate(sentences(source, keep)):
        chosen_all = model.settings.model_dump()
        expected = references.transformer(weights_of(model), chosen_all, words, target[row].tolist())
        assert torch.allclose(logits[row], expected, atol=EXACT, rtol=0)


@each
def test_the_whole_sentence_at_once_equals_one_step_at_a_time(chosen):
    model, (source, keep), target = transformer(**chosen), source_batch(), target_batch()
    log_probs, weights = step_by_step(model, source, keep, target)
    assert weights is None
    whole = model.logits(model(source, keep, target).features).log_softmax(-1)
    assert torch.allclose(log_probs, whole, atol=EXACT, rtol=0)


def joined_projections(attention):
    parts = [attention.query, attention.key, attention.value]
    return torch.cat([part.weight for part in parts]), torch.cat([part.bias for part in parts])


def load_attention(theirs, ours):
    weight, bias = joined_projections(ours)
    theirs.in_proj_weight.copy_(weight)
    theirs.in_proj_bias.copy_(bias)
    theirs.out_proj.load_state_dict(ours.output.state_dict())


@each_norm
def test_an_encoder_block_equals_torch(norm):
    block = scrambled(EncoderBlock(BlockSettings(width=W, heads=HEADS, feed_forward=F, dropout=0, norm=norm), 0))
    theirs = nn.TransformerEncoderLayer(
        W, HEADS, F, dropout=0.0, batch_first=True, norm_first=norm == "pre", dtype=torch.float64
    )
    with torch.no_grad():
        load_attention(theirs.self_attn, block.attention)
    pairs = {
        theirs.linear1: block.feed_forward.inner,
        theirs.linear2: block.feed_forward.outer,
        theirs.norm1: block.around_attention.norm,
        theirs.norm2: block.around_feed_forward.norm,
    }
    for their_part, our_part in pairs.items():
        their_part.load_state_dict(our_part.state_dict())
    states, keep = torch.randn(B, S, W, dtype=torch.float64), keep_first(LENGTHS, S)
    expected = theirs(states, src_key_padding_mask=~keep)
    assert torch.allclose(block(states, keep)[keep], expected[keep], atol=EXACT, rtol=0)


@each_norm
def test_a_decoder_block_equals_torch(norm):
    block = scrambled(DecoderBlock(BlockSettings(width=W, heads=HEADS, feed_forward=F, dropout=0, norm=norm), 0))
    theirs = nn.TransformerDecoderLayer(
        W, HEADS, F, dropout=0.0, batch_first=True, norm_first=norm == "pre", dtype=torch.float64
    )
    with torch.no_grad():
        load_attention(theirs.self_attn, block.masked)
        load_attention(theirs.multihead_attn, block.cross)
    pairs = {
        theirs.linear1: block.feed_forward.inner,
        theirs.linear2: block.feed_forward.outer,
        theirs.norm1: block.around_masked.norm,
        theirs.norm2: block.around_cross.norm,
        theirs.norm3: block.around_feed_forward.norm,
    }
    for their_part, our_part in pairs.items():
        their_part.load_state_dict(our_part.state_dict())
    states, memory = torch.randn(B, T, W, dtype=torch.float64), torch.randn(B, S, W, dtype=torch.float64)
    keep, later = keep_first(LENGTHS, S), torch.ones(T, T, dtype=torch.bool).triu(1)
    expected = theirs(states, memory, tgt_mask=later, memory_key_padding_mask=~keep)
    found, past = block(states, block.cross.prepare(memory, memory), keep)
    assert torch.allclose(found, expected, atol=EXACT, rtol=0)
    assert past.heads.keys.shape == (B, HEADS, T, W // HEADS)


@each_norm
def test_a_decoder_block_goes_on_after_several_steps_at_once(norm):
    block = scrambled(DecoderBlock(BlockSettings(width=W, heads=HEADS, feed_forward=F, dropout=0, norm=norm), 0))
    states, memory = torch.randn(B, T, W, dtype=torch.float64), torch.randn(B, S, W, dtype=torch.float64)
    source = block.cross.prepare(memory, memory)
    whole, _ = block(states, source, None)
    first, past = block(states[:, :1], source, None)
    rest, _ = block(states[:, 1:], source, None, past)
    assert torch.allclose(torch.cat([first, rest], dim=1), whole, atol=EXACT, rtol=0)


SHARES = {"dropout": 0.2, "attention_dropout": 0.3, "inner_dropout": 0.4}


@pytest.mark.parametrize("alone", [None, *SHARES])
def test_each_dropout_is_where_it_is_said_and_by_default_where_the_paper_has_it(alone):
    shares = {"dropout": 0.1} if alone is None else {"dropout": 0.0, alone: SHARES[alone]}
    model = transformer(**shares)
    found = {name: module.share for name, module in model.named_modules() if isinstance(module, Dropout)}
    attention = {name for name in found if name.split(".")[-2] in ("attention", "masked", "cross")}
    inner = {name for name in found if name.endswith("feed_forward.dropout") and "around" not in name}
    assert len(attention) == 2 + 2 * 3
    assert len(inner) == 2 + 3
    places = {"dropout": set(found) - attention - inner, "attention_dropout": attention, "inner_dropout": inner}
    for name, own in places.items():
        assert {found[one] for one in own} == {shares.get(name, 0.0)}, name


@pytest.mark.parametrize("width", [8, 9, 1])
def test_sinusoids_are_those_of_the_formula_from_any_place(width):
    like = torch.zeros((), dtype=torch.float64)
    expected = torch.tensor([references.sinusoid(place, width) for place in range(3, 8)], dtype=torch.float64)
    assert torch.allclose(sinusoids(3, 5, width, like), expected, atol=EXACT, rtol=0)


def test_sinusoids_far_away_are_exact_in_float32():
    far = sinusoids(100_000, 1, 6, torch.zeros(()))
    assert far.dtype == torch.float32
    assert torch.allclose(far, torch.tensor([references.sinusoid(100_000, 6)]), atol=1e-6)


def test_which_matrices_are_one():
    def one(*, joint, tie=None):
        model = transformer(joint=joint, tie=tie)
        source, target = model.source_embedding.table.weight, model.target_embedding.table.weight
        return source is target, target is model.output.weight

    assert one(joint=True) == (True, True)
    assert one(joint=False) == (False, True)
    assert one(joint=True, tie="target") == (False, True)
    assert one(joint=True, tie="none") == one(joint=False, tie="none") == (False, False)


def test_two_vocabularies_cannot_be_tied_into_one():
    with pytest.raises(ConfigError) as error:
        transformer(tie="all", joint=False)
    assert str(error.value) == "model:\n- tie: all needs one vocabulary for both sides (tokenizer joint: true)"


def test_without_positions_the_order_of_source_words_is_lost():
    model, target = transformer(positions="none"), target_batch()
    source, keep = torch.randint(4, TARGET - 4, (B, S)), torch.ones(B, S, dtype=torch.bool)
    one, other = (model(words, keep, target).features for words in (source, source.flip(1)))
    assert torch.allclose(one, other, atol=EXACT, rtol=0)
    model = transformer()
    one, other = (model(words, keep, target).features for words in (source, source.flip(1)))
    assert not torch.allclose(one, other, atol=1e-3)
