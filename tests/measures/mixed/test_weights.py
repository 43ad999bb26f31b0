import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.utils.multiclass import type_of_target

import lookalike as la
from columns import reference as cell
from lookalike.columns import Presence
from lookalike.errors import InvalidInput, LookalikeWarning, TooFewRows, TooLarge, WrongType
from lookalike.measures import Gower, least_squares_weights, relieff_weights
from lookalike.measures.contract.rows import Rows
from lookalike.measures.mixed import weights as learning
from lookalike.measures.mixed.plan import MixedPlan, PlanOptions
from lookalike.table.model.targets import holds_classes
from measures import reference
from measures import reference_weights as slow

LEVELS = ["low", "mid", "high"]
PAIR_SETS = ["cluster_prototype", "cluster", "prototypes", "global"]
FOUR = {"a": [0, 0.1, 0.9, 1], "b": [0.3, 0.9, 0.2, 0.8]}


# -- random tables ---------------------------------------------------------------------------------


@st.composite
def grids(draw, gaps=True, kinds=("number", "category", "order", "flag"), max_rows=10):
    """Columns whose differences are halves and eighths, so that sums are exact in any order."""
    n = draw(st.integers(3, max_rows))
    chosen = draw(st.lists(st.sampled_from(list(kinds)), min_size=1, max_size=4))
    columns = {}
    for at, kind in enumerate(chosen):
        cells = {
            "number": st.integers(0, 8).map(lambda v: v / 8),
            "category": st.sampled_from(["red", "green", "blue"]),
            "order": st.sampled_from(LEVELS),
            "flag": st.booleans(),
        }[kind]
        if gaps and draw(st.booleans()):
            cells = st.one_of(st.none(), cells)
        values = draw(st.lists(cells, min_size=n, max_size=n))
        if kind == "number":
            values[0], values[1] = 0.0, 1.0  # the range is 1
        columns[f"{kind}{at}"] = values
    return columns


def plan_for(columns, order="rank_range", **options):
    kinds = {name: LEVELS if name[:-1] == "order" else name[:-1] for name in columns}
    table = la.read_table(columns, kinds=kinds)
    return table, MixedPlan.fit(table, "test", PlanOptions(order=order, **options))


def exact_similarity(columns):
    """Partial similarities of two rows of a grid, None where they cannot be compared."""

    def similarity(i, j):
        found = []
        for name, values in columns.items():
            x, y = values[i], values[j]
            if name.startswith("order") and x is not None and y is not None:
                found.append(1 - abs(LEVELS.index(x) - LEVELS.index(y)) / 2)
            else:
                kind = "category" if name.startswith("order") else name[:-1]
                found.append(reference.partial(kind, x, y, 1.0))
        return found

    return similarity


def as_difference(columns, similarity):
    """1 - s; 1/2 with a gap, and 0 where two cells that are there cannot be compared."""

    def difference(i, j):
        found = []
        for s, values in zip(similarity(i, j), columns.values(), strict=True):
            gap = values[i] is None or values[j] is None
            found.append(0.5 if gap else (0.0 if s is None else 1 - s))
        return found

    return difference


def mixed_table(n=45, seed=3):
    """Every simple kind and two kinds of object, with gaps; one number without, so no two ties."""
    random = np.random.default_rng(seed)
    words = ["oak", "oat", "boat", "coat", "coast", "toast"]

    def pick(values):
        return [
            None if random.random() < 0.15 else values[k]
            for k in random.integers(0, len(values), n)
        ]

    columns = {
        "size": random.random(n).tolist(),
        "age": [None if random.random() < 0.15 else v for v in random.random(n).tolist()],
        "color": pick(["red", "green", "blue"]),
        "level": pick(LEVELS),
        "smokes": pick([True, False, False]),
        "name": pick(words),
        "tags": pick([{"a"}, {"a", "b"}, {"b", "c"}, {"a", "c", "d"}]),
        "nothing": [None] * n,
    }
    kinds = {
        "size": "number",
        "age": "number",
        "color": "category",
        "level": LEVELS,
        "smokes": "flag",
        "name": "text",
        "tags": "set",
        "nothing": "number",
    }
    target = [
        "abc"[int(2.99 * s)] if random.random() < 0.8 else "abc"[random.integers(3)]
        for s in columns["size"]
    ]
    return columns, kinds, target


def mixed_similarity(columns, plan):
    there = {name: [v for v in values if v is not None] for name, values in columns.items()}
    counts = [there["level"].count(level) for level in LEVELS]

    def similarity(i, j):
        found = []
        for name, values in columns.items():
            x, y = values[i], values[j]
            if x is None or y is None:
                found.append(None)
            elif name in ("size", "age"):
                span = max(there[name]) - min(there[name])
                found.append(reference.partial("number", x, y, span))
            elif name == "level":
                found.append(reference.ordinal(counts, LEVELS.index(x), LEVELS.index(y)))
            elif name in ("name", "tags"):
                distance = cell.normalized_edit if name == "name" else cell.jaccard
                found.append(1 - min(1.0, distance(x, y) / plan.distances[name].scale_))
            else:
                kind = "flag" if name == "smokes" else "category"
                found.append(reference.partial(kind, x, y, None))
        return found

    return similarity


# -- ReliefF ---------------------------------------------------------------------------------------


def test_worked_relieff():
    raw = relieff_weights(FOUR, [0, 0, 1, 1], n_neighbors=1, normalize=False)
    assert_allclose(raw, [0.8, -0.714286], atol=1e-6)
    assert_array_equal(relieff_weights(FOUR, [0, 0, 1, 1], n_neighbors=1), [1.0, 0.0])


def test_worked_rrelieff():
    columns = {"x": [0, 0, 1, 1], "z": [0, 1, 0, 1]}
    kinds = dict.fromkeys(columns, "number")
    # All three others are neighbors: N_target = N_x = N_z = 8/3, N_both = 8/3 for x, 4/3 for z.
    raw = relieff_weights(
        columns, [0.0, 0.0, 2.5, 2.5], n_neighbors=3, kinds=kinds, normalize=False, target="numbers"
    )
    assert_allclose(raw, [1.0, -0.5])


@given(columns=grids(), data=st.data())
@settings(max_examples=60, deadline=None)
def test_relieff_equals_its_slow_reference(columns, data):
    n = len(next(iter(columns.values())))
    y = data.draw(
        st.lists(st.sampled_from("abc"), min_size=n, max_size=n).filter(lambda v: len(set(v)) > 1)
    )
    k = data.draw(st.integers(1, 5))
    table, plan = plan_for(columns)
    raw = relieff_weights(table, y, n_neighbors=k, plan=plan, normalize=False)
    difference = as_difference(columns, exact_similarity(columns))
    assert_allclose(raw, slow.relieff(difference, y, k, range(n)), atol=1e-12)
    assert (np.abs(raw) <= 1 + 1e-12).all()


@given(columns=grids(), data=st.data())
@settings(max_examples=60, deadline=None)
def test_rrelieff_equals_its_slow_reference(columns, data):
    n = len(next(iter(columns.values())))
    y = data.draw(
        st.lists(st.integers(0, 9), min_size=n, max_size=n).filter(lambda v: len(set(v)) > 1)
    )
    k = data.draw(st.integers(1, 5))
    table, plan = plan_for(columns)
    raw = relieff_weights(table, y, n_neighbors=k, plan=plan, normalize=False, target="numbers")
    difference = as_difference(columns, exact_similarity(columns))
    assert_allclose(raw, slow.rrelieff(difference, y, k, range(n)), atol=1e-12)
    assert (np.abs(raw) <= 1 + 1e-12).all()


@pytest.mark.parametrize("numbers", [False, True])
def test_every_kind_of_column_equals_the_slow_reference(numbers):
    columns, kinds, y = mixed_table()
    table = la.read_table(columns, kinds=kinds)
    plan = MixedPlan.fit(table, "test")
    difference = as_difference(columns, mixed_similarity(columns, plan))
    if numbers:
        y = [float("abc".index(v)) + i / 100 for i, v in enumerate(y)]
    raw = relieff_weights(columns, y, n_neighbors=4, kinds=kinds, normalize=False)
    expected = (slow.rrelieff if numbers else slow.relieff)(difference, y, 4, range(len(y)))
    assert_allclose(raw, expected, atol=1e-10)
    assert raw[0] == raw.max() > 0
    assert raw[-1] == pytest.approx(0, abs=1e-12)  # a column without a single cell tells nothing


def test_many_rows_in_blocks_equal_the_slow_reference(monkeypatch):
    columns, kinds, y = mixed_table()
    whole = relieff_weights(columns, y, kinds=kinds, normalize=False)
    monkeypatch.setattr(learning, "CANDIDATES_PER_BLOCK", 7)
    assert_array_equal(relieff_weights(columns, y, kinds=kinds, normalize=False), whole)


@given(columns=grids(), data=st.data())
@settings(max_examples=40, deadline=None)
def test_order_of_columns_repeats_and_constants(columns, data):
    n = len(next(iter(columns.values())))
    y = data.draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(lambda v: len(set(v)) > 1))
    first = next(iter(columns))
    columns = {"category8": ["same"] * n, **columns, f"{first[:-1]}9": columns[first]}
    found = {}
    for names in (list(columns), list(columns)[::-1]):
        chosen = {name: columns[name] for name in names}
        table, plan = plan_for(chosen)
        raw = relieff_weights(table, y, n_neighbors=2, plan=plan, normalize=False)
        found[names[0]] = dict(zip(names, raw, strict=True))
    one, other = found.values()
    assert_allclose([one[name] for name in columns], [other[name] for name in columns], atol=1e-12)
    assert one["category8"] == 0
    assert one[first] == pytest.approx(one[f"{first[:-1]}9"], abs=1e-12)


def test_swapping_two_symmetric_classes_changes_nothing():
    y = np.array([0, 0, 1, 1])
    raw = relieff_weights(FOUR, y, n_neighbors=1, normalize=False)
    assert_allclose(relieff_weights(FOUR, 1 - y, n_neighbors=1, normalize=False), raw, rtol=1e-15)
    words = np.array(["x", "y"])[y]
    assert_array_equal(relieff_weights(FOUR, words, n_neighbors=1, normalize=False), raw)


def test_a_flag_absent_in_both_is_no_difference_even_on_its_own_scale():
    columns = {"flag0": [False, False, True, False, True], "number1": [0.0, 0.5, 1.0, 0.25, 0.75]}
    y = list("aabab")
    found = []
    for distances in (None, {"flag0": Presence(scale=2.0)}):
        table, plan = plan_for(columns, distances=distances)
        found.append(relieff_weights(table, y, n_neighbors=1, plan=plan, normalize=False))
    assert_allclose(found[1], [found[0][0] / 2, found[0][1]])


def test_rows_to_start_from_are_drawn():
    columns, kinds, y = mixed_table()
    options = {"kinds": kinds, "normalize": False}
    drawn = relieff_weights(columns, y, n_samples=20, random_state=0, **options)
    assert_array_equal(relieff_weights(columns, y, n_samples=20, random_state=0, **options), drawn)
    assert not np.allclose(
        relieff_weights(columns, y, n_samples=20, random_state=1, **options), drawn
    )
    assert not np.allclose(relieff_weights(columns, y, **options), drawn)
    everybody = relieff_weights(columns, y, n_samples=len(y), random_state=1, **options)
    assert_array_equal(everybody, relieff_weights(columns, y, **options))


def test_columns_that_only_tell_something_together_are_found():
    random = np.random.default_rng(0)
    x = random.integers(0, 2, (200, 4)).astype(float)
    y = x[:, 0] != x[:, 1]
    weights = relieff_weights(x, y)
    assert weights[:2].sum() > 0.95
    assert relieff_weights(x, random.permutation(y), normalize=False)[:2].max() < 0.3


def test_no_column_tells_anything():
    y = [0, 1, 0, 1]
    with pytest.warns(LookalikeWarning, match="all columns are weighted equally"):
        weights = relieff_weights({"a": list("xxyy"), "b": list("zzzz")}, y, n_neighbors=1)
    assert_array_equal(weights, [0.5, 0.5])
    table, plan = plan_for({"number0": [1.0] * 4, "category1": list("xxyy")}, constant="drop")
    with pytest.warns(LookalikeWarning):
        weights = relieff_weights(table, y, n_neighbors=1, plan=plan)
    assert_array_equal(weights, [0.0, 1.0])


def test_a_dropped_column_takes_no_part():
    columns = {"number0": [1.0, None, 1.0, None], "number1": FOUR["a"], "number2": FOUR["b"]}
    table, plan = plan_for(columns, constant="drop")
    raw = relieff_weights(table, list("xxyy"), n_neighbors=1, plan=plan, normalize=False)
    assert_allclose(raw, [0.0, 0.8, -0.714286], atol=1e-6)


@pytest.mark.parametrize(
    "y",
    [
        list("abab"),
        [True, False, True, True],
        [0, 1, 1, 0],
        [0.0, 2.0, 2.0, 0.0],
        [0.5, 1.0, 2.0, 0.0],
        [0.5, 0.5, 1.5, 1.5],
        [0, 1, 2, 1, 0, 2],
    ],
)
def test_classes_are_what_scikit_learn_finds_them_to_be(y):
    assert holds_classes(np.asarray(y)) == (type_of_target(y) in ("binary", "multiclass"))
    assert holds_classes(np.asarray(y, dtype=object)) == holds_classes(np.asarray(y))


def test_whole_numbers_that_are_mostly_different_are_numbers():
    columns, kinds, _ = mixed_table()
    year = np.arange(1900, 1900 + len(columns["size"]))
    assert not holds_classes(year)
    options = {"kinds": kinds, "normalize": False}
    numbers = relieff_weights(columns, year, **options)
    assert_array_equal(numbers, relieff_weights(columns, year.astype(float) + 0.5, **options))
    classes = relieff_weights(columns, year // 10, target="classes", **options)
    assert not np.allclose(numbers, classes)


# -- least squares ---------------------------------------------------------------------------------

ROWS = np.array([[1.0, 0.5], [0.4, 0.9], [0.2, 0.6], [0.5, 0.1]])
TARGETS = np.array([1.0, 1, 0, 0])


def squares(rows, targets):
    errors = rows - targets[:, None]
    return errors.T @ errors


def test_worked_least_squares():
    found = learning.solve_on_simplex(squares(ROWS, TARGETS))
    assert_allclose(found, [0.487805, 0.512195], atol=1e-6)
    assert slow.objective(ROWS, TARGETS, found) == pytest.approx(0.434878, abs=1e-6)
    assert found @ squares(ROWS, TARGETS) @ found == pytest.approx(0.434878, abs=1e-6)


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_two_columns_have_a_closed_form(data):
    eighths = st.integers(0, 8).map(lambda v: v / 8)
    n = data.draw(st.integers(1, 8))
    s = np.array(data.draw(st.lists(st.tuples(eighths, eighths), min_size=n, max_size=n)))
    t = np.array(data.draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=n, max_size=n)))
    gap = s[:, 0] - s[:, 1]
    found = learning.solve_on_simplex(squares(s, t))
    if (gap == 0).all():  # the two say the same and share the weight
        assert_allclose(found, [0.5, 0.5], atol=1e-6)
    else:
        w = np.clip((gap * (t - s[:, 1])).sum() / (gap**2).sum(), 0, 1)
        assert_allclose(found, [w, 1 - w], atol=1e-5)


@given(data=st.data())
@settings(max_examples=80, deadline=None)
def test_the_solution_is_the_best_on_the_simplex(data):
    shares = st.one_of(st.integers(0, 2).map(lambda v: v / 2), st.floats(0, 1, width=32))
    n, d = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 5))
    s = np.array(data.draw(st.lists(shares, min_size=n * d, max_size=n * d))).reshape(n, d)
    t = np.array(data.draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=n, max_size=n)))
    w = learning.solve_on_simplex(squares(s, t))
    assert (w >= 0).all()
    assert w.sum() == pytest.approx(1)
    assert slow.kkt_residual(s, t, w) <= 1e-8
    value = slow.objective(s, t, w)
    assert value == pytest.approx(slow.smallest_on_simplex(s, t), abs=1e-7)
    for rival in (np.full(d, 1 / d), *np.eye(d)):
        assert value <= slow.objective(s, t, rival) + 1e-7
    fewer = learning.solve_on_simplex(squares(s[:, 1:], t)) if d > 1 else None
    if fewer is not None:
        assert value <= slow.objective(s[:, 1:], t, fewer) + 1e-7


def test_many_columns_some_repeated():
    random = np.random.default_rng(1)
    s = random.random((300, 60))
    t = (s[:, :3].mean(axis=1) > 0.5).astype(float)
    s[:, 30:] = s[:, :30]
    w = learning.solve_on_simplex(squares(s, t))
    assert slow.kkt_residual(s, t, w) <= 1e-8
    assert_allclose(w[30:], w[:30], atol=1e-5)
    assert w[:3].sum() > 0.4


@pytest.mark.parametrize("missing", ["ignore", "midpoint"])
@pytest.mark.parametrize("pairs", PAIR_SETS)
def test_the_pair_sets_equal_their_slow_references(pairs, missing):
    columns, kinds, y = mixed_table()
    table = la.read_table(columns, kinds=kinds)
    plan = MixedPlan.fit(table, "test")
    rows = Rows(np.arange(len(table)), plan.encode(table))
    medoids, labels = learning.find_clusters(plan, rows, 4, np.random.default_rng(0), 1)
    chosen = slow.pairs_of(pairs, medoids.tolist(), labels.tolist())
    s, t = slow.model(mixed_similarity(columns, plan), y, chosen, missing)

    pairings = learning.make_pairings(pairs, medoids, labels)
    codes = np.unique(y, return_inverse=True)[1]
    found, count = learning.sum_squares(plan, rows, pairings, codes, missing)
    at = [list(columns).index(name) for name in plan.names]
    assert count == len(s)
    assert_allclose(found, squares(s[:, at], t), rtol=1e-9)

    w = least_squares_weights(columns, y, pairs=pairs, n_clusters=4, kinds=kinds, missing=missing)
    assert slow.kkt_residual(s, t, w) <= 1e-8
    assert slow.objective(s, t, w) == pytest.approx(slow.smallest_on_simplex(s, t), rel=1e-6)


@given(columns=grids(max_rows=7), data=st.data())
@settings(max_examples=40, deadline=None)
def test_random_tables_equal_the_slow_reference(columns, data):
    n = len(next(iter(columns.values())))
    y = data.draw(
        st.lists(st.sampled_from("ab"), min_size=n, max_size=n).filter(lambda v: len(set(v)) > 1)
    )
    missing = data.draw(st.sampled_from(["ignore", "midpoint"]))
    table, plan = plan_for(columns)
    s, t = slow.model(exact_similarity(columns), y, slow.pairs_of("global", [], y), missing)
    if not len(s):
        with pytest.raises(InvalidInput, match="something to compare"):
            least_squares_weights(table, y, pairs="global", plan=plan, missing=missing)
        return
    w = least_squares_weights(table, y, pairs="global", plan=plan, missing=missing)
    assert slow.kkt_residual(s, t, w) <= 1e-8
    assert slow.objective(s, t, w) == pytest.approx(slow.smallest_on_simplex(s, t), abs=1e-7)


def test_few_pairs_at_a_time_give_the_same(monkeypatch):
    columns, kinds, y = mixed_table()
    options = {"pairs": "global", "kinds": kinds}
    whole = least_squares_weights(columns, y, **options)
    monkeypatch.setattr(learning, "PAIRS_PER_BATCH", 7)
    monkeypatch.setattr(learning, "MAX_TASKS", 5)
    assert_allclose(least_squares_weights(columns, y, **options), whole, atol=1e-7)


def clusters_of(points, k, **options):
    table, plan = plan_for({"number0": points})
    rows = Rows(np.arange(len(table)), plan.encode(table))
    return learning.find_clusters(plan, rows, k, np.random.default_rng(0), None)


def test_worked_medoids():
    points = [0.0, 1, 2, 10, 11, 30]
    medoids, labels = clusters_of(points, 2)
    assert medoids.tolist() == [2, 5]
    assert labels.tolist() == [0, 0, 0, 0, 0, 1]
    medoids, labels = clusters_of(points, 3)
    assert medoids[[0, 2]].tolist() == [1, 5]
    assert medoids[1] in (3, 4)
    assert labels.tolist() == [0, 0, 0, 1, 1, 2]


def test_large_tables_are_clustered_on_samples(monkeypatch):
    monkeypatch.setattr(learning, "MAX_CLUSTERED_ROWS", 60)
    points = np.concatenate([np.random.default_rng(i).normal(10 * i, 1, 100) for i in range(3)])
    medoids, labels = clusters_of(points.tolist(), 3)
    assert [m // 100 for m in medoids] == [0, 1, 2]
    assert_array_equal(labels, np.repeat([0, 1, 2], 100))
    y = np.repeat(list("abc"), 100)
    again = [least_squares_weights({"x": points, "z": points[::-1]}, y) for _ in range(2)]
    assert_array_equal(again[0], again[1])


def test_of_several_samples_the_best_medoids_are_kept(monkeypatch):
    monkeypatch.setattr(learning, "MAX_CLUSTERED_ROWS", 60)
    sound, tried = learning._nearest_medoids, []

    def nearest(plan, rows, medoids, n_jobs):
        cost, labels = sound(plan, rows, medoids, n_jobs)
        tried.append((cost, medoids))
        return cost, labels

    monkeypatch.setattr(learning, "_nearest_medoids", nearest)
    medoids, _ = clusters_of(np.random.default_rng(1).normal(size=300).tolist(), 4)
    best = min(tried, key=lambda each: each[0])
    assert len(tried) == learning.N_DRAWS
    assert tried[-1][0] > best[0]  # else the last would do
    assert_array_equal(medoids, best[1])


def test_rows_without_cells_do_no_harm():
    columns = {"number0": [0.0, 0.1, 1.0, 0.9, None], "category1": ["a", "b", "a", "b", None]}
    table, plan = plan_for(columns)
    y = list("xxyyx")
    for pairs in PAIR_SETS:
        with_empty = least_squares_weights(table, y, pairs=pairs, n_clusters=2, plan=plan)
        assert_allclose(with_empty.sum(), 1)
    without = least_squares_weights(table[np.arange(4)], y[:4], pairs="global", plan=plan)
    with_empty = least_squares_weights(table, y, pairs="global", plan=plan)
    assert_allclose(with_empty, without, atol=1e-9)


# -- both ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "learn",
    [
        relieff_weights,
        lambda *a, **k: relieff_weights(*a, target="classes", n_neighbors=3, **k),
        *[lambda *a, p=p, **k: least_squares_weights(*a, pairs=p, **k) for p in PAIR_SETS],
    ],
)
def test_threads_change_nothing(learn, monkeypatch):
    monkeypatch.setattr(learning, "ROWS_PER_BLOCK", 4)
    monkeypatch.setattr(learning, "PAIRS_PER_BATCH", 16)
    columns, kinds, y = mixed_table()
    one = learn(columns, y, kinds=kinds, n_jobs=1)
    for n_jobs in (2, 5):
        assert_array_equal(learn(columns, y, kinds=kinds, n_jobs=n_jobs), one)


@pytest.mark.parametrize("learn", [relieff_weights, least_squares_weights])
class TestBadInput:
    def test_no_target(self, learn):
        with pytest.raises(InvalidInput, match="a target to learn from"):
            learn(FOUR, None)

    def test_target_of_the_wrong_length(self, learn):
        with pytest.raises(InvalidInput, match="each of the 4 rows"):
            learn(FOUR, [0, 1, 0])

    def test_target_with_missing_values(self, learn):
        with pytest.raises(InvalidInput, match="1 missing value.*row 2"):
            learn(FOUR, ["a", "b", None, "a"])

    def test_a_single_class(self, learn):
        with pytest.raises(InvalidInput, match="at least two classes, found 1: 'a'"):
            learn(FOUR, list("aaaa"))

    def test_no_such_column(self, learn):
        with pytest.raises((InvalidInput, KeyError), match="'c'"):
            learn(FOUR, "c")

    def test_classes_that_are_no_plain_values(self, learn):
        y = np.empty(4, dtype=object)
        y[:] = [[0], [1], [0], [1]]
        with pytest.raises(WrongType, match="one label per row"):
            learn(FOUR, y)

    def test_a_plan_for_another_table(self, learn):
        plan = Gower().fit({"z": [1, 2, 3]}).plan_
        with pytest.raises(InvalidInput, match="fitted to the columns of the table"):
            learn(FOUR, [0, 0, 1, 1], plan=plan)

    def test_nothing_but_dropped_columns(self, learn):
        table, plan = plan_for({"number0": [1.0, 1.0]}, constant="drop")
        with pytest.raises(InvalidInput, match="a column to weigh"):
            learn(table, [0, 1], plan=plan)

    def test_the_target_may_be_a_column(self, learn):
        named = learn({**FOUR, "y": list("aabb")}, "y")
        assert_array_equal(named, learn(FOUR, list("aabb")))


@pytest.mark.parametrize(
    ("learn", "options", "words"),
    [
        (relieff_weights, {"n_neighbors": 0}, "an integer >= 1"),
        (relieff_weights, {"n_samples": 5}, "n_samples=4"),
        (relieff_weights, {"target": "class"}, "Did you mean 'classes'"),
        (relieff_weights, {"random_state": -1}, "random_state"),
        (least_squares_weights, {"pairs": "prototype"}, "Did you mean"),
        (least_squares_weights, {"missing": "zero"}, "'ignore', 'midpoint'"),
        (least_squares_weights, {"n_clusters": 4}, "Use n_clusters=3"),
        (least_squares_weights, {"n_clusters": 0}, "an integer >= 1"),
    ],
)
def test_wrong_options(learn, options, words):
    with pytest.raises(InvalidInput, match=words):
        learn(FOUR, [0, 0, 1, 1], **options)


def test_targets_of_numbers():
    with pytest.raises(InvalidInput, match="a target of classes, found 4 different numbers"):
        least_squares_weights(FOUR, [0.5, 1.5, 2.5, 3.5])
    for y in ([1.5] * 4, [0.5, np.inf, 1, 2]):
        with pytest.raises(InvalidInput, match="finite numbers"):
            relieff_weights(FOUR, y)
    with pytest.raises(InvalidInput, match="target='classes'"):
        relieff_weights(FOUR, list("aabb"), target="numbers")
    with pytest.raises(TooFewRows, match="n_samples=4"):
        relieff_weights(FOUR, [0.5, 1.5, 2.5, 3.5], n_samples=9)


def test_clusters_that_would_not_fit():
    x = np.random.default_rng(0).random((200, 2))
    y = x[:, 0] > 0.5
    with la.config(memory_limit="100kB"):
        with pytest.raises(TooLarge, match="Lower n_clusters, or raise"):
            least_squares_weights(x, y)
        assert len(least_squares_weights(x, y, pairs="global")) == 2


# -- in Gower --------------------------------------------------------------------------------------


def noisy_classes():
    random = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], 30)
    y = np.array(list("abc"))[codes]
    columns = {"shape": [random.choice([v, "x"], p=[0.6, 0.4]) for v in y]}
    columns["size"] = codes + random.normal(0, 0.4, 90)
    columns |= {f"noise{j}": random.random(90) for j in range(20)}
    return columns, y


@pytest.mark.parametrize(
    ("name", "learn"), [("relieff", relieff_weights), ("least_squares", least_squares_weights)]
)
def test_gower_learns_its_weights(name, learn):
    columns, y = noisy_classes()
    measure = Gower(weights=name).fit(columns, y)
    assert_array_equal(list(measure.weights_.values()), learn(columns, y))
    assert list(measure.weights_) == list(columns)
    plain = Gower().fit(columns)

    def agreement(measure):
        return (y[measure.kneighbors(n_neighbors=5, return_distance=False)] == y[:, None]).mean()

    assert agreement(measure) > agreement(plain) + 0.1
    shuffled = np.random.default_rng(1).permutation(y)
    assert agreement(Gower(weights=name).fit(columns, shuffled)) < agreement(measure) - 0.1


def test_gower_learns_from_numbers_too():
    columns, _ = noisy_classes()
    goal = np.asarray(columns.pop("size"))
    columns["twice"] = 2 * goal + 0.1
    weights = Gower(weights="relieff").fit(columns, goal).weights_
    assert max(weights, key=weights.get) == "twice"
