"""Precision: bfloat16 products where the processor has them, single precision where they would be slower.

Only products are shortened: weights, their averages, sums, softmax, losses and the states of recurrent layers stay in
single precision.
"""

import time
from typing import NamedTuple

import torch

from nungil.model.products import Precision
from nungil.model.reading import keep_few_shapes

GAIN = 1.3  # how much faster products must be before everything around them is worth converting
TRIES, ROWS, WIDTH = 3, 512, 256


class Measured(NamedTuple):
    """The better precision here, and how much faster bfloat16 products are than single ones."""

    precision: Precision
    ratio: float


def measure() -> Measured:
    """Multiply both ways, in turn; the best time of each counts.

    Small, since a processor without bfloat16 takes seventy times as long for it.
    """
    keep_few_shapes()  # these are a run's first products
    single = torch.ones(ROWS, WIDTH), torch.ones(WIDTH, WIDTH)
    short = tuple(matrix.bfloat16() for matrix in single)
    best = [float("inf"), float("inf")]
    for _ in range(TRIES):
        for number, (left, right) in enumerate((single, short)):
            began = time.perf_counter()
            left @ right
            best[number] = min(best[number], time.perf_counter() - began)
    ratio = best[0] / best[1]
    return Measured("bf16" if ratio >= GAIN else "fp32", ratio)
