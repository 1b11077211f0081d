"""Course: which rows make which update. A pure function of the order, so a run can resume at any update."""

from collections.abc import Iterator
from typing import NamedTuple

from nungil.batches.order import Order, Rows


class Place(NamedTuple):
    """The place of an update: its epoch, and its number in that epoch, from 0."""

    epoch: int
    step: int


BEGINNING = Place(0, 0)


class Update(NamedTuple):
    """The rows of one update, a group for each micro-batch, and the place of the update after it."""

    epoch: int
    groups: tuple[Rows, ...]
    after: Place


def updates(order: Order, accumulation: int = 1, start: Place = BEGINNING) -> Iterator[Update]:
    """Endless updates from a place on. The last one of an epoch may have fewer groups; no row is dropped."""
    epoch, step = start
    while True:
        batches = order.epoch(epoch)
        groups = [tuple(batches[first : first + accumulation]) for first in range(0, len(batches), accumulation)]
        for number in range(step, len(groups)):
            after = Place(epoch, number + 1) if number + 1 < len(groups) else Place(epoch + 1, 0)
            yield Update(epoch, groups[number], after)
        epoch, step = epoch + 1, 0
