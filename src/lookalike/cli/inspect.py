"""``lookalike inspect``: what the columns hold, why, and what to look at before comparing rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lookalike.cli.options import File, Form, Kinds, Missing, read
from lookalike.cli.output import (
    Output,
    cells,
    clean,
    grid,
    headline,
    paper,
    plain,
    short,
    write_csv,
    write_json,
)

if TYPE_CHECKING:
    import numpy as np
    from rich.table import Table as Grid

    from lookalike.table import Column, Table

__all__ = ["Facts", "facts", "inspect", "kinds_grid"]

MOSTLY = 0.5  # share of gaps from which a column is called mostly missing
NEARLY = 0.8  # distinct values per row from which a category hardly groups anything
MANY = 20  # rows from which rising whole numbers look like row numbers, not like measurements


def inspect(
    file: File, kinds: Kinds = None, missing: Missing = None, output: Form = Output.table
) -> None:
    """Show what each column of a table holds, and the reason for thinking so."""
    table = read(file, kinds, missing)
    found = [facts(column) for column in table]
    found += [facts(column, aside=True) for column in table.aside]
    if output is Output.json:
        columns = [one.to_dict() for one in found]
        write_json({"file": file, "rows": len(table), "columns": columns})
    elif output is Output.csv:
        rows = [one.to_dict() | {"warnings": "; ".join(one.warnings)} for one in found]
        write_csv(list(rows[0]), [list(row.values()) for row in rows])
    else:
        console = paper()
        headline(console, f"{file}: {size(table)}")
        console.print(kinds_grid(found))
        for one in found:
            for warning in one.warnings:
                console.print(
                    f"! {clean(one.column)}: {clean(warning)}", style="yellow", markup=False
                )


def size(table: Table) -> str:
    """Say how large a table is."""
    columns = len(table.columns) + len(table.aside)
    rows = f"{len(table):,} row{'s' if len(table) != 1 else ''}"
    return f"{rows}, {columns} column{'s' if columns != 1 else ''}"


@dataclass(frozen=True)
class Facts:
    """What there is to say about one column.

    Parameters
    ----------
    column, kind, reason : str
    compared : bool
        False for a column that was set aside.
    missing : int
        Cells without a value.
    missing_share : float
    distinct : int or None
        Different values; of sets and sequences, different items.
    low, high : the ends of a number column
    values : str
        A few words about the values, for people.
    warnings : list of str
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
    values: str = ""
    warnings: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain values, without what only people need."""
        named = {name: plain(value) for name, value in vars(self).items()}
        del named["values"]
        return named


def kinds_grid(found: list[Facts]) -> Grid:
    """Return the facts as a table for people."""
    heads = [("column", "left"), ("kind", "left"), ("gaps", "right")]
    table = grid([*heads, ("values", "fold"), ("why", "fold")])
    for one in found:
        kind = one.kind if one.compared else "(aside)"
        gaps = "" if not one.missing else percent(one.missing_share)
        row = (short(one.column), kind, gaps, clean(one.values), clean(one.reason))
        table.add_row(*cells(row))
    return table


def percent(share: float) -> str:
    """Write a share; a small one is not rounded to nothing, nor a large one to all."""
    if 0 < share < 0.01:
        return "<1%"
    return ">99%" if 0.99 < share < 1 else f"{100 * share:.0f}%"


# -- the facts of one column ----------------------------------------------------------------------


def facts(column: Column, aside: bool = False) -> Facts:
    """Look at one column.

    Examples
    --------
    >>> from lookalike.table import read_table
    >>> table = read_table({"size": [1.0, None, 1.0], "color": ["red", "blue", "red"]})
    >>> found = facts(table["size"])
    >>> found.missing, found.distinct, found.warnings
    (1, 1, ['constant: it tells no rows apart'])
    >>> facts(table["color"]).values
    'red 67%, blue 33%'
    """
    gaps = column.missing
    missing, rows = int(gaps.sum()), len(column)
    share = missing / rows if rows else 0.0
    told: dict[str, Any] = {}
    if missing < rows:
        told = _KIND_FACTS.get(column.kind.name, _objects)(column, ~gaps)
    alike = told.pop("alike", told.get("distinct") == 1)
    warnings = []
    if aside:
        warnings.append(f"set aside: {column.kind.reason}")
    else:
        if alike and rows - missing > 1:
            warnings.append("constant: it tells no rows apart")
        if share > MOSTLY:
            warnings.append(f"mostly missing: {missing:,} of {rows:,} cells")
        warnings += told.pop("warnings", [])
    told.pop("warnings", None)
    kind, reason = column.kind.name, column.kind.reason
    return Facts(column.name, kind, reason, not aside, missing, share, warnings=warnings, **told)


def _numbers(column: Column, present: np.ndarray) -> dict[str, Any]:
    import numpy as np

    values = column.values[present]
    distinct = len(np.unique(values))
    ends = [column.cell(int(at)) for at in _places(column.values, present)]
    warnings = []
    infinite = int(np.isinf(values).sum())
    if infinite:
        warnings.append(f"infinite: {infinite:,} of its numbers, which most measures refuse")
    plain_number = column.kind.source == ""
    if plain_number and not infinite and len(values) == len(column) >= MANY:
        steps = np.diff(values)
        if (values == np.round(values)).all() and (steps > 0).all():
            what = "row numbers" if (steps == 1).all() else "an identifier"
            warnings.append(
                f"looks like {what}: whole numbers that only rise; "
                f"--kinds {column.name}=aside leaves it out"
            )
    low, middle, high = ends
    words = f"{short(low)} to {short(high)}"
    if distinct > 2:
        words += f", median {short(middle)}"
    return {"distinct": distinct, "low": low, "high": high, "values": words, "warnings": warnings}


def _places(values: np.ndarray, present: np.ndarray) -> list[int]:
    """Return where the smallest, the middle and the largest value stand."""
    import numpy as np

    at = np.flatnonzero(present)
    order = at[np.argsort(values[at], kind="stable")]
    return [int(order[i]) for i in (0, (len(order) - 1) // 2, -1)]


def _codes(column: Column, present: np.ndarray) -> dict[str, Any]:
    import numpy as np

    codes, counts = np.unique(column.values[present], return_counts=True)
    warnings = []
    if column.kind.name == "category" and len(codes) > 2 and len(codes) >= NEARLY * counts.sum():
        warnings.append(
            f"hardly a category: {len(codes):,} values in {int(counts.sum()):,} rows; "
            f"--kinds {column.name}=text or {column.name}=aside may say more"
        )
    if column.kind.name == "order":
        words = " < ".join(map(short, column.kind.levels))
    else:
        sizes = Counter(dict(zip(codes.tolist(), counts.tolist(), strict=True)))
        words = _common(sizes, int(counts.sum()), column.kind.levels)
    return {"distinct": len(codes), "values": words, "warnings": warnings}


def _common(counts: Counter[Any], whole: int, levels: tuple[Any, ...] = ()) -> str:
    """Name the most common values with their shares; with levels, the values are codes."""
    top = [
        f"{short(levels[value] if levels else value)} {percent(count / whole)}"
        for value, count in counts.most_common(3)
    ]
    return ", ".join(top) + (", …" if len(counts) > 3 else "")


def _texts(column: Column, present: np.ndarray) -> dict[str, Any]:
    held = column.values[present]
    example = held[len(held) // 2]  # the first row of a sorted file is seldom typical
    return {"distinct": len(set(held)), "values": f"such as {short(example)}"}


def _items(column: Column, present: np.ndarray) -> dict[str, Any]:
    held = column.values[present]
    counts: Counter[Any] = Counter(item for cell in held for item in set(cell))
    words = _common(counts, len(held)) if counts else "all empty"
    return {"distinct": len(counts), "alike": len(set(held)) == 1, "values": words}


def _matrix(column: Column, present: np.ndarray) -> dict[str, Any]:
    rows = column.values[present]
    words = f"{rows.shape[1]} {'bins' if column.kind.name == 'histogram' else 'entries'}"
    return {"alike": bool((rows == rows[0]).all()), "values": words}


def _series(column: Column, present: np.ndarray) -> dict[str, Any]:
    lengths = [len(cell) for cell in column.values[present]]
    return {"alike": False, "values": f"{_between(lengths)} values each"}


def _graphs(column: Column, present: np.ndarray) -> dict[str, Any]:
    sizes = [len(cell.nodes) for cell in column.values[present]]
    return {"alike": False, "values": f"{_between(sizes)} nodes each"}


def _between(sizes: list[int]) -> str:
    low, high = min(sizes), max(sizes)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _objects(column: Column, present: np.ndarray) -> dict[str, Any]:
    return {"alike": False, "values": f"such as {short(column.values[present][0])}"}


_KIND_FACTS = {
    "number": _numbers,
    "category": _codes,
    "order": _codes,
    "flag": _codes,
    "text": _texts,
    "set": _items,
    "sequence": _items,
    "series": _series,
    "histogram": _matrix,
    "vector": _matrix,
    "graph": _graphs,
}
