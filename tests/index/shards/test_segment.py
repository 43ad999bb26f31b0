"""A shard as a segment: rows, numbers, cells and ids come back from files as they were."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import InvalidInput, UnreadableFile
from lookalike.index.segments import Segment
from lookalike.index.shards import segment as segments
from lookalike.index.shards.segment import (
    ShardTable,
    check_segment,
    open_segment,
    refuse_repeats,
    write_cells,
    write_segment,
)
from lookalike.measures import Gower
from lookalike.neighbors.shards import write_shard

N = 25
FORGED = ("folder", "about", "members", "files", "number", "path")


def cells(n=N):
    rng = np.random.default_rng(0)
    return {
        "id": [f"n{i}" for i in range(n)],
        "size": [None if i % 7 == 3 else float(i) for i in range(n)],
        "town": rng.choice(["Bern", "Zug"], n).tolist(),
        "note": [None if i == 4 else f"some words {i}" for i in range(n)],
        "tags": [["a", str(i % 3)] for i in range(n)],
        "place": rng.normal(size=(n, 3)).tolist(),
    }


@pytest.fixture
def table():
    kinds = {"id": "text", "note": "text", "tags": "set", "place": "vector"}
    return la.read_table(cells(), kinds=kinds)


@pytest.fixture
def small_groups(monkeypatch):
    monkeypatch.setattr(segments, "ROWS_PER_GROUP", 10)


@pytest.fixture
def written(table, tmp_path):
    """The measure, the segment in memory, and the same as a shard."""
    measure = Gower().fit(table)
    positions = np.arange(N)
    inside = Segment(measure.rows_, table, positions, np.ones(N, bool))
    shard = write_segment(tmp_path / "000000", measure, inside, "id", fitted=True)
    return measure, inside, open_segment(measure, shard, table[:0], N, None)


def shown(cell):
    """A cell as text; a set in order, since equal sets may list their items differently."""
    return str(sorted(cell, key=str) if isinstance(cell, frozenset) else cell)


def assert_same_rows(table, other):
    assert len(table) == len(other)
    for name in table.names:
        for i in range(len(table)):
            assert shown(table[name].cell(i)) == shown(other[name].cell(i))


def test_cells_are_read_by_column_by_row_and_by_group(table, tmp_path, small_groups):
    write_cells(tmp_path / "cells", table)
    mapped = ShardTable(tmp_path / "cells", table[:0], N)
    assert len(mapped) == len(mapped["size"]) == N
    assert_same_rows(mapped[[24, 3, 3, 11, 0]], table[[24, 3, 3, 11, 0]])
    assert_same_rows(mapped[8:13], table[8:13])
    assert len(mapped[:0]) == 0
    for name in table.names:
        column = mapped[name]
        for row in (0, 3, 4, 9, 10, 24, -1, -25):
            assert str(column.cell(row)) == str(table[name].cell(row))
        assert str(column.take([2, 20]).cell(1)) == str(table[name].cell(20))
    mapped.check()
    with pytest.raises(UnreadableFile, match="other rows or columns"):
        ShardTable(tmp_path / "cells", table[:0], N + 1)["size"].cell(0)


def test_few_columns_and_groups_are_kept(table, tmp_path, small_groups, monkeypatch):
    monkeypatch.setattr(segments, "MAX_CACHED_COLUMNS", 2)
    monkeypatch.setattr(segments, "MAX_CACHED_GROUPS", 2)
    write_cells(tmp_path / "cells", table)
    file = ShardTable(tmp_path / "cells", table[:0], N)._file
    first = file.column(0)
    file.column(1)
    assert file.column(0) is first  # used again: column 1 is now the least recent
    file.column(2)
    assert list(file.columns) == [0, 2]
    assert file.column(0) is first
    for number in (0, 1, 2):
        file.group(number)
    assert list(file.groups) == [1, 2]


def test_rows_are_compared_as_in_memory(written):
    measure, inside, mapped = written
    assert mapped.positions.tolist() == inside.positions.tolist()
    assert mapped.rows.seen.tolist() == mapped.positions.tolist()
    assert mapped.fitted
    assert mapped.sealed
    assert mapped.typical_table is mapped.table
    np.testing.assert_array_equal(
        measure.block(mapped.rows, measure.rows_), measure.block(inside.rows, inside.rows)
    )
    rows, positions = mapped.select(np.arange(N) % 5 == 0)
    assert (len(rows), positions.tolist()) == (5, [0, 5, 10, 15, 20])


def test_rows_that_the_measure_was_not_fitted_to_are_unseen(written, table):
    measure, _, mapped = written
    for fitted, n_fitted in ((False, N), (True, 0)):
        shard = replace(mapped.shard, about={**mapped.shard.about, "fitted": fitted})
        opened = open_segment(measure, shard, table[:0], n_fitted, None)
        assert opened.fitted is fitted
        assert opened.rows.seen.tolist() == [-1] * N


def test_every_array_of_rows_has_their_number(written, table):
    """Parts of ragged columns have one entry per item, codes are of tiles: other lengths."""
    measure, _, mapped = written
    check_segment(measure, mapped, "id")
    for key in (("positions",), ("rows", "array", "simple"), ("rows", "ragged", "column tags",
                "missing")):  # fmt: skip
        whole = np.load(mapped.shard.path(mapped.shard.members[key]))
        for other in (whole[:-1], np.concatenate([whole, whole[:1]]), np.array(whole.ravel()[0])):
            forged = SimpleNamespace(**{name: getattr(mapped.shard, name) for name in FORGED})
            forged.array = lambda *asked, key=key, other=other: (
                other if asked == key else mapped.shard.array(*asked)
            )
            with pytest.raises(UnreadableFile, match="rows"):
                open_segment(measure, forged, table[:0], N, None)


def test_ids_are_found_by_their_hash(written):
    _, _, mapped = written
    assert [mapped.find_id("id", f"n{i}") for i in (0, 7, 24)] == [0, 7, 24]
    assert mapped.find_id("id", "n25") == -1
    assert mapped.id_at("id", 3) == "n3"
    assert mapped.ids_among("id", ["n3", "x", "n24", "y"]) == {"n3", "n24"}
    mapped.live[3] = False
    assert mapped.find_id("id", "n3") == -1
    assert mapped.ids_among("id", ["n3", "n24"]) == {"n24"}


def test_a_shard_is_sealed_when_it_is_large(written, monkeypatch):
    _, _, mapped = written
    added = replace(mapped, fitted=False)
    assert not added.sealed
    monkeypatch.setattr(segments, "MIN_SEALED_ROWS", N)
    assert added.sealed
    monkeypatch.setattr(segments, "MIN_SEALED_ROWS", N + 1)
    assert not added.sealed
    assert replace(mapped, sample=mapped.table[:2]).typical_table is not mapped.table


def test_hashes_do_not_depend_on_the_process_and_repeats_are_refused(table, tmp_path):
    hashes = np.array([segments._hash(f"n{i}") for i in range(N)], np.uint64)
    assert len(set(hashes.tolist())) == N
    order = np.argsort(hashes, kind="stable")
    arrays = {("ids", "hash"): hashes[order], ("ids", "row"): order}
    kinds = {column.name: column.kind for column in table.columns + table.aside}
    others = la.read_table(cells() | {"id": [f"m{i}" for i in range(N)]}, kinds=kinds)
    # The third has the hashes of the others, but other ids.
    shards = [
        write_shard(tmp_path / str(number), arrays, {"rows": N}, {segments.CELLS: writer})
        for number, writer in enumerate(
            [partial(write_cells, table=one) for one in (table, table, others)]
        )
    ]
    refuse_repeats(shards[::2], table[:0], "id", "build")
    with pytest.raises(InvalidInput, match=r"'n\d+' twice"):
        refuse_repeats(shards[:2], table[:0], "id", "build")
    refuse_repeats(shards[:1], table[:0], "id", "build")
    refuse_repeats(shards[:2], table[:0], None, "build")  # positions are ids
