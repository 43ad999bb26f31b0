"""Files are written whole or not at all, with the permissions a person expects.

A folder has one writer.
"""

import errno
import os
import shutil
import stat
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from lookalike._runtime.files import (
    LOCK,
    MACHINE,
    check_writable,
    locked,
    making_folder,
    replacing,
    sync_folder,
    write_text,
)
from lookalike.errors import UnwritableFile

posix = pytest.mark.skipif(os.name != "posix", reason="permissions and links as POSIX has them")


def drafts(folder):
    return list(folder.glob(".*.part"))


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old")

    def interrupted():
        with replacing(path) as file:
            file.write(b"half of the new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert drafts(tmp_path) == []


@posix
def test_the_mode_is_kept_or_follows_the_umask(tmp_path):
    path = tmp_path / "a.txt"
    before = os.umask(0o027)
    try:
        write_text(path, "one")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        write_text(path, "two")
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(before)


@posix
def test_symbolic_links_are_followed(tmp_path):
    (tmp_path / "real").mkdir()
    link, real = tmp_path / "link.txt", tmp_path / "real" / "a.txt"
    real.write_text("old")
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    dangling = tmp_path / "dangling.txt"
    dangling.symlink_to(tmp_path / "real" / "b.txt")
    write_text(dangling, "fresh")
    assert (tmp_path / "real" / "b.txt").read_text() == "fresh"


@posix
def test_a_full_disk_leaves_the_old_file_and_says_so(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    code = f"""
import resource, signal
from lookalike._runtime.files import write_text
from lookalike.errors import MissingFile, UnwritableFile
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_text({str(path)!r}, "x" * 100_000)
except UnwritableFile as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "needs space on the disk" in done.stdout
    assert path.read_text() == "old"
    assert drafts(tmp_path) == []


@posix
def test_drafts_of_processes_that_are_gone_are_removed(tmp_path):
    path = tmp_path / "a[1].txt"
    done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"],
                          capture_output=True, text=True, check=True)  # fmt: skip
    gone = tmp_path / f".{path.name}.{done.stdout.strip()}-{MACHINE + '0' * 24}.part"
    mine = tmp_path / f".{path.name}.{os.getpid()}-{MACHINE + '1' * 24}.part"
    other = tmp_path / f".b.txt.{done.stdout.strip()}-{MACHINE + '2' * 24}.part"
    elsewhere = tmp_path / f".{path.name}.{done.stdout.strip()}-{'3' * 32}.part"
    for file in (gone, mine, other, elsewhere):
        file.write_text("half")
    write_text(path, "whole")
    assert not gone.exists()
    assert mine.exists()  # of a writer that still runs
    assert other.exists()  # of another file
    assert elsewhere.exists()  # of another machine: its processes cannot be looked up here


@posix
def test_a_killed_writer_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    code = f"""
import os, signal
from lookalike._runtime.files import replacing
with replacing({str(path)!r}) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode < 0
    assert path.read_text() == "old"
    assert len(drafts(tmp_path)) == 1
    write_text(path, "new")
    assert drafts(tmp_path) == []


def test_places_that_cannot_be_written_are_found_before_the_work(tmp_path):
    with pytest.raises(UnwritableFile, match="Add a file name"):
        check_writable(tmp_path)
    with pytest.raises(UnwritableFile, match="Make the folder first"):
        check_writable(tmp_path / "none" / "a.txt")
    if os.name == "posix":
        with pytest.raises(UnwritableFile, match="an ordinary file"):
            check_writable("/dev/null")
    assert check_writable(tmp_path / "a.txt") == Path(os.path.realpath(tmp_path / "a.txt"))


@posix
@pytest.mark.skipif(os.name == "posix" and os.geteuid() == 0, reason="root may write anywhere")
def test_permissions_are_looked_at(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("old")
    file.chmod(0o400)
    with pytest.raises(UnwritableFile, match="a read-only one"):
        check_writable(file)
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(UnwritableFile, match="no permission"):
            check_writable(tmp_path / "b.txt")
    finally:
        tmp_path.chmod(0o700)


@posix
@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="disk space cannot be reserved")
def test_a_file_that_will_be_mapped_finds_a_full_disk_before_it_is_written():
    code = """
import resource, signal
from lookalike._runtime.files import scratch_file
from lookalike.errors import MissingFile, UnwritableFile
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
with scratch_file(1000, "Forest") as file:
    print(file.seek(0, 2))
try:
    with scratch_file(10**6, "Forest"):
        print("never")
except UnwritableFile as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, said = done.stdout.splitlines()
    assert first == "1000"
    assert said.startswith("Forest: needs space on the disk")
    assert "TMPDIR" in said


@posix
def test_a_folder_takes_the_place_of_a_link_and_of_another_folder(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "file").write_text("precious")
    (tmp_path / "near").symlink_to(tmp_path / "far")
    with making_folder(tmp_path / "near") as outer:
        (outer / "who").write_text("outer")
        with making_folder(tmp_path / "near") as inner:  # another writer is quicker
            (inner / "who").write_text("inner")
    assert (tmp_path / "near" / "who").read_text() == "outer"
    assert not (tmp_path / "near").is_symlink()
    assert (tmp_path / "far" / "file").read_text() == "precious"
    assert drafts(tmp_path) == []


# -- a power cut ----------------------------------------------------------------------------------
# A disk may lose whatever was not synced, in any order: what a name leads to is synced before the
# name is given, and the folder that holds the name after it.


@pytest.fixture
def order(monkeypatch):
    """What is synced, renamed and removed, in order; what is synced by its name at that moment."""
    seen, known = [], {"fsync": os.fsync, "rename": os.rename, "replace": os.replace}

    def fsync(handle):
        seen.append(("sync", Path(os.readlink(f"/proc/self/fd/{handle}"))))
        known["fsync"](handle)

    def renaming(name):
        def rename(source, target):
            known[name](source, target)
            seen.append(("rename", Path(source), Path(target)))

        return rename

    def rmtree(path, **options):
        seen.append(("remove", Path(path)))
        removed(path, **options)

    removed = shutil.rmtree
    monkeypatch.setattr(shutil, "rmtree", rmtree)
    monkeypatch.setattr(os, "fsync", fsync)
    for name in ("rename", "replace"):
        monkeypatch.setattr(os, name, renaming(name))
    return seen


linux = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="asks Linux what is open")


@linux
def test_a_file_is_synced_before_it_takes_its_name_and_its_folder_after(order, tmp_path):
    path = tmp_path / "a.txt"
    for text in ("old", "new"):
        write_text(path, text)
        (first, draft), (second, source, target), last = order
        assert (first, second, last) == ("sync", "rename", ("sync", tmp_path))
        assert draft == source != target == path
        order.clear()


@linux
def test_a_folder_takes_its_name_when_all_in_it_is_synced(order, tmp_path):
    path = tmp_path / "shard"
    for number in range(2):
        with making_folder(path) as draft:
            for name in ("a", "b"):
                (draft / name).write_bytes(b"cells")
        named = order.index(("rename", draft, path))
        synced = {what[1] for what in order[:named] if what[0] == "sync"}
        assert synced >= {draft / "a", draft / "b", draft}
        assert order[named + 1] == ("sync", tmp_path)  # before the old folder is gone
        assert [what for what, *_ in order[named + 2 :]] == ["remove"] * number
        order.clear()


@linux
@pytest.mark.parametrize("again", [False, True])
def test_an_index_in_a_folder_is_named_last(order, again, tmp_path):
    """Head and shards are on the disk, names included, before the manifest says that they are."""
    import lookalike as la
    from lookalike.index.shards.folder import HEAD, MANIFEST, SHARDS

    path = tmp_path / "index"
    index = la.index.build_index(la.read_table({"size": [1.0, 2.0, 5.0]}), path, "gower")
    if again:
        order.clear()
        index.add({"size": [7.0]})
    renamed = [(at, what[2]) for at, what in enumerate(order) if what[0] == "rename"]
    last = max(at for at, target in renamed if target == path / MANIFEST)
    shards = [at for at, target in renamed if target.parent == path / SHARDS]
    assert shards
    assert max(shards) < last
    assert ("sync", path / SHARDS) in order[max(shards) : last]
    if not again:
        heads = [at for at, target in renamed if target == path / HEAD]
        assert max(heads) < last
    assert order[last + 1 :][:1] == [("sync", path)]


@linux
def test_nothing_is_removed_before_the_manifest_without_it_lasts(order, tmp_path):
    """It may be that of a process that was killed between the rename and the sync."""
    import lookalike as la

    path = tmp_path / "index"
    index = la.index.build_index(la.read_table({"size": [1.0, 2.0, 5.0]}), path, "gower")
    index.add({"size": [1.5]})
    index.add({"size": [2.5]})  # one shard of both: the first is no longer named
    order.clear()
    index.add({"size": [3.5]})
    removed = [at for at, what in enumerate(order) if what[0] == "remove"]
    assert removed
    assert order[0] == ("sync", path)


@linux
def test_a_disk_that_fails_is_an_error_and_one_that_syncs_no_folder_is_not(tmp_path, monkeypatch):
    for number, fails in ((errno.EIO, True), (errno.EINVAL, False)):

        def fsync(handle, number=number):
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, "fsync", fsync)
        with pytest.raises(UnwritableFile, match="a disk that works") if fails else nullcontext():
            sync_folder(tmp_path)


def test_only_one_writer_at_a_time(tmp_path):
    with locked(tmp_path, "add"):
        with pytest.raises(UnwritableFile, match="add: .*another writer"), locked(tmp_path, "add"):
            pass
    with pytest.raises(KeyError), locked(tmp_path, "add"):
        raise KeyError
    with locked(tmp_path, "add"):  # an error gives the lock back as well
        pass


@posix
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
