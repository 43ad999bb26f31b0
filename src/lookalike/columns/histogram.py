"""Histograms: how two distributions over the same bins differ."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lookalike.columns.base import Cells
from lookalike.columns.vector import _RowDistance, blocks_of
from lookalike.saving.fields import Fields, Flag


def shares(rows: np.ndarray) -> np.ndarray:
    """Divide each row by its sum; a row whose sum is 0 stays as it is.

    Examples
    --------
    >>> shares(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """
    total = rows.sum(axis=1, keepdims=True)
    return np.asarray(rows / np.where(total == 0, 1.0, total))


class NormalizedEuclidean(_RowDistance):
    """How far two histograms are apart once each is divided by its total.

    Use it where the totals say nothing, such as counts from samples of different size.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> votes = Column("votes", Kind("histogram"), np.array([[1.0, 3.0], [10.0, 30.0], [4.0, 0.0]]))
    >>> distance = NormalizedEuclidean().fit(votes)
    >>> cells = distance.encode(votes)
    >>> distance.compare(cells[:1], cells).round(4)
    array([[0.    , 0.    , 1.0607]])
    """

    name = "normalized"
    kinds = ("histogram",)

    def _prepare(self, rows: np.ndarray) -> np.ndarray:
        return shares(rows)

    def _compare(self, a: Cells, b: Cells) -> np.ndarray:
        return blocks_of("euclidean", a, b)


class EarthMover(_RowDistance):
    """How much must be carried how many bins far to turn one histogram into the other.

    On a line of bins this is the sum of the absolute differences of the cumulative sums [1]_. A
    value that slips into the next bin costs little, unlike with "euclidean". Where the totals of
    two histograms differ, the surplus is carried out past the last bin; with ``normalized`` there
    is none.

    Parameters
    ----------
    normalized : bool, default False
        Divide each histogram by its total first (a total of 0 is left alone).
    scale : float, optional
        The distance of similarity 0; None: the largest one seen (see ``Distance``).

    References
    ----------
    .. [1] Y. Rubner, C. Tomasi, L. J. Guibas (2000). The earth mover's distance as a metric for
       image retrieval. International Journal of Computer Vision 40, 99-121.
       doi:10.1023/A:1026543900054

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.table.model.table import Column, Kind
    >>> bins = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> age = Column("age", Kind("histogram"), bins)
    >>> distance = EarthMover().fit(age)
    >>> cells = distance.encode(age)
    >>> distance.compare(cells[:1], cells)
    array([[0., 1., 2.]])
    """

    name = "earth_mover"
    kinds = ("histogram",)
    FIELDS: ClassVar[Fields] = {
        "normalized": Flag(),
    }

    def __init__(self, normalized: bool = False, scale: float | None = None) -> None:
        self.normalized = normalized
        self.scale = scale

    def _prepare(self, rows: np.ndarray) -> np.ndarray:
        return np.cumsum(shares(rows) if self.normalized else rows, axis=1)

    def _compare(self, a: Cells, b: Cells) -> np.ndarray:
        return blocks_of("cityblock", a, b)
