"""The classifier against formulas written out: every encoder, pooling and query; padding; hashed n-grams."""

import pytest
import references
import torch
from mechanisms import keep_first
from small_models import (
    CLASSES,
    LENGTHS,
    SOURCE,
    A,
    B,
    E,
    S,
    W,
    classifier,
    scrambled,
    sentences,
    source_batch,
    weights_of,
)

from nungil.model.classifier import FixedPooling
from nungil.model.ngrams import NgramReader, NgramSettings
from nungil.model.results import Encoded

EXACT = 1e-12
ENCODERS = ["lstm", "gru", "rnn", "transformer", "none"]
POOLINGS = [("attention", "last"), ("attention", "learned"), ("mean", None), ("max", None), ("last", None)]
MORE = {
    "two layers of LSTM": {"layers": 2, "bidirectional": False, "width": 9},
    "two blocks without positions": {"encoder": "transformer", "layers": 2, "positions": "none"},
    "general": {"score": {"name": "general"}},
    "dot": {"score": {"name": "dot"}},
    "scaled-dot": {"score": {"name": "scaled-dot"}, "encoder": "gru"},
    "concat": {"score": {"name": "concat", "size": A}, "query": "learned"},
    "location": {"score": {"name": "location", "longest": 12}},
    "coverage": {"score": {"name": "coverage", "size": A}},
    "local-p": {"score": {"name": "general", "window": "local-p", "reach": 2}},
    "n-grams": {"ngrams": {"longest": 3, "buckets": 16}},
    "n-grams alone": {"encoder": "none", "pooling": "mean", "ngrams": {"longest": 2, "buckets": 101}},
}


def check_against_the_formulas(model):
    source, keep = source_batch()
    classified = model(source, keep)
    logits, weights = classified.logits, classified.weights
    assert classified.logits.shape == (B, CLASSES)
    chosen = {**model.settings.model_dump(), "query": model.settings.asked_by}
    for row, words in enumerate(sentences(source, keep)):
        expected, looks = references.classifier(weights_of(model), chosen, words)
        assert torch.allclose(logits[row], expected, atol=EXACT, rtol=0)
        assert (weights is None) == (looks is None)
        if looks is not None:
            assert torch.allclose(weights[row, : len(words)], looks, atol=EXACT, rtol=0)
            assert (weights[row, len(words) :] == 0).all()


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize(("pooling", "query"), POOLINGS)
def test_every_encoder_with_every_pooling_equals_the_formulas(encoder, pooling, query):
    check_against_the_formulas(classifier(encoder=encoder, pooling=pooling, query=query))


@pytest.mark.parametrize("chosen", MORE.values(), ids=list(MORE))
def test_every_score_and_the_ngrams_equal_the_formulas(chosen):
    check_against_the_formulas(classifier(**chosen))


def test_post_001_by_hand():
    """BiLSTM, additive attention asked by the joined last states, relu, one score per class."""
    model = classifier()
    assert (model.settings.encoder, model.settings.score.name, model.settings.asked_by) == ("lstm", "additive", "last")
    found, (source, keep) = weights_of(model), source_batch()
    logits, weights, *_ = model(source, keep)
    for row, words in enumerate(sentences(source, keep)):
        inputs = [found["embedding.table.weight"][word] * E**0.5 for word in words]
        layer = references.under(found, "encoder.layers.0")
        forward, last_forward, _ = references.read("lstm", inputs, layer, "l0")
        backward, last_backward, _ = references.read("lstm", inputs[::-1], layer, "l0_reverse")
        states = torch.stack([torch.cat(pair) for pair in zip(forward, backward[::-1], strict=True)])
        query = torch.cat([last_forward, last_backward])
        asked = found["pooling.attention.score.query.weight"] @ query
        told = states @ found["pooling.attention.score.key.weight"].T
        scores = torch.tanh(asked + told) @ found["pooling.attention.score.vector.weight"][0]
        alpha = scores.exp() / scores.exp().sum()
        dense = found["dense.weight"] @ (alpha @ states) + found["dense.bias"]
        expected = found["output.weight"] @ dense.clamp(min=0) + found["output.bias"]
        assert torch.allclose(logits[row], expected, atol=EXACT, rtol=0)
        assert torch.allclose(weights[row, : len(words)], alpha, atol=EXACT, rtol=0)


@pytest.mark.parametrize(
    ("encoder", "asks"),
    [("lstm", "last"), ("gru", "last"), ("rnn", "last"), ("transformer", "learned"), ("none", "learned")],
)
def test_the_last_state_asks_where_there_is_one(encoder, asks):
    model = classifier(encoder=encoder)
    assert model.settings.asked_by == asks
    assert (model.pooling.query is not None) == (asks == "learned")


@pytest.mark.parametrize("encoder", ENCODERS)
def test_padding_gets_exactly_no_weight(encoder):
    source, keep = source_batch()
    weights = classifier(encoder=encoder)(source, keep).weights
    assert (weights[~keep] == 0).all()
    assert torch.allclose(weights.sum(-1), torch.ones(B, dtype=torch.float64))


def encoded_with_tempting_padding(real: float, padding: float) -> Encoded:
    keep = keep_first(LENGTHS, S)
    states = torch.where(keep[..., None], real, padding).expand(B, S, W).double()
    return Encoded(states, keep, torch.full((1, B, W), 7.0, dtype=torch.float64))


def test_the_largest_is_never_picked_from_padding():
    pooled = FixedPooling("max", recurrent=True)(encoded_with_tempting_padding(real=-3.0, padding=9.0))
    assert (pooled.vector == -3).all()
    assert pooled.weights is None


def test_the_mean_is_of_real_tokens_only():
    pooled = FixedPooling("mean", recurrent=True)(encoded_with_tempting_padding(real=-3.0, padding=9.0))
    assert torch.allclose(pooled.vector, torch.full((B, W), -3.0, dtype=torch.float64))


def reader(longest: int, buckets: int, classes: int = 3) -> NgramReader:
    return scrambled(NgramReader(NgramSettings(longest=longest, buckets=buckets), classes))


@pytest.mark.parametrize("longest", [1, 2, 5])
@pytest.mark.parametrize("buckets", [16, 100_000])
def test_the_reader_of_ngrams_equals_a_loop(longest, buckets):
    ngrams = reader(longest, buckets)
    source, keep = source_batch()
    found = ngrams(source, keep)
    for row, words in enumerate(sentences(source, keep)):
        expected = references.ngram_logits(weights_of(ngrams), words, longest, buckets)
        assert torch.allclose(found[row], expected, atol=EXACT, rtol=0)


def test_an_ngram_counts_once_however_often_it_stands_there():
    ngrams = reader(1, 100_000)
    once, often = torch.tensor([[4, 5, 0, 0]]), torch.tensor([[5, 4, 4, 5]])
    assert torch.allclose(ngrams(once, once > 0), ngrams(often, often > 0), atol=EXACT, rtol=0)


def test_what_ngrams_speak_for_is_counted_by_texts():
    """Tokens 4 and 5: of class 0 the texts "4 4" and "4", of class 1 "5 4" and of class 2 "5"."""
    ngrams = NgramReader(NgramSettings(longest=1, buckets=16), 3).double()
    source = torch.tensor([[4, 4], [4, 0], [5, 4], [5, 0]])
    ngrams.count(
        [(source[:2], source[:2] > 0, torch.tensor([0, 0])), (source[2:], source[2:] > 0, torch.tensor([1, 2]))]
    )
    four, five = references.ngram_buckets([4, 5], 1, 16)
    # 16 buckets, one text more in each; class 0 holds two n-grams, class 1 two, class 2 one
    expected = [[(3 / 18) / (2 / 19), (2 / 18) / (3 / 19), (1 / 17) / (4 / 20)]]
    expected += [[(1 / 18) / (3 / 19), (2 / 18) / (2 / 19), (2 / 17) / (2 / 20)]]
    assert torch.allclose(
        ngrams.ratios[[four, five]], torch.tensor(expected, dtype=torch.float64).log(), atol=EXACT, rtol=0
    )
    never = next(place for place in range(16) if place not in (four, five))
    assert torch.allclose(
        ngrams.ratios[never], torch.tensor([19 / 18, 19 / 18, 20 / 17], dtype=torch.float64).log(), atol=EXACT
    )


def test_before_anything_is_learned_the_ngrams_say_nothing():
    source, keep = source_batch()
    assert (NgramReader(NgramSettings(), CLASSES)(source, keep) == 0).all()


def test_ngrams_that_speak_for_nothing_leave_the_bias():
    ngrams = reader(2, 100)
    ngrams.ratios.data.zero_()
    source, keep = source_batch()
    assert torch.equal(ngrams(source, keep), ngrams.bias.expand(B, -1))


def test_the_verdict_is_the_mean_of_both_readers():
    source, keep = source_batch()
    model = classifier(ngrams={"longest": 2, "buckets": 31})
    found = model(source, keep)
    assert torch.equal(found.logits, (found.deep + found.wide) / 2)
    assert torch.equal(found.wide, model.ngrams(source, keep))
    alone = classifier()(source, keep)
    assert (alone.deep, alone.wide) == (None, None)


def test_ngrams_longer_than_every_sentence_are_none():
    ngrams, short = reader(5, 100), reader(2, 100)
    short.load_state_dict(ngrams.state_dict())
    source = torch.tensor([[4, 5]])
    keep = torch.ones(1, 2, dtype=torch.bool)
    assert torch.equal(ngrams(source, keep), short(source, keep))


def test_ngrams_know_the_order_of_neighbours_and_single_tokens_do_not():
    one, other = torch.tensor([[4, 5, 6]]), torch.tensor([[6, 5, 4]])
    keep = torch.ones(1, 3, dtype=torch.bool)
    for longest, differs in (1, False), (2, True):
        ngrams = reader(longest, 100_000)
        assert torch.allclose(ngrams(one, keep), ngrams(other, keep), atol=EXACT) != differs


def test_the_largest_ids_do_not_overflow():
    source = torch.full((1, 9), 999_999)
    buckets, real = reader(5, 100_000)._hashed(source, torch.ones(1, 9, dtype=torch.bool))
    assert (buckets >= 0).all()
    assert (buckets < 100_000).all()
    assert real.sum() == 9 + 8 + 7 + 6 + 5


def test_without_an_encoder_order_is_lost():
    model, keep = classifier(encoder="none"), torch.ones(B, S, dtype=torch.bool)
    source = torch.randint(4, SOURCE, (B, S))
    assert torch.allclose(model(source, keep).logits, model(source.flip(1), keep).logits, atol=EXACT, rtol=0)
