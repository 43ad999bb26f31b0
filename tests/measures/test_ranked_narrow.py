"""Rank distances of new rows in two bytes: the same numbers as the formula, to the last bit."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import lookalike as la
from lookalike.kernels import distances
from lookalike.kernels.first_use import compile_at_once
from lookalike.measures import Ranked
from lookalike.measures import ranked as module

SOME = settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))


def slow(fitted, new, scale=False):
    """Count the fitted values below, half of the equal ones, and 1/2 for the new row."""
    out = np.zeros((len(new), len(fitted)))
    for column, cells in zip(fitted.T, new.T, strict=True):

        def place(value, column=column):
            return (column < value).sum() + (column == value).sum() / 2

        theirs = np.array([place(value) for value in column])
        for i, value in enumerate(cells):
            out[i] += np.where(column == value, 0.0, np.abs(theirs - place(value)) + 0.5)
    return out / len(fitted) if scale else out


def narrow_road(monkeypatch):
    """Count the calls of the narrow kernel."""
    calls = []
    kernel = distances.ranked_narrow

    def counted(*arguments):
        calls.append(1)
        return kernel(*arguments)

    counted.overloads = True
    monkeypatch.setattr(distances, "ranked_narrow", counted)
    return calls


@SOME
@given(
    n=st.integers(1, 40), m=st.integers(1, 12), columns=st.integers(1, 9),
    seed=st.integers(0, 10**6), spread=st.sampled_from([2, 9, 1000]), scale=st.booleans(),
    tall=st.sampled_from([1, 5, 64]), jobs=st.sampled_from([1, 2]),
)  # fmt: skip
def test_new_rows_equal_the_formula(n, m, columns, seed, spread, scale, tall, jobs):
    rng = np.random.default_rng(seed)
    fitted = rng.integers(0, spread, (n, columns)) / 4
    new = rng.integers(-1, spread + 1, (m, columns)) / 4
    measure = Ranked(scale=scale, n_jobs=jobs).fit(fitted)
    with compile_at_once(), pytest.MonkeyPatch.context() as patch:
        calls = narrow_road(patch)
        patch.setattr(module, "ROWS_PER_TASK", tall)
        found = measure.distance(new)
    assert len(calls) == -(-m // tall)
    assert_array_equal(found, slow(fitted, new, scale))
    assert_array_equal(found, measure.block(measure.encode(new), measure.rows_))


@pytest.mark.parametrize("n", [600, 9_000, 32_767, 32_768])
def test_many_rows_fill_more_than_one_tile_and_sum_in_parts(n, monkeypatch):
    rng = np.random.default_rng(n)
    fitted, new = rng.random((n, 7)).round(3), rng.random((3, 7)).round(3)
    measure = Ranked().fit(fitted)
    calls = narrow_road(monkeypatch)
    with compile_at_once():
        found = measure.distance(new)
    assert len(calls) == (n < 32_768)  # beyond, twice the ranks need more than two bytes
    assert_array_equal(found, measure.block(measure.encode(new), measure.rows_))


def test_new_rows_among_themselves_and_fitted_ones_take_the_wide_road(monkeypatch):
    rng = np.random.default_rng(0)
    fitted, new = rng.random((30, 3)), rng.random((5, 3))
    calls = narrow_road(monkeypatch)
    with compile_at_once():
        for measure in (Ranked(unseen="paper"), Ranked("euclidean"), Ranked("chebyshev")):
            measure.fit(fitted).distance(new)
        Ranked().fit(fitted).distance(new, new[::-1].copy())
        Ranked().fit(fitted).similarity(new)
    assert not calls
    with la.config(n_jobs=1), compile_at_once():
        Ranked().fit(fitted).distance(new)
    assert calls
