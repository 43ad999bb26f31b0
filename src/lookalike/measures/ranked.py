"""Order, not scale: distances counted in rows instead of units."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lookalike._params import Is, OneOf, Rule
from lookalike._ragged import Ragged
from lookalike.measures.base import Measure, Traits
from lookalike.measures.explanation import Explanation
from lookalike.measures.numeric import numbers, plan
from lookalike.measures.rows import Rows
from lookalike.measures.vector import additive_explanation, shares_of_distance, unit_rows
from lookalike.table import Table

__all__ = ["Ranked"]

METRICS = ("cityblock", "euclidean", "chebyshev", "cosine")


class Ranked(Measure):
    """Compare rows by the order of their numbers, whatever the units.

    Each value is replaced by its rank among the fitted values (ties share the mean rank), so any
    increasing change of a column, such as taking logarithms, leaves every distance as it was. Use
    it when the scale of the columns means little; when distances in units matter use ``Vector``.

    Parameters
    ----------
    metric : {"cityblock", "euclidean", "chebyshev", "cosine"}
        Built on the rank difference of each column; cosine on the vectors of ranks.
    unseen : {"insertion", "paper"}
        How a new value counts. ``insertion``: as if it had been inserted and all ranks computed
        anew. ``paper``: the formula printed by Fernando and Webb [1]_, which agrees where all
        fitted values of a column differ from each other.
    scale : bool
        Divide ranks by the number of fitted rows; neighbors stay the same.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns
    scale_ : the typical distance, which becomes the similarity 1/2

    References
    ----------
    .. [1] Fernando, Webb (2017). SimUSF: an efficient and effective similarity measure that is
       invariant to violations of the interval scale assumption. Data Mining and Knowledge
       Discovery 31. doi:10.1007/s10618-016-0463-0

    Examples
    --------
    >>> from lookalike.measures import Ranked
    >>> measure = Ranked().fit([[10.0], [20.0], [20.0], [40.0]])
    >>> measure.distance()[0]
    array([0. , 1.5, 1.5, 3. ])
    >>> measure.distance([[30.0]])
    array([[3. , 1.5, 1.5, 1. ]])
    """

    traits = Traits(native="distance", conversion="ratio")
    PARAMS: ClassVar[dict[str, Rule]] = {
        "metric": OneOf(*METRICS),
        "unseen": OneOf("insertion", "paper"),
        "scale": Is(bool, np.bool_),
    }

    def __init__(
        self,
        metric: str = "cityblock",
        *,
        unseen: str = "insertion",
        scale: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.metric = metric
        self.unseen = unseen
        self.scale = scale
        self.n_jobs = n_jobs

    @classmethod
    def examples(cls) -> list[Measure]:
        """Return every metric, and both ways to count new values."""
        return [*map(cls, METRICS), cls(unseen="paper"), cls("euclidean", scale=True)]

    def _fit(self, table: Table, y: np.ndarray | None) -> None:
        self.layout_ = plan(table, type(self).__name__)
        x = numbers(table, self.layout_, type(self).__name__)
        values, upto = [], []
        for column in x.T:
            distinct, counts = np.unique(column + 0.0, return_counts=True)  # -0.0 becomes 0.0
            values.append(distinct)
            upto.append(np.cumsum(counts))
        self.n_fitted_ = len(x)
        self.values_ = Ragged.of(values, np.float64)  # distinct fitted values of each column
        self.upto_ = Ragged.of(upto, np.float64)  # how many fitted values lie at or below each

    def _encode(self, table: Table, seen: np.ndarray) -> Rows:
        x = numbers(table, self.layout_, type(self).__name__).astype(np.float64) + 0.0
        mid = np.empty(x.shape)
        for j in range(x.shape[1]):
            mid[:, j] = self._mid_counts(x[:, j], self.values_.row(j), self.upto_.row(j))
        if self.scale:
            mid /= self.n_fitted_
        half = 0.5 / self.n_fitted_ if self.scale else 0.5
        if self.metric == "cosine":
            return Rows(seen, {"mid": mid, "x": unit_rows(mid + half)})
        new = np.where(seen < 0, 2 * half, 0.0)
        return Rows(seen, {"mid": mid, "value": x, "new": new})

    def _mid_counts(self, x: np.ndarray, values: np.ndarray, upto: np.ndarray) -> np.ndarray:
        """Return how many fitted values lie below each x, plus half of those equal to it."""
        upto = np.concatenate([[0.0], upto])
        mids = (upto[:-1] + upto[1:]) / 2
        at = np.searchsorted(values, x)
        near = np.minimum(at, len(values) - 1)
        between = upto[at]
        if self.unseen == "paper":  # the tied rank of the lower neighbor, 0 below all of them
            between = np.concatenate([[0.0], mids + 0.5])[at]
        return np.where(values[near] == x, mids[near], between)

    def compare(self, a: Rows, b: Rows) -> np.ndarray:
        """Return distances of every row of a to every row of b."""
        from lookalike.kernels.distances import CODES, distance_block, ranked_block

        out = np.empty((len(a), len(b)))
        if self.metric == "cosine":
            distance_block(a.arrays["x"], b.arrays["x"], CODES["cosine"], out)
            return out
        names = ("mid", "value", "new")
        sides = [rows.arrays[name] for rows in (a, b) for name in names]
        ranked_block(*sides, CODES[self.metric], out)
        return out

    def _explain(self, a: Rows, b: Rows) -> Explanation:
        owner = self.layout_.owner
        if self.metric == "cosine":
            gaps = np.abs(a.arrays["x"][0] - b.arrays["x"][0])[: len(owner)]
        else:
            extra = (a.arrays["new"][0] + b.arrays["new"][0]) / 2
            gaps = np.abs(a.arrays["mid"][0] - b.arrays["mid"][0]) + extra
            gaps[a.arrays["value"][0] == b.arrays["value"][0]] = 0.0
        return additive_explanation(self, a, b, shares_of_distance(gaps, self.metric), owner)
