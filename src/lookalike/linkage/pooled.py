"""Cells of one or two tables as normalized texts, pooled, so that kinds and spellings may differ.

A record that was typed twice differs in case, punctuation and slips of the pen; the same column may
even be read as dates in one table and as numbers in the other. So linkage compares what is written:
each distinct text is normalized once and gets a number, and pairs of rows are pairs of numbers.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike._runtime.threads import blocks, check_stopped
from lookalike.columns.text import score_pairs
from lookalike.errors import InvalidInput, Param
from lookalike.linkage.two_tables import WRITTEN, check_names, column_names, nothing_common
from lookalike.table import Column, Table

SETTLED_ASIDE = ("identifier", "constant", "copy")  # roles that are compared only if named
MAX_COLUMNS = 62  # bits of the mask that says in which columns a pair was found
MIN_DIGITS = 4  # from here on a number is also compared as digits: a slip changes one of them
RANDOM_PAIRS = 2_000  # whose differences say which one of two numbers is small
PAIRS_PER_CALL = 16_384  # between two looks whether the work was cancelled
MAX_CHARACTERS = 256  # of a cell that are compared; the distances are quadratic in them


@dataclass(frozen=True, eq=False)
class PooledColumn:
    """A column of both tables: distinct normalized texts, and which of them each row has.

    Parameters
    ----------
    name : str
    texts : list of str
    codes : int64
        Of each row of the first table, then of the second, the number of its text; -1: missing.
    numbers : float64 or None
        The value of each text, in a column of numbers.
    """

    name: str
    texts: list[str]
    codes: np.ndarray
    numbers: np.ndarray | None = None

    def similarity(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return similarities in [0, 1] of pairs of rows, NaN where a cell is missing.

        Texts by Levenshtein's share of equal letters, or by their words whatever the order, if
        those are more alike; numbers also by how many random pairs are farther apart.

        Parameters
        ----------
        left, right : int64, positions of rows
        """
        a, b = self.codes[left], self.codes[right]
        out = np.where(a == b, 1.0, np.nan)
        out[(a < 0) | (b < 0)] = np.nan
        open_ = np.flatnonzero((a != b) & (a >= 0) & (b >= 0))
        # Each pair of texts once: rows of a block share most of theirs.
        keys = np.minimum(a, b)[open_] * len(self.texts) + np.maximum(a, b)[open_]
        distinct, back = np.unique(keys, return_inverse=True)
        i, j = np.divmod(distinct, max(1, len(self.texts)))
        out[open_] = self._compare(i, j)[back]
        return out

    def _compare(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Return similarities of texts by their numbers, which differ."""
        out = np.empty(len(i))
        for part in blocks(len(i), PAIRS_PER_CALL):
            texts = ([self.texts[k] for k in side[part].tolist()] for side in (i, j))
            out[part] = score_pairs(*texts)
        if self.numbers is None:
            return out
        sizes = np.array([len(text) for text in self.texts])
        out[np.maximum(sizes[i], sizes[j]) < MIN_DIGITS] = 0.0
        values = self.numbers[self.codes[self.codes >= 0]]
        a, b = np.random.default_rng(0).choice(values, (2, RANDOM_PAIRS))
        usual, apart = np.sort(np.abs(a - b)), np.abs(self.numbers[i] - self.numbers[j])
        return np.maximum(out, 1.0 - np.searchsorted(usual, apart, "left") / RANDOM_PAIRS)


def pool_columns(
    left: Table, right: Table | None, on: Iterable[str] | None, by: Iterable[str] = ()
) -> tuple[list[PooledColumn], list[PooledColumn]]:
    """Return the columns to compare, and those in which pairs must be equal.

    Parameters
    ----------
    left : Table
    right : Table, optional
    on : names, optional
        None: all common columns but identifiers and constants; names that are set aside otherwise
        are compared, since they are what records of people and places are known by.
    by : names
    """
    tables = {"table": left} if right is None else {"table": left, "other": right}
    by, named = [*by], [*(on or ())]
    check_names(tables, {"on": named, "by": by}, ("on", "by"))
    chosen = named or [
        column.name
        for column in left.every
        if all(_is_evidence(table, column.name) for table in tables.values())
    ]
    pooled = {
        name: pool(name, [table[name] for table in tables.values()])
        for name in dict.fromkeys([*chosen, *by])
    }
    ends = [len(left)] * (len(tables) - 1)

    def tells(name: str) -> bool:
        """Whether both tables have values; else no pair could be compared by the column."""
        return all((part >= 0).any() for part in np.split(pooled[name].codes, ends))

    compared = [pooled[name] for name in pooled if name not in by and tells(name)]
    if not compared:
        raise nothing_common(tables, chosen, by)
    if len(compared) > MAX_COLUMNS:
        hint = ("Name those that say who a record is: ", Param("on", chosen[:2]))
        raise InvalidInput(Param("on"), f"at most {MAX_COLUMNS} columns", str(len(compared)), hint)
    return compared, [pooled[name] for name in by]


def _is_evidence(table: Table, name: str) -> bool:
    if name not in column_names(table):
        return False
    kind = table[name].kind
    return kind.name in WRITTEN and (name in table.names or kind.role not in SETTLED_ASIDE)


def pool(name: str, columns: Sequence[Column]) -> PooledColumn:
    """Return a column of one or two tables as texts.

    Examples
    --------
    >>> import lookalike as la
    >>> table = la.read_table({"name": ["Café  Blue-Door", "cafe blue door", "Old Mill"] * 2})
    >>> pooled = pool("name", [table["name"]])
    >>> pooled.texts, pooled.codes.tolist()
    (['cafe blue door', 'old mill'], [0, 0, 1, 0, 0, 1])
    """
    # Dates are seconds: beside plain numbers only what is written can be compared.
    sources = {(column.kind.name, column.kind.source) for column in columns}
    numeric = len(sources) == 1 and columns[0].kind.name == "number"
    seen: dict[str, int] = {}
    numbers: list[float] = []
    parts = []
    for column in columns:
        check_stopped()
        cells, back = _distinct(column)
        codes, rows = np.full(len(cells) + 1, -1), np.zeros(len(cells) + 1, np.int64)
        rows[back] = np.arange(len(back))  # one of those that have each cell
        for k, cell in enumerate(cells):
            # Signs and points of numbers matter.
            text = write(cell) if numeric else normalize(write(cell))
            if text:
                codes[k] = seen.setdefault(text, len(seen))
                if numeric and len(numbers) < len(seen):
                    numbers.append(float(column.values[rows[k]]))
        parts.append(codes[back])
    values = np.array(numbers) if numeric else None
    return PooledColumn(name, [*seen], np.concatenate(parts), values)


def _distinct(column: Column) -> tuple[list[Any], np.ndarray]:
    """Return distinct cells as Python values, and the number of that of each row; -1: missing."""
    missing = column.missing
    if column.values.dtype == object:
        seen: dict[Any, int] = {}
        cells = [None if gone else c for c, gone in zip(column.values, missing, strict=True)]
        numbers = [-1 if c is None else seen.setdefault(c, len(seen)) for c in cells]
        return [*seen], np.array(numbers, np.int64)
    _, first, back = np.unique(column.values, return_index=True, return_inverse=True)
    return [column.cell(row) for row in first.tolist()], np.where(missing, -1, back)


def write(cell: Any) -> str:
    """Write a cell as a person would have typed it.

    Examples
    --------
    >>> import datetime as dt
    >>> write(dt.datetime(1956, 4, 9)), write(7.0), write(frozenset({"b", "a"}))
    ('19560409', '7', 'a b')
    """
    if cell is None:
        return ""
    if hasattr(cell, "strftime"):
        return cell.strftime("%Y%m%d%H%M%S").removesuffix("000000")
    if isinstance(cell, float) and cell.is_integer():
        return f"{cell:.0f}"
    if isinstance(cell, frozenset):
        return " ".join(sorted(map(str, cell)))
    return " ".join(map(str, cell)) if isinstance(cell, tuple) else str(cell)


def normalize(text: str) -> str:
    """Return letters and digits of a text, in lower case, without accents.

    Examples
    --------
    >>> normalize(" 310/246-1501 "), normalize("Ménil's")
    ('310 246 1501', 'menil s')
    """
    from rapidfuzz.utils import default_process

    text = text[:MAX_CHARACTERS]
    if not text.isascii():
        plain = unicodedata.normalize("NFKD", text)
        text = "".join(one for one in plain if not unicodedata.combining(one))
    return " ".join(default_process(text).split())
