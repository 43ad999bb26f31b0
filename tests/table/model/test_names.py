"""Names of columns and labels of rows."""

import numpy as np
import pandas as pd
import pytest

from lookalike.errors import LookalikeWarning
from lookalike.table import read_table
from lookalike.table.model.names import has_names, remember_columns, row_labels, with_labels


def frame(labels, name=None):
    return pd.DataFrame({"x": [1, 2]}, index=pd.Index(labels, name=name))


def test_labels_become_a_column():
    found, name = with_labels(frame(["a", "b"]))
    assert (name, found["index"].tolist()) == ("index", ["a", "b"])
    assert with_labels(frame(["a", "b"], "who"))[1] == "who"
    assert with_labels(frame(["a", "b"], "x"))[1] == "index"  # a column has this name
    assert with_labels(frame(["a", "b"]), "mine")[1] == "mine"
    assert with_labels(frame(["a", "b"]), "x")[1] is None
    assert row_labels(frame(["a", "b"])) == ["a", "b"]


def test_numbers_of_rows_are_no_labels():
    for source in (frame([0, 1]), {"x": [1, 2]}, np.eye(2), frame(["a", "b"])["x"]):
        assert with_labels(source)[1] is None
        assert row_labels(source) is None
    assert with_labels(frame([1, 0]))[1] == "index"


def test_labels_that_do_not_differ_are_a_warning():
    for labels, words in ((["a", "a"], "'a' twice"), (["a", None], "a missing one")):
        with pytest.warns(LookalikeWarning, match=words):
            assert with_labels(frame(labels))[1] is None
        assert row_labels(frame(labels)) is None


def test_estimators_remember_names_where_there_were_some():
    class Estimator:
        pass

    estimator, table = Estimator(), read_table({"a": [1.0], "b": [2.0]})
    remember_columns(estimator, table, table)
    assert (estimator.n_features_in_, list(estimator.feature_names_in_)) == (2, ["a", "b"])
    remember_columns(estimator, np.eye(2), table, n_features=5)
    assert (estimator.n_features_in_, hasattr(estimator, "feature_names_in_")) == (5, False)
    assert has_names({"a": [1]})
    assert not has_names([[1]])
