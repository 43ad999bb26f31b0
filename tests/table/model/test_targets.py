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
    holds_classes,
    keep_repeated,
    label_sets,
    read_classes,
    read_numbers,
    read_target,
    require_target,
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


def refused(words, function, *arguments):
    with pytest.raises(InvalidInput, match=words):
        function(*arguments)


def test_targets_in_every_form():
    assert split_target(TABLE, None, "Test") == (TABLE, None)
    rest, y = split_target(TABLE, [[4], [5], [6]], "Test")
    assert rest is TABLE
    assert y.tolist() == [4, 5, 6]
    rest, y = split_target(TABLE, "x", "Test")
    assert (y.tolist(), y.dtype) == ([1.0, 2.0, 3.0], np.float64)
    assert (rest.names, rest["x"].kind.reason) == (("kind",), "the target")
    for wrong, shape in (([1, 2], r"\(2,\)"), ([[1, 2]] * 3, r"\(3, 2\)"), (1, r"\(\)")):
        refused(
            f"each of the 3 rows, found an array of shape {shape}", split_target, TABLE, wrong, "T"
        )
    for missing in ([1.0, np.nan, np.nan], ["a", None, None]):
        words = r"y=...\): needs a target without missing values, found 2 missing .*first in row 1"
        refused(words, split_target, TABLE, missing, "Test")
    gaps = la.read_table({"x": [1.0, 2.0, None], "z": [1, 2, 3]})
    refused("1 missing values .*row 2", split_target, gaps, "x", "Test")
    refused("^Test.fit", split_target, gaps, "x", "Test")
    refused("^verb", split_target, gaps, "x", "verb")
    assert require_target("kind", "Test") == "kind"
    assert require_target([1, 2], "Test").tolist() == [1, 2]
    with pytest.warns(UserWarning, match="Test.fit reads it as 2 values; pass y.ravel"):
        assert require_target([[1], [2]], "Test").tolist() == [1, 2]
    assert require_target([[1, 2], [3, 4]], "Test").ndim == 2
    refused("Test.fit: needs a target.*found none", require_target, None, "Test")


def test_what_is_taken_for_classes():
    for values, classes in (
        ([1, 2], True), ([1, 2, 3], False), ([1, 2, 3, 3], False), ([1, 2, 2, 2], True),
        ([1, 2, 3, 1, 2, 3], True), ([1, 2, 3, 4, 1, 2, 3], False), ([1.0, 1.5], False),
        ([1.0, 2.0], True), (["a", "b", "c"], True), ([True, False], True),
    ):  # fmt: skip
        assert holds_classes(np.array(values)) is classes, values
        assert holds_classes(np.array(values, object)) is classes, values
    assert read_target([1, 2], 2, "Test", "numbers")[1] is None
    assert read_target([1, 2, 3], 3, "Test", "classes")[0].dtype == np.int64
    refused("NaN or infinity", read_target, [1.0, np.inf], 2, "Test")
    refused("each of the 3 rows", read_target, [1, 2], 3, "Test")
    refused("Use target='classes'", read_target, ["a", "b"], 2, "Test", "numbers")


def test_classes_of_every_type_and_number():
    for y, classes in (
        (np.array([2, 1, True], object), [1, 2]), (np.array([2.0, 1.0]), [1.0, 2.0]),
        (np.array([True, False]), [False, True]), (np.array([np.bool_(True)], object), [True]),
    ):  # fmt: skip
        found, codes = read_classes(y, "Test", "Other")
        assert (found.tolist(), codes.dtype) == (classes, np.int64)
    refused("found 2.5 ", read_classes, np.array([1.0, 2.5]), "Test", "Other")
    refused("found inf", read_classes, np.array([1.0, np.inf]), "Test", "Other")
    one = np.array(["a"])
    refused(r"two classes, found 1 class \('a'\)", read_classes, one, "Test", "Other", 2)
    refused("at least 3 classes", read_classes, one, "Test", "Other", 3)
    refused("at least one class, found 0 classes", read_classes, one[:0], "Test", "Other")
    assert read_classes(np.array(["a", "b"]), "Test", "Other", 2)[0].tolist() == ["a", "b"]
    assert read_numbers(np.array([1, "2"], object), "Test", "Do").tolist() == [1.0, 2.0]
    assert read_numbers(np.array([True]), "Test", "Do").tolist() == [1.0]
    refused("<U1 values. Do", read_numbers, np.array(["1"]), "Test", "Do")


def test_labels_and_weights_that_do_not_fit():
    refused("a list of 2 labels, found 'ab'", code_labels, "ab", 2, "Test")
    refused("a list of 2 labels, found 7", code_labels, 7, 2, "Test")
    refused("each of the 3 rows, found 2", code_labels, ["a", "b"], 3, "Test")
    refused("1 missing .*row 1", code_labels, ["a", float("nan")], 2, "Test")
    assert code_labels(np.array([7, 7, 5]), 3, "Test")[1] == [7, 5]
    for labels, found in (("ab", "2"), (7, "7"), ([{"a"}], "1")):
        refused(f"each of the 2 rows, found {found}", label_sets, labels, 2, "Test")
    for cell, shown in (("a", "'a'"), (b"a", "b'a'"), (7, "7")):
        with pytest.raises(WrongType, match=f"{shown} in row 1"):
            label_sets([{"a"}, cell], 2, "Test")
    assert check_sample_weight([0, 1], 2, "Test").tolist() == [0.0, 1.0]
    refused(
        r"a sample_weight of shape \(2,\), found shape \(1,\)", check_sample_weight, [1], 2, "T"
    )
    refused("at least 0, found -1 for row 1", check_sample_weight, [1, -1], 2, "Test")
    refused("found inf for row 0", check_sample_weight, [np.inf, 1], 2, "Test")
    refused("a weight above 0, found zeros only", check_sample_weight, 0, 2, "Test")
