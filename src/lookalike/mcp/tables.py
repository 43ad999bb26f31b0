"""The tables that an agent may ask about: files under one folder, and nothing outside of it."""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from collections.abc import Mapping
from glob import has_magic
from itertools import islice
from pathlib import Path
from typing import Any

from lookalike.errors import InvalidInput, MissingFile, Param, missing_file, suggest
from lookalike.verbs.source import TableSource, is_index_folder, is_saved_index, load_index

# Endings of files that are listed; others can be asked about by their name.
LISTED_ENDINGS = (
    ".csv",
    ".tsv",
    ".parquet",
    ".jsonl",
    ".ndjson",
    ".json",
    ".npy",
    ".xlsx",
    ".lookalike",
)
MAX_LISTED = 200  # files in a list; more would fill the context of an agent
MAX_VISITED = 20_000  # files that are looked at for it: a folder may be a whole disk
MAX_KEPT = 4  # tables in memory; the longest unused are forgotten first


class Tables:
    """The tables in a folder, read when they are asked about and kept while they do not change.

    Parameters
    ----------
    folder : path
        Files outside of it are refused; symbolic links are resolved first.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder).expanduser().resolve()
        if not self.folder.is_dir():
            raise missing_file(self.folder)
        self._kept: OrderedDict[tuple[Any, ...], Any] = OrderedDict()

    def resolve(self, name: str) -> Path:
        """Return the path of a file under the folder; raise for any other."""
        who = Param("table", name)
        if has_magic(name) or "\0" in name:
            raise InvalidInput(who, "the name of one file", "a pattern", "Name one file")
        # Resolved before it is compared: neither ".." nor a link may lead outside.
        path = Path(os.path.realpath(self.folder / Path(name).expanduser()))
        inside = [path, *(islice(path.rglob("*"), MAX_VISITED) if os.path.isdir(path) else ())]
        if len(inside) > MAX_VISITED:
            found = f"a folder of more than {MAX_VISITED:,} files"
            raise InvalidInput(who, "a table", found, "Name a file in it")
        if not all(self._holds(part) for part in inside):
            needed, hint = "a file under the folder that is served", "Use a path relative to it"
            raise InvalidInput(who, needed, "a path outside of it", hint)
        return path

    def _holds(self, path: Path) -> bool:
        # A link may lead outside, or in a circle, of which ``Path.resolve`` makes an error.
        return Path(os.path.realpath(path)).is_relative_to(self.folder)

    def listed(self) -> list[str]:
        """Return the names of the tables, sorted; the first of very many."""
        names = [
            path.relative_to(self.folder).as_posix()
            for path in _visited(self.folder)
            if path.name.lower().endswith(LISTED_ENDINGS) and path.is_file() and self._holds(path)
        ]
        return sorted(names)[:MAX_LISTED]

    def source(self, name: str, kinds: Mapping[str, Any] | None = None) -> TableSource:
        """Return a table as verbs take it.

        Parameters
        ----------
        name : str
            A path relative to the folder.
        kinds : mapping of column to kind, optional
            As in ``read_table``.
        """
        path = self.resolve(name)
        if not os.path.exists(path):  # also where a name is too long to be one
            hint, problem = suggest(name, self.listed()), "file not found"
            raise MissingFile(Param("table", name), "a file", "none", hint, problem=problem)
        stat = path.stat()
        # By its time and size: a file that was written anew is read again.
        key = (path, stat.st_mtime_ns, stat.st_size, json.dumps(kinds, sort_keys=True))
        if key not in self._kept:
            self._kept[key] = _read(path, kinds)
        self._kept.move_to_end(key)
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)
        return TableSource(self._kept[key], path.relative_to(self.folder).as_posix())


def _read(path: Path, kinds: Mapping[str, Any] | None) -> Any:
    from lookalike.table import read_table

    if is_saved_index(path) or is_index_folder(path):
        if kinds:
            hint = "Leave it out, or ask about the table itself"
            raise InvalidInput(Param("kinds"), "a table", "a saved index", hint)
        return load_index(path)
    return read_table(path, kinds=kinds)


def _visited(folder: Path) -> list[Path]:
    """Return the files below a folder, without following links to folders."""
    paths: list[Path] = []
    for top, folders, files in os.walk(folder):
        # In place, so that the walk does not enter the others: hidden folders hold no tables, but
        # often very many files. Sorted, so that the same files are listed on every machine.
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths += [Path(top, name) for name in sorted(files)]
        if len(paths) > MAX_VISITED:
            break
    return paths
