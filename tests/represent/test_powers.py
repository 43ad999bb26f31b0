"""Powers of similarities: worked numbers, chains counted one by one, laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import InvalidInput
from lookalike.measures import Gower
from lookalike.represent import power_similarity
from represent import reference

S = np.array([[1, 0.25], [0.25, 1]])


@st.composite
def relations(draw, symmetric=True, most=5):
    n = draw(st.integers(1, most))
    s = np.random.default_rng(draw(st.integers(0, 10**6))).random((n, n)).round(3)
    s = np.minimum(s, s.T) if symmetric else s
    np.fill_diagonal(s, 1.0)
    return s


def test_worked_numbers():
    assert power_similarity(S, 2).tolist() == [[0.625, 0.5], [0.5, 0.625]]
    assert power_similarity(S, 4).tolist() == [[0.3203125, 0.3125], [0.3125, 0.3203125]]


@given(s=relations(), n=st.integers(1, 4), symmetric=st.booleans())
def test_mean_over_all_chains(s, n, symmetric):
    s = s if symmetric else np.triu(s)
    found = power_similarity(s, n)
    np.testing.assert_allclose(found, reference.chain_power(s, n), rtol=1e-12, atol=1e-15)
    assert np.array_equal(found, found.T) or not symmetric


@given(s=relations(most=7), n=st.integers(1, 40))
def test_power_by_eigenvalues(s, n):
    values, q = np.linalg.eigh(np.sqrt(s))
    expected = len(s) * (q * (values / len(s)) ** n) @ q.T
    np.testing.assert_allclose(power_similarity(s, n), expected, atol=1e-12)
    values, q = np.linalg.eigh(s)
    plain = (q * values**n) @ q.T
    np.testing.assert_allclose(power_similarity(s, n, "plain"), plain, rtol=1e-9, atol=1e-9)
    mean = power_similarity(s, n, "plain", average=True)
    np.testing.assert_allclose(mean * float(len(s)) ** (n - 1), plain, rtol=1e-9, atol=1e-9)


@given(s=relations(most=7), n=st.integers(1, 6))
def test_laws(s, n):
    found, twice = power_similarity(s, n), power_similarity(s, 2 * n)
    assert ((found >= 0) & (found <= 1)).all()
    np.testing.assert_allclose(twice, found @ found / len(s), atol=1e-13)
    assert np.linalg.eigvalsh(twice).min() >= -1e-12
    np.testing.assert_allclose(np.diagonal(power_similarity(s, 2)), s.mean(axis=1), atol=1e-13)


def test_ones_stay_ones_and_one_step_is_the_root():
    np.testing.assert_allclose(power_similarity(np.ones((4, 4)), 7), 1.0)
    assert power_similarity(S, 1).tolist() == [[1, 0.5], [0.5, 1]]
    assert power_similarity(S, 1, "plain").tolist() == S.tolist()


def test_many_steps_neither_overflow_nor_turn_into_nothing():
    np.testing.assert_allclose(power_similarity(np.ones((50, 50)), 10**6), 1.0, rtol=1e-9)
    with pytest.raises(InvalidInput, match="average=True"):
        power_similarity(np.ones((50, 50)), 10**6, "plain")


@given(s=relations(most=5), n=st.integers(1, 4), mode=st.sampled_from(["path", "plain"]))
def test_new_rows_begin_chains_through_the_others(s, n, mode):
    rng = np.random.default_rng(n)
    new = rng.random((2, len(s)))
    found = power_similarity(s, n, mode, new=new)
    root = np.sqrt if mode == "path" else np.asarray
    expected = root(new)
    for _ in range(n - 1):
        expected = expected @ root(s)
    expected = expected / (len(s) ** (n - 1) if mode == "path" else 1)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    # A new row that is a copy of an old one has what the old one has.
    np.testing.assert_allclose(
        power_similarity(s, n, mode, new=s), power_similarity(s, n, mode), atol=1e-12
    )


@given(s=relations(most=6), n=st.integers(2, 4))
def test_normalized_rows_are_fully_alike_to_themselves(s, n):
    found = power_similarity(s, n, normalize=True)
    plain = power_similarity(s, n)
    expected = plain / np.sqrt(np.outer(np.diagonal(plain), np.diagonal(plain)))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert np.diagonal(found).tolist() == [1.0] * len(s)
    copies = power_similarity(s, n, new=s, normalize=True)
    np.testing.assert_allclose(copies, found, atol=1e-9)


def test_a_fitted_measure_is_a_space():
    measure = Gower().fit([[0.0], [1.0], [3.0]])
    expected = power_similarity(measure.similarity(), 2)
    assert np.array_equal(power_similarity(measure, 2), expected)


@pytest.mark.parametrize(
    ("s", "options", "words"),
    [
        ([[1, 1.5], [1.5, 1]], {}, r"similarities from 0 to 1, found 1.5 in row 0, column 1 \(2"),
        ([[1, -0.5], [-0.5, 1]], {}, "found -0.5"),
        ([[1, np.nan], [np.nan, 1]], {}, "found nan"),
        ([[1, 0.5]], {}, "a square matrix"),
        (np.empty((0, 0)), {}, "a square matrix"),
        (S, {"n": 0}, "n=.*: needs an integer >= 1"),
        (S, {"n": 1.5}, "n=.*: needs an integer >= 1"),
        (S, {"mode": "paths"}, "Did you mean 'path'"),
        (S, {"new": [[0.5]]}, "to each of the 2 rows"),
        (S, {"new": [[0.5, 2]]}, "found 2 in row 0"),
    ],
)
def test_bad_input(s, options, words):
    with pytest.raises(InvalidInput, match=words):
        power_similarity(s, **options)


def test_what_was_given_is_not_changed():
    s = S.copy()
    power_similarity(s, 3, new=s)
    assert np.array_equal(s, S)
