"""Every way of choosing prototypes, on every kind of measure; the loss on rows held out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import InvalidInput, TooFewRows, TooLarge
from lookalike.hubness import NICDM
from lookalike.measures import Gower, Precomputed, Ranked, Vector
from lookalike.measures.default import default_measure
from lookalike.measures.task import read_source
from lookalike.represent import cfs, select_prototypes
from lookalike.represent.prototypes import (
    METHODS,
    correlations,
    count_prototypes,
    cross_validate_prototypes,
    shares_to_try,
)
from represent import reference

RNG = np.random.default_rng(5)
X = RNG.random((30, 3))
Y = np.array(["a", "b", "c"])[(X[:, 0] * 3).astype(int)]
MIXED = {
    "size": [None if i % 7 == 0 else float(v) for i, v in enumerate(X[:, 0])],
    "color": [["red", "blue", None][i % 3] for i in range(30)],
    "tags": [{"x", str(i % 4)} for i in range(30)],
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "measure", [Gower(), Vector(), Ranked(), NICDM(Vector(), n_neighbors=3)], ids=repr
)
def test_any_method_on_any_measure(method, measure):
    found = select_prototypes(measure, X, Y, method=method, n=5, random_state=0)
    assert found.dtype == np.int64
    assert (np.diff(found) > 0).all()
    assert found.min() >= 0
    assert found.max() < 30
    assert len(found) == 5 or method == "cfs"


@pytest.mark.parametrize("method", METHODS)
def test_mixed_columns_missing_cells_and_a_named_target(method):
    found = select_prototypes(None, {**MIXED, "y": Y}, "y", method, n=4, random_state=0)
    same = select_prototypes(default_measure(), MIXED, Y, method, n=4, random_state=0)
    assert found.tolist() == same.tolist()


def test_matrix_of_distances():
    d = Vector("cityblock").fit(X).distance()
    found = select_prototypes(Precomputed(), d, n=4)
    assert found.tolist() == select_prototypes(Vector("cityblock"), X, n=4).tolist()


def test_farthest_follows_its_definition():
    d = Vector().fit(X).distance()
    first = int(d.sum(axis=0).argmin())
    found = select_prototypes(Vector(), X, method="farthest", n=7)
    assert found.tolist() == reference.farthest(d, 7, first)
    alike = select_prototypes(Vector(), np.zeros((5, 2)), method="farthest", n=3)
    assert alike.tolist() == [0, 1, 2]


def test_relieff_takes_the_columns_of_largest_weight():
    s = Gower().fit(X).similarity()
    w = reference.relieff(s, Y)
    found = select_prototypes(Gower(), X, Y, method="relieff", n=6)
    assert found.tolist() == sorted(np.argsort(-w, kind="stable")[:6].tolist())


def test_cfs_is_cfs_of_the_similarity_columns():
    s = Gower().fit(X).similarity()
    found = select_prototypes(Gower(), X, Y, method="cfs")
    assert found.tolist() == cfs(s, Y).tolist() == reference.cfs(s, Y)


def test_whole_numbers_that_hardly_repeat_are_numbers():
    # As classes every row would be its own; as numbers the first column is chosen.
    y = np.argsort(np.argsort(X[:, 0]))
    numbers = select_prototypes(Vector(), X[:, :1], y, method="cfs")
    forced = select_prototypes(Vector(), X[:, :1], y, method="cfs", target="numbers")
    classes = select_prototypes(Vector(), X[:, :1], y, method="cfs", target="classes")
    assert numbers.tolist() == forced.tolist() != classes.tolist()


def test_random_is_seeded_and_differs():
    draw = [select_prototypes(None, X, method="random", n=5, random_state=s) for s in (0, 0, 1)]
    assert draw[0].tolist() == draw[1].tolist() != draw[2].tolist()


@pytest.mark.parametrize("method", ["relieff", "cfs"])
def test_target_methods_sample_large_tables(method):
    found = select_prototypes(None, X, Y, method=method, n=4, max_rows=10, random_state=0)
    again = select_prototypes(None, X, Y, method=method, n=4, max_rows=10, random_state=0)
    assert found.tolist() == again.tolist()
    many = select_prototypes(None, X, Y, method="relieff", n=12, max_rows=10, random_state=0)
    assert len(set(many.tolist())) == 12


def test_undefined_pairs_are_half_alike():
    # Rows 0 and 1 share no column, so they are 1/2 apart, nearer than the rows they contradict.
    table = {"a": [0.0, None, 1.0, 0.0], "b": [None, 0.0, None, 1.0]}
    found = select_prototypes(Gower(), table, n=2)
    d = np.array([[0, 0.5, 1, 0], [0.5, 0, 0.5, 1], [1, 0.5, 0, 1], [0, 1, 1, 0]])
    assert reference.cost(d, found) == reference.cost(d, reference.pam(d, 2))


@pytest.mark.parametrize(
    ("n", "rows", "expected"),
    [(3, 10, 3), (0.05, 100, 5), (0.01, 100, 2), (1.0, 7, 7), (0.5, 1, 1), (np.int64(4), 9, 4)],
)
def test_numbers_and_shares(n, rows, expected):
    assert count_prototypes(n, rows, "x") == expected


def test_published_numbers_to_try():
    assert shares_to_try(200) == [4, 6, 8, 10, 12, 14, 16, 18, 20]
    assert shares_to_try(50) == [2, 3, 4, 5]
    assert shares_to_try(3) == [2]
    assert shares_to_try(1) == []


@pytest.mark.parametrize("n", [0, -1, 0.0, 1.5, True, "many", None, float("nan")])
def test_numbers_that_are_none(n):
    with pytest.raises(InvalidInput, match="needs an integer >= 1, or a number > 0 and <= 1"):
        select_prototypes(None, X, n=n)


def test_more_prototypes_than_rows():
    with pytest.raises(TooFewRows, match=r"31 prototypes\): needs at least 31 rows.*n_samples=30"):
        select_prototypes(None, X, n=31)


def test_table_and_measure_in_the_wrong_order():
    with pytest.raises(InvalidInput, match=r"a lookalike measure.*found a ndarray.*measure=Gower"):
        select_prototypes(X, None)


def test_unknown_method_and_missing_target():
    with pytest.raises(InvalidInput, match="Did you mean 'medoids'"):
        select_prototypes(None, X, method="medoid")
    with pytest.raises(InvalidInput, match="'relieff'.*y is None"):
        select_prototypes(None, X, method="relieff")
    with pytest.raises(InvalidInput, match="target=.*one of"):
        select_prototypes(None, X, Y, method="cfs", target="words")


def test_too_many_for_the_memory_limit():
    import lookalike as la

    with la.config(memory_limit="5kB"), pytest.raises(TooLarge, match="fewer prototypes"):
        select_prototypes(None, X, n=3)
    with la.config(memory_limit="5kB"):  # these never compare all with all
        assert len(select_prototypes(None, X, n=3, method="farthest")) == 3


def test_kinds_decide_how_columns_are_read():
    code = {"code": [0, 0, 0, 1, 1, 9]}
    as_numbers = select_prototypes(Gower(), code, n=2, kinds={"code": "number"})
    as_categories = select_prototypes(Gower(), code, n=2, kinds={"code": "category"})
    assert as_numbers.tolist() == [0, 5]
    assert as_categories.tolist() == [0, 3]


@pytest.mark.parametrize("method", METHODS)
def test_rows_of_mostly_missing_cells_are_no_prototypes(method):
    empty = np.arange(30) % 3 == 0
    rows = {f"x{j}": np.where(empty, np.nan, X[:, j]) for j in range(3)} | {"y": X[:, 0]}
    chosen = select_prototypes(Gower(), rows, Y, method, 10, random_state=0)
    assert not empty[chosen].any()
    if method != "cfs":  # which settles the number itself
        many = select_prototypes(Gower(), rows, Y, method, 25, random_state=0)
        assert len(many) == 25  # there are not so many others


def test_medoids_of_a_large_table_serve_all_rows():
    """CLARA: medoids of samples, each of which holds the best ones so far."""
    rng = np.random.default_rng(0)
    x = np.concatenate([center + rng.normal(size=(100, 2)) for center in (0.0, 50.0, 100.0)])
    found = select_prototypes(Vector(), x, method="medoids", n=3, max_rows=150, random_state=0)
    assert sorted((found // 100).tolist()) == [0, 1, 2]
    away = np.linalg.norm(x[found][:, None] - x, axis=2).min(axis=0)
    assert away.mean() < 1.5


def test_shares_are_rounded_half_to_even_without_repeats():
    assert shares_to_try(50) == [2, 3, 4, 5]
    assert shares_to_try(2) == [2]
    assert shares_to_try(1) == []


def test_each_fold_is_predicted_by_prototypes_of_the_others():
    points = np.arange(8.0)[:, None]
    target = np.arange(8.0)
    source, _ = read_source(Vector(), points, None, "test")
    folds = np.arange(8) % 2
    widths = []

    def learn(inside, known, outside):
        widths.append((inside.shape, outside.shape))
        return [np.full(len(outside), known.mean()), np.zeros(len(outside))]

    def loss(found, true):
        return np.abs(found - true)

    rng = np.random.default_rng(0)
    losses = cross_validate_prototypes(
        source, target, target, "medoids", [2, 9], learn, loss, folds, rng
    )
    # More prototypes than a fold has rows means all of its rows.
    assert widths == [((4, 2), (4, 2)), ((4, 4), (4, 4))] * 2
    means = np.where(folds == 0, target[1::2].mean(), target[::2].mean())
    np.testing.assert_allclose(losses, [[np.abs(means - target).mean(), 3.5]] * 2)


# -- correlation-based feature selection -----------------------------------------------------------


COLUMNS = np.array([[0, 0, 1], [0, 0.1, 0], [1, 0.9, 1], [1, 1, 0.0]])
TARGET = np.array([0, 0, 1, 1])


@pytest.mark.parametrize(
    ("columns", "merit"),
    [((0,), 1), ((1,), 0.993884), ((2,), 0), ((0, 1), 0.998470), ((0, 2), 0.707107)],
)
def test_worked_merits(columns, merit):
    assert reference.merit(COLUMNS, TARGET, columns) == pytest.approx(merit, abs=1e-6)


def test_worked_choice():
    assert cfs(COLUMNS, TARGET).tolist() == [0]
    assert correlations(COLUMNS, TARGET) == pytest.approx([1, 0.993884, 0], abs=1e-6)


@given(seed=st.integers(0, 10**6), classes=st.sampled_from([0, 2, 3]))
def test_choice_is_that_of_the_slow_reference(seed, classes):
    rng = np.random.default_rng(seed)
    x = rng.random((12, 5))
    y = (x[:, 0] + 0.3 * x[:, 1] + 0.3 * rng.random(12)) if not classes else None
    if classes:
        y = np.array(["a", "b", "c"])[rng.integers(0, classes, 12)]
    found = cfs(x, y)
    assert found.tolist() == reference.cfs(x, list(y), bool(classes))
    singles = [reference.with_target(x[:, f], list(y), bool(classes)) for f in range(5)]
    assert correlations(x, np.unique(y, return_inverse=True)[1] if classes else y) == (
        pytest.approx(singles, abs=1e-12)
    )
    best = reference.merit(x, list(y), found.tolist(), bool(classes))
    assert best >= max(singles) - 1e-12


def test_a_copy_of_the_only_column_adds_nothing():
    x = np.repeat(np.array([[0.1], [0.4], [0.7], [0.9]]), 3, axis=1)
    assert reference.merit(x, list(TARGET), (0, 1)) == pytest.approx(
        reference.merit(x, list(TARGET), (0,))
    )
    assert cfs(x, TARGET).tolist() == [0]


def test_columns_that_say_nothing():
    assert cfs(np.zeros((4, 3)), TARGET).tolist() == [0]
    x = np.column_stack([np.full(4, 0.1 + 0.2), [0, 1, 0, 1.0], [0, 0, 1, 1.0]])
    assert cfs(x, TARGET).tolist() == [2]


@pytest.mark.parametrize(
    ("x", "y", "error", "words"),
    [
        ([[np.nan], [1.0]], [0, 1], InvalidInput, "missing or infinite"),
        ([1.0, 2.0], [0, 1], InvalidInput, "shape"),
        ([[1.0]], [0], TooFewRows, "n_samples=1"),
        ([[1.0], [2.0]], [0, 1, 1], InvalidInput, "one target value for each of the 2 rows"),
        ([[1.0], [2.0]], [0.5, np.nan], InvalidInput, "without missing values"),
    ],
)
def test_bad_input(x, y, error, words):
    with pytest.raises(error, match=words):
        cfs(x, y)


def test_words_are_not_numbers():
    with pytest.raises(InvalidInput, match="needs numbers"):
        cfs(COLUMNS, ["a", "b", "a", "b"], target="numbers")
