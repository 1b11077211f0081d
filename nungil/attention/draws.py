"""Draws: the generator that random numbers of training come from.

By default it is torch's own, which all threads share. Threads that train at the same time would take numbers from it in
an unpredictable order, so each of them can have a generator of its own.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch


class _Thread(threading.local):
    generator: torch.Generator | None = None


_THREAD = _Thread()


def generator() -> torch.Generator | None:
    """The generator of this thread, or None, which to torch means its own."""
    return _THREAD.generator


@contextmanager
def own_draws(seed: int) -> Iterator[None]:
    """Give this thread a generator of its own."""
    before, _THREAD.generator = _THREAD.generator, torch.Generator().manual_seed(seed)
    try:
        yield
    finally:
        _THREAD.generator = before
