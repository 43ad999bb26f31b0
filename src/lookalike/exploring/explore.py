"""``la.explore``: the explorer page of a table, in a notebook or as a file."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lookalike._runtime.files import replacing
from lookalike.service.catalog import name_from
from lookalike.service.collection import View
from lookalike.service.fitting import CollectionSettings
from lookalike.service.limits import RequestLimits
from lookalike.service.service import Service
from lookalike.verbs.source import as_source


class Explorer:
    def __init__(self, table: Any, title: str | None, options: Mapping[str, Any]) -> None:
        source = as_source(table)
        self._folder = tempfile.TemporaryDirectory(prefix="lookalike-")
        self._service = Service(Path(self._folder.name) / "store.sqlite")
        self._finalizer = weakref.finalize(self, _close, self._service, self._folder)
        self.title = title or Path(source.name).name
        self.name = name_from(self.title)
        rows = source.index or source.rows().table
        settings = CollectionSettings(self.title, **options)
        self._service.catalog.create(self.name, rows, settings, RequestLimits())

    @property
    def _view(self) -> View:
        return self._service.catalog.get(self.name).view

    def to_html(self, path: Any) -> None:
        from lookalike.exploring.offline import offline_page

        with replacing(path) as file:
            file.write(offline_page(self.name, self._view).encode())


def _close(service: Service, folder: Any) -> None:
    service.close()
    folder.cleanup()


def explore(table: Any, *, measure: str = "auto", weights: Any = None, title: str | None = None) -> Explorer:
    return Explorer(table, title, {"measure": measure, "weights": dict(weights or {})})
