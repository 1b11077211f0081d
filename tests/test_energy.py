"""The tiled tanh energy equals the one line it stands for, however it is cut."""

import subprocess
import sys

import pytest
import torch

from nungil.attention import energy
from nungil.attention.energy import tanh_energy

B, T, S, A = 3, 7, 5, 11


def plain(query, keys, vector):
    return torch.tanh(query[:, :, None] + keys[:, None]) @ vector


def leaves(dtype=torch.float64):
    return [torch.randn(*shape, dtype=dtype, requires_grad=True) for shape in ((B, T, A), (B, S, A), (A,))]


@pytest.mark.parametrize("tile", [1, S * A, 2 * S * A + 1, T * S * A, 2 * T * S * A, 10**9])
def test_any_cut_equals_the_plain_formula_forward_and_backward(monkeypatch, tile):
    monkeypatch.setattr(energy, "TILE", tile)
    given = leaves()
    upstream = torch.randn(B, T, S, dtype=torch.float64)
    expected, found = plain(*given), tanh_energy(*given)
    assert torch.allclose(found, expected, atol=1e-13)
    for ours, theirs in zip(
        torch.autograd.grad(found, given, upstream), torch.autograd.grad(expected, given, upstream), strict=True
    ):
        assert torch.allclose(ours, theirs, atol=1e-13)


def test_gradcheck(monkeypatch):
    monkeypatch.setattr(energy, "TILE", 2 * S * A)
    assert torch.autograd.gradcheck(tanh_energy, leaves())


def test_bfloat16_sums_its_gradients_in_float32(monkeypatch):
    monkeypatch.setattr(energy, "TILE", A)  # one pair of steps a tile: as many partial sums as there can be
    exact = leaves()
    rough = [leaf.detach().bfloat16().requires_grad_() for leaf in exact]
    expected = torch.autograd.grad(plain(*exact).sum(), exact)
    found = torch.autograd.grad(tanh_energy(*rough).sum(), rough)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.dtype == torch.bfloat16
        assert (ours.double() - theirs).norm() / theirs.norm() < 0.01


@pytest.mark.slow
def test_batch_64_of_200_by_200_steps_at_width_512_stays_under_a_gigabyte():
    script = """
import resource, torch
from nungil.attention import Additive
score = Additive(512, 512, 512)
query, keys = torch.randn(64, 200, 512, requires_grad=True), torch.randn(64, 200, 512, requires_grad=True)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
score(query, keys).sum().backward()
assert query.grad is not None and keys.grad is not None
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(run.stdout) * 1024 < 1e9, "peak of the whole process, torch itself included"
