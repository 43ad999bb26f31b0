"""An index in a folder answers as one in memory does, and survives what can happen to it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings

import lookalike as la
from lookalike.errors import (
    InvalidInput,
    LookalikeError,
    TooLarge,
    UnreadableFile,
    UnwritableFile,
    WrongType,
)
from lookalike.hubness import MutualProximity
from lookalike.index import build_index
from lookalike.index.shards.build import repair_folder
from lookalike.measures import Gower, Ranked, StochasticForest, Vector
from lookalike.neighbors.shards import hash_file, open_shard
from lookalike.table import read_table
from lookalike.testing.strategies import frames
from table.parts import arrow, cut


def make_rows(n=2500, seed=0):
    random = np.random.default_rng(seed)
    sizes = np.where(random.random(n) < 0.1, np.nan, random.normal(size=n).round(2))
    return pa.table(
        {
            "name": [f"n{at:05d}" for at in range(n)],
            "size": pa.array(sizes, from_pandas=True),
            "count": random.integers(0, 20, n),
            "color": random.choice(["red", "blue", "green"], n),
            "grade": random.choice(["low", "medium", "high"], n),
            "text": [f"text {at % 41} of {at % 7}" for at in range(n)],
            "tags": [[f"t{at % 5}", f"u{at % 3}"] for at in range(n)],
        }
    )


KINDS = {"text": "text", "name": "aside"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return cut(make_rows(), tmp_path_factory.mktemp("rows") / "in", [900, 900, 1700], group=512)


@pytest.fixture(scope="module")
def memory(files):
    return la.Index(Gower(scale="rank")).fit(read_table(files, kinds=KINDS, lazy=True).read())


def build(files, folder, measure=None, **options):
    table = read_table(files, kinds=KINDS, lazy=True)
    return build_index(table, folder, measure or Gower(scale="rank"), shard_rows=1024, **options)


@pytest.fixture(scope="module")
def built(files, tmp_path_factory):
    folder = tmp_path_factory.mktemp("index") / "rows"
    build(files, folder)
    return folder


@pytest.fixture
def folder(built, tmp_path):
    """Return a copy of the folder, to be changed."""
    import shutil

    return shutil.copytree(built, tmp_path / "copy")


def assert_alike(one, other, **asked):
    mine, theirs = one.search(k=6, **asked), other.search(k=6, **asked)
    assert mine.ids == theirs.ids
    assert [hit.score for hit in mine] == [hit.score for hit in theirs]
    assert [hit.row for hit in mine] == [hit.row for hit in theirs]
    assert [hit.because() for hit in mine] == [hit.because() for hit in theirs]


def test_the_same_answers(built, memory):
    index = la.Index.open(built)
    assert len(index.state_.segments.segments) == 3
    assert index.schema_ == memory.schema_
    record = {"size": 0.3, "color": "red", "text": "text 9", "tags": ["t1", "new"]}
    for asked in (
        {"query": 5},
        {"query": 2400},
        {"query": record},
        {"query": 7, "filter": {"color": "blue", "size": (">", 0)}},
        {"query": 7, "filter": {"text": ("contains", "of 3"), "tags": ("contains", "t1")}},
        {"query": 7, "filter": [3, 1500, 2499]},
        {"query": 7, "filter": lambda row: row["count"] > 15},
        {"query": 1, "like": [9, 2000], "unlike": [44]},
        {"query": 1, "weights": {"size": 3, "text": 0}},
        {"query": 1, "columns": ["color", "tags"]},
    ):
        assert_alike(index, memory, **asked)
    assert index.count({"grade": (">=", "medium")}) == memory.count({"grade": (">=", "medium")})
    assert str(index.explain(3, 1800)) == str(memory.explain(3, 1800))
    assert index.get(2222) == memory.get(2222)
    assert index.ids == memory.ids
    assert str(index.drift()) == str(memory.drift())
    several = zip(index.search([1, 2000], k=3), memory.search([1, 2000], k=3), strict=True)
    assert all(a.ids == b.ids for a, b in several)


def test_all_neighbors_are_those_of_memory_to_the_last_bit(built, memory):
    index = la.Index.open(built)
    whole = memory.measure_.neighbors(k=4)
    for n_jobs, limit in ((1, "2GB"), (2, "1MB")):
        with la.config(n_jobs=n_jobs, memory_limit=limit):
            found = index.neighbors(4)
        assert np.array_equal(found.indices, whole.indices)
        assert found.distances.tobytes() == whole.distances.tobytes()
        assert found.n_indexed == whole.n_indexed
    with la.config(memory_limit="100kB"), pytest.raises(TooLarge, match="Index.neighbors"):
        index.neighbors(4)


def test_enough_rows_for_bytes(tmp_path):
    rows = make_rows(6000, 3).drop_columns(["text", "tags"])
    table = read_table(cut(rows, tmp_path / "in", [5000]), kinds={"name": "aside"}, lazy=True)
    index = build_index(table, tmp_path / "index", Gower(), shard_rows=5120)
    memory = la.Index(Gower()).fit(table.read())
    for query in (0, 5999, 3):
        assert_alike(index, memory, query=query)
    graph, whole = index.neighbors(3), memory.measure_.neighbors(k=3)
    assert np.array_equal(graph.indices, whole.indices)
    assert graph.distances.tobytes() == whole.distances.tobytes()
    kept = [seg.rows.cache.get("codes") for seg in index.state_.segments.segments]
    assert kept[0] is not None  # mapped, not made again


@pytest.mark.parametrize(
    "measure",
    [Vector("cityblock", scale="standard"), Vector("cosine"), Ranked(), Gower(missing="midpoint"),
     StochasticForest(30, 3, on_fail="relax", random_state=0)],
    ids=repr,
)  # fmt: skip
def test_other_measures(measure, tmp_path):
    random = np.random.default_rng(1)
    rows = pa.table({f"x{j}": random.normal(size=1500).round(2) for j in range(3)})
    table = read_table(cut(rows, tmp_path / "in", [700]), lazy=True)
    index = build_index(table, tmp_path / "index", measure, shard_rows=1024)
    memory = la.Index(measure).fit(table.read())
    for query in (0, 1400, {"x0": 0.1, "x1": 2.0, "x2": -1.0}):
        assert_alike(index, memory, query=query)


@settings(max_examples=12)
@given(frames(kinds=("number", "category", "flag", "text", "set"), min_rows=2, max_rows=12))
def test_random_tables(tmp_path_factory, drawn):
    columns, given_kinds = drawn
    place = tmp_path_factory.mktemp("random")
    files = cut(arrow(columns), place / "in", [3])
    table = read_table(files, kinds=given_kinds, lazy=True)
    index = build_index(table, place / "index", Gower())
    memory = la.Index(Gower()).fit(table.read())
    for query in (0, len(table) - 1):
        assert_alike(index, memory, query=query)
    gone = index.ids[0]
    for one in (index, memory):
        one.delete(gone)
        one.add(one.table[:1].to_frame("pyarrow"))
    assert_alike(la.Index.open(place / "index"), memory, query=index.ids[-1])


def test_a_table_in_memory_and_a_frozen_measure(files, tmp_path, memory):
    table = read_table(files, kinds=KINDS, lazy=True).read()
    index = build_index(table, tmp_path / "a", Gower(scale="rank"), shard_rows=1024)
    assert_alike(index, memory, query=3)
    frozen = Gower(scale="rank").fit(table).frozen()
    index = build_index(table, tmp_path / "b", frozen, shard_rows=1024)
    assert_alike(index, la.Index(frozen).fit(table), query=3)


def test_a_measure_of_another_package_opens_in_a_fresh_process(tmp_path):
    small = read_table({"size": np.random.default_rng(0).normal(size=40)})
    frozen = MutualProximity(Vector()).fit(small).frozen()
    build_index(small, tmp_path / "index", frozen)
    place = str(tmp_path / "index")
    code = "from lookalike.index import Index; "
    code += f"print(Index.open({place!r}).search(3, k=2).ids)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str(la.Index(frozen).fit(small).search(3, k=2).ids), done.stderr


def test_auto_says_why(files, tmp_path):
    index = build(files, tmp_path / "index", "auto")
    assert index.reason_.startswith("Gower")


# -- added and deleted rows -----------------------------------------------------------------------


def test_rows_come_and_go_and_stay_so(folder, memory, files):
    memory = la.Index(Gower(scale="rank")).fit(memory.table)
    index = la.Index.open(folder)
    new = make_rows(40, seed=9).slice(0, 40)
    for one in (index, memory):
        assert one.add(new) == list(range(2500, 2540))
        one.delete([0, 1500, 2501])
        one.add([{"name": "x", "size": 1.0, "count": 3, "color": "violet", "grade": "low",
                  "text": None, "tags": ["t1"]}])  # fmt: skip
    for again in (index, la.Index.open(folder)):
        assert len(again) == len(memory) == 2538
        assert again.ids == memory.ids
        for query in (5, 2502, 2540):
            assert_alike(again, memory, query=query)
        assert_alike(again, memory, query=5, like=[2503], filter={"color": "violet"})
    assert again.get(2540)["color"] == "violet"
    with pytest.raises(InvalidInput, match="which was deleted"):
        again.get(1500)
    before = sorted(entry.name for entry in (folder / "shards").iterdir())
    again.compact()
    for after in (again, la.Index.open(folder)):
        assert after.ids == memory.ids
        assert all(seg.n_live == len(seg) for seg in after.state_.segments.segments)
        assert_alike(after, memory, query=2540)
    assert before != sorted(entry.name for entry in (folder / "shards").iterdir())
    assert after.check() == {}


def test_columns_set_aside_come_back_for_added_rows(tmp_path):
    # A constant is a category in the fitted rows, and plain cells in rows that come later.
    rows = {"unit": ["kg"] * 60, "size": np.arange(60.0) % 7, "limit": [3] * 60}
    index = build_index(read_table(rows), tmp_path / "index", "gower")
    ids = index.add({"unit": ["kg", "lb"], "size": [1.0, 2.0], "limit": [3, 4]})
    index.delete(2)
    expected = [
        {"unit": "kg", "limit": 3, "size": 1.0},
        {"unit": "lb", "limit": 4, "size": 2.0},
    ]
    assert index.records(ids) == expected
    assert la.Index.open(tmp_path / "index").records(ids) == expected
    assert index.compact().records([0, *ids]) == [index.get(0), *expected]


def test_many_small_adds_do_not_make_many_shards(folder):
    index = la.Index.open(folder)
    for at in range(12):
        index.add(make_rows(1, seed=at))
    assert len(index.state_.segments.segments) <= 3 + 4
    assert len(la.Index.open(folder)) == 2512


def test_two_processes_take_turns(folder):
    one, other = la.Index.open(folder), la.Index.open(folder)
    one.delete(3)
    with pytest.raises(InvalidInput, match="a change by another process"):
        other.delete(4)
    assert 3 in other  # it reads what it opened
    other = la.Index.open(folder)
    other.delete(4)
    assert len(la.Index.open(folder)) == 2498


def test_what_only_memory_can(folder, tmp_path):
    index = la.Index.open(folder)
    assert index.folder == folder
    for call in (index.refit, lambda: index.save(tmp_path / "x.lookalike")):
        with pytest.raises(InvalidInput):
            call()


def test_ids_of_a_column(tmp_path):
    rows = make_rows(1600)
    files = cut(rows, tmp_path / "in", [1000])
    index = build_index(files, tmp_path / "index", Gower(), id_column="name", shard_rows=1024)
    memory = la.Index(Gower(), id_column="name").fit(
        read_table(files, kinds={"name": "object"}, lazy=True).read()
    )
    assert index.schema_ == memory.schema_
    assert_alike(index, memory, query="n01200")
    assert "n01200" in index
    assert "unknown" not in index
    with pytest.raises(InvalidInput, match="an existing id"):
        index.get("unknown")
    index.delete("n01200")
    new = make_rows(1, seed=4).set_column(0, "name", [["n01200"]])
    assert index.add(new) == ["n01200"]
    with pytest.raises(InvalidInput, match="which is there already"):
        index.add(new)
    assert la.Index.open(tmp_path / "index").get("n01200")["count"] == new["count"][0].as_py()


def test_ids_that_repeat_in_another_shard(tmp_path):
    rows = make_rows(1600)
    names = rows["name"].to_pylist()
    names[1500] = names[3]
    rows = rows.set_column(0, "name", [names])
    files = cut(rows, tmp_path / "in", [])
    with pytest.raises(InvalidInput, match="'n00003' twice"):
        build_index(files, tmp_path / "index", Gower(), id_column="name", shard_rows=1024)


# -- what can happen -------------------------------------------------------------------------------


def test_a_build_goes_on_where_it_was(files, tmp_path, memory):
    folder, seen = tmp_path / "index", []

    def stop(number, shard):
        seen.append(number)
        if number == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(files, folder, done=stop)
    with pytest.raises(UnreadableFile, match="a finished build"):
        la.Index.open(folder)
    times = {p.name: p.stat().st_mtime_ns for p in (folder / "shards").iterdir()}
    assert sorted(times) == ["000000", "000001"]
    index = build(files, folder)
    assert_alike(index, memory, query=5)
    for name, at in times.items():
        assert (folder / "shards" / name).stat().st_mtime_ns == at
    with pytest.raises(InvalidInput, match="a build of other files or with other options"):
        build(files, folder, Gower())


@pytest.mark.long
def test_a_killed_build_goes_on_where_it_was(files, tmp_path, memory):
    folder = tmp_path / "index"
    code = f"""
        import os, signal
        from lookalike.measures import Gower
        from lookalike.index import build_index
        from lookalike.table import read_table
        table = read_table({str(files)!r}, kinds={KINDS!r}, lazy=True)
        def done(number, shard):
            if number == 1:
                os.kill(os.getpid(), signal.SIGKILL)
        build_index(table, {str(folder)!r}, Gower(scale="rank"), shard_rows=1024, done=done)
    """
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False)
    assert ended.returncode == -signal.SIGKILL
    first = (folder / "shards" / "000000").stat().st_mtime_ns
    index = build(files, folder)  # its lock went with it
    assert (folder / "shards" / "000000").stat().st_mtime_ns == first
    assert_alike(index, memory, query=2000)


def test_two_builds_into_one_folder(files, tmp_path):
    def again(number, shard):
        with pytest.raises(UnwritableFile, match="another writer"):
            build(files, tmp_path / "index")

    build(files, tmp_path / "index", done=again)


def test_files_that_changed_are_another_build(tmp_path):
    files = cut(make_rows(1100), tmp_path / "in", [])
    build(files, tmp_path / "index")
    cut(make_rows(1100, seed=5), tmp_path / "in", [])
    with pytest.raises(InvalidInput, match="a build of other files"):
        build(files, tmp_path / "index")


def test_a_folder_of_something_else(files, tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(InvalidInput, match=r"a folder of its own, found one with 'letter\.txt'"):
        build(files, tmp_path)
    with pytest.raises(UnreadableFile):
        la.Index.open(tmp_path)
    with pytest.raises(InvalidInput, match="a multiple of 1,024"):
        build_index(read_table({"a": [1.0, 2.0]}), tmp_path / "b", shard_rows=1000)


@pytest.mark.parametrize("name", ["cells.parquet", "0.npy"])
def test_a_damaged_shard_is_found_and_built_again(files, tmp_path, memory, name):
    build(files, tmp_path / "index")
    path = tmp_path / "index" / "shards" / "000001" / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(bytes(content))
    index = la.Index.open(tmp_path / "index")  # sizes are right
    assert index.check() == {"000001": [f"{name} has another SHA-256"]}
    assert list(repair_folder(tmp_path / "index")) == ["000001"]
    assert la.Index.open(tmp_path / "index").check() == {}
    path.write_bytes(content[:-100])
    with pytest.raises(UnreadableFile, match="--repair"):
        la.Index.open(tmp_path / "index")
    repair_folder(tmp_path / "index")
    assert_alike(la.Index.open(tmp_path / "index"), memory, query=1500)
    assert repair_folder(tmp_path / "index") == {}


def test_a_repair_needs_the_files_as_they_were(tmp_path):
    files = cut(make_rows(1100), tmp_path / "in", [])
    build(files, tmp_path / "index")
    (tmp_path / "index" / "shards" / "000000" / "cells.parquet").write_bytes(b"")
    cut(make_rows(1100, seed=5), tmp_path / "in", [])
    with pytest.raises(UnreadableFile, match="as it was"):
        repair_folder(tmp_path / "index")


def test_a_full_disk_leaves_no_damaged_shard(files, tmp_path, memory, monkeypatch):
    from lookalike.index.shards import segment as shard_segment

    real, left = shard_segment.write_cells, [1]

    def full(path, table):
        if not left:
            path.write_bytes(b"half")
            raise OSError(28, "No space left on device")
        left.pop()
        real(path, table)

    monkeypatch.setattr(shard_segment, "write_cells", full)
    with pytest.raises(UnwritableFile, match="space on the disk"):
        build(files, tmp_path / "index")
    assert [entry.name for entry in (tmp_path / "index" / "shards").iterdir()] == ["000000"]
    monkeypatch.setattr(shard_segment, "write_cells", real)
    index = build(files, tmp_path / "index")
    assert_alike(index, memory, query=1)
    monkeypatch.setattr(shard_segment, "write_cells", full)
    with pytest.raises(UnwritableFile, match="space on the disk"):
        index.add(make_rows(2))
    assert len(index) == len(la.Index.open(tmp_path / "index")) == 2500


@pytest.fixture
def small_disk(tmp_path):
    """A small file system; only an administrator may mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(place)], capture_output=True
    )
    if not mounted or mounted.returncode:
        pytest.skip("a small disk cannot be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_disk_that_is_really_full(files, small_disk, memory):
    filler = small_disk / "filler"
    filler.write_bytes(bytes(shutil.disk_usage(small_disk).free - 100_000))
    with pytest.raises(UnwritableFile, match="space on the disk"):
        build(files, small_disk / "index")
    for shard in (small_disk / "index").glob("shards/0*"):
        assert open_shard(shard).faults() == []
    filler.unlink()
    index = build(files, small_disk / "index")
    assert_alike(index, memory, query=1)
    free = shutil.disk_usage(small_disk).free
    filler.write_bytes(bytes(free - 4096))
    with pytest.raises(UnwritableFile, match="space on the disk"):
        index.add(make_rows(500, seed=9))
    assert len(index) == len(la.Index.open(small_disk / "index")) == 2500
    assert index.check() == {}
    filler.unlink()
    index.add(make_rows(5, seed=9))
    assert len(la.Index.open(small_disk / "index")) == 2505


def test_a_folder_of_another_version(folder):
    manifest = folder / "manifest.json"
    text = manifest.read_text()
    manifest.write_text(text.replace('"version": 2', '"version": 7'))
    with pytest.raises(UnreadableFile, match="version 2 of the folder, found version 7"):
        la.Index.open(folder)
    for damage in (text[:-9], text.replace('"shards"', '"shard"'), text.replace("000001", "../x")):
        manifest.write_text(damage)
        with pytest.raises(UnreadableFile):
            la.Index.open(folder)
    manifest.write_text(text)
    head = folder / "index.lookalike"
    head.write_bytes(head.read_bytes()[:-1] + b"x")
    with pytest.raises(UnreadableFile, match=r"index\.lookalike as it was written"):
        la.Index.open(folder)


def test_readers_of_an_old_state_go_on(folder):
    index = la.Index.open(folder)
    hits = index.search(3, k=3)
    index.delete(hits.ids[0])
    index.compact()
    assert hits[0].row["name"].startswith("n")


def test_threads_ask_concurrently(built, memory):
    from concurrent.futures import ThreadPoolExecutor

    index = la.Index.open(built)
    asked = list(range(0, 2500, 250))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda q: [h.row for h in index.search(q, k=3)], asked))
    assert found == [[h.row for h in memory.search(q, k=3)] for q in asked]


def test_a_draft_left_behind_is_no_shard(folder):
    (folder / "shards" / f".000009.{os.getpid()}-{'0' * 32}.part").mkdir()
    assert len(la.Index.open(folder)) == 2500
    la.Index.open(folder).delete(3)
    assert len(la.Index.open(folder)) == 2499


def test_a_shard_with_codes_that_lead_out_of_an_array_is_found(tmp_path):
    table = {"grade": ["low", "mid", "high", "mid"] * 5, "size": [float(i) for i in range(20)]}
    table = la.read_table(table, kinds={"grade": ["low", "mid", "high"]})
    index = build_index(table, tmp_path / "rows", Gower())
    assert index.check() == {}
    shard = tmp_path / "rows" / "shards" / "000000"
    page = json.loads((shard / "shard.json").read_text())
    (name,) = [file for key, file in page["members"] if key == ["rows", "array", "simple"]]
    cells = np.load(shard / name)
    cells[3] = 10**6  # a level that there is not
    np.save(shard / name, cells)
    for entry in page["files"]:  # hashes can be forged, too
        if entry[0] == name:
            entry[1:] = [(shard / name).stat().st_size, hash_file(shard / name)]
    (shard / "shard.json").write_text(json.dumps(page))
    assert index.check().keys() == {"000000"}
    assert "000000" in la.Index.open(tmp_path / "rows").check()


@pytest.mark.parametrize(
    ("options", "ids"),
    [({}, {"id_column": "name"}), ({"kinds": {"count": "category"}}, {}), ({}, {"kinds": KINDS})],
)
def test_a_table_in_memory_is_kept_in_the_kinds_that_are_learned(options, ids, tmp_path):
    """Cells that are written as one kind and read as another come back as other cells."""
    table = read_table(make_rows(60))
    here = la.Index(Gower(**options), **ids).fit(table)
    there = build_index(table, tmp_path / "folder", Gower(**options), **ids)
    assert there.records() == here.records()
    assert there.search(there.ids[3], k=4).ids == here.search(here.ids[3], k=4).ids


@pytest.mark.parametrize("source", [{"size": [1.0, 2.0]}, 7, None, [1, 2], "nothing.parquet"])
def test_what_no_index_can_be_built_from_leaves_nothing_behind(source, tmp_path):
    with pytest.raises(LookalikeError, match=r"Parquet|not found") as error:
        build_index(source, tmp_path / "new" / "index", "gower")
    assert not list(tmp_path.iterdir())
    if isinstance(source, dict):
        assert "found dict. Pass lookalike.read_table" in str(error.value)


def test_a_frame_is_no_list_of_files(tmp_path):
    frame = make_rows(50).to_pandas()
    with pytest.raises(WrongType, match="found DataFrame"):
        build_index(frame, tmp_path / "index", "gower")
    assert not list(tmp_path.iterdir())
