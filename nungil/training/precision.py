"""Precision: bfloat16 products where the processor is faster with them, else fp32.

Only products are in bfloat16: weights, their averages, sums, softmax, losses and the states of recurrent layers stay in
fp32.
"""

import time
from typing import NamedTuple

import torch

from nungil.model.products import Precision
from nungil.model.reading import keep_few_shapes

GAIN = 1.3  # how much faster bfloat16 products must be to make up for the conversions
TRIES, ROWS, WIDTH = 3, 512, 256


class Measured(NamedTuple):
    """The faster precision here, and how much faster bfloat16 products are than fp32."""

    precision: Precision
    ratio: float


def measure() -> Measured:
    """Time both kinds of product alternately; the best time of each counts.

    The matrices are small, because a processor without bfloat16 takes seventy times as long.
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
