"""Dynamic time warping."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from columns import reference
from columns.make import CASES, assert_errors, assert_worked, compare, few
from lookalike.columns import DTW
from lookalike.table.model.kind import Kind
from lookalike.table.model.table import Column

WORKED = [
    (DTW(), "series", [0, 0, 1, 2], [0, 1, 2], 0),
    (DTW(), "series", [1, 2, 3], [2, 2, 2], 2),
    (DTW(), "series", [], [], 0),
    (DTW(), "series", [], [1], np.inf),
    (DTW(window=0), "series", [0, 0, 1, 2], [0, 1, 2, 2], 2),
]  # fmt: skip

BAD = [
    (DTW(), "series", [[1.0], [1.0, np.nan]], ValueError, r"row 1.*nan at position 1"),
]


def test_worked_numbers():
    assert_worked(WORKED)


def test_a_bad_cell_is_named():
    assert_errors(BAD)


@few
@given(
    cells=st.lists(CASES["dtw"][1], min_size=2, max_size=40),
    window=st.one_of(st.none(), st.integers(0, 4)),
)
def test_warping_equals_its_reference_in_every_window(cells, window):
    found = compare(DTW(window=window), "series", cells)
    for i, u in enumerate(cells[:3]):
        for j, v in enumerate(cells):
            assert found[i, j] == pytest.approx(reference.dtw(u, v, window), rel=1e-12)


@pytest.mark.parametrize("window", [None, 0, 3])
def test_warping_agrees_with_dtaidistance_on_equal_lengths(window):
    dtw = pytest.importorskip("dtaidistance.dtw")
    rng = np.random.default_rng(1)
    cells = list(rng.normal(size=(12, 30)))
    found = compare(DTW(window=window), "series", cells)
    # theirs counts the diagonal itself: window=1 is no warping at all
    theirs = {} if window is None else {"window": window + 1}
    for i, u in enumerate(cells):
        expected = [dtw.distance(u, v, inner_dist="euclidean", **theirs) for v in cells]
        np.testing.assert_allclose(found[i], expected, rtol=1e-12)


def test_long_series_are_sampled_less():
    own = DTW()
    assert own.sample_size(100) == 1000
    assert own.sample_size(10_000) == 16


def test_a_series_of_words_is_refused():
    values = np.empty(2, dtype=object)
    values[:] = [[1.0], ["a"]]
    with pytest.raises(TypeError, match=r"row 1: needs a series of numbers, found \['a'\]"):
        DTW().fit(Column("thing", Kind("series"), values))
