"""Attention against torch's own, interleaved in one run; prints times, and how many times as fast ours is.

    python benchmarks/attention.py [--quick] [--dtype float32]

Multi-head, forward and backward, weights included in ours, against
- `nn.MultiheadAttention(need_weights=True)`, with weights,
- `nn.MultiheadAttention(need_weights=False)`, which uses the fused kernel, without weights,
- the fused kernel between our own projections, without weights: the leanest way to call it.
Then the additive score against its formula in one line, and the memory that it needs.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from nungil.attention import MultiHeadAttention, energy
from nungil.attention.energy import tanh_energy

LENGTHS = (10, 20, 40, 64, 128, 200, 400)
TOKENS = 4096


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and lengths")
    parser.add_argument("--dtype", choices=["float32", "bfloat16", "both"], default="both")
    parser.add_argument("--d-model", type=int, default=256)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--measure-memory", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure_memory:
        print(_memory_of_additive())
        return
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {torch.backends.cpu.get_cpu_capability()}")
    for dtype in ("float32", "bfloat16") if options.dtype == "both" else (options.dtype,):
        compare_multi_head(options.d_model, options.heads, getattr(torch, dtype), options.quick)
    compare_energy(options.quick)
    command = [sys.executable, __file__, "--measure-memory"]
    peak = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    print(f"\nAdditive score, batch 64, 200 × 200 steps, width 512, forward and backward: peak {peak / 1e6:,.0f} MB")


def compare_multi_head(d_model: int, heads: int, dtype: torch.dtype, quick: bool) -> None:
    """Self-attention on padded batches of as many tokens as a training step has."""
    ours = MultiHeadAttention(d_model, heads).to(dtype)
    theirs = nn.MultiheadAttention(d_model, heads, batch_first=True).to(dtype)
    # Where a processor has no bfloat16 products a step takes seconds: fewer tokens and rounds say the same.
    slow = dtype == torch.bfloat16 and not _has_fast_bfloat16()
    tokens, rounds = (512, 5) if slow else (TOKENS, 7 if quick else 25)
    print(f"\nMulti-head, d_model {d_model}, {heads} heads, {dtype}, {tokens} tokens, training: ms, and torch's ÷ ours")
    print(f"{'length':>6} {'ours':>9} {'MHA+weights':>16} {'MHA fused':>16} {'fused kernel':>16}   lowest")
    for length in LENGTHS[::2] if quick else LENGTHS:
        x, keep = _batch(max(1, tokens // length), length, d_model, dtype)
        contestants = _multi_head(ours, theirs, x, keep)
        times = interleave({name: trains(run) for name, run in contestants.items()}, rounds)
        ratios = {name: _ratio(times[name], times["ours"]) for name in ("with", "without", "kernel")}
        cells = "".join(f" {median(times[name]):>8.2f} ×{ratios[name]:>5.2f} " for name in ratios)
        print(f"{length:>6} {median(times['ours']):>9.2f}{cells}   {min(ratios.values()):.2f}", flush=True)


def _multi_head(
    ours: MultiHeadAttention, theirs: nn.MultiheadAttention, x: Tensor, keep: Tensor
) -> dict[str, Callable[[], Tensor]]:
    return {
        "ours": lambda: ours(x, x, x, keep)[0],
        "with": lambda: theirs(x, x, x, key_padding_mask=~keep, average_attn_weights=False)[0],
        "without": lambda: theirs(x, x, x, key_padding_mask=~keep, need_weights=False)[0],
        "kernel": lambda: _fused(ours, x, keep),
    }


def compare_energy(quick: bool) -> None:
    """The tiled energy against the one line it stands for, and other sizes of tile."""
    print("\nvᵀ tanh(q + k), float32, forward and backward: ms")
    tiles = (2**16, 2**18, 2**20, 2**22, 2**24)
    print(
        f"{'B':>4} {'T':>4} {'S':>4} {'A':>4} {'plain':>9}"
        + "".join(f"{f'tile 2^{t.bit_length() - 1}':>12}" for t in tiles)
    )
    for B, T, S, A in ((64, 20, 20, 256), (128, 1, 25, 512), (16, 60, 60, 512)):
        leaves = [torch.randn(*shape, requires_grad=True) for shape in ((B, T, A), (B, S, A), (A,))]
        contestants = {"plain": trains(partial(_plain_energy, *leaves))}
        contestants |= {str(tile): trains(partial(_tiled, tile, *leaves)) for tile in tiles}
        times = interleave(contestants, 5 if quick else 15)
        print(f"{B:>4} {T:>4} {S:>4} {A:>4} {median(times['plain']):>9.1f}", end="")
        print("".join(f"{median(times[str(tile)]):>12.1f}" for tile in tiles), flush=True)


def _plain_energy(query: Tensor, keys: Tensor, vector: Tensor) -> Tensor:
    return torch.tanh(query[:, :, None] + keys[:, None]) @ vector


def _tiled(tile: int, query: Tensor, keys: Tensor, vector: Tensor) -> Tensor:
    energy.TILE = tile
    return tanh_energy(query, keys, vector)


def _batch(sentences: int, length: int, width: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    lengths = torch.randint(length // 2 + 1, length + 1, (sentences,))
    lengths[0] = length
    x = torch.randn(sentences, length, width, dtype=dtype, requires_grad=True)
    return x, torch.arange(length)[None] < lengths[:, None]


def _fused(ours: MultiHeadAttention, x: Tensor, keep: Tensor) -> Tensor:
    query, keys, values = (ours._split(layer(x)) for layer in (ours.query, ours.key, ours.value))
    context = nn.functional.scaled_dot_product_attention(query, keys, values, attn_mask=keep[:, None, None])
    made: Tensor = ours.output(context.transpose(1, 2).flatten(2))
    return made


def trains(run: Callable[[], Tensor]) -> Callable[[], object]:
    """Forward and backward."""
    return lambda: run().sum().backward()  # type: ignore[no-untyped-call]


def interleave(contestants: dict[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """One after the other in each round, so that a noisy minute is noisy for all of them; two rounds to warm up."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds + 2):
        for name, run in contestants.items():
            start = time.perf_counter()
            run()
            if number >= 2:
                times[name].append((time.perf_counter() - start) * 1000)
    return times


def _ratio(theirs: list[float], ours: list[float]) -> float:
    """The median over rounds of theirs ÷ ours: each pair was measured at almost the same moment."""
    return statistics.median(their / our for their, our in zip(theirs, ours, strict=True))


def median(times: list[float]) -> float:
    """Of the milliseconds of all rounds."""
    return statistics.median(times)


def _has_fast_bfloat16() -> bool:
    products = {dtype: torch.ones(256, 256, dtype=dtype) for dtype in (torch.float32, torch.bfloat16)}
    times = interleave({str(dtype): partial(torch.mm, m, m) for dtype, m in products.items()}, 5)
    return median(times["torch.bfloat16"]) < 4 * median(times["torch.float32"])


def _memory_of_additive() -> int:
    from nungil.attention import Additive

    query, keys = (torch.randn(64, 200, 512, requires_grad=True) for _ in range(2))
    Additive(512, 512, 512)(query, keys).sum().backward()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
