"""The most probable token, found by whole numbers and decided in single precision: that of the exact scores."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some
from small_models import TARGET, B, recurrent, source_batch, transformer
from torch import nn

from nungil.decoding.native import Native
from nungil.decoding.settings import SearchSettings
from nungil.model.quick import build, likeliest
from nungil.model.quick.likeliest import Likeliest
from nungil.model.quick.product import Product
from nungil.text.tokenizers.base import EOS, PAD, SOS

N, F, V = 5, 48, 1_037  # of which the last block is not full
quick_way = pytest.mark.skipif(
    not Likeliest.suits(nn.Linear(F, V)), reason="this processor has no products of whole numbers in 32 bits (VNNI)"
)


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(3)


def as_it_is(scores):
    return scores


def must_not(*_):
    pytest.fail("every score was computed")


def made(layer, exact=must_not):
    return Likeliest(layer, exact)


def expected(layer, features, hidden=()):
    """In double precision."""
    bias = 0.0 if layer.bias is None else layer.bias.double()
    scores = features.double() @ layer.weight.double().T + bias
    scores[:, list(hidden)] = -math.inf
    return scores.argmax(dim=1)


@quick_way
@torch.inference_mode()
@pytest.mark.parametrize("bias", [True, False])
def test_it_is_the_token_of_the_highest_score(bias):
    layer, features = nn.Linear(F, V, bias=bias), torch.randn(N, F) * 3
    assert torch.equal(made(layer)(features, as_it_is), expected(layer, features))


@quick_way
@torch.inference_mode()
def test_tokens_that_whole_numbers_cannot_tell_apart_are_told_apart():
    layer, features = nn.Linear(F, V), torch.randn(97, F) * 3
    best = expected(layer, features)
    for copy in range(7):  # each nearer to the best one of some row than whole numbers can see
        other = copy + 7 * torch.arange(97)
        layer.weight[other] = layer.weight[best] + 1e-4 * torch.randn(97, F)
        layer.bias[other] = layer.bias[best]
    ready = made(layer)
    roughly, _ = ready.roughly(features)
    right = expected(layer, features)
    assert int((roughly.argmax(dim=1) != right).sum()) > 20, "whole numbers alone would be wrong"
    assert torch.equal(ready(features, as_it_is), right)


def all_rounded_one_way():
    """Two tokens and a feature of ±1: every weight of the better one is rounded down, of the other one up."""
    layer, signs = nn.Linear(257, V, bias=False), 1 - 2 * (torch.arange(257) % 2)
    layer.weight.mul_(1e-3)
    better, other = (signs * units / 127 for units in (10.498, 10.502))
    better[1] += 3 * signs[1] / 127  # so that it is the better one, after all
    for row in (better, other):
        row[0] = signs[0]  # the largest, by which the others are measured
    layer.weight[900], layer.weight[20] = better, other
    return layer, signs[None].float()


@quick_way
@torch.inference_mode()
def test_errors_that_all_point_the_wrong_way_are_foreseen():
    layer, features = all_rounded_one_way()
    ready, right = made(layer), expected(layer, features)
    roughly, bound = ready.roughly(features)
    assert right.tolist() == [900]
    assert roughly[0, 20] - roughly[0, 900] > 1.9 * bound[0, 0], "by nearly as much as is possible"
    assert torch.equal(ready(features, as_it_is), right)


@quick_way
@torch.inference_mode()
def test_the_token_of_the_largest_weights_counts_for_the_bound_of_all():
    layer, features = all_rounded_one_way()
    layer, features = nn.Linear(257, V, bias=False), layer.weight[900:901] * 0 + layer.weight[20:21]
    layer.weight.mul_(1e-6)
    layer.weight[7] = features[0].sign()  # whole, so that all that is lost is lost by the feature
    exact = features.double() @ layer.weight.double().T
    roughly, bound = made(layer).roughly(features)
    assert abs(roughly[0, 7] - exact[0, 7]) > 0.9 * bound[0, 0]
    assert abs(roughly[0, 7] - exact[0, 7]) <= bound[0, 0]


@quick_way
@torch.inference_mode()
@pytest.mark.parametrize("size", [1e-30, 1e-20, 1e20, 1e30])
def test_features_may_be_of_any_size(size):
    layer, features = nn.Linear(F, V, bias=False), torch.randn(N, F) * size
    roughly, bound = made(layer).roughly(features)
    exact = features.double() @ layer.weight.double().T
    assert bool(((roughly[:, :V] - exact).abs() <= bound).all())
    assert torch.equal(made(layer)(features, as_it_is), expected(layer, features))


@quick_way
@torch.inference_mode()
def test_what_a_large_bias_rounds_away_is_in_the_bound():
    layer, features = nn.Linear(F, V), torch.randn(N, F)
    layer.bias.mul_(1e8)
    layer.bias[5] = -math.inf
    roughly, bound = made(layer).roughly(features)
    exact = features.double() @ layer.weight.double().T + layer.bias.double()
    off = (roughly[:, :V] - exact).abs()
    off[:, 5] = 0.0
    assert bool((off <= bound).all())
    assert float(bound.max()) < 1e4


@quick_way
@torch.inference_mode()
def test_after_some_steps_in_vain_it_is_not_tried_any_more(monkeypatch):
    layer, alike, computed = nn.Linear(F, V), torch.zeros(N, F), []
    layer.bias.fill_(0.5)
    ready = made(layer, lambda rows: computed.append(rows) or Product.of(layer)(rows))
    monkeypatch.setattr(likeliest, "PATIENCE", 2)
    for _ in range(2):
        ready(alike, as_it_is)
        ready(torch.randn(N, F), as_it_is)  # one that is not in vain begins the count anew
    assert len(computed) == 2
    for _ in range(3):
        ready(alike, as_it_is)
    monkeypatch.setattr(ready, "product", None)  # that is not asked now
    features = torch.randn(N, F)
    assert torch.equal(ready(features, as_it_is), expected(layer, features))


@quick_way
@torch.inference_mode()
@given(
    seed=some.integers(0, 2**31),
    size=some.floats(-3, 3),
    spread=some.floats(0, 2),
    bias=some.booleans(),
    whole=some.sampled_from(["features", "weights", "neither"]),
)
@settings(max_examples=40, deadline=None)
def test_no_score_is_farther_off_than_its_bound(seed, size, spread, bias, whole):
    draw = torch.Generator().manual_seed(seed)
    layer = nn.Linear(F, V, bias=bias)
    layer.weight.copy_(torch.randn(V, F, generator=draw) * torch.exp(spread * torch.randn(V, 1, generator=draw)))
    features = torch.randn(N, F, generator=draw) * 10**size * torch.exp(spread * torch.randn(N, F, generator=draw))
    if whole == "features":  # so that all that is lost is lost by the others
        features.sign_().mul_(127)
    if whole == "weights":
        layer.weight.sign_()
    roughly, bound = made(layer).roughly(features)
    exact = features.double() @ layer.weight.double().T + (layer.bias.double() if bias else 0.0)
    assert bool(((roughly[:, :V] - exact).abs() <= bound).all())
    assert bool((roughly[:, V:] == -math.inf).all())
    largest = layer.weight.norm(dim=1).max() * features.norm(dim=1, keepdim=True)
    assert bool((bound <= 0.1 * largest).all()), "a bound that is never wrong should still tell something"


@quick_way
@torch.inference_mode()
def test_what_is_hidden_is_never_chosen():
    layer, features = nn.Linear(F, V), torch.randn(N, F)
    hidden = {int(token) for token in expected(layer, features)}

    def hide(scores):
        scores[:, list(hidden)] = -math.inf
        scores[2, :40] = scores[2, 41:] = -math.inf  # in this row one token alone is left
        return scores

    right = expected(layer, features, hidden)
    right[2] = 40
    assert torch.equal(made(layer)(features, hide), right)


@quick_way
@torch.inference_mode()
def test_where_too_many_tokens_are_alike_or_none_is_left_every_score_is_computed():
    layer, features, computed = nn.Linear(F, V), torch.randn(N, F), []

    def counted(exact):
        return lambda rows: computed.append(len(rows)) or exact(rows)

    ready = made(layer, counted(Product.of(layer)))
    assert torch.equal(ready(torch.zeros(N, F), as_it_is), layer.bias.argmax().expand(N))
    assert computed == []
    layer.bias.fill_(0.5)
    ready = made(layer, counted(Product.of(layer)))
    assert ready(torch.zeros(N, F), as_it_is).tolist() == [0] * N  # the first of equals
    assert computed == [N]
    assert ready(features, lambda scores: scores.fill_(-math.inf)).tolist() == [0] * N
    assert ready(features.fill_(math.nan), as_it_is).tolist() == [0] * N
    assert computed == [N] * 3


@quick_way
@torch.inference_mode()
def test_a_row_that_has_nothing_left_takes_nothing_that_is_hidden():
    layer, features = nn.Linear(F, V), torch.randn(2 * V // likeliest.MANY, F)  # so many that no row is too much

    def hide(scores):
        scores[3] = -math.inf
        return scores

    right = expected(layer, features)
    right[3] = 0
    assert torch.equal(made(layer, Product.of(layer))(features, hide), right)


@quick_way
@torch.inference_mode()
def test_the_first_of_equals_is_taken():
    layer, features = nn.Linear(F, V), torch.randn(N, F)
    best = expected(layer, features)
    layer.weight[-N:], layer.bias[-N:] = layer.weight[best], layer.bias[best]
    assert torch.equal(made(layer)(features, as_it_is), best)


MODELS = {
    "transformer": transformer,
    "luong": lambda: recurrent(input_feeding=True),
    "bahdanau": lambda: recurrent(decoder="bahdanau", cell="gru"),
    "plain": lambda: recurrent(decoder="plain"),
}
RULES = {
    "none": {},
    "shortest": {"shortest": 6},
    "no word twice": {"no_repeat": 1, "shortest": 4},
}


@quick_way
@pytest.mark.parametrize("rules", RULES.values(), ids=list(RULES))
@pytest.mark.parametrize("make", MODELS.values(), ids=list(MODELS))
def test_greedy_search_without_scores_finds_the_same(make, rules, monkeypatch):
    monkeypatch.setattr(likeliest, "FEWEST", 1)
    model, (source, keep) = make().float().eval(), source_batch()
    sources = [row[real].tolist() for row, real in zip(source, keep, strict=True)]
    prefixes = [[], [7, 5], [9, EOS]]
    picked, pick = [], Likeliest.__call__
    monkeypatch.setattr(Likeliest, "__call__", lambda *given: picked.append(given) or pick(*given))
    for begun in (None, prefixes):
        search = SearchSettings(beam=1, **rules)
        told = Native(model).search(sources, [9, 3, 7], search, begun)
        assert not picked
        untold = Native(model).search(sources, [9, 3, 7], search.model_copy(update={"scores": False}), begun)
        assert picked
        picked.clear()
        for (found,), (other,) in zip(untold, told, strict=True):
            assert (found.ids, found.finished) == (other.ids, other.finished)
            assert math.isnan(found.score)
            assert math.isnan(found.log_probability)
            assert found.log_probabilities == []
    assert len({tuple(found.ids) for (found,) in told}) == B
    assert not {PAD, SOS, EOS} & {token for (found,) in told for token in found.ids}


@pytest.mark.parametrize("precision", ["fp32", "bf16", "int8"])
def test_where_it_does_not_suit_scores_are_left_out_too(precision, monkeypatch):
    monkeypatch.setattr(Likeliest, "__call__", must_not)
    model = transformer().float().eval()
    assert TARGET < likeliest.FEWEST
    told, untold = (
        Native(model).search([[5, 6, 7], [8]], [5, 6], SearchSettings(beam=1, precision=precision, scores=scores))
        for scores in (True, False)
    )
    assert [one.ids for (one,) in told] == [one.ids for (one,) in untold]
    assert all(math.isnan(one.score) for (one,) in untold)


@pytest.mark.parametrize("chosen", [{"beam": 2}, {"sample": True}], ids=["beam", "drawn"])
def test_who_ranks_or_draws_by_scores_tells_them(chosen, monkeypatch):
    monkeypatch.setattr(likeliest, "FEWEST", 1)
    monkeypatch.setattr(Likeliest, "__call__", must_not)
    model, asked = recurrent().float().eval(), ([[5, 6, 7], [8]], [5, 6])
    told, untold = (Native(model).search(*asked, SearchSettings(scores=scores, **chosen)) for scores in (True, False))
    assert [one.score for (one,) in untold] == [one.score for (one,) in told]
    assert not any(math.isnan(one.score) for (one,) in told)


@quick_way
def test_shorter_products_have_no_need_of_it():
    model = transformer().float().eval()
    model.output = nn.Linear(model.output.in_features, V)
    assert build.quick(model).picks
    assert not build.quick(model, "bf16").picks
    assert not build.quick(model, "int8").picks
    assert not build.quick(model.double()).picks
