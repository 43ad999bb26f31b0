"""The two tables of a verb, opened: ids, parts, limits and names."""

import numpy as np
import pandas as pd
import pytest

import lookalike as la
from lookalike.errors import InvalidInput
from lookalike.verbs.pairing import open_table, open_two
from lookalike.verbs.source import as_source, split_names

NONE = {"on": None, "by": None, "weights": None}


def test_rows_have_the_ids_of_their_source(tmp_path):
    frame = pd.DataFrame({"size": [1.0, 2.5, 4.0]}, index=["u", "v", "w"])
    index = la.Index().fit(frame)
    frame.reset_index(drop=True).to_parquet(tmp_path / "rows.parquet")
    for given, expected in (
        (frame, ["w", "u"]),
        (index, ["w", "u"]),
        ({"size": [1.0, 2.0, 3.0]}, [2, 0]),
        (tmp_path / "rows.parquet", [2, 0]),
    ):
        _, about = open_two("join", given, given, None, None, **NONE)
        assert [ids(np.array([2, 0])) for ids in about["ids"]] == [expected] * 2
    two, _ = open_two("join", tmp_path / "rows.parquet", frame, None, None, **NONE)
    assert type(two.left).__name__ == "LazyTable"
    assert len(open_table(as_source(tmp_path / "rows.parquet"))[0]) == 3


def test_what_an_answer_says_about_them(tmp_path):
    (tmp_path / "b.csv").write_text("size\n1\n2\n5\n")
    frame = pd.DataFrame({"size": [1.0, 2.0]})
    two, about = open_two("join", frame, tmp_path / "b.csv", "gower", 0.1, **NONE)
    assert about["names"] == ("table", str(tmp_path / "b.csv"))
    assert (about["measure"], about["backend"]) == ("Gower", "pandas")
    assert about["frames"][0].num_rows == 2
    assert about["frames"][1] is None
    assert two.nearest(3).indices.tolist() == [[0, -1, -1], [1, -1, -1]]


def test_limits_and_names():
    table = {"size": [1.0, 2.0]}
    two, _ = open_two("join", table, table, None, {"size": 2, "": 0.3}, **NONE)
    assert (two.max_distance, two.calipers) == (0.3, {"size": 2})
    for wrong in ("near", -1, {"size": -1}, float("nan")):
        with pytest.raises(InvalidInput, match="max_distance"):
            open_two("join", table, table, None, wrong, **NONE)
    assert split_names("a, b") == ["a", "b"]
    assert split_names(["a"]) == ["a"]
    assert split_names(None) is None
