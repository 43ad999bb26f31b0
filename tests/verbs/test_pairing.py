"""The two tables of a verb, opened: ids, parts, limits and names."""

import numpy as np
import pandas as pd
import pytest

import lookalike as la
from lookalike.errors import InvalidInput
from lookalike.verbs.pairing import open_left, open_right, open_two, split_limits, split_names
from lookalike.verbs.source import as_source


def test_rows_have_the_ids_of_their_source(tmp_path):
    frame = pd.DataFrame({"size": [1.0, 2.5, 4.0]}, index=["u", "v", "w"])
    index = la.Index().fit(frame)
    index.delete("v")
    frame.to_parquet(tmp_path / "rows.parquet")
    for opened, expected in (
        (open_left(as_source(frame)), ["w", "u"]),
        (open_right(as_source(frame)), ["w", "u"]),
        (open_right(as_source(index)), ["w", "u"]),
        (open_left(as_source({"size": [1.0, 2.0, 3.0]})), [2, 0]),
    ):
        assert opened[1](np.array([2, 0])) == expected
    left, ids = open_left(as_source(tmp_path / "rows.parquet"))
    assert type(left).__name__ == "LazyTable"
    assert type(open_right(as_source(tmp_path / "rows.parquet"))[0]).__name__ == "Table"
    assert ids(np.array([1])) == [1]


def test_what_an_answer_says_about_them(tmp_path):
    (tmp_path / "b.csv").write_text("size\n1\n2\n5\n")
    frame = pd.DataFrame({"size": [1.0, 2.0]})
    opened = open_two("join", frame, tmp_path / "b.csv", None, None, 0.1, "gower", None)
    about = opened.about
    assert about["names"] == ("table", str(tmp_path / "b.csv"))
    assert (about["measure"], about["backend"]) == ("Gower", "pandas")
    assert about["frames"][0].num_rows == 2
    assert about["frames"][1] is None
    assert opened.near_enough(opened.nearest(3)).indices.tolist() == [[0, -1, -1], [1, -1, -1]]


def test_limits_and_names():
    assert split_limits(None) == (None, {})
    assert split_limits({"age": 2, "": 0.3}) == (0.3, {"age": 2})
    with pytest.raises(InvalidInput, match="max_distance"):
        split_limits("near")
    assert split_names("a, b") == ["a", "b"]
    assert split_names(["a"]) == ["a"]
    assert split_names(None) is None
