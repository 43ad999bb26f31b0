"""One writer per folder."""

import os

import pytest

from lookalike._runtime.locks import LOCK, locked
from lookalike.errors import UnwritableFile


def test_only_one_writer_at_a_time(tmp_path):
    with locked(tmp_path, "add"):
        with pytest.raises(UnwritableFile, match="add: .*another writer"), locked(tmp_path, "add"):
            pass
    with pytest.raises(KeyError), locked(tmp_path, "add"):
        raise KeyError
    with locked(tmp_path, "add"):  # an error gives the lock back as well
        pass


@pytest.mark.skipif(os.name != "posix", reason="links as POSIX has them")
def test_a_link_in_place_of_the_lock_is_not_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("kept")
    (tmp_path / LOCK).symlink_to(victim)
    with pytest.raises(UnwritableFile, match="add: .*a lock in .*a link"), locked(tmp_path, "add"):
        pass
    assert victim.read_text() == "kept"


def test_a_folder_that_is_not_there_has_no_lock(tmp_path):
    folder = tmp_path / "file"
    folder.write_text("")
    with pytest.raises(UnwritableFile, match="a lock in"), locked(folder, "add"):
        pass
