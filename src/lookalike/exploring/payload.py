"""The compared columns of a table as arrays, which a page compares without a server.

Every column becomes codes of its distinct cells, and what two codes differ by: numbers keep their
encoded values, levels and objects with few distinct cells a table. An object with many distinct
cells has the differences of each row to some others only: the nearest in this column and the
nearest in all columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike._runtime.text import plain
from lookalike._runtime.threads import blocks, run
from lookalike.measures.mixed.gower import Gower
from lookalike.measures.mixed.plan import COLUMN, SIMPLE
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
    writer, plan = _Writer(measure, arrays), measure.plan_
    joined = table.join(plan.joined)
    together = {", ".join(names): list(names) for names in plan.joined}
    missing = plan.missing(measure.rows_.arrays)
    listed: list[tuple[dict[str, Any], int]] = []
    columns = []
    # As the plan has them: sums in another order round differently from those of the library.
    for j, name in enumerate(plan.names):
        parts, dropped = together.get(name, [name]), name in plan.dropped
        column = {"name": name, "parts": parts, "dropped": dropped}
        how = writer.simple(j)
        if how is None:
            cells, gone = joined[name], missing[:, j]
            how = writer.distinct(j, [dumps(plain(cells.cell(r))) for r in range(len(gone))], gone)
        columns.append(column | (how or {"how": "list", "gaps": arrays.add(missing[:, j], "u1")}))
        if how is None:
            listed.append((columns[-1], j))
    if listed:
        writer.lists(listed)
    return columns


class _Writer:
    """Writes the columns of a measure in one of three ways; None where one does not fit.

    Parameters
    ----------
    measure : Gower, fitted
    arrays : Arrays
    """

    def __init__(self, measure: Gower, arrays: Arrays) -> None:
        self.measure, self.arrays = measure, arrays
        self.plan, self.rows = measure.plan_, measure.rows_

    def simple(self, j: int) -> dict[str, Any] | None:
        """Write a column of the kernel's groups; others have to be compared by pairs."""
        plan, arrays = self.plan, self.arrays
        group = int(np.searchsorted(plan.ends, j, side="right"))
        if j >= plan.n_simple or group == 1:  # curved numbers: powers differ between languages
            return None
        values = self.rows.arrays[SIMPLE][:, j]
        here = ~np.isnan(values)
        if group == 4:
            start, size = plan.starts[j].tolist()
            codes = np.where(here, values + 1, 0).astype(np.int64)
            return self.table(codes, plan.levels[start : start + size * size], size)
        distinct = np.unique(values[here])
        codes = np.where(here, np.searchsorted(distinct, values) + 1, 0)
        how = {"how": ("number", "", "equal", "flag")[group], "codes": arrays.codes(codes)}
        return how | {"values": arrays.add(np.concatenate([[np.nan], distinct]), "f8")}

    def table(self, codes: np.ndarray, differs: np.ndarray, size: int) -> dict[str, Any]:
        """Write a square of differences by its distinct values: few, in most tables."""
        how: dict[str, Any] = {"how": "table", "codes": self.arrays.codes(codes)}
        distinct, codes = np.unique(differs.ravel(), return_inverse=True)
        how |= {"size": size, "table": self.arrays.codes(codes)}
        return how | {"values": self.arrays.add(distinct, "f8")}

    def distinct(self, j: int, keys: list[str], gone: np.ndarray) -> dict[str, Any] | None:
        """Write the differences of all distinct cells, unless these are too many."""
        first: dict[str, int] = {}
        # Cells are counted before any are compared: the differences grow with their square.
        for row in np.flatnonzero(~gone).tolist():
            first.setdefault(keys[row], row)
            if len(first) > MAX_DISTINCT:
                return None
        number = {key: code for code, key in enumerate(first, 1)}
        holders = np.array(list(first.values()), np.int64)
        pairs = zip(keys, gone.tolist(), strict=True)
        codes = np.array([0 if out else number[key] for key, out in pairs])
        return self.table(codes, self.differences(j, holders, holders), len(first))

    def differences(self, j: int, some: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Return the differences of rows, by their positions, to others."""
        plan, arrays = self.plan, self.rows.arrays
        if j < plan.n_simple:
            left, right = np.repeat(some, len(others)), np.tile(others, len(some))
            pairs = plan.simple_pairs(arrays[SIMPLE][left], arrays[SIMPLE][right])
            return pairs[:, j].reshape(len(some), len(others))
        distance, cells = plan.distances[plan.names[j]], arrays[COLUMN + plan.names[j]]
        return 1.0 - distance.similarity(cells[some], cells[others])

    def lists(self, listed: list[tuple[dict[str, Any], int]]) -> None:
        """Write the differences of each row to some others, and their mean to the rest."""
        n = len(self.rows)
        most = min(MAX_LISTED, LIST_BYTES // (BYTES_PER_PAIR * n * len(listed)))
        size = min(max(MIN_LISTED, most), n - 1)
        # Half of them by all columns: the first hits of the page are then those of the library.
        near, every = self.measure.neighbors(k=max(1, size // 2)).indices, np.arange(n)
        for column, j in listed:
            into = np.empty((n, size), np.int64), np.empty((n, size)), np.zeros(n)

            def fill(part: slice, j: int = j, into: Any = into) -> None:
                block = self.differences(j, every[part], every)
                here = np.arange(len(block))
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

            parts = [(part,) for part in blocks(n, ROWS_PER_BLOCK)]
            run(fill, parts, what=f"comparing {column['name']}")
            column |= {"size": size, "rows": self.arrays.codes(into[0])}
            column["differs"], column["usual"] = (self.arrays.add(one, "f4") for one in into[1:])


def write_baseline(measure: Gower, arrays: Arrays) -> dict[str, Any]:
    """Return the sample of rows that reasons are judged against, as the measure drew it."""
    baseline, plan = measure.baseline_, measure.plan_
    return {
        "sample": arrays.codes(baseline.seen),
        "simple": plan.n_simple,
        "objects": arrays.add(baseline.objects, "f8"),
        "mean": arrays.add(baseline.mean, "f8"),
    }
