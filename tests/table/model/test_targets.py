"""Targets are read in one way by every caller."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import lookalike as la
from lookalike.errors import InvalidInput, LookalikeWarning, WrongType
from lookalike.measures import Gower, Vector
from lookalike.table.model.targets import (
    check_sample_weight,
    code_labels,
    keep_repeated,
    label_sets,
    read_classes,
    read_numbers,
    read_target,
    split_target,
)

TABLE = la.read_table({"x": [1.0, 2.0, 3.0], "kind": ["a", "b", "a"]})


def test_a_named_column_is_taken_out():
    rest, y = split_target(TABLE, "kind", "Test")
    assert rest.names == ("x",)
    assert y.tolist() == ["a", "b", "a"]
    with pytest.raises(InvalidInput, match="Did you mean 'kind'"):
        split_target(TABLE, "kinds", "Test")
    with pytest.raises(InvalidInput, match="the name of a column, found 'no_such_column'"):
        Gower().fit(TABLE, "no_such_column")


def test_classes_are_sorted_and_amounts_refused():
    classes, codes = read_classes(np.array(["b", "a", "b"]), "Test", "Other")
    assert classes.tolist() == ["a", "b"]
    assert_array_equal(codes, [1, 0, 1])
    with pytest.raises(InvalidInput, match="Use Other for amounts"):
        read_classes(np.array([0.5, 1.0]), "Test", "Other")
    with pytest.raises(InvalidInput, match="at least two classes, found 1 class"):
        read_classes(np.array(["a", "a"]), "Test", "Other", least=2)
    with pytest.raises(InvalidInput, match="int and str labels"):
        read_classes(np.array([1, "a"], dtype=object), "Test", "Other")


def test_numbers():
    assert read_numbers(np.array([1, 2]), "Test", "Do").dtype == np.float64
    with pytest.raises(InvalidInput, match="inf in row 1"):
        read_numbers(np.array([1.0, np.inf]), "Test", "Do")
    with pytest.raises(InvalidInput, match="needs numbers"):
        read_numbers(np.array(["a"]), "Test", "Do")


def test_classes_or_numbers():
    codes, classes = read_target([3, 3, 5, 5], 4, "Test")
    assert codes.tolist() == [0, 0, 1, 1]
    assert classes.tolist() == [3, 5]
    values, none = read_target([1.5, 2.0], 2, "Test")
    assert none is None
    assert values.tolist() == [1.5, 2.0]
    with pytest.raises(InvalidInput, match="target=.*one of"):
        read_target([1], 1, "Test", "class")


def test_labels_in_order_of_appearance():
    codes, labels = code_labels(["b", "a", "b"], 3, "Test")
    assert codes.tolist() == [0, 1, 0]
    assert labels == ["b", "a"]
    with pytest.raises(InvalidInput, match="labels without missing values"):
        code_labels(["b", None], 2, "Test")
    with pytest.raises(WrongType, match="lists or sets"):
        code_labels([[1], [2]], 2, "Test")
    assert label_sets([["a", "b"], {"a"}], 2, "Test") == [{"a", "b"}, {"a"}]


def test_sample_weights():
    assert check_sample_weight(None, 2, "Test").tolist() == [1, 1]
    assert check_sample_weight(2.0, 2, "Test").tolist() == [2, 2]
    for wrong in ([1.0], [-1.0, 1.0], [0.0, 0.0], [np.nan, 1.0]):
        with pytest.raises(InvalidInput):
            check_sample_weight(wrong, 2, "Test")


def test_names_go_when_refitted_without_names():
    measure = Vector().fit({"a": [0.0, 1.0], "b": [1.0, 2.0]})
    assert measure.feature_names_in_.tolist() == ["a", "b"]
    measure.fit([[0.0], [1.0]])
    assert not hasattr(measure, "feature_names_in_")
    assert measure.n_features_in_ == 1


def test_classes_of_one_row_are_named_and_left_out():
    assert keep_repeated(np.array(["a", "b", "a", "b"])).tolist() == [True] * 4
    with pytest.warns(LookalikeWarning, match="^1 row left out, the only one of its class: 7$"):
        assert keep_repeated(np.array([1, 7, 2, 1, 2])).tolist() == [True, False, True, True, True]
    five = "^5 rows left out, each the only one of its class: 'c', 'd', 'e', 'f', 'g'$"
    with pytest.warns(LookalikeWarning, match=five):
        assert keep_repeated(np.array(list("aabbcdefg"))).tolist() == [True] * 4 + [False] * 5
    with pytest.warns(LookalikeWarning, match="^6 rows left out, .* 'f', 'g', [.][.][.]$"):
        keep_repeated(np.array(list("aabbcdefgh")))
    # Fewer than two classes would be left: nothing is left out, and nothing said.
    assert keep_repeated(np.array(["a", "a", "b"])).tolist() == [True] * 3
