"""Similarity trees as arrays: walking, answering every test, pruning, other ways of growing."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import lookalike as la
from lookalike.errors import InvalidInput
from lookalike.kernels.cells import TABLE, VALUE
from lookalike.trees import CellSimilarityForest, growers
from lookalike.trees.cells.columns import CellCache, encode_columns, fit_columns
from lookalike.trees.cells.growing import (
    Goal,
    Sampling,
    TreeLimits,
    grow_isolation_trees,
    grow_trees,
)
from lookalike.trees.cells.trees import prune_trees
from trees.cell_reference import answers


def mixed_table(n=60, seed=0, gaps=True):
    rng = np.random.default_rng(seed)
    words = ["anna", "hanna", "bob", "rob", "robert", "zoe"]
    table = {
        "n": rng.normal(size=n).round(1).tolist(),
        "c": rng.choice(["red", "blue", "green"], n).tolist(),
        "s": [set(rng.choice(list("abcdef"), 3).tolist()) for _ in range(n)],
        "t": [words[i] for i in rng.integers(0, 6, n)],
    }
    if gaps:
        for cells in table.values():
            for i in rng.choice(n, 6, replace=False):
                cells[i] = None
    kinds = {"n": "number", "c": "category", "s": "set", "t": "text"}
    return la.read_table(table, kinds=kinds), rng.integers(0, 2, n)


@pytest.fixture(scope="module")
def grown():
    table, label = mixed_table()
    columns = fit_columns(table, {"t": ["levenshtein", "jaro_winkler"]})
    cells = encode_columns(columns, table, fitted=True)
    cache = CellCache.of(columns, cells, 10**6)
    return (
        table,
        label,
        grow_trees(cache, Goal(label, n_classes=2), 7, keep_bag=True, random_state=0),
    )


def slow_value(trees, cells, node, row):
    """The projection of one row by one test, from the distance itself."""
    f = trees.feature[node]
    column = trees.columns[f]
    own = cells[f][[row]]
    p, q = trees.kept[f][[trees.first[node]]], trees.kept[f][[trees.second[node]]]
    if column.kind < TABLE:
        own = np.asarray(own, float)
        if own[0] == -1 and column.name == "c":
            return np.nan
        if column.name == "c":
            return float(own[0] != q[0]) - float(own[0] != p[0])
    to_q, to_p = column.distance.compare(q, own), column.distance.compare(p, own)
    return (to_q - to_p)[0, 0]


def test_a_column_may_take_part_with_several_distances(grown):
    _, _, found = grown
    names = [(column.name, column.distance.name) for column in found.forest.columns]
    assert names[-2:] == [("t", "levenshtein"), ("t", "jaro_winkler")]
    assert set(found.forest.feature) == {-1, 0, 1, 2, 3, 4}


def test_outcomes_are_those_of_the_distances(grown):
    table, _, found = grown
    trees = found.forest
    cells = trees.encode(table)
    outcomes = answers(trees, cells)
    leaves = trees.leaves(cells)
    assert (outcomes[:, trees.feature < 0] == 2).all()
    rng = np.random.default_rng(1)
    for node in rng.choice(np.flatnonzero(trees.feature >= 0), 40, replace=False):
        for row in rng.choice(len(table), 10, replace=False):
            value = slow_value(trees, cells, node, row)
            wanted = 2 if np.isnan(value) else int(value <= trees.threshold[node] + 1e-12)
            assert outcomes[row, node] == wanted
    for row in range(len(table)):  # walking is following the outcomes
        for t in range(trees.n_trees):
            at = start = trees.offsets[t]
            while trees.feature[at] >= 0:
                goes = outcomes[row, at] if outcomes[row, at] < 2 else trees.default[at]
                at = at + 1 if goes else start + trees.right[at]
            assert leaves[row, t] == at - start


def test_fitted_rows_end_where_they_were_grown(grown):
    table, label, found = grown
    trees = found.forest
    leaves = trees.leaves(trees.encode(table))
    for t in range(trees.n_trees):
        inside = np.flatnonzero(found.in_bag[:, t])
        for leaf in np.unique(leaves[inside, t]):
            node = trees.offsets[t] + leaf
            assert trees.feature[node] == -1
            here = inside[leaves[inside, t] == leaf]
            assert set(np.flatnonzero(trees.value[node])) == set(label[here])


def test_paths_lead_from_root_to_leaf(grown):
    table, _, found = grown
    trees = found.forest
    leaves = trees.leaves(trees.encode(table))
    nodes, ends = trees.path(leaves)
    first = nodes[ends[0] : ends[1]]
    assert first[0] == 0
    assert set(trees.offsets[:-1]) <= set(first)
    assert set(trees.offsets[:-1] + leaves[0]) <= set(first)
    depth = trees.depth[trees.offsets[:-1] + leaves].sum(axis=1) + trees.n_trees
    assert_array_equal(np.diff(ends), depth)


def test_the_shared_form_finds_the_same_leaves(grown):
    table, _, found = grown
    trees = found.forest
    cells = trees.encode(table)
    forest = trees.to_forest()
    values = trees.inputs(cells)
    whole = forest.leaves(values)
    nodes = forest.nodes
    own = trees.leaves(cells)
    for t in range(trees.n_trees):
        at = nodes.leaf_node[nodes.leaf_offsets[t] + whole[:, t].astype(int)]
        assert_array_equal(at, own[:, t])
    assert_array_equal(trees.inputs(cells, slice(10, 20)), values[10:20])
    assert forest.column.max() == 3  # two distances of one column are one column
    nowhere = np.isnan(values).any(axis=0)
    assert nowhere.any()


def test_growing_does_not_depend_on_threads_or_on_what_is_kept(grown):
    table, label, found = grown
    columns = found.forest.columns
    cells = encode_columns(columns, table, fitted=True)
    for cache, jobs in ((10**6, 2), (0, 1), (0, 2)):
        cache = CellCache.of(columns, cells, cache)
        trees = grow_trees(cache, Goal(label, n_classes=2), 7, random_state=0, n_jobs=jobs).forest
        for name in ("feature", "first", "second", "threshold", "right", "default", "value"):
            assert_array_equal(getattr(trees, name), getattr(found.forest, name), err_msg=name)


def test_importances_add_up(grown):
    _, _, found = grown
    shares = found.forest.importances(4)
    assert shares.sum() == pytest.approx(1)
    assert (shares > 0).all()


def test_pruning_is_that_of_scikit_learn():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :4]
    table = la.read_table(X)
    columns = fit_columns(table, numeric="value")
    cells = encode_columns(columns, table, fitted=True)
    cache = CellCache.of(columns, cells, 0)
    limits = TreeLimits(1.0, balanced=False)
    trees = grow_trees(
        cache, Goal(y, n_classes=2), 1, limits=limits, sampling=Sampling(False), random_state=0
    ).forest
    theirs = DecisionTreeClassifier(random_state=0).fit(X, y)
    for alpha in (0.002, 0.005, 0.02, 0.5):
        ours = prune_trees(trees, alpha)
        # The two unpruned trees differ in ties, so each is held to its own criterion.
        risks = ours.weights / ours.weights[0] * ours.impurities
        for node in np.flatnonzero(ours.feature >= 0):
            below = [v for v in range(node, len(ours.feature)) if is_below(ours, v, node)]
            leaves = [v for v in below if ours.feature[v] < 0]
            loss = (risks[node] - risks[leaves].sum()) / (len(leaves) - 1)
            assert loss > alpha
        pruned = DecisionTreeClassifier(random_state=0, ccp_alpha=alpha).fit(X, y)
        assert abs(int((ours.feature < 0).sum()) - pruned.get_n_leaves()) <= 3
    assert theirs.get_n_leaves() > 10
    assert len(prune_trees(trees, 0.5).feature) == 1


def is_below(trees, node, top):
    while node > top:
        node = trees.nodes.parent[node]
    return node == top


def test_by_value_trees_are_ordinary_ones():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    table = la.read_table(X)
    columns = fit_columns(table, numeric="value")
    cells = encode_columns(columns, table, fitted=True)
    trees = grow_trees(
        CellCache.of(columns, cells, 0), Goal(y, n_classes=2), 2, limits=TreeLimits(1.0),
        sampling=Sampling(False), random_state=0,
    ).forest  # fmt: skip
    assert set(trees.kinds) == {VALUE}
    assert (trees.first == -1).all()
    theirs = DecisionTreeClassifier(random_state=0).fit(X, y).tree_
    assert trees.impurities[0] == pytest.approx(theirs.impurity[0])
    assert trees.feature[0] == theirs.feature[0]
    inside = X[:, trees.feature[0]] <= trees.threshold[0]
    assert_array_equal(inside, X[:, theirs.feature[0]] <= theirs.threshold[0])


def test_unsupervised_trees_tell_rows_from_shuffled_ones(monkeypatch):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 80)
    sets = [frozenset(rng.choice([["a", "b", "c"], ["x", "y", "z"]][g], 2)) for g in group]
    table = la.read_table(
        {"s": sets, "n": (group * 10 + rng.normal(size=80)).tolist()}, kinds={"s": "set"}
    )
    options = {"max_features": 0.5, "max_samples": 0.8, "bootstrap": False}
    grower = CellSimilarityForest(20, **options, random_state=0)
    grown = grower.grow(table, out_of_bag=True)
    cells = grown.forest.encode(table)
    assert grown.in_bag.shape == (80, 20)
    assert grown.in_bag.mean() == pytest.approx(0.8, abs=0.05)
    trees = grown.forest
    assert (trees.entries[trees.offsets[:-1]] == 128).all()  # 80 % of twice 80 rows
    leaves = trees.leaves(cells)
    same = (leaves[:, None] == leaves).mean(axis=2)
    within = same[group[:, None] == group].mean()
    across = same[group[:, None] != group].mean()
    assert across < 0.05 < within
    # Distances that are computed as they are asked for give the same trees.
    monkeypatch.setattr(growers, "CACHE_PAIRS", 0)
    again = grower.grow(table, out_of_bag=True).forest
    assert_array_equal(again.threshold, trees.threshold)
    assert_array_equal(again.feature, trees.feature)


def test_synthetic_rows_shuffle_a_column_with_all_its_distances():
    table = la.read_table({"t": ["a", "bb", "ccc", "dddd"], "n": [1, 2, 3, 4]}, kinds={"t": "text"})
    columns = fit_columns(table, {"t": ["levenshtein", "jaro_winkler"]})
    cells = encode_columns(columns, table, fitted=True)
    cache = CellCache.of(columns, cells, 100)
    rows = np.array([[3, 2, 1, 0], [3, 2, 1, 0], [0, 1, 2, 3]])
    moved = cache.take(rows)
    assert_array_equal(moved.arrays.values[0], cache.arrays.values[0][::-1])
    assert_array_equal(moved.distances(0, 0, np.array([3])), cache.distances(0, 3, np.array([0])))


@pytest.mark.parametrize("far", [False, True])
def test_isolation_trees_keep_their_promises(far):
    table, _ = mixed_table(90)
    columns = fit_columns(table, numeric="value")
    cells = encode_columns(columns, table, fitted=True)
    trees = grow_isolation_trees(columns, cells, 10, n_samples=64, far=far, random_state=0)
    assert trees.depth.max() <= 6
    assert (trees.entries[trees.offsets[:-1]] == 64).all()
    inside = np.flatnonzero(trees.feature >= 0)
    tree = np.searchsorted(trees.offsets, inside, side="right") - 1
    right = trees.offsets[tree] + trees.right[inside]
    assert_array_equal(trees.entries[inside], trees.entries[inside + 1] + trees.entries[right])
    assert (trees.entries[inside + 1] > 0).all()
    assert (trees.entries[right] > 0).all()
    # Few trees on many rows compare cells sample by sample, with the same result.
    few = grow_isolation_trees(columns, cells, 1, n_samples=16, far=far, random_state=3)
    many = grow_isolation_trees(columns, cells, 40, n_samples=16, far=far, random_state=3)
    assert_allclose(many.threshold[: many.offsets[1]], few.threshold)


def test_too_large_samples_are_refused():
    table = la.read_table({"s": [{str(i)} for i in range(20)]}, kinds={"s": "set"})
    columns = fit_columns(table)
    cells = encode_columns(columns, table, fitted=True)
    with pytest.raises(InvalidInput, match="max_samples=5000"):
        grow_isolation_trees(columns, cells, 1, n_samples=5000)
