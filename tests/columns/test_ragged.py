"""Rows of different length in flat arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.columns.ragged import Ragged, RaggedOf, concatenate

ROWS = st.lists(st.none() | st.lists(st.integers(0, 9), max_size=3), max_size=6)


def listed(cells):
    return [None if gone else cells.row(i).tolist() for i, gone in enumerate(cells.missing)]


@given(rows=ROWS, data=st.data())
def test_rows_are_cut_as_lists_are(rows, data):
    cells = Ragged.of(rows, np.int64)
    assert listed(cells) == rows
    assert cells.values.dtype == np.int64
    bounds = st.integers(-8, 8)
    part = slice(data.draw(bounds), data.draw(bounds), data.draw(st.sampled_from([None, 1, 2])))
    assert listed(cells[part]) == rows[part]
    if rows:
        at = data.draw(st.lists(st.integers(-len(rows), len(rows) - 1), max_size=5))
        assert listed(cells[np.array(at, np.int64)]) == [rows[i] for i in at]
        mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
        assert listed(cells[mask]) == [row for row, here in zip(rows, mask, strict=True) if here]
    assert listed(concatenate([cells, cells[:1], cells])) == rows + rows[:1] + rows


def test_a_copy_shares_no_memory():
    cells = Ragged.of([[1, 2], [3]], np.int64)
    for part in (cells.copy(), cells[np.array([0])]):
        assert not np.shares_memory(part.values, cells.values)
    assert np.shares_memory(cells[:1].values, cells.values)


def test_loaded_rows_are_checked():
    cells = Ragged.of([[1, 2], None], np.int64)
    cells.check_loaded({})
    with pytest.raises(ValueError, match="missing rows without items"):
        Ragged(cells.values, cells.offsets, np.array([True, False])).check_loaded({})
    field = RaggedOf("int64", high=2)
    field.form(cells, {}, "x")
    field.content(cells, {}, "x")
    with pytest.raises(ValueError, match="3 rows"):
        field.form(cells, {"n": 3}, "x")
    with pytest.raises(ValueError, match="1 rows"):
        RaggedOf("int64", 1).form(cells, {}, "x")
    with pytest.raises(ValueError, match="x"):
        RaggedOf("int64", high=1).content(cells, {}, "x")
    with pytest.raises(ValueError, match="a Ragged"):
        field.form(np.zeros(2), {}, "x")
    assert "Ragged (n)" in field.describe()
