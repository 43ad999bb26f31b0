"""Untrusted folders, and builds that only look like the one that was stopped."""

import json
import os

import numpy as np
import pyarrow as pa
import pytest

import lookalike as la
from lookalike.errors import InvalidInput, LookalikeError, UnreadableFile, UnwritableFile
from lookalike.index import build_index
from lookalike.measures import Gower
from lookalike.neighbors.shards import allow_files, hash_file
from lookalike.table import read_table
from table.parts import cut


def make_rows(n, seed=0):
    random = np.random.default_rng(seed)
    return pa.table(
        {
            "name": [f"n{at}" for at in range(n)],
            "size": random.normal(size=n).round(2),
            "color": random.choice(["red", "blue", "green"], n),
            "note": random.choice(["a b", "c d", "e f"], n),
        }
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return cut(make_rows(1100), tmp_path_factory.mktemp("rows") / "in", [])


@pytest.fixture
def folder(files, tmp_path):
    build_index(files, tmp_path / "index", Gower(), id_column="name", shard_rows=1024)
    return tmp_path / "index"


# -- the same build --------------------------------------------------------------------------------


def weighed(middle):
    """Weights that the repr of a measure shortens."""
    return {f"column_{at:02d}": (middle if at == 30 else 1.5) for at in range(60)}


def test_only_the_same_request_goes_on(files, tmp_path):
    table = read_table(files, lazy=True)
    one, other = (Gower().fit(table[:stop]).frozen() for stop in (100, 900))
    wide = read_table({name: [1.0, 2.0, 4.0] for name in weighed(1.5)})
    assert repr(one) == repr(other)
    assert repr(Gower(weights=weighed(1.5))) == repr(Gower(weights=weighed(9.0)))
    pairs = (
        ((table, one), (table, other)),
        ((wide, Gower(weights=weighed(1.5))), (wide, Gower(weights=weighed(9.0)))),
        ((table, Gower()), (read_table(files, kinds={"note": "text"}, lazy=True), Gower())),
        ((table, Gower()), (read_table(files, missing=["red"], lazy=True), Gower())),
    )
    for number, (first, second) in enumerate(pairs):
        place = tmp_path / str(number)
        build_index(first[0], place, first[1], shard_rows=1024)
        build_index(first[0], place, first[1], shard_rows=1024)
        with pytest.raises(InvalidInput, match="other files or with other options"):
            build_index(second[0], place, second[1], shard_rows=1024)


def test_a_finished_build_is_not_done_again_after_rows_were_deleted(folder, files):
    index = la.Index.open(folder)
    index.delete([f"n{at}" for at in range(9)])
    index.compact().add(make_rows(1).set_column(0, "name", [["new"]]))
    before, seen = sorted((folder / "shards").iterdir()), []
    again = build_index(
        files, folder, Gower(), id_column="name", shard_rows=1024, done=lambda n, s: seen.append(n)
    )
    assert sorted((folder / "shards").iterdir()) == before
    assert (len(again), seen) == (1092, [1])  # 000000 was replaced


def test_files_that_are_written_to_during_a_build_are_noticed(tmp_path):
    files = cut(make_rows(1100), tmp_path / "in", [])

    def write_again(number, shard):
        cut(make_rows(1100, seed=7), tmp_path / "in", [])

    with pytest.raises(InvalidInput, match="as it was when the build began"):
        build_index(files, tmp_path / "index", Gower(), shard_rows=1024, done=write_again)
    with pytest.raises(UnreadableFile, match="an unfinished one"):
        la.Index.open(tmp_path / "index")


def test_a_folder_of_something_else_is_left_as_it_is(files, tmp_path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(InvalidInput, match="a folder of its own"):
        build_index(files, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


# -- others at the same folder ---------------------------------------------------------------------


def test_who_has_it_open_reads_on_while_shards_are_replaced(folder):
    reader, writer = la.Index.open(folder), la.Index.open(folder)
    expected = writer.get("n1090")
    for at in range(3):
        writer.delete([f"n{at}", f"n{1090 + at}"])
        writer.compact()
    assert not (folder / "shards" / "000000").exists()
    assert reader.get("n1090") == expected
    assert reader.search("n2", k=1)[0].row["name"].startswith("n")


def test_a_folder_built_again_in_the_same_place_is_not_written_to(folder, files):
    old = la.Index.open(folder)
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    build_index(files, folder, Gower(scale="rank"), id_column="name", shard_rows=1024)
    assert old.generation == la.Index.open(folder).generation
    with pytest.raises(InvalidInput, match="a change by another process"):
        old.delete("n3")


def test_many_ids_are_looked_up_together(folder, monkeypatch):
    from lookalike.index.shards.segment import ShardSegment

    asked = []
    find = ShardSegment.find_id
    monkeypatch.setattr(
        ShardSegment, "find_id", lambda self, c, id: asked.append(id) or find(self, c, id)
    )
    names = [f"x{at}" for at in range(50)]
    index = la.Index.open(folder)
    index.add(make_rows(50, seed=3).set_column(0, "name", [names]))
    assert asked == []  # no hash is that of one that is there
    with pytest.raises(InvalidInput, match="'n7' again"):
        index.add(make_rows(1).set_column(0, "name", [["n7"]]))


# -- untrusted -------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="links as POSIX has them")
@pytest.mark.parametrize(
    "name", [".lock", "shards/deleted-000002", "shards/added-000002-000002", "shards/000000/0.npy"]
)
def test_links_in_a_folder_are_not_followed(folder, tmp_path, name):
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "file").write_text("precious")
    link = folder / name
    link.unlink(missing_ok=True)
    link.symlink_to(victim if name.endswith("000002") else victim / "file")
    with pytest.raises(LookalikeError, match="a link"):
        la.Index.open(folder).delete("n3")
    with pytest.raises(LookalikeError, match="a link"):
        build_index(make_table(), folder)
    assert (victim / "file").read_text() == "precious"


def make_table():
    return read_table({"size": [1.0, 2.0, 4.0]})


@pytest.mark.skipif(os.name != "posix", reason="links as POSIX has them")
def test_a_lock_does_not_empty_the_file_behind_a_link(tmp_path):
    from lookalike._runtime.files import locked

    (tmp_path / "file").write_text("precious")
    (tmp_path / ".lock").symlink_to(tmp_path / "file")
    with pytest.raises(UnwritableFile, match="a link"), locked(tmp_path, "test"):
        pass
    assert (tmp_path / "file").read_text() == "precious"


def change_page(path, change):
    page = json.loads(path.read_text())
    change(page)
    path.write_text(json.dumps(page))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("manifest.json", lambda page: page.update(generation=-1)),
        ("manifest.json", lambda page: page.update(next_position=3)),
        ("manifest.json", lambda page: page.update(shard_rows=0)),
        ("manifest.json", lambda page: page.update(shards=page["shards"] * 2)),
        ("manifest.json", lambda page: page.update(shards=["..", "000000"])),
        ("manifest.json", lambda page: page.update(sources=[{}])),
        ("shards/000000/shard.json", lambda page: page["about"].update(rows=10**13)),
        ("shards/000000/shard.json", lambda page: page["about"].update(rows="many")),
        ("shards/000000/shard.json", lambda page: page["about"].pop("rows")),
        ("shards/000000/shard.json", lambda page: page["members"].pop(0)),
        ("shards/000000/shard.json", lambda page: page["members"].pop()),
        ("shards/000000/shard.json", lambda page: page["members"][0].__setitem__(0, [])),
        ("shards/000000/shard.json", lambda page: page["members"][0].__setitem__(0, ["rows"])),
        ("shards/000000/shard.json", lambda page: page["members"][1][0].__setitem__(1, 3)),
    ],
)
def test_pages_that_say_something_else_are_refused_in_words(folder, name, change):
    change_page(folder / name, change)
    with pytest.raises(LookalikeError):  # nothing else, and no memory for what is only said
        la.Index.open(folder).search("n3", k=2)


def forge(shard, name, write):
    """Write a file of a shard again, and its hash, as a forger can."""
    write(shard / name)

    def entered(page):
        for entry in page["files"]:
            if entry[0] == name:
                entry[1:] = [(shard / name).stat().st_size, hash_file(shard / name)]

    change_page(shard / "shard.json", entered)


def test_a_check_looks_at_codes_cells_and_ids(tmp_path):
    import pyarrow.parquet as pq

    index = build_index(
        read_table({**make_rows(4100).to_pydict()}, kinds={"name": "object"}),
        tmp_path / "index",
        Gower(),
        id_column="name",
        shard_rows=8192,
    )
    shard = index.folder / "shards" / "000000"
    page = json.loads((shard / "shard.json").read_text())
    members = {tuple(key): name for key, name in page["members"]}
    cells = pq.read_table(shard / "cells.parquet")
    at = [column.name for column in index.sample.columns].index("color")
    wrong = cells.set_column(at, str(at), [np.full(4100, 99)])
    forgeries = {
        members["codes", "tiles"]: lambda path: np.save(path, np.load(path) ^ 1),
        members["ids", "row"]: lambda path: np.save(path, np.load(path) + 10**6),
        "cells.parquet": lambda path: pq.write_table(wrong, path, row_group_size=4096),
    }
    assert index.check() == {}
    for name, write in forgeries.items():
        whole, page = (shard / name).read_bytes(), (shard / "shard.json").read_text()
        forge(shard, name, write)
        assert la.Index.open(index.folder).check().keys() == {"000000"}, name
        (shard / name).write_bytes(whole)
        (shard / "shard.json").write_text(page)
    assert index.check() == {}


@pytest.mark.skipif(os.name != "posix", reason="limits as POSIX has them")
def test_more_files_are_allowed_where_many_shards_need_them():
    import resource

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] != resource.RLIM_INFINITY and before[1] < 300:
        pytest.skip("no more are to be had here")
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, before[1]))
        allow_files(150)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 250
        allow_files(10)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 250
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
