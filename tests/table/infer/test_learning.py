"""Facts of columns, counted in parts; past a bound they are kept in part."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from lookalike.errors import InvalidInput
from lookalike.table.formats.raw import of_arrow
from lookalike.table.infer.learning import facts_of


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
