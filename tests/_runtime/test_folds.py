"""Folds: equal class shares, every row once, the same every time."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import KFold

from lookalike._runtime.folds import assign_folds
from lookalike.errors import TooFewRows


def test_classes_are_spread_evenly_and_every_row_is_held_out_once():
    classes = np.repeat([0, 1], [40, 10])
    folds = assign_folds(classes, 50, 5, 0, "Test")
    assert_array_equal(np.bincount(folds), [10] * 5)
    assert_array_equal(np.bincount(folds[classes == 1]), [2] * 5)
    words = np.array(["a"] * 20 + ["b"] * 10)
    folds = assign_folds(words, 30, 5, np.random.default_rng(0), "Test")
    assert_array_equal(np.bincount(folds[words == "a"]), [4] * 5)
    plain = assign_folds(None, 32, 5, np.random.default_rng(0), "Test")
    assert sorted(np.bincount(plain)) == [6, 6, 6, 7, 7]


def test_folds_repeat_without_a_seed_and_differ_between_seeds():
    assert_array_equal(assign_folds(None, 30, 5, None, "T"), assign_folds(None, 30, 5, None, "T"))
    assert (assign_folds(None, 30, 5, 1, "T") != assign_folds(None, 30, 5, 2, "T")).any()
    generator = np.random.default_rng(3)
    assert_array_equal(assign_folds(None, 30, 5, generator, "T"), assign_folds(None, 30, 5, 3, "T"))


def test_few_rows_and_rare_classes():
    assert sorted(assign_folds(np.arange(3), 3, 5, None, "Test")) == [0, 1, 2]
    rare = np.array([0] * 8 + [1])
    assert set(assign_folds(rare, 9, 4, None, "Test")) == {0, 1, 2, 3}
    with pytest.raises(TooFewRows, match="at least 2 rows"):
        assign_folds(None, 1, 5, None, "Test")


def test_folds_without_a_seed_are_those_of_scikit_learn_with_seed_0():
    expected = np.empty(9, int)
    for fold, (_, held) in enumerate(KFold(3, shuffle=True, random_state=0).split(np.zeros(9))):
        expected[held] = fold
    assert assign_folds(None, 9, 3, None, "it").tolist() == expected.tolist()
