"""Forests of scikit-learn: the same leaves as their own apply, and clear words for the rest."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from lookalike.errors import InvalidInput, WrongType
from lookalike.trees.adapters import adapt_model, read_samples

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 5)) * 1e3
Y = RNG.integers(0, 3, 150)
GAPS = np.where(RNG.random(X.shape) < 0.1, np.nan, X)


def own_leaves(fitted, rows):
    if hasattr(fitted, "apply"):
        return fitted.apply(rows).reshape(len(rows), -1).astype(int)
    single = rows.astype(np.float32)
    each = zip(fitted.estimators_, fitted.estimators_features_, strict=True)
    return np.stack([tree.apply(single[:, columns]) for tree, columns in each], axis=1)


@pytest.mark.parametrize(
    ("estimator", "data"),
    [
        (RandomForestClassifier(6, random_state=0), X),
        (RandomForestClassifier(6, random_state=0), GAPS),
        (RandomForestClassifier(4, max_leaf_nodes=15, random_state=0), X),
        (ExtraTreesRegressor(6, random_state=0), GAPS),
        (IsolationForest(n_estimators=6, max_features=3, random_state=0), GAPS),
        (GradientBoostingClassifier(n_estimators=3, random_state=0), X),
        (DecisionTreeClassifier(random_state=0), X),
    ],
)
def test_leaves_are_those_of_the_forest_itself(estimator, data):
    fitted = estimator.fit(data, Y)
    model = adapt_model(fitted)
    forest = model.forest
    new = RNG.normal(size=(200, 5)) * 1e3
    if np.isnan(data).any():
        new[RNG.random(new.shape) < 0.2] = np.nan
    ours, theirs = forest.leaves(model.inputs(new)), own_leaves(fitted, new)
    assert ours.shape == theirs.shape
    for t in range(forest.n_trees):
        pairs = np.unique(np.stack([ours[:, t].astype(int), theirs[:, t]]), axis=1)
        assert pairs.shape[1] == len(np.unique(ours[:, t])) == len(np.unique(theirs[:, t]))


def test_values_are_rounded_as_the_forest_rounds_them():
    data = np.array(
        [[1.0], [1.0 + 1e-12], [2.0], [3.0]]
    )  # the first two are one single-precision number
    fitted = DecisionTreeClassifier(random_state=0).fit(data, [0, 0, 1, 1])
    forest = adapt_model(fitted).forest
    edge = float(forest.threshold[0])
    just_above = np.nextafter(np.float64(edge), 9)
    rows = np.array([[edge], [just_above], [np.nextafter(np.float32(edge), np.float32(9))]])
    assert_array_equal(forest.leaves(rows).ravel() > 0, fitted.apply(rows) != fitted.apply(rows)[0])


def test_rows_of_each_tree():
    fitted = RandomForestClassifier(5, random_state=0).fit(X, Y)
    in_bag = read_samples(fitted, 5, 150)
    for t, rows in enumerate(fitted.estimators_samples_):
        assert_array_equal(np.flatnonzero(in_bag[:, t]), np.unique(rows))
    with pytest.raises(InvalidInput, match="the table that it was fitted on"):
        read_samples(fitted, 5, 20)


@pytest.mark.parametrize(
    ("forest", "error", "words"),
    [
        (RandomForestClassifier(), InvalidInput, "RandomForestClassifier, which is not"),
        (RandomForestClassifier, WrongType, "the class RandomForestClassifier"),
        (LogisticRegression().fit(X, Y), WrongType, "found LogisticRegression"),
        ("a forest", WrongType, "found a str"),
    ],
)
def test_what_is_no_forest_is_refused(forest, error, words):
    with pytest.raises(error, match=words):
        adapt_model(forest)


@pytest.mark.parametrize(
    "estimator",
    [GradientBoostingClassifier(n_estimators=2), ExtraTreesRegressor(2), DecisionTreeClassifier()],
)
def test_forests_without_samples_cannot_be_read_out_of_bag(estimator):
    with pytest.raises(InvalidInput, match="each grown on a sample of the rows"):
        read_samples(estimator.fit(X, Y), 2, 150)


def test_a_forest_of_arrays_is_taken_as_it_is():
    forest = adapt_model(RandomForestClassifier(2).fit(X, Y)).forest
    model = adapt_model(forest)
    assert model.forest is forest
    assert adapt_model(model) is model
    assert_array_equal(model.inputs(GAPS[:, :1].repeat(forest.n_inputs, 1))[:, 0], GAPS[:, 0])
    with pytest.raises(InvalidInput, match="found Forest"):
        read_samples(forest, 2, 3)


def test_gains_are_the_reductions_of_impurity():
    fitted = GradientBoostingClassifier(n_estimators=3, max_depth=3, random_state=0).fit(X, Y)
    gain = adapt_model(fitted).gain
    for t, estimator in enumerate(fitted.estimators_.ravel()):
        tree = estimator.tree_
        share, total = tree.weighted_n_node_samples * tree.impurity, 0.0
        for node in np.flatnonzero(tree.children_left >= 0):
            total += (
                share[node] - share[[tree.children_left[node], tree.children_right[node]]].sum()
            )
        assert gain[t] == pytest.approx(total, abs=1e-12)
