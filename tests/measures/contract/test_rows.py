"""Encoded rows: slices, concatenation, pairs of a row with itself, caches."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lookalike.columns import ragged as _ragged
from lookalike.columns.ragged import Ragged
from lookalike.measures.contract.rows import (
    Rows,
    are_self_pairs,
    concatenate,
    kept_beside,
    name_rows,
    self_pairs,
)

cells = st.lists(st.one_of(st.none(), st.lists(st.integers(0, 9), max_size=4)), max_size=5)


@given(st.lists(cells, min_size=1, max_size=4))
def test_ragged_parts_follow_one_another(parts):
    whole = _ragged.concatenate([Ragged.of(part, np.int64) for part in parts])
    alone = Ragged.of([cell for part in parts for cell in part], np.int64)
    assert whole.offsets.tolist() == alone.offsets.tolist()
    assert whole.values.tolist() == alone.values.tolist()
    assert whole.missing.tolist() == alone.missing.tolist()


@given(st.lists(cells, min_size=1, max_size=4))
def test_a_slice_of_ragged_rows_can_be_appended(parts):
    all_cells = [cell for part in parts for cell in part]
    whole = Ragged.of(all_cells, np.int64)
    half = len(all_cells) // 2
    again = _ragged.concatenate([whole[half:], whole[:half]])
    expected = Ragged.of(all_cells[half:] + all_cells[:half], np.int64)
    assert again.offsets.tolist() == expected.offsets.tolist()
    assert again.values.tolist() == expected.values.tolist()


def test_rows_keep_arrays_parts_and_places():
    inner = Rows(np.arange(4), {"mu": np.arange(4.0)})
    rows = Rows(
        np.array([0, 1, -1, 3]),
        {"x": np.arange(8).reshape(4, 2), "t": Ragged.of([[1], None, [2, 3], []], np.int64)},
        {"measure": inner},
    )
    for cut in range(5):
        again = concatenate([rows[:cut], rows[cut:]])
        assert again.seen.tolist() == rows.seen.tolist()
        assert again.arrays["x"].tolist() == rows.arrays["x"].tolist()
        assert again.arrays["t"].values.tolist() == [1, 2, 3]
        assert again.arrays["t"].missing.tolist() == [False, True, False, False]
        assert again.parts["measure"].arrays["mu"].tolist() == [0, 1, 2, 3]
    assert concatenate([rows]) is rows


def test_pairs_of_a_fitted_row_with_itself():
    a = Rows(np.array([4, -1, 2, 2]))
    b = Rows(np.array([2, -1, 4]))
    i, j = self_pairs(a, b)
    assert sorted(zip(i.tolist(), j.tolist(), strict=True)) == [(0, 2), (2, 0), (3, 0)]
    for one, other in ((a, b[:0]), (a, Rows(np.array([-1, -1]))), (a, Rows(np.array([7, 9])))):
        assert len(self_pairs(one, other)[0]) == 0
    left, right = np.array([0, 0, 1, 3]), np.array([2, 0, 1, 0])
    assert are_self_pairs(a, b, left, right).tolist() == [True, False, False, True]


def test_ids_default_to_positions():
    a, b = Rows(np.array([-1, -1])), Rows(np.arange(3))
    exclude, ids, n_indexed = name_rows(a, b, None, None)
    assert (exclude.tolist(), ids.tolist(), n_indexed) == ([-1, -1], [0, 1, 2], 3)
    exclude, ids, n_indexed = name_rows(a, b, [5, -1], [3, 9, 4])
    assert (exclude.tolist(), ids.tolist(), n_indexed) == ([5, -1], [3, 9, 4], 10)
    assert name_rows(a, b, None, [0, 1, 1])[2] == 3


def test_the_cache_belongs_to_exactly_these_rows():
    rows = Rows(np.arange(4))
    made = []
    for _ in range(2):
        assert kept_beside(rows, "sum", lambda: made.append(1) or 6) == 6
    assert made == [1]
    assert rows[:2].cache == {}
    assert concatenate([rows]) is rows
