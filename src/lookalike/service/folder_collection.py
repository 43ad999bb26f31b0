"""A collection whose rows are in a folder of shards: served as it is, written to elsewhere.

The store knows its name, its settings and the feedback that is given; the rows stay in the folder.
What describes the collection, and what analyses look at, is a sample of its rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from lookalike.index import Index
from lookalike.index.shards.from_files import sample_places
from lookalike.service.collection import Collection
from lookalike.service.fitting import Settings, settle
from lookalike.service.problems import Refused
from lookalike.service.view import View
from lookalike.table import Column, Kind, Table

FOLDER = "folder"
MANIFEST = "manifest.json"


def is_index_folder(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder that an index is kept in."""
    return (Path(path) / MANIFEST).is_file()


def settings_of(index: Index, settings: Settings, folder: str | os.PathLike[str]) -> Settings:
    """Return the settings of a collection in a folder: the index has decided most of them."""
    settings = replace(
        settings,
        measure=type(index.measure_).__name__,
        reason=index.reason_,
        measured=type(index.measure_).__name__,
        id_column=index.state_.id_column,
        compared=len(index.schema_.kinds),
        source={**settings.source, FOLDER: os.path.realpath(folder)},
    )
    return settle(settings, index.sample)


class FolderCollection(Collection):
    """One collection that is kept in a folder of shards."""

    def _load(self) -> View:
        head = self.store.head_of(self.key, self.name)
        settings = Settings.of_text(head.settings)
        index = Index.open(settings.source[FOLDER])
        self.last_load = f"opened in {settings.source[FOLDER]}"
        sample = sample_of(index, settings)
        return View(
            head.generation, head.fitted, head.created, settings, index.schema_, index,
            sample=sample,
        )  # fmt: skip

    def count(self) -> int:
        """Return how many rows there are."""
        return len(self.view.index)

    def follow(self) -> View:
        """Return the view: nothing is written through the store."""
        return self.view

    def page(self, after: Any, limit: int) -> list[Any]:
        """Return ids in the order of the rows, those behind one of them."""
        view = self.view
        state = view.index.state_
        place = -1 if after is None else state.names.place(after, "rows")
        found: list[int] = []
        for segment in state.segments.segments:
            start = int(np.searchsorted(segment.places, place, side="right"))
            at = start + np.flatnonzero(segment.alive[start : start + 4 * limit])
            if len(at) < limit:  # many deleted ones between
                at = start + np.flatnonzero(segment.alive[start:])
            found += segment.places[at[: limit - len(found)]].tolist()
            if len(found) >= limit:
                break
        return list(state.names.of(found))

    def add(self, records: Sequence[Mapping[str, Any]]) -> tuple[list[Any], int]:
        """Refuse: rows are added to the folder itself."""
        self._refuse("lookalike index add FOLDER FILE adds rows; restart the server then")

    def replace(self, id: Any, record: Mapping[str, Any]) -> int:
        """Refuse: rows are changed in the folder itself."""
        self._refuse("lookalike index delete FOLDER ID, then lookalike index add FOLDER FILE")

    def remove(self, ids: Sequence[Any]) -> int:
        """Refuse: rows are deleted from the folder itself."""
        self._refuse("lookalike index delete FOLDER ID deletes rows; restart the server then")

    def refit(self, make: Callable[[View], View]) -> View:
        """Refuse: the measure was fitted when the folder was built."""
        self._refuse("Build another folder: lookalike index build FILES -o FOLDER")

    def set_repaired(self, view: View, repaired: Index) -> None:
        """Refuse: repairing hubs needs all rows in memory."""
        self._refuse("Ask in the space 'plain'")

    def _refuse(self, hint: str) -> NoReturn:
        who = f"collection {self.name!r}"
        found = "one in a folder of shards, which is only read here"
        raise Refused(409, who, "a collection in the store", found, hint)

    @property
    def cache_is_old(self) -> bool:
        """Whether the cache is worth writing: the folder is all there is."""
        return False

    def save_cache(self) -> None:
        """Do nothing: the folder is all there is."""


def sample_of(index: Index, settings: Settings) -> Table:
    """Return the rows that stand for all, with a column of their ids."""
    table = index.sample
    if settings.id_column is not None:
        kept = np.array([id in index for id in table[settings.id_column].values], bool)
        return table[kept]
    ids = np.empty(len(table), dtype=object)
    ids[:] = sample_places(index).tolist()
    kept = np.array([id in index for id in ids], bool)
    column = Column(settings.names, Kind("object", "ids"), ids)
    return Table(table.columns, [*table.aside, column], len(table), table.missing)[kept]
