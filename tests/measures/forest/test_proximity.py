"""ForestProximity: methods against their references, worked numbers, given forests, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

import lookalike as la
from lookalike.errors import InvalidInput, LookalikeWarning, TooFewRows, WrongType
from lookalike.measures import ForestProximity, Ratio, Shi
from lookalike.measures.forest.methods import METHODS as METHOD_CLASSES
from lookalike.testing import check_measure
from lookalike.trees import CellSimilarityForest, ExtraForest, IsolatingForest, SyntheticForest
from trees.reference import A, B, C, E

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(40, 3))
LABELS = (ROWS[:, 0] + ROWS[:, 1] > 0).astype(int)
SMALL = np.array([A, B, C, E])
METHODS = ("ratio", "shi", "zhu2", "zhu3", "ting", "aryal", "oob")


def mixed(n=40, gaps=True):
    rng = np.random.default_rng(1)
    columns = {
        "size": rng.normal(size=n).tolist(),
        "color": rng.choice(["red", "green", "blue"], n).tolist(),
        "count": np.round(rng.normal(size=n)).tolist(),
        "open": rng.choice([True, False], n).tolist(),
    }
    if gaps:
        columns["size"][3] = columns["color"][5] = columns["count"][7] = columns["open"][7] = None
    return la.read_table(columns, kinds={"color": "category", "open": "flag"})


# -- reference implementations on grown forests ----------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("table", ["gaps", "numbers"])
def test_contract_on_real_tables(method, table):
    measure = ForestProximity(method, n_estimators=40, random_state=0, undefined=0.5)
    if method == "oob":
        measure.set_params(forest=SyntheticForest(max_samples=0.2))
    data = mixed(24) if table == "gaps" else ROWS[:24]
    check_measure(measure, data)


@pytest.mark.parametrize("parting", ["twice", "once"])
def test_the_square_matrix_has_the_values_of_its_blocks(parting):
    rows = RNG.normal(size=(150, 3))  # more rows than one tile is wide
    measure = ForestProximity(Ratio(parting=parting), n_estimators=7, random_state=0).fit(rows)
    for to, found in (("similarity", measure.similarity()), ("distance", measure.distance())):
        assert_array_equal(found, measure.block(measure.rows_, measure.rows_, to))
    with la.config(memory_limit="100kB"), pytest.raises(InvalidInput, match="150 x 150"):
        measure.similarity()


def test_contract_for_unequal_weights():
    measure = ForestProximity(Ratio(alpha=1.0, beta=0.2), n_estimators=20, random_state=0)
    check_measure(measure, mixed(24))
    s = measure.fit(ROWS).similarity()
    assert (s != s.T).any()
    assert not measure.traits.symmetric


# -- worked numbers --------------------------------------------------------------------------------


# -- what the methods promise ----------------------------------------------------------------------


def test_rows_that_hang_together_differently_are_apart():
    """Columns that move together: the forest sees a broken connection, single columns do not."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    rows = np.column_stack([x, x + 0.1 * rng.normal(size=300)])
    measure = ForestProximity(random_state=0).fit(rows)
    new = np.array([[1.0, 1.0], [1.05, 1.05], [1.0, -1.0]])
    s = measure.similarity(new, new)
    assert s[0, 1] > s[0, 2] + 0.2


def test_published_settings_are_the_defaults():
    ratio = ForestProximity(random_state=0).fit(ROWS)
    assert ratio.forest_.n_trees == 100
    assert ratio.in_bag_ is None
    ting = ForestProximity("ting", random_state=0).fit(RNG.random((600, 2)))
    assert ting.forest_.nodes.depth.max() == 8
    oob = ForestProximity("oob", random_state=0, n_jobs=1).fit(ROWS[:10])
    assert oob.forest_.n_trees == 1000


# -- forests given ---------------------------------------------------------------------------------


def test_a_fitted_forest_gives_its_own_proximity():
    forest = RandomForestClassifier(30, random_state=0).fit(ROWS, LABELS)
    measure = ForestProximity("shi", model=forest).fit(ROWS)
    leaves = forest.apply(ROWS)
    assert_array_equal(measure.similarity(), (leaves[:, None] == leaves).mean(axis=2))
    new = RNG.normal(size=(6, 3))
    theirs = forest.apply(new)
    assert_array_equal(measure.similarity(new), (theirs[:, None] == leaves).mean(axis=2))
    assert_array_equal(measure.similarity(new, new), (theirs[:, None] == theirs).mean(axis=2))


@pytest.mark.parametrize("method", METHODS[:-1])
def test_any_method_reads_a_regression_forest(method):
    forest = GradientBoostingRegressor(n_estimators=8, random_state=0).fit(ROWS, ROWS[:, 0])
    check_measure(ForestProximity(method, model=forest), ROWS, ROWS[:5] + 0.1)


def test_out_of_bag_rows_of_a_fitted_forest():
    forest = RandomForestRegressor(60, random_state=0).fit(ROWS, ROWS[:, 0])
    measure = ForestProximity("oob", model=forest).fit(ROWS)
    leaves = forest.apply(ROWS)
    out = np.ones((40, 60), bool)
    for t, rows in enumerate(forest.estimators_samples_):
        out[rows, t] = False
    both = out[:, None] & out
    expected = ((leaves[:, None] == leaves) & both).sum(axis=2) / both.sum(axis=2)
    np.fill_diagonal(expected, 1.0)
    assert_allclose(measure.similarity(), expected)


def test_cloning_keeps_a_fitted_forest_and_saving_flattens_it(tmp_path):
    forest = ExtraTreesClassifier(5, random_state=0).fit(ROWS, LABELS)
    measure = clone(ForestProximity("zhu3", model=forest))
    assert measure.model is forest
    measure.fit(ROWS).save(tmp_path / "it.lookalike")
    back = la.load(tmp_path / "it.lookalike")
    assert_array_equal(back.similarity(ROWS[:5] + 1), measure.similarity(ROWS[:5] + 1))
    assert_array_equal(clone(back).fit(ROWS).similarity(), measure.similarity())
    assert measure.model is forest


def test_a_fitted_forest_has_its_trees_already():
    forest = RandomForestClassifier(5, random_state=0).fit(ROWS, LABELS)
    with pytest.raises(InvalidInput, match="which has its trees already"):
        ForestProximity("shi", model=forest, n_estimators=10).fit(ROWS)


# -- growers and readings as parameters ------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "grower"),
    [
        ("synthetic", SyntheticForest()),
        ("extra", ExtraForest()),
        ("isolation", IsolatingForest()),
        ("similarity", CellSimilarityForest()),
    ],
)
@pytest.mark.parametrize("method", ["zhu2", "oob"])
@pytest.mark.filterwarnings("ignore:.*pairs of rows have no tree")  # large samples, few trees
def test_a_name_is_the_grower_as_published(name, grower, method):
    named = ForestProximity(method, name, n_estimators=80, random_state=0).fit(ROWS)
    made = ForestProximity(method, grower, n_estimators=80, random_state=0).fit(ROWS)
    own = grower.set_params(n_estimators=80, random_state=0)
    inside = ForestProximity(method, own).fit(ROWS)
    assert_array_equal(named.distance(), made.distance())
    assert_array_equal(named.distance(), inside.distance())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore:.*pairs of rows have no tree")
def test_a_name_is_the_reading_as_published(method):
    reading = METHOD_CLASSES[method]()
    named, made = (
        ForestProximity(m, "extra", n_estimators=40, random_state=0) for m in (method, reading)
    )
    assert named.traits == made.traits
    assert_array_equal(named.fit(ROWS).distance(), made.fit(ROWS).distance())


def test_nested_options_are_cloned_set_shown_and_saved(tmp_path):
    measure = ForestProximity(Ratio(beta=0.5), SyntheticForest(max_depth=4), random_state=0)
    assert measure.get_params()["forest__max_depth"] == 4
    assert "SyntheticForest(max_depth=4)" in repr(measure)
    assert "Ratio(beta=0.5)" in repr(measure)
    copied = clone(measure)
    copied.set_params(forest__max_depth=2, method__beta=1.0, n_estimators=7)
    assert (measure.forest.max_depth, measure.method.beta) == (4, 0.5)
    copied.fit(ROWS)
    assert copied.forest_.nodes.depth.max() == 2
    assert copied.forest_.n_trees == 7
    copied.save(tmp_path / "it.lookalike")
    back = la.load(tmp_path / "it.lookalike")
    assert back.get_params()["forest__max_depth"] == 2
    assert_array_equal(back.similarity(ROWS[:4]), copied.similarity(ROWS[:4]))
    assert_array_equal(clone(back).fit(ROWS).similarity(), copied.similarity())


@pytest.mark.parametrize(
    "make", [lambda: 3, lambda: np.random.RandomState(3), np.random.default_rng]
)
@pytest.mark.parametrize("forest", ["synthetic", "extra", "similarity"])
def test_every_kind_of_random_state_is_taken(make, forest):
    measure = ForestProximity(forest=forest, n_estimators=5, random_state=make()).fit(ROWS)
    assert measure.forest_.n_trees == 5


def test_a_generator_goes_on_from_fit_to_fit():
    measure = ForestProximity(n_estimators=5, random_state=np.random.default_rng(0))
    one, other = measure.fit(ROWS).similarity(), measure.fit(ROWS).similarity()
    assert (one != other).any()


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"method": "rato"}, InvalidInput, "Did you mean 'ratio'"),
        ({"forest": "isolated"}, InvalidInput, "Did you mean 'isolation'"),
        ({"model": RandomForestClassifier()}, InvalidInput, "a fitted model"),
        ({"forest": RandomForestClassifier()}, WrongType, "Give a fitted model as model"),
        ({"forest": 3}, WrongType, "found a int"),
        ({"n_estimators": 0}, InvalidInput, "an integer >= 1"),
        ({"forest": SyntheticForest(max_samples=0)}, InvalidInput, "max_samples=0"),
        (
            {"forest": SyntheticForest(max_features=2.5)},
            InvalidInput,
            "max_features=",
        ),
        ({"forest": SyntheticForest(bootstrap=3)}, InvalidInput, "one of None, True, False"),
        ({"forest": ExtraForest(max_depth=0)}, InvalidInput, "an integer >= 1"),
        ({"forest": IsolatingForest(random_state="a")}, InvalidInput, "RandomState"),
        ({"method": Ratio(alpha=-1.0)}, InvalidInput, "a number >= 0"),
        ({"method": Shi(missing="halves")}, InvalidInput, "Did you mean 'half'"),
        ({"method": 3}, InvalidInput, "a proximity method"),
        ({"random_state": -1}, InvalidInput, "RandomState"),
        (
            {"forest": ExtraForest(5), "n_estimators": 6},
            InvalidInput,
            r"n_estimators=6: .*n_estimators=5.*Give it once",
        ),
    ],
)
def test_bad_parameters(change, error, words):
    with pytest.raises(error, match=words):
        ForestProximity(**change).fit(ROWS)


def test_a_forest_of_other_columns_is_refused():
    forest = RandomForestClassifier(3).fit(ROWS, LABELS)
    with pytest.raises(InvalidInput, match=r"the 3 columns .* found 2: x0, x1"):
        ForestProximity("shi", model=forest).fit(ROWS[:, :2])
    import pandas as pd

    frame = pd.DataFrame(ROWS, columns=["a", "b", "c"])
    forest = RandomForestClassifier(3).fit(frame, LABELS)
    with pytest.raises(InvalidInput, match=r"the columns that the model was .* no column 'a'"):
        ForestProximity("shi", model=forest).fit(frame[["b", "c"]])
    # Names say which column is which, in any order and beside others.
    other = frame[["b", "a", "c"]].assign(d=1.0)
    measures = [ForestProximity("shi", model=forest).fit(rows) for rows in (frame, other)]
    assert_array_equal(measures[0].similarity(), measures[1].similarity())


def test_forests_that_cannot_serve_a_method_are_refused():
    forest = GradientBoostingRegressor(n_estimators=2).fit(ROWS, ROWS[:, 0])
    with pytest.raises(InvalidInput, match="each grown on a sample of the rows"):
        ForestProximity("oob", model=forest).fit(ROWS)
    with pytest.raises(InvalidInput, match="number columns only"):
        ForestProximity(forest=SyntheticForest(synthetic="uniform")).fit(mixed(gaps=False))


def test_bad_tables():
    with pytest.raises(InvalidInput, match="'b' without any"):
        ForestProximity().fit(
            la.read_table({"a": [1.0, 2.0], "b": [None, None]}, kinds={"b": "number"})
        )
    with pytest.raises(TooFewRows, match="n_samples=1"):
        ForestProximity().fit([[1.0, 2.0]])
    table = {"name": ["a b", "b c", "c d"], "x": [1.0, 2.0, 3.0]}
    with pytest.warns(LookalikeWarning, match="leaves out 'name'"):
        ForestProximity(kinds={"name": "text"}, n_estimators=2).fit(table)


def test_a_category_never_seen_is_like_none():
    table = {"c": ["a", "b"] * 20, "x": RNG.random(40)}
    measure = ForestProximity("shi", "extra", n_estimators=30, random_state=0).fit(table)
    new = measure.similarity({"c": ["zzz"], "x": [0.5]})
    assert new.shape == (1, 40)
    assert np.isfinite(new).all()
