"""Workbooks: the first sheet, as a person sees it."""

import datetime as dt
import re
import sys
import zipfile

import pytest

import lookalike as la
from lookalike.errors import LookalikeWarning, MissingExtra, UnreadableFile

openpyxl = pytest.importorskip("openpyxl")


def book(path, rows, *more):
    made = openpyxl.Workbook()
    for row in rows:
        made.active.append(row)
    for title in more:
        made.create_sheet(title)
    made.save(path)
    return path


ROWS = [
    ["when", "size", "color", None],
    [dt.datetime(2020, 1, 2), 1.5, "red", None],
    [dt.datetime(2021, 3, 4), 2.5, "#N/A", 1],
    [dt.datetime(2022, 5, 6), None, "red", 3],
    [None, None, None, None],
]


def test_a_sheet_is_read_like_any_other_table(tmp_path):
    table = la.read_table(book(tmp_path / "a.xlsx", ROWS))
    same = la.read_table(
        {
            "when": [row[0] for row in ROWS[1:4]],
            "size": [1.5, 2.5, None],
            "color": ["red", None, "red"],
            "unnamed": [None, 1, 3],
        }
    )
    assert len(table) == 3
    assert [str(kind) for kind in table.kinds.values()] == [str(k) for k in same.kinds.values()]
    assert [table.record(i) for i in range(3)] == [same.record(i) for i in range(3)]


def rewrite(path, change):
    """Write a workbook again with the XML of its first sheet changed."""
    with zipfile.ZipFile(path) as pack:
        parts = {name: pack.read(name) for name in pack.namelist()}
    name = "xl/worksheets/sheet1.xml"
    before = parts[name].decode()
    parts[name] = change(before).encode()
    assert parts[name] != before.encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as pack:
        for member, data in parts.items():
            pack.writestr(member, data)
    return path


def dimension(tag):
    return lambda xml: re.sub(r"<dimension [^>]*/>", tag, xml)


@pytest.mark.parametrize(
    "tag",
    ["A1:A3", "A1:B2", "A1", "B2:C3", "A1:XFD1048576", "A1:C2000", "C4", None],
)
def test_cells_count_not_the_dimension_tag(tmp_path, tag):
    path = book(tmp_path / "a.xlsx", ROWS)
    whole = la.read_table(path)
    rewrite(path, dimension("" if tag is None else f'<dimension ref="{tag}"/>'))
    table = la.read_table(path)
    assert table.shape == whole.shape == (3, 4)
    assert [table.record(i) for i in range(3)] == [whole.record(i) for i in range(3)]


def test_lines_of_different_lengths_without_a_dimension(tmp_path):
    rows = [["a"], [1, 2, 3], [None, None, None, 4], [5]]
    path = rewrite(book(tmp_path / "a.xlsx", rows), dimension(""))
    table = la.read_table(path)
    assert table.shape == (3, 4)
    cells = [
        [None if cell != cell else cell for cell in table.record(i).values()] for i in range(3)
    ]
    assert cells == [[1, 2, 3, None], [None, None, None, 4], [5, None, None, None]]


def test_a_small_file_cannot_stand_for_many_cells(tmp_path):
    path = book(tmp_path / "a.xlsx", ROWS)
    rewrite(path, lambda xml: xml.replace('<row r="4"', '<row r="4000000000"'))
    with pytest.raises(UnreadableFile, match="at most 1,048,576 rows"):
        la.read_table(path)
    far = "".join(f'<row r="{i}"><c r="ZZZ{i}"><v>1</v></c></row>' for i in range(9, 2000))
    rewrite(book(path, ROWS), lambda xml: xml.replace("</sheetData>", far + "</sheetData>"))
    with (
        la.config(memory_limit="100MB"),
        pytest.raises(UnreadableFile, match="18,278 columns and .*Delete the cells far to"),
    ):
        la.read_table(path)


def test_further_sheets_are_mentioned(tmp_path):
    with pytest.warns(LookalikeWarning, match="the first sheet, 'Sheet', is read, not 'More'"):
        la.read_table(book(tmp_path / "a.xlsx", ROWS, "More"))


def test_what_is_not_a_workbook(tmp_path):
    path = tmp_path / "a.xlsx"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(UnreadableFile, match="a complete excel file"):
        la.read_table(path)
    with pytest.raises(UnreadableFile, match="an empty one"):
        la.read_table(book(path, []))


def test_without_the_package_the_extra_is_named(tmp_path, monkeypatch):
    path = book(tmp_path / "a.xlsx", ROWS)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtra, match=r"lookalike\[excel\]"):
        la.read_table(path)


def test_a_delimiter_can_be_given(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a:b,c\n1:2,5\n3:4,5\n4:7,5\n")
    assert la.read_table(path, delimiter=":").names == ("a", "b,c")
    with pytest.raises(ValueError, match="one character"):
        la.read_table(path, delimiter="::")
