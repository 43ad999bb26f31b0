"""Segments: positions that stay, merging, deleting and compacting, each against plain lists."""

from itertools import pairwise

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import LookalikeWarning
from lookalike.index.segments import (
    Segment,
    SegmentQuery,
    Segments,
    as_id,
    join_tables,
    learn_levels,
)
from lookalike.measures import Vector
from lookalike.saving.fields import Misfit
from lookalike.table import Table, as_table


def segment(measure, values, start, live=None):
    table = la.read_table({"x": [float(v) for v in values]})
    made = Segment.of(measure.encode(table), table, np.arange(start, start + len(values)))
    return made if live is None else made.without(np.flatnonzero(~np.array(live)))


@pytest.fixture(scope="module")
def measure():
    return Vector().fit(la.read_table({"x": [0.0, 1.0, 2.0, 3.0]}))


def values_of(segments):
    return [v for s in segments.segments for v in s.table["x"].values[s.live].tolist()]


def test_sizes_of_added_segments_halve(measure):
    """Adding a row at a time must not copy the others each time, nor leave many segments."""
    table = la.read_table({"x": [0.0, 1.0, 2.0, 3.0]})
    segments = Segments.of(measure.rows_, table)
    for number in range(21):
        more = la.read_table({"x": [float(number)]})
        segments = segments.added(measure.encode(more), more)
        sizes = [len(s) for s in segments.segments]
        assert sizes[0] == 4
        assert all(a >= 2 * b for a, b in pairwise(sizes[1:]))
        assert segments.next_position == 5 + number
    assert segments.positions.tolist() == list(range(25))
    assert values_of(segments) == [0.0, 1.0, 2.0, 3.0, *map(float, range(21))]


def test_rows_are_found_by_position_until_they_are_deleted(measure):
    whole = Segments((segment(measure, range(3), 0), segment(measure, range(4), 5)), 9)
    assert whole.find(6) == (whole.segments[1], 1)
    assert whole.find(2) == (whole.segments[0], 2)
    assert whole.find(3) is whole.find(4) is whole.find(9) is whole.find(-1) is None
    less = whole.without([6, 0])
    assert less.find(6) is less.find(0) is None
    assert less.find(7) == (less.segments[1], 2)
    assert whole.find(6) is not None  # the old state stays as it was
    assert less.without([]) is less
    assert (len(whole), len(less)) == (7, 5)
    assert less.positions.tolist() == [1, 2, 5, 7, 8]


def test_positions_with_holes_are_found_by_bisection(measure):
    made = segment(measure, range(5), 10, [True, False, True, False, True])
    whole = Segments((segment(measure, [9.0], 0), made), 15).compacted(4)
    last = whole.segments[-1]
    assert last.positions.tolist() == [10, 12, 14]
    assert [last.find(p) for p in range(9, 16)] == [-1, 0, -1, 1, -1, 2, -1]


def test_compaction_merges_neighbors_up_to_a_size_and_keeps_fitted_rows_apart(measure):
    parts = [segment(measure, range(4), 0), segment(measure, [5.0], 4), segment(measure, [6.0], 5)]
    whole = Segments((*parts, segment(measure, [7.0], 6)), 7)
    once = whole.compacted(2)
    assert [len(s) for s in once.segments] == [4, 2, 1]
    assert once.compacted(2) is None
    assert [len(s) for s in whole.compacted(3).segments] == [4, 3]
    assert values_of(once) == values_of(whole)
    assert once.next_position == 7
    gone = whole.without([4, 5, 6]).compacted(9)
    assert [len(s) for s in gone.segments] == [4]  # an empty group is dropped
    none = Segments((parts[0],), 4).without(range(4)).compacted(9)
    assert [len(s) for s in none.segments] == [0]  # but for the first, which has the columns


def test_a_search_sees_live_rows_copied_once(measure):
    n = 20
    whole = segment(measure, range(n), 0)
    few = whole.without(np.arange(5))
    rows, positions = few.live_rows
    assert (len(rows), positions.tolist()) == (n - 5, list(range(5, n)))
    assert few.live_rows[0] is rows
    compared = []

    class Noted(Vector):
        def nearest(self, a, b, k, **names):
            compared.append(b)
            return measure.nearest(a, b, k, **names)

    query = SegmentQuery(Noted(), measure.encode([[0.0]]), 30, np.array([-1]))
    masks = None, np.arange(n) % 2 == 0
    lists = [query.search(some, mask, None) for some in (whole, few) for mask in masks]
    assert compared[0] is whole.rows
    assert compared[2] is rows
    found = [one.indices[0][one.indices[0] >= 0].tolist() for one in lists]
    assert found == [
        list(range(start, n, step)) for start, step in ((0, 1), (0, 2), (5, 1), (6, 2))
    ]
    assert query.search(few, np.arange(n) < 5, None) is None


def test_loaded_segments_ascend(measure):
    first, second = segment(measure, range(3), 0), segment(measure, range(2), 2)
    with pytest.raises(Misfit, match="ascend"):
        Segments((first, second), 9).check_loaded({})
    with pytest.raises(Misfit, match="above 2"):
        Segments((first,), 2).check_loaded({})
    with pytest.raises(Misfit, match="at least one segment"):
        Segments((), 0).check_loaded({})
    Segments((first,), 3).check_loaded({})


def test_ids_are_python_values():
    for value, expected in ((np.int64(3), 3), (2.0, 2), (2.5, 2.5), (np.str_("a"), "a")):
        assert as_id(value) == expected
        assert type(as_id(value)) is type(expected)


def test_columns_set_aside_may_be_missing_in_some_tables():
    note = la.read_table({"note": ["a", "b"]})["note"]
    one = Table([la.read_table({"x": [1.0, 2.0]})["x"]], [note], 2)
    two = la.read_table({"x": [3.0]})
    whole = join_tables([one, two])
    assert whole["x"].values.tolist() == [1.0, 2.0, 3.0]
    assert whole["note"].values.tolist() == ["a", "b", None]
    both = join_tables([one, one])  # of one kind, so it stays a column of that kind
    assert both["note"].kind.name == note.kind.name
    assert [both["note"].cell(row) for row in range(4)] == ["a", "b", "a", "b"]
    assert join_tables([one]) is one


def test_what_one_segment_knows_of_its_rows(measure):
    whole = segment(measure, range(4), 10)
    assert (len(whole), whole.n_live, whole._span) == (4, 4, (10, 13, True))
    assert whole.allowed(None) is None
    mask = np.array([True, False, True, True])
    assert whole.allowed(mask).tolist() == mask.tolist()
    less = whole.without(np.array([2]))
    assert less.allowed(None).tolist() == [True, True, False, True]
    assert less.allowed(mask).tolist() == [True, False, False, True]
    assert (less.n_live, whole.n_live, less.fitted, less.sealed) == (3, 4, False, False)
    assert less.typical_table is less.table
    empty = Segment.of(whole.rows[:0], whole.table[:0], np.arange(0))
    assert (empty._span, empty.find(0), empty.find(-1)) == ((0, -1, True), -1, -1)
    assert set(less.__getstate__()) == {"rows", "table", "positions", "live"}
    less.check_loaded({"rows": 4})
    with pytest.raises(Misfit, match="3 rows, found 4, 4"):
        less.check_loaded({"rows": 3})


def test_ids_of_a_segment_are_those_of_live_rows(measure):
    table = la.read_table({"x": [0.0, 1.0, 2.0, 3.0]})
    made = Segment.of(measure.encode(table), table, np.arange(4))
    assert (made.id_at("x", 2), type(made.id_at("x", 2))) == (2, int)
    assert [made.find_id("x", id) for id in (0, 3, 4)] == [0, 3, -1]
    assert made.ids_among("x", [0, 4, 3]) == {0, 3}
    less = made.without(np.array([0]))
    assert [less.find_id("x", id) for id in (0, 3)] == [-1, 3]
    assert less.ids_among("x", [0, 3]) == {3}
    twice = la.read_table({"x": [1.0, 1.0]})
    again = Segment.of(measure.encode(twice), twice, np.arange(2))
    assert again.find_id("x", 1) == 1  # the last row that has it counts
    assert again.without(np.array([1])).find_id("x", 1) == -1


def test_all_rows_as_one_table_and_at_the_positions_before(measure):
    whole = Segments((segment(measure, range(3), 0), segment(measure, range(4), 5)), 9)
    assert whole.table["x"].values.tolist() == [0, 1, 2, 0, 1, 2, 3]
    less = whole.without([0, 5, 6, 7, 8])
    assert less.table["x"].values.tolist() == [1, 2]
    none = less.without([1, 2])
    assert (len(none.table), none.table.names, len(none)) == (0, ("x",), 0)
    assert whole.added_later == [whole.segments[1]]
    again = Segments.of(measure.rows_[:2], la.read_table({"x": [1.0, 2.0]}), less)
    assert (again.positions.tolist(), again.next_position) == ([1, 2], 9)
    fresh = Segments.of(measure.rows_, la.read_table({"x": [0.0, 1.0, 2.0, 3.0]}))
    assert (fresh.positions.tolist(), fresh.next_position) == ([0, 1, 2, 3], 4)


@pytest.mark.parametrize(
    ("sizes", "levels"),
    [
        (["tiny"], ("tiny", "small", "medium", "large")),
        (["mauve"], ("small", "medium", "large")),
    ],
)
def test_a_new_level_gets_its_rank_or_stays_unknown(sizes, levels):
    """The rank of a level is inferred, never the order in which levels arrive."""
    fitted = la.read_table({"size": ["small", "medium", "large"] * 4, "x": range(12)})
    with pytest.warns(LookalikeWarning, match="taken as missing"):
        new = as_table({"size": ["large", *sizes], "x": [1, 2]}, fitted, who="test")
    learned = learn_levels(join_tables([fitted, new]))
    assert learned["size"].kind.name == "order"
    assert learned["size"].kind.levels == levels
