"""Squares, rectangles, undefined pairs, the median distance and moments of distances."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import lookalike as la
from lookalike.errors import TooLarge, UndefinedMeasure
from lookalike.measures import Gower, Precomputed, Vector
from lookalike.measures.contract.matrices import (
    MEDIAN_ROWS,
    block_or_half,
    check_pairs,
    median_distance,
    moments,
    pair_by_pair,
    rectangle,
    square,
)

# Rows 0 and 1 have no cell in common with rows 2 and 3.
APART = {"x": [1.0, 3.0, None, None], "y": [None, None, 1.0, 2.0]}


def test_undefined_pairs_are_filled_kept_or_refused():
    measure = Gower().fit(APART)
    rows = measure.rows_
    across = np.zeros((4, 4), bool)
    across[:2, 2:] = across[2:, :2] = True
    for make in (
        lambda **how: square(measure, rows, **how),
        lambda **how: rectangle(measure, rows, rows, **how),
    ):
        assert_array_equal(np.isnan(make(undefined="keep")), across)
        for to in ("similarity", "distance"):
            filled = make(to=to, undefined="half")
            assert_array_equal(filled[across], 0.5)
            assert not np.isnan(filled).any()
        with pytest.raises(
            UndefinedMeasure, match="8 pairs without, the first of them rows 0 and 2"
        ):
            make()
    assert_array_equal(block_or_half(measure, rows[:1], rows)[0], [1.0, 0.0, 0.5, 0.5])
    known = Gower(undefined=0.25).fit(APART)
    assert_array_equal(known.similarity()[across], 0.25)
    assert_array_equal(known.distance()[across], 0.75)
    root = Gower(conversion="sqrt").fit(APART)
    filled = square(root, root.rows_, undefined="half")
    assert_allclose(filled[across], np.sqrt(0.5))


def test_the_hint_names_the_option_only_where_there_is_one():
    with pytest.raises(UndefinedMeasure, match="or set undefined"):
        Gower().fit(APART).distance()
    with pytest.raises(UndefinedMeasure, match="Leave out these pairs"):
        Precomputed().fit([[0.0, 1.0], [1.0, 0.0]]).distance([[1.0, 2.0]], [[2.0, 1.0]])


def test_squares_of_directed_measures_are_not_mirrored():
    d = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 4.0], [5.0, 6.0, 0.0]])
    assert_array_equal(Precomputed(symmetric=False).fit(d).distance(), d)


def test_blocks_of_any_size_give_one_matrix():
    """More rows than one tile of a square, and than one block of a rectangle."""
    x = np.random.default_rng(0).normal(size=(300, 3))
    measure = Vector("cityblock").fit(x)
    expected = np.abs(x[:, None] - x).sum(axis=2)
    assert_allclose(measure.distance(), expected, atol=1e-12)
    assert_array_equal(rectangle(measure, measure.rows_, measure.rows_), measure.distance())
    assert_array_equal(measure.distance(x[:70], x), measure.distance(x)[:70])


def test_too_many_pairs_are_refused_before_they_are_made():
    with la.config(memory_limit=800):
        check_pairs("Test", 10, 10, "Take fewer")
        with pytest.raises(TooLarge, match="Test: .*10 x 11 = .*Take fewer, or raise"):
            check_pairs("Test", 10, 11, "Take fewer")
        check_pairs("Test", 10, 20, "Take fewer", bytes_per_pair=4)


def test_single_pairs_have_the_values_of_the_matrix():
    measure = Vector().fit(np.random.default_rng(1).normal(size=(9, 2)))
    rows, d = measure.rows_, measure.distance()
    left, right = np.array([0, 0, 3, 3, 3, 8]), np.array([1, 0, 8, 2, 3, 0])
    assert_array_equal(pair_by_pair(measure, rows, rows, left, right), d[left, right])
    assert len(pair_by_pair(measure, rows, rows, left[:0], right[:0])) == 0


def test_the_median_is_over_different_rows_of_a_fixed_sample():
    measure = Vector().fit([[0.0], [0.0], [0.0], [1.0], [4.0]])
    assert measure.scale_ == np.median([1.0, 4.0] * 3 + [3.0])  # pairs at distance 0 do not count
    assert Vector().fit([[1.0], [1.0]]).scale_ == 1.0
    x = np.random.default_rng(2).normal(size=(3 * MEDIAN_ROWS, 1))
    large = Vector().fit(x)
    drawn = np.sort(np.random.default_rng(0).choice(len(x), MEDIAN_ROWS, replace=False))
    assert large.scale_ == Vector().fit(x[drawn]).scale_ == median_distance(large, large.rows_)


@pytest.mark.parametrize("include_self", [False, True])
def test_moments_are_those_of_the_distances(include_self):
    x = np.random.default_rng(3).normal(size=(70, 2))
    measure = Vector().fit(x)
    d = measure.distance()
    count, mean, sd = moments(measure, measure.rows_, measure.rows_, include_self, None)
    others = [np.delete(row, i) for i, row in enumerate(d)] if not include_self else list(d)
    assert_array_equal(count, [len(row) for row in others])
    assert_allclose(mean, [row.mean() for row in others])
    assert_allclose(sd, [row.std() for row in others])


def test_moments_of_equal_and_of_no_distances():
    measure = Precomputed().fit(np.full((4, 4), 0.1) - 0.1 * np.eye(4))
    count, mean, sd = moments(measure, measure.rows_, measure.rows_, False, None)
    assert (count == 3).all()
    assert (mean == 0.1).all()
    assert (sd == 0).all()
    # With itself, at distance 0, a row has others than equal ones.
    equal = Precomputed().fit(1.0 - np.eye(4))
    count, mean, sd = moments(equal, equal.rows_, equal.rows_, True, None)
    assert_allclose(np.column_stack([count, mean, sd]), [[4, 0.75, np.std([0, 1, 1, 1])]] * 4)
    alone = Vector().fit([[1.0]])
    count, mean, sd = moments(alone, alone.rows_, alone.rows_, False, None)
    assert count[0] == 0
    assert np.isnan([mean[0], sd[0]]).all()
