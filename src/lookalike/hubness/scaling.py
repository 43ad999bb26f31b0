"""Reducers that look at the neighborhood of each row: its scale, its members or its level."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.threads import blocks, run
from lookalike.errors import Param, TooFewRows
from lookalike.hubness import reducer
from lookalike.hubness.reducer import Facts, _Local, _Scaled, mean_of_lists
from lookalike.kernels import hubness as kernels
from lookalike.measures.contract.base import Traits
from lookalike.measures.contract.matrices import check_pairs, median_distance, square
from lookalike.measures.contract.rows import Rows, self_pairs
from lookalike.neighbors.exact import fill_by_blocks, search
from lookalike.neighbors.graph import NeighborGraph
from lookalike.saving.fields import INT64, Array, Dims, Fields, Flag, Integer, Real, require

EPS = float(np.finfo(float).eps)
# Spreads whose ratio differs by less from 1 are equal: round-off must not choose a step of CDM.
SPREAD_TOLERANCE = 1e-9


@dataclass(eq=False, repr=False)
class LocalScaling(_Local, _Scaled):
    """Compare distances with the scales of both neighborhoods.

    The similarity is ``exp(-d**2 / (r_x * r_y))``, with r the distance to the k-th nearest
    neighbor [1]_. Use it when ``hubness_report`` shows a few rows that fill most lists; NICDM is
    more robust because it uses all k neighbors.

    Parameters
    ----------
    measure : Measure, or name of one
        Whose hubness is reduced; it is cloned and fitted.
    n_neighbors : int
        The k of the local scale.
    n_candidates : int, optional
        Re-rank only that many nearest rows of the inner measure in neighbor search.
        None: exact, over all rows.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    measure_ : the fitted inner measure

    Notes
    -----
    Where a scale is 0 (k duplicates) the similarity is 1 at distance 0 and else 0. New rows get
    their scale from the fitted rows, whose own scales stay as they are.

    References
    ----------
    .. [1] Zelnik-Manor, Perona (2004). Self-Tuning Spectral Clustering. Advances in Neural
       Information Processing Systems 17. Used against hubs by Schnitzer, Flexer, Schedl, Widmer
       (2012). Local and Global Scaling Reduce Hubs in Space. Journal of Machine Learning
       Research 13, 2871-2902.

    Examples
    --------
    >>> from lookalike.hubness import LocalScaling
    >>> from lookalike.measures import Vector
    >>> rows = [[0.0], [1.0], [3.0], [7.0]]
    >>> LocalScaling(Vector(), n_neighbors=2).fit(rows).similarity().round(6)[0]
    array([1.      , 0.846482, 0.367879, 0.065729])
    """

    ROWS: ClassVar[Fields | None] = {"scale": Array("float64", "n", low=0.0)}
    FACTORS = ("scale", "r_{}")

    n_neighbors: int = 7

    def _fact_of(self, lists: NeighborGraph) -> np.ndarray:
        return lists.distances[:, -1].copy()

    def _scaled(self, d: np.ndarray, back: np.ndarray, a: Facts, b: Facts) -> np.ndarray:
        kernels.affinity_block(d, a["scale"], b["scale"])
        return d


@dataclass(eq=False, repr=False, kw_only=True)
class NICDM(_Local, _Scaled):
    """Measure distances in units of the mean distance of each row's neighbors.

    The distance is ``d / sqrt(mu_x * mu_y)`` with mu the mean distance to the k nearest neighbors
    [1]_, the first step of the contextual dissimilarity measure [2]_. Rows in dense regions move
    away from all others, rows in sparse ones come closer, so there are fewer hubs and orphans.

    Parameters
    ----------
    measure : Measure, or name of one
        Whose hubness is reduced; it is cloned and fitted.
    n_neighbors : int
        The k of the neighborhood.
    geometric : bool
        Multiply by the geometric mean of all mu, which keeps the size of the distances and
        changes no order.
    n_candidates : int, optional
        Re-rank only that many nearest rows of the inner measure in neighbor search.
        None: exact, over all rows.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    measure_ : the fitted inner measure
    floor_ : the least mu, machine precision times the largest distance

    References
    ----------
    .. [1] Schnitzer, Flexer, Schedl, Widmer (2012). Local and Global Scaling Reduce Hubs in Space.
       Journal of Machine Learning Research 13, 2871-2902.
    .. [2] Jegou, Schmid, Harzallah, Verbeek (2010). Accurate Image Search Using the Contextual
       Dissimilarity Measure. IEEE Transactions on Pattern Analysis and Machine Intelligence 32.
       doi:10.1109/TPAMI.2008.285

    Examples
    --------
    >>> from lookalike.hubness import NICDM
    >>> from lookalike.measures import Vector
    >>> rows = [[0.0], [1.0], [3.0], [7.0]]
    >>> NICDM(Vector(), n_neighbors=2).fit(rows).distance().round(6)[0]
    array([0.      , 0.57735 , 1.341641, 2.213594])
    """

    FIELDS: ClassVar[Fields] = {
        "geometric": Flag(),
        "floor_": Real(0.0, nan=True),
        "factor_": Real(0.0, nan=True),
    }
    ROWS: ClassVar[Fields | None] = {"mu": Array("float64", "n", low=0.0)}
    NATIVE = ("distance", "ratio")
    FACTORS = ("mu", "mu_{}")

    geometric: bool = False

    def _learn(self, n: int) -> None:
        # A row with k duplicates has a mean of 0: the floor keeps ratios finite, and so small that
        # it changes no other row. 1 where all rows are equal, since then d / mu is 0 / 0.
        self.floor_ = EPS * reducer.farthest(self.measure_) or 1.0

    def _fit_rows(self, rows: Rows) -> None:
        self.factor_ = 1.0
        if self.geometric:
            # In logarithms: a product of n means overflows.
            self.factor_ = float(np.exp(np.log(np.maximum(rows.arrays["mu"], self.floor_)).mean()))
        self.scale_ = median_distance(self, rows)

    def _scaled(self, d: np.ndarray, back: np.ndarray, a: Facts, b: Facts) -> np.ndarray:
        root_a, root_b = (np.sqrt(np.maximum(facts["mu"], self.floor_)) for facts in (a, b))
        d /= root_a[:, None] * root_b
        d *= self.factor_
        return d

    def _factors(self, a: Rows, b: Rows, d: float) -> dict[str, float]:
        mu_x, mu_y = (max(float(rows.arrays["mu"][0]), self.floor_) for rows in (a, b))
        return {"mu_x": mu_x, "mu_y": mu_y, "d / mu_x": d / mu_x, "d / mu_y": d / mu_y}


@dataclass(eq=False, repr=False, kw_only=True)
class CDM(_Local, _Scaled):
    """Repeat NICDM until every row has the same mean distance to its neighbors.

    Each step multiplies the distance of x and y by ``g / sqrt(mu_x * mu_y)``, g the geometric mean
    of all mu, and finds the neighbors anew [1]_. All steps together are one factor per row, so the
    result is ``d * f_x * f_y``. Fitting looks at all pairs; NICDM streams.

    Parameters
    ----------
    measure : Measure, or name of one
        Whose hubness is reduced; it is cloned and fitted.
    n_neighbors : int
        The k of the neighborhood.
    tol : float
        Stop when no log mu is farther than this from their mean.
    max_iter : int
        Stop after that many steps. Neighborhoods can oscillate for ever; the step with the
        smallest spread is then kept, the first of them where several are equal but for round-off.
    n_candidates : int, optional
        Re-rank only that many nearest rows of the inner measure in neighbor search.
        None: exact, over all rows.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    measure_ : the fitted inner measure
    factors_ : f of each fitted row
    converged_ : whether the spread came below ``tol``
    n_iter_ : number of steps behind ``factors_``

    Notes
    -----
    A new row gets the factor at which its own mean equals that of the fitted rows: the limit of
    the same steps with the factors of the fitted rows left as they are.

    References
    ----------
    .. [1] Jegou, Schmid, Harzallah, Verbeek (2010). Accurate Image Search Using the Contextual
       Dissimilarity Measure. IEEE Transactions on Pattern Analysis and Machine Intelligence 32.
       doi:10.1109/TPAMI.2008.285

    Examples
    --------
    >>> from lookalike.hubness import CDM
    >>> from lookalike.measures import Vector
    >>> measure = CDM(Vector(), n_neighbors=2, max_iter=50).fit([[0.0], [1.0], [3.0], [7.0]])
    >>> measure.kneighbors(n_neighbors=2)[0].mean(axis=1).round(2)
    array([2.87, 2.87, 2.87, 2.87])
    """

    FIELDS: ClassVar[Fields] = {
        "tol": Real(0.0, open_low=True),
        "max_iter": Integer(1, INT64),
        "floor_": Real(0.0, nan=True),
        "factors_": Array("float64", "fitted", low=0.0),
        "n_iter_": Integer(0),
        "mean_": Real(nan=True),
        "converged_": Flag(),
    }
    ROWS: ClassVar[Fields | None] = {"factor": Array("float64", "n", low=0.0)}
    NATIVE = ("distance", "ratio")
    FACTORS = ("factor", "f_{}")

    tol: float = 1e-3
    max_iter: int = 20

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """Facts about this measure."""
        return replace(super().traits, needs_all=True)

    def _learn(self, n: int) -> None:
        check_pairs("CDM.fit", n, n, "Use NICDM, which streams", what="all pairs of rows")
        d = square(self.measure_, self.measure_.rows_, undefined="keep", n_jobs=self.n_jobs)
        np.fill_diagonal(d, np.nan)
        largest = float(np.nanmax(d, initial=0.0)) if n > 1 else 0.0
        self.floor_ = EPS * largest or 1.0
        # A row itself, and a row that it cannot be compared with, are not its neighbors.
        d[np.isnan(d)] = np.inf
        known = np.isfinite(d).sum(axis=1)
        if (known < self.n_neighbors).any():
            who = Param("n_neighbors", self.n_neighbors, of="CDM")
            needed = f"{self.n_neighbors} rows at a finite distance from each row"
            found = f"{known.min()} for row {known.argmin()}"
            advice = " or leave out the rows that cannot be compared"
            raise TooFewRows(who, needed, found, ("Lower ", Param("n_neighbors"), advice))
        # All steps multiply d by a factor of each row, so only the factors are stored, not d.
        factors = np.ones(n)
        best = np.inf
        for step in range(self.max_iter + 1):
            mu = np.maximum(factors * self._means(d, factors), self.floor_)
            logs = np.log(mu)
            center = float(logs.mean())
            spread = float(np.abs(logs - center).max())
            # The best step so far is kept, since neighborhoods can oscillate.
            if spread < best * (1 - SPREAD_TOLERANCE):
                best = spread
                self.factors_, self.n_iter_, self.mean_ = factors, step, float(np.exp(center))
            if spread < self.tol:
                break
            factors = factors * np.sqrt(np.exp(center) / mu)
        self.converged_ = best < self.tol

    def _means(self, d: np.ndarray, factors: np.ndarray) -> np.ndarray:
        """Return the mean of the k smallest d * factor of each row, without its own factor."""
        k = self.n_neighbors
        means = np.empty(len(d))

        def scale_block(part: slice) -> None:
            near = np.partition(d[part] * factors, k - 1, axis=1)[:, :k]
            # Sorted, since a partition has no fixed order, and sums depend on it.
            means[part] = mean_of_lists(np.sort(near, axis=1))

        parts = [(part,) for part in blocks(len(d), reducer.ROWS_PER_BLOCK)]
        run(scale_block, parts, self.n_jobs, "scaling distances")
        return means

    def _facts(self, inner: Rows) -> dict[str, np.ndarray]:
        factor, old = np.empty(len(inner)), inner.seen >= 0
        factor[old] = self.factors_[inner.seen[old]]
        if old.all():
            return {"factor": factor}
        # Neighbors by the scaled distances d * f_y: the factor of the new row itself is the same
        # for all of its list and changes no order.
        new, fitted = inner[~old], self.measure_.rows_

        def compare(rows: slice, columns: slice) -> np.ndarray:
            return self.measure_.block(new[rows], fitted[columns]) * self.factors_[columns]

        fill = fill_by_blocks(compare, np.arange(len(fitted)), np.full(len(new), -1))
        near = search(fill, len(new), len(fitted), self.n_neighbors, n_jobs=self.n_jobs).finish()
        factor[~old] = self.mean_ / np.maximum(mean_of_lists(near.distances), self.floor_)
        return {"factor": factor}

    def _scaled(self, d: np.ndarray, back: np.ndarray, a: Facts, b: Facts) -> np.ndarray:
        d *= a["factor"][:, None] * b["factor"]
        return d

    def _check_parts(self, dims: Dims) -> None:
        super()._check_parts(dims)
        n = len(self.rows_)
        require(dims["fitted"] == n, "CDM.factors_", f"{n} factors", str(dims["fitted"]))


# -- shared neighbors ------------------------------------------------------------------------------
# Shared nearest neighbors: rows are alike if they have the same neighbors.


@dataclass(eq=False, repr=False, kw_only=True)
class SharedNeighbors(_Local):
    """Count how many of their nearest neighbors two rows have in common.

    The similarity is the number of rows in both lists of k nearest neighbors, divided by k [1]_.
    Only the order of the distances matters, and there are k + 1 different values: expect many
    ties, and ask ``k_occurrence`` for ``ties="expected"``.

    Parameters
    ----------
    measure : Measure, or name of one
        Whose hubness is reduced; it is cloned and fitted.
    n_neighbors : int
        Length k of the lists.
    include_self : bool
        Let each row be in its own list, which then has k + 1 members.
    n_candidates : int, optional
        Re-rank only that many nearest rows of the inner measure in neighbor search.
        None: exact, over all rows.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    measure_ : the fitted inner measure

    References
    ----------
    .. [1] Jarvis, Patrick (1973). Clustering Using a Similarity Measure Based on Shared Near
       Neighbors. IEEE Transactions on Computers C-22. doi:10.1109/T-C.1973.223640

    Examples
    --------
    >>> from lookalike.hubness import SharedNeighbors
    >>> from lookalike.measures import Vector
    >>> rows = [[0.0], [1.0], [3.0], [7.0]]
    >>> SharedNeighbors(Vector(), n_neighbors=2).fit(rows).similarity()[0]
    array([1. , 0.5, 0.5, 1. ])
    """

    FIELDS: ClassVar[Fields] = {"include_self": Flag()}

    include_self: bool = False

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """Traits: symmetric, and defined where distances are not, since lists are compared."""
        return replace(super().traits, symmetric=True, unseen_pairs=True)

    def _facts(self, inner: Rows) -> dict[str, np.ndarray]:
        near = self._near(inner, self.n_neighbors).indices
        if self.include_self:
            # A new row has no position among the fitted ones: -1, which no list holds.
            near = np.hstack([near, inner.seen[:, None]])
        return {"near": near}

    def compare(self, a: Rows, b: Rows) -> np.ndarray:
        """Return the share of common neighbors."""
        near = a.arrays["near"]
        shared = self._members(near) @ self._members(b.arrays["near"]).T
        return np.asarray(shared.toarray() / near.shape[1])

    def _members(self, near: np.ndarray) -> Any:
        """Return lists as a sparse matrix of 1 for each of their members; -1 is none."""
        from scipy.sparse import csr_matrix

        known = near >= 0
        starts = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        shape = len(near), len(self.measure_.rows_)
        return csr_matrix((np.ones(starts[-1]), near[known], starts), shape=shape)

    def _factors(self, a: Rows, b: Rows, d: float) -> dict[str, float]:
        shared = float(self.compare(a, b)[0, 0]) * a.arrays["near"].shape[1]
        return {"shared": round(shared)}

    def rows_shape(self) -> tuple[Fields, Dims]:
        """Return the form of encoded rows: lists of fitted rows."""
        fitted, k = len(self.measure_.rows_), self.n_neighbors + bool(self.include_self)
        return {"near": Array("int64", "n", k, low=-1, below=fitted)}, {}


# -- subtracting levels ----------------------------------------------------------------------------
# Reducers that subtract the level of both neighborhoods.


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

    def _fit_rows(self, rows: Rows) -> None:
        # 2 d - a - b >= -(a + b) >= -2 max: with this offset no distance is negative.
        self.offset_ = 2 * float(rows.arrays["level"].max(initial=0.0))
        self.scale_ = median_distance(self, rows)

    def _minuend(self, d: np.ndarray) -> np.ndarray:
        """Return what the levels are subtracted from."""
        return 2.0 * d

    def _order(self, d: np.ndarray, back: np.ndarray, a: Facts, b: Facts) -> np.ndarray:
        # A level of a new row above all fitted ones is cut, which moves its whole list by a
        # constant: no excess is below ``-offset_``.
        own, other = (np.minimum(facts["level"], self.offset_ / 2) for facts in (a, b))
        excess = self._minuend(d)
        excess -= own[:, None] + other
        return excess

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
        near, fitted = self._near(inner, self.n_neighbors), self.measure_.rows_
        # Row by row in one thread: blocks of k x k are too small to gain by more.
        lists = (fitted[rows] for rows in near.indices)
        squares = [np.square(self.measure_.block(rows, rows)).sum() for rows in lists]
        within = np.array(squares, dtype=np.float64)
        # |x - c|**2 from distances alone: see the notes above.
        level = mean_of_lists(near.distances**2) - within / (2 * self.n_neighbors**2)
        return {"level": np.maximum(level, 0.0)}

    def _minuend(self, d: np.ndarray) -> np.ndarray:
        return d * d
