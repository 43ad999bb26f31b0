"""From a file or records to rows with ids, and from stored rows to a fitted index."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from lookalike.errors import InvalidInput, Param, suggest
from lookalike.index import Index, choose_measure
from lookalike.measures import Measure
from lookalike.measures.names import known_measures, make_measure
from lookalike.service.cells import dumps, id_column, plain_id, read_stored
from lookalike.service.store.store import StoredRow
from lookalike.table import Column, Schema, Table, read_table

WHO = "measure"
HIDDEN = "lookalike_id"  # the column of ids of a collection whose rows are numbered


@dataclass(frozen=True)
class CollectionSettings:
    """What a collection was asked to be, and what was settled when its rows were first read.

    Parameters
    ----------
    title : str
    measure : str
        The name of a measure with its options, or "auto".
    kinds, weights : what was given by hand
    missing : cell values that mean "missing"
    encoding, delimiter : how a CSV file is read; None: as it looks
    id_column : str or None
        The column that names rows; None: rows are numbered.
    names : str
        The column of ids inside of the index.
    label_column : str or None
        The column that a row is shown by.
    aside : what is known about columns that are not compared: name -> kind, role and reason
    source : where the rows came from: name of the file and its hash
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
    aside: dict[str, dict[str, str]] = field(default_factory=dict)
    source: dict[str, str] = field(default_factory=dict)
    reason: str = "given"
    measured: str = ""
    compared: int = 0

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
    """Read a file or records; return the table without its ids, the ids, and what was settled.

    Parameters
    ----------
    source : path, list of records, table, or an index, whose ids are kept
    settings : CollectionSettings, as asked for
    """
    if isinstance(source, Index):
        kept = [plain_id(id, row, "id") for row, id in enumerate(source.ids)]
        settings = replace(settings, id_column=source.id_column)
        rows = source.table.drop([source.id_column]) if source.id_column else source.table
        rows = _as_stored(rows)
        return rows, kept, settle(settings, rows)
    kinds: dict[str, Any] = dict(settings.kinds)
    if settings.id_column is not None:
        kinds.setdefault(settings.id_column, "object")  # as written: "007" and 10**20 stay so
    table = _as_stored(
        read_table(
            source,
            kinds=kinds or None,
            missing=settings.missing or None,
            encoding=settings.encoding,
            delimiter=settings.delimiter,
        )
    )
    if settings.id_column is None:
        ids: list[str | int] = list(range(len(table)))
    else:
        column = table[settings.id_column]
        name = settings.id_column
        ids = [plain_id(column.cell(row), row, name) for row in range(len(column))]
        repeated = _first_repeat(ids)
        if repeated is not None:
            raise InvalidInput(
                Param("id_column", name),
                "ids that differ",
                f"{repeated!r} twice",
                "Use a column without repeats",
                problem=f"{repeated!r} is in it twice",
            )
        table = table.drop([settings.id_column])
    return table, ids, settle(settings, table)


def _as_stored(table: Table) -> Table:
    """Return the table as it will be read back from the store: numbers in double precision."""
    columns = [
        replace(column, values=column.values.astype(np.float64))
        if column.values.dtype == np.float32
        else column
        for column in table.columns
    ]
    return Table(columns, table.aside, len(table), table.missing)


def _first_repeat(ids: Sequence[Any]) -> Any:
    seen: set[Any] = set()
    for id in ids:
        if id in seen:
            return id
        seen.add(id)
    return None


def settle(settings: CollectionSettings, table: Table) -> CollectionSettings:
    """Fill in what follows from the table: the label column, the hidden column of ids."""
    every = [column.name for column in table.columns + table.aside]
    known = [*every, settings.id_column]
    if settings.label_column is not None and settings.label_column not in known:
        hint = suggest(settings.label_column, every)
        raise InvalidInput(
            Param("label_column"), "a column of the table", repr(settings.label_column), hint
        )
    names = settings.id_column or HIDDEN
    while settings.id_column is None and names in every:
        names += "_"
    label = settings.label_column or _label(table) or settings.id_column
    # The schema knows how cells are read; the store keeps the words.
    kinds = {name: getattr(kind, "name", kind) for name, kind in settings.kinds.items()}
    aside = about_aside(table)
    return replace(settings, names=names, label_column=label, aside=aside, kinds=kinds)


def about_aside(table: Table) -> dict[str, dict[str, str]]:
    """Return what is known about columns that are not compared; the schema keeps less."""
    return {
        column.name: {
            "kind": column.kind.name,
            "role": column.kind.role,
            "reason": column.kind.reason,
        }
        for column in table.aside
    }


def _label(table: Table) -> str | None:
    """Choose the column that names a row for people."""
    for column in table.aside:
        if column.kind.role == "name":
            return column.name
    best: tuple[int, str] | None = None
    for column in (*table.columns, *table.aside):
        if column.kind.name not in ("text", "category") or column.kind.role in ("code", "copy"):
            continue
        distinct = len({column.cell(row) for row in range(min(len(column), 2_000))})
        if best is None or distinct > best[0]:
            best = distinct, column.name
    return best[1] if best else None


def name_rows(table: Table, ids: Sequence[str | int], name: str) -> Table:
    """Return the table with a column of ids among those set aside."""
    aside: list[Column] = [column for column in table.aside if column.name != name]
    return Table(table.columns, [*aside, id_column(name, ids)], len(table), table.missing)


def stored_ids(rows: Sequence[StoredRow]) -> list[str | int]:
    """Return the ids of stored rows."""
    return [json.loads(row.id) for row in rows]


def build_index(rows: Sequence[StoredRow], schema: Schema, settings: CollectionSettings) -> Index:
    """Fit an index to stored rows."""
    table = read_stored([json.loads(row.record) for row in rows], schema)
    measure, _ = make(settings, table)
    named = name_rows(table, stored_ids(rows), settings.names)
    return Index(measure, id_column=settings.names).fit(named)


def make(settings: CollectionSettings, table: Table) -> tuple[Measure, str]:
    """Make the measure that the settings ask for, and say why.

    Weights are moved while somebody looks, so "auto" is a measure that weighs columns. Whatever is
    random has a seed, so that the index can be made again as it was.
    """
    if settings.measure == "auto":
        measure, reason = choose_measure(table, weighs_columns=True)
    else:
        measure, reason = make_measure(settings.measure, WHO, matrices=False), "given"
    if settings.weights:
        if "weights" not in measure.get_params(deep=False):
            raise InvalidInput(
                Param("measure", settings.measure),
                "a measure that weighs columns",
                "weights for another one",
                ("Use ", Param("measure", "gower"), ", or leave the weights out"),
            )
        measure.set_params(weights=dict(settings.weights))
    nested = measure.get_params()
    idle = [n for n in nested if n.endswith("random_state") and nested[n] is None]
    return measure.set_params(**dict.fromkeys(idle, 0)), reason


def check_measure(name: str) -> None:
    """Refuse a measure that does not exist before a job is made of it."""
    if name != "auto":
        make_measure(name, WHO, matrices=False)


def list_measures() -> list[dict[str, str]]:
    """Return the measures that can be asked for by name, each with a sentence about it."""
    found = [{"name": "auto", "text": "Chosen by the columns; weights can be moved."}]
    for name, (cls, options) in sorted(known_measures(matrices=False).items()):
        text = (cls.__doc__ or "").strip().partition("\n")[0]
        words = ", ".join(f"{key}={value}" for key, value in options.items())
        found.append({"name": name, "text": f"{text} ({words})" if words else text})
    return found
