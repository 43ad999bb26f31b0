"""Similarity forests over whole rows; scikit-learn's own checks of all forests."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import cross_val_score
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import lookalike as la
from lookalike.errors import InvalidInput
from lookalike.measures import Gower, Precomputed, Vector
from lookalike.prediction import (
    RandomSimilarityForestClassifier,
    RandomSimilarityForestRegressor,
    RandomSimilarityIsolationForest,
    SimilarityForestClassifier,
)

CHECKED = [
    RandomSimilarityForestClassifier(n_estimators=10),
    RandomSimilarityForestClassifier(10, numeric="value", voting="soft", class_weight="balanced"),
    RandomSimilarityForestRegressor(10, splitter="random"),
    SimilarityForestClassifier(n_estimators=10),
    RandomSimilarityIsolationForest(10),
]
REPEATS = "rows are drawn by number, so a row of weight 2 is not a row that comes twice"


def exceptions(estimator):
    """Return check -> reason for those that cannot pass; each of them must then really fail."""
    if isinstance(estimator, RandomSimilarityIsolationForest):
        return {}
    return {"check_sample_weight_equivalence_on_dense_data": REPEATS}


@parametrize_with_checks(CHECKED, expected_failed_checks=exceptions)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


# -- one distance for whole rows -------------------------------------------------------------------


def apart(u, v):
    return float(np.sqrt(((u - v) ** 2).sum()))


def test_the_same_forest_from_rows_a_matrix_a_function_and_a_measure():
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    known, held = np.arange(0, 50, 2), np.arange(1, 50, 2)
    matrix = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    squared = {"projection": "squared", "random_state": 0}
    rows = SimilarityForestClassifier(n_estimators=10, random_state=0).fit(X[known], y[known])
    given = SimilarityForestClassifier("precomputed", 10, **squared)
    given.fit(matrix[np.ix_(known, known)], y[known])
    asked = SimilarityForestClassifier(apart, 10, **squared).fit(X[known], y[known])
    measured = SimilarityForestClassifier(Vector(), 10, **squared).fit(X[known], y[known])
    wanted = rows.predict_proba(X[held])
    assert_allclose(given.predict_proba(matrix[np.ix_(held, known)]), wanted)
    assert_allclose(asked.predict_proba(X[held]), wanted)
    assert_allclose(measured.predict_proba(X[held]), wanted)
    slow = SimilarityForestClassifier(n_estimators=10, cache_pairs=0, random_state=0).fit(
        X[known], y[known]
    )
    assert_array_equal(slow.predict_proba(X[held]), wanted)


def test_cross_validation_cuts_matrices_both_ways():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:150], y[:150]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    matrix = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    model = SimilarityForestClassifier("precomputed", 20, random_state=0)
    assert get_tags(model).input_tags.pairwise
    assert get_tags(SimilarityForestClassifier(measure=Precomputed())).input_tags.pairwise
    assert not get_tags(SimilarityForestClassifier()).input_tags.pairwise
    assert cross_val_score(model, matrix, y).mean() > 0.88
    assert (
        cross_val_score(SimilarityForestClassifier(n_estimators=20, random_state=0), X, y).mean()
        > 0.88
    )


def test_mixed_rows_by_gower_and_saving(tmp_path):
    table = la.read_table(
        {
            "n": [1.0, 2.0, None, 9.0, 8.0, 7.5],
            "s": [{"a"}, {"a", "b"}, {"b"}, {"x"}, {"x", "y"}, None],
        }
    )
    y = ["low", "low", "low", "high", "high", "high"]
    model = SimilarityForestClassifier(Gower(), 30, random_state=0).fit(table, y)
    assert model.predict(table).tolist() == y
    assert not hasattr(model, "feature_importances_")  # no test is about a column
    model.save(tmp_path / "m.lookalike")
    again = la.load(tmp_path / "m.lookalike")
    assert_array_equal(again.predict_proba(table), model.predict_proba(table))


def test_bad_matrices_and_rows():
    with pytest.raises(InvalidInput, match="square"):
        SimilarityForestClassifier("precomputed", 2).fit(np.ones((3, 2)), [0, 1, 0])
    matrix = np.array([[0.0, 1.0, 2.0], [5.0, 0.0, 1.0], [2.0, 1.0, 0.0]])
    with pytest.raises(InvalidInput, match="symmetric matrix"):
        SimilarityForestClassifier("precomputed", 2).fit(matrix, [0, 1, 0])
    model = SimilarityForestClassifier("precomputed", 2).fit(1.0 - np.eye(3), [0, 1, 0])
    with pytest.raises(ValueError, match="3"):
        model.predict(np.ones((2, 5)))
    with pytest.raises(InvalidInput, match="'c' of kind category. Use measure='gower'"):
        SimilarityForestClassifier(n_estimators=2).fit({"c": ["a", "b"]}, [0, 1])
    with pytest.raises(InvalidInput, match=r"1 missing values \(NaN\) in 'c'"):
        SimilarityForestClassifier(n_estimators=2).fit({"c": [1.0, None]}, [0, 1])
    with pytest.raises(InvalidInput, match="measure=.manhatten"):
        SimilarityForestClassifier("manhatten", 2).fit([[0.0], [1.0]], [0, 1])
