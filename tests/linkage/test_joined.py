"""The forms of a join: frames of the library that came in, files in parts, text and JSON."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lookalike as la
from lookalike.linkage.joined import write_names
from lookalike.table.model.labels import label_of

LEFT = {"weight": [5.0, 28.0, None], "animal": ["cat", "dog", None], "rank": [1, 2, 3]}
RIGHT = {"weight": [4.0, 30.0, 6.5], "animal": ["cat", "dog", "cat"], "name": ["Tom", "Rex", "Ivy"]}
HEADS = [
    *("row", "match", "rank", "distance", "weight", "animal", "table.rank"),
    *("other.weight", "other.animal", "name"),
]


@pytest.fixture(scope="module")
def joined():
    return la.join(pd.DataFrame(LEFT), pd.DataFrame(RIGHT), 2, by="animal")


def test_pairs_hold_the_cells_of_both_rows(joined):
    frame = joined.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == HEADS == list(joined.cells())
    assert frame["row"].tolist() == [0, 0, 1]
    assert frame["rank"].tolist() == [1, 2, 1]
    assert sorted(frame["name"][:2]) == ["Ivy", "Tom"]
    for _, line in frame.iterrows():
        assert line["weight"] == LEFT["weight"][line["row"]]
        assert line["other.weight"] == RIGHT["weight"][line["match"]]
        assert line["animal"] == line["other.animal"]
        assert line["table.rank"] == LEFT["rank"][line["row"]]
    assert frame["table.rank"].dtype == np.int64  # as it came in
    assert joined.unmatched == [2]
    assert len(joined) == 3


def test_a_frame_of_the_library_that_came_in_is_returned():
    pl, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    made = {
        pd.DataFrame: pd.DataFrame(LEFT),
        pl.DataFrame: pl.DataFrame(LEFT),
        pa.Table: pa.table(LEFT),
        duckdb.DuckDBPyRelation: duckdb.from_arrow(pa.table(LEFT)),
    }
    for library, frame in made.items():
        found = la.join(frame, pa.table(RIGHT)).to_frame()
        assert isinstance(found, library), library
        assert list(found.columns if library is not pa.Table else found.column_names) == HEADS
    assert isinstance(la.join(LEFT, RIGHT).to_frame(), pd.DataFrame)
    assert isinstance(la.join(LEFT, RIGHT).to_frame("polars"), pl.DataFrame)
    with pytest.raises(ValueError, match="backend"):
        la.join(LEFT, RIGHT).to_frame("excel")


def test_labels_of_frames_are_ids():
    left = pd.DataFrame(LEFT, index=list("uvw"))
    right = pd.DataFrame(RIGHT, index=[7, 8, 9])
    found = la.join(left, right, by="animal").to_frame()
    assert found["row"].tolist() == ["u", "v"]
    assert found["match"].tolist()[1] == 8


def test_a_file_is_written_in_parts(joined, tmp_path, monkeypatch):
    monkeypatch.setattr("lookalike.linkage.joined.PAIRS_PER_PART", 2)
    joined.to_parquet(tmp_path / "pairs.parquet")
    assert pq.read_table(tmp_path / "pairs.parquet").to_pydict() == joined.to_arrow().to_pydict()
    assert pq.ParquetFile(tmp_path / "pairs.parquet").num_row_groups == 2


def test_no_pair_has_forms_too(tmp_path):
    none = la.join(LEFT, RIGHT, max_distance={"weight": 0.5})
    assert len(none) == 0
    assert list(none.to_frame().columns) == HEADS
    assert none.to_dict()["pairs"] == []
    assert "3 of 3 rows have no match" in none.text()
    none.to_parquet(tmp_path / "none.parquet")
    assert pq.read_table(tmp_path / "none.parquet").num_rows == 0


def test_reasons_are_those_of_an_index():
    found = la.join(LEFT, RIGHT, 2, by="animal", why=True)
    index = la.Index().fit(la.read_table(RIGHT).compare_by(["weight"]))
    hit = index.search({"weight": 5.0}, k=1)[0]
    plus, minus = found.phrases(slice(0, 1))[0]
    assert ([one.text for one in plus], [one.text for one in minus]) == tuple(
        [one["text"] for one in side] for side in hit.reasons()
    )
    assert set(found.to_frame().columns) >= {"for", "against"}
    assert found.to_dict()["pairs"][0]["reasons"]["for"] == hit.reasons()[0]
    lines = found.text(60).splitlines()
    assert max(map(len, lines)) <= 60
    assert plus[0].text in " ".join(line.strip() for line in lines)


def test_the_text_names_rows_and_says_what_is_left_out(joined):
    text = joined.text()
    assert text.startswith("table: the nearest 2 rows of other for each of 3 rows, by Gower")
    assert text.splitlines()[1] == joined.tables.reason
    assert "Rex (1)" in text
    assert "1 of 3 rows have no match" in text
    many = la.join({"size": [float(i) for i in range(30)]}, {"size": [1.0, 2.0]})
    assert "10 more pairs" in many.text()


def test_the_parts_by_hand():
    table = la.read_table({"name": ["x" * 50, "y"], "size": [1.0, 2.0]})
    assert [len(name) <= 32 for name in write_names(table, [0, 1], label_of(table))] == [True, True]


def test_rows_are_called_as_in_the_whole_table():
    """A level that two rows tell apart names none of twenty."""
    rows = {"sex": ["f", "m"] * 10, "age": [float(i * i % 23) for i in range(20)]}
    assert "(" not in la.join(rows, rows).text().split("distance", 1)[1].split("more pairs")[0]
    table = la.read_table(rows)
    assert write_names(table[[3]], [3], label_of(table)) == ["3"]
    assert write_names(table[[3]], [3], label_of(table[[3]])) == ["m (3)"]
