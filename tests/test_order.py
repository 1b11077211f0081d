"""The order of batches: a pure function; every row once; any cut equals the uncut order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nungil.batches.order import Order, padding_share, shares
from nungil.errors import CorpusError


@st.composite
def orders(draw):
    rows = draw(st.integers(1, 300))
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    lengths = [random.integers(1, 41, rows), random.integers(1, 37, rows)][: draw(st.integers(1, 2))]
    return lengths, draw(st.integers(41, 400)), draw(st.integers(0, 5))


@given(orders(), st.integers(0, 3))
def test_every_row_once_per_epoch_and_within_the_budget(order, epoch):
    lengths, budget, seed = order
    batches = Order(lengths, budget, seed).epoch(epoch)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths[0])))
    longest = np.maximum.reduce(lengths)
    assert all(len(rows) * longest[rows].max() <= budget for rows in batches)


@given(orders(), st.integers(0, 3), st.integers(1, 5))
def test_every_row_once_per_epoch_at_any_world_size(order, epoch, world):
    lengths, budget, seed = order
    batches = Order(lengths, budget, seed).epoch(epoch)
    groups = list(shares(batches, world))
    assert all(len(group) == world for group in groups)
    assert sorted(np.concatenate([rows for group in groups for rows in group]).tolist()) == list(range(len(lengths[0])))
    assert len(groups) == -(-len(batches) // world)


@given(orders(), st.integers(1, 4), st.data())
def test_any_cut_equals_the_uncut_order(order, world, data):
    """A run that stopped after some steps builds everything anew, and goes on as if it had not stopped."""
    lengths, budget, seed = order

    def steps():
        made_anew = Order(lengths, budget, seed)
        return [[rows.tolist() for rows in g] for epoch in range(3) for g in shares(made_anew.epoch(epoch), world)]

    uncut = steps()
    cut = data.draw(st.integers(0, len(uncut)))
    assert steps()[:cut] + steps()[cut:] == uncut


@given(orders())
def test_full_groups_are_the_same_batches_at_any_world_size(order):
    """Two processes see the batches that one process sees, two at a time."""
    lengths, budget, seed = order
    batches = [rows.tolist() for rows in Order(lengths, budget, seed).epoch(0)]
    one = [rows.tolist() for (rows,) in shares([np.array(rows) for rows in batches], 1)]
    two = [rows.tolist() for group in shares([np.array(rows) for rows in batches], 2) for rows in group]
    assert one == batches
    whole = len(batches) - len(batches) % 2
    assert two[:whole] == batches[:whole]


def test_epochs_and_seeds_differ():
    lengths = [np.arange(1, 101) % 17 + 1]
    order = Order(lengths, 64, 3)
    first = [rows.tolist() for rows in order.epoch(0)]
    assert first == [rows.tolist() for rows in order.epoch(0)]
    assert first != [rows.tolist() for rows in order.epoch(1)]
    assert first != [rows.tolist() for rows in Order(lengths, 64, 4).epoch(0)]
    assert first != [rows.tolist() for rows in Order(lengths, 64, -3).epoch(0)]


def test_rows_of_like_length_go_together():
    random = np.random.default_rng(1)
    source = random.integers(4, 40, 20_000)
    target = np.clip(source + random.integers(-4, 5, 20_000), 1, None)
    batches = Order([source, target], 4096, 1).epoch(0)
    assert padding_share(batches, [source, target]) < 0.04
    assert padding_share([np.arange(0, 20_000)], [source, target]) > 0.4, "the measure itself can fail"


def test_padding_by_hand():
    lengths = [np.array([2, 4]), np.array([3, 1])]
    assert padding_share([np.array([0, 1])], lengths) == pytest.approx(1 - 10 / 14)


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ([np.array([], dtype=np.int64)], "there is nothing to make batches of: the corpus has no rows"),
        ([np.array([3, 0, 2])], "a row is empty: there is nothing to attend to; cleaning leaves such rows out"),
        (
            [np.array([3, 2]), np.array([4, 99])],
            "row 1 has 99 tokens, more than a batch of 50 may hold; allow larger batches or leave out such long rows",
        ),
    ],
)
def test_what_cannot_be_batched(lengths, message):
    with pytest.raises(CorpusError) as error:
        Order(lengths, 50, 1)
    assert str(error.value) == message
