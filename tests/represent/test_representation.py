"""Similarities to prototypes as columns, and points whose inner products they are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import lookalike as la
from lookalike._runtime.folds import assign_folds
from lookalike.errors import InvalidInput, LookalikeWarning, TooFewRows
from lookalike.hubness import MutualProximity
from lookalike.measures import Gower, Precomputed, Vector
from lookalike.represent import NystroemRepresentation, SimilarityRepresentation, select_prototypes
from lookalike.represent.prototypes import shares_to_try
from lookalike.testing import tables

EXAMPLE = np.array([[1, 2, 3, 1], [1, 3, 3, np.nan], [1, 3, 3, 5]])
KNOWN = Gower(ranges={f"x{j}": 4.0 for j in range(4)})
PETS = {"weight": [4.0, 5.0, None, 30.0, 25.0], "sound": ["meow", "meow", None, "woof", "woof"]}


def test_worked_numbers():
    found = SimilarityRepresentation(KNOWN, prototypes=[0, 2]).fit_transform(EXAMPLE)
    np.testing.assert_allclose(found, [[1, 11 / 16], [11 / 12, 1], [11 / 16, 1]], rtol=1e-15)


@given(table=tables(kinds=("number", "category", "order", "flag", "set"), min_rows=4, max_rows=9))
def test_columns_are_similarities_to_the_prototypes(table):
    represent = SimilarityRepresentation(n_prototypes=3)
    columns = represent.fit_transform(table)
    # Pairs with nothing to compare are half alike, as in the representation.
    measure = Gower(scale="rank", missing="midpoint", undefined=0.5).fit(table)
    np.testing.assert_array_equal(columns, measure.similarity()[:, represent.prototypes_])
    assert (columns[represent.prototypes_, np.arange(3)] == 1).all()
    assert ((columns >= 0) & (columns <= 1)).all()
    new = represent.transform(table[[2, 0]])
    np.testing.assert_array_equal(new, measure.similarity(table[[2, 0]])[:, represent.prototypes_])


def test_undefined_pairs_are_one_half():
    represent = SimilarityRepresentation(prototypes=[0, 2]).fit(PETS)
    assert represent.transform({"weight": [None], "sound": [None]}).tolist() == [[0.5, 0.5]]
    # The fitted row without a cell is like itself, and half like any other.
    assert represent.fit_transform(PETS)[2].tolist() == [0.5, 1.0]


@pytest.mark.parametrize("method", ["medoids", "relieff", "cfs"])
def test_saved_and_loaded(method, tmp_path):
    y = ["cat", "cat", "cat", "dog", "dog"]
    represent = SimilarityRepresentation(prototypes=method, n_prototypes=2).fit(PETS, y)
    represent.save(tmp_path / "a.lookalike")
    back = la.load(tmp_path / "a.lookalike")
    np.testing.assert_array_equal(back.transform(PETS), represent.transform(PETS))
    assert back.get_feature_names_out().tolist() == represent.get_feature_names_out().tolist()
    assert clone(back).get_params()["prototypes"] == method


def test_a_matrix_of_distances_and_a_frozen_measure():
    x = np.random.default_rng(0).random((20, 2))
    d = Vector().fit(x).distance()
    represent = SimilarityRepresentation(Precomputed(), n_prototypes=3).fit(d)
    plain = SimilarityRepresentation(Vector(), n_prototypes=3).fit(x)
    assert represent.prototypes_.tolist() == plain.prototypes_.tolist()
    np.testing.assert_allclose(represent.transform(d[:4]), plain.transform(x[:4]), rtol=1e-12)
    frozen = Gower().fit(x).frozen()
    part = SimilarityRepresentation(frozen, n_prototypes=2).fit(x[:6])
    expected = frozen.similarity(x[:6])[:, :6][:, part.prototypes_]
    np.testing.assert_array_equal(part.transform(x[:6]), expected)  # ranges of all 20 rows
    with pytest.raises(InvalidInput, match="frozen"):
        SimilarityRepresentation(Precomputed().fit(d).frozen()).fit(d)


def test_kinds_and_a_named_target():
    table = {"code": [1, 2, 1, 3], "size": [1.0, 2.0, 3.0, 4.0], "y": ["a", "b", "a", "b"]}
    represent = SimilarityRepresentation(Gower(), kinds={"code": "category"}, prototypes=[0, 3])
    found = represent.fit(table, "y").transform(table)
    assert found[:, 0].tolist() == pytest.approx([1, 1 / 3, 2 / 3, 0])
    assert represent.feature_names_in_.tolist() == ["code", "size"]
    assert represent.n_features_in_ == 2


def test_a_named_target_stays_out_wherever_its_kind_is_named():
    table = {"size": [1.0, 2.0, 3.0, 4.0], "y": [1, 2, 1, 2]}
    kinds = {"y": "category"}
    inner = MutualProximity(Gower(kinds=kinds), model="gauss_independent")
    for measure, own in ((None, kinds), (Gower(kinds=kinds), None), (inner, None)):
        represent = SimilarityRepresentation(measure, prototypes=[0, 3], kinds=own)
        assert represent.fit(table, "y").n_features_in_ == 1
        assert represent.transform({"size": [1.0]}).shape == (1, 2)
    frozen = Gower().fit({"size": table["size"]}).frozen()
    assert SimilarityRepresentation(frozen, n_prototypes=2).fit(table, "y").n_features_in_ == 1


# -- tuning ----------------------------------------------------------------------------------------


def problem(n=60, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.random((n, 3))
    return x, np.where(np.sin(7 * x[:, 0]) + x[:, 1] > 0.8, "yes", "no")


@pytest.mark.parametrize("classes", [True, False])
def test_tuning_is_cross_validation_by_hand(classes):
    x, y = problem()
    if not classes:
        y = np.sin(7 * x[:, 0]) + x[:, 1]
    learner = KNeighborsClassifier(3) if classes else KNeighborsRegressor(3)
    tuned = SimilarityRepresentation(
        Gower(), n_prototypes="tune", estimator=learner, random_state=4
    ).fit(x, y)
    folds = assign_folds(y if classes else None, 60, 5, np.random.default_rng(4), "x")
    losses = {}
    for n in shares_to_try(60):
        lost = []
        for fold in range(5):
            known, held = folds != fold, folds == fold
            at = select_prototypes(Gower(), x[known], n=n)
            measure = Gower().fit(x[known])
            fitted = clone(learner).fit(measure.similarity()[:, at], y[known])
            found = fitted.predict(measure.similarity(x[held])[:, at])
            lost += list(found != y[held]) if classes else list((found - y[held]) ** 2)
        losses[n] = np.mean(lost)
    assert tuned.cv_results_["n_prototypes"].tolist() == list(losses)
    np.testing.assert_allclose(tuned.cv_results_["error"], list(losses.values()), rtol=1e-12)
    assert tuned.n_prototypes_ == min(losses, key=lambda n: (losses[n], n))
    assert len(set(losses.values())) > 1


@pytest.mark.parametrize("learner", [DummyClassifier(), DummyRegressor()], ids=repr)
def test_ties_go_to_fewer_prototypes(learner):
    x, y = problem()
    y = y if isinstance(learner, DummyClassifier) else x[:, 0]
    tuned = SimilarityRepresentation(n_prototypes="tune", estimator=learner).fit(x, y)
    assert tuned.n_prototypes_ == 2


def test_cfs_needs_no_tuning_and_random_is_nested():
    x, y = problem()
    learner = LogisticRegression()
    tuned = SimilarityRepresentation(None, "cfs", "tune", estimator=learner).fit(x, y)
    assert tuned.prototypes_.tolist() == select_prototypes(None, x, y, "cfs").tolist()
    drawn = SimilarityRepresentation(None, "random", "tune", estimator=learner, random_state=0)
    assert drawn.fit(x, y).n_prototypes_ in shares_to_try(60)


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"n_prototypes": 6}, TooFewRows, "n_samples=5"),
        ({"n_prototypes": "best"}, InvalidInput, "'tune', or an integer >= 1, or a number"),
        ({"n_prototypes": "tune"}, InvalidInput, "estimator=None"),
        ({"n_prototypes": "tune", "estimator": LogisticRegression()}, InvalidInput, "y=None"),
        ({"prototypes": "cfs"}, InvalidInput, "target for 'cfs'"),
        ({"prototypes": "medoid"}, InvalidInput, "Did you mean 'medoids'"),
        ({"prototypes": [0, 5]}, InvalidInput, "positions from 0 to 4"),
        ({"prototypes": [0, 0]}, InvalidInput, "different positions"),
        ({"prototypes": []}, InvalidInput, "different positions"),
        ({"prototypes": [0.5]}, InvalidInput, "different positions"),
        ({"measure": Gower}, InvalidInput, "Pass an instance"),
        ({"measure": "gowr"}, InvalidInput, "a lookalike measure"),
        ({"cv": 1}, InvalidInput, "an integer >= 2"),
        ({"random_state": -1}, InvalidInput, "random_state"),
    ],
)
def test_bad_parameters(options, error, words):
    with pytest.raises(error, match=words):
        SimilarityRepresentation(**options).fit(PETS)


def test_bad_rows():
    represent = SimilarityRepresentation(n_prototypes=2).fit(PETS)
    with pytest.raises(InvalidInput, match="no column 'sound'"):
        represent.transform({"weight": [1.0]})


GAPS = np.array([[1, 2, 3, 1], [1, 3, 3, np.nan], [1, 3, 3, 5]])


def table(seed, n=15):
    rng = np.random.default_rng(seed)
    return {"a": rng.random(n), "b": rng.choice(["x", "y", "z"], n), "c": rng.integers(0, 9, n)}


@given(seed=st.integers(0, 10**6))
def test_inner_products_of_prototypes_are_their_similarities(seed):
    rows = table(seed)
    represent = NystroemRepresentation(Gower(), n_prototypes=5)
    points = represent.fit_transform(rows)
    s = Gower().fit(rows).similarity()
    at = represent.prototypes_
    np.testing.assert_allclose(points[at] @ points[at].T, s[np.ix_(at, at)], atol=1e-7)
    # Others are projected onto the span of the prototypes: never too alike to themselves.
    k = s[np.ix_(at, at)]
    expected = s[:, at] @ np.linalg.pinv(k, rcond=1e-10, hermitian=True) @ s[:, at].T
    np.testing.assert_allclose(points @ points.T, expected, atol=1e-6)
    assert ((points**2).sum(axis=1) <= 1 + 1e-7).all()


def test_all_rows_as_prototypes_give_all_similarities():
    rows = table(0)
    points = NystroemRepresentation(Gower(), n_prototypes=15).fit_transform(rows)
    np.testing.assert_allclose(points @ points.T, Gower().fit(rows).similarity(), atol=1e-7)


def test_fewer_components_are_the_first_ones():
    rows = table(1)
    whole = NystroemRepresentation(n_prototypes=6).fit(rows)
    few = NystroemRepresentation(n_prototypes=6, n_components=2).fit(rows)
    np.testing.assert_array_equal(few.transform(rows), whole.transform(rows)[:, :2])
    assert (np.diff(whole.eigenvalues_) <= 0).all()
    assert few.get_feature_names_out().tolist() == ["nystroem 0", "nystroem 1"]


def test_a_measure_that_is_no_kernel_is_warned_about():
    measure = Gower(ranges={f"x{j}": 4.0 for j in range(4)})
    with pytest.warns(LookalikeWarning, match="an eigenvalue of -"):
        represent = NystroemRepresentation(measure, n_prototypes=3).fit(GAPS)
    assert (represent.eigenvalues_ > 0).all()
    assert np.isfinite(represent.transform(GAPS)).all()


def test_points_are_saved_and_loaded(tmp_path):
    rows = table(2)
    represent = NystroemRepresentation(Vector(), "farthest", 4).fit({"a": rows["a"]})
    represent.save(tmp_path / "a.lookalike")
    back = la.load(tmp_path / "a.lookalike")
    one = {"a": rows["a"][:3]}
    np.testing.assert_array_equal(back.transform(one), represent.transform(one))
