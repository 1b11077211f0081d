"""Dropout: the right share, the right scale, the same for the same seed, and a gradient where numbers stayed."""

import pytest
import torch

from nungil.attention.dropout import Dropout, cheap_mask

SHAPE = (7, 11, 13)  # 1,001 numbers: not a multiple of four


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.9])
def test_a_mask_drops_its_share_and_keeps_the_mean(share):
    mask = cheap_mask(torch.empty(1_000, 1_003), share)
    dropped = (mask == 0).double().mean().item()
    assert dropped == pytest.approx(share, abs=0.002)
    assert mask.double().mean().item() == pytest.approx(1, abs=0.005)
    kept = mask[mask != 0].unique()
    assert len(kept) == 1
    assert kept.item() == pytest.approx(1 / (1 - share), rel=1e-4)


def test_neighbours_are_dropped_independently():
    dropped = (cheap_mask(torch.empty(1_000_000), 0.3) == 0).double()
    for distance in (1, 2, 3, 4, 8, 1_000):
        both = (dropped[:-distance] * dropped[distance:]).mean().item()
        assert both == pytest.approx(0.09, abs=0.002)


def test_the_seed_of_torch_decides_and_each_call_is_another():
    layer, numbers = Dropout(0.4), torch.ones(SHAPE)
    torch.manual_seed(3)
    first, second = layer(numbers), layer(numbers)
    torch.manual_seed(3)
    assert torch.equal(layer(numbers), first)
    assert not torch.equal(first, second)


def test_the_gradient_goes_where_numbers_stayed():
    numbers = torch.randn(SHAPE, dtype=torch.float64, requires_grad=True)
    dropped = Dropout(0.5)(numbers)
    dropped.sum().backward()
    assert torch.equal(numbers.grad, (dropped / numbers).detach())


def test_nothing_happens_outside_of_training_or_without_a_share():
    numbers = torch.randn(SHAPE)
    assert Dropout(0.5).eval()(numbers) is numbers
    assert Dropout(0.0)(numbers) is numbers


def test_a_share_of_a_view_is_of_its_own_shape():
    turned = torch.ones(5, 3, 2).transpose(0, 2)
    assert Dropout(0.5)(turned).shape == (2, 3, 5)
    assert Dropout(0.5)(turned.bfloat16()).dtype == torch.bfloat16
