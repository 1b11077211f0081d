"""Two kernels against torch's own, interleaved in one run: softmax over short rows, and LSTMs in bfloat16.

    python benchmarks/kernels.py [--rounds 15]

Milliseconds, medians. Softmax with and without its gradient; an LSTM forward and backward, by `torch.lstm`, by nungil's
walk step by step, and by oneDNN's kernel asked for products in bfloat16, which nungil takes up to 128 sentences.
"""

import argparse
from collections.abc import Callable
from functools import partial

import torch
from attention import interleave, median, trains
from torch import Tensor, nn

from nungil.attention.softmax import softmax
from nungil.model.products import computing_in
from nungil.model.reading import has_short_kernel, read_marked
from nungil.model.recurrence import walk

ROWS = ((15_360, 15), (8_192, 16), (15_360, 26))
# Sentences, words, width of an input, width of the states of each direction, directions.
LSTMS = (
    (48, 300, 128, 64, 2),
    (50, 40, 128, 128, 2),
    (128, 16, 256, 256, 2),
    (256, 15, 256, 256, 2),
    (256, 15, 256, 512, 1),
)
Way = Callable[[Tensor], Tensor]


def main() -> None:
    """Run both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {torch.backends.cpu.get_cpu_capability()}")
    compare_softmax(rounds)
    if has_short_kernel():
        compare_lstms(rounds)
    else:
        print("\nThis processor has no bfloat16 products: nungil gives LSTMs to torch.lstm.")


def compare_softmax(rounds: int) -> None:
    """Rows as attention has them."""
    print(f"\n{'softmax':>14} {'':>9} {'torch':>8} {'ours':>8}   {'with gradient':>13} {'ours':>8}")
    for rows, length in ROWS:
        for dtype in (torch.float32, torch.bfloat16):
            scores = torch.randn(rows, length, dtype=dtype)
            leaf = scores.clone().requires_grad_()
            ways: dict[str, Way] = {"torch": partial(torch.softmax, dim=-1), "ours": softmax}
            plain = {name: partial(way, scores) for name, way in ways.items()}
            trained = {f"{name}, trained": trains(partial(way, leaf)) for name, way in ways.items()}
            found = {name: median(times) for name, times in interleave({**plain, **trained}, rounds).items()}
            kind = str(dtype).removeprefix("torch.")
            print(
                f"{rows:>9,} × {length:<3}{kind:>9} {found['torch']:>8.2f} {found['ours']:>8.2f}   "
                f"{found['torch, trained']:>13.2f} {found['ours, trained']:>8.2f}",
                flush=True,
            )


def compare_lstms(rounds: int) -> None:
    """One layer, all sentences of one length."""
    print(f"\n{'sentences':>9} {'words':>6} {'input':>6} {'states':>8} {'torch.lstm':>11} {'walk':>8} {'kernel':>8}")
    for sentences, words, size, width, directions in LSTMS:
        layer = nn.LSTM(size, width, batch_first=True, bidirectional=directions == 2)
        inputs = torch.randn(sentences, words, size, requires_grad=True)
        ways = {"torch": _by_torch, "walk": _by_walk, "kernel": _by_kernel}
        times = interleave({name: trains(partial(way, layer, inputs)) for name, way in ways.items()}, rounds)
        cells = f"{median(times['torch']):>11.0f} {median(times['walk']):>8.0f} {median(times['kernel']):>8.0f}"
        print(f"{sentences:>9} {words:>6} {size:>6} {f'{directions} × {width}':>8} {cells}", flush=True)


def _by_torch(layer: nn.LSTM, inputs: Tensor) -> Tensor:
    states: Tensor = layer(inputs)[0]
    return states


def _by_walk(layer: nn.LSTM, inputs: Tensor) -> Tensor:
    with computing_in("bf16"):
        return walk(layer, inputs).states


def _by_kernel(layer: nn.LSTM, inputs: Tensor) -> Tensor:
    with computing_in("bf16"):
        return read_marked(layer, inputs).states


if __name__ == "__main__":
    main()
