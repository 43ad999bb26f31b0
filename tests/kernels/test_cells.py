"""The steps of one test of a similarity tree: projections, spreads and cuts, by worked numbers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from lookalike.kernels.cells import (
    CATEGORY,
    ENTROPY,
    GINI,
    NUMBER,
    SQUARED,
    TABLE,
    TABLE_SQUARED,
    VALUE,
    VARIANCE,
    CellColumn,
    SplitRules,
    Targets,
    best_cut,
    cell_distance,
    class_impurity,
    draw_entry,
    keep_better,
    least_varied,
    make_best,
    make_scratch,
    node_statistics,
    partition_rows,
    sort_by_projection,
    variance_of_cells,
    variance_of_codes,
    variance_of_numbers,
)
from lookalike.kernels.growing import group_rows
from trees import cell_reference as reference

seeds = st.integers(0, 2**32 - 1)
NONE = np.empty(1)
RULES = SplitRules(1, 1, 100, 2, 1, GINI, 1, 1, 0)


def column(kind, values, matrix=None):
    """One column of cells; for a matrix of distances, values are places in it."""
    x = np.asarray(values, float)
    ranks = np.unique(x, return_inverse=True)[1].astype(np.int32)
    if matrix is None:
        return CellColumn(kind, x, ranks, NONE, 0, 1)
    return CellColumn(kind, x, ranks, np.ravel(matrix).astype(float), 0, len(matrix))


def line(kind, values, p, q, matrix=None):
    """Project cells; return rows in order and their projections."""
    m = len(values)
    scratch = make_scratch(m, 1)
    k = sort_by_projection(column(kind, values, matrix), np.arange(m), m, p, q, scratch)
    return scratch.item[:k], scratch.proj[:k]


def targets(y, weight=None, times=None):
    label = np.asarray(y, np.int64)
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, float)
    times = np.ones(len(y), np.int64) if times is None else np.asarray(times, np.int64)
    return Targets(label, np.asarray(y, float), weight, times, int(label.max()) + 1)


def cut(item, proj, y, criterion=GINI, balanced=True):
    goal = targets(y)
    scratch = make_scratch(len(item), goal.n_classes)
    scratch.item[:], scratch.proj[:] = item, proj
    rules = RULES._replace(criterion=criterion, balanced=int(balanced))
    return best_cut(len(item), goal, rules, 1e-12, 0.0, 0.0, scratch)


# -- projections -----------------------------------------------------------------------------------


def test_projections_on_a_line_are_clamped_and_squares_are_not():
    item, proj = line(NUMBER, range(6), 1, 4)
    assert dict(zip(item.tolist(), proj.tolist(), strict=True)) == {
        0: 3, 1: 3, 2: 1, 3: -1, 4: -3, 5: -3,
    }  # fmt: skip
    item, proj = line(SQUARED, range(6), 1, 4)
    assert dict(zip(item.tolist(), proj.tolist(), strict=True)) == {
        0: 15, 1: 9, 2: 3, 3: -3, 4: -9, 5: -15,
    }  # fmt: skip
    assert (np.diff(proj) > 0).all()


def test_beyond_the_pair_there_is_no_round_off():
    _, proj = line(NUMBER, [-7.3, 0.05, 0.1, 0.3, 12.7], 2, 3)
    assert len(set(proj.tolist())) == 2


def test_categories_have_three_places():
    item, proj = line(CATEGORY, [2, 0, 1, 0, 2, 1], 1, 2)  # p = 0, q = 1
    assert sorted(item[:2].tolist()) == [2, 5]
    assert proj.tolist() == [-1, -1, 0, 0, 1, 1]


def test_a_number_tested_by_itself_is_its_own_projection():
    item, proj = line(VALUE, [3.0, 1.0, 2.0], -1, -1)
    assert item.tolist() == [1, 2, 0]
    assert proj.tolist() == [1.0, 2.0, 3.0]


def test_squared_distances_of_a_matrix():
    places = np.arange(6.0)
    p, q = 4, 1  # the similarity forest's p = 1 and q = 4 come in the reverse order
    matrix = np.abs(places[:, None] - places)
    item, proj = line(TABLE_SQUARED, places, p, q, matrix)
    assert item.tolist() == list(range(6))
    assert_allclose(proj, [-15, -9, -3, 3, 9, 15])


@settings(max_examples=40, deadline=None)
@given(seed=seeds, kind=st.sampled_from([NUMBER, SQUARED, CATEGORY, TABLE]), n=st.integers(2, 60))
def test_projections_come_in_order_and_are_differences_of_distances(seed, kind, n):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 8, n).astype(float)
    matrix = None
    if kind == TABLE:
        matrix = np.triu(rng.random((n, n)), 1)
        matrix += matrix.T
        x = np.arange(n, dtype=float)
    p, q = rng.choice(n, 2, replace=False)
    if x[p] == x[q]:
        return  # never drawn
    item, proj = line(kind, x, p, q, matrix)
    assert sorted(item.tolist()) == list(range(n))
    assert (np.diff(proj) >= 0).all()
    cells = column(kind, x, matrix)
    for i, found in zip(item, proj, strict=True):
        to_p, to_q = (cell_distance(kind, x[i], x[e], cells.flat, 0, cells.width) for e in (p, q))
        power = 2 if kind == SQUARED else 1
        assert_allclose(found, to_q**power - to_p**power, atol=1e-9)


def test_rows_are_parted_in_their_order_and_unknown_ones_follow_the_default():
    x = column(VALUE, [5.0, 1.0, np.nan, 2.0, 9.0])
    for default, expected in ((1, [1, 2, 3, 0, 4]), (0, [1, 3, 0, 2, 4])):
        rows = np.arange(5)
        middle = partition_rows(x, -1, -1, 2.0, default, rows, 0, 5)
        assert rows.tolist() == expected
        assert middle == 2 + default


# -- how much cells vary ---------------------------------------------------------------------------


def letters():
    words = [frozenset(w) for w in ("ab", "abc", "a", "xy", "xyz", "bx")]
    matrix = [[float(reference.jaccard(a, b)) for b in words] for a in words]
    return column(TABLE, range(6), np.array(matrix))


def test_sets_of_letters():
    cells, rows, state = letters(), np.arange(6), np.array([1], np.int64)
    goal = targets([0, 0, 0, 1, 1, 1])
    spread = [variance_of_cells(cells, rows, a, a + 3, goal.times, state) for a in (0, 3)]
    assert spread == pytest.approx([0.089506, 0.124228], abs=5e-7)
    scratch = make_scratch(6, 2)
    group_rows(rows, 6, goal.label, 2, scratch.grouped, scratch.ends)
    assert scratch.ends.tolist() == [0, 3, 6]
    assert least_varied(cells, goal, state, scratch) == 0
    assert sort_by_projection(cells, rows, 6, 0, 3, scratch) == 6
    placed = dict(zip(scratch.item.tolist(), scratch.proj.tolist(), strict=True))
    assert_allclose([placed[i] for i in range(6)], [1, 2 / 3, 0.5, -1, -2 / 3, 0], atol=1e-12)
    score, surplus, place, weight = best_cut(6, goal, RULES, 1e-12, 0.0, 0.0, scratch)
    assert (score, surplus, weight) == (pytest.approx(0), 0, 6.0)
    assert scratch.proj[place] == pytest.approx(0)


def test_the_distance_of_sets_is_that_of_the_reference():
    assert Fraction(1, 2) == reference.jaccard(frozenset({1, 2, 3}), frozenset({2, 3, 4}))


@settings(max_examples=30, deadline=None)
@given(seed=seeds, n=st.integers(1, 80))
def test_spreads_equal_those_of_numpy(seed, n):
    rng = np.random.default_rng(seed)
    x, times = rng.integers(0, 5, n), rng.integers(1, 4, n)
    rows, often = np.arange(n), np.repeat(x, times)
    scratch = make_scratch(n, 1)
    found = variance_of_numbers(x.astype(float), rows, 0, n, times)
    assert_allclose(found, often.var(), atol=1e-12)
    found = variance_of_codes(
        x.astype(np.int32), rows, 0, n, times, scratch.keys, scratch.spare, scratch.counts
    )
    assert_allclose(found, (often[:, None] != often).mean() / 2, atol=1e-12)


def test_entries_are_drawn_as_often_as_rows_came():
    state, times = np.array([12345], np.int64), np.array([1, 0, 3])
    drawn = [draw_entry(state, np.arange(3), 3, times) for _ in range(4000)]
    assert_allclose(np.bincount(drawn, minlength=3) / 4000, [0.25, 0, 0.75], atol=0.03)


# -- impurity and cuts -----------------------------------------------------------------------------


def test_impurities_by_hand():
    totals = np.array([1.0, 3.0])
    assert class_impurity(totals, 2, 4.0, GINI) == pytest.approx(3 / 8)
    assert class_impurity(totals, 2, 4.0, ENTROPY) == pytest.approx(0.811278, abs=1e-6)
    assert class_impurity(np.zeros(2), 2, 0.0, GINI) == 0.0


def test_facts_of_a_node():
    goal = targets([0, 1, 1], weight=[2.0, 1.0, 1.0], times=[2, 1, 1])
    totals = np.empty(2)
    n, w, impurity, pure = node_statistics(np.arange(3), 0, 3, goal, GINI, totals)
    assert (n, w, impurity, bool(pure)) == (4, 4.0, 0.5, False)
    assert totals.tolist() == [2.0, 2.0]
    _, _, impurity, _ = node_statistics(np.arange(3), 0, 3, goal, VARIANCE, totals)
    assert (impurity, totals[0]) == (0.25, 0.5)
    assert node_statistics(np.arange(3), 1, 3, goal, GINI, totals)[3]


def test_equal_scores_go_to_the_even_cut():
    assert cut(range(4), [1, 2, 3, 4], [0, 1, 2, 0]) == (pytest.approx(0.5), 0, 1, 4.0)
    first = cut(range(4), [1, 2, 3, 4], [0, 1, 2, 0], balanced=False)
    assert first == (pytest.approx(0.5), 2, 0, 4.0)  # two entries more on the right


def test_a_target_is_cut_where_its_variance_ends():
    item, proj = line(NUMBER, [1, 2, 8, 9], 0, 3)
    assert dict(zip(item.tolist(), proj.tolist(), strict=True)) == {0: 8, 1: 6, 2: -6, 3: -8}
    score, _, place, _ = cut(item, proj, [0, 0, 10, 10], VARIANCE)
    assert score == pytest.approx(0)
    assert proj[place] == -6


def test_the_better_test_is_kept():
    best = make_best()
    best.test[0] = -1
    keep_better(4, 1, 2, (0.5, 3, 7.0, 1), RULES, 1e-12, best)
    keep_better(5, 3, 4, (0.6, 0, 8.0, 1), RULES, 1e-12, best)  # worse
    keep_better(6, 3, 4, (np.inf, 0, 8.0, 1), RULES, 1e-12, best)  # no cut at all
    assert (best.test.tolist(), best.score.tolist()) == ([4, 1, 2, 3, 1], [0.5, 7.0])
    keep_better(7, 8, 9, (0.5, 2, 9.0, 0), RULES, 1e-12, best)  # as good and more even
    assert (best.test.tolist(), best.score.tolist()) == ([7, 8, 9, 2, 0], [0.5, 9.0])
