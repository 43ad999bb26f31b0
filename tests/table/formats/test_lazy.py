"""A table in Parquet files is guessed and read as all of it in memory is."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import InvalidInput, UnreadableFile, WrongType
from lookalike.table import Kind, LazyTable, read_table
from lookalike.table.formats.lazy import columns_of, facts_of, learn_facts, table_of
from lookalike.table.formats.parquet import ParquetParts, find_files
from lookalike.table.formats.raw import of_arrow, of_values
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


# -- facts of columns, past a bound in part --------------------------------------------------------


def test_past_the_bound_numbers_are_still_numbers(monkeypatch):
    monkeypatch.setattr("lookalike.table.formats.lazy.MAX_CELLS_TO_COUNT_DISTINCT", 50)
    values = np.random.default_rng(0).normal(size=1000)
    raw = of_arrow("size", pa.array(values)).neutral()
    facts = facts_of(raw)
    facts.add(raw)
    few = facts.raw()
    assert len(few) < 20
    assert few.rows == few.count == 1000
    assert few.distinct == 1000


def test_past_the_bound_words_keep_their_shares(monkeypatch):
    monkeypatch.setattr("lookalike.table.formats.lazy.MAX_WORDS", 10)
    words = [f"w{at % 40}" for at in range(4000)]
    raw = of_arrow("word", pa.array(words)).neutral()
    facts = facts_of(raw)
    for start in range(0, 4000, 500):
        facts.add(of_arrow("word", pa.array(words[start : start + 500])).neutral())
    assert facts.raw().rows == 4000
    every = facts_of(raw, all_values=True)
    with pytest.raises(InvalidInput, match="at most 10 levels in the column 'word'"):
        every.add(raw)


def facts(*parts, name="size", **options):
    raws = [of_arrow(name, pa.array(part)).neutral() for part in parts]
    found = facts_of(raws[0], **options)
    for raw in raws:
        found.add(raw)
    return found


def test_past_the_bound_both_ends_keep_their_counts(monkeypatch):
    monkeypatch.setattr("lookalike.table.formats.lazy.MAX_CELLS_TO_COUNT_DISTINCT", 20)
    values = np.r_[np.arange(100) + 0.5, -999.0, -999.0, 5000.0]
    one, other = facts(values[:50], values[50:]), facts(values)
    for found in (one, other):
        raw = found.raw()
        assert raw.rows == raw.count == 103
        counted = dict(zip(raw.cells.to_pylist(), raw.times.tolist(), strict=True))
        assert counted[-999.0] == 2
        assert counted[5000.0] == counted[0.5] == counted[99.5] == 1
    assert other.raw().distinct == 102
    # A part that dropped its values makes the whole drop them.
    first, second = facts(values[:5]), facts(values[5:])
    first.merge(second)
    assert first.raw().rows == 103
    assert len(first.raw()) <= 9


def test_up_to_the_bound_every_count_is_exact():
    raw = facts([1, 2, 2, None], [2, 3]).raw()
    assert raw.cells.to_pylist() == [1, 2, 3, None]
    assert raw.times.tolist() == [1, 3, 1, 1]
    assert raw.distinct is None


def test_too_many_levels_are_refused(monkeypatch):
    monkeypatch.setattr("lookalike.table.formats.lazy.MAX_NUMBERS", 3)
    days = [dt.date(2020, 1, day) for day in range(1, 6)]
    for cells in ([1.0, 2.0, 3.0, 4.0], days):
        facts(cells[:3], all_values=True)
        with pytest.raises(InvalidInput, match="at most 3 levels"):
            facts(cells, all_values=True)
    assert facts(days).raw().cells.to_pylist() == [days[0], days[-1]]


def test_true_and_false():
    raw = facts([True, None, True], [False]).raw()
    assert sorted(raw.cells.drop_null().to_pylist()) == [False, True]
    assert (raw.rows, raw.count) == (4, 3)
    assert facts([True, True]).raw().cells.to_pylist() == [True]


def test_words_are_counted_over_parts_and_scaled_past_the_bound(monkeypatch):
    found = facts(["b", None, "a"], ["a", "c", None], name="x")
    raw = found.raw()
    assert raw.values() == ["b", "a", "c", None]
    assert (raw.times.tolist(), found.count, found.rows) == ([1, 2, 1, 2], 4, 6)
    one, other = facts(["a", "b"], name="x"), facts(["b", "c"], name="x")
    one.merge(other)
    assert (one.raw().values(), one.raw().times.tolist()) == (["a", "b", "c"], [1, 2, 1])
    nothing = facts(pa.array([None], pa.string()), name="x").raw()
    assert (nothing.values(), nothing.times.tolist()) == ([None], [1])
    monkeypatch.setattr("lookalike.table.formats.lazy.MAX_WORDS", 2)
    monkeypatch.setattr("lookalike.table.model.tally.MIN_VALUES_TO_MERGE", 1)
    full = facts(["a", "b", "b", "c"], ["d", "e", "f", "g"], name="x")
    assert full.full == 4  # what comes after is only counted as rows
    raw = full.raw()
    assert (raw.values(), raw.times.tolist(), raw.rows) == (["a", "b", "c"], [2, 4, 2], 8)
    late = facts(["z"], name="x")
    late.merge(full)
    assert late.full is not None
    assert late.raw().rows == 9
    declared = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["a", "b", "c"]))
    assert facts(declared, name="x").raw().values() == ["a", "b", "c"]


def test_integers_are_kept_by_their_name_and_size(monkeypatch):
    module = "lookalike.table.formats.lazy."
    monkeypatch.setattr(module + "MAX_PLAIN_INTEGERS", 20)
    monkeypatch.setattr(module + "MAX_NUMBERS", 40)
    many = np.arange(30)
    for name, cells, dropped in (
        ("size", many[:20], None), ("size", many[:21], (21, 21)), ("zip", many, None),
        ("zip", np.arange(41), (41, 41)), ("size", many + 2**53, None), ("date", many, None),
        ("size", many - 2**53 - 1, None),
    ):  # fmt: skip
        assert facts(cells, name=name).dropped == dropped, (name, len(cells))
    raw = facts(many, many).raw()
    assert raw.cells.to_pylist() == [0, 1, 2, 3, 26, 27, 28, 29]
    assert raw.times.tolist() == [2, 2, 2, 2, 2 + 44, 2, 2, 2]
    assert (raw.rows, raw.distinct) == (60, 60)
    monkeypatch.setattr(module + "MAX_CELLS_TO_COUNT_DISTINCT", 20)
    # A fraction stays among the integers, which are then no codes.
    found = facts(np.r_[many.astype(float), 14.5])
    assert found.fraction == 14.5
    assert 14.5 in found.raw().cells.to_pylist()
    assert found.raw().rows == 31
    assert facts(many.astype(float)).fraction is None
    half, rest = facts([1.0]), facts([2.5])
    half.merge(rest)
    assert half.fraction == 2.5
    assert facts([1.0, np.nan]).raw().times.tolist() == [1, 1]


def test_lists_and_other_cells_are_sampled(monkeypatch):
    monkeypatch.setattr("lookalike.table.formats.lazy.MAX_SAMPLE_LISTS", 2)
    found = facts([[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0], None], [[7.0, 8.0]])
    raw = found.raw()
    assert (raw.rows, raw.values()[0]) == (5, [1.0, 2.0])
    assert raw.times[0] == 5 - len(raw) + 1
    assert found.lists is not None
    more = facts([[9.0]])
    more.merge(found)
    assert more.rows == 6
    empty = facts(pa.array([None], pa.list_(pa.float64())))
    assert (empty.raw().values(), empty.raw().rows, empty.lists) == ([None], 1, None)
    records = facts([{"a": 1}, {"a": 2}], [{"a": 3}]).raw()
    assert (records.values(), records.times.tolist()) == ([{"a": 1}], [3])
    days = facts([dt.date(2020, 1, 3), None, dt.date(2020, 1, 1)], [dt.date(2020, 1, 2)])
    assert days.raw().cells.to_pylist() == [dt.date(2020, 1, 1), dt.date(2020, 1, 3), None]
    assert days.raw().times.tolist() == [1, 2, 1]
    every = facts([dt.date(2020, 1, 3), dt.date(2020, 1, 1), dt.date(2020, 1, 2)], all_values=True)
    assert len(every.raw()) == 3
    with pytest.raises(InvalidInput, match="'x', whose cells Arrow has no single type for"):
        facts_of(of_values("x", [{1}]))
    numbers = pa.DictionaryArray.from_arrays(pa.array([0]), pa.array([5]))
    with pytest.raises(InvalidInput, match="'x', categories of type int64"):
        facts_of(of_arrow("x", numbers))


def test_some_rows_of_a_table_are_learned():
    table = pa.table({"x": [1, 2, -9, 4], "word": ["a", " ", "b", "a"]})

    class Parts:
        def __len__(self):
            return 4

        def batches(self, start, stop):
            return (table[at : at + 1] for at in range(start, stop))

    assert [raw.values() for raw in columns_of(table, ["-9"])] == [
        [1, 2, None, 4], ["a", " ", "b", "a"],
    ]  # fmt: skip
    every = learn_facts(Parts(), {}, ("-9",))
    assert {name: (one.rows, one.count) for name, one in every.items()} == {
        "x": (4, 3), "word": (4, 3),
    }  # fmt: skip
    some = learn_facts(
        Parts(), {"x": Kind("category"), "word": Kind("order", levels=("a",))}, (), 1, 3
    )
    assert {name: (one.rows, one.all_values) for name, one in some.items()} == {
        "x": (2, True), "word": (2, False),
    }  # fmt: skip
