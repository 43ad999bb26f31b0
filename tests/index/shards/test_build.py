"""Adding files to a folder, a shard at a time: the rows that adding them in one call gives."""

import numpy as np
import pyarrow as pa
import pytest

import lookalike as la
from lookalike.errors import InvalidInput, LookalikeWarning
from lookalike.index import build_index
from lookalike.index.shards import build as shard_add
from lookalike.index.shards.folder import ShardFolder
from lookalike.measures import Gower
from table.parts import cut


def rows(n, seed=0, start=0):
    rng = np.random.default_rng(seed)
    size = rng.normal(3, 1, n)
    size[rng.random(n) < 0.1] = np.nan
    return pa.table(
        {
            "code": [f"c{start + at}" for at in range(n)],
            "size": pa.array(size, from_pandas=True),
            "color": rng.choice(["red", "blue", "green"], n),
        }
    )


def shown(hits):
    return [(hit.id, hit.distance, hit.similarity, hit.row) for hit in hits]


@pytest.fixture
def folder(tmp_path):
    files = cut(rows(2500), tmp_path / "rows", [700, 1500])
    made = build_index(files, tmp_path / "index", Gower(), id_column="code", shard_rows=1024)
    return made.folder


@pytest.fixture
def more(tmp_path):
    return cut(rows(2600, 1, 9000), tmp_path / "more", [1000])


def test_they_are_the_rows_that_adding_at_once_gives(folder, more, tmp_path):
    index = la.Index.open(folder)
    assert index.add_files(more) == 2600
    opened = la.Index.open(folder)
    assert len(index) == len(opened) == 5100
    assert len(opened.state_.segments.segments) == 3 + 3
    memory = la.Index(Gower(), id_column="code").fit(rows(2500))
    memory.add(rows(2600, 1, 9000))
    for asked in ("c17", "c9700", {"size": 2.0, "color": "red"}):
        assert shown(index.search(asked, 7)) == shown(memory.search(asked, 7))
        assert shown(opened.search(asked, 7)) == shown(memory.search(asked, 7))
    assert opened.check() == {}
    opened.delete(["c9700", "c17"])
    memory.delete(["c9700", "c17"])
    opened.add_files(cut(rows(30, 2, 20_000), tmp_path / "last", []))
    memory.add(rows(30, 2, 20_000))
    assert shown(la.Index.open(folder).search("c9701", 9)) == shown(memory.search("c9701", 9))


def test_an_addition_that_was_stopped_has_not_happened(folder, more, monkeypatch):
    index, write = la.Index.open(folder), shard_add.write_segment
    before = index.search("c5", 5).ids

    def stop(path, *args, **about):
        if path.name.endswith("2"):
            raise KeyboardInterrupt
        return write(path, *args, **about)

    monkeypatch.setattr(shard_add, "write_segment", stop)
    with pytest.raises(KeyboardInterrupt):
        index.add_files(more)
    monkeypatch.undo()
    assert len(index) == len(la.Index.open(folder)) == 2500
    assert index.search("c5", 5).ids == before
    index.add({"code": ["x"], "size": [1.0], "color": ["red"]})
    left = {path.name for path in (folder / "shards").iterdir()}
    assert left == set(ShardFolder.open(folder).manifest.shards)
    assert index.add_files(more) == 2600
    assert len(la.Index.open(folder)) == 5101


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (rows(3, 3, 4), "'c4' again, which is there already"),
        (pa.concat_tables([rows(1500, 3, 9000), rows(3, 4, 9001)]), "'c9001' twice"),
        (rows(5, 3, 9000).drop_columns("color"), "no column 'color'"),
        (rows(0), "0 rows"),
    ],
    ids=["there", "twice", "column", "empty"],
)
def test_what_cannot_be_added_changes_nothing(folder, tmp_path, table, said):
    files = cut(table, tmp_path / "bad", [])
    index = la.Index.open(folder)
    with pytest.raises(InvalidInput, match=said):
        index.add_files(files)
    assert len(index) == len(la.Index.open(folder)) == 2500


def test_only_folders_take_files(more):
    with pytest.raises(InvalidInput, match="an index in a folder"):
        la.Index("gower").fit(rows(10)).add_files(more)


def test_another_process_that_has_changed_the_folder_is_noticed_at_once(folder, more):
    index = la.Index.open(folder)
    la.Index.open(folder).delete("c3")
    with pytest.raises(InvalidInput, match="a change by another process"):
        index.add_files(more)


def test_rows_unlike_the_fitted_ones_are_warned_of(folder, tmp_path):
    table = rows(300, 5, 9000)
    far = table.set_column(1, "size", pa.array(np.linspace(900, 999, 300)))
    with pytest.warns(LookalikeWarning, match="in 'size'"):
        la.Index.open(folder).add_files(cut(far, tmp_path / "far", []))
