"""Guesses beyond single columns: other types, other columns, copies, constants, new rows."""

import csv
import dataclasses
import decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import cross_val_score

import lookalike as la
from lookalike._runtime.text import plain
from lookalike.errors import InvalidInput, Param
from lookalike.measures import Gower
from lookalike.prediction import NeighborClassifier
from lookalike.table import Kind, as_table, read_table
from lookalike.table.formats.raw import of_values
from lookalike.table.infer.kinds import infer
from lookalike.table.model.cells import convert
from table.hard_columns import CASES, TYPED
from transcript import assert_transcript


def one(cells, name="c", **options):
    table = read_table({name: cells, "other": list(range(len(cells)))}, **options)
    return table[name]


# -- types of frames that are text in disguise -----------------------------------------------------


def test_what_pandas_cut_makes_is_ordered():
    frame = pd.DataFrame({"age": [5, 20, 40, 70, 20], "x": [1, 2, 3, 4, 5]})
    frame["band"] = pd.cut(frame["age"], [0, 18, 65, 99])
    table = read_table(frame)
    assert table.kinds["band"].name == "order"
    assert table.kinds["band"].levels == ("(0, 18]", "(18, 65]", "(65, 99]")
    assert table["band"].values.tolist() == [0, 1, 1, 2, 1]
    plain = read_table(frame.assign(band=frame["band"].astype(object)))
    assert plain["band"].values.tolist() == [0, 1, 1, 2, 1]
    assert plain.kinds["band"].levels == table.kinds["band"].levels


def test_periods_are_dates():
    months = pd.PeriodIndex(["2020-01", "2020-03", "2021-12"], freq="M")
    quarters = pd.PeriodIndex(["2020Q1", "2020Q3", "2021Q4"], freq="Q")
    table = read_table(pd.DataFrame({"m": months, "q": quarters}))
    assert table.kinds["m"].label == table.kinds["q"].label == "date"
    assert table["q"].cell(1).month == 7


def test_nullable_and_decimal_numbers():
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None, 3, 3], dtype="Int64"),
            "real": pd.array([1.5, None, 3, 3], dtype="Float64"),
            "money": [decimal.Decimal("1.50"), None, decimal.Decimal(3), decimal.Decimal(3)],
        }
    )
    for name in frame:
        assert read_table(frame).kinds[name].name == "number"
    assert read_table(frame)["money"].values[0] == 1.5


def test_codes_with_missing_cells_are_integers_from_every_source(tmp_path):
    frame = pd.DataFrame({"store_id": [1, None, 2, 1], "x": [1.5, 2, 3, 4]})  # floats in pandas
    frame.to_csv(tmp_path / "t.csv", index=False)
    one, other = read_table(frame), read_table(pl.DataFrame({"store_id": [1, None, 2, 1]}))
    assert one.kinds["store_id"].levels == other.kinds["store_id"].levels == (1, 2)
    assert one.kinds["store_id"].label == "code"


# -- very long numbers -----------------------------------------------------------------------------


def test_whole_numbers_beyond_a_float(tmp_path):
    column = one([2**60, 2**60 + 1, 2**60 + 2])
    assert column.kind.role == "identifier"
    assert column.cell(1) == str(2**60 + 1)
    assert one([10**400, 3, 10**400]).kind.label == "code"
    assert one([10**400, 3, 4], kinds={"c": "category"}).cell(0) == str(10**400)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{10**19 + i},{i}\n" for i in range(30)))
    assert read_table(path)["a"].cell(1) == str(10**19 + 1)


# -- other columns decide --------------------------------------------------------------------------


def test_another_column_settles_day_and_month():
    open_days = ["03/04/2020", "05/06/2020", "01/02/2021"]
    for proof, month in ((["09/24/2020"] * 2 + ["10/30/2020"], 3), (["24/09/2020"] * 3, 4)):
        table = read_table({"a": open_days, "b": proof, "x": [1, 2, 3]})
        assert table["a"].cell(0).month == month
        assert table.kinds["a"].note.endswith("as another column is")
    assert read_table({"a": open_days}).kinds["a"].close == "mdy"


def test_another_column_settles_the_decimal_comma(tmp_path):
    columns = {"a": ["1.234", "5.678", "9.012"], "b": ["3,5", "4,25", "7"]}
    assert read_table(columns)["a"].values.tolist() == [1234, 5678, 9012]
    assert read_table({"a": columns["a"]})["a"].values.tolist() == [1.234, 5.678, 9.012]
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=";").writerows(
            [list(columns), *zip(*columns.values(), strict=True)]
        )
    assert read_table(path)["a"].values.tolist() == [1234, 5678, 9012]


# -- what the caller says --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["$1,335.97", "$2"], "number", [1335.97, 2]),
        (["1,067", "12"], "decimal_comma", [1.067, 12]),
        (["1,067", "12"], "decimal_point", [1067, 12]),
        (["02139", "10001"], "number", [2139, 10001]),
        (["03/04/2020", "05/06/2020"], "mdy", [1583280000, 1588723200]),
        ([20200304, 20200506], "date", [1583280000, 1588723200]),
    ],
)
def test_kinds_are_read_by_the_same_parser(cells, kind, values):
    column = one(cells, kinds={"c": kind})
    assert column.values.tolist() == values


def test_a_cell_that_does_not_parse_is_named():
    with pytest.raises(InvalidInput, match=r"first: 'cheap', row 1"):
        one(["$1,335.97", "cheap"], kinds={"c": "number"})
    with pytest.raises(InvalidInput, match=r"needs dates.*first: 'soon', row 1"):
        one(["2020-01-01", "soon"], kinds={"c": "date"})


def test_a_name_given_by_the_caller_is_set_aside():
    table = read_table({"c": ["a", "b", "a"], "x": [1, 2, 3]}, kinds={"c": "name"})
    assert table.names == ("x",)
    assert table["c"].cell(1) == "b"


def test_what_to_paste():
    kind = one(["02139", "10001", "02139"], "zip").kind
    assert kind.paste("zip") == Param("kinds", {"zip": "number"})
    assert str(kind.paste("my zip", "text")) == "kinds={'my zip': 'text'}"
    assert Kind("number").paste("x").value == {"x": "aside"}


def test_the_summary_names_the_second_reading_and_the_sentinel():
    table = read_table(
        {"when": ["03/04/2020", "05/06/2020"] * 10, "x": [*range(18), -999, -999], "y": range(20)}
    )
    summary = table.summary()
    assert any("kinds={'when': 'mdy'}" in text for text in summary["when"].warnings)
    assert any("missing=[-999]" in text for text in summary["x"].warnings)


# -- new rows --------------------------------------------------------------------------------------


def test_new_rows_are_read_by_the_fitted_reading():
    fitted = read_table(
        {
            "price": ["$1,335.97", "$2", "$3"],
            "when": ["24/09/2020", "01/02/2020", "03/04/2020"],
            "size": ["Low", "HIGH", "high"],
            "tags": ["a;b", "b", "a;c"],
        }
    )
    row = {"price": "$1,000", "when": "05/06/2021", "size": "High", "tags": "c;b"}
    new = as_table({**row, "size": "high"}, fitted)
    assert new["price"].values.tolist() == [1000]
    assert new["when"].cell(0).month == 6
    assert new["tags"].cell(0) == frozenset("bc")
    assert as_table({**row, "size": "high", "price": 12.5}, fitted)["price"].values[0] == 12.5
    assert as_table({**row, "size": "high", "price": "n/a"}, fitted)["price"].missing[0]
    with pytest.raises(InvalidInput, match=r"needs numbers.*'cheap'"):
        as_table({**row, "size": "high", "price": "cheap"}, fitted)


def test_written_sets_as_columns_and_as_one_record():
    fitted = read_table({"tags": ["a;b", "b", "a;c"]})
    assert len(as_table({"tags": ["a;b", "c"]}, fitted)) == 2
    assert as_table({"tags": "a;b"}, fitted)["tags"].cell(0) == frozenset("ab")


def test_a_saved_schema_keeps_the_reading(tmp_path):
    columns = {"price": ["$1,335.97", "$2", "$3"], "when": ["24/09/2020", "01/02/2020", "n/a"]}
    index = la.Index().fit(columns)
    index.save(tmp_path / "i.lookalike")
    again = la.load(tmp_path / "i.lookalike")
    assert again.schema_.kinds == index.schema_.kinds
    asked = {"price": "$1,300", "when": "25/09/2020"}
    assert again.search(asked, k=3).to_dict() == index.search(asked, k=3).to_dict()
    near = la.Index(Gower()).fit(columns).search(asked, k=1)
    assert near[0].id == 0


# -- columns that say nothing ----------------------------------------------------------------------


def test_constants_and_copies_are_set_aside():
    n = 30
    x = np.arange(n) * 1.5
    columns = {"x": x, "year": [2013] * n, "again": x.copy(), "flag": [True] * n, "y": x[::-1]}
    table = read_table(columns)
    assert table.names == ("x", "y")
    assert table["year"].kind.reason == "one value, 2013"
    assert table["again"].kind.reason == "the same as 'x' in every row"
    assert table["flag"].kind.role == "constant"
    named = read_table(columns, kinds={"year": "number", "again": "number"})
    assert named.names == ("x", "year", "again", "y")
    assert read_table(np.column_stack([x, x, np.ones(n)])).shape == (n, 3)


def test_something_is_kept_where_everything_would_be_set_aside():
    names = [f"{a} {b}" for a in ("Ann", "Bo", "Cy", "Di", "Ed") for b in ("Fox", "Gray", "Hill")]
    assert read_table({"name": names}).kinds["name"].name == "text"
    assert read_table({"year": [2013] * 20}).names == ("year",)


def test_sentinels_are_warned_about_and_kept():
    column = one([*range(1, 40), -999, -999])
    assert column.kind.note.startswith("2 cells are -999, far from the rest (1 to 39)")
    assert -999 in column.values
    for cells in ([-1, 1] * 10, [*range(-5, 30)], [*range(90, 110), 99, 99]):
        assert one(cells).kind.note == ""


def test_two_columns_without_a_name(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",,a\n1.5,x,1\n2.5,y,2\n3.5,x,3\n")
    assert read_table(path).names == ("unnamed", "unnamed_2", "a")


# -- folds -----------------------------------------------------------------------------------------


def test_a_table_is_not_guessed_again_in_every_fold():
    rng = np.random.default_rng(0)
    x = np.repeat([0.0, 9.0], 30) + rng.normal(size=60)
    labels = np.repeat(["a", "b"], 30)
    zips = [f"0{code}" if code < 1000 else str(code) for code in rng.integers(900, 1100, 60)]
    table = read_table({"x": [f"${v:.2f}" for v in x], "zip": zips})
    scores = cross_val_score(NeighborClassifier(Gower(), 3, weights="uniform"), table, labels, cv=3)
    assert scores.min() > 0.9
    for rows in (slice(0, 5), np.arange(7)):
        assert table[rows].kinds == table.kinds


# -- what is said about columns, word by word ------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
def test_every_answer_of_the_transcript_is_as_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_transcript("table/infer")


# One line per column: whether it is set aside, and every part of its kind that is not the default.
# Written by ``python -m table.test_infer``; a change of a line is a change of what users read.
SAID = Path(__file__).parent / "inferred.txt"


def _spoiled(cells):
    return [*cells, *cells, "n/a", None]


def _set_parts(record):
    """Return the parts of a kind or a reading that are not the default."""
    parts = {part.name: part.default for part in dataclasses.fields(record)}
    return {n: v for n, v in vars(record).items() if n in parts and v != parts[n]}


def _said(name, cells):
    """Return the kind of a column in words, and its first cells."""
    raw = of_values(name, cells)
    guess = infer(raw)
    column = convert(guess.raw or raw, guess.kind)
    parts = _set_parts(column.kind)
    if "reading" in parts:
        parts["reading"] = _set_parts(parts["reading"])
    if len(column.kind.levels) > 12:
        parts["levels"] = f"{len(column.kind.levels)} from {column.kind.levels[0]!r}"
    first = [repr(plain(column.cell(row)))[:60] for row in range(min(3, len(cells)))]
    settles = f" proves {guess.proves!r}" * bool(guess.proves) + " open" * guess.open
    return f"{'aside' if guess.aside else 'compared'}{settles} {parts} {', '.join(first)}"


def _lines():
    named = [(case.name, case.cells) for case in CASES] + TYPED
    spoiled = [(case.name, _spoiled(case.cells)) for case in CASES]
    for name, cells in named + spoiled:
        yield f"{name}: {_said(name, cells)}"


def test_every_word_that_is_said_about_a_column():
    expected = SAID.read_text(encoding="utf-8").splitlines()
    for line, (found, said) in enumerate(zip(_lines(), expected, strict=True), 1):
        assert found == said, f"{SAID.name}, line {line}"


if __name__ == "__main__":
    SAID.write_text("\n".join(_lines()) + "\n", encoding="utf-8")
