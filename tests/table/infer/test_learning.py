"""Facts of columns, counted in parts; past a bound they are kept in part."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from lookalike.errors import InvalidInput
from lookalike.table import Kind
from lookalike.table.formats.raw import of_arrow, of_values
from lookalike.table.infer.learning import columns_of, facts_of, learn_facts


def test_past_the_bound_numbers_are_still_numbers(monkeypatch):
    monkeypatch.setattr("lookalike.table.infer.learning.MAX_CELLS_TO_COUNT_DISTINCT", 50)
    values = np.random.default_rng(0).normal(size=1000)
    raw = of_arrow("size", pa.array(values)).neutral()
    facts = facts_of(raw)
    facts.add(raw)
    few = facts.raw()
    assert len(few) < 20
    assert few.rows == few.count == 1000
    assert few.distinct == 1000


def test_past_the_bound_words_keep_their_shares(monkeypatch):
    monkeypatch.setattr("lookalike.table.infer.learning.MAX_WORDS", 10)
    words = [f"w{at % 40}" for at in range(4000)]
    raw = of_arrow("word", pa.array(words)).neutral()
    facts = facts_of(raw)
    for start in range(0, 4000, 500):
        facts.add(of_arrow("word", pa.array(words[start : start + 500])).neutral())
    assert facts.raw().rows == 4000
    every = facts_of(raw, all_values=True)
    every.add(raw)
    with pytest.raises(InvalidInput, match="at most 10 levels in the column 'word'"):
        every.raw()


def facts(*parts, name="size", **options):
    raws = [of_arrow(name, pa.array(part)).neutral() for part in parts]
    found = facts_of(raws[0], **options)
    for raw in raws:
        found.add(raw)
    return found


def test_past_the_bound_both_ends_keep_their_counts(monkeypatch):
    monkeypatch.setattr("lookalike.table.infer.learning.MAX_CELLS_TO_COUNT_DISTINCT", 20)
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
    monkeypatch.setattr("lookalike.table.infer.learning.MAX_NUMBERS", 3)
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
    monkeypatch.setattr("lookalike.table.infer.learning.MAX_WORDS", 2)
    monkeypatch.setattr("lookalike.table.infer.learning.MIN_WORDS_TO_MERGE", 1)
    full = facts(["a", "b", "b", "c"], ["d", "e", "f", "g"], name="x")
    assert full.full == (3, 4)  # what comes after is only counted as rows
    raw = full.raw()
    assert (raw.values(), raw.times.tolist(), raw.rows) == (["a", "b", "c"], [2, 4, 2], 8)
    late = facts(["z"], name="x")
    late.merge(full)
    assert late.full is not None
    assert late.raw().rows == 9
    declared = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["a", "b", "c"]))
    assert facts(declared, name="x").raw().values() == ["a", "b", "c"]


def test_integers_are_kept_by_their_name_and_size(monkeypatch):
    module = "lookalike.table.infer.learning."
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
    monkeypatch.setattr("lookalike.table.infer.learning.MAX_SAMPLE_LISTS", 2)
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
