"""Search in a tree of boxes returns the lists of brute force, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import lookalike as la
from lookalike.kernels.boxes import nearest_in_boxes
from lookalike.kernels.first_use import compile_at_once
from lookalike.measures import Gower
from lookalike.measures.contract.base import Measure
from lookalike.measures.mixed import gower
from lookalike.neighbors import boxes
from lookalike.testing import tables

SIMPLE = "number", "category", "order", "flag"
GOWERS = st.sampled_from(
    [
        {},
        {"missing": "midpoint"},
        {"missing": "pessimistic"},
        {"conversion": "sqrt"},
        {"scale": "rank", "missing": "midpoint"},
        {"order": "rank_range", "constant": "drop"},
        {"self_similarity": "formula", "missing": "midpoint"},
    ]
)
WEIGHTS = st.lists(st.sampled_from([0.0, 1.0, 1.0, 0.25, 3.0, 1e-9, 1e6]), min_size=5, max_size=5)


@pytest.fixture
def always(monkeypatch):
    """Make trees of few rows, with leaves of three."""
    for where, name, value in (
        (gower, "MIN_QUERIES", 0), (gower, "MIN_ROWS", 0), (boxes, "LEAF_ROWS", 3),
        (boxes, "MAX_SHARE_COMPARED", 10.0),
    ):  # fmt: skip
        monkeypatch.setattr(where, name, value)
    monkeypatch.setattr(boxes.Boxes, "prunes", lambda *_: True)
    with compile_at_once():
        yield


def assert_same_lists(measure, a, b, k, **options):
    fast, plain = measure.nearest(a, b, k, **options), Measure.nearest(measure, a, b, k, **options)
    assert_array_equal(fast.indices, plain.indices)
    assert_array_equal(fast.distances, plain.distances)
    assert (fast.n_indexed, fast.has_self) == (plain.n_indexed, plain.has_self)


@settings(deadline=None)
@pytest.mark.usefixtures("always")
@given(tables(kinds=SIMPLE, min_rows=2, max_rows=30), GOWERS, WEIGHTS, st.integers(1, 4), st.data())
def test_lists_are_those_of_brute_force(table, options, weights, k, data):
    named = dict(zip(table.names, weights, strict=False))
    try:
        measure = Gower(weights=named if any(named.values()) else None, **options).fit(table)
    except la.errors.InvalidInput:  # every column was constant and dropped
        return
    rows, n = measure.rows_, len(table)
    assert_same_lists(measure, rows, rows, k, exclude=np.arange(n))
    assert_same_lists(measure, rows, rows, k)
    ids = np.array(data.draw(st.permutations(range(n))))
    assert_same_lists(measure, measure.encode(table), rows, k, ids=ids)
    uses = options.get("missing") != "pessimistic" and rows.arrays["simple"].shape[1]
    assert ("boxes" in rows.cache) == bool(uses)


def mixed(n, seed=0):
    random = np.random.default_rng(seed)
    cells = {"x": random.normal(size=n), "y": random.random(n)}
    return la.read_table(cells | {"c": random.choice(list("abcd"), n)})


def test_boxes_rule_out_most_rows():
    measure = Gower().fit(mixed(3_000))
    rows = measure.encode(mixed(300, 1))
    with compile_at_once():
        assert_same_lists(measure, rows, measure.rows_, 2)
    found, x = measure.rows_.cache["boxes"], rows.arrays["simple"]
    plan = measure.plan_.for_kernel(np.ones(3))
    none, ids = np.full(300, -1), np.arange(3_000)
    lists = np.full((300, 2), np.inf), np.full((300, 2), -1)
    tree = found.columns, ids, np.full(3_000, -1), found.low, found.high
    share = 300 * 300  # a tenth of all pairs
    done = nearest_in_boxes(x, none, none, *tree, plan, (False, 0.0, True), share, *lists)
    assert done == 300


def test_where_boxes_rule_out_little_others_search():
    random = np.random.default_rng(0)
    table = la.read_table({f"c{j}": random.choice(list("abcdefgh"), 600) for j in range(14)})
    measure = Gower().fit(table)
    with compile_at_once():
        assert_same_lists(measure, measure.rows_, measure.rows_, 3)
    assert "boxes" not in measure.rows_.cache


def test_queries_left_over_are_searched_by_others(monkeypatch):
    measure = Gower().fit(mixed(3_000))
    monkeypatch.setattr(boxes.Boxes, "prunes", lambda *_: True)
    monkeypatch.setattr(boxes, "MAX_SHARE_COMPARED", 0.01)
    with compile_at_once():
        assert_same_lists(measure, measure.rows_, measure.rows_, 2, exclude=np.arange(3_000))
