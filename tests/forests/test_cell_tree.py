"""Similarity trees: the published steps, the worked numbers, and a slow tree grown alike."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import lookalike as la
from forests import cell_reference as reference
from lookalike.columns import EditSets, Jaccard, variance
from lookalike.forests.cell_columns import Cellar, encode_columns, fit_columns
from lookalike.forests.cell_growing import Limits, grow_trees
from lookalike.kernels.draw import draw_below
from lookalike.kernels.cell_split import (
    CATEGORY,
    GINI,
    NUMBER,
    SQUARED,
    VARIANCE,
    best_cut,
    group_by_class,
    least_varied,
    line_up,
    spread_of_cells,
)
from lookalike.table.table import Column, Kind, Table

SOME = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
NONE = np.empty(1)


def cellar_of(table, cache_pairs=10**7, distances=None, **options):
    columns = fit_columns(table, distances, **options)
    cells = encode_columns(columns, table, fitted=True)
    return Cellar.of(columns, cells, cache_pairs)


def objects(cells):
    out = np.empty(len(cells), dtype=object)
    out[:] = cells
    return out


def line(kind, values, p, q):
    """Project numbers; return rows in order and their projections."""
    x = np.asarray(values, float)
    codes = np.unique(x, return_inverse=True)[1].astype(np.int32)
    m = len(x)
    work = [np.empty(m, np.int64), np.empty(m, np.int64), np.empty(256, np.int64)]
    item, proj = np.empty(m, np.int64), np.empty(m)
    k = line_up(kind, x, codes, np.arange(m), m, p, q, NONE, 0, 1, *work, item, proj)
    return item[:k], proj[:k]


def cut(item, proj, y, criterion=GINI, balanced=True):
    label = np.asarray(y, np.int64)
    target = np.asarray(y, float)
    ones, times = np.ones(len(y)), np.ones(len(y), np.int64)
    k = int(label.max()) + 1
    return best_cut(
        np.asarray(item), np.asarray(proj, float), len(item), label, target, ones, times, k,
        criterion, 1, balanced, 1e-12, 0.0, 0.0, np.empty(k), np.empty(k),
    )  # fmt: skip


# -- worked numbers --------------------------------------------------------------------------------


def test_variance_of_numbers_and_categories():
    table = la.read_table({"n": [1.0, 3.0, 5.0], "c": ["a", "a", "b"]}, kinds={"c": "category"})
    n, c = fit_columns(table)
    assert variance(n.distance, n.distance.encode(table["n"])) == pytest.approx(8 / 3)
    assert variance(c.distance, c.distance.encode(table["c"])) == pytest.approx(2 / 9)


def test_projections_on_a_line_are_clamped_and_squares_are_not():
    item, proj = line(NUMBER, range(6), 1, 4)
    assert dict(zip(item.tolist(), proj.tolist(), strict=True)) == {
        0: 3, 1: 3, 2: 1, 3: -1, 4: -3, 5: -3,
    }  # fmt: skip
    item, proj = line(SQUARED, range(6), 1, 4)
    assert dict(zip(item.tolist(), proj.tolist(), strict=True)) == {
        0: 15, 1: 9, 2: 3, 3: -3, 4: -9, 5: -15,
    }  # fmt: skip
    assert (np.diff(proj) > 0).all()


def test_beyond_the_pair_there_is_no_round_off():
    _, proj = line(NUMBER, [-7.3, 0.05, 0.1, 0.3, 12.7], 2, 3)
    assert len(set(proj.tolist())) == 2


def test_sets_of_letters():
    words = ["ab", "abc", "a", "xy", "xyz", "bx"]
    table = Table([Column("s", Kind("set"), objects([frozenset(w) for w in words]))])
    cellar = cellar_of(table)
    x, times = cellar.values[0], np.ones(6, np.int64)
    label = np.array([0, 0, 0, 1, 1, 1])
    state = np.array([1], np.int64)
    shape = (times, cellar.flat, 0, cellar.width[0], state)
    rows = np.arange(6)
    assert spread_of_cells(x, rows, 0, 3, *shape) == pytest.approx(0.089506, abs=5e-7)
    assert spread_of_cells(x, rows, 3, 6, *shape) == pytest.approx(0.124228, abs=5e-7)
    grouped, ends = np.empty(6, np.int64), np.empty(3, np.int64)
    group_by_class(rows, 6, label, 2, grouped, ends)
    work = [np.empty(6, np.int64), np.empty(6, np.int64), np.empty(256, np.int64)]
    kind = cellar.kinds[0]
    assert least_varied(kind, x, cellar.ranks[0], grouped, ends, 2, *shape, *work) == 0
    item, proj = np.empty(6, np.int64), np.empty(6)
    line_up(
        kind, x, cellar.ranks[0], rows, 6, 0, 3, cellar.flat, 0, cellar.width[0], *work, item, proj
    )
    placed = dict(zip(item.tolist(), proj.tolist(), strict=True))
    assert_allclose([placed[i] for i in range(6)], [1, 2 / 3, 0.5, -1, -2 / 3, 0], atol=1e-12)
    score, imbalance, place = cut(item, proj, label)
    assert (score, imbalance, proj[place]) == (pytest.approx(0), 0, pytest.approx(0))


def test_equal_scores_go_to_the_even_cut():
    score, imbalance, place = cut(range(4), [1, 2, 3, 4], [0, 1, 2, 0])
    assert (score, imbalance, place) == (pytest.approx(0.5), 0, 1)
    _, _, place = cut(range(4), [1, 2, 3, 4], [0, 1, 2, 0], balanced=False)
    assert place == 0


def test_a_target_is_cut_where_its_variance_ends():
    item, proj = line(NUMBER, [1, 2, 8, 9], 0, 3)
    assert dict(zip(item.tolist(), proj.tolist(), strict=True)) == {0: 8, 1: 6, 2: -6, 3: -8}
    score, _, place = cut(item, proj, [0, 0, 10, 10], VARIANCE)
    assert score == pytest.approx(0)
    assert proj[place] == -6


def test_a_missing_value_goes_left_when_sides_are_even():
    table = la.read_table({"n": [1.0, 2.0, None, 8.0, 9.0]})
    label = np.array([0, 0, 0, 1, 1])
    for seed in range(5):
        grown = grow_trees(
            cellar_of(table), label, n_classes=2, n_trees=1, bootstrap=False, random_state=seed
        )
        trees = grown.trees
        assert trees.default[0] == 1
        missing = trees.encode(la.read_table({"n": [None]}, kinds={"n": "number"}))
        assert trees.leaves(missing)[0, 0] == 1


def test_similarity_forest_projects_the_other_way_round():
    rows = np.arange(6.0)[:, None]
    table = Table([Column("v", Kind("vector", width=1), rows)])
    cellar = cellar_of(table, projection="squared")
    work = [np.empty(6, np.int64), np.empty(6, np.int64), np.empty(256, np.int64)]
    item, proj = np.empty(6, np.int64), np.empty(6)
    p, q = 4, 1  # its p = 1 and q = 4 come in the reverse order
    line_up(
        cellar.kinds[0], cellar.values[0], cellar.ranks[0], np.arange(6), 6, p, q, cellar.flat, 0,
        6, *work, item, proj,
    )  # fmt: skip
    assert item.tolist() == list(range(6))
    assert_allclose(proj, [-15, -9, -3, 3, 9, 15])


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
    """A table of small whole numbers, categories and sets, and the same cells for the slow tree."""
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


def compare(trees, slow, cellar, value_of):
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
            column = cellar.columns[f].distance
            for kept, row in ((trees.first[at], p), (trees.second[at], q)):
                cell = trees.kept[f][[kept]]
                own = cellar.cells[f][[row]]
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


def grow_both(seed, n, gaps, limits, y, use="distance", numeric="projection", **labels):
    rng = np.random.default_rng(seed)
    table, plain = mixed(rng, n, gaps)
    options = {"projection": use, "numeric": numeric}
    own = Limits(
        limits["tried"], limits["pairs"], limits.get("depth"), limits["split"], limits["leaf"],
        limits["criterion"], limits["by_class"], limits["balanced"], limits["midpoint"],
    )  # fmt: skip
    number_use = "value" if numeric == "value" else use
    columns = [
        reference.Column(plain[0], reference.apart, number_use),
        reference.Column(plain[1], reference.differ, "distance"),
        reference.Column(plain[2], reference.jaccard, use, exact=False),
    ]
    found = []
    for cache in (10**7, 0):
        cellar = cellar_of(table, cache, **options)
        grown = grow_trees(
            cellar, n_trees=1, limits=own, bootstrap=False, random_state=seed, **labels
        )
        found.append((grown.trees, cellar))
    from lookalike.forests.seeds import tree_states

    state = tree_states(seed, 1)
    slow = reference.Tree(columns, y, [1] * n, drawer(state), **limits)
    return found, slow


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 30),
    gaps=st.sampled_from([0.0, 0.2]),
    limits=LIMITS,
    use=st.sampled_from(["distance", "squared"]),
    numeric=st.sampled_from(["projection", "value"]),
)
@SOME
def test_the_tree_is_the_slow_tree(seed, n, gaps, limits, use, numeric):
    label = np.random.default_rng(seed + 1).integers(0, 3, n)
    label[:2] = 0, 1
    found, slow = grow_both(
        seed, n, gaps, limits, label.tolist(), use, numeric, label=label, n_classes=3
    )
    for trees, cellar in found:
        compare(
            trees, slow, cellar, lambda rows: np.bincount(label[rows], minlength=3).astype(float)
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
    for trees, cellar in found:
        compare(
            trees, slow, cellar, lambda rows: np.bincount(label[rows], minlength=2).astype(float)
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
    for trees, cellar in found:
        compare(trees, slow, cellar, lambda rows: [target[rows].mean()])


@given(seed=st.integers(0, 10**6), n=st.integers(6, 20))
@settings(SOME, max_examples=20)
def test_weights_and_repeated_rows(seed, n):
    from lookalike.forests.seeds import tree_states

    rng = np.random.default_rng(seed)
    table, plain = mixed(rng, n, 0.1)
    label = rng.integers(0, 2, n)
    label[:2] = 0, 1
    weight = rng.integers(0, 3, n)
    weight[:2] = 1
    cellar = cellar_of(table)
    grown = grow_trees(
        cellar, label, None, weight, n_classes=2, n_trees=1, limits=Limits(2), random_state=seed
    )
    # The same stream first draws the rows, each as often as it comes, and then the tree.
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
        grown.trees, slow, cellar, lambda rows: np.bincount(label[rows], here[rows], minlength=2)
    )


# -- what must hold --------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), n=st.integers(5, 40))
@settings(SOME, max_examples=25)
def test_leaves_are_pure_unless_their_rows_coincide(seed, n):
    rng = np.random.default_rng(seed)
    table, plain = mixed(rng, n, 0.0)
    label = rng.integers(0, 3, n)
    grown = grow_trees(
        cellar_of(table), label, n_classes=3, n_trees=3, bootstrap=False, random_state=seed
    )
    trees = grown.trees
    leaves = trees.leaves(cellar_of(table).cells)
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
    matrix = np.round(encode.compare(cells, cells) * 60)  # whole numbers: multiples are exact
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
            cellar_of(rows, distances={"at": d}), label, n_classes=2, n_trees=10, random_state=0
        )
        forests.append(grown.trees)
    a, b = forests
    assert_array_equal(a.feature, b.feature)
    assert_array_equal(a.first, b.first)
    assert_array_equal(a.second, b.second)
    assert_array_equal(a.right, b.right)
    assert_allclose(factor * a.threshold, b.threshold)


def test_category_kernel_counts_three_places():
    item, proj = line(CATEGORY, [2, 0, 1, 0, 2, 1], 1, 2)  # p = 0, q = 1
    assert sorted(item[:2].tolist()) == [2, 5]
    assert proj.tolist() == [-1, -1, 0, 0, 1, 1]
    assert Fraction(1, 2) == reference.jaccard(frozenset({1, 2, 3}), frozenset({2, 3, 4}))
