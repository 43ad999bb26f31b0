"""What a study is given: where the data lie, how much to do, and what was done before.

Every expensive result is computed through ``once``: it is written to a file immediately,
so that a study which was stopped goes on where it was, and more repetitions reuse the fewer ones.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from lookalike._runtime.progress import Progress
from lookalike._version import __version__
from lookalike.errors import InvalidInput
from studies.data import why_missing
from studies.recipes import MissingSet

# Modules of text and plots: changing them does not invalidate cached results.
TEXT_MODULES = ("__init__", "notes", "published", "plots", "drawing")
PAPER_PREFIX = "studies."
EFFORTS = ("quick", "default", "full")
Item = TypeVar("Item")


def cache_folder() -> Path:
    """Return the folder of cached results: below ``XDG_CACHE_HOME``, or ~/.cache."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "lookalike" / "studies"


class Work:
    """The data, the effort and the result cache of one part of a study.

    Parameters
    ----------
    data : path, the folder of the data sets
    effort : "quick", "default" (about an hour per paper on two cores) or "full" (published counts)
    keep : path, the folder of cached results; None caches them in memory only
    name : str, of the part, used as the name of the cache file
    source : str, the source of the study: a change of it invalidates the cache

    Examples
    --------
    >>> from studies import Work
    >>> work = Work(".", "quick")
    >>> work.times(quick=2, default=10, full=20)
    2
    >>> work.once("sum", lambda: 1 + 1), work.once("sum", lambda: 99)
    (2, 2)
    """

    def __init__(
        self,
        data: str | os.PathLike[str],
        effort: str = "default",
        keep: str | os.PathLike[str] | None = None,
        name: str = "part",
        source: str = "",
    ) -> None:
        if effort not in EFFORTS:
            do = f"Choose one of {', '.join(EFFORTS)}"
            raise InvalidInput("studies", "an effort", repr(effort), do)
        self.data = Path(data)
        self.effort = effort
        self.name = name
        self.missing: dict[str, str] = {}  # unavailable data sets, with the reason
        self._keep = None if keep is None else Path(keep)
        self._kept: dict[str, Any] = {}
        self._file: Path | None = None
        if self._keep is not None:
            # A result is as old as the code that made it: another version, or another source of the
            # study, begins a new file, and nothing stale is ever read.
            mark = hashlib.sha256(f"{__version__}\n{source}".encode()).hexdigest()[:12]
            self._file = self._keep / f"{name}-{mark}.jsonl"
            self._recall()

    def shared(self, name: str, source: str = "") -> Work:
        """Return a cache shared by several parts: the runs behind more than one table.

        Parameters
        ----------
        name : str, which begins with the paper's name
        source : str, the source of the module that computes the results
        """
        memory = Work(self.data, self.effort, self._keep, name, source)
        memory.missing = self.missing
        return memory

    def available(self, files: Mapping[str, str], *, needed: bool = True) -> list[str]:
        """Return the available data sets; the others are stored in ``missing`` with the reason.

        Parameters
        ----------
        files : mapping of a set's name in the paper to the name of its file
        needed : bool, raise ``MissingSet`` if none is available
        """
        reasons = {name: why_missing(self.data, file) for name, file in files.items()}
        self.missing |= {name: reason for name, reason in reasons.items() if reason}
        found = [name for name, reason in reasons.items() if not reason]
        if needed and not found:
            raise MissingSet(*next(iter(reasons.items())))
        return found

    def times(self, quick: int, default: int, full: int) -> int:
        """Return the count for this effort."""
        return {"quick": quick, "default": default, "full": full}[self.effort]

    def pick(
        self, quick: Sequence[Item], default: Sequence[Item], full: Sequence[Item]
    ) -> list[Item]:
        """Return the list for this effort: of data sets, of settings."""
        return list({"quick": quick, "default": default, "full": full}[self.effort])

    def once(self, key: str, make: Callable[[], Any]) -> Any:
        """Return the result of ``make``, from the cache if available.

        Parameters
        ----------
        key : str, everything the result depends on: data set, method, settings, seed
        make : function without parameters that returns numbers, words, lists or mappings of these
        """
        if key not in self._kept:
            value = json.loads(json.dumps(make(), default=_plain))  # the same types, cached or not
            self._kept[key] = value
            if self._file is not None:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                # Appended: a run that is killed loses the result it was computing, no other.
                with self._file.open("a", encoding="utf-8") as out:
                    out.write(json.dumps([key, value]) + "\n")
        return self._kept[key]

    def each(self, what: str, items: Iterable[Item]) -> Iterator[Item]:
        """Iterate over items with a progress bar."""
        every = list(items)
        with Progress(f"{self.name}: {what}", len(every)) as bar:
            for item in every:
                yield item
                bar.advance()

    def _recall(self) -> None:
        """Read the cache file; a line truncated by a killed run is skipped."""
        if self._file is None or not self._file.exists():
            return
        for line in self._file.read_text(encoding="utf-8").splitlines():
            try:
                key, value = json.loads(line)
            except (ValueError, TypeError):
                continue
            self._kept[key] = value


def _plain(value: Any) -> Any:
    """Convert numpy scalars and arrays to Python values."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be cached")


def source_of(module: ModuleType | None) -> str:
    """Return the source of a module, and of the other modules of its paper."""
    if module is None:
        return ""
    try:
        text = inspect.getsource(module)
    except (OSError, TypeError):
        return ""
    if not (module.__package__ or "").startswith(PAPER_PREFIX):
        return text
    siblings = sorted(Path(str(module.__file__)).parent.glob("*.py"))
    return text + "".join(
        path.read_text("utf-8") for path in siblings if path.stem not in TEXT_MODULES
    )
