"""Elastic distances: dynamic time warping, move-split-merge, time warp edit."""

import functools

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from columns import reference
from columns.make import CASES, assert_errors, assert_worked, column, compare, few
from lookalike.columns import DTW, MSM, TWE
from lookalike.table import read_table
from lookalike.table.model.kind import Kind
from lookalike.table.model.table import Column

WORKED = [
    (DTW(), "series", [0, 0, 1, 2], [0, 1, 2], 0),
    (DTW(), "series", [1, 2, 3], [2, 2, 2], 2),
    (DTW(), "series", [], [], 0),
    (DTW(), "series", [], [1], np.inf),
    (DTW(window=0), "series", [0, 0, 1, 2], [0, 1, 2, 2], 2),
    # values of standard deviation 1: two splits, or two values left out
    (MSM(), "series", [-1, 1], [-1, -1, 1, 1], 2),
    (MSM(price=0.25), "series", [-1, 1], [-1, -1, 1, 1], 0.5),
    (TWE(stiffness=0.0), "series", [-1, 1], [-1, -1, 1, 1], 2),
    # a match one step apart, and two values left out: 2 * 1/2 + 2 * (1/2 + 1)
    (TWE(stiffness=0.5), "series", [-1, 1], [-1, -1, 1, 1], 4),
    (MSM(), "series", [], [], 0),
    (TWE(), "series", [], [1], np.inf),
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


prices = st.sampled_from([0.0, 0.01, 0.5, 1.0, 10.0])


@few
@given(
    cells=st.lists(CASES["msm"][1], min_size=1, max_size=6),
    window=st.one_of(st.none(), st.integers(0, 4)),
    price=prices,
    stiffness=prices,
)
def test_priced_distances_equal_their_references(cells, window, price, stiffness):
    for distance, slow in (
        (MSM(price, window), lambda u, v: reference.msm(u, v, cells, price, window)),
        (TWE(price, stiffness, window),
         lambda u, v: reference.twe(u, v, cells, price, stiffness, window)),
    ):  # fmt: skip
        found = compare(distance, "series", cells)
        expected = [[slow(u, v) for v in cells] for u in cells]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@few
@given(cells=st.lists(CASES["msm"][1].filter(len), min_size=3, max_size=3))
def test_priced_distances_keep_the_triangle_inequality(cells):
    for distance in (MSM(), TWE()):
        d = compare(distance, "series", cells)
        assert d[0, 2] <= d[0, 1] + d[1, 2] + 1e-9


def test_prices_count_in_units_of_the_fitted_values():
    rng = np.random.default_rng(0)
    cells = [list(rng.normal(size=n)) for n in (5, 7, 7)]
    larger = [[1000 * value for value in cell] for cell in cells]
    for distance in (MSM(), TWE()):
        one, other = (compare(distance, "series", each) for each in (cells, larger))
        np.testing.assert_allclose(other, 1000 * one, rtol=1e-9)


def test_priced_distances_agree_with_aeon():
    aeon = pytest.importorskip("aeon.distances")
    rng = np.random.default_rng(1)
    cells = rng.normal(size=(6, 20))
    cells = list((cells - cells.mean()) / cells.std())  # prices in units of 1
    for distance, theirs in (
        (MSM(price=0.7), functools.partial(aeon.msm_distance, c=0.7)),
        (TWE(0.7, 0.05), functools.partial(aeon.twe_distance, nu=0.05, lmbda=0.7)),
    ):
        expected = [[theirs(u, v) for v in cells] for u in cells]
        np.testing.assert_allclose(compare(distance, "series", cells), expected, rtol=1e-9)


def test_files_in_parts_have_the_same_unit(tmp_path):
    rng = np.random.default_rng(0)
    curves = [list(rng.normal(size=n)) for n in (5, 7, 4, 6)]
    pq.write_table(pa.table({"curve": curves}), tmp_path / "curves.parquet", row_group_size=2)
    lazy = read_table(tmp_path / "curves.parquet", lazy=True)
    for distance in (MSM(), TWE()):
        whole = distance.fit(column("series", curves, name="curve"))
        parts = distance.fit_in_parts(lazy, "curve")
        assert (parts.unit_, parts.scale_) == (whole.unit_, whole.scale_)
