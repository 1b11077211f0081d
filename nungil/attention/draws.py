"""Draws: which generator the random numbers of training come from.

By default it is torch's own, which all threads share: whoever seeds torch has seeded everything. Threads that learn at
the same time would take from it in whatever order they happen to run, so each of them can have a generator of its own.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch


class _Thread(threading.local):
    generator: torch.Generator | None = None


_THREAD = _Thread()


def generator() -> torch.Generator | None:
    """The generator of this thread; None, which stands for torch's own, where it has none."""
    return _THREAD.generator


@contextmanager
def own_draws(seed: int) -> Iterator[None]:
    """Within it, this thread draws from a generator of its own."""
    before, _THREAD.generator = _THREAD.generator, torch.Generator().manual_seed(seed)
    try:
        yield
    finally:
        _THREAD.generator = before
