"""Reducers that subtract the level of both neighborhoods: CSLS and DisSimLocal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lookalike._runtime.threads import blocks, run
from lookalike.hubness.reducer import ROWS_PER_BLOCK, Facts, _Local, _Scaled, mean_of_lists
from lookalike.measures.contract.matrices import median_distance
from lookalike.measures.contract.rows import Rows, self_pairs
from lookalike.saving.fields import Array, Fields, Real


@dataclass(eq=False, repr=False, kw_only=True)
class _Excess(_Local, _Scaled):
    """Base of the reducers that subtract a level of each row, its fact ``level``.

    Distances are excesses plus ``offset_``, so that none is negative. One far row makes the offset
    so large that the sum has no digits left for the differences between all others: lists are
    therefore sorted by the excesses themselves.
    """

    FIELDS: ClassVar[Fields] = {"offset_": Real(nan=True)}
    ROWS: ClassVar[Fields | None] = {"level": Array("float64", "n")}

    NATIVE = ("distance", "ratio")
    FACTORS = ("level", "r_{}")

    n_candidates: int | None = None
    n_jobs: int | None = None

    def _fit_rows(self, rows: Rows) -> None:
        # 2 d - a - b >= -(a + b) >= -2 max: with this offset no distance is negative.
        self.offset_ = 2 * float(rows.arrays["level"].max(initial=0.0))
        self.scale_ = median_distance(self, rows)

    def _half(self, d: np.ndarray) -> np.ndarray:
        """Return half of what the levels are subtracted from."""
        return d

    def _order(self, d: np.ndarray, back: np.ndarray, a: Facts, b: Facts) -> np.ndarray:
        return excesses(self._half(d), a["level"], b["level"], self.offset_ / 2)

    def _scaled(self, d: np.ndarray, back: np.ndarray, a: Facts, b: Facts) -> np.ndarray:
        excess = self._order(d, back, a, b)
        excess += self.offset_
        return excess

    @property
    def order_shift(self) -> float:
        """What a distance has over the value that lists are sorted by."""
        return self.offset_

    def order_block(self, a: Rows, b: Rows) -> np.ndarray:
        """Return the excesses, which lists are sorted by; a row itself comes first."""
        d, back = self._distances(a, b)
        values = self._order(d, back, a.arrays, {name: v[None] for name, v in b.arrays.items()})
        values[self_pairs(a, b)] = -self.offset_
        return values


def excesses(d: np.ndarray, a: np.ndarray, b: np.ndarray, most: float) -> np.ndarray:
    """Return 2 d - a - b with levels cut at ``most``, so that it is at least ``-2 * most``.

    A level of a new row above all fitted ones is cut: that moves its whole list by a constant.
    """
    from lookalike.kernels.hubness import excess_block

    excess_block(d, np.minimum(a, most), np.minimum(b, most))
    return d


class CSLS(_Excess):
    """Measure how much closer two rows are than each of them is to its own neighbors.

    ``2 d - r_x - r_y`` with r the mean distance to the k nearest neighbors. With the cosine
    distance this is, up to its sign, the CSLS of [1]_, made for the search for translations.

    Parameters
    ----------
    measure : Measure, or name of one
        Whose hubness is reduced; it is cloned and fitted.
    n_neighbors : int
        The k of the neighborhood.
    n_candidates : int, optional
        Re-rank only that many nearest rows of the inner measure in neighbor search.
        None: exact, over all rows.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    measure_ : the fitted inner measure
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

    def _facts(self, inner: Rows) -> dict[str, np.ndarray]:
        return {"level": mean_of_lists(self._near(inner, self.n_neighbors).distances)}


class DisSimLocal(_Excess):
    """Subtract what makes rows near a local center neighbors of all rows.

    ``d**2 - |x - c_x|**2 - |y - c_y|**2`` with c the center of the k nearest neighbors [1]_.
    Made for Euclidean distances; since ``|x - c_x|**2`` follows from distances alone, any measure
    can be wrapped.

    Parameters
    ----------
    measure : Measure, or name of one
        Whose hubness is reduced; it is cloned and fitted.
    n_neighbors : int
        The k of the neighborhood.
    n_candidates : int, optional
        Re-rank only that many nearest rows of the inner measure in neighbor search.
        None: exact, over all rows.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    measure_ : the fitted inner measure
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

    FACTORS = ("level", "|{0} - c_{0}|^2")

    def _facts(self, inner: Rows) -> dict[str, np.ndarray]:
        near = self._near(inner, self.n_neighbors)
        fitted = self.measure_.rows_
        within = np.empty(len(inner))

        def sum_squares(part: slice) -> None:
            for i in range(part.start, part.stop):
                neighbors = fitted[near.indices[i]]
                within[i] = np.square(self.measure_.block(neighbors, neighbors)).sum()

        parts = [(part,) for part in blocks(len(inner), ROWS_PER_BLOCK)]
        run(sum_squares, parts, self.n_jobs, "finding local centers")
        # |x - c|**2 from distances alone: see the notes above.
        level = mean_of_lists(near.distances**2) - within / (2 * self.n_neighbors**2)
        return {"level": np.maximum(level, 0.0)}

    def _half(self, d: np.ndarray) -> np.ndarray:
        return d * d / 2
