"""A shard is there whole or not at all, and a damaged one is found out."""

import errno
import json

import numpy as np
import pytest

from lookalike._runtime.files import MACHINE, locked
from lookalike.errors import MissingFile, UnreadableFile, UnwritableFile, WrongType
from lookalike.neighbors.shards import open_shard, write_shard

ARRAYS = {
    ("rows", "x"): np.arange(12.0).reshape(4, 3),
    ("rows", "empty"): np.empty((4, 0)),
    ("codes",): np.arange(4, dtype=np.uint8),
}


@pytest.fixture
def place(tmp_path):
    write_shard(tmp_path / "0", ARRAYS, {"rows": 4}, {"note.txt": lambda p: p.write_text("hi")})
    return tmp_path / "0"


def test_arrays_come_back_mapped_and_writable_in_memory_only(place):
    shard = open_shard(place)
    assert dict(shard.about) == {"rows": 4}
    for key, array in ARRAYS.items():
        found = shard.array(*key)
        assert (found.dtype, found.shape) == (array.dtype, array.shape)
        assert np.array_equal(found, array)
    shard.array("rows", "x")[0, 0] = 99  # a kernel wants arrays that could be written
    assert open_shard(place).array("rows", "x")[0, 0] == 0
    assert shard.path("note.txt").read_text() == "hi"
    assert shard.faults() == []


def test_writing_again_replaces_it(place):
    write_shard(place, {("x",): np.zeros(2)}, {"rows": 2})
    assert open_shard(place).about["rows"] == 2
    assert [entry.name for entry in place.parent.iterdir()] == ["0"]


def test_a_flipped_bit_and_a_cut_file_are_found(place):
    shard = open_shard(place)
    path = shard.path(shard.members["rows", "x"])
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert open_shard(place).faults() == [f"{path.name} has another SHA-256"]
    path.write_bytes(whole[:-5])
    with pytest.raises(UnreadableFile, match="bytes instead of"):
        open_shard(place)
    path.unlink()
    with pytest.raises(UnreadableFile, match="is not there"):
        open_shard(place)


def change_page(place, **changes):
    page = json.loads((place / "shard.json").read_text())
    (place / "shard.json").write_text(json.dumps({**page, **changes}))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": 99}, "format 1, found format 99"),
        ({"members": [[["x"], "../../etc/passwd"]]}, "file name"),
        ({"members": [[["x"], "9.npy"]]}, "members without a file"),
        ({"files": 3}, "a page of the shard"),
        ({"about": None}, "a page of the shard"),
    ],
)
def test_a_page_is_trusted_with_nothing(place, changes, said):
    change_page(place, **changes)
    with pytest.raises(UnreadableFile) as found:
        open_shard(place)
    assert said in str(found.value)


def test_an_array_that_is_none(place):
    shard = open_shard(place)
    path = shard.path(shard.members[("codes",)])
    size = path.stat().st_size
    path.write_bytes(b"x" * size)
    with pytest.raises(UnreadableFile):
        open_shard(place).array("codes")


def test_python_objects_are_not_written(tmp_path):
    with pytest.raises(WrongType, match="arrays of numbers"):
        write_shard(tmp_path / "0", {("x",): np.array([None, "a"], dtype=object)}, {})
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_what_was_there(place):
    def full(path):
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(UnwritableFile, match="space on the disk, found no space left"):
        write_shard(place, {("x",): np.zeros(2)}, {}, {"more": full})
    assert open_shard(place).about["rows"] == 4
    assert [entry.name for entry in place.parent.iterdir()] == ["0"]


def test_drafts_of_processes_that_are_gone_are_removed(place):
    draft = place.parent / f".0.{2**22 + 1}-{MACHINE + '0' * 24}.part"
    draft.mkdir()
    (draft / "x").write_text("half")
    write_shard(place, {("x",): np.zeros(2)}, {"rows": 2})
    assert not draft.exists()


def test_one_writer_at_a_time(tmp_path):
    with locked(tmp_path, "build"):
        with pytest.raises(UnwritableFile, match="another writer"), locked(tmp_path, "build"):
            pass
    with locked(tmp_path, "build"):  # and then the next
        pass
    (tmp_path / ".lock").write_text(str(2**22 + 1))  # left by a process that is no more
    with locked(tmp_path, "build"):
        pass


def test_a_folder_without_its_page_is_no_shard(place):
    (place / "shard.json").unlink()
    with pytest.raises(MissingFile, match="file not found"):
        open_shard(place)
