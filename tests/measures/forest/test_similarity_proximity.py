"""ForestProximity over similarity trees: any columns, with and without labels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import lookalike as la
from lookalike.errors import TooFewRows
from lookalike.kernels.cells import CATEGORY, VALUE
from lookalike.leaderboard import ranking_agreement
from lookalike.measures import ForestProximity
from lookalike.prediction import (
    RandomSimilarityForestClassifier,
    RandomSimilarityForestRegressor,
    RandomSimilarityIsolationForest,
)
from lookalike.testing import check_measure
from lookalike.trees import CellSimilarityForest

METHODS = ("ratio", "shi", "zhu2", "zhu3", "ting", "aryal", "oob")
KINDS = {"n": "number", "c": "category", "s": "set", "t": "text", "q": "sequence"}


def similar(method="ratio", n_estimators=12, random_state=0, undefined=None, n_jobs=None, **grown):
    """A measure whose forest is grown with the other options."""
    return ForestProximity(
        method,
        CellSimilarityForest(**grown) if grown else "similarity",
        n_estimators=n_estimators,
        random_state=random_state,
        undefined=undefined,
        n_jobs=n_jobs,
    )


def mixed(n=24, gaps=True, seed=0):
    """Two groups that differ in every column."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 2
    words = (["anna", "hanna", "anne", "hanno"], ["robert", "rupert", "robin", "rob"])
    columns = {
        "n": (np.round(4 * rng.normal(size=n)) / 4 + 3 * group).tolist(),
        "c": [str(rng.choice(["red", "blue"] if g else ["green", "blue"])) for g in group],
        "s": [set(rng.choice(list("vwxyz" if g else "abcde"), 3).tolist()) for g in group],
        "t": [str(rng.choice(words[g])) for g in group],
        "q": [tuple(rng.choice(list("ijk" if g else "lmn"), 4).tolist()) for g in group],
    }
    if gaps:
        for at, cells in enumerate(columns.values()):
            for i in rng.choice(n, 2, replace=False):
                cells[i] = None
            cells[at % n] = None
    return la.read_table(columns, kinds=KINDS), group


def apart(s, group):
    """Mean similarity of pairs of one group, and of pairs across."""
    same = group[:, None] == group
    off = ~np.eye(len(group), dtype=bool)
    return s[same & off].mean(), s[~same].mean()


# -- reference implementations, walking the trees node by node -------------------------------------


class Walker:
    """Tests of similarity trees answered sequentially, from the cells and the distances alone."""

    def __init__(self, trees, fitted):
        self.trees = trees
        self.fitted = trees.encode(fitted)
        self.default = {}
        for t in range(trees.n_trees):
            self.settle(t, 0, range(len(fitted)))

    def test(self, t, v):
        """The content of a node's test; None in a leaf."""
        at = self.trees.offsets[t] + v
        f = int(self.trees.feature[at])
        if f < 0:
            return None
        places = int(self.trees.first[at]), int(self.trees.second[at])
        return f, *places, float(self.trees.threshold[at])

    def left(self, test, cells, row):
        """Whether a row goes left; None where its cell is missing."""
        f, first, second, threshold = test
        column, own = self.trees.columns[f], cells[f][[row]]
        if not column.is_object:
            x = float(np.asarray(own, float)[0])
            if np.isnan(x) or (column.kind == CATEGORY and x == -1):
                return None
            if column.kind == VALUE:
                return x <= threshold
            p, q = (float(self.trees.kept[f][at]) for at in (first, second))
            if column.kind == CATEGORY:
                return (x != q) - (x != p) <= threshold
            return abs(x - q) - abs(x - p) <= threshold
        if own.missing[0]:
            return None
        p, q = self.trees.kept[f][[first]], self.trees.kept[f][[second]]
        d = column.distance.compare
        return float(d(q, own)[0, 0]) - float(d(p, own)[0, 0]) <= threshold

    def children(self, t, v):
        return v + 1, int(self.trees.right[self.trees.offsets[t] + v])

    def settle(self, t, v, rows):
        test = self.test(t, v)
        if test is None:
            return
        said = {row: self.left(test, self.fitted, row) for row in rows}
        known = [answer for answer in said.values() if answer is not None]
        self.default[t, v] = 2 * sum(known) >= len(known)
        goes = {row: self.default[t, v] if a is None else a for row, a in said.items()}
        for child, side in zip(self.children(t, v), (True, False), strict=True):
            self.settle(t, child, [row for row in rows if goes[row] == side])

    def path(self, t, cells, row):
        v, tests = 0, set()
        while (test := self.test(t, v)) is not None:
            tests.add(test)
            answer = self.left(test, cells, row)
            answer = self.default[t, v] if answer is None else answer
            v = self.children(t, v)[not answer]
        return tests

    def ratio(self, x, y):
        found = []
        for t in range(self.trees.n_trees):
            on_x, on_y = self.path(t, *x), self.path(t, *y)
            if not on_x:
                found.append(1.0)
                continue
            common = differ = 0
            for test in on_x | on_y:
                a, b = self.left(test, *x), self.left(test, *y)
                if a is not None and b is not None:
                    common += a == b
                    differ += 0 if a == b else (test in on_x) + (test in on_y)
            if common + differ:
                found.append(common / (common + differ))
        return np.mean(found) if found else np.nan

    def weights(self, t, v, cells, row):
        test = self.test(t, v)
        if test is None:
            return {v: 1.0}
        left, right = self.children(t, v)
        answer = self.left(test, cells, row)
        if answer is not None:
            return self.weights(t, left if answer else right, cells, row)
        both = {**self.weights(t, left, cells, row), **self.weights(t, right, cells, row)}
        return {leaf: weight / 2 for leaf, weight in both.items()}

    def shi(self, x, y):
        total = 0.0
        for t in range(self.trees.n_trees):
            a, b = self.weights(t, 0, *x), self.weights(t, 0, *y)
            total += sum(weight * b.get(leaf, 0.0) for leaf, weight in a.items())
        return total / self.trees.n_trees


@pytest.mark.parametrize("numeric", ["projection", "value"])
@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("method", ["ratio", "shi"])
def test_methods_equal_a_walk_from_node_to_node(method, gaps, numeric):
    table, _ = mixed(14, gaps)
    new, _ = mixed(5, gaps, seed=3)
    measure = similar(method, n_estimators=3, numeric=numeric).fit(table)
    walker = Walker(measure.trees_, table)
    old = walker.fitted
    fresh = measure.trees_.encode(la.table.as_table(new, table.schema))
    expected_of = getattr(walker, method)
    found = measure.compare(measure.rows_, measure.rows_)
    expected = [[expected_of((old, i), (old, j)) for j in range(14)] for i in range(14)]
    assert_allclose(found, expected, atol=1e-12)
    rows = measure.encode(new)
    expected = [[expected_of((fresh, i), (old, j)) for j in range(14)] for i in range(5)]
    assert_allclose(measure.compare(rows, measure.rows_), expected, atol=1e-12)
    expected = [[expected_of((fresh, i), (fresh, j)) for j in range(5)] for i in range(5)]
    assert_allclose(measure.compare(rows, rows), expected, atol=1e-12)


def test_out_of_bag_counts_shared_leaves_of_trees_that_saw_neither():
    table, _ = mixed(20, gaps=False)
    measure = similar("oob", n_estimators=60, max_samples=0.5).fit(table)
    leaves, bag = measure.trees_.leaves(measure.trees_.encode(table)), measure.in_bag_ > 0
    s = measure.similarity()
    for i in range(20):
        for j in range(i):
            usable = ~bag[i] & ~bag[j]
            assert usable.any()
            assert_allclose(s[i, j], (leaves[i] == leaves[j])[usable].mean(), atol=1e-12)
    # Drawn with replacement, half of 2n rows leave out exp(-1/2) of them.
    assert_allclose(bag.mean(), 1 - np.exp(-0.5), atol=0.05)


# -- the contract ----------------------------------------------------------------------------------


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_contract(method, gaps):
    measure = similar(method, undefined=0.5)
    if method == "oob":
        measure.set_params(n_estimators=60, forest=CellSimilarityForest(max_samples=0.2))
    new, _ = mixed(4, gaps, seed=5)
    check_measure(measure, mixed(18, gaps)[0], new)


def test_every_kind_of_column_is_compared():
    assert similar().traits.kinds == ()
    assert ForestProximity().traits.kinds
    model = RandomSimilarityForestClassifier(2).fit({"n": [1.0, 2.0]}, ["a", "b"])
    assert ForestProximity(model=model).traits.kinds == ()


def test_the_forest_does_not_depend_on_threads():
    table, _ = mixed(40)
    one, other = (similar(n_jobs=jobs).fit(table).similarity() for jobs in (1, 2))
    assert_array_equal(one, other)


# -- what must not matter --------------------------------------------------------------------------


def letters_apart(u, v):
    return float(len(set(u) ^ set(v)))


@pytest.mark.parametrize("method", ["ratio", "zhu3", "aryal"])
def test_a_multiple_of_a_distance_is_the_same_distance(method):
    table, _ = mixed(24)
    found = [
        similar(method, distances={"t": lambda u, v, c=c: c * letters_apart(u, v)})
        .fit(table)
        .similarity()
        for c in (1.0, 3.0)
    ]
    assert_array_equal(*found)
    numbers = np.random.default_rng(0).integers(0, 50, (30, 3)).astype(float)
    assert_array_equal(
        similar(method).fit(numbers).similarity(), similar(method).fit(7 * numbers).similarity()
    )


def test_only_the_order_of_numbers_counts_if_they_are_tested_as_they_are():
    x = np.random.default_rng(0).normal(size=(40, 3))
    measure = similar(numeric="value")
    s = measure.fit(x).similarity()
    assert_array_equal(measure.fit(np.exp(x)).similarity(), s)


@pytest.mark.parametrize("method", ["ratio", "zhu2"])
def test_numbers_tested_as_they_are_make_the_synthetic_forest(method):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=(40, 3)), rng.normal(size=(40, 3)) + [3, 3, 0]])
    options = {"n_estimators": 200}
    mine = similar(method, numeric="value", **options).fit(x)
    usual, again = (ForestProximity(method, random_state=s, **options).fit(x) for s in (0, 1))
    # As much alike as two synthetic forests that differ by chance alone.
    assert ranking_agreement(mine, usual).mean > ranking_agreement(usual, again).mean - 0.03


def test_synthetic_columns_may_be_drawn_with_replacement():
    table, group = mixed(40, gaps=False)
    drawn, shuffled = (
        similar(synthetic=way).fit(table).similarity() for way in ("resampled", "permuted")
    )
    assert (drawn != shuffled).any()
    assert_array_equal(similar().fit(table).similarity(), shuffled)
    within, between = apart(drawn, group)
    assert within > between


# -- groups are found ------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_groups_of_sets_and_strings_are_recovered(method):
    table, group = mixed(60, gaps=True)
    objects = table.drop(["n", "c"])
    options = {"n_estimators": 300} if method == "oob" else {"n_estimators": 40}
    s = similar(method, undefined=0.0, **options).fit(objects).similarity()
    within, between = apart(s, group)
    assert within > between + 0.02
    nearest = similar(method, **options).fit(objects).kneighbors(n_neighbors=3)[1]
    assert (group[nearest] == group[:, None]).mean() > 0.85


# -- forests fitted to labels ----------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_rows_of_one_class_are_more_alike(fitted, method):
    table, label, model = fitted
    measure = ForestProximity(method, model=model, undefined=0.0).fit(table)
    within, between = apart(measure.similarity(), label)
    assert within > between + 0.05
    if method != "oob":  # new rows
        new, group = mixed(20, gaps=False, seed=8)
        near = measure.kneighbors(new, 5)[1]
        assert (label[near] == group[:, None]).mean() > 0.8


def test_shared_leaves_are_those_of_the_forest():
    table, group = mixed(30, gaps=False)
    new, _ = mixed(8, gaps=False, seed=2)
    amounts = np.arange(30.0) + 100 * group
    for model in (
        RandomSimilarityForestClassifier(20, projection="squared", random_state=0, ccp_alpha=0.01),
        RandomSimilarityForestRegressor(
            20, random_state=0, distances={"t": ["levenshtein", "jaro_winkler"]}
        ),
        RandomSimilarityIsolationForest(20, random_state=0),
    ):
        model.fit(table, group if "Classifier" in type(model).__name__ else amounts)
        old, fresh = model.apply(table), model.apply(new)
        measure = ForestProximity("shi", model=model).fit(table)
        assert_allclose(measure.similarity(), (old[:, None] == old).mean(axis=2))
        assert_allclose(measure.similarity(new), (fresh[:, None] == old).mean(axis=2))


def test_a_fitted_forest_keeps_the_contract(fitted):
    table, _, model = fitted
    new, _ = mixed(4, seed=5)
    for method in ("ratio", "shi", "zhu3"):
        check_measure(ForestProximity(method, model=model, undefined=0.5), table[:20], new)


def test_tables_are_read_as_the_forest_read_its_own():
    # By themselves these lists would be read as sets.
    columns = {
        "q": [["a", "b"], ["b", "a"], ["a", "b", "c"], ["c", "b", "a"]] * 3,
        "label": list("xyxy") * 3,
    }
    model = RandomSimilarityForestClassifier(10, kinds={"q": "sequence"}, random_state=0)
    model.fit(columns, "label")
    assert (model.predict(columns) == columns["label"]).all()
    measure = ForestProximity("shi", model=model).fit({"q": columns["q"]})
    label = np.array(columns["label"])
    assert_array_equal(measure.similarity() > 0.5, label[:, None] == label)
    again = clone(measure).fit(columns, "label")
    assert_array_equal(again.similarity(), measure.similarity())


def test_a_measure_with_a_fitted_forest_is_saved_whole(tmp_path, fitted):
    table, _, model = fitted
    new, _ = mixed(6, seed=5)
    measure = ForestProximity("ratio", model=model, undefined=0.5).fit(table)
    measure.save(tmp_path / "m.lookalike")
    back = la.load(tmp_path / "m.lookalike")
    assert_array_equal(back.similarity(new), measure.similarity(new))
    assert_array_equal(clone(back).fit(table).similarity(), measure.similarity())
    assert back.model.trees_ is back.trees_ is back.inputs_.trees  # written once


# -- memory ----------------------------------------------------------------------------------------


# -- bad input -------------------------------------------------------------------------------------


def test_one_row_is_too_few():
    with pytest.raises(TooFewRows, match="n_samples=1"):
        similar().fit(mixed()[0][:1])
