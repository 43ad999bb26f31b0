"""Random tables: mixed, with missing cells, constant columns and repeated rows, down to one row."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from lookalike.errors import MissingExtra
from lookalike.table import Table, read_table

try:
    from hypothesis import strategies as st
except ImportError as error:  # pragma: no cover
    raise MissingExtra(
        "lookalike.testing: hypothesis is not installed. Install it: pip install hypothesis."
    ) from error

SIMPLE = ("number", "category", "order", "flag")
LEVELS = ("low", "mid", "high")
WORDS = st.sampled_from(["a", "b", "c", "aa", "ab", "ba"])


def cells(kind: str) -> st.SearchStrategy[Any]:
    """Return a strategy for one cell of a kind that is not missing."""
    # Few values, exact in binary: ties are frequent, and sums do not round.
    small = st.integers(-8, 8).map(lambda n: n / 4)
    share = st.integers(0, 8).map(lambda n: n / 8)
    strategies: dict[str, st.SearchStrategy[Any]] = {
        # 32 bits wide: squares and sums of such numbers neither overflow nor underflow.
        "number": st.one_of(small, st.floats(-1e6, 1e6, width=32)),
        "category": st.sampled_from(["red", "green", "blue"]),
        "order": st.sampled_from(LEVELS),
        "flag": st.booleans(),
        "text": st.text("abc d", min_size=0, max_size=8),
        "set": st.frozensets(WORDS, max_size=4),
        "sequence": st.lists(WORDS, max_size=5).map(tuple),
        "series": st.lists(small, min_size=1, max_size=5),
        "histogram": st.lists(share, min_size=3, max_size=3),
        "vector": st.lists(small, min_size=3, max_size=3),
    }
    return strategies[kind]


@st.composite
def frames(
    draw: Any,
    kinds: Sequence[str] = SIMPLE,
    n_rows: int | None = None,
    min_rows: int = 1,
    max_rows: int = 12,
    missing: bool = True,
    max_columns: int = 5,
) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Return columns as lists, and the kinds to read them with.

    Parameters
    ----------
    kinds : kinds of column to choose from
    n_rows : exact number of rows, instead of ``min_rows`` to ``max_rows``
    missing : whether cells may be None
    max_columns : the most columns

    Examples
    --------
    >>> from hypothesis import given
    >>> from lookalike.testing import frames
    >>> @given(frames(kinds=("number",), n_rows=3, missing=False))
    ... def check(frame):
    ...     columns, kinds = frame
    ...     assert all(len(cells) == 3 for cells in columns.values())
    >>> check()
    """
    n = n_rows if n_rows is not None else draw(st.integers(min_rows, max_rows))
    chosen = draw(st.lists(st.sampled_from(list(kinds)), min_size=1, max_size=max_columns))
    columns: dict[str, list[Any]] = {}
    declared: dict[str, Any] = {}
    for number, kind in enumerate(chosen):
        cell = cells(kind)
        if missing and draw(st.booleans()):
            cell = st.one_of(st.none(), cell)
        constant = draw(st.integers(0, 5)) == 0  # a range of 0 divides by zero if it is forgotten
        column = st.lists(cell, min_size=n, max_size=n)
        columns[f"{kind}{number}"] = [draw(cells(kind))] * n if constant else draw(column)
        declared[f"{kind}{number}"] = list(LEVELS) if kind == "order" else kind
    if n > 1 and draw(st.booleans()):  # a repeated row: ties, and a distance of 0 to another row
        one, other = draw(st.integers(0, n - 1)), draw(st.integers(0, n - 1))
        for values in columns.values():
            values[one] = values[other]
    return columns, declared


@st.composite
def tables(draw: st.DrawFn, /, **options: Any) -> Table:
    """Return a typed table; options as for ``frames``.

    Examples
    --------
    >>> from hypothesis import given
    >>> from lookalike.testing import tables
    >>> @given(tables(min_rows=2))
    ... def check(table):
    ...     assert len(table) >= 2
    >>> check()
    """
    columns, kinds = draw(frames(**options))
    return read_table(columns, kinds=kinds)


@st.composite
def number_tables(
    draw: Any,
    min_rows: int = 1,
    max_rows: int = 12,
    n_columns: int | None = None,
    max_columns: int = 4,
) -> np.ndarray:
    """Return a matrix of numbers with many ties, repeated rows and constant columns.

    Examples
    --------
    >>> from hypothesis import given
    >>> from lookalike.testing import number_tables
    >>> @given(number_tables(n_columns=2))
    ... def check(x):
    ...     assert x.shape[1] == 2
    >>> check()
    """
    n = draw(st.integers(min_rows, max_rows))
    d = n_columns if n_columns is not None else draw(st.integers(1, max_columns))
    size = {"min_size": n * d, "max_size": n * d}
    x = np.asarray(draw(st.lists(cells("number"), **size)), dtype=np.float64).reshape(n, d)
    if draw(st.integers(0, 3)) == 0:
        x[:, draw(st.integers(0, d - 1))] = 1.0
    if n > 1 and draw(st.booleans()):
        x[draw(st.integers(0, n - 1))] = x[draw(st.integers(0, n - 1))]
    return x


@st.composite
def matrices(
    draw: Any, min_rows: int = 2, max_rows: int = 10, symmetric: bool = True
) -> np.ndarray:
    """Return a matrix of distances with ties: zero diagonal, symmetric if asked.

    Examples
    --------
    >>> from hypothesis import given
    >>> from lookalike.testing import matrices
    >>> @given(matrices())
    ... def check(d):
    ...     assert (d == d.T).all()
    >>> check()
    """
    n = draw(st.integers(min_rows, max_rows))
    entry = st.integers(0, 12).map(lambda m: m / 4)
    d = np.asarray(draw(st.lists(entry, min_size=n * n, max_size=n * n)), dtype=float)
    d = d.reshape(n, n)
    if symmetric:  # the upper triangle decides
        d = np.triu(d, 1) + np.triu(d, 1).T
    np.fill_diagonal(d, 0.0)
    return d
