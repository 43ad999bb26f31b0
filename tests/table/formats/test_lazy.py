"""A table in Parquet files is guessed and read as all of it in memory is."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import InvalidInput, UnreadableFile, WrongType
from lookalike.table import LazyTable, read_table
from lookalike.table.formats.lazy import table_of
from lookalike.table.formats.parquet import ParquetParts, find_files
from lookalike.table.infer.learning import learn_facts
from table.hard_columns import CASES
from table.parts import arrow, assert_same, cut


@pytest.mark.parametrize("name", ["adult", "titanic", "penguins", "sequences_of_sets_items"])
def test_published_tables_cut_anywhere(name, data_folder, tmp_path):
    rows = pyarrow.parquet.read_table(data_folder / f"{name}.parquet")
    some = cut(rows, tmp_path / "rows", [7, len(rows) // 3, len(rows) // 3, len(rows) - 1], 500)
    lazy = read_table(some, lazy=True)
    whole = read_table(rows)
    assert repr(lazy).splitlines()[1:] == repr(whole).splitlines()[1:]
    assert_same(lazy, whole)


@pytest.mark.parametrize("part", range(4))  # so that several processes share the cases
def test_hard_columns(part, tmp_path):
    for number, case in enumerate(CASES[part::4]):
        rows = arrow({case.name: list(case.cells)})
        assert_same_or_same_error(rows, cut(rows, tmp_path / str(number), [2, 5]), case)


def assert_same_or_same_error(rows, folder, case=""):
    """Check that files are read as all rows together are, or refused with the same words."""
    whole = outcome(lambda: read_table(rows))
    lazy = outcome(lambda: read_table(folder, lazy=True))
    if isinstance(whole, str):
        assert lazy == whole, case
    else:
        assert_same(lazy, whole)


def outcome(read):
    try:
        return read()
    except InvalidInput as error:
        return str(error)


WORDS = st.sampled_from(["a", " a", "b ", "NA", "n/a", "", "x", "3", "4.5", "007", "yes", "no"])
CELLS = {
    "word": WORDS,
    "number": st.one_of(st.integers(-3, 3).map(float), st.floats(allow_nan=False), st.just(-999.0)),
    "whole": st.integers(-5, 5),
    "id": st.integers(0, 40),
    "large": st.integers(2**53, 2**53 + 9),
    "truth": st.booleans(),
    "day": st.dates(dt.date(2000, 1, 1), dt.date(2000, 1, 9)),
    "tags": st.lists(st.sampled_from(["p", "q", "r"]), max_size=3),
    "vector": st.lists(st.integers(0, 4).map(float), min_size=2, max_size=2),
}
TYPES = {
    "word": pa.string(), "number": pa.float64(), "whole": pa.int64(), "id": pa.int64(),
    "large": pa.int64(), "truth": pa.bool_(), "day": pa.date32(), "tags": pa.list_(pa.string()),
    "vector": pa.list_(pa.float64()),
}  # fmt: skip


@st.composite
def cut_tables(draw):
    n = draw(st.integers(1, 30))
    names = draw(st.lists(st.sampled_from(list(CELLS)), min_size=1, max_size=4, unique=True))
    columns = {}
    for name in names:
        cells = st.lists(st.one_of(st.none(), CELLS[name]), min_size=n, max_size=n)
        columns[name] = pa.array(draw(cells), TYPES[name])
    if "number" in columns and draw(st.booleans()):
        columns["copy"] = columns["number"]
    return pa.table(columns), draw(st.lists(st.integers(0, n), max_size=4))


@given(cut_tables())
def test_kinds_and_cells_are_those_of_all_rows_together(tmp_path_factory, drawn):
    rows, at = drawn
    folder = cut(rows, tmp_path_factory.mktemp("rows") / "in", at, group=7)
    assert_same_or_same_error(rows, folder)


@given(cut_tables(), st.integers(0, 30))
def test_facts_learned_apart_merge_to_those_of_the_whole(tmp_path_factory, drawn, middle):
    rows, at = drawn
    folder = cut(rows, tmp_path_factory.mktemp("rows") / "in", at)
    parts = ParquetParts.open(find_files(folder))
    try:
        together = read_table(folder, lazy=True)
    except InvalidInput:
        return
    middle = min(middle, len(parts))
    first, second = (learn_facts(parts, {}, (), *part) for part in ((0, middle), (middle, None)))
    facts = first if first else second
    if first and second:
        for name, one in first.items():
            one.merge(second[name])
    assert table_of(parts, facts, {}, ()).schema == together.schema


# -- rows on demand --------------------------------------------------------------------------------


@pytest.fixture
def sizes(tmp_path):
    rows = pa.table({"size": np.arange(50.0), "word": [f"w{at % 3}" for at in range(50)]})
    return read_table(cut(rows, tmp_path / "rows", [10, 10, 33], group=8), lazy=True)


def test_rows_are_read_by_slice_and_by_position(sizes):
    assert isinstance(sizes, LazyTable)
    assert (len(sizes), sizes.shape, sizes.names) == (50, (50, 2), ("size", "word"))
    assert sizes[8:12]["size"].values.tolist() == [8, 9, 10, 11]
    assert sizes[::20]["size"].values.tolist() == [0, 20, 40]
    assert sizes[np.array([40, 3, 40])]["size"].values.tolist() == [40, 3, 40]
    assert len(sizes[60:]) == 0
    with pytest.raises(InvalidInput, match="rows below 50"):
        sizes[np.array([50])]


def test_batches_do_not_depend_on_the_files(sizes):
    parts = [table["size"].values.tolist() for table in sizes.batches(16)]
    assert [len(part) for part in parts] == [16, 16, 16, 2]
    assert [row for part in parts for row in part] == list(range(50))
    assert [len(column) for column in sizes.column("word", 30)] == [30, 20]


def test_kinds_and_missing_can_be_given(sizes):
    table = read_table(sizes.files, kinds={"size": "category"}, missing=["w1"], lazy=True)
    assert table.kinds["size"].name == "category"
    assert table.n_missing["word"] == 17
    assert sizes.with_kinds({"word": "aside"}).names == ("size",)
    assert sizes.with_kinds({"word": "category"}).names == ("size", "word")


# -- untrusted files -------------------------------------------------------------------------------


def test_a_category_of_the_last_file_is_known(tmp_path):
    rows = pa.table({"word": ["a"] * 30 + ["b"] * 30 + ["z", "z"]})
    lazy = read_table(cut(rows, tmp_path / "rows", [30, 60]), lazy=True)
    assert lazy.kinds["word"].levels == ("a", "b", "z")
    assert lazy[60:]["word"].values.tolist() == [2, 2]


def test_an_empty_partition_and_one_of_missing_cells_are_fine(tmp_path):
    folder = cut(pa.table({"size": [1.0, 2.0, 3.0]}), tmp_path / "rows", [1, 1])
    gaps = pa.table({"size": pa.nulls(4)})
    pyarrow.parquet.write_table(gaps, folder / "part-000-gaps.parquet")
    lazy = read_table(folder, lazy=True)
    assert (len(lazy), lazy.n_missing["size"]) == (7, 4)


def test_no_rows_at_all_is_an_error_like_that_of_a_table(tmp_path):
    pyarrow.parquet.write_table(
        pa.table({"size": pa.array([], pa.float64())}), tmp_path / "a.parquet"
    )
    with pytest.raises(InvalidInput, match="0 sample"):
        read_table(tmp_path, lazy=True)


def test_other_schemas_are_named(tmp_path):
    pyarrow.parquet.write_table(pa.table({"size": [1.0]}), tmp_path / "a.parquet")
    pyarrow.parquet.write_table(pa.table({"size": ["x"]}), tmp_path / "b.parquet")
    with pytest.raises(UnreadableFile) as found:
        read_table(tmp_path, lazy=True)
    for word in ("b.parquet", "'size'", "double", "a.parquet", "string"):
        assert word in str(found.value)
    pyarrow.parquet.write_table(pa.table({"length": [1.0]}), tmp_path / "b.parquet")
    with pytest.raises(UnreadableFile, match=r"b\.parquet.*the column 'size'"):
        read_table(tmp_path, lazy=True)
    pyarrow.parquet.write_table(pa.table({"size": [1.0], "more": [1]}), tmp_path / "b.parquet")
    with pytest.raises(UnreadableFile, match=r"b\.parquet.*also 'more'"):
        read_table(tmp_path, lazy=True)


def test_files_that_are_none(tmp_path):
    with pytest.raises(UnreadableFile):
        read_table(tmp_path / "none.parquet", lazy=True)
    with pytest.raises(UnreadableFile):
        read_table(str(tmp_path / "*.parquet"), lazy=True)
    with pytest.raises(UnreadableFile, match="none in it"):
        read_table(tmp_path, lazy=True)
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(UnreadableFile, match=r"the ending '\.csv'"):
        read_table(tmp_path / "a.csv", lazy=True)
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(UnreadableFile, match=r"a\.parquet"):
        read_table(tmp_path, lazy=True)
    with pytest.raises(WrongType):
        read_table(3, lazy=True)
    with pytest.raises(WrongType):
        read_table([3], lazy=True)


def test_a_file_that_changes_under_us(tmp_path):
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(pa.table({"size": [1.0, 2.0]}), path)
    lazy = read_table(path, lazy=True)
    pyarrow.parquet.write_table(pa.table({"size": [1.0]}), path)
    with pytest.raises(UnreadableFile, match="2 rows, as before"):
        lazy.read()


def test_columns_that_cannot_be_read_in_parts(tmp_path):
    cells = pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64()))
    pyarrow.parquet.write_table(pa.table({"map": cells}), tmp_path / "a.parquet")
    with pytest.raises(InvalidInput, match="'map'"):
        read_table(tmp_path, lazy=True)


def test_a_column_that_was_set_aside_is_compared_on_request(tmp_path):
    words = [f"w{chr(97 + i)}x{chr(122 - i)}" for i in range(24)]
    pyarrow.parquet.write_table(
        pa.table({"w": words, "x": [i % 5 for i in range(24)]}), tmp_path / "t.parquet"
    )
    table = read_table(tmp_path / "t.parquet", lazy=True)
    assert list(table.kinds) == ["x"]
    assert set(table.with_kinds({"w": "text"}).kinds) == {"w", "x"}
    assert set(table.compare_also(["w"]).kinds) == {"w", "x"}
    assert table.compare_also(["x"]) is table
    assert table.with_kinds({"w": "aside"}) is table
