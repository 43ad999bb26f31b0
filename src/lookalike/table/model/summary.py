"""What the columns of a table hold, why, and what to look at before rows are compared."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike._runtime.frames import make_frame
from lookalike._runtime.text import percent, plain, short
from lookalike.errors import Phrase, message, suggest
from lookalike.show import layout
from lookalike.show.result import Result, Spell

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as Grid

    from lookalike.table.model.table import Column, Table

HEADS = ("column", "kind", "missing", "values", "why")
# All chosen by hand.
# Share of missing cells from which a column is called mostly missing.
MIN_SHARE_MOSTLY_MISSING = 0.5
# Distinct values per row from which a category hardly groups anything.
MIN_DISTINCT_SHARE_TO_WARN = 0.8
# Rows from which rising integers look like row numbers, not like measurements.
MIN_ROWS_OF_ROW_NUMBERS = 20
# Confidence up to which the second reading of a column is named.
MAX_CONFIDENCE_TO_DOUBT = 0.8
# Examples of a column, columns in a table for people, columns that a line below it names.
N_EXAMPLES, MAX_SHOWN_COLUMNS, MAX_NAMED_COLUMNS = 3, 100, 20


@dataclass(frozen=True)
class ColumnSummary:
    """What there is to say about one column.

    Parameters
    ----------
    column, kind, reason : str
        Its name, what it holds (as ``kinds=`` takes it), and why this is thought.
    compared : bool
        False for a column that was set aside.
    missing : int
        Cells without a value.
    missing_share : float
    distinct : int or None
        Different values; of sets and sequences, different items. None where it is not counted.
    low, high
        The ends of a number column, else None.
    examples : tuple
        Up to three values: the smallest, the median and the largest number, the most common
        categories or items, else a cell.
    values : str
        A few words about the values, for people.
    warnings : tuple of str
        What to look at before rows are compared.
    """

    column: str
    kind: str
    reason: str
    compared: bool
    missing: int
    missing_share: float
    distinct: int | None = None
    low: Any = None
    high: Any = None
    examples: tuple[Any, ...] = ()
    values: str = ""
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as values that JSON can hold."""
        return {name: plain(value) for name, value in vars(self).items()}


@dataclass(frozen=True)
class TableSummary(Sequence[ColumnSummary], Result):
    """What there is to say about each column of a table; behaves like a list of them.

    Made by ``Table.summary`` and ``lookalike.inspect``. ``summary["size"]`` is one column by its
    name.

    Parameters
    ----------
    n_rows : int
    columns : tuple of ColumnSummary
        The columns that are compared, then those set aside.
    name : str
        Of the table, for headings.
    """

    n_rows: int
    columns: tuple[ColumnSummary, ...]
    name: str = "table"

    @property
    def title(self) -> str:
        """How large the table is, in words."""
        rows, columns = self.n_rows, len(self.columns)
        plural = ["" if count == 1 else "s" for count in (rows, columns)]
        return f"{rows:,} row{plural[0]}, {columns} column{plural[1]}"

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[ColumnSummary]:
        return iter(self.columns)

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return self.columns[key]
        for column in self.columns:
            if column.column == key:
                return column
        names = [column.column for column in self.columns]
        raise KeyError(message("TableSummary", f"a column {key!r}", "none", suggest(key, names)))

    def records(self) -> list[dict[str, Any]]:
        """Return one dictionary of plain values per column."""
        return [column.to_dict() for column in self.columns]

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a data frame with one row per column of the table; lists become text.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
        """
        frame = self.cells()
        frame["examples"] = [", ".join(map(short, cell)) for cell in frame["examples"]]
        # Dates may be among numbers.
        for name in ("missing_share", "low", "high"):
            to = str if any(isinstance(cell, str) for cell in frame[name]) else float
            frame[name] = [None if cell is None else to(cell) for cell in frame[name]]
        return make_frame(frame, backend or self.backend)

    def cells(self) -> dict[str, list[Any]]:
        """Return one row per column of the table."""
        lines = [line | {"warnings": "; ".join(line["warnings"])} for line in self.records()]
        return {name: [line[name] for line in lines] for name in ColumnSummary.__dataclass_fields__}

    def to_dict(self) -> dict[str, Any]:
        """Return name, rows and columns as plain values."""
        return {"file": self.name, "rows": self.n_rows, "columns": self.records()}

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print the columns, then what to look at before rows are compared."""
        layout.headline(console, f"{self.name}: {self.title}")
        console.print(self.table())
        hidden = self.columns[MAX_SHOWN_COLUMNS:]
        more = Counter(column.kind if column.compared else "aside" for column in hidden)
        if more:
            kinds = ", ".join(f"{count:,} {kind}" for kind, count in more.most_common())
            rest = f"{more.total():,} more columns: {kinds} (csv and json have all)"
            layout.say(console, f"not shown: {rest}")
        for warning, columns in self._by_warning(spell).items():
            names = ", ".join(map(short, columns[:MAX_NAMED_COLUMNS]))
            unnamed = len(columns) - MAX_NAMED_COLUMNS
            others = f" and {unnamed:,} more" if unnamed > 0 else ""
            layout.say(console, f"! {names}{others}: {warning}", "yellow")

    def _by_warning(self, spell: Spell) -> dict[str, list[str]]:
        """Return warnings, each with its columns; what the table shows is left out."""
        columns: dict[str, list[str]] = {}
        for column in self:
            for warning in column.warnings:
                mostly = warning.startswith("mostly missing")
                if mostly or column.reason not in warning:
                    words = "mostly missing" if mostly else spell(warning)
                    columns.setdefault(words, []).append(column.column)
        return columns

    def table(self) -> Grid:
        """Return the columns as a table for a console, the first ones if there are very many."""
        aligned = ("left", "left", "right", "fold", "fold")
        lines = ((short(name), *words) for name, *words in self.grid()[:MAX_SHOWN_COLUMNS])
        return layout.grid(list(zip(HEADS, aligned, strict=True)), lines)

    def grid(self) -> list[tuple[str, ...]]:
        """Return column, kind, missing share, values and reason of each column as words."""
        return [
            (
                column.column,
                column.kind if column.compared else "(aside)",
                percent(column.missing_share) if column.missing else "",
                column.values,
                # The range stands among the values already.
                column.reason if column.low is None else _RANGE.sub("", column.reason),
            )
            for column in self.columns
        ]


_RANGE = re.compile(r" from \S+ to [^\s,]+(?=,|$)")


def summarize(table: Table) -> TableSummary:
    """Look at every column of a table."""
    columns = (_look_at(column, column.name in table) for column in table.every)
    return TableSummary(len(table), tuple(columns))


def _look_at(column: Column, compared: bool) -> ColumnSummary:
    present = np.flatnonzero(~column.missing)
    rows, kind = len(column), column.kind
    missing = rows - len(present)
    share = missing / rows if rows else 0.0
    found = _BY_KIND.get(kind.name, _objects)(column, present) if len(present) else {}
    constant, own = found.pop("constant", False), found.pop("warnings", [])
    warnings = [f"set aside: {kind.reason}"]
    if compared:
        warnings = ["constant: it tells no rows apart"] if constant and len(present) > 1 else []
        if share > MIN_SHARE_MOSTLY_MISSING:
            warnings.append(f"mostly missing: {missing:,} of {rows:,} cells")
        warnings += [*own, *([kind.remark] if kind.note else [])]
        if kind.close not in ("", kind.name) and kind.confidence <= MAX_CONFIDENCE_TO_DOUBT:
            # What the guess left open, and what to paste to have it otherwise.
            warnings.append(Phrase(f"may also be {kind.close!r}: use ", kind.paste(column.name)))
    about = (column.name, kind.label, kind.reason, compared, missing, share)
    return ColumnSummary(*about, **found, warnings=tuple(warnings))


# -- one function per kind, of the column and the positions of its present cells -------------------
# What is said of the values, whether they are all the same, and warnings.


def _numbers(column: Column, present: np.ndarray) -> dict[str, Any]:
    values = column.values[present]
    distinct = len(np.unique(values))
    order = present[np.argsort(values, kind="stable")]
    ranks = (0, (len(order) - 1) // 2, len(order) - 1)
    low, middle, high = (column.cell(int(order[rank])) for rank in ranks)
    warnings = []
    if infinite := int(np.isinf(values).sum()):
        warnings.append(f"infinite: {infinite:,} of its numbers, which most measures refuse")
    elif column.kind.source == "" and len(values) == len(column) >= MIN_ROWS_OF_ROW_NUMBERS:
        steps = np.diff(values)
        if (values == np.round(values)).all() and (steps > 0).all():
            what = "row numbers" if (steps == 1).all() else "an identifier"
            why = "integers that only rise; the kind 'aside' leaves it out"
            warnings.append(f"looks like {what}: {why}")
    words = f"{_grouped(low)} to {_grouped(high)}"
    if distinct > 2:
        words += f", median {_grouped(middle)}"
    examples = tuple(dict.fromkeys([low, middle, high]))
    about = {"values": words, "distinct": distinct, "constant": distinct == 1, "low": low}
    return about | {"high": high, "examples": examples, "warnings": warnings}


def _grouped(cell: Any) -> str:
    """Write a number; one of more digits than a year has them in groups of three."""
    whole = plain(cell)
    long = isinstance(whole, int) and not isinstance(whole, bool) and abs(whole) >= 10_000
    return f"{whole:,}" if long else short(cell)


def _codes(column: Column, present: np.ndarray) -> dict[str, Any]:
    codes, sizes = np.unique(column.values[present], return_counts=True)
    whole = int(sizes.sum())
    warnings = []
    rare = len(codes) > 2 and len(codes) >= MIN_DISTINCT_SHARE_TO_WARN * whole
    if column.kind.name == "category" and rare:
        warnings.append(
            f"hardly a category: {len(codes):,} values in {whole:,} rows; "
            "the kind 'text' or 'aside' may say more"
        )
    levels = column.kind.levels
    names = [levels[c] if c >= 0 else column.unknown.get(c, "unknown") for c in codes.tolist()]
    found = _common(Counter(dict(zip(names, sizes.tolist(), strict=True))), whole)
    if column.kind.name == "order":
        found["values"] = " < ".join(map(short, levels))
    return found | {"constant": len(codes) == 1, "warnings": warnings}


def _items(column: Column, present: np.ndarray) -> dict[str, Any]:
    cells = column.values[present]
    counts: Counter[Any] = Counter(item for cell in cells for item in set(cell))
    return _common(counts, len(cells)) | {"constant": len(set(cells)) == 1}


def _common(counts: Counter[Any], whole: int) -> dict[str, Any]:
    """Return the most common values, in words with their shares and as they are."""
    top = counts.most_common(N_EXAMPLES)
    words = ", ".join(f"{short(value)} {percent(count / whole)}" for value, count in top)
    words += ", …" if len(counts) > N_EXAMPLES else ""
    examples = tuple(value for value, _ in top)
    return {"values": words or "all empty", "distinct": len(counts), "examples": examples}


def _texts(column: Column, present: np.ndarray) -> dict[str, Any]:
    cells = column.values[present]
    # The first row of a sorted file is seldom typical.
    example = cells[len(cells) // 2]
    about = {"distinct": len(set(cells)), "constant": len(set(cells)) == 1}
    return about | {"values": f"such as {short(example)}", "examples": (example,)}


def _objects(column: Column, present: np.ndarray) -> dict[str, Any]:
    """Vectors and histograms, series and graphs by their size; other objects by an example."""
    kind, cells, example = column.kind.name, column.values[present], column.cell(int(present[0]))
    words, constant = f"such as {short(example)}", False
    if kind in ("vector", "histogram"):
        words = f"{cells.shape[1]} {'bins' if kind == 'histogram' else 'entries'}"
        constant = bool((cells == cells[0]).all())
    elif kind in ("series", "graph"):
        sizes = [len(cell.nodes if kind == "graph" else cell) for cell in cells]
        ends = dict.fromkeys((min(sizes), max(sizes)))
        words = " to ".join(f"{size:,}" for size in ends)
        words += " nodes each" if kind == "graph" else " values each"
    return {"values": words, "constant": constant, "examples": (example,)}


_BY_KIND = {
    "number": _numbers,
    **dict.fromkeys(("category", "order", "flag"), _codes),
    "text": _texts,
    **dict.fromkeys(("set", "sequence"), _items),
}
