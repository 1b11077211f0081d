"""Ahead: the next batch is made while the present one is learned from."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def ahead(items: Iterator[T]) -> Iterator[Iterator[T]]:
    """The same items. While one is used, a thread makes the next: reading from disk costs no time of training.

    The thread ends with the block, whatever ended that. Left to the collector of garbage, which may come while Python
    itself holds a lock on its threads, waiting for that end could take for ever.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as maker:
        yield _one_after_the_other(maker, items)


def _one_after_the_other(maker: ThreadPoolExecutor, items: Iterator[T]) -> Iterator[T]:
    over = object()
    coming = maker.submit(next, items, over)
    while (item := coming.result()) is not over:
        coming = maker.submit(next, items, over)
        yield item  # type: ignore[misc]  # it is not `over`, so it is an item
