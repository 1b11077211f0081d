"""Ahead: the next batch is made while the present one is learned from."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def ahead(items: Iterator[T]) -> Iterator[T]:
    """The same items. While one is used, a thread makes the next: reading from disk costs no time of training."""
    over = object()
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as maker:
        coming = maker.submit(next, items, over)
        while (item := coming.result()) is not over:
            coming = maker.submit(next, items, over)
            yield item  # type: ignore[misc]  # it is not `over`, so it is an item
