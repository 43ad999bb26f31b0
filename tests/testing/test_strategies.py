"""Random tables have the shapes that are asked for, and all the difficulties."""

import numpy as np
import pytest
from hypothesis import find, given, settings
from hypothesis.errors import NoSuchExample

from lookalike.testing import frames, matrices, number_tables, tables
from lookalike.testing.strategies import SIMPLE, cells

OTHERS = ("text", "set", "sequence", "series", "histogram", "vector")


@given(frames(kinds=SIMPLE + OTHERS, min_rows=2, max_rows=4, max_columns=2))
def test_frames_have_the_size_that_is_asked_for(frame):
    columns, kinds = frame
    assert 1 <= len(columns) <= 2
    assert list(columns) == list(kinds)
    assert len({len(values) for values in columns.values()}) == 1
    assert 2 <= len(next(iter(columns.values()))) <= 4


@given(frames(n_rows=3, missing=False), tables(n_rows=3, missing=False))
def test_cells_can_be_all_there(frame, table):
    assert all(None not in values for values in frame[0].values())
    assert len(table) == 3


@given(number_tables(min_rows=2, max_rows=3, n_columns=2), number_tables(max_columns=1))
def test_matrices_of_numbers_are_complete(x, y):
    assert x.shape[0] in (2, 3)
    assert x.shape[1] == 2
    assert y.shape[1] == 1
    assert np.isfinite(x).all()


@given(matrices(), matrices(symmetric=False))
def test_distances_are_zero_on_the_diagonal(d, e):
    assert (np.diagonal(d) == 0).all()
    assert (np.diagonal(e) == 0).all()
    assert (d >= 0).all()
    assert (d == d.T).all()


def test_every_difficulty_occurs():
    """Missing cells, constant columns, repeated rows, and a matrix that is not symmetric."""
    some = settings(max_examples=500, derandomize=True, database=None)
    find(frames(n_rows=2), lambda f: any(None in v for v in f[0].values()), settings=some)
    find(number_tables(min_rows=3), lambda x: (x == x[0]).all(axis=0).any(), settings=some)
    find(
        number_tables(min_rows=3, n_columns=3),
        lambda x: len(np.unique(x, axis=0)) < len(x),
        settings=some,
    )
    find(matrices(symmetric=False), lambda d: (d != d.T).any(), settings=some)
    few = settings(some, max_examples=50)  # all of them are tried
    with pytest.raises(NoSuchExample):
        find(frames(missing=False), lambda f: any(None in v for v in f[0].values()), settings=few)
    assert set(find(cells("histogram"), lambda cell: True)) == {0.0}
