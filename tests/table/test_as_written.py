"""What was written comes back: reading a table changes no cell and makes no two of them one.

What "as written" means depends on what a column holds:

- category, order, answers in two words, text: the string, letter by letter, spaces around it too;
- number: the same number (the nearest float64), however it is written; dates: the same moment, to
  the microsecond; true and false: the same truth value;
- set: the same items; sequence: the same items in the same order;
- series, histogram, vector: the same numbers in the same order;
- graph: the same labelled nodes and undirected edges; object: the cell itself.

A number in brackets is that number. A limit of detection ("<0.006") is half of it, and no other
cell of the column is that half; the note says so.

A cell that is blank, or a word that means missing beside the others ("n/a", "unknown"), is missing.
"""

import contextlib
import csv
import datetime as dt
import gzip
import io
import json
import math
import re

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.cli.output import write
from lookalike.errors import InvalidInput
from lookalike.measures import Gower
from lookalike.table import Graph, read_table
from lookalike.table.infer.vocabulary import MISSING, known_scales, vocabulary

# Two names for one step of a scale that this package knows; their writers meant two things.
SHARED = [
    ("tier", ["bronze", "silver", "gold", "platinum", "diamond"]),
    ("finding", ["mild", "normal", "moderate", "severe"]),
    ("skill", ["novice", "beginner", "intermediate", "expert"]),
    ("skill", ["beginner", "advanced", "expert", "master"]),
    ("amount", ["few", "a few", "some", "many"]),
    ("amount", ["few", "some", "many", "a lot"]),
    ("price", ["cheap", "budget", "expensive"]),
    ("mode", ["easy", "hard", "expert", "insane"]),
    ("harm", ["minor", "major", "serious"]),
    ("harm", ["slight", "minimal", "severe"]),
    ("day", ["Mon", "Monday", "Tue", "Wed"]),
    ("level", ["HIGH", "high", "low"]),
    ("level", ["high", "high ", "low"]),
    ("member", ["Yes", "yes", "no"]),
]


def columns_of(values):
    return st.lists(values | st.none(), min_size=3, max_size=8)


@st.composite
def spelled(draw, words):
    """A word as people write it: in another case, with spaces around it."""
    word = draw(words)
    change = draw(st.sampled_from([str, str.upper, str.capitalize]))
    ends = st.sampled_from(["", "", "", " ", "\t"])
    return draw(ends) + change(word) + draw(ends)


@st.composite
def scale_words(draw):
    scale = draw(st.sampled_from(known_scales()))
    return draw(columns_of(spelled(st.sampled_from([w for level in scale.levels for w in level]))))


LETTERS = st.characters(categories=["Lu", "Ll", "Lo"], include_characters=" _-'")
FLAG_WORDS = st.sampled_from([pair for pair in vocabulary().flags if "true" not in pair])
FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=64)
# Seconds in a float64 have microseconds from 1906 to 2033.
MOMENTS = st.datetimes(dt.datetime(1906, 1, 1), dt.datetime(2033, 1, 1))
ITEMS = st.text(LETTERS, min_size=1, max_size=4)
NODES = st.dictionaries(st.integers(0, 3), st.sampled_from("ab"), min_size=1, max_size=4)

WORDS = {
    "scales": scale_words(),
    "answers": FLAG_WORDS.flatmap(lambda pair: columns_of(spelled(st.sampled_from(pair)))),
    "letters": columns_of(spelled(st.text(LETTERS, min_size=1, max_size=6))),
}
TYPED = {
    "number": columns_of(FLOATS),
    "date": columns_of(MOMENTS),
    "flag": columns_of(st.booleans()),
    "set": columns_of(st.frozensets(ITEMS, max_size=3)),
    "sequence": columns_of(st.lists(ITEMS, max_size=4)),
    "series": columns_of(st.lists(FLOATS, min_size=1, max_size=4)),
    "vector": columns_of(st.lists(FLOATS, min_size=3, max_size=3)),
    "histogram": columns_of(st.lists(st.floats(0, 9), min_size=2, max_size=2)),
    "graph": columns_of(NODES.flatmap(lambda nodes: st.just({"nodes": nodes, "edges": []}))),
    "object": columns_of(st.dictionaries(ITEMS, st.integers(0, 9), min_size=1)),
    "category": columns_of(st.integers(0, 2**53) | st.text(LETTERS, min_size=1)),
}
GIVEN = {"date": "date", "flag": "flag", "number": "number"}  # the others are named as they are


def means_missing(cell):
    if cell is None or not isinstance(cell, str):
        return cell is None
    bare = cell.strip()
    return bare == "" or bare in MISSING or bare.casefold() in vocabulary().missing


def rows_of(cells):
    return {"c": cells, "at": [float(i) for i in range(len(cells))]}


def exported(form, hits, column):
    """Yield (id, cell) of the hits as the shell writes them, read as the column's cells are."""
    out = io.StringIO(newline="")
    with contextlib.redirect_stdout(out):
        write(form, hits.cells, hits.to_dict)
    like = next((cell for row in range(len(column)) if (cell := column.cell(row)) is not None), "")
    if form == "json":
        cells = [(hit["id"], hit["row"]["c"]) for hit in json.loads(out.getvalue())["hits"]]
    else:
        lines = csv.DictReader(io.StringIO(out.getvalue(), newline=""))
        cells = [(int(line["id"]), line["c"]) for line in lines]
    for row, cell in cells:
        if cell is None or (form == "csv" and cell == ""):
            yield row, None
        elif isinstance(like, dt.datetime):
            yield row, dt.datetime.fromisoformat(cell)
        elif isinstance(like, bool) and form == "csv":
            yield row, {"true": True, "false": False}[cell]
        else:
            text = form == "csv" and not isinstance(like, str)
            yield row, json.loads(cell) if text else cell


def every_way_back(data, kinds=None):
    """The cells of column "c" as tables, indexes, hits, added rows and frames return them."""
    table = read_table(data, kinds=kinds)
    n = len(table)
    yield "cell", [table["c"].cell(row) for row in range(n)]
    yield "record", [table.record(row)["c"] for row in range(n)]
    table = table.compare_by("at") if table["c"].kind.name == "object" else table
    index = la.Index(Gower()).fit(table)
    yield "get", [index.get(row)["c"] for row in range(n)]
    found = {hit.id: hit.row["c"] for hit in index.search(0, k=n - 1)}
    yield "hits", [table["c"].cell(0), *(found[row] for row in range(1, n))]
    added = index.add(table)
    yield "add", [index.get(id)["c"] for id in added]
    hits = la.search(table, row=0, k=n - 1)
    for form in ("csv", "json"):
        found = dict(exported(form, hits, table["c"]))
        yield form, [table["c"].cell(0), *(found[row] for row in range(1, n))]
    # Frames have no sets and no arrays of their own, and None is NaN there.
    for backend in ("pandas", "polars", "pyarrow"):
        cells = table.to_frame(backend)["c"]
        cells = cells.to_pylist() if backend == "pyarrow" else cells.to_list()
        yield backend, [None if cell is None or cell != cell else cell for cell in cells]


@settings(max_examples=60)
@given(st.sampled_from(sorted(WORDS)).flatmap(WORDS.get))
def test_words_come_back_letter_by_letter(cells):
    assume(any(cell is not None and cell.strip() for cell in cells))
    check_words(cells, rows_of(cells))


def plain(cell, kind):
    """A typed cell in the one form that all ways back are compared in."""
    if cell is None:
        return None
    if kind == "number":
        return float(cell)
    if kind == "set":
        return sorted(cell)
    if kind in ("series", "vector", "histogram"):
        return [float(value) for value in cell]
    if kind == "sequence":
        return list(cell)
    if isinstance(cell, Graph):
        return dict(cell.nodes), cell.edges
    if kind == "graph" and isinstance(cell, dict):
        return cell["nodes"], frozenset(cell["edges"])
    return cell.to_pydatetime() if hasattr(cell, "to_pydatetime") else cell


@pytest.mark.parametrize("kind", TYPED)
@given(st.data())
def test_typed_cells_come_back(kind, data):
    cells = data.draw(TYPED[kind])
    assume(not all(cell is None for cell in cells))
    if kind == "category":  # in a column that has both, 1 is what a file would say: "1"
        cells = [str(c) if c is not None and any(isinstance(o, str) for o in cells) else c
                 for c in cells]  # fmt: skip
        assume(not any(means_missing(c) and c is not None for c in cells))
    wanted = [plain(cell, kind) for cell in cells]
    for way, back in every_way_back(rows_of(cells), {"c": GIVEN.get(kind, kind)}):
        if kind in ("graph", "object") and way in ("polars", "pyarrow", "csv", "json"):
            continue  # written as text there, as ``to_frame`` says
        if kind == "date" and way == "pandas":
            back = [None if c is None or c != c else c for c in back]
        assert [plain(cell, kind) for cell in back] == wanted, way


# -- every format ----------------------------------------------------------------------------------
# Each is written by another library than reads it, in the form that a person would find there.


def text_of(cell):
    """A cell in a text file; nothing between two commas is missing."""
    if isinstance(cell, bool):
        return str(cell).lower()
    return "" if cell is None else cell.isoformat(" ") if isinstance(cell, dt.datetime) else cell


def json_of(cell):
    if isinstance(cell, frozenset):
        return sorted(cell)
    return cell.isoformat() if isinstance(cell, dt.datetime) else cell


def write_text_file(path, data, delimiter):
    text = io.StringIO(newline="")
    rows = zip(*([text_of(cell) for cell in cells] for cells in data.values()), strict=True)
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(data)
    writer.writerows(rows)
    content = text.getvalue().encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def write_excel(path, data):
    from openpyxl import Workbook

    book = Workbook()
    for row in [list(data), *zip(*data.values(), strict=True)]:
        book.active.append(row)
    book.save(path)


def arrow_of(data):
    cells = [[sorted(c) if isinstance(c, frozenset) else c for c in some] for some in data.values()]
    return pa.table(dict(zip(data, map(pa.array, cells), strict=True)))


def write_stream(path, data):
    table = arrow_of(data)
    with pyarrow.ipc.new_stream(path, table.schema) as stream:
        stream.write_table(table)


def json_rows(data):
    return [
        dict(zip(data, map(json_of, row), strict=True)) for row in zip(*data.values(), strict=True)
    ]


FORMATS = {
    "c.csv": lambda path, data: write_text_file(path, data, ","),
    "c.csv.gz": lambda path, data: write_text_file(path, data, ";"),
    "c.tsv": lambda path, data: write_text_file(path, data, "\t"),
    "c.json": lambda path, data: path.write_text(json.dumps(json_rows(data))),
    "columns.json": lambda path, data: path.write_text(
        json.dumps({name: list(map(json_of, cells)) for name, cells in data.items()})
    ),
    "c.jsonl": lambda path, data: path.write_text("\n".join(map(json.dumps, json_rows(data)))),
    "c.parquet": lambda path, data: pyarrow.parquet.write_table(arrow_of(data), path),
    "c.feather": lambda path, data: pyarrow.feather.write_feather(arrow_of(data), path),
    "c.arrow": write_stream,
    "c.xlsx": write_excel,
}
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": lambda data: pl.DataFrame(arrow_of(data)),
    "arrow": arrow_of,
    "duckdb": lambda data: duckdb.from_arrow(arrow_of(data)),
}
FLAT = ("c.csv", "c.csv.gz", "c.tsv", "c.xlsx")  # a cell is a text or a number there
NESTED = {"set", "sequence", "series", "vector", "histogram"}


def source_in(form, data, folder):
    if form in FRAMES:
        return FRAMES[form](data)
    FORMATS[form](folder / form, data)
    return folder / form


def test_every_format_is_written():
    from lookalike.table.formats.files import FORMATS as KNOWN

    endings = {"." + name.removesuffix(".gz").rpartition(".")[2] for name in FORMATS}
    # Arrays of numpy hold numbers and no words: see formats/test_files.py.
    assert {KNOWN[ending] for ending in endings} == set(KNOWN.values()) - {"npy"}


def check_words(cells, source):
    kind = read_table(source)["c"].kind
    for way, back in every_way_back(source):
        for cell, got in zip(cells, back, strict=True):
            if got is None or (got == "" and kind.reading is not None):  # "": no x beside some
                assert means_missing(cell), (way, kind)
            elif isinstance(got, bool):
                assert cell.strip().casefold() == str(got).casefold(), (way, kind)
            else:
                assert got == cell, (way, kind)
        here = {cell for cell, got in zip(cells, back, strict=True) if isinstance(got, str)}
        assert len(here - {None}) <= len({got for got in back if got is not None})


@settings(max_examples=60)
@given(st.sampled_from([*FORMATS, *FRAMES]), st.sampled_from(sorted(WORDS)).flatmap(WORDS.get))
def test_words_come_back_from_every_format(tmp_path_factory, form, cells):
    assume(any(not means_missing(cell) for cell in cells))
    if form == "c.xlsx":  # a cell of blanks is an empty one there
        cells = [cell if cell is None or cell.strip() else None for cell in cells]
    check_words(cells, source_in(form, rows_of(cells), tmp_path_factory.getbasetemp()))


def as_excel_keeps(cell):
    """Days are a float there, to whole seconds; openpyxl writes 16 digits of a number."""
    if isinstance(cell, dt.datetime):
        return cell.replace(microsecond=0)
    if isinstance(cell, float):  # the largest numbers would be rounded to more than any number is
        kept = float(f"{cell:.15g}")
        return kept if math.isfinite(kept) else math.copysign(1e308, cell)
    return cell


@pytest.mark.parametrize("kind", ["number", "date", "flag", *sorted(NESTED)])
@given(st.data())
def test_typed_cells_come_back_from_every_format(tmp_path_factory, kind, data):
    forms = [form for form in (*FORMATS, *FRAMES) if not (kind in NESTED and form in FLAT)]
    form, cells = data.draw(st.sampled_from(forms)), data.draw(TYPED[kind])
    assume(not all(cell is None for cell in cells))
    if form == "c.xlsx":
        cells = list(map(as_excel_keeps, cells))
    wanted = [plain(cell, kind) for cell in cells]
    source = source_in(form, rows_of(cells), tmp_path_factory.getbasetemp())
    for way, back in every_way_back(source, {"c": kind}):
        back = [None if cell is None or cell is pd.NaT else cell for cell in back]
        assert [plain(cell, kind) for cell in back] == wanted, (form, way)


def test_numbers_written_in_several_ways_are_equal_as_numbers():
    cells = ["1.50", "1.5", " 2", "2.0", "-0.25", "1e3"]
    table = read_table(rows_of(cells))
    assert table.kinds["c"].name == "number"
    assert [table["c"].cell(row) for row in range(6)] == [float(cell) for cell in cells]


SPANS = st.timedeltas(dt.timedelta(-999), dt.timedelta(999))
FRACTIONS = st.integers(1, 10**6).map(lambda n: n / 1024)


@settings(max_examples=40)
@given(st.lists(SPANS, min_size=2, max_size=8, unique=True))
def test_durations_come_back_from_a_file_as_from_the_frame(tmp_path_factory, cells):
    frame = pd.DataFrame({"c": pd.to_timedelta(cells), "at": [1.5 * i for i in range(len(cells))]})
    path = tmp_path_factory.getbasetemp() / "spans.csv"
    frame.to_csv(path, index=False)
    for table in (read_table(frame), read_table(path)):
        assert table.kinds["c"].label == "time"
        back = [table["c"].cell(row) for row in range(len(cells))]
        pairs = zip(back, cells, strict=True)
        assert all(abs(a - b) < dt.timedelta(microseconds=2) for a, b in pairs)


@settings(max_examples=40)
@given(st.lists(st.tuples(FRACTIONS, st.sampled_from(["{}", "[{}]", "<{}"])), min_size=3))
def test_marked_numbers_come_back_and_no_two_become_one(pairs):
    cells = [form.format(value) for value, form in pairs]
    table = read_table(rows_of(cells))
    back = [table["c"].cell(row) for row in range(len(cells))]
    if table.kinds["c"].name != "number":
        return  # every cell stays the word that it is
    for (value, form), cell in zip(pairs, back, strict=True):
        assert cell == (value / 2 if form == "<{}" else value)
    limits = {cell for (_, form), cell in zip(pairs, back, strict=True) if form == "<{}"}
    assert limits.isdisjoint(c for (_, f), c in zip(pairs, back, strict=True) if f != "<{}")


@given(st.lists(st.integers(0, 10**6).map(str), min_size=2, max_size=8))
def test_digits_kept_as_text_come_back_as_text(cells):
    for frame in (pd.DataFrame, pl.DataFrame):
        table = read_table(frame(rows_of(cells)))
        assert [table["c"].cell(row) for row in range(len(cells))] == cells


@pytest.mark.parametrize(("name", "levels"), SHARED, ids=lambda value: str(value)[:40])
def test_spellings_of_one_level_that_both_occur_stay_two(name, levels):
    rows = {name: levels * 4, "at": list(range(4 * len(levels)))}
    table = read_table(rows)
    assert table.kinds[name].name == "category"
    index = la.Index(Gower()).fit(rows)
    for row, level in enumerate(levels):
        assert index.get(row)[name] == level
        assert index.count({name: level}) == 4
    assert len(np.unique(table[name].values)) == len(levels)
    with pytest.raises(InvalidInput, match="levels from low to high"):
        read_table(rows, kinds={name: "order"})


def test_the_reason_names_the_two_spellings():
    kind = read_table({"tier": SHARED[0][1] * 4}).kinds["tier"]
    assert re.search(r"'platinum' and 'diamond' are one level of the scale 'medals'", kind.note)
    assert "kinds={'tier': [lowest, ..., highest]}" in kind.note


def test_one_spelling_of_each_level_is_still_an_order():
    for levels in (["bronze", "silver", "gold", "diamond"], ["Low", "MEDIUM", " high"]):
        kind = read_table({"tier": levels * 4, "at": list(range(4 * len(levels)))}).kinds["tier"]
        assert (kind.name, kind.levels) == ("order", tuple(levels))


def test_spaces_around_a_word_are_kept_and_need_not_be_asked_for():
    rows = {"work": [" Private", " State", " Private"], "age": [30, 40, 31]}
    index = la.Index(Gower()).fit(rows)
    assert index.get(0)["work"] == " Private"
    assert index.count({"work": "Private"}) == index.count({"work": " Private"}) == 2
    both = la.Index(Gower()).fit({"work": ["a", " a", "b"], "age": [1, 2, 3]})
    assert [both.count({"work": word}) for word in ("a", " a", "b")] == [1, 1, 1]
    new = both.add([{"work": "b ", "age": 4}])
    assert both.get(new[0])["work"] == "b "


def test_every_scale_is_an_order_by_its_first_spellings():
    for scale in known_scales():
        levels = [level[0] for level in scale.levels]
        assert len({spelling for level in scale.levels for spelling in level}) == sum(
            map(len, scale.levels)
        ), scale.what
        assert scale.least <= len(levels)
        assert all(word in scale.rank for word in scale.needs)


def test_infinite_numbers_come_back():
    table = read_table({"c": [1.0, math.inf, -math.inf], "at": [1, 2, 3]})
    assert [table["c"].cell(row) for row in range(3)] == [1.0, math.inf, -math.inf]
