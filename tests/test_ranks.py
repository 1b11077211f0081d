"""Kendall's τ equals SciPy's, on ties too, and says so where it means nothing."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from nungil.errors import ShapeError
from nungil.inspection.ranks import kendall, mean_of, percentile_of

few_values = st.lists(st.tuples(st.integers(0, 4), st.integers(-2, 2)), min_size=2, max_size=23)


@given(few_values)
def test_kendall_is_that_of_scipy(pairs):
    one, other = zip(*pairs, strict=True)
    expected = None if len(set(one)) == 1 or len(set(other)) == 1 else kendalltau(one, other).statistic
    found = kendall(one, other)
    assert (found is None) == (expected is None)
    if found is not None:
        assert found == pytest.approx(expected, abs=1e-12)


def test_kendall_of_numbers_that_are_all_different():
    numbers = np.random.default_rng(3)
    one, other = numbers.normal(size=200), numbers.normal(size=200)
    assert kendall(one, other) == pytest.approx(kendalltau(one, other).statistic, abs=1e-12)
    assert kendall(one, one) == pytest.approx(1)
    assert kendall(one, -one) == pytest.approx(-1)


def test_kendall_by_hand():
    # Pairs (1, 2), (1, 3), (2, 3): agreeing, agreeing, and a tie of the second row.
    assert kendall([1, 2, 3], [1, 2, 2]) == pytest.approx(2 / math.sqrt(3 * 2))


def test_kendall_means_nothing_of_a_constant_row_or_of_nan():
    assert kendall([1, 1, 1], [1, 2, 3]) is None
    assert kendall([], []) is None
    assert kendall([0.1], [0.2]) is None
    assert kendall([1.0, math.nan], [1, 2]) is None


def test_kendall_refuses_rows_of_two_lengths():
    with pytest.raises(ShapeError, match=r"two rows of one length, not \(2,\) and \(3,\)"):
        kendall([1, 2], [1, 2, 3])


def test_a_mean_leaves_out_what_means_nothing():
    assert mean_of([1.0, None, 4.0]) == 2.5
    assert mean_of([None]) is None


def test_a_percentile_counts_the_smaller_and_half_of_the_equal():
    assert percentile_of(2.0, [1, 2, 2, 3]) == 50
    assert percentile_of(5.0, [1, 2, 2, 3]) == 100
    assert percentile_of(0.0, [1, 2, 2, 3]) == 0
    assert percentile_of(1.0 + 1e-9, [1.0, 1.0], same=1e-6) == 50
