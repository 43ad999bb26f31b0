"""Distinct numbers and their counts, learned in parts."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lookalike.table.model import tally as tally_module
from lookalike.table.model.tally import Tally


@given(st.lists(st.lists(st.one_of(st.just(np.nan), st.floats(-4, 4, width=16)), max_size=9)))
def test_a_tally_counts_what_numpy_counts(parts):
    tally = Tally.of(np.array(part, float) for part in parts)
    merged = Tally()
    for part in parts:
        merged.merge(Tally.of([np.array(part, float)]))
    every = np.array([x for part in parts for x in part], float)
    here = every[~np.isnan(every)]
    values, counts = np.unique(here + 0.0, return_counts=True)
    for one in (tally, merged):
        assert one.values.tolist() == values.tolist()
        assert one.counts.tolist() == counts.tolist()
        assert (one.rows, one.missing) == (len(every), len(every) - len(here))
    if len(here):
        shares = np.linspace(0, 1, 11)
        assert np.array_equal(tally.quantiles(shares), np.quantile(here, shares))
        assert np.array_equal(tally.upto(values), np.cumsum(counts))


def test_the_first_infinite_row_is_counted_over_all_parts():
    tally = Tally.of([np.array([1.0, 2.0]), np.array([3.0, np.inf, np.inf])])
    assert tally.infinite == 3
    late = Tally.of([np.array([0.0])])
    late.merge(tally)
    assert (late.infinite, late.rows) == (4, 6)
    late.merge(tally)
    assert late.infinite == 4
    finite = late.finite()
    assert (finite.values.tolist(), finite.counts.tolist()) == ([0, 1, 2, 3], [1, 2, 2, 2])
    assert (finite.rows, finite.missing, finite.infinite) == (7, 0, -1)
    assert finite.finite() is finite


def test_parts_are_merged_when_they_have_doubled(monkeypatch):
    monkeypatch.setattr(tally_module, "MIN_VALUES_TO_MERGE", 4)
    tally = Tally()
    for _ in range(3):
        tally.add(np.arange(4.0))
        assert tally.held <= 2 * 4
    assert tally.values.tolist() == [0, 1, 2, 3]
    assert tally.counts.tolist() == [3, 3, 3, 3]
    assert tally.held == 4


def test_ranks_and_limits():
    tally = Tally.of([np.array([5.0, 1.0, 1.0, 3.0])])
    assert tally.ranked(np.array([0, 1, 2, 3])).tolist() == [1, 1, 3, 5]
    assert tally.upto(np.array([0.0, 1.0, 2.0, 5.0])).tolist() == [0, 2, 2, 4]
