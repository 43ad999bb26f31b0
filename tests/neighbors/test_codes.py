"""Search by quantized lower bounds returns the lists of brute force, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import lookalike as la
from lookalike.columns import EarthMover, Euclidean, Levenshtein, Overlap
from lookalike.kernels.bounds import TILE_ROWS
from lookalike.measures import Gower, Ranked, Vector
from lookalike.measures.contract import codes as bounded_search
from lookalike.measures.contract.base import Measure
from lookalike.neighbors import blocks as query_blocks
from lookalike.neighbors import codes
from lookalike.testing import number_tables, tables

EVERY = (
    "number", "category", "order", "flag", "text", "set", "sequence", "histogram", "vector"
)  # fmt: skip


@pytest.fixture(autouse=True, params=["single", "blocks"])
def always(request, monkeypatch):
    """Search by bounds however few the rows, query by query or in blocks of near queries."""
    monkeypatch.setattr(bounded_search, "pays", lambda b, k, n=1: True)
    monkeypatch.setattr(query_blocks, "MIN_QUERIES", 1 if request.param == "blocks" else np.inf)
    monkeypatch.setattr(codes, "worth_compiling", lambda loop, cells: True)
    monkeypatch.setattr(query_blocks, "QUERIES_PER_BLOCK", 3)
    monkeypatch.setattr(query_blocks, "PAIRS_PER_ROUND", 5)


def assert_same_lists(measure, a, b, k, **options):
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
    assert_same_lists(measure, rows, rows, min(k, n), exclude=np.arange(n))
    assert_same_lists(measure, rows, rows, min(k, n))
    new = measure.encode(table[data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=4))])
    assert_same_lists(measure, new, rows, min(k, n))
    ids = np.sort(data.draw(st.permutations(range(3 * n))))[:n]
    assert_same_lists(measure, new, rows, min(k, n), ids=np.asarray(ids))


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
        assert_same_lists(fitted, fitted.rows_, fitted.rows_, k, exclude=np.arange(len(x)))
        assert_same_lists(fitted, fitted.encode(x[::-1] * 3.0 + 0.25), fitted.rows_, k)


@pytest.mark.parametrize("metric", ["cityblock", "chebyshev"])
def test_denormal_ranges(metric):
    """No overflow, which numpy would warn of, where the whole range of a column is denormal."""
    x = np.random.default_rng(0).integers(0, 5, (20, 3)).astype(float)
    for scale in (5e-324, 1e-310, 1e-300):
        fitted = Vector(metric).fit(x * scale)
        assert_same_lists(fitted, fitted.rows_, fitted.rows_, 3, exclude=np.arange(20))


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
    table = mixed(3 * TILE_ROWS + 17, gaps)
    measure = Gower(n_jobs=n_jobs).fit(table)
    with la.config(memory_limit="1MB"):
        assert_same_lists(measure, measure.rows_[:70], measure.rows_, 9, exclude=np.arange(70))
        assert_same_lists(measure, measure.rows_[:1], measure.rows_, 3)


def test_more_columns_than_narrow_sums_hold_and_more_categories_than_bytes():
    rng = np.random.default_rng(0)
    x = rng.random((2 * TILE_ROWS, 300))
    measure = Gower().fit(x)
    assert_same_lists(measure, measure.rows_[:5], measure.rows_, 7, exclude=np.arange(5))
    words = la.read_table({"w": [f"w{i % 600}" for i in range(1500)], "x": rng.random(1500)})
    measure = Gower(kinds={"w": "category"}).fit(words)
    new = measure.encode({"w": ["w3", "never seen", "w599"], "x": [0.1, 99.0, -99.0]})
    assert_same_lists(measure, new, measure.rows_, 5)


OBJECTS = ("number", "text", "set", "sequence", "histogram", "vector", "order")
OF_OBJECTS = st.sampled_from(
    [{}, {"text": Levenshtein(normalized=False)}, {"set": Overlap(), "histogram": EarthMover()}]
)


@settings(deadline=None, max_examples=40)
@given(tables(kinds=EVERY, min_rows=3, max_rows=12), st.integers(1, 4), st.data())
def test_rows_that_are_not_allowed_are_stepped_over(table, k, data):
    measure = Gower().fit(table)
    n, rows = len(table), measure.rows_
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    ids = 3 * np.arange(n) + 1
    fast = measure.nearest_among(rows, rows, k, allowed, exclude=ids, ids=ids)
    at = np.flatnonzero(allowed)
    plain = Measure.nearest(measure, rows, rows[at], k, exclude=ids, ids=ids[at])
    assert_array_equal(fast.indices, plain.indices)
    assert_array_equal(fast.distances, plain.distances)


def test_copies_and_constant_columns():
    rows = {"a": [1.0] * 40, "b": [0.0, 1.0] * 20, "c": ["x"] * 40}
    measure = Gower().fit(la.read_table(rows, kinds={"a": "number", "c": "category"}))
    assert_same_lists(measure, measure.rows_, measure.rows_, 10, exclude=np.arange(40))


def test_weights_given_with_the_question():
    table = mixed(2000, 0.1)
    measure = Gower().fit(table)
    again = measure.reweighted({"x0": 5.0, "c1": 0.0})
    assert_same_lists(again, again.rows_[:20], again.rows_, 6, exclude=np.arange(20))


def test_rows_remain_few():
    """Bounds rule out nearly everything on an ordinary table; else they would not be worth it."""
    table = mixed(20 * TILE_ROWS, 0.0)
    measure = Gower().fit(table)
    compared = []

    def counted(a, b, left, right):
        compared.append(len(right))
        return Gower.pair_distances(measure, a, b, left, right)

    measure.pair_distances = counted
    measure._plain = None  # no query is left over for brute force
    assert_same_lists(measure, measure.rows_[:8], measure.rows_, 10, exclude=np.arange(8))
    assert sum(compared) < 0.05 * 8 * len(table)


def test_few_vectors_remain():
    """The straight line through all coordinates rules out what the sum of coordinates would not."""
    shares = np.random.default_rng(0).dirichlet(np.full(10, 0.5), 5 * TILE_ROWS)
    table = la.read_table({"shares": list(shares)}, kinds={"shares": "histogram"})
    measure = Gower(distances={"shares": Euclidean()}).fit(table)
    compared = []

    def counted(a, b, left, right):
        compared.append(len(right))
        return Gower.pair_distances(measure, a, b, left, right)

    measure.pair_distances = counted
    measure._plain = None  # no query is left over for brute force
    assert_same_lists(measure, measure.rows_[:8], measure.rows_, 10, exclude=np.arange(8))
    assert sum(compared) < 0.02 * 8 * len(table)
