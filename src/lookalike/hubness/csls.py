"""Cross-domain similarity local scaling."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lookalike.hubness.excess import _Excess
from lookalike.hubness.reducer import mean_of_lists
from lookalike.measures.contract.rows import Rows
from lookalike.saving.fields import Array, Fields, Real


class CSLS(_Excess):
    """Ask how much closer two rows are than each of them is to its own neighbors.

    ``2 d - r_x - r_y`` with r the mean distance to the k nearest neighbors. With the cosine
    distance this is, up to its sign, the CSLS of [1]_, which repairs the search for translations.

    Parameters
    ----------
    %(measure)s
    %(n_neighbors)s
    %(candidates)s

    Attributes
    ----------
    measure_ : the fitted measure inside
    offset_ : what is added so that no distance is negative, twice the largest r

    Notes
    -----
    ``distance`` is ``2 d - r_x - r_y + offset_``; subtract ``offset_`` to have the number of the
    paper. The r of a new row is cut at the largest fitted one, which changes none of its lists.
    Neighbors are ranked before the offset is added: beside one far row it is so large that
    distances which differ are shown as equal.

    References
    ----------
    .. [1] Conneau, Lample, Ranzato, Denoyer, Jegou (2018). Word Translation Without Parallel Data.
       International Conference on Learning Representations. doi:10.48550/arXiv.1710.04087

    Examples
    --------
    >>> from lookalike.hubness import CSLS
    >>> from lookalike.measures import Vector
    >>> measure = CSLS(Vector(), n_neighbors=2).fit([[0.0], [1.0], [3.0], [7.0]])
    >>> measure.distance()[0, 1:] - measure.offset_
    array([-1.5,  1.5,  7. ])
    """

    FIELDS: ClassVar[Fields] = {
        "offset_": Real(nan=True),
    }
    ROWS: ClassVar[Fields | None] = {
        "level": Array("float64", "n"),
    }

    def _facts(self, inner: Rows) -> dict[str, np.ndarray]:
        return {"level": mean_of_lists(self._near(inner, self.n_neighbors).distances)}

    def _factors(self, a: Rows, b: Rows, d: float) -> dict[str, float]:
        return {"r_x": float(a.arrays["level"][0]), "r_y": float(b.arrays["level"][0])}
