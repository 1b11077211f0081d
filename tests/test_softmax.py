"""Softmax over rows of every length: equal to torch's own, value and gradient."""

import math

import pytest
import torch

from nungil.attention.softmax import LONG, SHORT, softmax

B, H, T = 2, 3, 5  # all different, and from every length
LENGTHS = [1, 7, SHORT - 1, SHORT, SHORT + 7, LONG - 1, LONG, LONG + 3]


@pytest.mark.parametrize("S", LENGTHS)
def test_weights_and_gradients_equal_torchs(S):
    scores = (9 * torch.randn(B, H, T, S, dtype=torch.float64)).requires_grad_()
    factors = torch.randn(B, H, T, S, dtype=torch.float64)
    own, other = softmax(scores), scores.softmax(dim=-1)
    assert torch.allclose(own, other, rtol=0, atol=1e-15)
    assert torch.allclose(softmax(scores.detach()), other, rtol=0, atol=1e-15)
    mine, yours = (torch.autograd.grad((weights * factors).sum(), scores)[0] for weights in (own, other))
    assert torch.allclose(mine, yours, rtol=0, atol=1e-14)


@pytest.mark.parametrize("S", [S for S in LENGTHS if S > 1])
def test_large_scores_do_not_overflow_and_what_is_hidden_gets_nothing(S):
    scores = torch.full((B, S), 1e30)
    scores[0, 0], scores[1, 1:] = -math.inf, -math.inf
    weights = softmax(scores)
    assert weights[0, 0] == 0
    assert torch.allclose(weights[0, 1:], torch.full((S - 1,), 1 / (S - 1)))
    assert weights[1].tolist() == [1.0] + [0.0] * (S - 1)


@pytest.mark.parametrize("S", LENGTHS)
def test_bfloat16_stays_bfloat16_and_is_as_near_as_it_can_be(S):
    scores = torch.randn(B, T, S).bfloat16()
    assert softmax(scores).dtype == torch.bfloat16
    assert torch.allclose(softmax(scores).float(), scores.float().softmax(dim=-1), rtol=2**-8, atol=0)


@pytest.mark.parametrize("S", LENGTHS)
def test_bfloat16_has_the_gradient_of_single_precision(S):
    scores = torch.randn(B, T, S).bfloat16().requires_grad_()
    factors = torch.randn(B, T, S)
    full = scores.detach().float().requires_grad_()
    (own,) = torch.autograd.grad((softmax(scores).float() * factors).sum(), scores)
    (other,) = torch.autograd.grad((full.softmax(dim=-1) * factors).sum(), full)
    assert torch.allclose(own.float(), other, rtol=0, atol=2**-6 * float(other.abs().max()))
