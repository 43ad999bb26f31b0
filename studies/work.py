"""What a study is given: where the data lie, how much to do, and what was done before.

Every figure that takes time is made through ``once``: it is kept in a file as soon as it is there,
so that a study which was stopped goes on where it was, and more repetitions reuse the fewer ones.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from lookalike._runtime.progress import Progress
from lookalike._version import __version__
from lookalike.errors import InvalidInput, MissingFile

EFFORTS = ("quick", "default", "full")
Item = TypeVar("Item")


def data_folder(given: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder of the papers' data sets, or say how to name it.

    Without one given it is ``LOOKALIKE_DATA``, or ``../shared/data`` beside a checkout.
    """
    beside = Path(__file__).parents[4] / "shared" / "data"
    folder = Path(given or os.environ.get("LOOKALIKE_DATA") or beside)
    if not folder.is_dir():
        do = "Set LOOKALIKE_DATA to the folder, or give --data"
        needed = "a folder with the data sets of the papers"
        raise MissingFile("papers", needed, f"none at {str(folder)!r}", do)
    return folder


def keeping_folder() -> Path:
    """Return where figures are kept between two runs: below ``XDG_CACHE_HOME``, or ~/.cache."""
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "lookalike" / "papers"


class Work:
    """The data, the effort and the memory of one part of a study.

    Parameters
    ----------
    data : path, the folder of the data sets
    effort : "quick", "default" (about an hour per paper on two cores) or "full" (published counts)
    keep : path, the folder where figures are kept; None keeps them only while it runs
    name : str, of the part; figures are kept by it
    source : str, the text of the study: figures made by another text are made again

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
            raise InvalidInput("papers", "an effort", repr(effort), do)
        self.data = Path(data)
        self.effort = effort
        self.name = name
        self._keep = None if keep is None else Path(keep)
        self._kept: dict[str, Any] = {}
        self._file: Path | None = None
        if self._keep is not None:
            mark = hashlib.sha256(f"{__version__}\n{source}".encode()).hexdigest()[:12]
            self._file = self._keep / f"{name}-{mark}.jsonl"
            self._recall()

    def beside(self, name: str, source: str = "") -> Work:
        """Return a memory that several parts share: the runs behind more than one table.

        Parameters
        ----------
        name : str, which begins with the paper's name
        source : str, the text of the module that makes the figures
        """
        return Work(self.data, self.effort, self._keep, name, source)

    def times(self, quick: int, default: int, full: int) -> int:
        """Return the count for this effort."""
        return {"quick": quick, "default": default, "full": full}[self.effort]

    def pick(
        self, quick: Sequence[Item], default: Sequence[Item], full: Sequence[Item]
    ) -> list[Item]:
        """Return the list for this effort: of data sets, of settings."""
        return list({"quick": quick, "default": default, "full": full}[self.effort])

    def once(self, key: str, make: Callable[[], Any]) -> Any:
        """Return what ``make`` gives, from memory if it was made before.

        Parameters
        ----------
        key : str, everything the figure depends on: set, method, settings, seed
        make : function without parameters that returns numbers, words, lists or mappings of these
        """
        if key not in self._kept:
            value = json.loads(json.dumps(make(), default=_plain))  # the same, kept or not
            self._kept[key] = value
            if self._file is not None:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                with self._file.open("a", encoding="utf-8") as out:
                    out.write(json.dumps([key, value]) + "\n")
        return self._kept[key]

    def each(self, what: str, items: Iterable[Item]) -> Iterator[Item]:
        """Go through items with a progress bar."""
        every = list(items)
        with Progress(f"{self.name}: {what}", len(every)) as bar:
            for item in every:
                yield item
                bar.advance()

    def _recall(self) -> None:
        """Read what an earlier run kept; a line that was cut off when it was killed is left out."""
        if self._file is None or not self._file.exists():
            return
        for line in self._file.read_text(encoding="utf-8").splitlines():
            try:
                key, value = json.loads(line)
            except (ValueError, TypeError):
                continue
            self._kept[key] = value


def _plain(value: Any) -> Any:
    """Turn numpy's numbers and arrays into Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be kept")
