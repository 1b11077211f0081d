"""The next item is made while the present one is used, and nothing else changes."""

import threading
from itertools import count, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nungil.batches.ahead import ahead


@given(st.lists(st.one_of(st.none(), st.integers())))
def test_the_items_are_the_same(items):
    with ahead(iter(items)) as found:
        assert list(found) == items


def test_the_next_one_is_made_while_this_one_is_used():
    made = threading.Event()

    def items():
        yield 1
        made.set()
        yield 2

    with ahead(items()) as found:
        assert next(found) == 1
        assert made.wait(timeout=10), "nobody asked for the second"
        assert list(found) == [2]


def test_only_one_is_made_ahead():
    asked = []
    with ahead(asked.append(number) or number for number in count()) as found:
        assert list(islice(found, 3)) == [0, 1, 2]
    assert asked == [0, 1, 2, 3]


def test_an_error_comes_where_its_item_would_have_come():
    def items():
        yield 1
        raise ValueError("no second")

    with ahead(items()) as found:
        assert next(found) == 1
        with pytest.raises(ValueError, match="no second"):
            next(found)


def test_no_thread_is_left_though_somebody_holds_on_to_what_was_not_read_to_its_end():
    before = threading.active_count()
    with ahead(iter(range(100))) as found:
        next(found)
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
    del found
