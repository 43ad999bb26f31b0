"""CSV files: delimiters, encodings, cells as they are written."""

import csv
import warnings

import numpy as np
import pytest

from lookalike.errors import InvalidInput, UnreadableFile
from lookalike.table import as_table, read_table


def put(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("a,b\n1,x\n2,y\n", ("a", "b")),
        ("a;b\n1,5;x\n2,5;y\n", ("a", "b")),
        ("a\tb\n1\tx, y\n2\tz\n", ("a", "b")),
        ("a|b\n1|x\n", ("a", "b")),
        ('a,b\n1,"x;y;z"\n2,"u;v;w"\n', ("a", "b")),
        ("\ufeffa,b\n1,x\n", ("a", "b")),
        ("a,b\r\n1,x\r\n", ("a", "b")),
        ("only\nx\ny\n", ("only",)),
    ],
)
def test_the_delimiter_is_found(content, names, tmp_path):
    assert read_table(put(tmp_path, "t.csv", content)).names == names


def test_decimal_commas(tmp_path):
    path = put(tmp_path, "t.csv", 'a;b;c\n1,5;"1,5";x,y\n-20;;x,y\n')
    table = read_table(path)
    np.testing.assert_array_equal(table["a"].values, [1.5, -20])
    np.testing.assert_array_equal(table["b"].values, [1.5, np.nan])
    assert table["c"].cell(0) == "x,y"
    assert read_table(path, kinds={"a": "text"})["a"].cell(0) == "1,5"


def test_missing_cells_of_a_csv_file(tmp_path):
    content = 'n,s,q\n1,a,"1"\n,,""\nNA,NA,"3"\nnull,"NA","4"\n'
    table = read_table(put(tmp_path, "t.csv", content))
    np.testing.assert_array_equal(table["n"].values, [1, np.nan, np.nan, np.nan])
    # Quotes make no difference, as they leave no trace in other formats.
    assert [table["s"].cell(row) for row in range(4)] == ["a", None, None, None]
    np.testing.assert_array_equal(table["q"].values, [1, np.nan, 3, 4])


def test_missing_tokens_of_a_csv_file(tmp_path):
    path = put(tmp_path, "t.csv", 'a,b,c\n1,-999,"?"\n?,x,2\n3,-999,3\n')
    table = read_table(path, missing=["?", -999])
    assert {name: kind.name for name, kind in table.kinds.items()} == {
        "a": "number",
        "b": "category",
        "c": "number",
    }
    assert table["b"].missing.tolist() == [True, False, True]
    assert table["c"].missing.tolist() == [True, False, False]
    assert read_table(path).kinds["a"].name == "number"  # a question mark among numbers is a gap
    assert read_table(path).kinds["a"].note == "1 cell '?' read as missing"


def test_quoted_line_breaks(tmp_path):
    table = read_table(put(tmp_path, "t.csv", 'a,b\n"one\ntwo",1\n"he said ""no""",2\n'))
    assert table["a"].cell(0) == "one\ntwo"
    assert table["a"].cell(1) == 'he said "no"'


def test_a_category_keeps_its_leading_zeros(tmp_path):
    path = put(tmp_path, "t.csv", "zip,x\n007,1\n010,2\n007,3\n")
    assert read_table(path).kinds["zip"].label == "code"
    assert read_table(path).kinds["zip"].levels == ("007", "010")
    assert read_table(path, kinds={"zip": "category"}).kinds["zip"].levels == ("007", "010")
    assert read_table(path, kinds={"zip": ["007", "008", "010"]})["zip"].values.tolist() == [
        0,
        2,
        0,
    ]
    with pytest.raises(InvalidInput, match="without an order"):
        read_table(path, kinds={"zip": "order"})
    assert read_table(path, kinds={"zip": "number"})["zip"].values.tolist() == [7, 10, 7]
    path = put(tmp_path, "short.csv", "code,x\n05,1\n10,2\n05,3\n")
    assert read_table(path).kinds["code"].levels == ("05", "10")


def test_a_type_that_changes_after_the_first_megabyte(tmp_path):
    rows = ["a,b,c"] + ["1,2,x"] * 300_000 + ["1.5,two,x", ",2,x"]
    table = read_table(put(tmp_path, "t.csv", "\n".join(rows) + "\n"))
    assert table.kinds["a"].name == "number"
    assert table["a"].values[-2] == 1.5
    assert np.isnan(table["a"].values[-1])
    assert table.kinds["b"].levels == ("2", "two")


def test_other_encodings(tmp_path):
    path = put(tmp_path, "t.csv", "name,x\nJosé,1\nAnn,2\n".encode("latin-1"))
    assert read_table(path, encoding="latin-1")["name"].cell(0) == "José"
    path = put(tmp_path, "u.csv", "name,x\nJosé,1\n".encode("utf-16"))
    assert read_table(path)["name"].cell(0) == "José"  # the mark at the start says so
    with pytest.raises(InvalidInput, match=r"Did you mean 'latin-1'\?"):
        read_table(path, encoding="latin-l")


def test_a_column_without_a_name(tmp_path):
    table = read_table(put(tmp_path, "t.csv", ",a\n0,x\n1,y\n2,x\n"))
    assert table.names == ("a",)
    assert table.aside[0].name == "unnamed"


@pytest.mark.parametrize("content", ["a,b\n", "a,b", "1.5,7\n"])  # no row: nothing to warn of
def test_a_header_alone_is_an_empty_table(content, tmp_path):
    with pytest.raises(InvalidInput, match=r"0 sample\(s\) \(shape=\(0, 2\)\)"):
        read_table(put(tmp_path, "t.csv", content))


def test_two_columns_of_one_name(tmp_path):
    with pytest.raises(InvalidInput, match=r"names that differ, found 'a' 2 times"):
        read_table(put(tmp_path, "t.csv", "a,a\n1,2\n"))


NA_CELLS = {
    "sex": ["m", "f", "NA", "m", "f", "NA"],
    "country": ["US", "DE", "NA", "NA", "US", "DE"],
    "count": ["1", "2", "NA", "4", "5", "5"],
    "x": ["1.5", "NA", "2.5", "3", "4", "1"],
    "said": ["yes", "no", "NA", "yes", "no", "no"],
}


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_na_is_one_thing_in_files_and_frames(quoting, tmp_path):
    with (tmp_path / "t.csv").open("w", newline="") as file:
        rows = zip(*NA_CELLS.values(), strict=True)
        csv.writer(file, quoting=quoting).writerows([NA_CELLS, *rows])
    frame, file = read_table(NA_CELLS), read_table(tmp_path / "t.csv")
    assert file.kinds == frame.kinds
    for name in NA_CELLS:
        assert [file[name].cell(i) for i in range(6)] == [frame[name].cell(i) for i in range(6)]
    assert file["sex"].missing.tolist() == [False, False, True, False, False, True]
    assert not file["country"].missing.any()  # Namibia
    assert "missing=['NA']" in file.kinds["country"].remark
    assert str(file.kinds["sex"].paste("sex")) == "kinds={'sex': 'code'}"


def test_na_is_kept_or_dropped_on_request(tmp_path):
    with (tmp_path / "t.csv").open("w", newline="") as file:
        csv.writer(file).writerows([NA_CELLS, *zip(*NA_CELLS.values(), strict=True)])
    for source in (NA_CELLS, tmp_path / "t.csv"):
        kept = read_table(source, kinds={"sex": "code"})["sex"]
        assert kept.kind.levels == ("NA", "f", "m")
        gone = read_table(source, missing=["NA"])["country"]
        assert gone.kind.levels == ("DE", "US")
        given = read_table(source, kinds={"sex": "category", "country": "category"})
        assert given["sex"].kind.levels == ("f", "m")
        assert given["country"].kind.levels == ("DE", "NA", "US")


def test_na_in_new_rows_follows_the_fitted_column(tmp_path):
    fitted = read_table({"sex": ["m", "f"], "country": ["NA", "US"], "size": ["S", "M"]})
    (tmp_path / "new.csv").write_text('sex,country,size\nNA,NA,"NA"\n')
    for source in (tmp_path / "new.csv", {"sex": "NA", "country": "NA", "size": "NA"}):
        new = as_table(source, fitted)
        assert [new[name].cell(0) for name in new.names] == [None, "NA", None]


@pytest.mark.parametrize(
    ("first", "warned"),
    [
        ("5.1,3.5,Iris-setosa", True),
        ("1,2,4", True),
        ("7,130.5,8", True),
        ("country,1960,1961,1962", False),
        ("1,2,3", False),  # places, or names of bins
        ("a,b,1", False),
        ("x,inf,nan", False),
    ],
)
def test_a_first_line_that_looks_like_a_row_is_said(tmp_path, first, warned):
    (tmp_path / "t.csv").write_text(f"{first}\n" + "4,5,6,7"[: 2 * first.count(",") + 1] + "\n")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read_table(tmp_path / "t.csv", kinds={first.split(",")[0]: "number"})
    said = [str(one.message) for one in caught]
    assert any("Write a line of names above it" in text for text in said) == warned, said


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["39, State-gov, Male", "50, Private, Male", "38, State-gov, Female"], "State-gov, Male"),
        (["red,round,yes", "blue,flat,no", "red,round,no"], "red, round"),
        (["a,b", "a,1", "c,2"], ""),  # one word may be a name by chance
        (["name,age", "Ann,3", "Bo,4"], ""),
    ],
)
def test_words_of_the_first_line_that_come_again_are_said(tmp_path, lines, found):
    (tmp_path / "t.csv").write_text("\n".join([*lines, ""]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read_table(tmp_path / "t.csv", kinds={lines[0].split(",")[0]: "category"})
    said = " ".join(str(one.message) for one in caught)
    assert (f"cells that come again below ({found}" in said) if found else not said


def test_a_delimiter_is_one_character(tmp_path):
    path = put(tmp_path, "a.csv", "a:b\n1:x\n2:y\n")
    assert read_table(path, delimiter=":").names == ("a", "b")
    for wrong in ("", "::", ":\n", "\n", '"', "é"):
        with pytest.raises(InvalidInput, match="one character"):
            read_table(path, delimiter=wrong)


def test_a_large_cell_is_not_an_open_quote(tmp_path):
    path, cell = tmp_path / "t.csv", "y,\n" * 2**20
    path.write_text(f'a,b\n1,x\n2,"{cell}"\n3,z\n', newline="")
    table = read_table(path, kinds={"b": "text"})
    assert table["b"].cell(1) == cell
    path.write_text(f'a,b\n1,x\n2,"{cell}\n3,z\n', newline="")
    with pytest.raises(UnreadableFile, match="a quote that is not closed"):
        read_table(path)
    # Quotes are even, but a line has a field too many.
    path.write_text(f'a,b\n1,x\n2,"{cell}"\n3,z,4\n', newline="")
    with pytest.raises(UnreadableFile) as caught:
        read_table(path)
    assert "quote" not in str(caught.value)
