"""Finding rows by what is written in them: names, texts and categories."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from lookalike._show import plain

if TYPE_CHECKING:
    from lookalike.service.view import View

__all__ = ["Texts"]

WRITTEN = ("text", "category", "order", "object")


class Texts:
    """The words of all rows of a collection in lower case, made when they are first asked for."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[Any, tuple[str, str]] = {}
        self._generation = -1

    def clear(self) -> None:
        """Forget all words."""
        with self._lock:
            self._rows, self._generation = {}, -1

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
        for id, (label, rest) in self._words(view).items():
            if label.startswith(wanted):
                ranked[0 if len(label) == len(wanted) else 1].append(id)
            elif wanted in label:
                ranked[2].append(id)
            elif wanted in rest:
                ranked[3].append(id)
            if len(ranked[0]) >= limit:
                break
        return [id for ids in ranked for id in ids][:limit]

    def _words(self, view: View) -> dict[Any, tuple[str, str]]:
        with self._lock:
            if self._generation != view.generation:
                self._rows = _words_of(view)
                self._generation = view.generation
            return self._rows


def _words_of(view: View) -> dict[Any, tuple[str, str]]:
    table, label = view.index.table, view.settings.label_column
    ids = table[view.settings.names].values.tolist()
    labels, others = [""] * len(table), [[] for _ in range(len(table))]  # type: ignore[var-annotated]
    for column in table.aside + table.columns:
        if column.name == view.settings.names and column.name != label:
            continue
        if column.name != label and column.kind.name not in WRITTEN:
            continue
        for row in range(len(column)):
            cell = column.cell(row)
            if cell is None:
                continue
            word = str(plain(cell)).casefold()
            if column.name == label:
                labels[row] = word
            else:
                others[row].append(word)
    return {id: (name, "\n".join(rest)) for id, name, rest in zip(ids, labels, others, strict=True)}
