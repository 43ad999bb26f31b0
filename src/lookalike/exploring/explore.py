"""``la.explore``: the explorer page of a table, in a notebook or as one file."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from starlette.responses import Response

from lookalike._runtime.files import check_writable, replacing
from lookalike._runtime.frames import make_frame
from lookalike.errors import InvalidInput, NoAnswer, Param, suggest
from lookalike.exploring.offline import N_NEIGHBORS, OWN, offline_page
from lookalike.index import Index
from lookalike.service import fitting, limits, safety, site
from lookalike.service.api.models import Strict
from lookalike.service.collection import View
from lookalike.service.server import Server, free_port, measure_text
from lookalike.service.service import Service, name_from, settings_from
from lookalike.show.html.document import fragment
from lookalike.show.html.markup import escape
from lookalike.verbs.measures import AUTO, read_measure
from lookalike.verbs.source import NamedRows, as_source, column_names, select_columns

HOST = "127.0.0.1"
HEIGHT = 720  # pixels of the page in a notebook
MAX_ROWS_IN_A_FILE = 5_000
N_CARD_HITS = 5  # rows of the card that is shown where the page is not
START_SECONDS = 60.0


class Chosen(Strict):
    """What the page is asked and what is chosen on it."""

    query: dict[str, Any] | None = None
    weights: dict[str, float] = {}
    filter: dict[str, dict[str, Any]] = {}
    marks: dict[str, list[str | int]] = {}
    selection: list[str | int] | None = None


class Explorer:
    """A table on the explorer page, and what is chosen there; made by ``explore``.

    As the last line of a cell it shows the page. The server behind it belongs to this process,
    listens on loopback only, needs a token that no other page has, and stops with the process or
    with ``close``. Where the browser does not reach it, some rows are shown instead.

    Parameters
    ----------
    table : path, frame, dict of columns, Table or Index
    title, label, columns : as of ``explore``
    **options : settings of the collection

    Examples
    --------
    >>> import lookalike as la
    >>> page = la.explore({"weight": [4.0, 5.0, 30.0], "sound": ["meow", "meow", "woof"]})
    >>> page.selection.empty, page.filter.empty
    (True, True)
    >>> page.close()
    """

    def __init__(
        self, table: Any, title: str | None, label: str | None, columns: Any, **options: Any
    ) -> None:
        source = as_source(table)
        self.title = title or Path(source.name).name
        self._name, self._given = name_from(self.title), table
        self._chosen = Chosen()
        self._address = ""
        folder = tempfile.TemporaryDirectory(prefix="lookalike-")
        access = safety.AccessPolicy(tokens=True, framed=True)
        self._service = Service(Path(folder.name) / "store.sqlite", access=access)
        self._running: list[tuple[Server, threading.Thread]] = []
        # Not a method of the explorer, for the same reason: its arguments must not hold it.
        self._finalizer = weakref.finalize(self, _close, self._service, folder, self._running)
        index = source.index
        rows: Any = index
        if index is not None and options["measure"] == AUTO:  # an index has a measure
            options["measure"] = measure_text(index.measure_)
        if index is None or label is not None or columns is not None:
            rows = select_columns(source.rows().table, columns)
            options["id_column"] = index and index.id_column
        if label is not None:
            if label not in column_names(rows):
                hint = suggest(label, column_names(rows))
                raise InvalidInput(Param("label"), "a column of the table", repr(label), hint)
            rows = rows.compare_by([name for name in rows.names if name != label])
        settings = settings_from(options, self.title, {})
        self._service.catalog.create(self._name, rows, settings, limits.RequestLimits())

    # -- what is chosen on the page ----------------------------------------------------------------

    @property
    def weights(self) -> Any:
        """The weight of every compared column, as a data frame."""
        weights = {name: self._chosen.weights.get(name, 1.0) for name in self._view.schema.kinds}
        return make_frame({"column": list(weights), "weight": list(weights.values())}, "pandas")

    @property
    def filter(self) -> Any:
        """The conditions on rows, as a data frame: column, operator, value."""
        every, names = self._chosen.filter.items(), ("column", "operator", "value")
        rows = [(name, *pair) for name, conditions in every for pair in conditions.items()]
        return make_frame(
            {name: [row[i] for row in rows] for i, name in enumerate(names)}, "pandas"
        )

    @property
    def marks(self) -> Any:
        """The rows that are marked, as a data frame: the column ``mark``, then their cells."""
        ids = [(id, side) for side, some in self._chosen.marks.items() for id in some]
        frame = self._rows([id for id, _ in ids])
        frame.insert(0, "mark", [side for id, side in ids if id in self._view.index])
        return frame

    @property
    def selection(self) -> Any:
        """The rows that are selected by lasso or box, as a data frame; empty without any."""
        return self._rows(self._chosen.selection or [])

    def _rows(self, ids: list[Any]) -> Any:
        """Return rows as a data frame, indexed by their ids."""
        view = self._view
        table, names = view.table, view.settings.names
        position = {id: row for row, id in enumerate(table[names].values.tolist())}
        known = [id for id in ids if id in position]
        rows = table.drop([names])[np.array([position[id] for id in known], np.int64)]
        frame = rows.to_frame("pandas")
        # A frame of pandas keeps its own labels.
        given = getattr(self._given, "index", None)
        plain = view.settings.id_column is None and hasattr(given, "take")
        frame.index = given.take(known) if plain and given is not None else known
        return frame

    @property
    def _view(self) -> View:
        return self._service.catalog.get(self._name).view

    # -- showing the page --------------------------------------------------------------------------

    @property
    def url(self) -> str:
        """The address of the page with its token; starts the server."""
        if not self._address:
            self._start()
        return self._address

    def _start(self) -> None:
        _, token = self._service.tokens.create("notebook", "write")
        port, listens = free_port(HOST, 0), threading.Event()
        server = Server(self._service, HOST, port, listens.set)
        # Weak: the server would keep the explorer alive, and its finalizer would never run.
        chosen = weakref.ref(self)

        def note(body: Chosen) -> Response:
            explorer = chosen()
            if explorer is not None:
                explorer._chosen = body
            return Response(status_code=204)

        note.__annotations__["body"] = Chosen
        server.config.app.post("/api/notebook", include_in_schema=False)(note)  # type: ignore[union-attr]
        thread = threading.Thread(target=server.run, name="lookalike-explore", daemon=True)
        thread.start()
        self._running.append((server, thread))
        if not listens.wait(START_SECONDS):
            hint = "Is this process allowed to listen on 127.0.0.1?"
            raise NoAnswer("explore", "a server that listens", "none", hint)
        self._address = f"http://{HOST}:{port}/#/{self._name}?token={token}"

    def close(self) -> None:
        """Stop the server and delete its copy of the rows; the handle can no longer be used."""
        self._finalizer()

    def _repr_html_(self) -> str:
        name = f"lookalike-{id(self):x}"  # another one for each explorer of the notebook
        index, link = self._view.index, escape(self.url)
        start = self._view.table[self._view.settings.names].values.tolist()[0]
        hits = index.search(start, k=min(N_CARD_HITS, max(1, len(index) - 1)))
        text = f'<a href="{link}" target="_blank" rel="noreferrer">Open the page</a> of '
        text += f"{escape(self.title)}, {len(index):,} rows; here are the rows most like the first."
        card = f'<div id="{name}">{fragment(f"<p>{text}</p>")}{hits._repr_html_()}</div>'  # type: ignore[union-attr]
        script = site.lean((OWN / "notebook.js").read_text("utf-8"))
        # In a block: a name of it would be one of the whole notebook.
        asked = ", ".join(map(json.dumps, (name, self.url, HEIGHT)))
        return f"{card}<script>{{\n{script}show({asked});\n}}</script>"

    def __repr__(self) -> str:
        return f"Explorer({self.title!r}, {len(self._view.index):,} rows)"

    # -- one file ----------------------------------------------------------------------------------

    def to_html(
        self,
        path: str | os.PathLike[str],
        rows: int = MAX_ROWS_IN_A_FILE,
        *,
        filter: Any = None,
        k: int = N_NEIGHBORS,
        seed: int = 0,
    ) -> None:
        """Write the page to one file that needs no server: search, weights, reasons, map, groups.

        Parameters
        ----------
        path : str or path
        rows : int
            Of a larger table, so many are written, drawn at random; 5,000 are one to three MB.
        filter : conditions, optional
            Which rows are written; see ``search``.
        k : int
            Length of the lists that hubs are counted in.
        seed : int
            Of the draw.
        """
        check_writable(path)  # before the work
        page = offline_page(self._name, self._part(rows, filter, seed), k).encode()
        with replacing(path) as file:
            file.write(page)

    def _part(self, rows: int, filter: Any, seed: int) -> View:
        """Return the view of the rows that a file gets, with their ids; fitted to them alone."""
        view, table = self._view, self._view.table
        met = NamedRows(table, [*range(len(table))], self.title).meeting(filter).ids
        if len(table) == len(met) <= rows and not view.changed:
            return view
        # Sorted: the rows stay in the order of the table.
        drawn = np.sort(np.random.default_rng(seed).permutation(met)[:rows])
        settings, some = view.settings, table[drawn]
        if len(drawn) < len(table):
            title = f"{self.title} ({len(drawn):,} of {len(table):,} rows)"
            settings = replace(settings, title=title)
        measure, _ = fitting.make(settings, some.drop([settings.names]))
        index = Index(measure, id_column=settings.names).fit(some)
        return replace(view, index=index, settings=settings, repaired=None, changed=0)


def _close(service: Service, folder: Any, running: list[tuple[Server, threading.Thread]]) -> None:
    for server, thread in running:
        server.should_exit = True
        thread.join()
    if not running:  # a server closes its service
        service.close()
    folder.cleanup()


def explore(
    table: Any,
    *,
    measure: Any = None,
    weights: Mapping[str, float] | None = None,
    columns: str | Sequence[str] | None = None,
    label: str | None = None,
    title: str | None = None,
) -> Explorer:
    """Show a table on the explorer page: in a notebook, in a browser, or as one file.

    As the last line of a cell it shows the page, where the browser reaches this process. What is
    chosen there can be read from the result at any time, as data frames.

    Parameters
    ----------
    table : path, frame, dict of columns, Table or Index
        The page works on a copy, which is deleted when the process ends.
    measure : str or Measure, optional
        How rows are compared. None: the measure of an index, "auto" for a table.
    weights : mapping of column to number, optional
        How much columns matter before a slider is moved.
    columns : names, optional
        Compare by these columns only.
    label : name of a column, optional
        Known classes: shown, not compared. What rows are called is ``label_column`` of
        ``read_table``.
    title : str, optional
        The name of the table on the page.

    Returns
    -------
    Explorer
        ``selection``, ``marks``, ``weights``, ``filter``; ``url``; ``to_html(path)``; ``close()``.

    Examples
    --------
    >>> import lookalike as la
    >>> pets = {"weight": [4.0, 5.0, 30.0, 28.0], "sound": ["meow", "meow", "woof", "woof"]}
    >>> page = la.explore(pets, title="pets")
    >>> page
    Explorer('pets', 4 rows)
    >>> page.weights
       column  weight
    0  weight     1.0
    1   sound     1.0
    >>> page.close()
    """
    chosen = read_measure(AUTO if measure is None else measure)
    text = chosen if isinstance(chosen, str) else measure_text(chosen)
    return Explorer(table, title, label, columns, measure=text, weights=dict(weights or {}))
