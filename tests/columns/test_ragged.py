"""Rows of different lengths in flat arrays."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lookalike.columns.ragged import Ragged


@given(rows=st.lists(st.one_of(st.none(), st.lists(st.integers(0, 9), max_size=4)), max_size=6))
def test_ragged_rows_can_be_cut_in_any_way(rows):
    ragged = Ragged.of(rows, np.int64)
    n = len(rows)
    assert len(ragged) == n

    def content(part):
        return [None if part.missing[i] else part.row(i).tolist() for i in range(len(part))]

    assert content(ragged) == rows
    for at in (slice(1, None), slice(0, 0), slice(None, None, -1), np.arange(n)[::2]):
        assert content(ragged[at]) == [rows[i] for i in np.arange(n)[at]]
    mask = np.arange(n) % 2 == 1
    assert content(ragged[mask]) == [rows[i] for i in np.flatnonzero(mask)]
