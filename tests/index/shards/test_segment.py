"""A shard as a segment: rows, numbers, cells and ids come back from files as they were."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import InvalidInput, UnreadableFile
from lookalike.index.segments import Segment
from lookalike.index.shards import segment as segments
from lookalike.index.shards.segment import (
    ShardTable,
    check_codes,
    check_lengths,
    id_hashes,
    map_numbers,
    open_segment,
    pack_numbers,
    refuse_repeats,
    write_cells,
    write_segment,
)
from lookalike.measures import Gower
from lookalike.neighbors.shards import write_shard

N = 25


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
    positions = np.arange(100, 100 + N)
    inside = Segment(measure.rows_, table, positions, np.ones(N, bool))
    shard = write_segment(tmp_path / "000000", measure, inside, "id", fitted=True)
    return measure, inside, open_segment(measure, shard, table[:0], fitted=True, sample=None)


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


@pytest.mark.parametrize(
    ("numbers", "packed"),
    [([5, 6, 7], {"p": 5}), ([], {"p": 0}), ([-1, -1], {"p": None}), ([-1], {"p": -1})],
)
def test_ranges_and_unseen_rows_need_no_array(numbers, packed, tmp_path):
    arrays, page = pack_numbers("p", np.array(numbers, np.int64))
    assert (arrays, page) == ({}, packed)
    shard = write_shard(tmp_path / "0", {("x",): np.zeros(1)}, page, {})
    assert map_numbers(shard, "p", len(numbers)).tolist() == numbers


def test_other_numbers_are_an_array(tmp_path):
    arrays, page = pack_numbers("p", np.array([3, 5, 6]))
    assert page == {}
    shard = write_shard(tmp_path / "0", arrays, page, {})
    assert map_numbers(shard, "p", 3).tolist() == [3, 5, 6]


def test_rows_are_compared_as_in_memory(written):
    measure, inside, mapped = written
    assert mapped.positions.tolist() == inside.positions.tolist()
    assert mapped.rows.seen.tolist() == list(range(N))
    assert mapped.fitted
    assert mapped.sealed
    assert mapped.typical_table is mapped.table
    np.testing.assert_array_equal(
        measure.block(mapped.rows, measure.rows_), measure.block(inside.rows, inside.rows)
    )
    check_codes(measure, mapped.shard, mapped.rows.seen)
    check_lengths(mapped.shard, N)
    with pytest.raises(UnreadableFile, match="26 rows"):
        check_lengths(mapped.shard, N + 1)
    rows, positions = mapped.view(None)
    assert rows is mapped.rows
    mask = np.arange(N) % 5 == 0
    rows, positions = mapped.view(mask)
    assert (len(rows), positions.tolist()) == (5, [100, 105, 110, 115, 120])


def test_every_array_of_rows_has_their_number():
    """Parts of ragged columns have one entry per item, codes are of tiles: other lengths."""

    def check(*key, shape=(N + 1,)):
        shard = SimpleNamespace(
            members={key: None}, array=lambda *key: np.zeros(shape), folder=Path("000000")
        )
        check_lengths(shard, N)

    for key in (("rows", "array", "size"), ("rows", "part", "a", "array", "x"),
                ("rows", "ragged", "tags", "missing")):  # fmt: skip
        check(*key, shape=(N,))
        check(*key, shape=(N, 3))
        for shape in ((), (N - 1,), (N + 1, N)):
            with pytest.raises(UnreadableFile, match=f"{N} rows, found an array of shape "):
                check(*key, shape=shape)
    for key in (("codes", "array", "size"), ("rows", "ragged", "tags", "values"),
                ("rows", "ragged", "array", "values", "x")):  # fmt: skip
        check(*key)


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
    hashes = id_hashes(table["id"])
    assert len(set(hashes.tolist())) == N
    assert (
        id_hashes(table["id"][:1])[0] == hashes[0] if hasattr(table["id"], "__getitem__") else True
    )
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
