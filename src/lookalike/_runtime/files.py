"""Files are written beside, synced and renamed: a reader sees the old one or the new one, whole.

Every file that lookalike writes goes through ``replacing``. The draft carries the name of its
target, the number of the process that writes it and a mark of its machine; drafts of processes that
are gone from this machine are removed by the next write. A folder has one writer (``locked``).
"""

import contextlib
import errno
import glob
import hashlib
import os
import platform
import re
import shutil
import stat
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from lookalike.errors import UnwritableFile

# Several machines, or containers, may write to one disk: only processes of this one can be seen.
MACHINE = hashlib.sha256(platform.node().encode("utf-8", "replace")).hexdigest()[:8]
MAX_RENAMES = 20  # attempts to take a name that other processes take at the same moment
_DRAFT = re.compile(rf"^\.(?P<name>.+)\.(?P<process>\d+)-{MACHINE}[0-9a-f]{{24}}\.part$")
MAX_NAME_BYTES = 200  # file systems allow 255, and the name of a draft is about 50 longer


def check_writable(path: str | os.PathLike[str], follow: bool = True) -> Path:
    """Return where a file would be written, or raise if it cannot be.

    Called before long work, so that its result is not lost at the end.

    Parameters
    ----------
    path : str or path
    follow : bool
        Whether the file that a symbolic link points to is the one that is replaced, instead of the
        link. Not in untrusted folders: links there lead anywhere.
    """
    who = f"File {str(path)!r:.300}"
    try:
        return _find_target(Path(path), who, follow)
    except (OSError, ValueError) as error:  # a name that no file can have, a disk that fails
        if isinstance(error, UnwritableFile):
            raise
        found = getattr(error, "strerror", None) or str(error)
        hint = "Choose another name or another place"
        raise UnwritableFile(who, "a name that a file can have", found, hint) from error


def _find_target(path: Path, who: str, follow: bool) -> Path:
    target = Path(os.path.realpath(path))
    if not follow:
        # The folder may be reached by links, the file itself must not be one: it is replaced.
        target = Path(os.path.realpath(path.parent)) / path.name
        if target.is_symlink():
            return target
    if target.is_dir():
        raise UnwritableFile(who, "the name of a file", "a folder", "Add a file name")
    if not target.parent.is_dir():
        found = f"no folder {str(target.parent)!r}"
        raise UnwritableFile(who, "a folder that exists", found, "Make the folder first")
    # A rename would replace /dev/null, or a named pipe, by an ordinary file.
    if target.exists() and not stat.S_ISREG(target.stat().st_mode):
        raise UnwritableFile(who, "an ordinary file", "a device or a pipe", "Name an ordinary file")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        found = f"no permission in {str(target.parent)!r}"
        hint = "Choose another folder, or ask for the permission"
        raise UnwritableFile(who, "a folder that can be written", found, hint)
    if target.exists() and not os.access(target, os.W_OK):
        hint = "Choose another name, or make the file writable"
        raise UnwritableFile(who, "a file that can be written", "a read-only one", hint)
    return target


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], follow: bool = True) -> Iterator[BinaryIO]:
    """Open a draft for writing; it takes the place of the file when the block ends well.

    The new file keeps the permissions of the one it replaces, or follows the umask. Whatever goes
    wrong (an error, a full disk, ctrl-c), the old file stays as it was.

    Parameters
    ----------
    path, follow : as in ``check_writable``
    """
    target = check_writable(path, follow)
    # The mode of a link says nothing about who may read.
    kept = None if target.is_symlink() or not target.exists() else target.stat().st_mode
    with _draft_of(target, f"File {str(path)!r}", "the old file") as draft:
        # Readable only by those who may read the old file, less what the umask takes.
        allowed = 0o666 if kept is None else stat.S_IMODE(kept) & 0o666
        with open(draft, "xb", opener=lambda path, flags: os.open(path, flags, allowed)) as file:
            if kept is not None:  # the umask may have taken bits that the old file has
                os.chmod(draft, stat.S_IMODE(kept))
            yield file
            file.flush()
            # Before the rename: after a power cut the name must not lead to an empty file.
            os.fsync(file.fileno())
        os.replace(draft, target)
        sync_folder(target.parent)


@contextlib.contextmanager
def _draft_of(target: Path, who: str, left: str) -> Iterator[Path]:
    """Give the name of a draft of a file or folder; whatever goes wrong, none is left behind."""
    # What writers of this file that are no more have left behind.
    name = _short_name(target)
    for other in target.parent.glob(f".{glob.escape(name)}.*.part"):
        found = _DRAFT.match(other.name)
        if found and found["name"] == name and not runs(int(found["process"])):
            _remove(other)
    draft = _draft_name(target)
    try:
        yield draft
    except BaseException as error:  # ctrl-c as well must leave no draft behind
        _remove(draft)
        if is_full(error):
            hint = f"Free some space or choose another place; {left} is as it was"
            raise _no_space(who, error, hint) from error
        raise


@contextlib.contextmanager
def making_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Fill a draft folder; it takes its name, with all files in it synced, when the block ends.

    A folder of that name that is there already is replaced; of two processes that make the same one
    together, one wins. Whatever goes wrong (an error, a full disk, ctrl-c), there is the old folder
    or none, never half of one. A symbolic link of that name is replaced, not followed.
    """
    target = Path(os.path.abspath(path))
    with _draft_of(target, f"Folder {str(path)!r}", "what was finished") as draft:
        draft.mkdir()
        yield draft
        for file in draft.iterdir():
            with file.open("rb+") as open_file:  # Windows syncs only files open for writing
                os.fsync(open_file.fileno())
        sync_folder(draft)
        for _ in range(MAX_RENAMES):
            # A folder that is not empty cannot be renamed over: the old one is moved aside first.
            old = _draft_name(target)
            with contextlib.suppress(FileNotFoundError):
                os.rename(target, old)
            try:
                os.rename(draft, target)
                # Before the old one is gone: after a power cut one of the two is there.
                sync_folder(target.parent)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    raise
                continue  # another process has put its own there meanwhile
            finally:
                _remove(old)
            return
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))


@contextlib.contextmanager
def scratch_file(size: int, who: str) -> Iterator[BinaryIO]:
    """Open a nameless file of so many bytes, gone at the end of the block.

    The space is allocated immediately where the system can: a mapped file that finds the disk full
    while it is written to would end the process (SIGBUS).
    """
    with tempfile.TemporaryFile() as file:
        try:
            if hasattr(os, "posix_fallocate") and size:
                os.posix_fallocate(file.fileno(), 0, size)
        except OSError as error:
            if not is_full(error):
                raise
            now = tempfile.gettempdir()
            hint = f"Free some space, or set TMPDIR to a larger disk ({now!r} now)"
            raise _no_space(who, error, hint) from error
        yield file


def is_full(error: BaseException) -> bool:
    """Whether an error says that the disk, or what one may have of it, is full."""
    # EDQUOT: the quota of the user; EFBIG: the largest file of this file system or process.
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _no_space(who: str, error: BaseException, hint: str) -> UnwritableFile:
    found = os.strerror(getattr(error, "errno", 0) or 0).lower()
    return UnwritableFile(who, "space on the disk", found, hint)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8, whole or not at all."""
    with replacing(path) as file:
        # Half of a surrogate pair, as JSON can hold it, has no place in UTF-8: it becomes "?".
        file.write(text.encode("utf-8", "replace"))


def make_folder(path: str | os.PathLike[str]) -> Path:
    """Return a folder, made if it is not there; it lasts through a power cut.

    A place where none can be is an error.
    """
    folder = Path(path)
    try:
        new = [path for path in (folder, *folder.parents) if not path.exists()]
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        found = getattr(error, "strerror", None) or str(error)
        who, hint = f"Folder {str(path)!r:.300}", "Choose another name or another place"
        raise UnwritableFile(who, "a folder that can be made", found, hint) from error
    for path in new:
        sync_folder(path.parent)
    return folder


def sync_folder(folder: Path) -> None:
    """Make new names last through a power cut, where the system lets a folder be synced."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows opens no folder
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno == errno.EIO:  # other numbers say that this file system syncs no folder
            who, hint = f"Folder {str(folder)!r:.300}", "Check the disk, then write again"
            raise UnwritableFile(who, "a disk that works", str(error), hint) from error
    finally:
        os.close(handle)


def _remove(path: Path) -> None:
    """Remove a file, a link or a whole folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        path.unlink()


def _draft_name(target: Path) -> Path:
    """Return a name beside a file, that tells whose draft it is and who writes it."""
    # 24 random digits: two threads of one process may write the same file.
    mark = f"{os.getpid()}-{MACHINE}{uuid.uuid4().hex[:24]}"
    return target.parent / f".{_short_name(target)}.{mark}.part"


def _short_name(target: Path) -> str:
    """Return the name of a file, or a hash of a name that is too long for a draft."""
    name = os.fsencode(target.name)
    return target.name if len(name) <= MAX_NAME_BYTES else hashlib.sha256(name).hexdigest()


def runs(process: int) -> bool:
    """Whether a process of this number is there; if in doubt, it is."""
    if os.name == "nt":  # asking by signal would end the process there: its draft stays
        return True
    try:
        os.kill(process, 0)
    except OSError as error:  # a process of another user may not be asked, but it runs
        return not isinstance(error, ProcessLookupError)
    return True


LOCK = ".lock"


@contextlib.contextmanager
def locked(folder: str | os.PathLike[str], who: str) -> Iterator[None]:
    """Hold the lock of a folder, or raise immediately if another writer holds it.

    The lock ends with the process that holds it.

    Parameters
    ----------
    folder : path of a folder that exists
    who : str, the name that an error begins with
    """
    from filelock import FileLock, Timeout

    # Held by the system, not by the file: a killed process leaves the file, but no lock.
    lock = FileLock(Path(folder) / LOCK, blocking=False)
    try:
        held = lock.acquire()
    except Timeout as error:
        needed = f"to be the only one that writes in {str(folder)!r}"
        hint = "Wait until it has ended, or choose another folder"
        raise UnwritableFile(who, needed, "another writer", hint) from error
    except OSError as error:
        # filelock follows no link: the file behind it would be emptied.
        found = os.strerror(error.errno or 0).lower() if error.errno != errno.ELOOP else "a link"
        hint = "Choose another folder, or ask for the permission to write there"
        raise UnwritableFile(who, f"a lock in {str(folder)!r}", found, hint) from error
    with held:
        yield
