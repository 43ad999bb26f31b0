"""``lookalike search``: the rows nearest to a row of the table, or to a record given as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike.cli.compiling import compile_note
from lookalike.cli.measure import DEFAULT, make_measure
from lookalike.cli.options import File, Form, Kinds, Missing, read, read_json
from lookalike.cli.output import Output, note, warn, write_csv, write_json
from lookalike.errors import InvalidInput, TooFewRows, message, suggest

if TYPE_CHECKING:
    from lookalike.measures import Explanation, Measure
    from lookalike.table import Table

__all__ = ["Answer", "Hit", "find", "search"]

OURS = ("row", "distance", "similarity")  # the first columns of the CSV form


def search(
    file: File,
    row: Annotated[
        int | None,
        typer.Option("--row", help="Which row to start from, counted from 0.", show_default=False),
    ] = None,
    like: Annotated[
        str,
        typer.Option(
            "--like",
            metavar="JSON",
            help="A record to start from, such as '{\"year\": 1977}'; columns it does not name "
            "are gaps.",
            show_default=False,
        ),
    ] = "",
    k: Annotated[int, typer.Option("-k", min=1, help="How many rows to find.")] = 10,
    measure: Annotated[
        str,
        typer.Option(
            "--measure",
            metavar="NAME",
            help="What likeness means: gower (any columns, gaps too), ranked, vector, cosine, ...; "
            "options follow a colon: vector:metric=cityblock,scale=minmax.",
        ),
    ] = DEFAULT,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="A,B",
            help="Compare by these columns only; the others are still shown.",
            show_default=False,
        ),
    ] = None,
    kinds: Kinds = None,
    missing: Missing = None,
    why: Annotated[
        bool,
        typer.Option("--why", help="Show the two strongest reasons for and against each row."),
    ] = False,
    output: Form = Output.table,
) -> None:
    """Find the rows most like a row of the table, or like a record."""
    if (row is None) == (not like):  # typer has no word for "exactly one of the two"
        raise typer.BadParameter(
            "give either a row of the table or a record", param_hint="--row/--like"
        )
    chosen = make_measure(measure)
    start: int | dict[str, Any] = read_json(like, "--like") if row is None else row
    table = compare_by(read(file, kinds, missing), columns)
    with compile_note():
        chosen.fit(table)
        answer = find(chosen, table, start, k, why)
    if output is Output.json:
        write_json(answer.to_dict())
    elif output is Output.csv:
        write_csv(*answer.to_rows(why))
    else:
        from lookalike.cli.hits import show

        rows = f"{k} rows" if k > 1 else "row"
        show(answer, f"{file}: the {rows} most like {answer.start}, by {answer.measure}", why)
    lost = sum(hit.distance is None for hit in answer.hits)
    if lost:
        found = f"{lost} of the {len(answer.hits)} rows found"
        note(f"{found} have nothing to compare: no column is filled in both")


def compare_by(table: Table, columns: str | None) -> Table:
    """Return a table that is compared by some of its columns; the others are kept for display."""
    if columns is None:
        return table
    from lookalike.table import Table

    every = {column.name: column for column in table.columns + table.aside}
    # A column name may itself hold a comma; then it is named alone.
    names = [columns] if columns in every else [name.strip() for name in columns.split(",")]
    names = list(dict.fromkeys(name for name in names if name))
    for name in names or [columns]:
        if name not in every:
            do = suggest(name, every)
            raise InvalidInput(message("--columns", "columns of the table", repr(name), do))
    rest = [column for name, column in every.items() if name not in names]
    return Table([every[name] for name in names], rest, len(table), table.missing)


# -- the answer -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hit:
    """One row that was found; distance and similarity are None where nothing can be compared."""

    row: int
    distance: float | None
    similarity: float | None
    why: Explanation | None = None


@dataclass(frozen=True)
class Answer:
    """What a search found.

    Parameters
    ----------
    table : Table
        The rows that were searched.
    query : Table
        The one row that was asked about.
    row : int or None
        Where the query stands in the table; None for a record.
    measure : str
    hits : list of Hit, nearest first
    """

    table: Table
    query: Table
    row: int | None
    measure: str
    hits: list[Hit]

    @property
    def start(self) -> str:
        """What was asked about, in words."""
        return "the record" if self.row is None else f"row {self.row}"

    def reasons(self, hit: Hit) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the two strongest reasons for and against, with the two cells compared."""
        if hit.why is None:
            return [], []
        plus, minus = (
            [
                {
                    "column": name,
                    "share": share,
                    "query": self.query[name].cell(0),
                    "found": self.table[name].cell(hit.row),
                }
                for name, share in side
            ]
            for side in hit.why.reasons(2)
        )
        return plus, minus

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain values."""
        hits = []
        for hit in self.hits:
            told = {name: getattr(hit, name) for name in OURS}
            if hit.why is not None:
                told["for"], told["against"] = self.reasons(hit)
            hits.append(told | {"record": self.table.record(hit.row)})
        query = {"row": self.row, "record": self.query.record(0)}
        return {"measure": self.measure, "query": query, "hits": hits}

    def to_rows(self, why: bool) -> tuple[list[str], list[list[Any]]]:
        """Return headings and rows; a column of the table named like one of ours gets a prefix."""
        from lookalike.cli.hits import reason

        names = list(self.table.record(0))
        reserved = (*OURS, "for", "against") if why else OURS
        heads = [*reserved, *(f"table.{name}" if name in reserved else name for name in names)]
        rows = []
        for hit in self.hits:
            told = [getattr(hit, name) for name in OURS]
            if why:
                told += ["; ".join(map(reason, side)) for side in self.reasons(hit)]
            rows.append(told + list(self.table.record(hit.row).values()))
        return heads, rows


def find(
    measure: Measure, table: Table, query: int | dict[str, Any], k: int, why: bool = False
) -> Answer:
    """Find the rows nearest to a row or to a record.

    Parameters
    ----------
    measure : Measure, fitted on the table
    table : Table
    query : int or dict
        A row, which is then left out of its own list, or a record.
    k : int
    why : bool
        Whether to explain every hit.
    """
    import numpy as np

    if isinstance(query, int):
        _check_row(query, len(table))
        asked = table[query : query + 1]
        rows, exclude = measure.rows_[query : query + 1], np.array([query])
    else:
        asked = _as_row(query, measure, table)
        rows, exclude = measure.encode(asked), None
    most = len(table) - isinstance(query, int)
    if k > most:
        do = f"Lower -k to {most}" if most else "Add rows"
        raise TooFewRows(message(f"-k {k}", f"{k:,} other rows", f"{most:,}", do))
    graph = measure.nearest(rows, measure.rows_, k, exclude=exclude)
    graph = graph.finish("last" if measure.traits.undefined_last else "raise")
    places = graph.indices[0]
    alike = measure.block(rows, measure.rows_[places], "similarity")[0]
    hits = []
    for place, far, near in zip(
        places.tolist(), graph.distances[0].tolist(), alike.tolist(), strict=True
    ):
        start = query if isinstance(query, int) else asked
        told = measure.explain(start, place) if why else None
        hits.append(Hit(place, _finite(far), _finite(near), told))
    at = query if isinstance(query, int) else None
    return Answer(table, asked, at, type(measure).__name__, hits)


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None


def _check_row(row: int, rows: int) -> None:
    if not 0 <= row < rows:
        do = "Count rows from 0, without the line of headings"
        raise InvalidInput(message("--row", f"a row from 0 to {rows - 1}", str(row), do))


def _as_row(record: dict[str, Any], measure: Measure, table: Table) -> Table:
    """Read a record as one row of the fitted table; columns it does not name are gaps."""
    from lookalike.measures.numeric import NUMERIC
    from lookalike.table import as_table

    compared = list(measure.schema_.kinds)
    every = [*compared, *measure.schema_.aside]
    for name in record:
        if name not in every:
            raise InvalidInput(
                message("--like", "columns of the table", repr(name), suggest(name, every))
            )
    given = [name for name in compared if record.get(name) is not None]
    if not given:
        names = ", ".join(map(repr, compared[:5])) + (", ..." if len(compared) > 5 else "")
        found = "none of them" if record else "an empty record"
        do = "Name at least one, or use --row"
        raise InvalidInput(message("--like", f"some of the columns {names}", found, do))
    if not measure.traits.missing:
        needed = [name for name in compared if measure.schema_.kinds[name].name in NUMERIC]
        lacking = [name for name in needed if name not in given]
        if lacking:
            who = f"--like with {type(measure).__name__}"
            found = "no " + ", ".join(map(repr, lacking))
            do = f"Add them, or use --measure {DEFAULT}, which takes gaps"
            raise InvalidInput(message(who, "a value in every number column", found, do))
    whole = {name: record.get(name) for name in compared}
    whole |= {name: record[name] for name in measure.schema_.aside if name in record}
    asked = as_table([whole], measure.schema_, who="--like")
    for column in asked:
        if column.unknown:
            new = ", ".join(repr(value) for value in column.unknown.values())
            warn(f"--like: {new} does not occur in the column {column.name!r}, so no row shares it")
    return asked
