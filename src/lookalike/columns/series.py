"""Time series: how far two curves are apart when one may be stretched against the other."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lookalike.columns.base import Distance, cell_error, show
from lookalike.columns.ragged import Ragged, RaggedOf
from lookalike.errors import WrongType
from lookalike.kernels.objects import warp_block
from lookalike.saving.fields import Fields, Integer, Maybe
from lookalike.table.model.table import Column


def series_cells(column: Column) -> list[np.ndarray | None]:
    """Return the series of a column as float arrays, None where one is missing."""
    out: list[np.ndarray | None] = []
    for row, cell in enumerate(column.values):
        if cell is None:
            out.append(None)
            continue
        try:
            values = np.asarray(cell, dtype=np.float64)
        except (TypeError, ValueError):
            values = np.empty((0, 0))
        if values.ndim != 1:
            hint = "Give each cell a list or a one-dimensional array of numbers"
            raise cell_error(column.name, row, "a series of numbers", show(cell), hint, WrongType)
        odd = np.flatnonzero(~np.isfinite(values))
        if len(odd):
            found = f"{values[odd[0]]} at position {odd[0]}"
            hint = "Fill the gaps of the series, or leave the whole cell missing"
            raise cell_error(column.name, row, "a series of finite numbers", found, hint)
        out.append(values)
    return out


class DTW(Distance):
    """How far two curves are apart once one is stretched to fit the other (dynamic time warping).

    The least sum of ``|x - y|`` over all ways of walking through both series, one step in either
    or in both at a time. Two empty series are at 0, an empty one and another at infinity. It is
    not a metric. For curves that are already aligned "euclidean" is cheaper.

    Parameters
    ----------
    window : int, optional
        How many positions one series may run ahead of the other (the band of Sakoe and Chiba),
        widened to the difference in length. None: as many as it likes.
    scale : float, optional
        The distance of similarity 0; None: the largest one seen (see ``Distance``; fewer rows are
        looked at where series are long, so that it stays within two billion steps).

    References
    ----------
    .. [1] H. Sakoe, S. Chiba (1978). Dynamic programming algorithm optimization for spoken word
       recognition. IEEE Transactions on Acoustics, Speech, and Signal Processing 26(1), 43-49.
       doi:10.1109/TASSP.1978.1163055

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> curve = np.empty(3, dtype=object)
    >>> curve[:] = [np.array([0.0, 0.0, 1.0, 2.0]), np.array([0.0, 1.0, 2.0]), None]
    >>> curve = Column("curve", Kind("series"), curve)
    >>> distance = DTW().fit(curve)
    >>> cells = distance.encode(curve)
    >>> distance.compare(cells[:1], cells)
    array([[ 0.,  0., nan]])
    """

    # Our own kernel rather than dtaidistance's: that one lays its window around both diagonals of
    # a table that is not square, which is another number than the band defined here; it takes one
    # pair at a time where 32 fit, which is ten times slower; and an answer must not depend on
    # which extras are installed. The tests compare the two where they mean the same.

    name = "dtw"
    kinds = ("series",)
    CELLS = RaggedOf("float64", finite=True)
    FIELDS: ClassVar[Fields] = {"window": Maybe(Integer(0))}

    def __init__(self, window: int | None = None, scale: float | None = None) -> None:
        self.window = window
        self.scale = scale

    def sample_size(self, longest: int) -> int:
        """Return how many cells are looked at for the scale, the longest being so long."""
        steps = self.n_pivots * max(1, longest) ** 2
        return int(min(self.n_sampled, max(16, 2_000_000_000 // steps)))

    def _encode(self, column: Column) -> Ragged:
        return Ragged.of(series_cells(column), np.float64)

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        out = np.empty((len(a), len(b)))
        window = -1 if self.window is None else int(self.window)
        warp_block(a.values, a.offsets, b.values, b.offsets, window, out)
        return out
