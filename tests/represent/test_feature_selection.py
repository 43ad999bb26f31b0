"""Correlation-based selection: worked merits, a reference implementation, its laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import InvalidInput, TooFewRows
from lookalike.represent import cfs
from lookalike.represent.feature_selection import correlations
from represent import reference

X = np.array([[0, 0, 1], [0, 0.1, 0], [1, 0.9, 1], [1, 1, 0.0]])
Y = np.array([0, 0, 1, 1])


@pytest.mark.parametrize(
    ("columns", "merit"),
    [((0,), 1), ((1,), 0.993884), ((2,), 0), ((0, 1), 0.998470), ((0, 2), 0.707107)],
)
def test_worked_merits(columns, merit):
    assert reference.merit(X, Y, columns) == pytest.approx(merit, abs=1e-6)


def test_worked_choice():
    assert cfs(X, Y).tolist() == [0]
    assert correlations(X, Y) == pytest.approx([1, 0.993884, 0], abs=1e-6)


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
    assert reference.merit(x, list(Y), (0, 1)) == pytest.approx(reference.merit(x, list(Y), (0,)))
    assert cfs(x, Y).tolist() == [0]


def test_columns_that_say_nothing():
    assert cfs(np.zeros((4, 3)), Y).tolist() == [0]
    x = np.column_stack([np.full(4, 0.1 + 0.2), [0, 1, 0, 1.0], [0, 0, 1, 1.0]])
    assert cfs(x, Y).tolist() == [2]


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
        cfs(X, ["a", "b", "a", "b"], target="numbers")
