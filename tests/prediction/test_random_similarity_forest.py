"""Random similarity forests as estimators: votes, options, any kind of column, bad input."""

import importlib
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_iris
from sklearn.inspection import permutation_importance
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score

import lookalike as la
from lookalike.columns import Jaccard
from lookalike.datasets import make_sequences_of_sets
from lookalike.errors import InvalidInput, LookalikeError, LookalikeWarning, WrongType
from lookalike.prediction import RandomSimilarityForestClassifier as Classifier
from lookalike.prediction import RandomSimilarityForestRegressor as Regressor
from lookalike.prediction.isolation_forest import RandomSimilarityIsolationForest
from lookalike.prediction.whole_row_forest import SimilarityForestClassifier
from lookalike.trees.cells.trees import class_votes


def shop(n=120, seed=0, gaps=0.1):
    """Baskets, names and prices of two kinds of customer, with gaps."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    goods = [["egg", "milk", "flour", "butter"], ["nail", "glue", "paint", "milk"]]
    names = [["anna", "hanna", "johanna"], ["bob", "rob", "robert"]]
    table = {
        "basket": [set(rng.choice(goods[g], 2).tolist()) for g in y],
        "name": [str(rng.choice(names[g if rng.random() < 0.8 else 1 - g])) for g in y],
        "price": (y + rng.normal(size=n)).tolist(),
        "noise": rng.choice(["a", "b"], n).tolist(),
    }
    for cells in table.values():
        for i in np.flatnonzero(rng.random(n) < gaps):
            cells[i] = None
    kinds = {"basket": "set", "name": "text", "price": "number", "noise": "category"}
    return la.read_table(table, kinds=kinds), y


# -- votes -----------------------------------------------------------------------------------------


def test_the_vote_of_three_leaves():
    value = np.array([[0.75, 0.25], [0.0, 1.0], [0.5, 0.5]])
    scores = class_votes(value, "majority").sum(axis=0)
    assert_allclose(scores, [1.25, 1.5])
    assert_allclose(scores / scores.sum(), [0.454545, 0.545455], atol=5e-7)
    assert_allclose(class_votes(value, "soft").sum(axis=0), [1.25, 1.75])


@pytest.mark.parametrize("voting", ["majority", "soft"])
def test_predictions_are_the_mean_of_the_leaves_votes(voting):
    table, y = shop()
    model = Classifier(9, voting=voting, min_samples_leaf=8, random_state=0).fit(table, y)
    trees, leaves = model.trees_, model.apply(table)
    scores = np.zeros((len(y), 2))
    for row in range(len(y)):
        for t in range(9):
            counts = trees.value[trees.offsets[t] + leaves[row, t]]
            shares = counts / counts.sum()
            for c in range(2):
                if voting == "soft" or shares[c] == shares.max():
                    scores[row, c] += shares[c]
    proba = scores / scores.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(table), proba)
    assert_array_equal(model.predict(table), proba.argmax(axis=1))


def test_area_under_the_curve_counts_ties_half():
    assert roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]) == 0.75
    assert roc_auc_score([0, 1], [0.5, 0.5]) == 0.5


# -- it learns -------------------------------------------------------------------------------------


def test_any_columns_with_missing_cells():
    table, y = shop(240)
    known, held = slice(0, 160), slice(160, 240)
    model = Classifier(50, random_state=0).fit(table[known], y[known])
    assert roc_auc_score(y[held], model.predict_proba(table[held])[:, 1]) > 0.9
    shares = dict(zip(table.names, model.feature_importances_, strict=True))
    assert shares["basket"] > shares["noise"]
    # What is lost when a column is shuffled, for columns of any kind.
    found = permutation_importance(model, table[held].to_frame(), y[held], random_state=0)
    lost = dict(zip(table.names, found.importances_mean, strict=True))
    assert lost["basket"] > 0.1 > abs(lost["noise"])


@pytest.mark.parametrize("numeric", ["projection", "value"])
def test_drawn_thresholds_lie_between_cells_and_are_saved(numeric, tmp_path):
    table, y = shop(160)
    known, held = table[:110], table[110:]
    model = Classifier(30, splitter="random", numeric=numeric, random_state=0)
    model.fit(known, y[:110])
    assert roc_auc_score(y[110:], model.predict_proba(held)[:, 1]) > 0.85
    price = model.trees_.feature == 2
    values = set(table.columns[2].values)
    # Without drawing, every threshold on a number is one of its values.
    if numeric == "value":
        assert price.any()
        assert not values & set(model.trees_.threshold[price])
    model.save(tmp_path / "forest")
    again = la.load(tmp_path / "forest")
    assert again.splitter == "random"
    assert_array_equal(again.predict_proba(held), model.predict_proba(held))


def test_months_go_round():
    forest = Classifier(5, kinds={"when": "month"}, random_state=0)
    forest.fit({"when": ["Jan", "Dec", "Jul", "Jun"] * 5}, [0, 0, 1, 1] * 5)
    assert forest.predict({"when": ["Jan", "Jun"]}).tolist() == [0, 1]


def test_shuffled_labels_give_chance():
    table, y = shop(200)
    rng = np.random.default_rng(1)
    areas = []
    for seed in range(4):
        mixed = rng.permutation(y)
        model = Classifier(40, random_state=seed).fit(table[:100], mixed[:100])
        areas.append(roc_auc_score(mixed[100:], model.predict_proba(table[100:])[:, 1]))
    assert 0.4 < np.mean(areas) < 0.6


def test_permuting_labels_permutes_predictions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=90), [-0.5, 0.5])
    turned = np.array([2, 0, 1])
    a = Classifier(200, random_state=0).fit(X[:60], y[:60]).predict_proba(X[60:])
    b = Classifier(200, random_state=0).fit(X[:60], turned[y[:60]]).predict_proba(X[60:])
    # Classes that vary equally little (one row each) are distinguished only by their order.
    assert np.abs(a - b[:, turned]).max() < 0.15
    assert np.abs(a - b).max() > 0.5


def test_many_classes_together():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    assert cross_val_score(Classifier(30, random_state=0), X, names).mean() > 0.93


def test_numbers_and_strings_are_regressed():
    X, y = load_diabetes(return_X_y=True)
    assert cross_val_score(Regressor(40, random_state=0), X, y).mean() > 0.35
    shares = Regressor(20, random_state=0).fit(X, y).feature_importances_
    assert shares.sum() == pytest.approx(1)
    assert {2, 8} == set(np.argsort(shares)[-2:])  # body mass and triglycerides
    rng = np.random.default_rng(0)
    length = rng.integers(2, 30, 150)
    words = ["".join(rng.choice(list("ab"), k)) for k in length]
    table = la.read_table({"w": words}, kinds={"w": "text"})
    model = Regressor(40, {"w": "levenshtein"}, random_state=0)
    model.fit(table[:100], length[:100])
    assert model.score(table[100:], length[100:]) > 0.6


def test_sequences_of_sets_are_distinguished_by_order():
    table, y = make_sequences_of_sets("order", 40, random_state=0)
    known = np.random.default_rng(0).permutation(80)[:40]
    held = np.setdiff1d(np.arange(80), known)
    model = Classifier(20, random_state=0).fit(table[known], y[known])
    assert roc_auc_score(y[held], model.predict_proba(table[held])[:, 1]) > 0.95


# -- options ---------------------------------------------------------------------------------------


def test_the_forest_does_not_depend_on_threads():
    table, y = shop()
    one = Classifier(10, random_state=5, n_jobs=1).fit(table, y)
    two = Classifier(10, random_state=5, n_jobs=2).fit(table, y)
    assert_array_equal(one.predict_proba(table), two.predict_proba(table))
    other = Classifier(10, random_state=6).fit(table, y)
    assert (other.predict_proba(table) != one.predict_proba(table)).any()


def test_matrices_kept_or_not_the_forest_is_the_same():
    table, y = shop()
    kept = Classifier(6, random_state=0).fit(table, y)
    asked = Classifier(6, cache_pairs=0, random_state=0).fit(table, y)
    assert_array_equal(kept.predict_proba(table), asked.predict_proba(table))


@pytest.mark.parametrize(
    "options",
    [
        {"criterion": "entropy"},
        {"projection": "squared"},
        {"numeric": "value"},
        {"max_pairs": 3},
        {"max_features": 3},
        {"max_depth": 2},
        {"min_samples_leaf": 10},
        {"min_samples_split": 40},
        {"min_weight_fraction_leaf": 0.1},
        {"bootstrap": False},
        {"ccp_alpha": 0.02},
    ],
)
def test_options_change_the_forest_and_keep_it_useful(options):
    table, y = shop()
    plain = Classifier(10, random_state=0).fit(table, y)
    model = Classifier(10, random_state=0, **options).fit(table, y)
    assert model.score(table, y) > 0.8
    assert len(model.trees_.feature) != len(plain.trees_.feature) or not np.array_equal(
        model.trees_.threshold, plain.trees_.threshold
    )
    if "max_depth" in options:
        assert model.trees_.depth.max() == 2
    if "min_samples_leaf" in options:
        assert model.trees_.entries.min() >= 10
    if "min_weight_fraction_leaf" in options:
        assert model.trees_.weights.min() >= 12
    if "ccp_alpha" in options:
        assert len(model.trees_.feature) < len(plain.trees_.feature) / 2


def test_out_of_bag_rows_judge_the_forest():
    table, y = shop(200)
    model = Classifier(60, oob_score=True, random_state=0).fit(table[:120], y[:120])
    honest = model.score(table[120:], y[120:])
    assert abs(model.oob_score_ - honest) < 0.12
    assert model.oob_score_ < model.score(table[:120], y[:120])
    assert_allclose(model.oob_decision_function_.sum(axis=1), 1)
    X, target = load_diabetes(return_X_y=True)
    regressor = Regressor(60, oob_score=True, random_state=0).fit(X, target)
    assert 0.3 < regressor.oob_score_ < regressor.score(X, target)
    with pytest.warns(LookalikeWarning, match="cannot be scored"):
        Classifier(1, oob_score=True, random_state=0).fit(table, y)


def test_weights_count():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = (rng.random(200) < 0.3).astype(int)  # nothing to learn: only weights decide
    plain = Classifier(40, min_samples_leaf=20, random_state=0).fit(X, y)
    heavy = Classifier(40, min_samples_leaf=20, class_weight={1: 20.0}, random_state=0).fit(X, y)
    even = Classifier(40, min_samples_leaf=20, class_weight="balanced", random_state=0).fit(X, y)
    assert plain.predict(X).mean() < 0.2
    assert heavy.predict(X).mean() > 0.9
    assert 0.2 < even.predict_proba(X)[:, 1].mean() < 0.8
    weight = np.where(y == 1, 20.0, 1.0)
    same = Classifier(40, min_samples_leaf=20, random_state=0).fit(X, y, weight)
    assert_allclose(same.predict_proba(X), heavy.predict_proba(X))
    with pytest.raises(InvalidInput, match="class_weight"):
        Classifier(class_weight={7: 1.0}).fit(X, y)


def test_rows_of_weight_0_take_no_part():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    wrong = np.concatenate([y, 1 - y])
    weight = np.repeat([1.0, 0.0], 60)
    model = Classifier(20, bootstrap=False, random_state=0)
    model.fit(np.concatenate([X, X]), wrong, weight)
    assert_array_equal(model.predict(X), y)


def test_paths_and_leaves():
    table, y = shop()
    model = Classifier(4, random_state=0).fit(table, y)
    indicator, offsets = model.decision_path(table)
    leaves = model.apply(table)
    assert leaves.shape == (120, 4)
    assert indicator.shape == (120, len(model.trees_.feature))
    for t in range(4):
        assert (indicator[:, offsets[t]] == 1).toarray().all()
        rows = np.arange(120)
        assert (np.asarray(indicator[rows, offsets[t] + leaves[:, t]]) == 1).all()


def test_scikit_learns_permutation_importance_works_on_frames():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=100), "z": rng.normal(size=100)})
    y = (frame["x"] > 0).astype(int)
    model = Classifier(20, random_state=0).fit(frame, y)
    found = permutation_importance(model, frame, y, random_state=0)
    assert found.importances_mean[0] > 0.2 > found.importances_mean[1]
    assert model.feature_names_in_.tolist() == ["x", "z"]


# -- distances that the user brings ----------------------------------------------------------------


def lengths_apart(u, v):
    return abs(len(u) - len(v))


class Batched:
    """A function that is asked for many distances in one call."""

    def __init__(self):
        self.pairs = 0
        self.calls = 0

    def __call__(self, u, v):
        self.pairs += 1
        return abs(len(u) - len(v))

    def batch(self, cells, cell):
        self.calls += 1
        return [abs(len(other) - len(cell)) for other in cells]


def words(n=80):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    cells = ["".join(rng.choice(list("abc"), rng.integers(3, 7) + 4 * g)) for g in y]
    return la.read_table({"w": cells}, kinds={"w": "text"}), y


def test_functions_and_batches_agree():
    table, y = words()
    asked = Batched()
    one = Classifier(8, {"w": lengths_apart}, random_state=0).fit(table, y)
    many = Classifier(8, {"w": asked}, random_state=0).fit(table, y)
    assert_array_equal(one.predict_proba(table), many.predict_proba(table))
    assert asked.calls > 0 == asked.pairs
    assert one.score(table, y) == 1.0


def test_matrices_by_position():
    table, y = shop(90, gaps=0)
    own = Jaccard().fit(table["basket"])
    cells = own.encode(table["basket"])
    matrix = own.compare(cells, cells)
    places = la.read_table({"at": np.arange(90.0)}, kinds={"at": "number"})
    baskets = table.select(["basket"])
    a = Classifier(10, random_state=0).fit(baskets[:60], y[:60])
    b = Classifier(10, {"at": matrix}, random_state=0).fit(places[:60], y[:60])
    # Equal sets are one cell of a set column and several of a matrix: the same tests all the same.
    assert_array_equal(a.predict_proba(baskets[60:]), b.predict_proba(places[60:]))


def test_matrices_as_rows_of_distances():
    table, y = shop(90, gaps=0)
    own = Jaccard().fit(table["basket"])
    cells = own.encode(table["basket"])
    matrix = own.compare(cells, cells)
    kinds = {"d": "vector", "price": "number"}

    def rows(at, to):
        return {"d": matrix[np.ix_(at, to)].tolist(), "price": table["price"].values[at].tolist()}

    known, held = np.arange(60), np.arange(60, 90)
    a = Classifier(10, {"d": "precomputed"}, kinds=kinds, random_state=0)
    a.fit(rows(known, known), y[known])
    b = Classifier(10, random_state=0).fit(table.select(["basket", "price"])[:60], y[:60])
    assert_array_equal(
        a.predict_proba(rows(held, known)),
        b.predict_proba(table.select(["basket", "price"])[60:]),
    )
    with pytest.raises(LookalikeError, match="60"):
        a.predict(rows(held, held))
    with pytest.raises(InvalidInput, match="a square matrix"):
        Classifier(2, {"d": "precomputed"}, kinds=kinds).fit(rows(held, known), y[held])


def test_several_distances_for_one_column():
    table, y = shop()
    both = Classifier(10, {"name": ["levenshtein", "jaro_winkler"]}, random_state=0).fit(table, y)
    assert len(both.trees_.columns) == 5
    assert len(both.feature_importances_) == 4


def test_target_may_be_a_column_of_a_frame():
    frame = pd.DataFrame({"x": [1.0, 2.0, 8.0, 9.0], "kind": ["a", "a", "b", "b"]})
    model = Classifier(20, random_state=0).fit(frame, "kind")
    assert model.predict(frame[["x"]]).tolist() == ["a", "a", "b", "b"]
    assert model.predict(frame).tolist() == ["a", "a", "b", "b"]
    assert model.score(frame, "kind") == 1.0
    assert model.n_features_in_ == 1


@pytest.mark.parametrize("kind", ["classes", "amounts", "function"])
def test_saved_and_loaded(tmp_path, kind):
    table, y = shop()
    if kind == "function":
        table, y = words()
    distances = {"w": lengths_apart} if kind == "function" else {"name": "jaro_winkler"}
    make = Regressor if kind == "amounts" else Classifier
    model = make(5, distances, random_state=0).fit(table, y)
    model.save(tmp_path / "m.lookalike")
    callables = {"lengths_apart": lengths_apart} if kind == "function" else None
    again = la.load(tmp_path / "m.lookalike", callables=callables)
    assert_array_equal(again.predict(table), model.predict(table))
    assert_array_equal(again.apply(table), model.apply(table))


# -- bad input -------------------------------------------------------------------------------------


def one_way(u, v):
    return max(0, len(u) - len(v))


def raises(u, v):
    raise RuntimeError("no")


def negative(u, v):
    return -1.0


def never_zero(u, v):
    return 1.0


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (one_way, "both directions"),
        (raises, "RuntimeError: no"),
        (negative, "-1.0"),
        (never_zero, "equal cells"),
    ],
)
def test_functions_that_are_no_distances_are_named(function, found):
    table, y = words()
    with pytest.raises(InvalidInput, match=found) as error:
        Classifier(2, {"w": function}).fit(table, y)
    assert "'w'" in str(error.value)


def test_asymmetric_matrices_are_named():
    matrix = np.array([[0.0, 1.0], [2.0, 0.0]])
    with pytest.raises(InvalidInput, match="'at'"):
        Classifier(2, {"at": matrix}).fit({"at": [0.0, 1.0]}, [0, 1])


@pytest.mark.parametrize(
    ("X", "y", "options", "found"),
    [
        ({"x": [1.0, 2.0]}, ["a", "a"], {}, "1 class"),
        ({"x": [1.0, 2.0]}, ["a", None], {}, "without missing values"),
        ({"x": [1.0, 2.0]}, [0.5, 1.5], {}, "continuous"),
        ({"x": [1.0, 2.0]}, [0, 1], {"distances": {"y": "jaccard"}}, "a column 'y'"),
        ({"x": [1.0, 2.0]}, [0, 1], {"distances": {"x": "jaccard"}}, "for number cells"),
        ({"x": [1.0, 2.0]}, [0, 1], {"max_features": 0.0}, "max_features"),
        ({"x": [1.0, 2.0]}, [0, 1], {"voting": "hard"}, "voting"),
        ({"x": [1.0, np.inf]}, [0, 1], {}, "finite"),
        ({"x": [{1}, "b", 2.0]}, [0, 1, 1], {}, "can be anything"),
        ({"x": [1.0, 2.0]}, [0, 1], {"oob_score": True, "bootstrap": False}, "bootstrap=True"),
        ({"x": [0.0, 1e200]}, [0, 1], {"projection": "squared"}, "square"),
    ],
)
def test_what_cannot_be_fitted_is_said(X, y, options, found):
    with pytest.raises(InvalidInput, match=found):
        Classifier(2, **options).fit(X, y)


def test_cells_of_mixed_types():
    cells = np.empty(3, dtype=object)
    cells[:] = [frozenset("ab"), "c", frozenset("d")]
    from lookalike.table.model.kind import Kind
    from lookalike.table.model.table import Column, Table

    table = Table([Column("s", Kind("set"), cells)])
    with pytest.raises(WrongType, match=r"'s', row 1"):
        Classifier(2).fit(table, [0, 1, 0])


def test_weights_are_checked():
    X, y = np.arange(6.0)[:, None], [0, 1, 0, 1, 0, 1]
    for weight, found in (
        ([1.0, 2.0], "shape"),
        ([-1.0] * 6, "at least 0"),
        ([0.0] * 6, "above 0"),
    ):
        with pytest.raises(InvalidInput, match=found):
            Classifier(2).fit(X, y, weight)


def test_new_rows_lacking_a_column():
    table, y = shop()
    model = Classifier(2, random_state=0).fit(table, y)
    with pytest.raises(LookalikeError, match="basket"):
        model.predict({"price": [1.0]})


def test_infinite_distances_are_unknown_projections():
    series = np.empty(6, dtype=object)
    series[:] = [np.zeros(0), np.ones(2), np.ones(3), np.zeros(3), np.zeros(2), np.zeros(0)]
    from lookalike.table.model.kind import Kind
    from lookalike.table.model.table import Column, Table

    table = Table([Column("s", Kind("series"), series)])
    y = [0, 1, 1, 0, 0, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for cache in (10**6, 0):
            model = Classifier(20, cache_pairs=cache, random_state=0).fit(table, y)
            assert np.isfinite(model.predict_proba(table)).all()
            assert model.predict(table).tolist()[1:5] == y[1:5]


# -- units of a distance ---------------------------------------------------------------------------


def overlap(a, b):
    """Jaccard's distance: fractions, of which few are exact."""
    return 1 - len(a & b) / len(a | b) if a | b else 0.0


def multiple(factor):
    return lambda a, b: factor * overlap(a, b)


SETS = st.frozensets(st.integers(0, 7), max_size=6)
SCALED = {
    "classifier": lambda d, **o: Classifier(5, {"s": d}, **o),
    "squared": lambda d, **o: Classifier(5, {"s": d}, projection="squared", voting="soft", **o),
    "lazy": lambda d, **o: Classifier(5, {"s": d}, cache_pairs=0, **o),
    "regressor": lambda d, **o: Regressor(5, {"s": d}, **o),
    "whole rows": lambda d, **o: SimilarityForestClassifier(d, 5, **o),
    "isolation": lambda d, **o: RandomSimilarityIsolationForest(5, {"s": d}, **o),
}


@pytest.mark.parametrize("name", SCALED)
@given(
    st.lists(SETS, min_size=12, max_size=30),
    st.lists(SETS, min_size=1, max_size=40),
    st.floats(1e-3, 1e3),
    st.integers(0, 9),
)
def test_a_multiple_of_a_distance_changes_no_answer_about_new_rows(name, cells, new, factor, seed):
    options = {"kinds": {"s": "set"}, "random_state": seed}
    target = np.random.default_rng(seed).permutation(len(cells)) % 3
    rows = {"s": cells}
    answers, leaves = [], []
    for c in (1.0, factor):
        model = SCALED[name](multiple(c), **options).fit(rows, target)
        verb = "predict_proba" if hasattr(model, "predict_proba") else "predict"
        answers.append(getattr(model, verb)({"s": new}))
        leaves.append(model.apply({"s": new}))
    assert_array_equal(leaves[0], leaves[1])
    assert_array_equal(answers[0], answers[1])


def test_a_column_of_distinct_strings_is_compared_by_the_distance_given_for_it():
    words = [f"w{chr(97 + i)}{'ab'[i % 2] * 3}{chr(122 - i)}" for i in range(24)]
    X, y = {"w": words, "x": [float(i * i % 7) for i in range(24)]}, ["a", "b"] * 12
    forest = Classifier(n_estimators=20, distances={"w": "levenshtein"}, random_state=0)
    forest.fit(X, y)
    assert set(forest.schema_.kinds) == {"w", "x"}
    assert forest.score(X, y) > 0.9


def test_the_plain_forest_of_the_benchmark_grows_trees_like_ours(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    case = importlib.import_module("benchmarks.speed.cases.rsf")
    problem = case.baskets(True)
    ours, theirs = case.our_trees(problem)(), case.python_trees(problem)()
    leaves = (ours.trees_.feature < 0).sum() / case.TREES
    assert 0.5 < leaves / (theirs.leaves / case.PYTHON_TREES) < 2
    assert case.edits("kitten", "sitting") == 3
    assert case.edits("GGGC", "AGGCG") == 2
    assert case.jaccard({1, 2, 3}, {2, 3, 4}) == 0.5


def city_block(u, v):
    return float(abs(u[0] - v[0]) + abs(u[1] - v[1]))


def test_several_columns_are_compared_as_one(tmp_path):
    rng = np.random.default_rng(0)
    a, b, x = rng.normal(size=(3, 60))
    y = (np.abs(a) + np.abs(b) > 1).astype(int)
    apart = {"a": a, "x": x, "b": b}
    whole = {"x": x, "ab": list(np.column_stack([a, b]))}
    options = {"n_estimators": 15, "random_state": 0}
    joint = Classifier(distances={("a", "b"): city_block}, **options)
    joint.fit(apart, y)
    one = Classifier(distances={"ab": city_block}, kinds={"ab": "vector"}, **options).fit(whole, y)
    np.testing.assert_array_equal(joint.apply(apart), one.apply(whole))
    assert joint.feature_importances_.tolist() == one.feature_importances_[[1, 0]].tolist() + [0]
    new = {"b": [0.1, 3.0], "a": [0.2, None], "x": [0.0, 1.0]}
    gone = {"x": [0.0, 1.0], "ab": [[0.2, 0.1], None]}
    np.testing.assert_array_equal(joint.predict_proba(new), one.predict_proba(gone))
    by_name = Classifier(distances={("a", "b"): "cosine"}, **options)
    by_name.fit(apart, y).save(tmp_path / "forest")
    loaded = la.load(tmp_path / "forest")
    np.testing.assert_array_equal(loaded.predict_proba(apart), by_name.predict_proba(apart))
    both = Classifier(distances={("a", "b"): city_block, "a": "absolute"}, **options).fit(apart, y)
    assert [(c.name, c.parts) for c in both.trees_.columns] == [
        ("a", ()), ("x", ()), ("a", ("a", "b")),
    ]  # fmt: skip


def test_columns_of_different_kinds_are_compared_as_tuples():
    seen = []

    def differ(u, v):
        seen.extend((u, v))
        return abs(u[0] - v[0]) + (u[1] != v[1])

    rows = {"size": [1.0, 2.0, 5.0, None] * 5, "color": ["red", "blue", "red", "blue"] * 5}
    forest = Classifier(distances={("size", "color"): differ}, n_estimators=3, random_state=0).fit(
        rows, [0, 1, 0, 1] * 5
    )
    assert set(seen) == {(1.0, "red"), (2.0, "blue"), (5.0, "red")}
    assert forest.predict({"size": [4.0], "color": ["red"]}).tolist() == [0]
    with pytest.raises(InvalidInput, match="a column 'colour'"):
        Classifier(distances={("size", "colour"): differ}).fit(rows, [0, 1] * 10)
