"""From a file or records to rows with ids, and from stored rows to a fitted index."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from lookalike.errors import InvalidInput, LookalikeError, Param, suggest
from lookalike.index import Index
from lookalike.index.ids import refuse_repeats
from lookalike.measures import Measure, choose_measure
from lookalike.measures.names import known_measures
from lookalike.service.cells import dumps, id_column, plain_id, plain_ids
from lookalike.service.problems import collected
from lookalike.service.store.store import StoredRow
from lookalike.table import Column, Kind, Table, read_table
from lookalike.table.model.kind import ROW_NAMES
from lookalike.table.model.labels import RowLabel, label_of, mark_label
from lookalike.verbs.measures import read_measure, set_seed, weigh_columns

READ_OPTIONS = ("missing", "encoding", "delimiter")  # of ``read_table``, beside kinds
HIDDEN = "lookalike_id"  # the column of ids of a collection whose rows are numbered


@dataclass(frozen=True)
class CollectionSettings:
    """The options of a collection, and what was decided when its rows were first read.

    Parameters
    ----------
    title : str
    measure : str
        The name of a measure with its options, or "auto".
    kinds, weights : dict, as given by the user
    missing : list of cell values that mean "missing"
    encoding, delimiter : how a CSV file is read; None: guessed
    id_column : str or None
        The column that names rows; None: rows are numbered.
    names : str
        The column of ids inside of the index.
    label_column : str or None
        The column that a row is shown by.
    label : dict, all columns of its label, and whether they need the id beside them
    aside : dict, kind, role and reason of the columns that are not compared
    source : dict, the name of the file and its hash
    reason : str, why this measure
    measured : str, the name of its class
    compared : int, how many columns it compares
    """

    title: str
    measure: str = "auto"
    kinds: dict[str, Any] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)
    missing: list[Any] = field(default_factory=list)
    encoding: str | None = None
    delimiter: str | None = None
    id_column: str | None = None
    names: str = HIDDEN
    label_column: str | None = None
    label: dict[str, Any] = field(default_factory=dict)
    aside: dict[str, dict[str, str]] = field(default_factory=dict)
    source: dict[str, str] = field(default_factory=dict)
    reason: str = "given"
    measured: str = ""
    compared: int = 0

    @property
    def row_label(self) -> RowLabel:
        """The columns that name a row."""
        columns = tuple(self.label.get("columns", ()))
        return RowLabel(columns, bool(self.label.get("with_id", False)), "kept")

    def to_text(self) -> str:
        """Return the settings as a JSON text."""
        return dumps(asdict(self))

    @classmethod
    def of_text(cls, text: str) -> CollectionSettings:
        """Read settings from a JSON text."""
        return cls(**json.loads(text))


def read_rows(
    source: Any, settings: CollectionSettings
) -> tuple[Table, list[str | int], CollectionSettings]:
    """Read a file or records; return the table without its ids, the ids, and the settings.

    Parameters
    ----------
    source : path, list of records, table, or an index, whose ids are kept
    settings : CollectionSettings, as asked for
    """
    if isinstance(source, Index):
        ids = [plain_id(id, row, "id") for row, id in enumerate(source.ids)]
        settings = replace(settings, id_column=source.id_column)
        table = source.table.drop([source.id_column]) if source.id_column else source.table
    else:
        table, ids = _read_table(source, settings)
    # In double precision, as numbers are read back from the store: otherwise a collection would
    # rank ties differently after a restart.
    columns = [
        replace(column, values=column.values.astype(np.float64))
        if column.values.dtype == np.float32
        else column
        for column in table.columns
    ]
    table = Table(columns, table.aside, len(table), table.missing)
    return table, ids, settle(settings, table)


def _read_table(source: Any, settings: CollectionSettings) -> tuple[Table, list[str | int]]:
    """Read a file or records; return the table without its ids, and the ids."""
    kinds, name = dict(settings.kinds), settings.id_column
    if name is not None:
        kinds.setdefault(name, ROW_NAMES)  # as written: "007", "null" and 10**20 stay so
    options: dict[str, Any] = {n: getattr(settings, n) or None for n in READ_OPTIONS}
    table = read_table(source, kinds=kinds or None, **options)
    if name is None:
        return table, list(range(len(table)))
    ids = plain_ids(table[name])
    refuse_repeats(ids, Param("id_column", name))
    return table.drop([name]), ids


def _label_of(table: Table, asked: str | None, id_column: str | None) -> RowLabel:
    """Return what a row is called: as asked, else as its cells say; by its id where none does."""
    found = label_of(table if asked in (None, id_column) else mark_label(table, [asked]))
    if id_column is not None and (asked == id_column or not found.columns):
        return RowLabel((id_column,), False, "the ids")
    return found


def settle(settings: CollectionSettings, table: Table) -> CollectionSettings:
    """Fill in what follows from the table: the label column, the hidden column of ids."""
    every, label = [column.name for column in table.columns + table.aside], settings.label_column
    if label is not None and label not in (*every, settings.id_column):
        who, hint = Param("label_column"), suggest(label, every)
        raise InvalidInput(who, "a column of the table", repr(label), hint)
    names = settings.id_column or HIDDEN
    while settings.id_column is None and names in every:
        names += "_"
    found = _label_of(table, label, settings.id_column)
    label = found.columns[0] if found.columns else None
    kept = {"columns": list(found.columns), "with_id": found.with_id}
    # The schema knows how cells are read; the settings keep only the names of kinds.
    kinds = {name: getattr(kind, "name", kind) for name, kind in settings.kinds.items()}
    aside = about_aside(table)
    return replace(settings, names=names, label_column=label, label=kept, aside=aside, kinds=kinds)


MAX_UNREADABLE = 20  # distinct values that are named; a column with more is of another kind


def read_as(table: Table, name: str, kind: Any) -> tuple[Table, list[Any]]:
    """Read one column of a table as another kind; return it alone, and what cannot be read.

    Values that cannot be read are those that ``missing=`` would have to name; a kind that fits no
    cell, or leaves more than a few different values, is refused by the library in its words.

    Examples
    --------
    >>> from lookalike.table import read_table
    >>> read_as(read_table({"x": ["1", "2", "3", "n. n."]}), "x", "number")[1]
    ['n. n.']
    """
    alone = Table([joined(table[name], kind)], [], len(table), table.missing)
    unreadable: list[Any] = []
    first: InvalidInput | None = None
    while True:
        try:
            read = read_table(alone, kinds={name: kind}, missing=unreadable or None)
        except InvalidInput as error:
            # The hint names the first value that does not fit: one round for each of them.
            named = [param.value for param in error.params if param.name == "missing"]
            if not named or len(unreadable) >= MAX_UNREADABLE:
                raise
            first = first or error
            unreadable += named[0]
            continue
        if first is not None and read[name].missing.all():
            raise first  # no cell is left
        return read, unreadable


def joined(column: Column, kind: Any) -> Column:
    """Return a column of sets as texts where single values are asked for; else as it is."""
    if column.kind.name not in ("set", "sequence") or kind not in ("category", "text", "name"):
        return column
    cells = np.empty(len(column), dtype=object)
    for row, cell in enumerate(column.values):
        items = sorted(cell, key=str) if isinstance(cell, frozenset) else cell
        cells[row] = None if cell is None else ", ".join(map(str, items))
    return Column(column.name, Kind("object"), cells)


def about_aside(table: Table) -> dict[str, dict[str, str]]:
    """Return what is known about columns that are not compared; the schema keeps less."""
    kinds = {column.name: column.kind for column in table.aside}
    return {n: {"kind": k.name, "role": k.role, "reason": k.reason} for n, k in kinds.items()}


def name_rows(table: Table, ids: Sequence[str | int], settings: CollectionSettings) -> Table:
    """Return the table with a column of ids among those set aside, its label marked."""
    name = settings.names
    aside: list[Column] = [column for column in table.aside if column.name != name]
    named = Table(table.columns, [*aside, id_column(name, ids)], len(table), table.missing)
    every = {column.name for column in named.columns + named.aside}
    # A stored column that is set aside comes back without its role: the settings remember.
    return mark_label(named, [one for one in settings.row_label.columns if one in every])


def stored_ids(rows: Sequence[StoredRow]) -> list[str | int]:
    """Return the ids of stored rows."""
    return [json.loads(row.id) for row in rows]


def fit_index(
    table: Table, ids: Sequence[str | int], settings: CollectionSettings
) -> tuple[Index, CollectionSettings]:
    """Fit an index to rows with their ids; return it, and settings that say by what measure."""
    measure, reason = make(settings, table)
    name, compared = type(measure).__name__, len(table.columns)
    settings = replace(settings, reason=reason, measured=name, compared=compared)
    index = Index(measure, id_column=settings.names).fit(name_rows(table, ids, settings))
    return index, settings


def make(settings: CollectionSettings, table: Table) -> tuple[Measure, str]:
    """Return the measure that the settings ask for, not fitted, and the reason for it."""
    measure = read_measure(settings.measure)
    chosen, reason = choose_measure(table) if isinstance(measure, str) else (measure, "given")
    # With a seed, so that the index can be fitted again to the same bits.
    return weigh_columns(set_seed(chosen, 0), settings.weights), reason


# What measures do, for people who know none by name; the page lists these first.
IN_WORDS = {
    "auto": "any columns",
    "ranked": "order only",
    "ratio": "learned by trees",
    "simusf": "random halves",
}
FEW_ROWS = 40  # that a measure is fitted to, to see whether it takes such columns


def list_measures(table: Table | None = None) -> list[dict[str, Any]]:
    """Return the measures that have a name, each with a sentence about it.

    Parameters
    ----------
    table : Table, optional
        Only measures that can compare its rows are listed, each once, those in plain words first.
    """
    found: list[dict[str, Any]] = [
        {"name": "auto", "text": "Chosen by the columns; weights can be changed."}
    ]
    for name, (cls, options) in sorted(known_measures(matrices=False).items()):
        text = (cls.__doc__ or "").strip().partition("\n")[0]
        words = ", ".join(f"{key}={value}" for key, value in options.items())
        if name != "auto":
            found.append({"name": name, "text": f"{text} ({words})" if words else text})
    if table is None:
        return found
    # The first rows, and a missing cell of each column that has any.
    gaps = [int(c.missing.argmax()) for c in table.columns if c.missing.any()]
    few = table[np.unique([*range(min(FEW_ROWS, len(table))), *gaps])]
    listed: dict[str, dict[str, Any]] = {}
    order = {name: place for place, name in enumerate(IN_WORDS)}
    for one in sorted(found, key=lambda one: order.get(one["name"], len(order))):
        fitted = _fit_to(one["name"], few)
        if fitted is not None:  # the first of several names of the same
            weighable = bool(fitted.traits.weighs_columns)
            more = {"weighable": weighable, "words": IN_WORDS.get(one["name"])}
            listed.setdefault(repr(fitted), one | more)
    return list(listed.values())


def _fit_to(name: str, table: Table) -> Measure | None:
    """Return a measure that is fitted to a table; None where it cannot compare its rows."""
    try:
        with collected():
            return make(CollectionSettings("", name), table)[0].fit(table)
    except LookalikeError:
        return None
