"""Finding rows by what is written in them: names, texts and categories."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any

from lookalike._runtime.text import plain
from lookalike.service.view import View

WRITTEN = ("text", "category", "order", "object")


class Texts:
    """The words of all rows of a collection in lower case, made when they are first asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[Any, tuple[str, str]] | None = None

    def clear(self) -> None:
        """Forget all words."""
        with self._lock:
            self._rows = None

    def follow(self, view: View, gone: Iterable[Any], came: Iterable[Any]) -> None:
        """Take in the words of rows that came, and forget those of rows that went."""
        with self._lock:
            if self._rows is None:
                return
            for id in gone:
                self._rows.pop(id, None)
            columns = _columns(view)
            for id in came:
                self._rows[id] = _words(view.index.get(id), columns)

    def find(self, view: View, text: str, limit: int) -> list[Any]:
        """Return ids of rows that hold a text: in the label first, at its beginning first of all.

        Parameters
        ----------
        view : View
        text : str
        limit : int
            How many at most.
        """
        wanted = text.casefold().strip()
        ranked: list[list[Any]] = [[], [], [], []]
        with self._lock:
            if self._rows is None:
                self._rows = _words_of(view)
            for id, (label, rest) in self._rows.items():
                if label.startswith(wanted):
                    ranked[0 if len(label) == len(wanted) else 1].append(id)
                elif wanted in label:
                    ranked[2].append(id)
                elif wanted in rest:
                    ranked[3].append(id)
                if len(ranked[0]) >= limit:
                    break
        return [id for ids in ranked for id in ids][:limit]


def _columns(view: View) -> list[str]:
    """Return the columns whose words are looked at, the label first."""
    label = view.settings.label_column
    compared = [name for name, kind in view.schema.kinds.items() if kind.name in WRITTEN]
    aside = [name for name in view.schema.aside if view.settings.aside[name]["kind"] in WRITTEN]
    rest = [name for name in (*aside, *compared) if name != label]
    return [label or "", *rest]


def _words(record: Mapping[str, Any], columns: list[str]) -> tuple[str, str]:
    cells = [record.get(name) for name in columns]
    first, *rest = ["" if cell is None else str(plain(cell)).casefold() for cell in cells]
    return first, "\n".join(rest)


def _words_of(view: View) -> dict[Any, tuple[str, str]]:
    table, columns = view.table, _columns(view)
    every = {column.name: column for column in table.columns + table.aside}
    used = [every[name] for name in columns if name in every]
    names = [column.name for column in used]
    ids = table[view.settings.names].values.tolist()
    return {
        id: _words({name: c.cell(row) for name, c in zip(names, used, strict=True)}, columns)
        for row, id in enumerate(ids)
    }
