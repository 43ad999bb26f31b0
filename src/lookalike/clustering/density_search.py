"""Search eps and min_neighbors of density clustering, with labels or without."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lookalike._runtime.frames import frame_of_records
from lookalike._runtime.progress import Progress
from lookalike.clustering import density
from lookalike.clustering._clustering import MeasureClusterer, Space, check_symmetric
from lookalike.clustering.scores import NOISE, among, count, f_from_counts
from lookalike.errors import InPython, InvalidInput, Param, TooFewRows
from lookalike.kernels.clustering import join_edges, spanning_tree
from lookalike.saving.fields import Anything, Choice, Fields, Integer, Real
from lookalike.table.model.targets import code_labels

GRID_STEPS = 20


@dataclass(eq=False, repr=False)
class DensitySearch(MeasureClusterer):
    """Find eps and the number of neighbors for density clustering.

    With labels it answers how well density clustering could do with this measure: the best
    F-measure over all settings, the protocol by which measures are compared in [1]_. The labels
    choose the settings, so the score is a bound, not what to expect without labels.

    Without labels eps is put at the knee of the sorted distances to the nearest row number
    ``min_neighbors``, for each of these numbers, and the clustering with the highest silhouette is
    kept, noise counting as 0.

    Parameters
    ----------
    measure : Measure, optional
        How alike rows are; None: "auto" (``choose_measure``). A clone is fitted, without the
        labels.
    min_neighbors : int or iterable of int
        Numbers to try: the rows within eps, itself among them, that make a row dense. Numbers above
        the number of rows are left out.
    definition : {"class_weighted", "hungarian", "pairwise"}
        Which F-measure (see ``clustering_f_measure``).
    dense_limit : int
        The most rows for which a matrix of all pairs is made.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    eps_, min_neighbors_ : the settings found
    score_ : float
        The F-measure with labels, the silhouette without.
    labels_ : int64 array of n, -1 for noise
    n_clusters_ : int
    exemplars_ : int64 array of positions, the row of each cluster with the smallest core distance
    results_ : list of dicts, one per number of neighbors
        ``min_neighbors``, ``eps``, ``score``, ``n_clusters``, ``evaluations``, and with labels the
        range searched, ``low`` to ``high``.
    measure_ : the fitted measure
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns

    Notes
    -----
    For each number K the search goes from the smallest eps that makes a cluster to the smallest
    that puts all rows into one, in 20 equal steps, then again in 20 steps over one step to either
    side of the best, until a step is below the third significant digit of the best eps. Equal
    scores go to the smaller eps and the smaller K.

    One spanning tree per K answers for every eps, so an evaluation costs as much as looking at
    each row, not at each pair.

    References
    ----------
    .. [1] T. L. Fernando, G. I. Webb (2017). SimUSF: an efficient and effective similarity measure
       that is invariant to violations of the interval scale assumption. Data Mining and Knowledge
       Discovery 31. doi:10.1007/s10618-016-0463-0

    Examples
    --------
    >>> from lookalike.clustering import DensitySearch
    >>> from lookalike.measures import Vector
    >>> points = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> search = DensitySearch(Vector(), min_neighbors=2).fit(points, [0, 0, 0, 1, 1, 1])
    >>> search.eps_, search.score_
    (1.0, 1.0)
    >>> DensitySearch(Vector(), min_neighbors=3).fit(points).labels_
    array([0, 0, 0, 1, 1, 1])
    """

    FIELDS: ClassVar[Fields] = {
        "definition": Choice("class_weighted", "hungarian", "pairwise"),
        "min_neighbors": Anything(),
        "results_": Anything(),
        "eps_": Real(0.0, nan=True),
        "min_neighbors_": Integer(0),
        "score_": Real(nan=True),
    }

    min_neighbors: int | Iterable[int] = tuple(range(2, 26))
    _: KW_ONLY
    definition: str = "class_weighted"
    dense_limit: int = 20_000
    kinds: Mapping[str, Any] | None = None
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Search the settings for the rows of a table.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
            For a measure that takes distances: the square matrix of them.
        y : array of n classes, or the name of a column, optional
            None: the variant without labels.
        """
        source, target = self._read(X, y)
        who = type(self).__name__
        fitted, rows = source.fit()
        instead = "Search on a sample of the rows, or use SimilarityClustering(method='density')"
        space = Space(fitted, rows, who, self.dense_limit, instead)
        check_symmetric(space, who, "Average the two directions")
        numbers = self._numbers(len(space))
        # One matrix and one list of neighbors of each row serve every number of neighbors.
        levels = DensityLevels(space, max(numbers))
        classes = None if y is None else code_labels(target, len(space), who)[0]
        self.results_: list[dict[str, Any]] = []
        with Progress("searching eps", len(numbers)) as bar:
            for needed in numbers:
                levels.set(needed)
                if classes is None:
                    eps = density.knee_of(levels.core)
                    labels, n_clusters = levels.labels(eps)
                    score = levels.silhouette(labels, n_clusters)
                    run = {"eps": eps, "score": score, "n_clusters": n_clusters, "evaluations": 1}
                else:
                    run = search_eps(levels, classes, self.definition)
                self.results_.append({"min_neighbors": needed, **run})
                bar.advance()
        best = max(self.results_, key=lambda run: run["score"])  # the smaller number on ties
        names = "eps", "min_neighbors", "score"
        self.eps_, self.min_neighbors_, self.score_ = (best[name] for name in names)
        levels.set(self.min_neighbors_)
        labels, _ = levels.labels(self.eps_)
        self._adopt(density.describe(labels, levels.core <= self.eps_, levels.core, self.eps_))
        self.measure_, self.rows_ = fitted, rows
        self._remember_columns(X, source, fitted)
        return self

    def _numbers(self, n: int) -> list[int]:
        given = self.min_neighbors
        numbers = list(given) if isinstance(given, Iterable) else [given]
        wrong = [k for k in numbers if not Integer(1).fits(k)]
        who = Param("min_neighbors", given, of=type(self).__name__)
        if wrong or not numbers:
            value = repr(wrong[0]) if wrong else "none"
            raise InvalidInput(who, "integers >= 1", value, InPython("Use range(2, 26)"))
        if min(numbers) > n:
            hint = ("Lower ", Param("min_neighbors"))
            raise TooFewRows(who, f"at least {min(numbers)} rows", Param("n_samples", n), hint)
        return sorted({int(k) for k in numbers if k <= n})

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the table of all numbers of neighbors as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
        """
        check_is_fitted(self, "model_")
        return frame_of_records(self.results_, backend)


class DensityLevels:
    """Density clusterings of one space at every eps, for one number of neighbors at a time.

    Parameters
    ----------
    space : Space
    most : int
        The largest number of neighbors that will be set.
    """

    def __init__(self, space: Space, most: int) -> None:
        self.distances = space.distances()
        lists = density.nearest_others(space, max(1, most - 1))
        self.neighbors, self.neighbor_distances = lists.indices, lists.distances

    def set(self, needed: int) -> None:
        """Choose how many rows within eps, itself among them, make a row dense."""
        n = len(self.distances)
        self.core = density.core_distances(self.neighbor_distances, needed)
        ends, others = np.empty(n - 1, dtype=np.int64), np.empty(n - 1, dtype=np.int64)
        costs = np.empty(n - 1)
        spanning_tree(self.distances, self.core, ends, others, costs)
        order = np.argsort(costs, kind="stable")
        self.tree = ends[order], others[order], costs[order]

    def labels(self, eps: float) -> tuple[np.ndarray, int]:
        """Return labels at one eps, and the number of clusters."""
        ends, others, costs = self.tree
        # The tree connects core rows within eps by edges up to eps.
        short = slice(np.searchsorted(costs, eps, "right"))
        parents = np.arange(len(self.core))
        join_edges(parents, ends[short], others[short])
        # Fewer rows than make a row core are within eps of any other: its list has all of them.
        border = np.flatnonzero(self.core > eps)
        near = (self.neighbor_distances[border] <= eps) & (self.neighbors[border] >= 0)
        rows, at = np.nonzero(near)
        pairs = border[rows], self.neighbors[border[rows], at]
        labels = density.label_rows(self.core <= eps, parents, *pairs)
        return labels, int(labels.max()) + 1

    def highest(self) -> float:
        """Return the smallest eps that puts all rows into one cluster, without noise."""
        # Clusters change only where a row becomes core, an edge of the tree joins, or a core row
        # reaches one that is not; what holds at one eps holds at every larger one.
        core_of_neighbor = self.core[np.maximum(self.neighbors, 0)]
        reach = np.maximum(self.neighbor_distances, core_of_neighbor).min(axis=1)
        values = np.unique(np.concatenate([self.core, self.tree[2], reach]))
        values = values[np.isfinite(values)]

        def covers(at: int) -> bool:
            labels, n_clusters = self.labels(values[at])
            return n_clusters == 1 and labels.min() == 0

        # Bisection over all values at which anything changes, instead of over real numbers.
        return float(values[bisect_left(range(len(values) - 1), True, key=covers)])

    def silhouette(self, labels: np.ndarray, n_clusters: int) -> float:
        """Return the mean silhouette of clustered rows among each other, noise counting as 0."""
        from sklearn.metrics import silhouette_samples

        members = np.flatnonzero(labels != NOISE)
        if n_clusters < 2 or n_clusters >= len(members):
            return 0.0
        inside = among(self.distances, members)
        scores = silhouette_samples(inside, labels[members], metric="precomputed")
        return float(scores.sum() / len(labels))


def search_eps(levels: DensityLevels, classes: np.ndarray, definition: str) -> dict[str, Any]:
    """Return the eps with the highest F-measure for the number of neighbors that is set."""
    of_class = np.bincount(classes)
    evaluations = 0

    def score(eps: float) -> tuple[float, int]:
        nonlocal evaluations
        evaluations += 1
        labels, n_clusters = levels.labels(eps)
        members = labels != NOISE
        table = count(classes[members], labels[members], len(of_class), n_clusters)
        return f_from_counts(table, of_class, table.sum(axis=0), definition), n_clusters

    first, last = float(levels.core.min()), levels.highest()
    low, high = first, last
    best, best_eps, clusters = -1.0, 0.0, 0
    # The F-measure is a step function of eps with several maxima: a grid, refined around the best.
    while True:
        step = (high - low) / GRID_STEPS
        for eps in (low + i * step for i in range(GRID_STEPS + 1 if step > 0 else 1)):
            # Evaluating one eps takes O(n): labels follow from the spanning tree, not from all
            # pairs.
            value, n_clusters = score(eps)
            if (value, -eps) > (best, -best_eps):
                best, best_eps, clusters = value, eps, n_clusters
        size = best_eps if best_eps > 0 else last
        # Enough at one unit of the third significant digit.
        if step == 0 or step < 10.0 ** (math.floor(math.log10(size)) - 2):
            break
        # One step to either side: the best may lie between two grid points.
        low, high = max(0.0, best_eps - step), best_eps + step
    found = {"eps": best_eps, "score": best, "n_clusters": clusters, "evaluations": evaluations}
    return found | {"low": first, "high": last}
