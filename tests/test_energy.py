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
    """3,000 slopes of about 1: summed in bfloat16, which counts to 256, they would come to a tenth of that."""
    steps, width = 3_000, 2
    monkeypatch.setattr(energy, "TILE", width)  # one pair of steps a tile: as many partial sums as there can be
    query, keys = torch.full((1, steps, width), 0.01), torch.zeros(1, 1, width)
    rough = [leaf.bfloat16().requires_grad_() for leaf in (query, keys, torch.ones(width))]
    _, grad_keys, _ = torch.autograd.grad(tanh_energy(*rough).sum(), rough)
    assert grad_keys.dtype == torch.bfloat16
    assert torch.allclose(grad_keys.float(), torch.full((1, 1, width), float(steps)), rtol=0.01)


def test_with_coverage_equals_the_plain_formula_forward_and_backward(monkeypatch):
    monkeypatch.setattr(energy, "TILE", 2 * S * A)
    query, keys, vector = leaves()
    covered = torch.rand(B, S, dtype=torch.float64, requires_grad=True)
    rate = torch.randn(A, dtype=torch.float64, requires_grad=True)
    given = [query, keys, vector, covered, rate]
    expected = plain(query, keys + covered[..., None] * rate, vector)
    found = tanh_energy(query, keys, vector, (covered, rate))
    assert torch.allclose(found, expected, atol=1e-13)
    upstream = torch.randn(B, T, S, dtype=torch.float64)
    for ours, theirs in zip(
        torch.autograd.grad(found, given, upstream), torch.autograd.grad(expected, given, upstream), strict=True
    ):
        assert torch.allclose(ours, theirs, atol=1e-13)


def test_memory_of_another_type_than_the_query():
    """A memory prepared outside autocast is read inside it."""
    query, keys, vector = leaves(torch.float32)
    tanh_energy(query.bfloat16(), keys, vector).sum().backward()
    assert keys.grad.dtype == torch.float32


def test_functional_gradients():
    query, keys, vector = (leaf.detach() for leaf in leaves())
    ours = torch.func.grad(lambda k: tanh_energy(query, k, vector).sum())(keys)
    theirs = torch.func.grad(lambda k: plain(query, k, vector).sum())(keys)
    assert torch.allclose(ours, theirs, atol=1e-13)


MEASURE = """
import resource, torch
from nungil.attention import Additive, Attention, Concat, Coverage
{}
query, keys = torch.randn(64, {}, 512, requires_grad=True), torch.randn(64, 200, 512, requires_grad=True)
read(query, keys).sum().backward()
assert query.grad is not None and keys.grad is not None
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("read", "steps"),
    [
        ("read = Additive(512, 512, 512)", 200),
        ("read = Concat(512, 512, 512)", 200),
        ("coverage = Attention(Coverage(512, 512, 512)); read = lambda q, k: coverage(q, k).context", 12),
    ],
)
def test_no_score_holds_all_its_tanh_at_once(read, steps):
    """Batch 64, 200 × 200 steps, width 512: B·T·S·A numbers would be 5 GB; for twelve steps of coverage, 0.3 GB each.

    The peak is that of the whole process, torch itself included.
    """
    run = subprocess.run(
        [sys.executable, "-c", MEASURE.format(read, steps)], capture_output=True, text=True, check=True
    )
    assert int(run.stdout) * 1024 < 1e9
