"""The steps of one test of a similarity tree: projections, spreads and cuts, by worked numbers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import lookalike as la
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
    CellColumns,
    NodeRows,
    SplitRules,
    Targets,
    best_cut,
    cell_distance,
    class_impurity,
    describe_node,
    draw_entry,
    draw_second,
    grow_similarity,
    least_varied,
    make_scratch,
    make_tree,
    project,
    sort_by_projection,
    split_node,
    try_column,
    try_cut,
    variance_of_cells,
    variance_of_codes,
    variance_of_numbers,
    varies,
)
from lookalike.kernels.growing import WAITING, group_rows, stack_root
from lookalike.prediction import RandomSimilarityForestClassifier as Classifier
from lookalike.trees.cells import trees as cell_trees
from lookalike.trees.cells.columns import CellCache, encode_columns, fit_columns
from lookalike.trees.cells.growing import Goal, grow_trees
from trees import cell_reference as reference

seeds = st.integers(0, 2**32 - 1)
NONE = np.empty(1)
RULES = SplitRules(1, 1, 100, 2, 1, GINI, 1, 1, 0, 0, 0, 0.0)
ISOLATE = RULES._replace(criterion=VARIANCE, balanced=0, random=1, isolate=1)


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
    return best_cut(len(item), goal, rules, 1e-12, 0.0, -1, scratch)


def tried(kind, node, k, goal, rules, state, scratch, best=None, name=(0, -1, -1)):
    """Try the best cut; return (score, imbalance, threshold, default side), None without one."""
    if best is None:
        scratch.test[0] = -1
    else:
        scratch.test[:], scratch.score[:] = best
    try_cut(*name, kind, node, k, goal, rules, state, scratch)
    _, _, _, imbalance, default = scratch.test.tolist()
    score, threshold = scratch.score.tolist()
    return None if scratch.test[0] < 0 else (score, imbalance, threshold, default)


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
    cells = column(VALUE, [5.0, 1.0, np.nan, 2.0, 9.0])
    for default, expected in ((1, [1, 2, 3, 0, 4]), (0, [1, 3, 0, 2, 4])):
        rows, stack, tree, scratch = (
            np.arange(5),
            stack_root(5),
            make_tree(9, 1),
            make_scratch(5, 1),
        )
        stack.count[WAITING] = 0
        scratch.score[1], scratch.test[:] = 2.0, (0, -1, -1, 0, default)
        split_node(stack, tree, 0, cells, rows, 0, 5, 3, scratch)
        assert rows.tolist() == expected
        assert (tree.feature[0], tree.threshold[0], tree.default[0]) == (0, 2.0, default)
        assert stack.count[WAITING] == 2
        assert stack.waiting[1].tolist() == [0, 2 + default, 4, 0, 0]
        assert stack.waiting[0].tolist() == [2 + default, 5, 4, 0, 1]


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
    score, surplus, place, weight = best_cut(6, goal, RULES, 1e-12, 0.0, -1, scratch)
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
    scratch = make_scratch(n, 1, 5)
    found = variance_of_numbers(x.astype(float), rows, 0, n, times)
    assert_allclose(found, often.var(), atol=1e-12)
    found = variance_of_codes(x.astype(np.int32), rows, 0, n, times, scratch.tally)
    assert not scratch.tally.any()
    assert_allclose(found, (often[:, None] != often).mean() / 2, atol=1e-12)


@pytest.mark.parametrize(("kind", "expected"), [(NUMBER, 1), (CATEGORY, 0)])
def test_the_class_that_varies_least_is_found_by_the_distance_of_the_column(kind, expected):
    """Codes 0, 0, 50 are far apart as numbers, and nearly one value as categories."""
    scratch, goal = make_scratch(6, 2), targets([0, 0, 0, 1, 1, 1])
    group_rows(np.arange(6), 6, goal.label, 2, scratch.grouped, scratch.ends)
    cells = column(kind, [0, 0, 50, 1, 2, 3])
    assert least_varied(cells, goal, np.array([1], np.int64), scratch) == expected


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
    tree = make_tree(3, 2)
    node, splits = describe_node(tree, 0, np.arange(3), 0, 3, 0, goal, RULES)
    assert (tree.entries[0], tree.weights[0], tree.impurities[0], splits) == (4, 4.0, 0.5, True)
    assert (node.low, node.high, node.impurity) == (0, 3, 0.5)
    assert tree.value[0].tolist() == [2.0, 2.0]
    by_target = RULES._replace(criterion=VARIANCE)
    assert describe_node(tree, 1, np.arange(3), 0, 3, 0, goal, by_target)[0].impurity == 0.25
    assert tree.value[1, 0] == 0.5
    assert not describe_node(tree, 2, np.arange(3), 1, 3, 0, goal, RULES)[1]  # pure


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
    goal, state, scratch = targets([0, 0, 1, 1]), np.zeros(1, np.int64), make_scratch(4, 2)
    node = NodeRows(np.arange(4), 0, 4, 0.5)
    scratch.item[:], scratch.proj[:] = [0, 2, 1, 3], [0.0, 0.0, 1.0, 1.0]  # even, of impurity 1/2
    known = NUMBER, node, 4, goal, RULES, state, scratch
    own = ([7, 1, 2, 3, 1], [0.5, 9.0])
    assert tried(*known, name=(4, 1, 2)) == (0.5, 0, 0.0, 1)
    assert scratch.test.tolist() == [4, 1, 2, 0, 1]
    assert tried(*known, best=([7, 1, 2, 3, 1], [0.4, 9.0])) == (0.4, 3, 9.0, 1)  # worse
    assert tried(*known, best=own, name=(4, 1, 2)) == (0.5, 0, 0.0, 1)  # as good and more even
    assert tried(*known, best=([7, 1, 2, 0, 1], [0.5, 9.0])) == (0.5, 0, 9.0, 1)  # as even, too
    assert tried(*known[:4], RULES._replace(balanced=0), *known[5:], own) == (0.5, 3, 9.0, 1)
    scratch.proj[:] = 1.0
    assert tried(*known) is None  # no cut at all
    for k in (0, 1):  # as where all rows are infinitely far: nothing that was not written is read
        assert tried(TABLE, node, k, *known[3:]) is None


def test_a_random_cut_leaves_rows_on_both_sides_and_missing_ones_out():
    state = np.array([5])
    for cells in ([3.0] * 6, [np.nan] * 6):  # nothing to cut
        assert isolate(VALUE, cells, state) is None
    cells = [1.0, np.nan, 2.0, 9.0, 9.0, 9.0]
    cuts = set()
    for _ in range(40):
        at, test = isolate(VALUE, cells, state)
        assert 1.0 <= at < 9.0
        assert test[:3] == [7, -1, -1]
        assert test[4] == 0  # one or two of five known rows are left: most are right
        cuts.add(at)
    assert len(cuts) > 30
    assert isolate(VALUE, [0.0, 0.0, 1.0, 1.0, np.nan, np.nan], state)[1][4] == 1  # half are left
    # Between two rows: numbers are projected on the line through them.
    assert isolate(NUMBER, [0.0, 4.0, 4.0], state)[1][0] == 7
    assert isolate(NUMBER, [4.0, 4.0, 4.0], state) is None


def isolate(kind, cells, state, far=False):
    """Return the threshold and the test of an isolation tree on one column; None: no cut."""
    n = len(cells)
    scratch, ones = make_scratch(n, 1), np.ones(n)
    goal = Targets(np.zeros(n, np.int64), np.arange(float(n)), ones, ones.astype(np.int64), 1)
    node, rules = NodeRows(np.arange(n), 0, n, 1.0), ISOLATE._replace(isolate=1 + far)
    found = try_column(7, column(kind, cells), node, goal, rules, state, scratch)
    assert found == (scratch.test[0] >= 0)
    return (scratch.score[1], scratch.test.tolist()) if found else None


def impurity_of(goal, rows, criterion):
    """Impurity of some rows by its definition."""
    w, y = goal.weight[rows], goal.amount[rows]
    if not w.sum() > 0.0:
        return 0.0
    if criterion == VARIANCE:
        mean = (w * y).sum() / w.sum()
        return (w * (y - mean) ** 2).sum() / w.sum()
    shares = np.bincount(goal.label[rows], w) / w.sum()
    shares = shares[shares > 0]
    return 1 - (shares**2).sum() if criterion == GINI else -(shares * np.log2(shares)).sum()


def slow_cut(goal, item, proj, rules, step, floor):
    """All cuts that the rules allow, as (score, surplus, place)."""
    found = []
    for i in range(len(item) - 1):
        left, right = item[: i + 1], item[i + 1 :]
        n_left, n_right = goal.times[left].sum(), goal.times[right].sum()
        w_left, w_right = goal.weight[left].sum(), goal.weight[right].sum()
        if proj[i + 1] - proj[i] <= step or min(n_left, n_right) < rules.min_leaf:
            continue
        if min(w_left, w_right) < floor:
            continue
        parts = [w * impurity_of(goal, side, rules.criterion)
                 for w, side in ((w_left, left), (w_right, right))]  # fmt: skip
        found.append((sum(parts) / (w_left + w_right), n_right - n_left, i))
    return found


@settings(max_examples=60, deadline=None)
@given(
    seed=seeds,
    criterion=st.sampled_from([GINI, ENTROPY, VARIANCE]),
    min_leaf=st.integers(1, 4),
    floor=st.sampled_from([0.0, 2.0, 4.0]),
    balanced=st.integers(0, 1),
    midpoint=st.integers(0, 1),
)
def test_the_best_cut_is_that_of_trying_all(seed, criterion, min_leaf, floor, balanced, midpoint):
    rng = np.random.default_rng(seed)
    n, k = 10, int(rng.integers(2, 11))
    weight, times = rng.integers(1, 4, n).astype(float), rng.integers(1, 4, n)
    goal = targets(rng.integers(0, 3, n), weight, times)
    item, proj = rng.permutation(n)[:k], np.sort(rng.integers(0, 7, k)).astype(float)
    rules = RULES._replace(
        criterion=criterion, min_leaf=min_leaf, balanced=balanced, midpoint=midpoint, floor=floor
    )
    scratch = make_scratch(n, goal.n_classes)
    scratch.item[:k], scratch.proj[:k] = item, proj
    every = slow_cut(goal, item, proj, rules, 1.0, floor)
    score, surplus, place, w_all = best_cut(k, goal, rules, 1e-12, 1.0, -1, scratch)
    assert w_all == weight[item].sum()
    if not every:
        assert (score, surplus, place) == (np.inf, 0, -1)
    else:
        least = min(part[0] for part in every)
        tied = [part for part in every if part[0] <= least + 1e-11]
        assert score == pytest.approx(least, abs=1e-9)
        chosen = min(tied, key=lambda part: abs(part[1])) if balanced else tied[0]
        assert (surplus, place) == chosen[1:]
    # The same cut as a test of a node, in which the other rows are unknown.
    node = NodeRows(np.arange(n), 0, n, impurity_of(goal, np.arange(n), criterion))
    cuts = slow_cut(goal, item, proj, rules, 0.0, floor)
    found = tried(NUMBER, node, k, goal, rules, np.zeros(1, np.int64), scratch)
    if not cuts:
        assert found is None
        return
    _, surplus, place, _ = best_cut(k, goal, rules, 1e-12, 0.0, -1, scratch)
    known, unknown = weight[item].sum(), np.setdiff1d(np.arange(n), item)
    rest = weight[unknown].sum() * impurity_of(goal, unknown, criterion)
    expected = (known * min(part[0] for part in cuts) + rest) / weight.sum()
    assert found[0] == pytest.approx(expected, abs=1e-9)
    middle = (proj[place] + proj[place + 1]) / 2 if midpoint else proj[place]
    assert found[1:] == (abs(surplus), middle, int(surplus <= 0))


def test_projections_of_objects_that_differ_by_round_off_are_one():
    goal, state = targets([0, 0, 1, 1]), np.zeros(1, np.int64)
    scratch = make_scratch(4, 2)
    scratch.item[:], scratch.proj[:] = range(4), [0.0, 0.5, 0.5 + 1e-13, 1.0]
    node = NodeRows(np.arange(4), 0, 4, 0.5)
    score, imbalance, threshold, default = tried(TABLE, node, 4, goal, RULES, state, scratch)
    assert (score, imbalance, default) == (pytest.approx(1 / 3), 2, 1 if threshold > 0.4 else 0)
    assert tried(NUMBER, node, 4, goal, RULES, state, scratch)[:3] == (0.0, 0, 0.5)
    scratch.proj[:] = [0.0, 0.5, 1.0, 2.0]
    threshold = tried(TABLE, node, 4, goal, RULES, state, scratch)[2]
    # Moved by a power of two between a quarter and half of a step of 2e-12.
    assert 0.5 + 0.5e-12 <= threshold <= 0.5 + 1e-12
    scratch.proj[:] = [0.0, 0.5, 1.0, np.inf]
    assert tried(TABLE, node, 4, goal, RULES, state, scratch)[2] == 0.5


def test_whether_cells_vary():
    state, ones = np.array([3], np.int64), np.ones(40, np.int64)
    rows = np.arange(40)
    for kind in (NUMBER, VALUE, CATEGORY):
        assert varies(column(kind, [1.0, 1.0, 2.0]), rows, 3, ones, state)
        assert varies(column(kind, [2.0, 1.0]), rows, 2, ones, state)
        assert not varies(column(kind, [1.0, 1.0, 2.0]), rows, 2, ones, state)
    matrix = np.zeros((40, 40))
    matrix[2, 1] = 1.0
    assert varies(column(TABLE, range(40), matrix), rows, 3, ones, state)
    assert not varies(column(TABLE, range(40), matrix), rows, 2, ones, state)
    assert varies(column(TABLE, range(40), matrix), rows, 32, ones, state)
    assert not varies(column(TABLE, range(40), np.zeros((40, 40))), rows, 40, ones, state)
    assert varies(column(TABLE, range(40), 1 - np.eye(40)), rows, 40, ones, state)
    # Beyond 32 rows the variance is estimated from one row; here every row gives the same.
    for n in (32, 33):
        cells = column(TABLE, range(n), 1 - np.eye(n))
        found = variance_of_cells(cells, np.arange(n), 0, n, ones, state)
        assert found == pytest.approx((n - 1) / n / 2)
    # The row is drawn among those of the class alone: the first ones are far from all others.
    apart = 1 - np.eye(40)
    apart[:6] = apart[:, :6] = 100.0
    found = variance_of_cells(column(TABLE, range(40), apart), rows, 6, 40, ones, state)
    assert found == pytest.approx(33 / 34 / 2)
    holes = column(TABLE, range(2), np.full((2, 2), np.nan))
    assert variance_of_cells(holes, rows, 0, 2, ones, state) == 0.0


def test_distances_of_cells_and_unknown_ones():
    table = column(TABLE, [0, 1], [[0.0, 3.0], [2.0, 0.0]])
    for kind in (NUMBER, SQUARED, VALUE):
        assert cell_distance(kind, 2.0, 5.0, NONE, 0, 1) == 3.0
    assert [cell_distance(CATEGORY, 2.0, p, NONE, 0, 1) for p in (2.0, 3.0)] == [0.0, 1.0]
    assert cell_distance(TABLE, 1.0, 0.0, table.flat, 0, 2) == 3.0
    assert np.isnan(cell_distance(NUMBER, np.nan, 1.0, NONE, 0, 1))
    assert np.isnan(cell_distance(NUMBER, 1.0, np.nan, NONE, 0, 1))
    assert np.isnan(project(VALUE, np.nan, 0.0, 0.0, NONE, 0, 1))
    assert project(TABLE, 1.0, 0.0, 1.0, table.flat, 0, 2) == -3.0
    assert project(TABLE_SQUARED, 0.0, 0.0, 1.0, table.flat, 0, 2) == 4.0


def test_the_second_row_is_of_another_class_or_far_off():
    state, rows, scratch = np.array([3], np.int64), np.arange(4), make_scratch(4, 3)
    goal = targets([0, 0, 1, 2])
    scratch.gaps[:] = [0.0, 1.0, 0.0, 1.0]
    drawn = {draw_second(rows, 4, 0, 0.0, RULES, goal, state, scratch) for _ in range(9)}
    assert drawn == {3}  # of another class, and not where p is
    scratch.gaps[3] = 0.0
    assert draw_second(rows, 4, 0, 0.0, RULES, goal, state, scratch) == -1
    scratch.gaps[:] = 1.0
    for spread, expected in ((1.0, {3}), (0.5, {2, 3}), (2.0, {2, 3})):  # none beyond 2: any other
        facts = spread, RULES._replace(criterion=VARIANCE), goal, state, scratch
        found = {draw_second(rows, 4, 0, *facts) for _ in range(40)}
        assert found == expected


def grow(values, y, rules=RULES, floor=0.0, weight=None, kind=VALUE):
    """Grow a tree on columns of numbers, each tested by itself; nodes as tuples, in preorder."""
    values = np.atleast_2d(np.asarray(values, float))
    f, n = values.shape
    ranks = np.array([np.unique(line, return_inverse=True)[1] for line in values], np.int32)
    zeros = np.zeros(f, np.int64)
    cells = CellColumns(np.full(f, kind), values, ranks, NONE, zeros, zeros + 1)
    goal, stack = targets(y, weight), stack_root(n)
    tree, scratch = make_tree(2 * n, goal.n_classes), make_scratch(n, goal.n_classes)
    state, rows, pool = np.array([7], np.int64), np.arange(n), np.arange(f)
    rules = rules._replace(floor=floor)
    while stack.count[0] > 0:  # paused after every node
        made = stack.count[1]
        grow_similarity(cells, goal, rows, rules, pool, state, stack, 1, scratch, tree)
        assert stack.count[1] == made + 1
    made = stack.count[1]
    parts = tree.feature, tree.threshold, tree.left, tree.right, tree.entries
    return list(zip(*(part[:made].tolist() for part in parts), strict=True)), tree


def test_a_tree_grows_until_its_rules_say_no():
    x, y = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [0, 0, 1, 1, 0, 0]
    leaf = (-1, 0.0, -1, -1)
    full, tree = grow(x, y)
    assert full == [
        (0, 2.0, 1, 2, 6), (*leaf, 2), (0, 4.0, 3, 4, 4), (*leaf, 2), (*leaf, 2),
    ]  # fmt: skip
    assert tree.impurities[:5].tolist() == pytest.approx([4 / 9, 0, 0.5, 0, 0])
    assert tree.weights[:5].tolist() == [6, 2, 4, 2, 2]
    assert tree.value[:3].tolist() == [[4, 2], [2, 0], [2, 2]]
    assert grow(x, y, RULES._replace(max_depth=1))[0] == [
        full[0][:2] + (1, 2, 6),
        (*leaf, 2),
        (*leaf, 4),
    ]
    assert len(grow(x, y, RULES._replace(max_depth=0))[0]) == 1
    for change, nodes in (
        ({"min_split": 4}, 5), ({"min_split": 5}, 3), ({"min_split": 6}, 3), ({"min_split": 7}, 1),
        ({"min_leaf": 2}, 5), ({"min_leaf": 3}, 3), ({"min_leaf": 4}, 1), ({"midpoint": 1}, 5),
        ({"max_columns": 0}, 1),
    ):  # fmt: skip
        assert len(grow(x, y, RULES._replace(**change))[0]) == nodes, change
    for floor, nodes in ((2.0, 5), (2.1, 3), (3.0, 3), (3.1, 1)):
        assert len(grow(x, y, floor=floor)[0]) == nodes, floor
    assert grow(x, y, RULES._replace(midpoint=1))[0][0][1] == 2.5
    assert len(grow([3.0] * 6, y)[0]) == 1  # nothing varies
    # A column that does not vary is not counted among those tried.
    assert grow([[3.0] * 6, x], y)[0][0][0] == 1
    # Between two cells: p and q are of different classes, and their sides too.
    for by_class in (0, 1):
        rules = RULES._replace(by_class=by_class, max_pairs=3)
        nodes, tree = grow([0.0, 1.0, 8.0, 9.0], [0, 0, 1, 1], rules, kind=NUMBER)
        assert [node[4] for node in nodes] == [4, 2, 2]
        assert (tree.first[0] < 2) != (tree.second[0] < 2)
    rules = RULES._replace(criterion=VARIANCE)
    nodes, tree = grow(x, [0, 0, 5, 5, 9, 9], rules)
    assert [node[4] for node in nodes] == [6, 2, 4, 2, 2]
    assert tree.value[:3, 0].tolist() == pytest.approx([14 / 3, 0, 7])


def test_isolation_trees_part_all_rows_or_stop_at_their_depth():
    x = np.array([[1.0, 2.0, 3.0, 4.0, np.nan], [5.0] * 5])
    ranks = np.array([[0, 1, 2, 3, 4], [0] * 5], np.int32)
    zeros, ones = np.zeros(2, np.int64), np.ones(5)
    goal = Targets(np.zeros(5, np.int64), np.arange(5.0), ones, ones.astype(np.int64), 1)
    for kind in (VALUE, NUMBER):
        cells = CellColumns(np.full(2, kind), x, ranks, NONE, zeros, zeros + 1)
        for seed in range(8):
            for depth, far in ((9, False), (9, True), (1, True), (0, False)):
                tree, stack, scratch = make_tree(10, 1), stack_root(5), make_scratch(5, 1)
                rules = ISOLATE._replace(isolate=1 + far, max_depth=depth)
                facts = np.arange(5), rules, np.arange(2), np.array([seed], np.int64)
                grow_similarity(cells, goal, *facts, stack, 1000, scratch, tree)
                made = int(stack.count[1])
                assert made == {9: 9, 1: 3, 0: 1}[depth] or (depth == 9 and made == 7)
                leaves = tree.feature[:made] < 0
                assert (tree.feature[:made][~leaves] == 0).all()
                assert tree.entries[:made][leaves].sum() == 5
                ends = tree.entries[:made]
                for v in np.flatnonzero(~leaves):
                    assert ends[v] == ends[tree.left[v]] + ends[tree.right[v]]
                    assert min(ends[tree.left[v]], ends[tree.right[v]]) > 0
    state, numbers = np.array([1], np.int64), [0.0, 0.0, 5.0, 9.0]
    tests = [isolate(NUMBER, numbers, state, True)[1] for _ in range(60)]
    pairs = {(p, q) for _, p, q, *_ in tests}
    assert pairs == {(0, 3), (1, 3), (2, 0), (2, 1), (3, 0), (3, 1)}
    tests = [isolate(NUMBER, numbers, state)[1] for _ in range(200)]
    pairs = {(p, q) for _, p, q, *_ in tests}
    assert pairs == {(a, b) for a in range(4) for b in range(4) if a != b} - {(0, 1), (1, 0)}


# -- rows that go down trees together end where each would end alone -------------------------------

SOME = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def make_table(n, seed, gaps):
    rng = np.random.default_rng(seed)
    words = ["anna", "hanna", "bob", "rob", "robert", "zoe"]
    table = {
        "size": rng.normal(size=n).round(1).tolist(),
        "price": rng.normal(size=n).tolist(),
        "color": rng.choice(["red", "blue", "green"], n).tolist(),
        "tags": [set(rng.choice(list("abcdef"), 3).tolist()) for _ in range(n)],
        "name": [words[i] for i in rng.integers(0, 6, n)],
    }
    for cells in table.values() if gaps else ():
        for i in rng.choice(n, n // 6, replace=False):
            cells[i] = None
    kinds = {"size": "number", "price": "number", "color": "category", "tags": "set"}
    return la.read_table(table, kinds={**kinds, "name": "text"}), rng.integers(0, 3, n)


def descend_alone(trees, cells):
    """Follow every row through every tree, asking the outcome of each test by itself."""
    outcomes = reference.answers(trees, cells)
    leaves = np.empty((len(outcomes), trees.n_trees), int)
    for row, own in enumerate(outcomes):
        for t in range(trees.n_trees):
            at = start = trees.offsets[t]
            while trees.feature[at] >= 0:
                goes = own[at] if own[at] < 2 else trees.default[at]
                at = at + 1 if goes else start + trees.right[at]
            leaves[row, t] = at - start
    return leaves


@SOME
@given(
    n=st.integers(6, 60), new=st.integers(1, 90), seed=st.integers(0, 99), gaps=st.booleans(),
    projected=st.sampled_from(["distance", "squared"]),
    numeric=st.sampled_from(["projection", "value"]), tall=st.sampled_from([1, 7, 2048]),
)  # fmt: skip
def test_rows_end_where_each_would_end_alone(n, new, seed, gaps, projected, numeric, tall):
    table, label = make_table(n, seed, gaps)
    columns = fit_columns(table, projection=projected, numeric=numeric)
    cache = CellCache.of(columns, encode_columns(columns, table, fitted=True), 10**6)
    trees = grow_trees(cache, Goal(label, n_classes=3), 3, random_state=seed).forest
    cells = trees.encode(make_table(new, seed + 1, gaps)[0])
    wanted = descend_alone(trees, cells)
    votes = np.random.default_rng(seed).random((len(trees.feature), 1 + seed % 3))
    total = np.zeros((new, votes.shape[1]))
    for t in range(trees.n_trees):
        total += votes[trees.offsets[t] + wanted[:, t]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cell_trees, "MAX_BLOCK_ROWS", tall)
        assert_array_equal(trees.leaves(cells), wanted)
        assert_array_equal(trees.sum_votes(cells, votes), total)


def test_shares_of_votes_are_sums_over_the_trees():
    table, label = make_table(150, 5, True)
    new = make_table(70, 6, True)[0]
    for voting in ("majority", "soft"):
        model = Classifier(20, voting=voting, random_state=0).fit(table, label)
        trees = model.trees_
        shares = trees.value / trees.value.sum(axis=1, keepdims=True)
        if voting == "majority":
            shares[shares < shares.max(axis=1, keepdims=True) - 1e-9] = 0
        each = np.stack(
            [shares[leaf + trees.offsets[:-1]].sum(axis=0) for leaf in model.apply(new)]
        )
        wanted = each / each.sum(axis=1, keepdims=True)
        assert_allclose(model.predict_proba(new), wanted, atol=1e-12)
        assert len(np.unique(model.predict(new))) > 1
