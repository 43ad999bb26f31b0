"""Bytes propose, the measure decides: the lists are those of looking at everything, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import lookalike as la
from lookalike.kernels.byte_bounds import STEPS, TILE
from lookalike.measures import Gower, Ranked, Vector
from lookalike.measures import gower as gower_module
from lookalike.measures import ranked as ranked_module
from lookalike.measures import vector as vector_module
from lookalike.measures.base import Measure
from lookalike.neighbors.codes import ByteCodes, bound_queries
from lookalike.testing import number_tables, tables

EVERY = ("number", "category", "order", "flag", "text", "set")


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Take the road of bytes however few the rows."""
    for module in (gower_module, ranked_module, vector_module):
        monkeypatch.setattr(module, "pays", lambda b, k: True)


def same(measure, a, b, k, **options):
    fast = measure.nearest(a, b, k, **options)
    plain = Measure.nearest(measure, a, b, k, **options)
    assert_array_equal(fast.indices, plain.indices)
    assert_array_equal(fast.distances, plain.distances)
    assert fast.n_indexed == plain.n_indexed
    assert fast.has_self == plain.has_self


GOWERS = st.sampled_from(
    [
        {},
        {"missing": "midpoint"},
        {"conversion": "sqrt"},
        {"alpha": 2.0, "beta": 0.5},
        {"order": "rank_range", "constant": "drop"},
        {"self_similarity": "formula", "missing": "midpoint"},
    ]
)
WEIGHTS = st.lists(st.sampled_from([0.0, 1.0, 1.0, 0.25, 3.0, 1e-9, 1e6]), min_size=5, max_size=5)


@settings(deadline=None)
@given(tables(kinds=EVERY, min_rows=2, max_rows=12), GOWERS, WEIGHTS, st.integers(1, 4), st.data())
def test_gower(table, options, weights, k, data):
    given_weights = dict(zip(table.names, weights, strict=False))
    if not any(weights[: len(table.names)]):
        given_weights = None
    try:
        measure = Gower(weights=given_weights, **options).fit(table)
    except la.errors.InvalidInput:  # every column was constant and dropped
        return
    n = len(table)
    rows = measure.rows_
    same(measure, rows, rows, min(k, n), exclude=np.arange(n))
    same(measure, rows, rows, min(k, n))
    new = measure.encode(table[data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=4))])
    same(measure, new, rows, min(k, n))
    ids = np.sort(data.draw(st.permutations(range(3 * n))))[:n]
    same(measure, new, rows, min(k, n), ids=np.asarray(ids))


@settings(deadline=None)
@given(
    number_tables(min_rows=2, max_rows=15),
    st.sampled_from(["cityblock", "chebyshev"]),
    st.integers(1, 4),
)
def test_numbers(x, metric, k):
    k = min(k, len(x) - 1)
    for measure in (Vector(metric), Ranked(metric), Ranked(metric, unseen="paper", scale=True)):
        fitted = measure.fit(x)
        same(fitted, fitted.rows_, fitted.rows_, k, exclude=np.arange(len(x)))
        same(fitted, fitted.encode(x[::-1] * 3.0 + 0.25), fitted.rows_, k)


def mixed(n, gaps, seed=0, kinds=5):
    rng = np.random.default_rng(seed)
    columns = {}
    for j in range(kinds):
        x = rng.gamma(1.0, size=n).round(2)
        x[rng.random(n) < gaps] = np.nan
        columns[f"x{j}"] = x
        c = rng.integers(0, 4 + 100 * j, n).astype(object)
        c[rng.random(n) < gaps] = None
        columns[f"c{j}"] = [None if v is None else f"c{v}" for v in c]
    return la.read_table(columns, kinds={f"c{j}": "category" for j in range(kinds)})


@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_many_tiles_threads_and_memory_limits(gaps, n_jobs):
    table = mixed(3 * TILE + 17, gaps)
    measure = Gower(n_jobs=n_jobs).fit(table)
    with la.config(memory_limit="1MB"):
        same(measure, measure.rows_[:70], measure.rows_, 9, exclude=np.arange(70))
        same(measure, measure.rows_[:1], measure.rows_, 3)


def test_more_columns_than_narrow_sums_hold_and_more_categories_than_bytes():
    rng = np.random.default_rng(0)
    x = rng.random((2 * TILE, 300))
    measure = Gower().fit(x)
    same(measure, measure.rows_[:5], measure.rows_, 7, exclude=np.arange(5))
    words = la.read_table({"w": [f"w{i % 600}" for i in range(1500)], "x": rng.random(1500)})
    measure = Gower(kinds={"w": "category"}).fit(words)
    new = measure.encode({"w": ["w3", "never seen", "w599"], "x": [0.1, 99.0, -99.0]})
    same(measure, new, measure.rows_, 5)


def test_copies_and_constant_columns():
    rows = {"a": [1.0] * 40, "b": [0.0, 1.0] * 20, "c": ["x"] * 40}
    measure = Gower().fit(la.read_table(rows, kinds={"a": "number", "c": "category"}))
    same(measure, measure.rows_, measure.rows_, 10, exclude=np.arange(40))


def test_weights_given_with_the_question():
    table = mixed(2000, 0.1)
    measure = Gower().fit(table)
    again = measure.reweighted({"x0": 5.0, "c1": 0.0})
    same(again, again.rows_[:20], again.rows_, 6, exclude=np.arange(20))


def test_bounds_are_bounds():
    """A bound times its unit is never above what it bounds, and often not far below."""
    rng = np.random.default_rng(1)
    x, q = rng.random((500, 6)), rng.random((4, 6))
    weights = rng.random(6)
    codes = ByteCodes.of((x * STEPS).astype(np.uint8))
    bounds = bound_queries(
        codes, (q * STEPS).astype(np.uint8), weights, np.zeros(6, bool), weights=weights
    )
    asked = bounds.asked
    for i in range(4):
        steps = np.maximum(np.abs(asked.u[i].astype(int) - (x * STEPS).astype(int)) - 1, 0)
        found = (steps * asked.w[i]).sum(axis=1) * bounds.unit[i]
        true = (np.abs(x - q[i]) * weights).sum(axis=1) / weights.sum()
        assert (found <= true + 1e-12).all()
        assert (found > 0.9 * true - 0.05).all()


def test_rows_remain_few():
    """Bounds rule out nearly everything on an ordinary table; else they would not be worth it."""
    table = mixed(20 * TILE, 0.0)
    measure = Gower().fit(table)
    compared = []

    def counted(a, b, left, right):
        compared.append(len(right))
        return Gower.pair_distances(measure, a, b, left, right)

    measure.pair_distances = counted
    same(measure, measure.rows_[:8], measure.rows_, 10, exclude=np.arange(8))
    assert sum(compared) < 0.05 * 8 * len(table)
