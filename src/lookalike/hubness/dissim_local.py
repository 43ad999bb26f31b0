"""Local dissimilarity: distances without the pull of the local center."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lookalike._runtime.threads import blocks, run
from lookalike.hubness.excess import _Excess
from lookalike.hubness.reducer import mean_of_lists
from lookalike.measures.contract.rows import Rows
from lookalike.saving.fields import Array, Fields, Real


class DisSimLocal(_Excess):
    """Take away what makes rows near a local center everybody's neighbor.

    ``d**2 - |x - c_x|**2 - |y - c_y|**2`` with c the center of the k nearest neighbors [1]_.
    Made for Euclidean distances; since ``|x - c_x|**2`` follows from distances alone, any measure
    can be wrapped.

    Parameters
    ----------
    %(measure)s
    %(n_neighbors)s
    %(candidates)s

    Attributes
    ----------
    measure_ : the fitted measure inside
    offset_ : what is added so that no distance is negative, twice the largest ``|x - c_x|**2``

    Notes
    -----
    ``|x - c_x|**2`` is the mean of the squared distances of x to its k neighbors, less the sum of
    all k * k squared distances between these, divided by ``2 * k**2``; it is cut at 0 where
    distances are not Euclidean. ``distance`` is the number of the paper plus ``offset_``. The term
    of a new row is cut at the largest fitted one, which changes none of its lists. Neighbors are
    ranked before the offset is added: beside one far row it is so large that distances which
    differ are shown as equal.

    References
    ----------
    .. [1] Hara, Suzuki, Kobayashi, Fukumizu, Radovanovic (2016). Flattening the Density Gradient
       for Eliminating Spatial Centrality to Reduce Hubness. AAAI Conference on Artificial
       Intelligence 30. doi:10.1609/aaai.v30i1.10240

    Examples
    --------
    >>> from lookalike.hubness import DisSimLocal
    >>> from lookalike.measures import Vector
    >>> measure = DisSimLocal(Vector(), n_neighbors=2).fit([[0.0], [1.0], [3.0], [7.0]])
    >>> measure.distance()[0, 1:] - measure.offset_
    array([-3.25, -1.25, 20.  ])
    """

    FIELDS: ClassVar[Fields] = {
        "offset_": Real(nan=True),
    }
    ROWS: ClassVar[Fields | None] = {
        "level": Array("float64", "n"),
    }

    def _facts(self, inner: Rows) -> dict[str, np.ndarray]:
        near = self._near(inner, self.n_neighbors)
        fitted = self.measure_.rows_
        within = np.empty(len(inner))

        def one(part: slice) -> None:
            for i in range(part.start, part.stop):
                these = fitted[near.indices[i]]
                between = self.measure_.block(these, these)
                within[i] = np.square(between).sum()

        parts = [(part,) for part in blocks(len(inner), 256)]
        run(one, parts, self.n_jobs, "finding local centers")
        level = mean_of_lists(near.distances**2) - within / (2 * self.n_neighbors**2)
        return {"level": np.maximum(level, 0.0)}

    def _half(self, d: np.ndarray) -> np.ndarray:
        return d * d / 2

    def _factors(self, a: Rows, b: Rows, d: float) -> dict[str, float]:
        return {f"|{name} - c_{name}|^2": float(rows.arrays["level"][0])
                for name, rows in (("x", a), ("y", b))}  # fmt: skip
