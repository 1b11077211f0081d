"""The quick translators equal the models they are made of, step by step, alone, together and in a beam."""

import copy
import os
import subprocess
import sys
import weakref

import pytest
import torch
from small_models import TARGET, TRANSLATORS, B, recurrent, source_batch, target_batch, transformer
from torch import nn

from nungil.decoding.native import Native
from nungil.decoding.settings import SearchSettings
from nungil.model.quick import build, product
from nungil.model.quick.build import Ready, quick
from nungil.model.quick.product import Product, lays_out
from nungil.text.tokenizers.base import SOS

SLOW = {"luong, coverage", "luong, local-m", "bahdanau, coverage"}  # where a step is not the same wherever it stands
QUICK = [name for name in TRANSLATORS if name not in SLOW]
BEAM = 4
MORE = {
    "lstm, two layers, fed": lambda: recurrent(input_feeding=True, decoder_layers=2),
    "lstm, bahdanau": lambda: recurrent(decoder="bahdanau", decoder_layers=2),
    "gru, plain, not tied": lambda: recurrent(decoder="plain", cell="gru", decoder_layers=2),
    "rnn, two layers": lambda: recurrent(cell="rnn", decoder_layers=2, tie=False),
}
ALL = {**{name: TRANSLATORS[name] for name in QUICK}, **MORE}


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(3)


@pytest.fixture(params=ALL)
def model(request):
    return ALL[request.param]().eval()


def walked(stepper, source, keep, target, eye=None):
    """The logits of some given steps."""
    state, logits = stepper.start(source, keep, eye), []
    for t in range(target.shape[1]):
        stepped = stepper.step(target[:, t], state, eye)
        state = stepped.state
        logits.append(stepped.logits)
    return torch.stack(logits, dim=1)


@torch.inference_mode()
def test_every_step_equals_that_of_the_model(model):
    source, keep = source_batch()
    target = target_batch()
    found = walked(quick(model), source, keep, target)
    torch.testing.assert_close(found, walked(model, source, keep, target), rtol=1e-10, atol=1e-10)
    whole = model.logits(model(source, keep, target).features)
    torch.testing.assert_close(found, whole, rtol=1e-10, atol=1e-10)


@torch.inference_mode()
def test_alone_or_together_every_step_is_the_same(model):
    source, keep = source_batch()
    target, ready = target_batch(), quick(model)
    together = walked(ready, source, keep, target)
    for row in range(B):
        own = source[row : row + 1, keep[row]]
        alone = walked(ready, own, torch.ones_like(own, dtype=torch.bool), target[row : row + 1])
        torch.testing.assert_close(alone[0], together[row], rtol=1e-10, atol=1e-10)


@torch.inference_mode()
def test_a_beam_goes_on_from_the_same_states(model):
    source, keep = source_batch()
    sentences, rows = torch.tensor([2, 0]), torch.tensor([9, 11, 8, 8, 0, 3, 1, 3])
    answers = []
    for stepper in (quick(model), model):
        torch.manual_seed(4)
        state = stepper.step(torch.full((B,), SOS), stepper.start(source, keep)).state.spread(BEAM)
        stepped = stepper.step(torch.randint(4, TARGET, (B * BEAM,)), state)
        again = stepper.step(torch.randint(4, TARGET, (B * BEAM,)), stepped.state.regroup(torch.arange(B * BEAM)))
        fewer = stepper.step(torch.randint(4, TARGET, (len(rows),)), again.state.regroup(rows, sentences))
        answers.append(torch.cat([stepped.logits, again.logits, fewer.logits]))
    torch.testing.assert_close(*answers, rtol=1e-10, atol=1e-10)


@torch.inference_mode()
def test_those_that_are_left_go_on_as_before(model):
    source, keep = source_batch()
    target, ready, left = target_batch(), quick(model), torch.tensor([2, 1])
    whole = walked(ready, source, keep, target)
    state = ready.step(target[:, 0], ready.start(source, keep)).state.select(left)
    torch.testing.assert_close(ready.step(target[left, 1], state).logits, whole[left, 1], rtol=1e-10, atol=1e-10)


@torch.inference_mode()
def test_an_eye_sees_what_it_sees_of_the_model_and_may_come_at_any_step(model):
    source, keep = source_batch()
    target, seen = target_batch(), []

    def eye(look):
        seen.append(look.weights)
        return look.weights.square()  # padding stays at nothing

    expected = walked(model, source, keep, target, eye)
    looks, seen[:] = list(seen), []
    torch.testing.assert_close(walked(quick(model), source, keep, target, eye), expected, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(seen, looks, rtol=1e-10, atol=1e-10)
    ready, answers = quick(model), []
    for stepper in (ready, model):
        state = stepper.step(target[:, 0], stepper.start(source, keep)).state.spread(BEAM)
        answers.append(stepper.step(target[:, 1].repeat_interleave(BEAM), state, eye).logits)
    torch.testing.assert_close(*answers, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("tokens", [0, 10_000])
@torch.inference_mode()
def test_in_single_precision_it_is_as_exact(model, tokens):
    model = model.float()
    source, keep = source_batch()
    target = target_batch()
    found = walked(quick(model, tokens=tokens), source, keep, target)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, walked(model, source, keep, target), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("precision", ["bf16", "int8"])
@torch.inference_mode()
def test_products_are_shortened_where_that_is_asked_for(model, precision):
    model = model.float()
    for parameter in model.parameters():
        parameter.data.mul_(0.5)
    source, keep = source_batch()
    target = target_batch()
    found, expected = walked(quick(model, precision), source, keep, target), walked(model, source, keep, target)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, expected, rtol=0, atol=0.1)
    assert not torch.allclose(found, expected, rtol=0, atol=1e-5)


def test_it_is_made_only_where_it_equals():
    for name in SLOW:
        assert quick(TRANSLATORS[name]().eval()) is None
    assert quick(transformer().train()) is None
    assert quick(recurrent().train()) is None
    assert quick(nn.Linear(2, 3)) is None


@torch.inference_mode()
def test_far_places_have_their_waves_too(monkeypatch):
    source, keep = source_batch()
    target, model = target_batch(), transformer().eval()
    expected = walked(quick(model), source, keep, target)
    monkeypatch.setattr("nungil.model.quick.transformer.PLACES", 2)
    torch.testing.assert_close(walked(quick(model), source, keep, target), expected, rtol=0, atol=0)


@pytest.mark.parametrize("beam", [1, 3])
def test_a_search_finds_the_same_with_it(model, beam, monkeypatch):
    source, keep = source_batch()
    sources = [row[real].tolist() for row, real in zip(source, keep, strict=True)]
    settings, made = SearchSettings(beam=beam, n_best=beam), []
    monkeypatch.setattr(build, "quick", lambda *_: None)
    expected = Native(model).search(sources, [5, 3, 7], settings)
    monkeypatch.setattr(build, "quick", lambda *given: made.append(quick(*given)) or made[-1])
    found = Native(model).search(sources, [5, 3, 7], settings)
    assert len(made) == 1
    for ours, theirs in zip(found, expected, strict=True):
        assert [(one.ids, one.finished) for one in ours] == [(one.ids, one.finished) for one in theirs]
        assert [one.score for one in ours] == pytest.approx([one.score for one in theirs], abs=1e-9)


def test_who_counts_attention_has_the_model_itself(monkeypatch):
    monkeypatch.setattr(build, "quick", lambda *_: pytest.fail("a quick model shows no attention"))
    settings = SearchSettings(beam=2, coverage_penalty=0.5)
    assert Native(transformer().eval()).search([[5, 6, 7]], [4], settings)


def test_it_is_kept_until_a_weight_changes_or_it_is_wanted_otherwise():
    model = recurrent().eval()
    ready, many = Ready(model), 10_000
    few = ready.made_for("fp32", 0)
    first = ready.made_for("fp32", many)
    assert first is not few  # for so few tokens no table is made
    assert ready.made_for("fp32", many) is first
    assert ready.made_for("fp32", 0) is first  # but one that is there serves them too
    assert ready.made_for("int8", many) is not first
    assert ready.made_for("fp32", many) is not first  # only one is kept
    assert Ready(nn.Linear(2, 3)).made_for("fp32", many) is None
    assert Ready(object()).made_for("fp32", many) is None
    model.train()
    assert ready.made_for("fp32", many) is None


def test_a_change_that_leaves_every_sum_is_seen_too():
    model = transformer().eval()
    ready = Ready(model)
    first = ready.made_for("fp32", 0)
    with torch.no_grad():
        model.output.weight.copy_(model.output.weight.flip(0))
    assert ready.made_for("fp32", 0) is not first


def test_there_are_never_two_of_them(monkeypatch):
    ready = Ready(transformer().float().eval())
    first, alive = weakref.ref(ready.made_for("fp32", 0)), []
    monkeypatch.setattr(build, "quick", lambda *given: alive.append(first()) or quick(*given))
    ready.made_for("bf16", 0)
    assert alive == [None]


def test_who_was_made_ready_can_be_copied():
    ready = Ready(transformer().float().eval())
    ready.made_for("fp32", 0)
    other = copy.deepcopy(ready)
    assert other.model is not ready.model
    assert other.made_for("fp32", 0) is not None


def test_another_number_of_threads_makes_nothing_anew():
    ready, before = Ready(recurrent(embedding=512, width=514).float().eval()), torch.get_num_threads()
    try:
        made = []
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            made.append(ready.made_for("fp32", 0))
    finally:
        torch.set_num_threads(before)
    assert made[0] is made[1] is made[2]


@pytest.mark.parametrize("fused", [False, True])
def test_what_has_learned_since_is_made_ready_anew(fused):
    source, keep = source_batch()
    sources = [row[real].tolist() for row, real in zip(source, keep, strict=True)]
    model, settings = transformer(), SearchSettings(beam=1, shortest=5, longest=5)
    engine, optimizer = Native(model.eval()), torch.optim.AdamW(model.parameters(), lr=0.1, fused=fused)
    before = engine.search(sources, [5] * B, settings)
    model(source, keep, target_batch()).features.square().sum().backward()
    optimizer.step()
    after = engine.search(sources, [5] * B, settings)
    assert after == Native(model).search(sources, [5] * B, settings)
    assert [one.score for (one,) in after] != [one.score for (one,) in before]


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize("bias", [True, False])
def test_a_product_is_that_of_its_layers_side_by_side(kind, bias):
    layers = [nn.Linear(5, width, bias=bias).to(kind) for width in (3, 7)]
    inputs, others = torch.randn(4, 5, dtype=kind), torch.randn(4, 10, dtype=kind)
    with torch.inference_mode():
        expected, ready = torch.cat([layer(inputs) for layer in layers], dim=1), Product.of(*layers)
        torch.testing.assert_close(ready(inputs), expected)
        torch.testing.assert_close(ready(inputs, relu=True), expected.relu())
        torch.testing.assert_close(ready.plus(inputs, others), expected + others)
        assert (ready(inputs) < 0).any()


@pytest.mark.parametrize("bias", [True, False])
def test_a_product_of_whole_numbers_is_near_and_measures_every_row_by_itself(bias):
    layers = [nn.Linear(50, width, bias=bias) for width in (30, 7)]
    inputs, others = torch.randn(4, 50) * torch.tensor([[1e-3], [1.0], [1e3], [0.0]]), torch.randn(4, 37)
    with torch.inference_mode():
        layers[0].weight[3] = 0.0
        layers[1].weight *= 1e3
        exact, ready = torch.cat([layer(inputs) for layer in layers], dim=1), Product.of(*layers, kind=torch.int8)
        found = ready(inputs)
        unit = inputs.norm(dim=1)[:, None] * torch.cat([layer.weight.norm(dim=1) for layer in layers])
        assert ((found - exact).abs() <= 0.01 * unit + 1e-6).all()
        assert not torch.allclose(found, exact, rtol=1e-5)
        assert torch.equal(found[3], exact[3])  # of a row of nothing, the bias is left
        torch.testing.assert_close(ready(inputs, relu=True), found.relu(), rtol=0, atol=0)
        torch.testing.assert_close(ready.plus(inputs, others), found + others, rtol=0, atol=0)


def test_without_vnni_weights_are_small_enough_that_no_sum_overflows(monkeypatch):
    monkeypatch.setattr(product, "has_wide_sums", lambda: False)
    layer, inputs = nn.Linear(50, 3, bias=False), torch.full((4, 50), 0.7)
    with torch.inference_mode():
        layer.weight.fill_(0.3)
        ready = Product.of(layer, kind=torch.int8)
        assert 2 * 255 * 0.3 / ready.multiply.measure_O.max() < 2**15  # two of the largest products, in sixteen bits
        torch.testing.assert_close(ready(inputs), layer(inputs), rtol=0.01, atol=0)


@pytest.mark.skipif(not product.has_wide_sums(), reason="this processor adds up whole numbers in 16 bits anyway")
def test_onednn_may_be_told_to_do_without_vnni():
    asked = "from nungil.model.quick.product import has_wide_sums; print(has_wide_sums())"
    told = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"}
    found = subprocess.run([sys.executable, "-c", asked], env=told, capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"


def test_without_onednn_whole_numbers_are_not_used(monkeypatch):
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    layer, inputs = nn.Linear(5, 3), torch.randn(4, 5)
    with torch.inference_mode():
        torch.testing.assert_close(Product.of(layer, kind=torch.int8)(inputs), layer(inputs))


def test_a_processor_that_onednn_has_no_bfloat16_for_has_torchs_own_products(monkeypatch):
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: False)
    monkeypatch.setattr(torch.ops.mkldnn, "_reorder_linear_weight", lambda _: pytest.fail("oneDNN would refuse it"))
    layer, inputs = nn.Linear(5, 3), torch.randn(4, 5)
    with torch.inference_mode():
        found = Product.of(layer, kind=torch.bfloat16)(inputs)
        torch.testing.assert_close(found, layer(inputs), rtol=0, atol=0.05)


@pytest.mark.parametrize("width", [96, 1_024])
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.int8])
def test_a_row_comes_to_the_same_digits_whatever_rows_stand_beside_it(kind, width):
    """So that a sentence alone is translated as the same sentence in any batch is, in shorter numbers too."""
    layer, inputs = nn.Linear(width, 75), torch.randn(70, width)
    if not lays_out(layer.weight, kind):
        pytest.skip("without oneDNN's products of this kind, torch multiplies as it likes")
    with torch.inference_mode():
        ready = Product.of(layer, kind=kind)
        together = ready(inputs)
        for size in (1, 2, 3, 7, 16, 33, 64):
            assert torch.equal(ready(inputs[:size].contiguous()), together[:size])
            assert torch.equal(ready(inputs[-size:].contiguous()), together[-size:])


@pytest.mark.parametrize(("precision", "close"), [("fp32", 1e-5), ("bf16", 0.01), ("int8", 0.01)])
def test_a_sentence_alone_is_found_as_in_any_batch(model, precision, close):
    model.float()
    engine, settings = Native(model), SearchSettings(beam=3, precision=precision)
    sources = [[5 + (7 * row + place) % 5 for place in range(2 + row % 5)] for row in range(23)]
    together = engine.search(sources, [6] * len(sources), settings)
    for source, (found,) in zip(sources, together, strict=True):
        ((alone,),) = engine.search([source], [6], settings)
        assert (alone.ids, alone.finished) == (found.ids, found.finished)
        assert alone.score == pytest.approx(found.score, abs=close)
