"""Clusterings cut into k parts: affinity propagation, linkage, k-medoids and eigenvectors."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from lookalike.clustering import _clustering
from lookalike.clustering._clustering import Clustering, Cut, Model, Space, each_part
from lookalike.errors import InvalidInput, Param, UndefinedMeasure
from lookalike.kernels.clustering import join_edges, roots_of
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows, self_pairs
from lookalike.measures.medoids import fasterpam
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Array, Choice, Fields, Real

# Chosen by hand: a high damping keeps messages from oscillating, and then needs more rounds than
# the defaults of scikit-learn (0.5, 200 and 15).
DAMPING, MAX_ITER, CONVERGENCE_ITER = 0.9, 2000, 200
MAX_BISECTIONS = 20  # the preference is then known to a millionth of the range
MAX_WIDENINGS = 5


class Affinity:
    """Rows elect exemplars by passing messages; how eagerly is found by bisection.

    The similarity of two rows is minus their distance, that of a row with itself the preference: a
    lower one makes fewer exemplars. The preference shared by all rows is searched between one that
    gives at most k clusters and one that gives at least k. Messages are passed by scikit-learn,
    with its tiny seeded noise against symmetry. A new row joins the cluster of the nearest
    exemplar.

    Parameters
    ----------
    space : Space
        Distances may be directed.
    seed : int

    References
    ----------
    .. [1] B. J. Frey, D. Dueck (2007). Clustering by passing messages between data points. Science
       315(5814), 972-976. doi:10.1126/science.1136800
    """

    def __init__(self, space: Space, seed: int) -> None:
        self.distances, self.seed, n = space.distances(), seed, len(space)
        self.others = self.distances[~np.eye(n, dtype=bool)].reshape(n, n - 1)
        self.tried: dict[float, np.ndarray] = {}  # preference -> exemplars

    def cut(self, k: int) -> Clustering:
        """Return k clusters, or as near to k as the search comes."""
        high = -float(self.others.min())  # as good as the best other exemplar: no row needs another
        # Frey and Dueck's bound: below it one exemplar for all is better than any two.
        low = float(np.max(-self.distances.sum(axis=0)) + self.others.min(axis=1).sum())
        # A little below the bound: at the bound itself one and two exemplars are equally good.
        low = min(low, high) - max(abs(high), float(self.others.max())) * 1e-3
        runs = [self._run(high), self._run(low)]
        for _ in range(MAX_WIDENINGS):
            if len(self._run(low)) <= k:
                break
            # Messages that do not settle may leave more than k exemplars: the range is doubled.
            low -= high - low
        for _ in range(MAX_BISECTIONS):
            middle = (low + high) / 2
            runs.append(self._run(middle))
            if len(runs[-1]) == k:
                break
            if len(runs[-1]) < k:
                low = middle
            else:
                high = middle
        nearest = min(runs, key=lambda exemplars: abs(len(exemplars) - k))  # the first on ties
        return around(self.distances, nearest)

    def elect(self, preference: float | str) -> Clustering:
        """Return the clusters that one preference leads to; "median": that of the similarities."""
        median = isinstance(preference, str)
        given = -float(np.median(self.others)) if median else float(preference)
        return around(self.distances, self._run(given))

    def _run(self, preference: float) -> np.ndarray:
        """Return the exemplars for one preference, also where messages never settle."""
        if preference not in self.tried:
            from sklearn.cluster import affinity_propagation

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a run that does not settle is not the last one
                chosen, _ = affinity_propagation(
                    -self.distances,
                    preference=preference,
                    damping=DAMPING,
                    max_iter=MAX_ITER,
                    convergence_iter=CONVERGENCE_ITER,
                    random_state=self.seed,
                )
            if not len(chosen):  # no row was elected: one exemplar for all
                chosen = [int(self.distances.sum(axis=0).argmin())]
            self.tried[preference] = np.sort(np.asarray(chosen, dtype=np.int64))
        return self.tried[preference]


def linkage_cut(distances: np.ndarray, method: str) -> Cut:
    """Prepare complete or Ward linkage on the measure's own distance.

    Ward's update is made for Euclidean distances; on others it is used unchanged. A new row
    joins the cluster of the nearest row.
    """
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    merges, n = linkage(squareform(distances, checks=False), method), len(distances)

    def cut(k: int) -> Clustering:
        """Return the k clusters after n - k merges, also where heights are equal."""
        # Cluster n + m is the one made by merge m; joining all parts leads back to the rows.
        steps = n - k
        made = np.arange(n, n + steps)
        # A union-find over rows and merged clusters cuts ties of heights at exactly k, which
        # fcluster by height cannot.
        parents = np.arange(n + steps)
        for side in (0, 1):
            join_edges(parents, merges[:steps, side].astype(np.int64), made)
        labels, _ = _clustering.number_by_first_row(roots_of(parents)[:n])
        medoids = _clustering.cluster_medoids(distances, labels)
        return Clustering(labels, medoids, _clustering.NearestRow(np.arange(n), labels))

    return cut


def medoids_cut(distances: np.ndarray) -> Cut:
    """Prepare k-medoids by FasterPAM [1]_, started by BUILD; new rows join the nearest medoid.

    References
    ----------
    .. [1] E. Schubert, P. J. Rousseeuw (2021). Fast and eager k-medoids clustering. Information
       Systems 101, 101804. doi:10.1016/j.is.2021.101804
    """
    return lambda k: around(distances, np.sort(fasterpam(distances, k).medoids))


def around(distances: np.ndarray, chosen: np.ndarray) -> Clustering:
    """Return clusters around exemplars, numbered by their first row.

    An exemplar is in its own cluster even where another one is at distance 0.
    """
    labels = distances[:, chosen].argmin(axis=1)
    # With duplicates argmin alone would put an exemplar into the cluster of another.
    labels[chosen] = np.arange(len(chosen))
    # Numbering by first row keeps labels stable when exemplars move a little.
    labels, old = _clustering.number_by_first_row(labels)
    return Clustering(labels, chosen[old], _clustering.NearestExemplar(chosen[old]))


# -- eigenvectors ----------------------------------------------------------------------------------
# Principal components and spectral clustering, with landmarks for many rows.

KMEANS_STARTS = 20
MAX_DENSE_ROWS = 600  # up to here a dense solver is faster than ARPACK; chosen by hand
MIN_EIGENVALUE = 1e-10  # dividing by a smaller one would amplify rounding errors for new rows


class Eigenvectors:
    """K-means on eigenvectors of the similarities, on landmarks where rows are many.

    **Components.** With S the similarities, the eigenvectors v of S less the means of its rows and
    columns are the principal components of rows whose inner products are S (kernel PCA [1]_, and
    with d**2 = 1 - S classical scaling). The first k - 1 hold the relaxed solution of k-means in
    all of them [2]_; k-means (20 starts) finds the clusters there. The coordinates of a row x are
    ``sum_l S_xl v_l / sqrt(lambda)`` over the rows l that were compared with each other (but for a
    constant).

    **Spectral clustering** of Ng, Jordan and Weiss. With W the affinities (0 on the diagonal) and g
    their sums, the eigenvectors of the largest eigenvalues of W_ij / sqrt(g_i g_j) become
    coordinates, rows are scaled to length 1, and k-means (20 starts) finds the clusters [3]_. Any
    other row gets the coordinates ``sum_l W_xl v_l / (sqrt(g_l) lambda)`` over the rows l that were
    compared with each other, which for those rows themselves are their own coordinates [4]_.

    So landmarks that are all rows give the answer without landmarks, and new rows are labeled by
    the nearest center.

    Parameters
    ----------
    affinity : "" for components; "similarity" or "rbf" for spectral clustering
        W is the similarity, or exp(-d**2 / (2 sigma**2)) of the distance.
    sigma : float
    space : Space
    seed : int
    most : int
        The most clusters that will be asked for.
    basis : int64 array, optional
        Positions of the landmarks; None: all rows.
    known : Space, optional
        The landmarks themselves.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola, K.-R. Müller (1998). Nonlinear component analysis as a kernel
       eigenvalue problem. Neural Computation 10(5), 1299-1319. doi:10.1162/089976698300017467
    .. [2] C. Ding, X. He (2004). K-means clustering via principal component analysis. ICML 2004.
       doi:10.1145/1015330.1015408
    .. [3] A. Y. Ng, M. I. Jordan, Y. Weiss (2001). On spectral clustering: analysis and an
       algorithm. Advances in Neural Information Processing Systems 14.
    .. [4] Y. Bengio et al. (2004). Learning eigenfunctions links spectral embedding and kernel PCA.
       Neural Computation 16(10), 2197-2219. doi:10.1162/0899766041732396
    """

    def __init__(
        self,
        affinity: str,
        sigma: float,
        space: Space,
        seed: int,
        most: int,
        basis: np.ndarray | None = None,
        known: Space | None = None,
    ) -> None:
        self.seed = seed
        self.basis = np.arange(len(space)) if basis is None else basis
        known = space if known is None else known
        if affinity:
            self.weights, loadings, own = _spectral(known, most, affinity, float(sigma))
        else:
            self.weights, loadings, own = _components(known, most)
        # Centers come with the clusters.
        self.extension = Extension(self.basis, loadings, loadings[:0], affinity, float(sigma))
        if basis is not None:
            own = self.extension.coordinates(space.measure, space.rows, space.rows)
        self.coordinates = own

    def cut(self, k: int) -> Clustering:
        """Return k clusters, or fewer if rows do not have k different coordinates."""
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning
        from threadpoolctl import threadpool_limits

        # The first of the eigenvectors that were computed for the largest number of clusters.
        first = slice(k if self.extension.affinity else max(1, k - 1))
        points = self.extension.points(self.coordinates[:, first])
        means = KMeans(k, n_init=KMEANS_STARTS, algorithm="lloyd", random_state=self.seed)
        # One thread: sums over several would differ in their last bits from run to run.
        with warnings.catch_warnings(), threadpool_limits(1):
            warnings.simplefilter("ignore", ConvergenceWarning)
            means.fit(points)
        labels, old = _clustering.number_by_first_row(means.labels_.astype(np.int64))
        centers = means.cluster_centers_[old]
        loadings = self.extension.loadings[:, first]
        extension = replace(self.extension, loadings=loadings, centers=centers)
        return Clustering(labels, self._exemplars(labels, points, centers), extension)

    def _exemplars(self, labels: np.ndarray, points: np.ndarray, centers: np.ndarray) -> np.ndarray:
        """Return the row (landmark) of each cluster with the largest affinity to its members."""
        exemplars = []
        for label, center in enumerate(centers):
            members = np.flatnonzero(labels[self.basis] == label)
            if len(members):
                sums = self.weights[np.ix_(members, members)].sum(axis=0)
                exemplars.append(self.basis[members[int(sums.argmax())]])
            else:  # a cluster without a landmark: the row nearest to its center
                own = np.flatnonzero(labels == label)
                exemplars.append(own[int(np.square(points[own] - center).sum(axis=1).argmin())])
        return np.asarray(exemplars, dtype=np.int64)


# Affinities of the rows compared, the loadings that extend to others, and their own coordinates.
Found = tuple[np.ndarray, np.ndarray, np.ndarray]


def _components(known: Space, most: int) -> Found:
    weights = known.similarities()
    means = weights.mean(axis=0)
    centered = weights - means
    centered -= means[:, None] - means.mean()
    values, vectors = _largest(centered, max(1, most - 1))
    useful = values > MIN_EIGENVALUE
    loadings = np.where(useful, vectors / np.sqrt(np.where(useful, values, 1.0)), 0.0)
    return weights, loadings, weights @ loadings


def _spectral(known: Space, most: int, affinity: str, sigma: float) -> Found:
    weights = _affinities(known, affinity, sigma)
    sums = weights.sum(axis=1)
    if not np.isfinite(sums).all():
        who, hint = "spectral clustering", "Check the data"
        raise UndefinedMeasure(who, "finite affinities", "an infinite sum", hint)
    # A row with affinity 0 to all others would be 0 / 0; so it becomes a row of zeros.
    root = np.sqrt(np.where(sums > 0, sums, np.finfo(float).eps))
    scaled = weights / root[:, None]
    scaled /= root
    values, vectors = _largest(scaled, most)
    useful = np.abs(values) > MIN_EIGENVALUE
    # Equation of the Nystroem extension [4], without the affinities of the row itself.
    loadings = vectors / (root[:, None] * np.where(useful, values, 1.0))
    loadings[:, ~useful] = 0.0
    return weights, loadings, vectors


@saveable
@dataclass(frozen=True, eq=False)
class Extension(Model):
    """A new row gets coordinates from its affinities and joins the nearest center.

    Parameters
    ----------
    loadings : float64 (positions, dimensions), that affinities are multiplied by
    centers : float64 (clusters, dimensions)
    affinity : "" of components; of spectral clustering "similarity" or "rbf", of which none is a
        row's with itself, and whose coordinates lie on the unit sphere
    sigma : float
    """

    FIELDS: ClassVar[Fields] = {
        "loadings": Array("float64", "positions", "dimensions"),
        "centers": Array("float64", "clusters", "dimensions"),
        "affinity": Choice("", "similarity", "rbf"),
        "sigma": Real(finite=True),
    }

    loadings: np.ndarray
    centers: np.ndarray
    affinity: str
    sigma: float

    @property
    def n_labels(self) -> int:
        """One more than the largest label that can be assigned."""
        return len(self.centers)

    def coordinates(self, measure: Measure, rows: Rows, new: Rows) -> np.ndarray:
        """Return coordinates as they come from affinities to the known rows."""
        known = rows[self.positions]
        out = np.empty((len(new), self.loadings.shape[1]))
        compared = "distance" if self.affinity == "rbf" else "similarity"

        def extend(part: slice) -> None:
            some = new[part]
            block = measure.block(some, known, compared)
            # A pair without anything to compare is an error, or the value the measure has for it.
            if np.isnan(block).any():
                block = measure.defined(block, compared)
            at, own = self_pairs(some, known)
            if new is rows:  # self_pairs knows positions of fitted rows, not those of a frozen one
                own = np.flatnonzero((self.positions >= part.start) & (self.positions < part.stop))
                at = self.positions[own] - part.start
            if measure.traits.exact_self:  # as in the matrix, also of a frozen measure
                block[at, own] = float(compared == "similarity")
            if self.affinity:
                block = _as_affinity(block, self.affinity, self.sigma)
                block[at, own] = 0.0
            out[part] = block @ self.loadings

        each_part(measure, len(new), extend, "comparing rows with landmarks")
        return out

    def points(self, coordinates: np.ndarray) -> np.ndarray:
        """Return where rows of these coordinates lie, as k-means has it."""
        if not self.affinity:
            return coordinates
        length = np.linalg.norm(coordinates, axis=1, keepdims=True)
        return coordinates / np.where(length > 0, length, 1.0)  # a row of zeros stays

    def assign(self, measure: Measure, rows: Rows, new: Rows) -> np.ndarray:
        """Return labels of new rows."""
        points = self.points(self.coordinates(measure, rows, new))
        return np.square(points[:, None, :] - self.centers).sum(axis=2).argmin(axis=1)


def _affinities(space: Space, affinity: str, sigma: float) -> np.ndarray:
    """Return the matrix of affinities with zeros on its diagonal."""
    source = space.similarities() if affinity == "similarity" else space.distances()
    matrix = _as_affinity(source.copy(), affinity, sigma)  # the space keeps its own matrix
    if not (matrix >= 0).all():
        hint = "Use ", Param("affinity", "rbf"), ", which works on distances"
        needed = "similarities >= 0 for spectral clustering"
        raise InvalidInput(space.who, needed, f"{matrix.min():g}", hint)
    # As in Ng, Jordan and Weiss: the similarity of a row to itself says nothing about clusters.
    np.fill_diagonal(matrix, 0.0)
    return matrix


def _as_affinity(values: np.ndarray, affinity: str, sigma: float) -> np.ndarray:
    if affinity == "similarity":
        return values
    np.square(values, out=values)
    values /= -2 * sigma**2
    return np.exp(values, out=values)


def _largest(matrix: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k largest eigenvalues, in descending order, and their vectors."""
    n = len(matrix)
    # ARPACK is made for a few eigenvalues of a large matrix.
    if n <= MAX_DENSE_ROWS or k > n // 3:
        values, vectors = _all_eigenvectors(matrix, k)
    else:
        from scipy.sparse.linalg import ArpackNoConvergence, eigsh

        # ARPACK starts from random vectors otherwise, and answers would differ from run to run.
        start = np.random.default_rng(0).uniform(0.5, 1.5, n)
        try:
            values, vectors = eigsh(matrix, k, which="LA", v0=start)
        except ArpackNoConvergence:
            values, vectors = _all_eigenvectors(matrix, k)
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    # Eigenvectors have no sign: the largest entry is made positive.
    top = np.abs(vectors).argmax(axis=0)
    return values, vectors * np.sign(vectors[top, np.arange(k)])


def _all_eigenvectors(matrix: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    from scipy.linalg import eigh

    n = len(matrix)
    try:
        values, vectors = eigh(matrix, subset_by_index=(n - k, n - 1))
    except np.linalg.LinAlgError:
        # The fast driver (MRRR) may give up where many eigenvalues are nearly equal; the QR
        # algorithm takes longer, and has all of them.
        values, vectors = (part[..., -k:] for part in eigh(matrix, driver="ev"))
    return values, vectors
