"""Untrusted folders: damage that was hashed again is found, and no name leads out."""

import io
import json
import shutil

import numpy as np
import pyarrow.parquet
import pytest

from fuzz.folders import KINDS, NAMES, ROWS, entry_of, replace, rows_of, sign
from lookalike.errors import InvalidInput, LookalikeError, UnreadableFile
from lookalike.index import Index, build_index
from lookalike.measures import Gower
from lookalike.table import read_table


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built") / "index"
    table = read_table(rows_of(ROWS), kinds=KINDS)
    index = build_index(table, folder, Gower(), id_column="name", shard_rows=5120)
    index.delete(["r3"])
    return folder


@pytest.fixture
def folder(built, tmp_path):
    return shutil.copytree(built, tmp_path / "index")


def change(folder, key, work):
    """Change an array of the first shard, and write its new hash."""
    page = folder / "shards" / "000000" / "shard.json"
    members = {tuple(key): name for key, name in json.loads(page.read_bytes())["members"]}
    path = page.parent / members[key]
    write(path, work(np.load(path)))
    sign(page, lambda found: entry_of(found, path.name), path)


def write(path, array):
    text = io.BytesIO()
    np.lib.format.write_array(text, array, allow_pickle=False)
    replace(path, text.getvalue())


def edit(path, change):
    page = json.loads(path.read_bytes())
    change(page)
    replace(path, json.dumps(page).encode())


def put(at, value):
    def work(array):
        array.reshape(-1)[at] = value
        return array

    return work


TITLE = ("rows", "ragged", "column title")


@pytest.mark.parametrize(
    ("key", "work"),
    [
        ((*TITLE, "offsets"), put(5, 2**40)),
        ((*TITLE, "offsets"), put(5, -3)),
        ((*TITLE, "offsets"), lambda array: array.astype(float)),
        ((*TITLE, "missing"), lambda array: array.astype(np.int64)),
        (("rows", "array", "simple"), lambda array: array[:, :1]),
        (("codes", "tiles"), put(7, 200)),
        (("codes", "tiles"), lambda array: array[:, :1]),
        (("codes", "kind"), put(0, 9)),
        (("codes", "object", "title", "form"), put(1, 255)),
        (("ids", "row"), put(0, 2**40)),
        (("ids", "row"), put(0, -1)),
        (("ids", "hash"), lambda array: array[None]),
    ],
)
def test_arrays_that_lead_elsewhere_are_found(key, work, folder):
    change(folder, key, work)
    try:
        found = Index.open(folder).check()
    except UnreadableFile:  # said even before
        return
    assert list(found) == ["000000"]


def test_a_whole_folder_has_no_faults(folder):
    assert Index.open(folder).check() == {}


@pytest.mark.parametrize("name", NAMES)
def test_names_do_not_lead_out_of_the_folder(name, folder):
    manifest = folder / "manifest.json"
    before = manifest.read_bytes()
    for changed in ({"shards": [name]}, {"deleted": name}):
        edit(manifest, lambda page, changed=changed: page.update(changed))
        with pytest.raises(LookalikeError):
            Index.open(folder)
        replace(manifest, before)
    if name != "shard.json":  # a file of the shard, though of another size
        edit(folder / "shards/000000/shard.json", lambda p: p["files"][0].__setitem__(0, name))
        with pytest.raises(UnreadableFile):
            Index.open(folder)


def test_names_write_no_control_characters_to_a_terminal(folder):
    name = "\x1b[31m0"
    (folder / "shards/000000").rename(folder / "shards" / name)
    edit(folder / "manifest.json", lambda page: page["shards"].__setitem__(0, name))
    with pytest.raises(UnreadableFile, match=r"the name '\\x1b\[31m0'"):
        Index.open(folder)


@pytest.mark.parametrize(
    "value", [10**12, -5, 1.5, "x", [], True, 10**400], ids=lambda v: f"{v}"[:9]
)
def test_counts_without_files_take_no_memory(value, folder):
    edit(folder / "shards/000000/shard.json", lambda page: page["about"].update(rows=value))
    with pytest.raises(UnreadableFile):
        Index.open(folder)


@pytest.mark.parametrize("shift", [10**12, -5, 0.5])
def test_positions_are_those_of_rows(shift, folder):
    change(folder, ("positions",), lambda array: array + shift)
    try:
        found = Index.open(folder).check()
    except UnreadableFile:  # said even before
        return
    assert list(found) == ["000000"]


def test_lists_of_deleted_rows_are_whole_numbers(folder):
    shard = folder / "shards" / json.loads((folder / "manifest.json").read_bytes())["deleted"]
    path = shard / "0.npy"
    for array in (np.array([[1]]), np.array([1.0]), np.array([-1]), np.array(["x"])):
        write(path, array)
        sign(shard / "shard.json", lambda page: page["files"][0], path)
        with pytest.raises(UnreadableFile, match=r"shards that fit together|an array of numbers"):
            Index.open(folder)
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(UnreadableFile, match="0.npy has another SHA-256"):
        Index.open(folder)


def test_cells_of_another_kind_are_said(folder):
    path = folder / "shards/000000/cells.parquet"
    cells = pyarrow.parquet.read_table(path)
    for number, values in ((2, pyarrow.array([99] * ROWS)), (3, pyarrow.array(["{"] * ROWS))):
        path.unlink()
        changed = cells.set_column(number, str(number), values)
        pyarrow.parquet.write_table(changed, path, row_group_size=4096)
        sign(path.parent / "shard.json", lambda page: entry_of(page, path.name), path)
        with pytest.raises(UnreadableFile, match=r"cells\.parquet"):
            Index.open(folder).get("r1")


def test_links_do_not_lead_a_writer_out_of_the_folder(folder, tmp_path):
    """Adding to an untrusted folder must not remove or replace files of the user."""
    mine = tmp_path / "mine"
    (mine / "letters").mkdir(parents=True)
    (mine / "letters" / "text").write_text("precious")
    generation = json.loads((folder / "manifest.json").read_bytes())["generation"] + 1
    links = [folder / "shards" / f"added-{generation:06d}-{number:06d}" for number in range(3)]
    for link in links:
        link.symlink_to(mine / "letters")
    with pytest.raises(UnreadableFile, match="a link"):
        Index.open(folder).add({**rows_of(1), "name": ["new"]})
    for link in links:
        link.unlink()
    (folder / "shards").rename(mine / "shards")
    (folder / "shards").symlink_to(mine / "shards")
    with pytest.raises(UnreadableFile, match="a link"):
        Index.open(folder).delete(["r1"])
    assert (mine / "letters" / "text").read_text() == "precious"


def test_only_shards_are_removed(folder):
    (folder / "shards" / "notes").mkdir()
    Index.open(folder).delete(["r1"])
    assert (folder / "shards" / "notes").is_dir()


def test_another_version_is_named(folder):
    edit(folder / "manifest.json", lambda page: page.update(version=1))
    with pytest.raises(UnreadableFile, match="version 2 of the folder, found version 1"):
        Index.open(folder)
    with pytest.raises((UnreadableFile, InvalidInput)):
        Index.open(folder / "shards")


def test_a_manifest_without_shards_or_of_another_head_is_no_index(folder):
    manifest = folder / "manifest.json"
    whole = manifest.read_bytes()
    edit(manifest, lambda page: page.update(shards=[]))
    with pytest.raises(UnreadableFile, match="needs at least one shard, found none. Build the"):
        Index.open(folder)
    for change, said in (
        (lambda page: page["head"].reverse(), "whole manifest.json"),
        (lambda page: page["head"].__setitem__(0, 3), "index.lookalike as it was written"),
        (lambda page: page["head"].__setitem__(1, "aa"), "index.lookalike as it was written"),
        (lambda page: page.update(shards=["000000", "000000"]), "a shard that is named twice"),
        (lambda page: page.update(format="other"), "format 'other'"),
        (lambda page: page.update(generation=0), "0 for 'generation'"),
        (lambda page: page.update(generation=True), "True for 'generation'"),
        (lambda page: page.update(shard_rows=5121), "5121 for 'shard_rows'"),
        (lambda page: page.update(next_position=2**48), f"{2**48} for 'next_position'"),
        (lambda page: page.pop("sources"), "KeyError: 'sources'"),
    ):
        replace(manifest, whole)
        edit(manifest, change)
        with pytest.raises(UnreadableFile, match=said):
            Index.open(folder)
    replace(manifest, b"[" * 9 + whole)
    with pytest.raises(UnreadableFile, match="a whole manifest"):
        Index.open(folder)
    manifest.unlink()
    with pytest.raises(UnreadableFile, match="a finished build, found an unfinished one"):
        Index.open(folder)
    shutil.rmtree(folder / "shards")
    with pytest.raises(LookalikeError, match="manifest.json"):
        Index.open(folder)
