"""The loss over a vocabulary, in pieces: equal to torch's own, value and gradient, however it is cut."""

import pytest
import torch
from torch.nn.functional import cross_entropy, kl_div

from nungil.training import vocabulary
from nungil.training.vocabulary import vocabulary_loss

N, F, V = 23, 7, 31  # words, width, vocabulary


def parts():
    features, weight, bias = torch.randn(N, F), torch.randn(V, F), torch.randn(V)
    return [part.double().requires_grad_() for part in (features, weight, bias)], torch.randint(0, V, (N,))


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.7])
@pytest.mark.parametrize(("words", "at_a_time"), [(1, 1), (5, 4), (23, 6), (100, 100)])
def test_value_and_gradient_equal_torchs_however_it_is_cut(smoothing, words, at_a_time, monkeypatch):
    monkeypatch.setattr(vocabulary, "PIECE", words * V)
    monkeypatch.setattr(vocabulary, "BLOCK", at_a_time * V)
    (features, weight, bias), right = parts()
    ours = vocabulary_loss(features, weight, bias, right, smoothing)
    logits = features @ weight.T + bias
    theirs = cross_entropy(logits, right, label_smoothing=smoothing, reduction="sum")
    assert ours.total.item() == pytest.approx(theirs.item(), rel=1e-13)
    assert ours.plain.item() == pytest.approx(cross_entropy(logits, right, reduction="sum").item(), rel=1e-13)
    assert ours.right.item() == (logits.argmax(dim=-1) == right).sum().item()
    inputs = (features, weight, bias)
    for own, other in zip(
        torch.autograd.grad(ours.total * 3, inputs), torch.autograd.grad(theirs * 3, inputs), strict=True
    ):
        assert torch.allclose(own, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("words", "at_a_time"), [(1, 1), (6, 4), (100, 100)])
def test_two_readings_of_a_word_are_held_to_each_other(words, at_a_time, monkeypatch):
    monkeypatch.setattr(vocabulary, "PIECE", words * V)
    monkeypatch.setattr(vocabulary, "BLOCK", at_a_time * V)
    (features, weight, bias), right = parts()
    twos, again = features[:-1], right[: N // 2].repeat_interleave(2)
    ours = vocabulary_loss(twos, weight, bias, again, smoothing=0.1, agreement=3.0)
    logits = twos @ weight.T + bias
    first, second = logits[0::2].log_softmax(dim=-1), logits[1::2].log_softmax(dim=-1)
    apart = sum(
        kl_div(one, other, log_target=True, reduction="sum") for one, other in ((first, second), (second, first))
    )
    theirs = cross_entropy(logits, again, label_smoothing=0.1, reduction="sum") + 3.0 * apart / 2
    assert ours.total.item() == pytest.approx(theirs.item(), rel=1e-13)
    assert ours.plain.item() == pytest.approx(cross_entropy(logits, again, reduction="sum").item(), rel=1e-13)
    inputs = (features, weight, bias)
    for own, other in zip(torch.autograd.grad(ours.total, inputs), torch.autograd.grad(theirs, inputs), strict=True):
        assert torch.allclose(own, other, rtol=0, atol=1e-12)


def test_large_scores_do_not_overflow():
    (features, weight, bias), right = parts()
    loss = vocabulary_loss(features * 1e4, weight, bias, right)
    assert torch.isfinite(loss.total)
    assert all(torch.isfinite(grad).all() for grad in torch.autograd.grad(loss.total, (features, weight, bias)))


def test_without_a_gradient_nothing_is_kept_for_one():
    (features, weight, bias), right = parts()
    with torch.no_grad():
        loss = vocabulary_loss(features, weight, bias, right)
    assert not loss.total.requires_grad
    assert not vocabulary_loss(features, weight, bias, right).plain.requires_grad
