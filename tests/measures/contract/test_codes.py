"""Numbers as bytes, and when a search by bounds pays; the lists are tested in tests/neighbors."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lookalike.kernels.bounds import STEPS, TILE_ROWS
from lookalike.measures import Vector
from lookalike.measures.contract import codes
from lookalike.measures.contract.codes import NumberCodes, byte_steps, number_codes
from lookalike.neighbors.codes import MIN_ROWS_FOR_CODES


def test_steps_are_rounded_down_and_clipped():
    values = np.array([[-5.0, 0.0, 0.5, 1.0, 9.0, np.nan]])
    assert_array_equal(byte_steps(values, 0.0, 1.0), [[0, 0, STEPS // 2, STEPS, STEPS, STEPS]])
    assert_array_equal(
        byte_steps(np.array([3.0, 4.0]), 3.0, np.array([0.0, 0.0])), [0, 0]
    )  # a constant column


def test_differences_of_steps_never_exceed_those_of_the_numbers():
    x = np.random.default_rng(0).normal(size=(200, 3))
    low, span = x.min(axis=0), np.ptp(x, axis=0)
    steps = byte_steps(x, low, span).astype(int)
    differ = np.maximum(np.abs(steps[:, None] - steps) - 1, 0) / STEPS * span
    assert (differ <= np.abs(x[:, None] - x) + 1e-12).all()


def test_codes_of_numbers_are_saved_as_arrays():
    x = np.random.default_rng(0).normal(size=(TILE_ROWS + 5, 2))
    made = number_codes(x)
    again = NumberCodes.from_arrays(len(x), made.to_arrays())
    assert_array_equal(again.codes.tiles, made.codes.tiles)
    assert_array_equal(again.low, x.min(axis=0))
    assert_array_equal(again.span, np.ptp(x, axis=0))
    assert number_codes(np.array([[-1e308], [1e308]])) is None  # the range overflows


def test_bounds_are_given_up_where_they_prune_too_little(monkeypatch):
    monkeypatch.setattr(codes, "worth_compiling", lambda *work: True)
    rows = Vector().fit(np.zeros((MIN_ROWS_FOR_CODES, 1))).rows_
    assert codes.pays(rows, 1)
    assert not codes.pays(rows[:-1], 1)
    assert codes.pays(rows, MIN_ROWS_FOR_CODES // 16)
    assert not codes.pays(rows, MIN_ROWS_FOR_CODES // 16 + 1)
    for tally, pays in (((3, 3), True), ((4, 1), True), ((4, 2), False), ((100, 49), True)):
        rows.cache["tally"] = tally
        assert codes.pays(rows, 1) == pays, tally


def test_queries_that_bounds_do_not_serve_are_counted(monkeypatch):
    monkeypatch.setattr(codes, "pays", lambda b, k, n=1: True)
    x = np.random.default_rng(0).normal(size=(50, 2))
    measure = Vector("cityblock").fit(x)
    measure.nearest(measure.rows_[:7], measure.rows_, 3)
    assert measure.rows_.cache["tally"] == (7, 0)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_metrics_without_bounds_have_no_codes(metric):
    measure = Vector(metric).fit(np.random.default_rng(0).normal(size=(9, 2)))
    assert measure._codes_of(measure.rows_) is None
    assert not measure.codes_to_arrays(measure.rows_)
