"""The compared columns of a table as arrays, which a page compares without a server.

Every column becomes codes of its distinct cells, and what two codes differ by: numbers keep their
encoded values, levels and objects with few distinct cells a table. An object with many distinct
cells has the differences of each row to some others only: the nearest in this column and the
nearest in all columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lookalike._runtime.text import plain
from lookalike._runtime.threads import blocks, run
from lookalike.measures.contract.rows import Rows
from lookalike.measures.mixed.gower import Gower
from lookalike.measures.mixed.plan import COLUMN, SIMPLE, MixedPlan
from lookalike.service.cells import dumps
from lookalike.table import Table

MAX_DISTINCT = 255  # cells whose differences are a table: its codes are bytes, 0 is missing
LIST_BYTES = 1_000_000  # for the listed pairs of all columns; a page stays below 3 MB
BYTES_PER_PAIR = 8
MIN_LISTED, MAX_LISTED = 8, 64  # rows that each row has a difference to; chosen by hand
ROWS_PER_BLOCK = 64
TYPES = {"u1": "Uint8Array", "u2": "Uint16Array", "u4": "Uint32Array", "f4": "Float32Array"}
TYPES["f8"] = "Float64Array"


class Arrays:
    """Arrays one after another, each named by its type, where it begins and its length."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, values: Any, kind: str) -> dict[str, Any]:
        """Append an array as little-endian ``kind``; return where it is."""
        data = np.ascontiguousarray(values, f"<{kind}").tobytes()
        place = {"type": TYPES[kind], "at": self._size, "n": int(np.size(values))}
        data += bytes(-len(data) % 8)  # typed arrays of a browser begin at multiples of their size
        self._parts.append(data)
        self._size += len(data)
        return place

    def codes(self, values: np.ndarray) -> dict[str, Any]:
        """Append integers >= 0 in as few bytes as they need."""
        # A byte for each row where cells are few: the page is one file, to be sent and opened.
        top = int(values.max(initial=0))
        return self.add(values, "u1" if top < 2**8 else "u2" if top < 2**16 else "u4")

    def to_bytes(self) -> bytes:
        """Return all of them."""
        return b"".join(self._parts)


def write_columns(measure: Gower, table: Table, arrays: Arrays) -> list[dict[str, Any]]:
    """Return how each compared column is compared, in the order of all sums.

    Parameters
    ----------
    measure : Gower, fitted to the rows of the table
    table : Table
    arrays : Arrays
        Where codes and differences are appended.
    """
    plan, rows = measure.plan_, measure.rows_
    joined = table.join(plan.joined)
    together = {", ".join(names): list(names) for names in plan.joined}
    missing = plan.missing(rows.arrays)
    listed: list[tuple[dict[str, Any], int]] = []
    columns = []
    # As the plan has them: sums in another order round differently from those of the library.
    for j, name in enumerate(plan.names):
        column: dict[str, Any] = {
            "name": name,
            "parts": together.get(name, [name]),
            "dropped": name in plan.dropped,
        }
        if not _write_simple(plan, rows, j, column, arrays):
            cells = joined[name]
            keys = [dumps(plain(cells.cell(row))) for row in range(len(joined))]
            if not _write_table(plan, rows, j, (keys, missing[:, j]), column, arrays):
                column |= {"how": "list", "gaps": arrays.add(missing[:, j], "u1")}
                listed.append((column, j))
        columns.append(column)
    if listed:
        _write_lists(measure, listed, arrays)
    return columns


def _write_simple(
    plan: MixedPlan, rows: Rows, j: int, column: dict[str, Any], arrays: Arrays
) -> bool:
    """Write a column of the kernel's groups; False where it has to be compared by pairs."""
    group = int(np.searchsorted(plan.ends, j, side="right"))
    if j >= plan.n_simple or group == 1:  # curved numbers: powers differ between languages
        return False
    values = rows.arrays[SIMPLE][:, j]
    here = ~np.isnan(values)
    if group == 4:
        start, size = plan.starts[j].tolist()
        codes = np.where(here, values + 1, 0).astype(np.int64)
        table = plan.levels[start : start + size * size]
        column |= {"how": "table", "codes": arrays.codes(codes)} | _table(table, size, arrays)
        return True
    distinct = np.unique(values[here])
    codes = np.where(here, np.searchsorted(distinct, values) + 1, 0)
    column |= {"how": ("number", "", "equal", "flag")[group], "codes": arrays.codes(codes)}
    column["values"] = arrays.add(np.concatenate([[np.nan], distinct]), "f8")
    return True


def _table(differs: np.ndarray, size: int, arrays: Arrays) -> dict[str, Any]:
    """Write a square of differences by its distinct values: few, in most tables."""
    distinct, codes = np.unique(differs.ravel(), return_inverse=True)
    return {"size": size, "table": arrays.codes(codes), "values": arrays.add(distinct, "f8")}


def _write_table(
    plan: MixedPlan,
    rows: Rows,
    j: int,
    cells: tuple[list[str], np.ndarray],
    column: dict[str, Any],
    arrays: Arrays,
) -> bool:
    """Write the differences of all distinct cells; False where these are too many."""
    keys, gone = cells
    first: dict[str, int] = {}
    # Cells are counted before any are compared: the differences grow with their square.
    for row in np.flatnonzero(~gone).tolist():
        first.setdefault(keys[row], row)
        if len(first) > MAX_DISTINCT:
            return False
    number = {key: code for code, key in enumerate(first, 1)}
    holders = np.array(list(first.values()), np.int64)
    codes = np.array([0 if out else number[k] for k, out in zip(keys, gone.tolist(), strict=True)])
    differs = _differences(plan, rows, j)(holders, holders)
    column |= {"how": "table", "codes": arrays.codes(codes)}
    column |= _table(differs, len(first), arrays)
    return True


def _differences(
    plan: MixedPlan, rows: Rows, j: int
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return a function from positions of rows, and of others, to their differences."""
    name = plan.names[j]
    if j < plan.n_simple:
        simple = rows.arrays[SIMPLE]

        def by_kernel(some: np.ndarray, others: np.ndarray) -> np.ndarray:
            left, right = np.repeat(some, len(others)), np.tile(others, len(some))
            pairs = plan.simple_pairs(simple[left], simple[right])
            return pairs[:, j].reshape(len(some), len(others))

        return by_kernel
    distance, cells = plan.distances[name], rows.arrays[COLUMN + name]
    return lambda some, others: 1.0 - distance.similarity(cells[some], cells[others])


def _write_lists(measure: Gower, listed: list[tuple[dict[str, Any], int]], arrays: Arrays) -> None:
    """Write the differences of each row to some others, and their mean to the rest."""
    n = len(measure.rows_)
    most = min(MAX_LISTED, LIST_BYTES // (BYTES_PER_PAIR * n * len(listed)))
    size = min(max(MIN_LISTED, most), n - 1)
    # Half of them by all columns: the first hits of the page are then those of the library.
    near, every = measure.neighbors(k=max(1, size // 2)).indices, np.arange(n)
    for column, j in listed:
        indices, differs = np.empty((n, size), np.int64), np.empty((n, size))
        usual, differ = np.zeros(n), _differences(measure.plan_, measure.rows_, j)

        def fill(part: slice, differ: Any = differ, into: Any = (indices, differs, usual)) -> None:
            block, here = differ(every[part], every), np.arange(part.stop - part.start)
            order = np.where(np.isnan(block), np.inf, block)
            for rows in near[part].T:
                order[here[rows >= 0], rows[rows >= 0]] = -1.0
            order[here, every[part]] = np.inf  # the row itself is last
            best = np.argsort(order, axis=1, kind="stable")[:, :size]
            rest = ~np.isnan(block)
            rest[here, every[part]] = False
            np.put_along_axis(rest, best, False, axis=1)
            total, count = np.where(rest, block, 0.0).sum(axis=1), rest.sum(axis=1)
            into[0][part], into[1][part] = best, np.take_along_axis(block, best, axis=1)
            into[2][part] = total / np.maximum(count, 1)

        run(
            fill,
            [(part,) for part in blocks(n, ROWS_PER_BLOCK)],
            what=f"comparing {column['name']}",
        )
        column |= {
            "size": size,
            "rows": arrays.codes(indices),
            "differs": arrays.add(differs, "f4"),
            "usual": arrays.add(usual, "f4"),
        }


def write_baseline(measure: Gower, arrays: Arrays) -> dict[str, Any]:
    """Return the sample of rows that reasons are judged against, as the measure drew it."""
    baseline, plan = measure.baseline_, measure.plan_
    return {
        "sample": arrays.codes(baseline.seen),
        "simple": plan.n_simple,
        "objects": arrays.add(baseline.objects, "f8"),
        "mean": arrays.add(baseline.mean, "f8"),
    }
