"""Builds that are begun, stopped and resumed; files added a shard at a time."""

import json
import os
import shutil
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import lookalike as la
from lookalike.errors import InvalidInput, LookalikeWarning, UnreadableFile
from lookalike.index import build_index
from lookalike.index.shards import build as shard_add
from lookalike.index.shards.build import begin_build, learn_head, open_build, read_plan
from lookalike.index.shards.folder import Manifest, ShardFolder
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


def test_they_are_the_rows_that_adding_in_one_call_gives(folder, more, tmp_path):
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


def test_another_process_that_has_changed_the_folder_is_noticed(folder, more):
    index = la.Index.open(folder)
    la.Index.open(folder).delete("c3")
    with pytest.raises(InvalidInput, match="a change by another process"):
        index.add_files(more)


def test_rows_unlike_the_fitted_ones_are_warned_of(folder, tmp_path):
    table = rows(300, 5, 9000)
    far = table.set_column(1, "size", pa.array(np.linspace(900, 999, 300)))
    with pytest.warns(LookalikeWarning, match="in 'size'"):
        la.Index.open(folder).add_files(cut(far, tmp_path / "far", []))


# -- builds ----------------------------------------------------------------------------------------

CODES = [f"c{i}" for i in range(1500)]
TABLE = la.read_table({"code": CODES, "x": np.arange(1500.0)}, kinds={"code": "object"})


def begun(path, source=TABLE, measure="gower"):
    """Begin or resume a build of two shards."""
    path.mkdir(exist_ok=True)
    return begin_build(source, path, la.Index(measure, id_column="code"), 1024)


@pytest.fixture
def learned(monkeypatch):
    """A list that gets an entry whenever a build learns from its rows."""
    calls = []

    def learn(*args):
        calls.append(True)
        return learn_head(*args)

    monkeypatch.setattr(shard_add, "learn_head", learn)
    return calls


def test_a_build_is_resumed_and_another_one_refused(tmp_path, learned):
    path = tmp_path / "index"
    files = sorted(cut(TABLE.to_frame("pyarrow"), tmp_path / "rows", []).iterdir())
    first = begun(path, files)
    assert first.parts == [slice(0, 1024), slice(1024, 1500)]
    assert (first.plan.shard_rows, first.head.n_fitted) == (1024, 1500)
    assert [first.path(number).name for number in first.numbers] == ["000000", "000001"]
    assert len(begun(path, files).source) == 1500
    assert learned == [True]  # what was learned is read again
    (tmp_path / "elsewhere").mkdir()
    moved = [shutil.copy(file, tmp_path / "elsewhere") for file in files]
    # The same content, wherever it is; the manifest names the files that are read.
    assert begun(path, moved).plan.sources[0]["path"] == str(moved[0])
    others = cut(TABLE[::-1].to_frame("pyarrow"), tmp_path / "others", [])
    for options in ({"measure": Gower(scale="rank")}, {"source": others}, {"source": TABLE[:1499]}):
        found = "found a build of other files or with other options. Choose another folder"
        with pytest.raises(InvalidInput, match=found):
            begun(path, **{"source": files, **options})
    (path / "index.lookalike").write_bytes(b"half")  # stopped while it was written
    begun(path, files)
    assert learned == [True, True]
    plan = read_plan(path)
    assert (plan.next_position, plan.shard_rows) == (1500, 1024)
    assert [source["path"] for source in plan.sources] == [str(file) for file in files]


def test_shards_are_written_once_and_named_when_all_are_there(tmp_path):
    path = tmp_path / "index"
    build = begun(path)
    assert build.finished(0) is None
    build.write_part(0)
    with pytest.raises(InvalidInput, match="needs all 2 shards, found no '000001'"):
        build.finish()
    build.write_part(1)
    assert [build.finished(number).number("rows") for number in (0, 1)] == [1024, 476]
    page = path / "shards" / "000001" / "shard.json"
    before = page.stat().st_ino
    build.write_part(1)
    assert page.stat().st_ino == before
    build.write_part(1, again=True)
    assert page.stat().st_ino != before
    # A shard of another length was left by another build.
    shutil.rmtree(path / "shards" / "000000")
    shutil.copytree(path / "shards" / "000001", path / "shards" / "000000")
    assert build.finished(0) is None
    build.write_part(0)
    manifest = build.finish()
    assert (manifest.generation, manifest.next_position) == (1, 1500)
    assert (manifest.shards, manifest.deleted) == (("000000", "000001"), None)
    assert (manifest.shard_rows, manifest.sources[0]["path"]) == (1024, "")
    index = la.Index.open(path)
    assert index.ids == [f"c{i}" for i in range(1500)]
    assert [s.rows.seen.tolist()[0] for s in index.state_.segments.segments] == [0, 1024]
    index.delete(["c0"])
    assert build.finish().generation == 2  # what was deleted since stays deleted
    assert build.numbers == [0, 1]
    index.compact()
    assert build.numbers == [1]


def test_ids_in_two_shards_are_refused(tmp_path):
    codes = [f"c{i}" for i in range(1499)] + ["c3"]
    table = la.read_table({"code": codes, "x": np.arange(1500.0)}, kinds={"code": "object"})
    build = replace(begun(tmp_path / "index"), source=table)
    for number in (0, 1):
        build.write_part(number)
    with pytest.raises(InvalidInput, match="ids that differ, found 'c3' twice"):
        build.finish()


def test_rows_of_a_frozen_measure_are_unseen(tmp_path):
    frozen = Gower().fit({"x": [0.0, 2000.0]}).frozen()
    table = la.read_table({"x": np.arange(1500.0)})
    head = learn_head(la.Index(frozen), table)
    assert head.n_fitted == 0
    path = tmp_path / "index"
    path.mkdir()
    build = begin_build(table, path, la.Index(frozen), 1024)
    build.write_part(1)
    segments = ShardFolder(path, build.head, None)._open("000001", first=False)
    assert set(segments.rows.seen.tolist()) == {-1}
    assert segments.positions.tolist() == list(range(1024, 1500))


def test_files_that_change_during_a_build_are_noticed(tmp_path):
    (file,) = cut(rows(30), tmp_path / "rows", []).iterdir()
    build = begun(tmp_path / "index", [file])
    build.write_part(0)
    now = file.stat()
    os.utime(file, ns=(now.st_atime_ns, now.st_mtime_ns + 1))
    with pytest.raises(InvalidInput, match="as it was when the build began, found a change"):
        build.finish()
    os.utime(file, ns=(now.st_atime_ns, now.st_mtime_ns))
    content = file.read_bytes()
    for change in (lambda: file.write_bytes(content + b" "), file.unlink):
        change()
        with pytest.raises(InvalidInput, match="found a change"):
            build.finish()
    file.write_bytes(content)
    os.utime(file, ns=(now.st_atime_ns, now.st_mtime_ns))
    assert build.finish() == build.plan


def test_a_worker_opens_the_build_that_was_begun(tmp_path):
    with pytest.raises(InvalidInput, match="needs a build in .*, found none. Begin the build"):
        open_build(tmp_path / "index", [])
    cut(rows(1500), tmp_path / "rows", [900])
    files = sorted(str(path) for path in (tmp_path / "rows").iterdir())
    path = tmp_path / "index"
    table = la.read_table(files, lazy=True)
    path.mkdir()
    begin_build(table, path, la.Index("gower"), 1024)
    opened = open_build(path, files)
    assert (len(opened.source), opened.plan.shard_rows) == (1500, 1024)
    assert opened.source[:3]["color"].kind == table[:3]["color"].kind
    with pytest.raises(InvalidInput, match="files of 1,500 rows, found 900. Use the files"):
        open_build(path, files[:1])


def test_a_plan_is_untrusted_and_its_folder_holds_nothing_else(tmp_path):
    path = tmp_path / "index"
    assert read_plan(path) is None
    path.mkdir()
    (path / ".hidden").touch()
    (path / "shards").mkdir()
    (path / "index.lookalike").touch()
    assert read_plan(path) is None
    (path / "notes.txt").touch()
    with pytest.raises(InvalidInput, match="a folder of its own, found one with 'notes.txt'"):
        read_plan(path)
    (path / "notes.txt").unlink()
    plan = Manifest(1, (3, "aa"), ("000000",), 1, None, 1024, (), "")
    plan.write(path / "plan.json")
    assert read_plan(path) == plan
    good = json.loads((path / "plan.json").read_text())
    for changed, said in (
        ({"version": 1}, "needs version 2 of the folder, found version 1"),
        ({"next_position": 0}, "0 for 'next_position'"),
        ({"shard_rows": 0}, "0 for 'shard_rows'"),
        ({"next_position": 1.0}, "1.0 for 'next_position'"),
        ({"shard_rows": True}, "True for 'shard_rows'"),
        ({"head": [3]}, "IndexError"),
        ({"sources": [3]}, "TypeError"),
    ):
        (path / "plan.json").write_text(json.dumps(good | changed))
        with pytest.raises(UnreadableFile, match=said):
            read_plan(path)
