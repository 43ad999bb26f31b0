"""The seven proximities: their references on grown forests, worked numbers, what each promises."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import lookalike as la
from lookalike.errors import UndefinedMeasure
from lookalike.measures import Aryal, ForestProximity, Ratio, Ting, Zhu3
from lookalike.trees import IsolatingForest
from measures.forest.test_proximity import METHODS, mixed
from trees import reference
from trees.reference import A, B, C, E, f2
from trees.thresholds.test_flat import make

RNG = np.random.default_rng(0)


ROWS = RNG.normal(size=(40, 3))


SMALL = np.array([A, B, C, E])


def nested(forest):
    """The fitted forest as nested dictionaries, for the reference implementations."""

    def build(t, v):
        at = forest.offsets[t] + v
        if forest.feature[at] < 0:
            return {**reference.leaf(), "mass": forest.mass[at]}
        tree = reference.node(
            int(forest.feature[at]),
            forest.threshold[at],
            build(t, v + 1),
            build(t, forest.right[at]),
            bool(forest.equal[at]),
        )
        return {**tree, "mass": forest.mass[at], "default": bool(forest.default[at])}

    return [build(t, 0) for t in range(forest.n_trees)]


def values(table):
    columns = []
    for column in table:
        x = column.values.astype(float)
        columns.append(np.where(column.missing, np.nan, x))
    return np.column_stack(columns)


@pytest.mark.parametrize("forest", ["synthetic", "extra", "isolation"])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("method", METHODS[:-1])
def test_methods_equal_their_twins_on_mixed_tables(method, gaps, forest):
    table = mixed(gaps=gaps)
    measure = ForestProximity(method, forest, n_estimators=4, random_state=0).fit(table)
    x, trees = values(table), nested(measure.forest_)
    some, others = [0, 3, 5, 7, 20], [1, 3, 7, 30]
    found = measure.compare(measure.rows_[some], measure.rows_[others])
    for i, a in enumerate(some):
        for j, b in enumerate(others):
            expected = reference_value(method, trees, x[a], x[b], len(x))
            if method == "aryal":
                expected = (expected - measure.low_) / (measure.high_ - measure.low_)
            assert_allclose(found[i, j], expected, atol=1e-12)


def reference_value(method, trees, x, y, n):
    if method == "shi":
        return reference.soft_same_leaf(trees, x, y)
    if method in ("ting", "aryal"):
        return getattr(reference, method)(trees, x, y, n)
    return getattr(reference, method)(trees, x, y)


def test_out_of_bag_uses_trees_that_know_neither_row():
    measure = ForestProximity("oob", n_estimators=80, random_state=0).fit(ROWS)
    trees = nested(measure.forest_)
    bags = [set(np.flatnonzero(measure.in_bag_[:, t])) for t in range(80)]
    s = measure.compare(measure.rows_, measure.rows_)
    for i, j in ((0, 1), (4, 9), (20, 33)):
        expected = reference.out_of_bag(trees, bags, ROWS[i], ROWS[j], i, j)
        assert_allclose(s[i, j], expected, atol=1e-12)
    new = measure.compare(measure.encode(ROWS[:3]), measure.rows_)  # new rows are in no bag
    expected = reference.out_of_bag(trees, bags, ROWS[1], ROWS[9], None, 9)
    assert_allclose(new[1, 9], expected, atol=1e-12)
    assert measure.n_fallback_pairs_ == 0
    assert_allclose((measure.in_bag_ > 0).mean(), 1 - np.exp(-1), atol=0.05)
    assert_allclose(measure.distance()[0, 1], np.sqrt(1 - s[0, 1]))


def test_the_small_tree_through_the_measure():
    forest = make([f2()], 2)

    def fit(method):
        return ForestProximity(method, model=forest).fit(SMALL)

    assert_allclose(fit("ratio").similarity()[0], [1, 1 / 3, 0, 0])
    assert_allclose(fit("ratio").distance()[0, 1], np.sqrt(2 / 3))
    assert_allclose(fit(Ratio(parting="once")).similarity()[1, 2], 1 / 2)
    assert_array_equal(fit("shi").similarity()[2], [0, 0, 1, 1])
    assert_allclose(fit("zhu2").similarity()[1], [0, 1, 1 / 2, 1 / 2])
    assert_allclose(fit("zhu3").similarity()[1, 2], 13 / 40)
    assert_allclose(fit("zhu3").distance()[1, 2], 27 / 40)
    assert_allclose(fit(Zhu3(denominator="max")).similarity()[1, 2], 1 / 4)
    ting = fit("ting").distance()
    assert_allclose([ting[0, 1], ting[1, 2], ting[2, 3], ting[0, 0]], [1, 3 / 4, 1 / 2, 0])
    assert_allclose(np.diagonal(fit(Ting(raw=True)).distance()), [1 / 4, 1 / 4, 1 / 2, 1 / 2])
    assert_allclose(fit("ting").similarity(), 1 - ting)
    raw = fit(Aryal(raw=True)).distance()
    assert_allclose(np.log(raw[1, 2]), -0.287682, atol=1e-6)
    aryal = fit("aryal")
    assert_allclose([aryal.low_, aryal.high_], [np.log(1 / 4), 0])
    assert_allclose(aryal.distance()[1, 2], 1 - np.log(0.75) / np.log(0.25))
    shi = fit("shi").similarity([(0.8, np.nan), (np.nan, 0.2), (np.nan, np.nan)])
    assert_allclose(shi[:, 1], [0.5, 0.5, 0.25])


def test_unseen_rows_of_aryal_are_clipped_and_empty_regions_count_nothing():
    forest = make([f2()], 2)
    measure = ForestProximity("ting", model=forest).fit(np.array([A, A, C]))
    assert_array_equal(measure.distance([B])[0], [1.0, 1.0, 1 / 3])
    new = measure.encode([B])
    assert_array_equal(measure.compare(new, new), [[0.0]])  # no fitted row is in leaf B
    aryal = ForestProximity("aryal", model=forest).fit(np.array([A, A, C]))
    assert aryal.compare(aryal.encode([B]), aryal.encode([B]))[0, 0] == 0.0
    alone = ForestProximity("aryal", model=make([reference.leaf()], 2)).fit(SMALL)
    assert_array_equal(alone.distance(), np.zeros((4, 4)))


@pytest.mark.parametrize("method", ["ratio", "shi", "zhu2", "zhu3", "oob"])
def test_only_the_order_of_numbers_matters(method):
    options = {"n_estimators": 60, "random_state": 3, "n_jobs": 1}
    plain = ForestProximity(method, **options).fit(ROWS)
    other = ForestProximity(method, **options).fit(np.exp(3 * ROWS))
    new = RNG.normal(size=(5, 3))
    assert_array_equal(plain.similarity(), other.similarity())
    assert_array_equal(plain.similarity(new), other.similarity(np.exp(3 * new)))


def test_graded_similarities_see_more_than_shared_leaves():
    s = {m: ForestProximity(m, random_state=0).fit(ROWS).similarity() for m in ("ratio", "shi")}
    assert (s["ratio"] > 0).all()
    assert (s["shi"] == 0).mean() > 0.2
    assert np.linalg.eigvalsh(s["shi"]).min() > -1e-9


def test_masses_are_counted_on_all_fitted_rows_and_ting_is_ultrametric_per_tree():
    forest = IsolatingForest(1, max_samples=10, random_state=0)
    measure = ForestProximity("ting", forest).fit(ROWS)
    assert measure.forest_.mass[0] == 40
    d = ForestProximity(Ting(raw=True), forest).fit(ROWS).distance()
    assert (d >= 1 / 40).all()
    assert (np.diagonal(d)[:, None] <= d + 1e-12).all()
    assert (d[:, :, None] <= np.maximum(d[:, None, :], d.T[None]) + 1e-12).all()
    l = ForestProximity(Aryal(raw=True), n_estimators=9, random_state=0).fit(ROWS).distance()
    t = ForestProximity(Ting(raw=True), n_estimators=9, random_state=0).fit(ROWS).distance()
    assert (l <= t + 1e-12).all()


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_ratio_by_information_adds_up_and_is_saved(gaps, tmp_path):
    rows = np.random.default_rng(0).normal(size=(30, 3))
    rows[np.random.default_rng(1).random(rows.shape) < gaps] = np.nan
    measure = ForestProximity(
        Ratio(0.5, 0.5, weights="information"), undefined=0.5, random_state=0
    ).fit(rows)
    s = measure.similarity()
    assert not np.allclose(
        s, ForestProximity(Ratio(0.5, 0.5), undefined=0.5, random_state=0).fit(rows).similarity()
    )
    explained = measure.explain(3, 4)
    assert sum(explained.plus.values()) == pytest.approx(s[3, 4])
    assert sum(explained.minus.values()) == pytest.approx(1 - s[3, 4])
    order = np.argsort(measure.distance()[5] + np.eye(30)[5] * 9, kind="stable")[:4]
    assert measure.kneighbors(n_neighbors=4)[1][5].tolist() == order.tolist()
    measure.save(tmp_path / "measure")
    assert_array_equal(
        la.load(tmp_path / "measure").similarity(rows[:5]), measure.similarity(rows[:5])
    )


def test_rows_without_a_common_test_are_undefined_for_ratio():
    table = {"a": [1.0, 2.0, 3.0, 4.0, None, 2.5], "b": [1.0, 3.0, 2.0, 5.0, None, 4.0]}
    measure = ForestProximity(n_estimators=20, random_state=0).fit(table)
    with pytest.raises(UndefinedMeasure, match="rows 0 and 4"):
        measure.similarity()
    assert measure.set_params(undefined=0.25).similarity()[0, 4] == 0.25
    assert measure.kneighbors(n_neighbors=5)[1][0, -1] == 4
