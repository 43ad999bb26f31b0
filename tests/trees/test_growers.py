"""Growers: labels from synthetic rows, random cuts, and what every grower promises."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lookalike.errors import InvalidInput
from lookalike.trees import IsolatingForest, SyntheticForest
from lookalike.trees.growers import ExtraForest, add_synthetic

seeds = st.integers(0, 10**6)


def grow_synthetic(values, category, n_trees, *, keep_bag=False, n_jobs=None, **options):
    """Grow as published for every method but "oob", whether or not bags are asked for."""
    grower = SyntheticForest(**{**SyntheticForest.PUBLISHED, **options, "n_estimators": n_trees})
    return grower.grow(values, category, out_of_bag=keep_bag, n_jobs=n_jobs)


def grow_extra(values, category, n_trees, *, keep_bag=False, n_jobs=None, **options):
    return ExtraForest(n_trees, **options).grow(
        values, category, out_of_bag=keep_bag, n_jobs=n_jobs
    )


def grow_isolation(values, category, n_trees, *, random_state, n_jobs=None):
    return IsolatingForest(n_trees, random_state=random_state).grow(values, category, n_jobs=n_jobs)


def mixed(seed, n=40, gaps=0.0):
    """A table of two number columns and two of categories, and which are which."""
    rng = np.random.default_rng(seed)
    values = np.column_stack(
        [
            rng.normal(size=n),
            np.round(rng.normal(size=n)),
            rng.integers(0, 4, n),
            rng.integers(0, 2, n),
        ]
    ).astype(float)
    values[rng.random(values.shape) < gaps] = np.nan
    return values, np.array([False, False, True, True])


def gini(labels):
    p = np.mean(labels)
    return 2 * p * (1 - p)


def gain(labels, goes):
    """Decrease of n times the Gini impurity."""
    n, left, right = len(labels), labels[goes], labels[~goes]
    return n * gini(labels) - len(left) * gini(left) - len(right) * gini(right)


def best_cuts(x, labels, category):
    """Gain of every cut of one column: (cut, gain), smallest cut first; missing values sit out."""
    known = ~np.isnan(x)
    x, labels = x[known], labels[known]
    cuts = np.unique(x) if category else np.unique(x)[:-1]
    if len(np.unique(x)) < 2:
        return []
    return [(c, gain(labels, x == c if category else x <= c)) for c in cuts]


def check_gini(forest, rows, labels, category, at=0):
    """Walk down one tree with its training rows: every cut must be the best there is."""
    f = forest.feature[at]
    cuts = {j: best_cuts(rows[:, j], labels, category[j]) for j in range(rows.shape[1])}
    splittable = any(cuts.values()) and 0 < labels.sum() < len(labels)
    assert (f >= 0) == splittable
    if f < 0:
        return
    best = max(g for some in cuts.values() for _, g in some)
    first = next(c for c, g in cuts[f] if g > best - 1e-9)  # the smallest cut of the best gain
    assert forest.threshold[at] == first
    x = rows[:, f]
    goes = x == first if category[f] else x <= first
    known = ~np.isnan(x)
    goes[~known] = goes[known].sum() >= (~goes[known]).sum()
    check_gini(forest, rows[goes], labels[goes], category, at + 1)
    check_gini(forest, rows[~goes], labels[~goes], category, forest.right[at])


@settings(max_examples=25, deadline=None)
@given(seed=seeds, gaps=st.sampled_from([0.0, 0.15]))
def test_every_cut_is_the_best_by_gini(seed, gaps):
    values, category = mixed(seed, gaps=gaps)
    grown = grow_synthetic(
        values, category, 1, max_samples=1.0, max_features="all", random_state=seed
    )
    fake = add_synthetic(values, random_state=seed)  # the same draws, from the same seed
    rows = np.concatenate([values, fake])
    labels = np.repeat([1.0, 0.0], len(values))
    check_gini(grown.forest, rows, labels, category)


def test_leaves_are_pure_for_large_nodes_too():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3000, 3))
    values[:, 1] += values[:, 0]
    grown = grow_synthetic(values, None, 2, max_samples=1.0, max_features="all", random_state=1)
    rows = np.concatenate([values, add_synthetic(values, random_state=1)])
    labels = np.repeat([1.0, 0.0], 3000)
    leaves = grown.forest.leaves(rows)
    for t in range(2):
        ones = np.bincount(leaves[:, t], labels)
        everyone = np.bincount(leaves[:, t])
        assert ((ones == 0) | (ones == everyone)).all()
    # The root, found by sorting thousands of keys in passes, is the best cut there is.
    best = max(g for j in range(3) for _, g in best_cuts(rows[:, j], labels, False))
    f, cut = grown.forest.feature[0], grown.forest.threshold[0]
    assert_allclose(gain(labels, rows[:, f] <= cut), best, rtol=1e-9)


@settings(max_examples=15, deadline=None)
@given(seed=seeds)
def test_synthetic_trees_depend_on_order_alone(seed):
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(size=(40, 3)), 1)
    new = np.round(rng.normal(size=(20, 3)), 1)
    for options in ({}, {"bootstrap": True, "max_features": "sqrt", "synthetic": "permuted"}):
        one = grow_synthetic(values, None, 4, random_state=seed, **options).forest
        two = grow_synthetic(np.exp(values), None, 4, random_state=seed, **options).forest
        assert_array_equal(one.leaves(new), two.leaves(np.exp(new)))


def test_thresholds_are_observed_values_or_midpoints():
    values = np.random.default_rng(0).integers(0, 50, (60, 3)).astype(float)
    observed = grow_synthetic(values, None, 5, random_state=3).forest
    middle = grow_synthetic(values, None, 5, threshold="midpoint", random_state=3).forest
    inside = observed.feature >= 0
    assert np.isin(observed.threshold[inside], values).all()
    gap = middle.threshold[inside] - observed.threshold[inside]
    assert (gap > 0).all()
    assert_array_equal(middle.feature, observed.feature)
    assert_array_equal(2 * middle.threshold[inside], np.round(2 * middle.threshold[inside]))
    assert_array_equal(middle.leaves(values[:5]).shape, (5, 5))


def test_synthetic_rows():
    values, category = mixed(0, n=200)
    permuted = add_synthetic(values, "permuted", random_state=0)
    assert_array_equal(np.sort(permuted, axis=0), np.sort(values, axis=0))
    assert (permuted != values).any(axis=0).all()
    drawn = add_synthetic(values, random_state=0)
    for x, y in zip(values.T, drawn.T, strict=True):
        assert np.isin(y, x).all()
    assert (np.sort(drawn, axis=0) != np.sort(values, axis=0)).any()
    # Columns drawn separately lose their connection.
    together = np.column_stack([values[:, 0], values[:, 0]])
    assert abs(np.corrcoef(add_synthetic(together, random_state=0).T)[0, 1]) < 0.3
    box = add_synthetic(values[:, :2], "uniform", random_state=0)
    assert (box >= values[:, :2].min(axis=0)).all()
    assert (box <= values[:, :2].max(axis=0)).all()
    assert not np.isin(box, values).any()
    with pytest.raises(InvalidInput, match=r"number columns only, found 2 of categories"):
        add_synthetic(values, "uniform", category=category)
    assert np.isnan(add_synthetic(np.full((3, 1), np.nan), "uniform")).all()


def test_columns_per_node_or_per_tree():
    values = np.random.default_rng(0).normal(size=(80, 6))
    for sampling, few in (("tree", True), ("node", False)):
        forest = grow_synthetic(
            values, None, 6, max_features=0.5, feature_sampling=sampling, random_state=0
        ).forest
        used = [
            len(set(forest.feature[a:b]) - {-1})
            for a, b in zip(forest.offsets, forest.offsets[1:], strict=False)
        ]
        assert all((count <= 3) == few for count in used)


def test_a_node_looks_further_while_the_columns_drawn_are_constant():
    values = np.zeros((50, 8))
    values[:, 3] = np.arange(50)
    values[:, 5] = np.arange(50)[::-1]
    forest = grow_synthetic(values, None, 5, max_features=1, random_state=0).forest
    assert set(forest.feature[forest.feature >= 0]) == {3, 5}
    assert (np.diff(forest.offsets) > 10).all()


def test_samples_and_bags():
    values = np.random.default_rng(0).normal(size=(500, 3))
    boot = grow_synthetic(
        values, None, 20, max_samples=1.0, bootstrap=True, keep_bag=True, random_state=0
    )
    assert boot.in_bag.shape == (500, 20)
    assert_allclose((boot.in_bag > 0).mean(), 1 - np.exp(-1), atol=0.02)
    # Real and synthetic rows are drawn alike: as many draws of the 500 as there are rows.
    assert_allclose(boot.in_bag.sum(axis=0), 500, atol=70)
    some = grow_synthetic(values, None, 20, keep_bag=True, random_state=0)
    assert_allclose(some.in_bag.mean(), 0.8, atol=0.02)
    few = grow_synthetic(values, None, 20, max_samples=16, keep_bag=True, random_state=0)
    assert (few.in_bag.sum(axis=0) < 16).all()
    assert few.forest.nodes.n_leaves.max() <= 16
    assert grow_synthetic(values, None, 2, random_state=0).in_bag is None
    shallow = grow_synthetic(values, None, 3, max_depth=4, random_state=0).forest
    assert shallow.nodes.depth.max() == 4


@pytest.mark.parametrize("grow", [grow_synthetic, grow_extra, grow_isolation])
def test_threads_change_nothing_and_seeds_do(grow):
    values, category = mixed(1, n=120, gaps=0.05)
    one = grow(values, category, 20, random_state=4, n_jobs=1).forest
    many = grow(values, category, 20, random_state=4, n_jobs=3).forest
    other = grow(values, category, 20, random_state=5).forest
    assert_array_equal(one.threshold, many.threshold)
    assert_array_equal(one.feature, many.feature)
    assert one.threshold.shape != other.threshold.shape or (one.threshold != other.threshold).any()


@settings(max_examples=15, deadline=None)
@given(seed=seeds, gaps=st.sampled_from([0.0, 0.1]))
def test_random_cuts_separate_rows_and_stay_inside(seed, gaps):
    values, category = mixed(seed, gaps=gaps)
    forest = grow_extra(
        values, category, 3, max_samples=1.0, max_depth=1000, random_state=seed
    ).forest
    inside = forest.feature >= 0
    for j in range(4):
        cuts = forest.threshold[inside & (forest.feature == j)]
        assert (cuts >= np.nanmin(values[:, j])).all()
        assert (cuts < np.nanmax(values[:, j]) + category[j]).all()
        assert (forest.equal[inside & (forest.feature == j)] == category[j]).all()
        if category[j]:
            assert np.isin(cuts, values[:, j]).all()
    if not gaps:
        leaves = forest.leaves(values)
        equal = (values[:, None] == values).all(axis=2)
        assert_array_equal((leaves[:, None] == leaves).all(axis=2), equal)


def test_random_cuts_are_uniform():
    values = np.array([[0.0], [1.0]])
    forest = grow_extra(values, None, 4000, max_samples=1.0, random_state=0).forest
    cuts = forest.threshold[forest.offsets[:-1]]
    assert_allclose(np.quantile(cuts, [0.1, 0.5, 0.9]), [0.1, 0.5, 0.9], atol=0.03)
    huge = np.array([[-1.7e308], [1.7e308]])
    cuts = grow_extra(huge, None, 50, max_samples=1.0, random_state=0).forest.threshold
    assert np.isfinite(cuts).all()


def test_published_depths():
    values = np.random.default_rng(0).random((1000, 2))
    assert grow_isolation(values, None, 3, random_state=0).forest.nodes.depth.max() == 8
    grown = grow_extra(values, None, 3, max_samples=100, keep_bag=True, random_state=0)
    assert grown.forest.nodes.depth.max() == 7
    assert_array_equal(grown.in_bag.sum(axis=0), [100, 100, 100])


def test_a_table_of_equal_rows_gives_single_leaves():
    for grow in (grow_synthetic, grow_extra):
        forest = grow(np.ones((10, 2)), None, 3, random_state=0).forest
        assert_array_equal(forest.feature, [-1, -1, -1])


def test_one_row_per_tree_is_too_few():
    with pytest.raises(InvalidInput, match="real and synthetic rows"):
        grow_synthetic(np.random.default_rng(0).random((5, 2)), None, 1, max_samples=0.1)
