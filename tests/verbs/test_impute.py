"""``impute``: what it answers, and wrong input."""

import json

import duckdb
import pandas as pd
import polars as pl
import pytest

import lookalike as la
from cli.run import run
from lookalike.errors import InvalidInput

ROWS = {
    "name": [f"row {i}" for i in range(12)],
    "group": ["x", "y"] * 5 + ["x", None],
    "size": [1.0, 9.0, 1.2, 9.1, None, 9.3, 1.1, 9.2, 1.3, None, 1.0, 9.4],
    "weight": [2.0, 18.1, 2.3, 18.0, 2.1, 18.6, None, 18.4, 2.5, 18.2, 2.0, 18.9],
}


def test_cells_come_from_rows_that_are_alike():
    found = la.impute(ROWS)
    cells = {(cell.column, cell.id): cell for cell in found.filled_cells}
    assert set(cells) == {("group", 11), ("size", 4), ("size", 9), ("weight", 6)}
    assert cells["group", 11].value == "y"
    assert cells["size", 4].value < 2 < 8 < cells["size", 9].value
    donors = cells["size", 4].donors
    assert {donor["id"] for donor in donors} <= {0, 2, 6, 8, 10}
    assert [donor["value"] for donor in donors] == [ROWS["size"][donor["id"]] for donor in donors]
    assert [one["share"] for one in donors] == sorted(
        (one["share"] for one in donors), reverse=True
    )
    assert 0.5 < cells["group", 11].agreement <= 1
    assert cells["size", 4].because == ""
    assert found.not_filled == {}


def test_why_names_what_the_donor_shares():
    found = la.impute(ROWS, why=True)
    assert all(cell.because for cell in found.filled_cells)
    cell = next(cell for cell in found.filled_cells if cell.column == "size")
    assert "group" in cell.because or "weight" in cell.because
    assert cell.because in found.text()


def test_the_answer_is_the_completed_table():
    found = la.impute(ROWS)
    cells = found.cells()
    assert set(cells) == set(ROWS)
    assert all(cell is not None for column in cells.values() for cell in column)
    assert all(a in (b, None) for a, b in zip(ROWS["size"], cells["size"], strict=True))
    frame = found.to_frame()
    assert frame["size"].tolist() == cells["size"]
    given = pd.DataFrame(ROWS, index=[f"id{i}" for i in range(12)])
    named = la.impute(given)
    assert list(named.to_frame().index) == list(given.index)
    assert list(named.to_frame().columns) == list(given.columns)
    assert named.filled_cells[0].id.startswith("id")
    assert isinstance(found.to_frame("polars"), pl.DataFrame)


@pytest.mark.parametrize("options", [{}, {"filter": "size>=0"}, {"draws": 2}])
def test_the_answer_is_of_the_library_that_came_in(options):
    pandas = la.impute(pd.DataFrame(ROWS), **options).to_frame()
    frame = pl.DataFrame(ROWS)
    for given in (frame, frame.to_arrow(), duckdb.from_arrow(frame.to_arrow())):
        found = la.impute(given, **options)
        assert type(found.to_frame()) is type(given)
        assert len(found.head(2)) == 2
        cells = found.to_frame()
        cells = cells.to_arrow_table() if hasattr(cells, "to_arrow_table") else cells
        cells = cells.to_pandas()
        assert cells["size"].tolist() == pandas["size"].tolist()
        assert list(cells) == list(pandas)


def test_only_what_was_asked_for():
    found = la.impute(ROWS, columns="size,group")
    assert {cell.column for cell in found.filled_cells} == {"size", "group"}
    assert found.not_filled == {"weight": 1}
    assert "still missing: weight (1)" in found.text()
    some = la.impute(ROWS, filter="size>=0")
    assert len(some.to_frame()) == 10
    assert {cell.column for cell in some.filled_cells} == {"group", "weight"}
    equal = la.impute(ROWS, 2, equal_weights=True)
    assert [one["donors"] for one in equal.columns] == [2, 2, 2]
    weights = equal.columns[0]["weights"]
    assert len(set(weights.values())) == 1


def test_draws_are_stacked_and_differ():
    found = la.impute(ROWS, draws=4, seed=1)
    frame = found.to_frame()
    assert frame["draw"].tolist() == [i for i in (1, 2, 3, 4) for _ in range(12)]
    assert list(frame.columns) == list(found.cells())
    assert frame["size"].tolist() == found.cells()["size"]
    sizes = {frame["size"].iloc[4 + 12 * i] for i in range(4)}
    assert sizes <= {1.0, 1.1, 1.2, 1.3}
    assert len(sizes) > 1
    assert found.to_dict() == la.impute(ROWS, draws=4, seed=1).to_dict()
    assert found.to_dict() != la.impute(ROWS, draws=4, seed=2).to_dict()
    assert len(found.to_dict()["draws"]) == 4


def test_an_index_is_filled_with_its_ids():
    index = la.Index(id_column="name").fit(ROWS)
    cell = la.impute(index).filled_cells[0]
    assert (cell.column, cell.id) == ("group", "row 11")


def test_the_shell_writes_the_completed_table(tmp_path):
    path = tmp_path / "rows.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    done = run("impute", path, "--output", "csv", "--quiet")
    assert done.exit_code == 0, done.output
    assert len(done.stdout.splitlines()) == 13
    assert ",," not in done.stdout
    told = run("impute", path, "--output", "json", "--quiet", "--columns", "size", "--why")
    assert {cell["column"] for cell in json.loads(told.stdout)["cells"]} == {"size"}
    wrong = run("impute", path, "--columns", "sise")
    assert wrong.exit_code != 0
    assert "--columns" in wrong.stderr
    assert "size" in wrong.stderr


@pytest.mark.filterwarnings("ignore::lookalike.errors.LookalikeWarning")
def test_bad_input():
    with pytest.raises(InvalidInput, match="sise"):
        la.impute(ROWS, columns="sise")
    with pytest.raises(InvalidInput, match="k.*at least 1|k.*>= 1"):
        la.impute(ROWS, 0)
    with pytest.raises(InvalidInput, match="draws"):
        la.impute(ROWS, draws=1000)
    with pytest.raises(InvalidInput, match="draws"):
        la.impute(ROWS, draws=-1)
    with pytest.raises(InvalidInput, match="row"):
        la.impute(pd.DataFrame(ROWS)[:0])
    empty = la.impute({"a": [None, None, None], "b": [1.0, 2.0, 3.0]})
    assert empty.filled_cells == []
    assert empty.not_filled == {"a": 3}
    assert "0 missing cells" in empty.text()
