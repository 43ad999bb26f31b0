"""Similarity networks: a reference, laws of the outputs, tuning, scikit-learn's checks."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import lookalike as la
from lookalike._runtime.folds import assign_folds
from lookalike.errors import InvalidInput, TooFewRows
from lookalike.measures import Gower, Precomputed, Vector
from lookalike.prediction import SimilarityNetworkClassifier, SimilarityNetworkRegressor
from lookalike.prediction.similarity_network import TRIED_P, tune_units
from lookalike.represent import select_prototypes, similarity_activation
from lookalike.represent.prototypes import shares_to_try
from represent import reference

CLASSES = SimilarityNetworkClassifier(n_prototypes=0.3, p=0.5)
NUMBERS = SimilarityNetworkRegressor(n_prototypes=0.3, p=0.5)


@parametrize_with_checks([CLASSES, NUMBERS, SimilarityNetworkClassifier(Vector(), "farthest", 0.3)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def problem(n=60, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.random((n, 3))
    return x, np.array(["low", "mid", "top"])[
        (np.clip(x[:, 0] + 0.2 * x[:, 1], 0, 0.99) * 3).astype(int)
    ]


def by_hand(x, wanted, new, at, p, alpha):
    """Outputs of the network, with the ridge solved from its normal equations."""
    measure = Gower().fit(x)

    def squash(s):
        return np.array([[reference.activation(v, p) for v in row] for row in s])

    h, g = squash(measure.similarity()[:, at]), squash(measure.similarity(new)[:, at])
    mean, unit = h.mean(axis=0), h.std(axis=0)
    z = (h - mean) / unit
    w = np.linalg.solve(z.T @ z + alpha * np.eye(len(at)), z.T @ (wanted - wanted.mean(axis=0)))
    return (g - mean) / unit @ w + wanted.mean(axis=0)


@pytest.mark.parametrize("p", [0.05, 1.0])
@pytest.mark.parametrize("alpha", [1e-6, 0.5])
def test_outputs_are_those_of_the_slow_reference(p, alpha):
    x, y = problem()
    new = np.random.default_rng(1).random((7, 3))
    at = select_prototypes(Gower(), x, n=6)
    model = SimilarityNetworkClassifier(Gower(), n_prototypes=6, p=p, alpha=alpha).fit(x, y)
    assert model.representation_.prototypes_.tolist() == at.tolist()
    outputs = by_hand(x, np.eye(3)[np.unique(y, return_inverse=True)[1]], new, at, p, alpha)
    assert model.predict(new).tolist() == model.classes_[outputs.argmax(axis=1)].tolist()
    kept = np.maximum(outputs, 0)
    expected = kept / kept.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(new), expected, atol=1e-8)
    values = x @ [1.0, 2.0, 3.0]
    regressor = SimilarityNetworkRegressor(Gower(), n_prototypes=6, p=p, alpha=alpha)
    regressor.fit(x, values)
    expected = by_hand(x, values[:, None], new, at, p, alpha)[:, 0]
    np.testing.assert_allclose(regressor.predict(new), expected, atol=1e-7)


def test_probabilities_are_probabilities_and_agree_with_the_answer():
    x, y = problem()
    model = SimilarityNetworkClassifier(n_prototypes=10, random_state=0).fit(x, y)
    new = np.random.default_rng(2).random((200, 3)) * 3 - 1  # far outside as well
    proba = model.predict_proba(new)
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (model.classes_[proba.argmax(axis=1)] == model.predict(new)).all()


def test_it_learns_from_rows_with_missing_cells_and_not_from_shuffled_classes():
    rng = np.random.default_rng(0)
    sound = rng.choice(["meow", "woof", "moo"], 90)
    table = la.read_table(
        {
            "sound": [None if i % 8 == 0 else s for i, s in enumerate(sound)],
            "weight": [None if i % 9 == 0 else v for i, v in enumerate(rng.random(90))],
        }
    )
    model = SimilarityNetworkClassifier(n_prototypes=6, p=0.5)
    right = cross_val_score(model, table, sound, cv=3).mean()
    assert right > 0.7 > cross_val_score(model, table, rng.permutation(sound), cv=3).mean()


@pytest.mark.parametrize("tuned", ["p", "both"])
def test_tuning_is_cross_validation_by_hand(tuned):
    x, y = problem(seed=3)
    onehot = np.eye(3)[np.unique(y, return_inverse=True)[1]]
    sizes = shares_to_try(60) if tuned == "both" else [6]
    n_prototypes = "tune" if tuned == "both" else 6
    model = SimilarityNetworkClassifier(Gower(), n_prototypes=n_prototypes, random_state=5)
    model.fit(x, y)
    folds = assign_folds(onehot.argmax(axis=1), 60, 5, np.random.default_rng(5), "x")
    errors = {}
    for n in sizes:
        for p in TRIED_P:
            wrong = []
            for fold in range(5):
                known, held = folds != fold, folds == fold
                at = select_prototypes(Gower(), x[known], n=n)
                found = by_hand(x[known], onehot[known], x[held], at, p, 1e-6)
                wrong += list(found.argmax(axis=1) != onehot[held].argmax(axis=1))
            errors[n, p] = np.mean(wrong)
    keys = list(zip(model.cv_results_["n_prototypes"], model.cv_results_["p"], strict=True))
    assert keys == list(errors)
    np.testing.assert_allclose(model.cv_results_["error"], list(errors.values()), atol=1e-12)
    best = min(errors, key=lambda key: (errors[key], key[0], -key[1]))
    assert (model.representation_.n_prototypes_, model.p_) == best
    assert len(set(errors.values())) > 1


def test_classes_as_whole_numbers_are_classes_to_the_prototypes():
    x, y = problem()
    codes = np.unique(y, return_inverse=True)[1] * 10
    for method in ("relieff", "cfs"):
        named = SimilarityNetworkClassifier(Gower(), prototypes=method, n_prototypes=5, p=0.5).fit(
            x, y
        )
        coded = clone(named).fit(x, codes)
        at = select_prototypes(Gower(), x, y, method=method, n=5)
        assert named.representation_.prototypes_.tolist() == at.tolist()
        assert coded.representation_.prototypes_.tolist() == at.tolist()
        assert coded.predict(x).dtype == codes.dtype


def test_named_target_matrix_of_distances_and_saving(tmp_path):
    x, y = problem()
    table = {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y}
    model = SimilarityNetworkClassifier(n_prototypes=6, p=0.5).fit(table, "y")
    plain = clone(model).fit({name: table[name] for name in "abc"}, y)
    np.testing.assert_array_equal(
        model.predict_proba(table), plain.predict_proba(table_without(table))
    )
    assert model.score(table, "y") == (model.predict(table) == y).mean() > 0.5
    model.save(tmp_path / "a.lookalike")
    back = la.load(tmp_path / "a.lookalike")
    np.testing.assert_array_equal(back.predict_proba(table), model.predict_proba(table))
    assert back.classes_.tolist() == model.classes_.tolist()
    d = Gower().fit(x).distance()
    given = SimilarityNetworkClassifier(Precomputed(), n_prototypes=6, random_state=0).fit(d, y)
    assert (given.predict(d) == y).mean() > 0.7


def test_a_named_target_of_numbers():
    x, _ = problem()
    table = {"a": x[:, 0], "b": x[:, 1], "y": x[:, 0] * 2}
    model = SimilarityNetworkRegressor(n_prototypes=6, p=1.0).fit(table, "y")
    assert model.score(table, "y") == model.score(table, x[:, 0] * 2) > 0.9


def table_without(table):
    return {name: table[name] for name in "abc"}


def test_a_unit_that_says_nothing_and_a_single_row():
    constant = SimilarityNetworkRegressor(n_prototypes=2, p=0.5).fit(
        np.ones((4, 2)), [1, 2, 3, 4.0]
    )
    assert constant.predict(np.ones((1, 2))).tolist() == [2.5]
    one = SimilarityNetworkRegressor(n_prototypes=1).fit([[1.0]], [3.0])
    assert one.predict([[1.0]]).tolist() == [3.0]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"p": -1.0}, InvalidInput, "p=-1.0"),
        ({"p": "best"}, InvalidInput, "'tune'"),
        ({"n_prototypes": 7}, TooFewRows, "n_samples=6"),
        ({"n_prototypes": "best"}, InvalidInput, "'tune'"),
        ({"n_prototypes": 1.5}, InvalidInput, "a number > 0 and <= 1"),
        ({"prototypes": "medoid"}, InvalidInput, "Did you mean 'medoids'"),
        ({"alpha": -1}, InvalidInput, "alpha"),
        ({"measure": Gower}, InvalidInput, "Pass an instance"),
    ],
)
def test_bad_parameters(options, error, words):
    with pytest.raises(error, match=words):
        SimilarityNetworkClassifier(**options).fit(np.eye(6), list("ababab"))


def test_bad_targets():
    with pytest.raises(InvalidInput, match="at least two classes"):
        SimilarityNetworkClassifier().fit(np.eye(4), ["a"] * 4)
    with pytest.raises(InvalidInput, match="requires y"):
        SimilarityNetworkClassifier().fit(np.eye(4))
    with pytest.raises(InvalidInput, match="numbers, found.*Use SimilarityNetworkClassifier"):
        SimilarityNetworkRegressor().fit(np.eye(4), ["a", "b", "c", "d"])
    with pytest.raises(InvalidInput, match="without missing values"):
        SimilarityNetworkRegressor().fit(np.eye(4), [1.0, np.nan, 2.0, 3.0])


def left_out_error(similarities, target, curves, alpha):
    """Solve the ridge without each row in turn, on units standardized over all rows."""
    hidden = similarity_activation(similarities, curves)
    spread = (hidden - hidden.mean(axis=0)) / hidden.std(axis=0)
    total = 0.0
    for row in range(len(target)):
        others = np.delete(np.arange(len(target)), row)
        x, y = spread[others], target[others]
        middle = x.mean(axis=0)
        penalized = (x - middle).T @ (x - middle) + alpha * np.eye(x.shape[1])
        w = np.linalg.solve(penalized, (x - middle).T @ (y - y.mean(axis=0)))
        total += ((y.mean(axis=0) + (spread[row] - middle) @ w - target[row]) ** 2).mean()
    return total / len(target)


def test_each_unit_gets_the_curve_with_the_least_error_of_rows_left_out(tmp_path):
    x = np.random.default_rng(3).random((40, 3))
    y = (x[:, 0] > 0.5) * 1 + (x[:, 1] > 0.7)  # sharp boundaries for some units
    target = np.eye(3)[y]
    options = {"n_prototypes": 5, "alpha": 0.1, "random_state": 0}
    shared = SimilarityNetworkClassifier(Gower(), p=0.5, **options).fit(x, y)
    similarities = shared.representation_.transform(x)
    chosen = [0.5] * 5
    for unit in range(5):
        tried = [0.5, 0.01, 0.05, 0.1, 1.0, 10.0]  # the shared one first: it wins ties
        with_each = [[*chosen[:unit], p, *chosen[unit + 1 :]] for p in tried]
        errors = [left_out_error(similarities, target, curves, 0.1) for curves in with_each]
        chosen = with_each[int(np.argmin(errors))]
    np.testing.assert_array_equal(tune_units(similarities, target, 0.5, 0.1), chosen)
    model = SimilarityNetworkClassifier(Gower(), p="each", **options).fit(x, y)
    assert model.p_.shape == (5,)
    assert len(set(chosen)) > 2
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(la.load(tmp_path / "model").predict(x), model.predict(x))
