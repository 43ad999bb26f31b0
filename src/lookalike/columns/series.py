"""Time series: how far two curves are apart when one may be stretched against the other."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lookalike.columns.base import Distance, cell_error, show
from lookalike.columns.ragged import Ragged, RaggedOf
from lookalike.errors import WrongType
from lookalike.kernels.objects import warp_block
from lookalike.kernels.series import MSM as MSM_FORM
from lookalike.kernels.series import TWE as TWE_FORM
from lookalike.kernels.series import elastic_block
from lookalike.saving.fields import Fields, Integer, Maybe, Real
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


class _Elastic(Distance):
    """What the distances of curves that may be stretched share."""

    kinds = ("series",)
    CELLS = RaggedOf("float64", finite=True)
    FIELDS: ClassVar[Fields] = {"window": Maybe(Integer(0))}

    window: int | None

    def sample_size(self, longest: int) -> int:
        """Return how many cells are looked at for the scale, the longest being so long."""
        steps = self.n_pivots * max(1, longest) ** 2
        return int(min(self.n_sampled, max(16, 2_000_000_000 // steps)))

    def _encode(self, column: Column) -> Ragged:
        return Ragged.of(series_cells(column), np.float64)

    def _reach(self) -> int:
        """Return the window as kernels take it: -1 for None."""
        return -1 if self.window is None else int(self.window)


class DTW(_Elastic):
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

    def __init__(self, window: int | None = None, scale: float | None = None) -> None:
        self.window = window
        self.scale = scale

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        out = np.empty((len(a), len(b)))
        warp_block(a.values, a.offsets, b.values, b.offsets, self._reach(), out)
        return out


class _Priced(_Elastic):
    """An elastic distance with a price for each stretch, in units of the fitted values.

    Attributes
    ----------
    unit_ : float
        The standard deviation of all fitted values; 1 where they are all equal.
    """

    FIELDS: ClassVar[Fields] = {
        "price": Real(0.0, 1e300),
        "unit_": Real(0.0, open_low=True, finite=True),
    }

    form: ClassVar[int]
    stiffness = 0.0  # a second price, for time
    price: float
    unit_: float

    def _learn(self, column: Column) -> None:
        self._learn_parts(column, [column])

    def _learn_parts(self, like: Column, parts: Iterable[Column]) -> None:
        cells = [cell for part in parts for cell in series_cells(part) if cell is not None]
        values = np.concatenate([np.empty(0), *cells])
        # Sums without rounding do not depend on where parts begin.
        mean = math.fsum(values) / max(1, len(values))
        with np.errstate(over="ignore"):
            square = math.fsum((values - mean) ** 2) / max(1, len(values))
        self.unit_ = math.sqrt(square) if 0 < square < math.inf else 1.0

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        out = np.empty((len(a), len(b)))
        sides = a.values, a.offsets, b.values, b.offsets
        prices = self.price * self.unit_, self.stiffness * self.unit_
        elastic_block(*sides, self.form, self._reach(), prices, out)
        return out


@dataclass(eq=False, repr=False)
class MSM(_Priced):
    """How far two curves are apart when values may be moved, split and merged.

    The least sum of moves ``|x - y|``, and of splits and merges: each costs the price, and how far
    the new value is from the nearer one of its two neighbors if it is not between them [1]_. It is
    a metric, unlike "dtw", and among the best elastic distances for clusters and neighbors [2]_.
    Two empty series are at 0, an empty one and another at infinity.

    Parameters
    ----------
    price : float, default 1
        Of a split or merge, in standard deviations of the fitted values: for series that are each
        standardized the price of the literature.
    window : int, optional
        How many positions one series may run ahead of the other, widened to the difference in
        length. None: as many as it likes.
    scale : float, optional
        The distance of similarity 0; None: the largest one seen (see ``Distance``).

    References
    ----------
    .. [1] A. Stefan, V. Athitsos, G. Das (2013). The move-split-merge metric for time series. IEEE
       Transactions on Knowledge and Data Engineering 25(6), 1425-1438. doi:10.1109/TKDE.2012.88
    .. [2] C. Holder, M. Middlehurst, A. Bagnall (2024). A review and evaluation of elastic
       distance functions for time series clustering. Knowledge and Information Systems 66.
       doi:10.1007/s10115-023-01952-0

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> curve = np.empty(3, dtype=object)
    >>> curve[:] = [np.array([-1.0, -1.0, 1.0, 1.0]), np.array([-1.0, 1.0, 1.0]), None]
    >>> curve = Column("curve", Kind("series"), curve)
    >>> distance = MSM(price=0.5).fit(curve)
    >>> cells = distance.encode(curve)
    >>> distance.compare(cells[:1], cells).round(3)
    array([[0.   , 0.495,   nan]])
    """

    name = "msm"
    form = MSM_FORM

    price: float = 1.0
    window: int | None = None
    scale: float | None = None


@dataclass(eq=False, repr=False)
class TWE(_Priced):
    """How far two curves are apart when values may be left out, at a price for time as well.

    The least sum of matches, each of two values and of the two before them (a 0 precedes both
    series) plus twice the stiffness per step between their positions, and of values left out, each
    of its difference to the one before plus stiffness and price [1]_. It is a metric where the
    stiffness is above 0. Two empty series are at 0, an empty one and another at infinity.

    Parameters
    ----------
    price : float, default 1
        Of leaving out a value, in standard deviations of the fitted values.
    stiffness : float, default 0.001
        Of a step in time, in the same unit: 0 is near to "dtw", a large one to no warping at all.
    window : int, optional
        How many positions one series may run ahead of the other, widened to the difference in
        length. None: as many as it likes.
    scale : float, optional
        The distance of similarity 0; None: the largest one seen (see ``Distance``).

    References
    ----------
    .. [1] P.-F. Marteau (2009). Time warp edit distance with stiffness adjustment for time series
       matching. IEEE Transactions on Pattern Analysis and Machine Intelligence 31(2), 306-318.
       doi:10.1109/TPAMI.2008.76

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> curve = np.empty(2, dtype=object)
    >>> curve[:] = [np.array([-1.0, -1.0, 1.0, 1.0]), np.array([-1.0, 1.0, 1.0, 1.0])]
    >>> curve = Column("curve", Kind("series"), curve)
    >>> distance = TWE(price=0.5, stiffness=0.0).fit(curve)
    >>> cells = distance.encode(curve)
    >>> distance.compare(cells[:1], cells).round(3)
    array([[0.   , 0.968]])
    """

    name = "twe"
    form = TWE_FORM
    FIELDS: ClassVar[Fields] = {"stiffness": Real(0.0, 1e300)}

    price: float = 1.0
    stiffness: float = 0.001
    window: int | None = None
    scale: float | None = None
