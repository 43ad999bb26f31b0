"""Sets of tokens: how much of them is shared."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.columns.base import Distance, cell_error, show
from lookalike.columns.ragged import Ragged, RaggedOf
from lookalike.columns.tokens import Tokens
from lookalike.errors import WrongType
from lookalike.kernels import fallback
from lookalike.kernels.first_use import pick
from lookalike.kernels.objects import jaccard_of_counts, overlap_of_counts, shared_counts
from lookalike.saving.fields import Field
from lookalike.table.model.table import Column


def pack(rows: list[list[int] | None]) -> Ragged:
    """Pack lists of token numbers, None for a missing row."""
    lengths = [0 if row is None else len(row) for row in rows]
    ends = np.cumsum([0, *lengths], dtype=np.int64)
    flat = (number for row in rows if row is not None for number in row)
    values = np.fromiter(flat, dtype=np.int64, count=int(ends[-1]))
    return Ragged(values, ends, np.array([row is None for row in rows], dtype=bool))


def shared(a: Ragged, b: Ragged) -> np.ndarray:
    """Count the equal tokens of every row of a and every row of b."""
    out = np.empty((len(a), len(b)))
    write = pick(shared_counts, fallback.shared_counts, len(a) * len(b.values))
    write(a.values, a.offsets, b.values, b.offsets, out)
    return out


def sizes(cells: Ragged) -> np.ndarray:
    """Return how many tokens each row has."""
    return np.diff(cells.offsets).astype(np.float64)


def jaccard(a: Ragged, b: Ragged) -> np.ndarray:
    """Return the share of the union of two rows of distinct tokens that they do not share."""
    out = shared(a, b)
    pick(jaccard_of_counts, fallback.jaccard_of_counts, out.size)(out, sizes(a), sizes(b))
    return out


class _Sets(Distance):
    kinds = ("set",)

    def _encode(self, column: Column) -> Ragged:
        tokens = Tokens()
        rows: list[list[int] | None] = []
        for row, cell in enumerate(column.values):
            if cell is None:
                rows.append(None)
            elif isinstance(cell, frozenset | set):
                rows.append(sorted(set(tokens.of(cell))))
            else:
                hint = "Give each cell a set, such as {'a', 'b'}, or make the column a text"
                raise cell_error(column.name, row, "a set", show(cell), hint, WrongType)
        return pack(rows)

    def cells_shape(self) -> Field:
        """Return what encoded cells look like."""
        return RaggedOf("int64", high=-2)


class Jaccard(_Sets):
    """How much of what two sets hold together is not held by both.

    ``1 - |u & v| / |u | v|``: 0 for equal sets, 1 for sets without a common token; two empty sets
    are equal. Tokens may be texts, numbers, tuples or frozensets; new tokens need no fitting.

    References
    ----------
    .. [1] P. Jaccard (1912). The distribution of the flora in the alpine zone. New Phytologist
       11(2), 37-50. doi:10.1111/j.1469-8137.1912.tb05611.x

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> tags = np.array([frozenset({1, 2, 3}), frozenset({2, 3, 4}), frozenset(), None])
    >>> tags = Column("tags", Kind("set"), tags)
    >>> distance = Jaccard().fit(tags)
    >>> cells = distance.encode(tags)
    >>> distance.compare(cells[:1], cells)
    array([[0. , 0.5, 1. , nan]])
    """

    name = "jaccard"

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        return jaccard(a, b)


class Overlap(_Sets):
    """How much of the smaller set is not in the larger one.

    ``1 - |u & v| / min(|u|, |v|)``: 0 as soon as one set contains the other, which makes it right
    for lists of different completeness and wrong where size matters. Two empty sets are at 0, an
    empty one and another at 1.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> tags = Column("tags", Kind("set"), np.array([frozenset("abc"), frozenset("bcxyz")]))
    >>> distance = Overlap().fit(tags)
    >>> cells = distance.encode(tags)
    >>> distance.compare(cells[:1], cells).round(3)
    array([[0.   , 0.333]])
    """

    name = "overlap"

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        out = shared(a, b)
        overlap_of_counts(out, sizes(a), sizes(b))
        return out
