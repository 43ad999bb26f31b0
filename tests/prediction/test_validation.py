"""Cross-validation of models on tables, against the folds written out by hand."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold

from lookalike.errors import InvalidInput, LookalikeWarning, TooFewRows
from lookalike.measures import Gower, Precomputed, Vector
from lookalike.prediction import NeighborClassifier, NeighborRegressor, cross_validate
from lookalike.table import read_table

rng = np.random.default_rng(0)
N = 60
WHO = np.repeat(["ant", "bee", "cow"], N // 3)
ROWS = {
    "size": [None if i % 11 == 3 else float(i // 20 + rng.normal() / 2) for i in range(N)],
    "color": [str(rng.choice(["red", "blue"])) for _ in range(N)],
    "who": WHO.tolist(),
}
MODEL = NeighborClassifier(Gower(), n_neighbors=5, weights="uniform")


def test_folds_are_those_of_scikit_learn():
    found = cross_validate(MODEL, ROWS, "who", n_splits=4, random_state=3)
    table = read_table({name: ROWS[name] for name in ("size", "color")})
    expected, shares = np.empty(N, dtype=WHO.dtype), np.empty((N, 3))
    seed = int(np.random.default_rng(3).integers(2**31))
    folds = StratifiedKFold(4, shuffle=True, random_state=seed).split(np.zeros(N), WHO)
    for known, held in folds:
        model = clone(MODEL).fit(table[known], WHO[known])
        expected[held], shares[held] = model.predict(table[held]), model.predict_proba(table[held])
    assert found.n_splits == 4
    np.testing.assert_array_equal(found.predictions, expected)
    np.testing.assert_array_equal(found.probabilities, shares)
    assert found.classes.tolist() == ["ant", "bee", "cow"]
    assert found.scores == {
        "accuracy": (expected == WHO).mean(),
        "auc": roc_auc_score(WHO, shares, multi_class="ovr"),
    }
    assert not hasattr(MODEL, "classes_")


def test_shuffled_labels_hurt_and_a_seed_repeats():
    good = cross_validate(MODEL, ROWS, "who", random_state=0)
    mixed = ROWS | {"who": rng.permutation(WHO).tolist()}
    assert good.scores["accuracy"] > 0.6
    assert cross_validate(MODEL, mixed, "who", random_state=0).scores["accuracy"] < 0.5
    again = cross_validate(MODEL, ROWS, "who", random_state=0)
    assert again.predictions.tolist() == good.predictions.tolist()
    for state in (None, np.random.RandomState(1), np.random.default_rng(1)):
        assert cross_validate(MODEL, ROWS, "who", random_state=state).n_splits == 5


def test_numbers_are_predicted_too():
    X = np.arange(30.0)[:, None]
    y = 3 * X[:, 0]
    model = NeighborRegressor(Vector(), n_neighbors=2)
    found = cross_validate(model, X, y, n_splits=3, random_state=1)
    expected = np.empty(30)
    seed = int(np.random.default_rng(1).integers(2**31))
    for known, held in KFold(3, shuffle=True, random_state=seed).split(X):
        expected[held] = clone(model).fit(X[known], y[known]).predict(X[held])
    np.testing.assert_array_equal(found.predictions, expected)
    assert found.scores["mean_absolute_error"] == pytest.approx(np.abs(expected - y).mean())
    assert found.scores["r2"] > 0.95
    assert (found.probabilities, found.classes) == (None, None)
    assert str(found).startswith("3-fold cross-validation: r2 0.9")


def test_distances_are_cut_on_both_sides():
    X = np.concatenate([rng.normal(size=20), 9 + rng.normal(size=20)])
    D, y = np.abs(X[:, None] - X), np.repeat([0, 1], 20)
    found = cross_validate(NeighborClassifier(Precomputed(), n_neighbors=3), D, y, random_state=0)
    assert found.scores == {"accuracy": 1.0, "auc": 1.0}


def test_a_rare_class_lowers_the_folds_and_one_class_is_not_enough():
    who = ["x"] * 10 + ["y"] * 3
    X = {"a": list(map(float, range(13)))}
    assert cross_validate(NeighborClassifier(n_neighbors=1), X, who).n_splits == 3
    objects = np.array(["x"] * 12 + ["z"], dtype=object)  # as pandas gives a column of strings
    with pytest.raises(TooFewRows, match="a class with a single row, 'z'"):
        cross_validate(NeighborClassifier(n_neighbors=1), X, objects)


def test_a_class_of_one_row_is_left_out_with_one_warning():
    X = {"a": [0.0, 1.0, 2.0, 50.0, 10.0, 11.0, 12.0]}
    y = np.array(["x", "x", "x", "alone", "y", "y", "y"])
    kept = [0, 1, 2, 4, 5, 6]
    model = NeighborClassifier(Gower(ranges={"a": 50.0}), n_neighbors=1)
    with pytest.warns(LookalikeWarning) as warned:
        found = cross_validate(model, X, y, random_state=0)
    assert [str(warning.message) for warning in warned] == [
        "1 row left out, the only one of its class: 'alone'"
    ]
    without = {"a": [X["a"][row] for row in kept]}
    same = cross_validate(model, without, y[kept], random_state=0)
    assert (found.n_splits, found.scores, found.baseline) == (3, same.scores, same.baseline)
    assert found.scores == {"accuracy": 1.0, "auc": 1.0}
    assert found.baseline == {"accuracy": 0.5}
    assert found.classes.tolist() == ["x", "y"]
    # It is predicted by a model that has not seen it: nearest to 50 is a row of class y.
    assert found.predictions.tolist() == ["x", "x", "x", "y", "y", "y", "y"]


@pytest.mark.parametrize("n_splits", [1, 2.5, True])
def test_folds_of_a_wrong_number(n_splits):
    with pytest.raises(InvalidInput, match="an integer >= 2"):
        cross_validate(MODEL, ROWS, "who", n_splits=n_splits)


def test_what_cannot_be_split():
    with pytest.raises(InvalidInput, match="needs a target"):
        cross_validate(MODEL, ROWS, None)
    model = NeighborRegressor(n_neighbors=1)
    with pytest.raises(TooFewRows, match="n_samples=3. Use n_splits=3 or add rows"):
        cross_validate(model, [[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0])
    with pytest.raises(TooFewRows, match="n_samples=1. Add rows"):
        cross_validate(model, [[1.0]], [1.0])


def test_kinds_are_read_once_for_all_folds():
    X = {"code": [1, 2] * 10, "a": list(map(float, range(20)))}
    y = ["odd", "even"] * 10
    model = NeighborClassifier(Gower(), n_neighbors=1)
    as_kind = cross_validate(model, X, y, kinds={"code": "category", "a": "aside"}, random_state=0)
    assert as_kind.scores["accuracy"] == 1
