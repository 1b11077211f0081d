"""Ahead: makes the next batch while the current one is trained on."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def ahead(items: Iterator[T]) -> Iterator[Iterator[T]]:
    """The same items; a thread makes the next one while the current one is used.

    The thread ends with the block. If it were left to the garbage collector, which may run while Python holds the lock
    of its threads, waiting for it could deadlock.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as maker:
        yield _one_after_the_other(maker, items)


def _one_after_the_other(maker: ThreadPoolExecutor, items: Iterator[T]) -> Iterator[T]:
    over = object()
    coming = maker.submit(next, items, over)
    while (item := coming.result()) is not over:
        coming = maker.submit(next, items, over)
        yield item  # type: ignore[misc]  # it is not `over`, so it is an item
