"""What holds of every mechanism it is true of, on shapes and masks found by hypothesis."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import MECHANISMS, ONE_WIDTH, READS_ANY_ORDER, SUMS_TO_ONE, A, B, Q, S, T, build, inputs, keep_first
from torch import Tensor

from nungil.attention import Attention, Dot, General, LocalM, LocalP, Look, MultiHeadAttention, attend

names = st.sampled_from(sorted(MECHANISMS))
seeds = st.integers(0, 2**31)


@st.composite
def sentences(draw, of=names):
    """A mechanism with a batch of its own, and a keep mask: right padding, at least one real step each."""
    torch.manual_seed(draw(seeds))
    name = draw(of)
    b, t, s = draw(st.tuples(st.integers(1, 4), st.integers(1, 6), st.integers(1, 19)))
    lengths = draw(st.lists(st.integers(1, s), min_size=b, max_size=b))
    return name, build(name), inputs(name, b=b, t=t, s=s), keep_first(lengths, s)


@given(sentences(st.sampled_from(SUMS_TO_ONE)))
def test_weights_sum_to_one_over_the_kept_steps(sentence):
    _, score, (query, keys, values), keep = sentence
    _, weights = Attention(score)(query, keys, values, keep)
    assert torch.allclose((weights * keep[:, None]).sum(-1), torch.ones((), dtype=torch.float64))
    assert (weights >= 0).all()


@given(sentences(st.sampled_from(["local-p", "local-p of additive"])))
def test_local_p_sums_to_at_most_one(sentence):
    _, score, (query, keys, values), keep = sentence
    _, weights = Attention(score)(query, keys, values, keep)
    assert (weights.sum(-1) <= 1 + 1e-12).all()
    assert (weights.sum(-1) > 0).all()


@given(sentences())
def test_padding_gets_exactly_no_weight(sentence):
    _, score, (query, keys, values), keep = sentence
    _, weights = Attention(score)(query, keys, values, keep)
    assert (weights.masked_select(~keep[:, None].expand_as(weights)) == 0).all()


@given(sentences(), seeds)
def test_what_stands_in_the_padding_changes_nothing(sentence, seed):
    _, score, (query, keys, values), keep = sentence
    torch.manual_seed(seed)
    other_keys = torch.where(keep[..., None], keys, torch.randn_like(keys) * 100)
    other_values = torch.where(keep[..., None], values, torch.randn_like(values) * 100)
    one, other = Attention(score)(query, keys, values, keep), Attention(score)(query, other_keys, other_values, keep)
    assert torch.equal(one.context, other.context)


@given(sentences(), st.integers(1, 5))
def test_more_padding_changes_nothing(sentence, more):
    name, score, (query, keys, values), keep = sentence
    if name == "location" and keys.shape[1] + more > 19:
        more = 0  # Location has no rows for longer sentences
    wider = [torch.cat([part, torch.randn(part.shape[0], more, part.shape[2])], dim=1) for part in (keys, values)]
    padded = torch.cat([keep, torch.zeros(keep.shape[0], more, dtype=torch.bool)], dim=1)
    one, other = Attention(score)(query, keys, values, keep), Attention(score)(query, *wider, padded)
    assert torch.allclose(one.context, other.context, atol=1e-12)


@given(sentences(st.sampled_from(READS_ANY_ORDER)), st.randoms(use_true_random=False))
def test_reordering_keys_with_their_values_changes_nothing(sentence, random):
    _, score, (query, keys, values), keep = sentence
    order = list(range(keys.shape[1]))
    random.shuffle(order)
    one = Attention(score)(query, keys, values, keep)
    other = Attention(score)(query, keys[:, order], values[:, order], keep[:, order])
    assert torch.allclose(one.context, other.context, atol=1e-12)
    assert torch.allclose(one.weights[:, :, order], other.weights, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name not in READS_ANY_ORDER])
def test_order_matters_to_location_windows_and_coverage(name):
    score, (query, keys, values) = build(name), inputs(name)
    coverage = torch.rand(B, S, dtype=torch.float64).sort(dim=-1).values
    one = Attention(score)(query, keys, values, coverage=coverage)
    other = Attention(score)(query, keys.flip(1), values.flip(1), coverage=coverage)
    assert not torch.allclose(one.context, other.context, atol=1e-3)


@given(sentences(st.just("location")), seeds)
def test_location_ignores_keys(sentence, seed):
    _, score, (query, keys, _), _ = sentence
    torch.manual_seed(seed)
    assert torch.equal(score(query, keys), score(query, torch.randn_like(keys)))


@given(sentences(st.just("general")), st.integers(1, 6), st.integers(0, 25))
def test_local_m_gives_zero_outside_its_window(sentence, reach, position):
    _, score, (query, keys, _), keep = sentence
    _, weights = Attention(LocalM(score, reach))(query, keys, keep=keep, position=position)
    for row, length in enumerate(keep.sum(-1).tolist()):
        for step in range(query.shape[1]):
            centre = min(position + step, length - 1)
            inside = [s for s in range(keys.shape[1]) if abs(s - centre) <= reach and s < length]
            assert weights[row, step].nonzero().flatten().tolist() == inside


@given(sentences(st.just("general")), st.integers(1, 6))
def test_local_p_gives_zero_outside_its_window(sentence, reach):
    _, score, (query, keys, _), keep = sentence
    local = LocalP(score, Q, reach).double()
    memory = local.prepare(keys, keep)
    centre = local.centre(query, memory, 0)
    _, weights = Attention(local)(query, keys, keep=keep)
    distance = (torch.arange(keys.shape[1]) - centre[..., None]).abs()
    inside = (distance <= reach) & keep[:, None]
    assert torch.equal(weights > 0, inside)
    assert inside.any(-1).all(), "a window never falls on nothing but padding"


@given(sentences())
def test_all_steps_at_once_equals_one_step_at_a_time(sentence):
    _, score, (query, keys, values), keep = sentence
    attention = Attention(score)
    whole = attention(query, keys, values, keep)
    memory, coverage = attention.prepare(keys, keep), torch.zeros_like(keys[..., 0])
    for t in range(query.shape[1]):
        context, weights = attention(query[:, t, None], memory, values, position=t, coverage=coverage)
        assert torch.allclose(context, whole.context[:, t, None], atol=1e-12)
        assert torch.allclose(weights, whole.weights[:, t, None], atol=1e-12)
        coverage = coverage + weights.sum(dim=1)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_one_step_at_a_time_in_the_precisions_of_training(name, dtype):
    attention, (query, keys, values) = Attention(build(name, dtype)), inputs(name, dtype)
    whole = attention(query, keys, values)
    coverage = torch.zeros_like(keys[..., 0])
    for t in range(T):
        _, weights = attention(query[:, t, None], keys, values, position=t, coverage=coverage)
        assert torch.allclose(weights, whole.weights[:, t, None], atol=1e-6 if dtype == torch.float32 else 1e-2)
        coverage = coverage + weights.sum(dim=1)


def test_coverage_walks_to_the_bit():
    """Coverage is walked step by step in any case: the arithmetic is the same, so are the bits."""
    attention, (query, keys, values) = Attention(build("coverage", torch.float32)), inputs("coverage", torch.float32)
    whole = attention(query, keys, values)
    coverage = torch.zeros_like(keys[..., 0])
    for t in range(T):
        context, weights = attention(query[:, t, None], keys, values, position=t, coverage=coverage)
        assert torch.equal(weights, whole.weights[:, t, None])
        assert torch.equal(context, whole.context[:, t, None])
        coverage = coverage + weights.sum(dim=1)


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mask_for_each_target_step(name):
    attention, (query, keys, values) = Attention(build(name)), inputs(name)
    keep = torch.stack([keep_first([5, 3], S), keep_first([2, 4], S), keep_first([1, 5], S)], dim=1)
    whole = attention(query, keys, values, keep)
    coverage = torch.zeros_like(keys[..., 0])
    for t in range(T):
        step = attention(query[:, t, None], keys, values, keep[:, t], position=t, coverage=coverage)
        assert torch.allclose(step.weights, whole.weights[:, t, None], atol=1e-12)
        coverage = coverage + step.weights.sum(dim=1)


@pytest.mark.parametrize("name", MECHANISMS)
def test_gradients_against_finite_differences(name):
    attention, (query, keys, values) = Attention(build(name)), inputs(name)
    keep = keep_first([4, 5], S)
    parameters = dict(attention.named_parameters())

    def run(query: Tensor, keys: Tensor, values: Tensor, *numbers: Tensor) -> Tensor:
        named = dict(zip(parameters, numbers, strict=True))
        return torch.func.functional_call(attention, named, (query, keys, values, keep)).context

    leaves = [leaf.detach().clone().requires_grad_() for leaf in (query, keys, values, *parameters.values())]
    assert torch.autograd.gradcheck(run, leaves, fast_mode=True)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_every_precision_runs_forward_and_backward(name, dtype):
    attention, (query, keys, values) = Attention(build(name, dtype)), inputs(name, dtype)
    query.requires_grad_()
    context, weights = attention(query, keys, values, keep_first([3, 5], S))
    context.sum().backward()
    assert context.dtype == weights.dtype == query.grad.dtype == dtype
    assert query.grad.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in attention.parameters())


@pytest.mark.parametrize("name", MECHANISMS)
def test_bfloat16_autocast_runs_forward_and_backward(name):
    attention, (query, keys, values) = Attention(build(name, torch.float32)), inputs(name, torch.float32)
    exact = attention(query.requires_grad_(), keys, values)
    with torch.autocast("cpu", torch.bfloat16):
        rough = attention(query, keys, values)
        rough.context.float().sum().backward()
    assert torch.allclose(rough.weights.float(), exact.weights, atol=0.05)


def test_local_p_counts_beyond_256_steps_in_bfloat16():
    score = LocalP(Dot(), 2, reach=1)
    torch.nn.init.constant_(score.outer.weight, 0.0)  # the centre is the middle: 1,001 / 2
    memory = score.bfloat16().prepare(torch.ones(1, 1001, 2, dtype=torch.bfloat16))
    assert score.centre(torch.ones(1, 1, 2, dtype=torch.bfloat16), memory, 0).item() == 500.5


class Recorder:
    def __init__(self):
        self.looks: list[Look] = []

    def __call__(self, look: Look) -> Tensor:
        self.looks.append(look)
        return look.weights


@pytest.mark.parametrize("name", MECHANISMS)
def test_an_eye_sees_what_was_attended_and_changes_nothing(name):
    attention, (query, keys, values) = Attention(build(name), kind="pooling", layer=4), inputs(name)
    recorder, keep = Recorder(), keep_first([3, 5], S)
    seen, unseen = attention(query, keys, values, keep, eye=recorder), attention(query, keys, values, keep)
    assert torch.equal(seen.context, unseen.context)
    assert torch.equal(torch.cat([look.weights for look in recorder.looks], dim=1), seen.weights)
    assert {(look.kind, look.layer) for look in recorder.looks} == {("pooling", 4)}
    assert torch.equal(recorder.looks[0].values, values)


@pytest.mark.parametrize("name", MECHANISMS)
def test_an_eye_can_put_other_weights_in_their_place(name):
    attention, (query, keys, values) = Attention(build(name)), inputs(name)
    context, _ = attention(query, keys, values, eye=lambda look: torch.full_like(look.weights, 1 / S))
    assert torch.allclose(context, values.mean(dim=1, keepdim=True).expand(-1, T, -1))


class OnlyFirst(Recorder):
    """Puts all weight on the first source step, whatever the scores."""

    def __call__(self, look: Look) -> Tensor:
        super().__call__(look)
        return torch.zeros_like(look.weights).index_fill(-1, torch.tensor([0]), 1.0)


def test_coverage_follows_the_weights_an_eye_put_in():
    attention, (query, keys, values) = Attention(build("coverage")), inputs("coverage")
    eye = OnlyFirst()
    attention(query, keys, values, eye=eye)
    before = torch.zeros(B, S, dtype=torch.float64)
    before[:, 0] = 2
    assert torch.equal(eye.looks[2].scores, attention.score(query[:, 2:], keys, coverage=before))


def test_values_default_to_the_keys():
    attention, (query, keys, _) = Attention(build("general")), inputs("general")
    assert torch.equal(attention(query, keys).context, attention(query, keys, keys).context)


def test_attend_takes_heads_too():
    scores, values = torch.randn(B, A, T, S), torch.randn(B, A, S, Q)
    keep = keep_first([2, 5], S)
    context, weights = attend(scores, values, keep)
    for head in range(A):
        one = attend(scores[:, head], values[:, head], keep)
        assert torch.allclose(one.context, context[:, head], atol=1e-6)
    assert weights.shape == (B, A, T, S)


def test_one_width_mechanisms_are_the_ones_without_parameters():
    assert {name for name in MECHANISMS if not list(build(name).parameters())} == set(ONE_WIDTH)
    assert list(General(2, 3).parameters())
    assert len(list(MultiHeadAttention(6, 2).parameters())) == 8
