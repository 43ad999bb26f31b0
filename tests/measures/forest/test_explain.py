"""Explanations of forest proximities: worked numbers, and what belongs to no column."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import lookalike as la
from lookalike.columns.ragged import Ragged
from lookalike.measures import ForestProximity
from lookalike.measures.contract.rows import Rows
from lookalike.measures.forest.explain import are_complete, check_soft
from lookalike.saving.fields import Misfit
from measures.forest.test_similarity_proximity import Walker, mixed, similar
from trees import reference
from trees.reference import A, B, C, E, f2
from trees.thresholds.test_flat import make
from trees.thresholds.test_proximity import eight_tests

SMALL = np.array([A, B, C, E])


def test_the_ratio_of_the_figure_is_explained_test_by_test():
    tree, rows = eight_tests()
    measure = ForestProximity("ratio", model=make([tree], 8)).fit(np.array(rows))
    explained = measure.explain(0, 1)
    assert_allclose(explained.similarity, 5 / 9)
    plus = [explained.plus[f"x{j}"] for j in range(8)]
    minus = [explained.minus[f"x{j}"] for j in range(8)]
    assert_allclose(plus, np.array([1, 1, 0, 0, 1, 1, 1, 0]) / 9)
    assert_allclose(minus, np.array([0, 0, 2, 1, 0, 0, 0, 1]) / 9)


def test_rows_are_complete_unless_one_side_has_several_leaves():
    offsets, present = np.array([0, 0]), np.zeros(1, bool)
    none = Rows(np.array([0]), {"leaves": Ragged(np.empty(0, np.int32), offsets, present)})
    two = Ragged(np.array([0, 1], np.int32), np.array([0, 2]), present)
    some = Rows(np.array([1]), {"leaves": two})
    assert are_complete(none, none)
    assert not are_complete(none, some)
    assert not are_complete(some, none)


def test_single_leaves_are_explained_by_no_column():
    forest = make([f2(), reference.leaf()], 2)
    explained = ForestProximity("ratio", model=forest).fit(SMALL).explain(0, 1)
    assert_allclose(explained.similarity, (1 / 3 + 1) / 2)
    assert_allclose(explained.plus[None], 1 / 2)
    assert_allclose([explained.plus["x1"], explained.minus["x0"]], [1 / 6, 1 / 3])


def test_leaf_sharing_blames_the_column_at_which_rows_part():
    forest = make([f2()], 2)
    measure = ForestProximity("shi", model=forest).fit(SMALL)
    assert measure.explain(0, 1).minus == {"x0": 1.0, "x1": 0.0}
    assert measure.explain(1, 2).minus == {"x0": 0.0, "x1": 1.0}
    assert measure.explain(2, 3).minus == {"x0": 0.0, "x1": 0.0}
    explained = ForestProximity("zhu2", model=forest).fit(SMALL).explain(1, 2)
    assert explained.minus == {"x0": 0.0, "x1": 0.5}
    explained = ForestProximity("ting", model=forest).fit(SMALL).explain(1, 2)
    assert_allclose([explained.minus["x1"], explained.plus[None]], [3 / 4, 1 / 4])


def test_reasons_are_given_by_column():
    table, _ = mixed(40, gaps=False)
    same = la.read_table(
        {"s": list(table["s"].values), "n": list(table["n"].values), "still": [{"a"}] * 40},
        kinds={"s": "set", "n": "number", "still": "set"},
    )
    for method in ("ratio", "shi", "zhu2", "ting"):
        explained = similar(method, n_estimators=30).fit(same).explain(0, 1)
        assert set(explained.minus) - {None} == {"s", "n", "still"}
        assert explained.minus["still"] == explained.plus.get("still", 0.0) == 0.0
        assert explained.minus["s"] > 0.02
        assert explained.minus["n"] > 0.02
        assert_allclose(sum(explained.minus.values()), 1 - explained.similarity, atol=1e-9)


def test_ratio_reasons_equal_the_tests_agreed_on():
    table, _ = mixed(14)
    measure = similar(n_estimators=1, random_state=4).fit(table)
    walker = Walker(measure.trees_, table)
    x, y = (walker.fitted, 6), (walker.fitted, 7)
    on_x, on_y = walker.path(0, *x), walker.path(0, *y)
    plus, minus = dict.fromkeys(table.names, 0), dict.fromkeys(table.names, 0)
    for test in on_x | on_y:
        a, b = walker.left(test, *x), walker.left(test, *y)
        if a is not None and b is not None:
            name = table.names[measure.trees_.columns[test[0]].column]
            plus[name] += a == b
            minus[name] += 0 if a == b else (test in on_x) + (test in on_y)
    total = sum(plus.values()) + sum(minus.values())
    assert total > 0
    explained = measure.explain(6, 7)
    for name in table.names:
        assert_allclose(explained.plus[name], plus[name] / total, atol=1e-12)
        assert_allclose(explained.minus[name], minus[name] / total, atol=1e-12)


def test_every_leaf_of_a_loaded_row_has_a_weight():
    leaves = Ragged.of([[1, 2], [3]], np.int32)
    for weights, fits in (([[0.5, 0.5], [1.0]], True), ([[0.5], [0.5, 1.0]], False)):
        arrays = {"leaves": leaves, "weights": Ragged.of(weights, np.float64)}
        rows = Rows(np.arange(2), arrays)
        if fits:
            check_soft(rows, "rows")
        else:
            with pytest.raises(Misfit, match="a weight for every leaf"):
                check_soft(rows, "rows")
