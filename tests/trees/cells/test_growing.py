"""Similarity trees: the published steps, the worked numbers, and a slow tree grown alike."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import lookalike as la
from lookalike.columns import EditSets, Jaccard, variance
from lookalike.kernels import cells as kernels
from lookalike.kernels.cells import make_scratch
from lookalike.kernels.growing import draw_below, draw_unit
from lookalike.table.model.kind import Kind
from lookalike.table.model.table import Column, Table
from lookalike.trees.cells.columns import CellCache, encode_columns, fit_columns
from lookalike.trees.cells.growing import (
    Goal,
    Sampling,
    TreeLimits,
    grow_isolation_trees,
    grow_trees,
)
from trees import cell_reference as reference

SOME = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
NONE = np.empty(1)


def cache_of(table, cache_pairs=10**7, distances=None, **options):
    columns = fit_columns(table, distances, **options)
    cells = encode_columns(columns, table, fitted=True)
    return CellCache.of(columns, cells, cache_pairs)


def objects(cells):
    out = np.empty(len(cells), dtype=object)
    out[:] = cells
    return out


# -- worked numbers --------------------------------------------------------------------------------


def test_variance_of_numbers_and_categories():
    table = la.read_table({"n": [1.0, 3.0, 5.0], "c": ["a", "a", "b"]}, kinds={"c": "category"})
    n, c = fit_columns(table)
    assert variance(n.distance, n.distance.encode(table["n"])) == pytest.approx(8 / 3)
    assert variance(c.distance, c.distance.encode(table["c"])) == pytest.approx(2 / 9)


def test_a_missing_value_goes_left_when_sides_are_even():
    table = la.read_table({"n": [1.0, 2.0, None, 8.0, 9.0]})
    label = np.array([0, 0, 0, 1, 1])
    for seed in range(5):
        grown = grow_trees(
            cache_of(table),
            Goal(label, n_classes=2),
            1,
            sampling=Sampling(False),
            random_state=seed,
        )
        trees = grown.forest
        assert trees.default[0] == 1
        missing = trees.encode(la.read_table({"n": [None]}, kinds={"n": "number"}))
        assert trees.leaves(missing)[0, 0] == 1


def test_sequences_of_sets():
    cells = objects([(frozenset({1, 2}), frozenset({3}))] * 2)
    cells[1] = (frozenset({1, 2, 3}), frozenset({3}), frozenset({4}))
    column = Column("s", Kind("sequence"), cells)
    distance = EditSets().fit(column)
    encoded = distance.encode(column)
    assert distance.compare(encoded[:1], encoded)[0, 1] == pytest.approx(4 / 3)


# -- the slow tree ---------------------------------------------------------------------------------


def present(gone, cells):
    return [None if g else cell for g, cell in zip(gone, cells, strict=True)]


def mixed(rng, n, gaps):
    """A table of small integers, categories and sets, and the same cells for the slow tree."""
    numbers = rng.integers(0, 6, n).astype(float)
    colors = rng.integers(0, 3, n)
    sets = [frozenset(rng.choice(6, rng.integers(0, 4), replace=False).tolist()) for _ in range(n)]
    gone = rng.random((3, n)) < gaps
    kind = Kind("category", levels=("a", "b", "c"))
    table = Table(
        [
            Column("n", Kind("number"), np.where(gone[0], np.nan, numbers)),
            Column("c", kind, np.where(gone[1], -1, colors)),
            Column("s", Kind("set"), objects(present(gone[2], sets))),
        ]
    )
    plain = [
        present(gone[0], [int(v) for v in numbers]),
        present(gone[1], colors.tolist()),
        present(gone[2], sets),
    ]
    return table, plain


def drawer(state):
    return lambda n: int(draw_below(state, n))


def compare(trees, slow, cache, value_of):
    """Both trees have the same nodes, tests and values, in the same order."""
    assert len(trees.feature) == len(slow.nodes)
    for at, node in enumerate(slow.nodes):
        assert trees.depth[at] == node["depth"]
        assert trees.entries[at] == slow.count(node["rows"])
        assert_allclose(trees.value[at], value_of(node["rows"]), atol=1e-9)
        assert trees.impurities[at] == pytest.approx(float(slow.impurity(node["rows"])), abs=1e-9)
        if node["test"] is None:
            assert trees.feature[at] == -1
            continue
        f, p, q, threshold, goes_left = node["test"]
        assert trees.feature[at] == f
        assert trees.threshold[at] == pytest.approx(float(threshold), abs=1e-12)
        assert bool(trees.default[at]) == goes_left
        if p is not None:
            column = cache.columns[f].distance
            for kept, row in ((trees.first[at], p), (trees.second[at], q)):
                cell = trees.kept[f][[kept]]
                own = cache.cells[f][[row]]
                assert column.compare(cell, own)[0, 0] == 0


LIMITS = st.fixed_dictionaries(
    {
        "tried": st.integers(1, 3),
        "pairs": st.integers(1, 3),
        "split": st.integers(2, 5),
        "leaf": st.integers(1, 3),
        "criterion": st.sampled_from(["gini", "entropy"]),
        "by_class": st.booleans(),
        "balanced": st.booleans(),
        "midpoint": st.booleans(),
    }
)


def grow_both(
    seed, n, gaps, limits, y, use="distance", numeric="projection", drawn=False, **labels
):
    rng = np.random.default_rng(seed)
    table, plain = mixed(rng, n, gaps)
    options = {"projection": use, "numeric": numeric}
    own = TreeLimits(
        limits["tried"], limits["pairs"], limits.get("depth"), limits["split"], limits["leaf"],
        limits["criterion"], limits["by_class"], limits["balanced"], limits["midpoint"],
        splitter="random" if drawn else "best",
    )  # fmt: skip
    number_use = "value" if numeric == "value" else use
    columns = [
        reference.Column(plain[0], reference.apart, number_use),
        reference.Column(plain[1], reference.differ, "distance"),
        reference.Column(plain[2], reference.jaccard, use, exact=False),
    ]
    found = []
    for cache in (10**7, 0):
        cache = cache_of(table, cache, **options)
        grown = grow_trees(
            cache, Goal(**labels), 1, limits=own, sampling=Sampling(False), random_state=seed
        )
        found.append((grown.forest, cache))
    from lookalike.trees.growing import tree_states

    state = tree_states(seed, 1)
    unit = (lambda: draw_unit(state)) if drawn else None
    slow = reference.Tree(columns, y, [1] * n, drawer(state), unit=unit, **limits)
    return found, slow


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 30),
    gaps=st.sampled_from([0.0, 0.2]),
    limits=LIMITS,
    use=st.sampled_from(["distance", "squared"]),
    numeric=st.sampled_from(["projection", "value"]),
    drawn=st.booleans(),
)
@SOME
def test_the_tree_is_the_slow_tree(seed, n, gaps, limits, use, numeric, drawn):
    label = np.random.default_rng(seed + 1).integers(0, 3, n)
    label[:2] = 0, 1
    found, slow = grow_both(
        seed, n, gaps, limits, label.tolist(), use, numeric, drawn, label=label, n_classes=3
    )
    for trees, cache in found:
        compare(
            trees, slow, cache, lambda rows: np.bincount(label[rows], minlength=3).astype(float)
        )


@given(seed=st.integers(0, 10**6), n=st.integers(60, 80), pairs=st.integers(1, 2))
@settings(SOME, max_examples=8)
def test_large_nodes_estimate_variance_from_one_drawn_cell(seed, n, pairs):
    label = np.random.default_rng(seed).integers(0, 2, n)
    limits = {
        "tried": 2, "pairs": pairs, "split": 2, "leaf": 1, "criterion": "gini", "by_class": True,
        "balanced": True, "midpoint": False, "depth": 3,
    }  # fmt: skip
    found, slow = grow_both(seed, n, 0.0, limits, label.tolist(), label=label, n_classes=2)
    for trees, cache in found:
        compare(
            trees, slow, cache, lambda rows: np.bincount(label[rows], minlength=2).astype(float)
        )


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 25),
    gaps=st.sampled_from([0.0, 0.2]),
    tried=st.integers(1, 3),
    leaf=st.integers(1, 2),
)
@settings(SOME, max_examples=30)
def test_the_regression_tree_is_the_slow_tree(seed, n, gaps, tried, leaf):
    target = np.random.default_rng(seed + 1).integers(0, 8, n).astype(float)
    limits = {
        "tried": tried, "pairs": 2, "split": 2, "leaf": leaf, "criterion": "variance",
        "by_class": True, "balanced": True, "midpoint": False,
    }  # fmt: skip
    y = [int(v) for v in target]
    found, slow = grow_both(seed, n, gaps, limits, y, target=target)
    for trees, cache in found:
        compare(trees, slow, cache, lambda rows: [target[rows].mean()])


@given(seed=st.integers(0, 10**6), n=st.integers(6, 20))
@settings(SOME, max_examples=20)
def test_weights_and_repeated_rows(seed, n):
    from lookalike.trees.growing import tree_states

    rng = np.random.default_rng(seed)
    table, plain = mixed(rng, n, 0.1)
    label = rng.integers(0, 2, n)
    label[:2] = 0, 1
    weight = rng.integers(0, 3, n)
    weight[:2] = 1
    cache = cache_of(table)
    grown = grow_trees(
        cache, Goal(label, weight=weight, n_classes=2), 1, limits=TreeLimits(2), random_state=seed
    )
    # The same stream first draws the rows, each as often as it was drawn, and then the tree.
    state = tree_states(seed, 1)
    draw = drawer(state)
    times = np.bincount([draw(n) for _ in range(n)], minlength=n)
    if not (times * weight).any():
        return
    columns = [
        reference.Column(plain[0], reference.apart),
        reference.Column(plain[1], reference.differ),
        reference.Column(plain[2], reference.jaccard, exact=False),
    ]
    slow = reference.Tree(columns, label.tolist(), times.tolist(), draw, weight.tolist(), tried=2)
    here = weight * times
    compare(
        grown.forest, slow, cache, lambda rows: np.bincount(label[rows], here[rows], minlength=2)
    )


# -- what must hold --------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), n=st.integers(5, 40))
@settings(SOME, max_examples=25)
def test_leaves_are_pure_unless_their_rows_coincide(seed, n):
    rng = np.random.default_rng(seed)
    table, plain = mixed(rng, n, 0.0)
    label = rng.integers(0, 3, n)
    grown = grow_trees(
        cache_of(table), Goal(label, n_classes=3), 3, sampling=Sampling(False), random_state=seed
    )
    trees = grown.forest
    leaves = trees.leaves(cache_of(table).cells)
    for t in range(3):
        for leaf in np.unique(leaves[:, t]):
            rows = np.flatnonzero(leaves[:, t] == leaf)
            if len(set(label[rows])) > 1:
                assert len({tuple(cells[r] for cells in plain) for r in rows}) == 1


@pytest.mark.parametrize("factor", [4.0, 3.0])
def test_a_multiple_of_a_distance_changes_nothing(factor):
    rng = np.random.default_rng(0)
    table, _ = mixed(rng, 60, 0.0)
    label = rng.integers(0, 2, 60)
    encode = Jaccard().fit(table["s"])
    cells = encode.encode(table["s"])
    matrix = np.round(encode.compare(cells, cells) * 60)  # integers: multiples are exact
    places = la.read_table(
        {"at": np.arange(60.0), "n": table["n"].values}, kinds={"at": "number", "n": "number"}
    )
    scaled = la.read_table(
        {"at": np.arange(60.0), "n": factor * table["n"].values},
        kinds={"at": "number", "n": "number"},
    )
    forests = []
    for rows, d in ((places, matrix), (scaled, factor * matrix)):
        grown = grow_trees(
            cache_of(rows, distances={"at": d}), Goal(label, n_classes=2), 10, random_state=0
        )
        forests.append(grown.forest)
    a, b = forests
    assert_array_equal(a.feature, b.feature)
    assert_array_equal(a.first, b.first)
    assert_array_equal(a.second, b.second)
    assert_array_equal(a.right, b.right)
    # Thresholds are moved up by a power of two of about 1e-12 of the range, here 120 at most.
    assert_allclose(factor * a.threshold, b.threshold, atol=1e-9)


# -- tables that give tests nothing to compare -----------------------------------------------------


@pytest.mark.parametrize("cells", ["far", "missing", "constant", "one far", "one row"])
@pytest.mark.parametrize("goal", ["classes", "amounts", "isolation"])
@pytest.mark.parametrize("lazy", [False, True])
def test_nothing_is_read_that_was_not_written(monkeypatch, cells, goal, lazy):
    """Scratch memory holds numbers that no row and no class has, as it may."""

    def poisoned(*sizes):
        scratch = make_scratch(*sizes)
        for name in ("present", "grouped", "ends", "keys", "spare", "counts", "item"):
            getattr(scratch, name)[:] = 2**20
        for part in (scratch.gaps, scratch.proj, scratch.left, scratch.right, scratch.score):
            part[:] = np.nan
        return scratch

    monkeypatch.setattr(kernels, "make_scratch", poisoned)
    n = 1 if cells == "one row" else 40
    size = n if cells == "far" else 3
    words = objects([None if cells == "missing" else {"a", f"b{i % size}"} for i in range(n)])
    if cells == "constant":
        words = objects([{"a"}] * n)

    def apart(u, v):
        far = cells == "far" or "b0" in u or "b0" in v
        return 0.0 if u == v else np.inf if far else 1.0

    number = np.full(n, np.nan) if cells == "missing" else np.ones(n)
    table = Table([Column("w", Kind("set"), words), Column("x", Kind("number"), number)])
    columns = fit_columns(table, {"w": apart if "far" in cells else "jaccard"})
    encoded = encode_columns(columns, table, fitted=True)
    if goal == "isolation":
        trees = grow_isolation_trees(columns, encoded, 4, n_samples=n, random_state=0)
    else:
        y = np.arange(n) % 3
        target = Goal(y, n_classes=3) if goal == "classes" else Goal(target=y.astype(float))
        limits = [
            TreeLimits(1.0, criterion="gini" if goal == "classes" else "variance", **more)
            for more in ({}, {"splitter": "random"}, {"by_class": False, "midpoint": True})
        ]
        cache = CellCache.of(columns, encoded, 0 if lazy else 10**6)
        grown = [grow_trees(cache, target, 4, limits=one, random_state=0) for one in limits]
        trees = grown[0].forest
    assert ((trees.leaves(encoded) >= 0) & (trees.leaves(encoded) < len(trees.feature))).all()
    if "far" not in cells:
        assert (trees.feature < 0).all()
