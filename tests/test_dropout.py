"""Dropout: the right share, the right scale, the same for the same seed, and a gradient where numbers stayed."""

import pytest
import torch

from nungil.attention.dropout import Dropout, cheap_mask

SHAPE = (7, 11, 13)  # 1,001 numbers: not a multiple of four


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.9])
def test_a_mask_drops_its_share_and_keeps_the_mean(share):
    numbers = Dropout(share)(torch.ones(1_000, 1_003))
    dropped = (numbers == 0).double().mean().item()
    assert dropped == pytest.approx(share, abs=0.002)
    assert numbers.double().mean().item() == pytest.approx(1, abs=0.005)
    kept = numbers[numbers != 0].unique()
    assert len(kept) == 1
    assert kept.item() == pytest.approx(1 / (1 - share), rel=1e-6)


def test_neighbours_are_dropped_independently():
    dropped = (cheap_mask(torch.Size([1_000_000]), 0.3) == 0).double()
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


def test_a_share_that_is_no_number_of_256ths_is_met_all_the_same():
    torch.manual_seed(5)
    dropped = torch.stack([cheap_mask(torch.Size([1_024]), 0.001) == 0 for _ in range(4_096)]).double()
    assert dropped.mean().item() == pytest.approx(0.001, rel=0.05)  # 4 million draws: six times their spread


@pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.bfloat16])
def test_numbers_that_stay_are_scaled_and_nothing_else(kind):
    numbers = torch.tensor([1.0, -2.5, 0.0, -0.0, float("inf"), 3e-3]).repeat(200).to(kind)
    dropped = Dropout(0.5)(numbers)
    stayed = dropped != 0
    assert torch.equal(dropped[stayed], 2 * numbers[stayed])
    assert 0.3 < stayed.double().mean() < 0.7
