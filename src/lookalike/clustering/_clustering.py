"""What clusterings share: the space of rows, clusters, and models that label new rows."""

from __future__ import annotations

import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from lookalike import errors
from lookalike._runtime.config import settings, show_bytes
from lookalike._runtime.progress import Progress
from lookalike._runtime.threads import blocks, run
from lookalike.errors import InPython, Param, Phrase, TooFewRows
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.matrices import check_pairs, rectangle, square
from lookalike.measures.contract.rows import Rows
from lookalike.measures.task import MeasureTask, check_task_rows
from lookalike.measures.vector import Vector
from lookalike.saving.encode import saveable
from lookalike.saving.fields import INT64, Array, Dims, Fields, Integer, Saved, require

# Rows and columns compared in one block, chosen by hand: 4 MB of distances. Never derived from
# n_jobs, so that answers do not depend on the number of threads.
BLOCK_ROWS, BLOCK_COLUMNS = 256, 2048
AUTO = "auto"
BY_VECTORS = ("components", "spectral")
BY_NUMBER = (*BY_VECTORS, "affinity", "complete", "ward", "medoids")
BY_DENSITY = ("density", "hdbscan")
METHODS = BY_NUMBER + BY_DENSITY
_METHODS = Param("method", "density"), " or ", Param("method", "hdbscan")
INSTEAD = Phrase(
    "Use ", Param("landmarks", "auto"), ", ", *_METHODS, ", which never make the matrix"
)


@dataclass(eq=False)
class Space:
    """Encoded rows with the measure that compares them.

    Parameters
    ----------
    measure : Measure, fitted
    rows : Rows
        Usually the fitted rows; a frozen measure may hold others.
    who : str
        The estimator, for messages.
    limit : int
        The most rows for which a matrix of all pairs is made.
    instead : str
        What to do about more rows.
    """

    measure: Measure
    rows: Rows
    who: str
    limit: int
    instead: str = INSTEAD
    # Both matrices may be needed (spectral clusters similarities, the silhouette judges
    # distances), and each takes n * n * 8 bytes: made once, shared by all numbers of clusters.
    _made: dict[str, np.ndarray] = field(default_factory=dict, init=False)

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, positions: np.ndarray) -> Space:
        """Return the space of some of the rows."""
        return replace(self, rows=self.rows[positions])

    def balanced(self) -> Space:
        """Return the space in which columns differ alike on the mean, where they have weights."""
        return replace(self, measure=self.measure.balanced())

    def distances(self) -> np.ndarray:
        """Return the matrix of distances, made once; not to be changed by the caller."""
        return self._matrix("distance")

    def similarities(self) -> np.ndarray:
        """Return the matrix of similarities, made once; not to be changed by the caller."""
        return self._matrix("similarity")

    def _matrix(self, to: str) -> np.ndarray:
        if to not in self._made:
            self.check_size()
            self._made[to] = square(self.measure, self.rows, to)
        return self._made[to]

    def fits(self) -> bool:
        """Whether a matrix of all pairs may be made."""
        n = len(self)
        # The memory limit counts as well: a smaller dense_limit is a choice, the other a necessity.
        return n <= self.limit and 8 * n * n <= settings().memory_limit

    def check_size(self) -> None:
        """Refuse a matrix of all pairs that is too large, before anything is computed."""
        n = len(self)
        if n > self.limit:
            most = f"at most {self.limit:,} rows for a matrix of all pairs"
            hint = self.instead, ", or raise ", Param("dense_limit")
            raise errors.TooLarge(self.who, most, f"{n:,} rows ({show_bytes(8 * n * n)})", hint)
        check_pairs(self.who, n, n, self.instead, what="a matrix of all pairs")


def stream_within(
    space: Space, limit: float, fold: Callable[[np.ndarray, np.ndarray], Any], what: str
) -> None:
    """Call ``fold(i, j)`` with all pairs i < j within a distance limit, block by block."""
    rows, measure, lock = space.rows, space.measure, threading.Lock()

    def fold_tile(down: slice, across: slice) -> None:
        a, b = rows[down], rows[across]
        # Euclidean distances have a faster test of a limit; it returns None where it cannot help.
        pairs = measure.pairs_within(a, b, limit) if isinstance(measure, Vector) else None
        left, right = np.nonzero(measure.block(a, b) <= limit) if pairs is None else pairs
        left, right = left + down.start, right + across.start
        # A tile on the diagonal contains each of its pairs twice, and rows paired with themselves.
        above = left < right
        with lock:  # fold joins clusters in arrays shared by all threads
            fold(left[above], right[above])

    # The pairs on and above the diagonal.
    tiles = [
        (down, slice(max(down.start, across.start), across.stop))
        for down in blocks(len(rows), BLOCK_ROWS)
        for across in blocks(len(rows), BLOCK_COLUMNS)
        if across.stop > down.start
    ]
    run(fold_tile, tiles, getattr(measure, "n_jobs", None), what)


def each_part(measure: Measure, n: int, work: Callable[[slice], Any], what: str) -> None:
    """Call ``work`` with every part of n rows, in parallel on the threads of the measure."""
    parts = [(part,) for part in blocks(n, BLOCK_ROWS)]
    run(work, parts, getattr(measure, "n_jobs", None), what)


def each_block(
    measure: Measure,
    new: Rows,
    known: Rows,
    fold: Callable[[slice, slice, np.ndarray], Any],
    what: str,
) -> None:
    """Call ``fold(down, across, distances)`` with all pairs of new and known rows, in blocks."""

    def fold_row(down: slice) -> None:
        # One thread folds all blocks of its rows, from left to right: no lock, one order of ties.
        for across in blocks(len(known), BLOCK_COLUMNS):
            fold(down, across, measure.block(new[down], known[across]))

    each_part(measure, len(new), fold_row, what)


MIN_LANDMARKS = 2_000
AFFINITY_LANDMARKS = 500  # thousands of rounds of messages over all pairs
MAX_MATRICES = 4  # of all pairs of landmarks that a method may hold at a time


def default_landmarks(n: int, method: str, limit: int, n_clusters: int = 1) -> int:
    """Return how many rows are drawn as landmarks from n rows.

    2,000, or four times the square root of n where that is more (from 250,000 rows on); 500 for
    affinity propagation; at least twice the clusters asked for. No more than ``limit``, and no more
    than let four matrices of all their pairs stay under the memory limit.

    Parameters
    ----------
    n : int
    method : str
    limit : int
        The most rows for which a matrix of all pairs is made.
    n_clusters : int

    Examples
    --------
    >>> default_landmarks(50_000, "ward", 20_000), default_landmarks(10**6, "ward", 20_000)
    (2000, 4000)
    """
    wanted = max(MIN_LANDMARKS, int(np.ceil(4 * np.sqrt(n))))
    if method == "affinity":
        wanted = AFFINITY_LANDMARKS
    # Eight bytes for each pair of landmarks, in as many matrices as a method may hold.
    in_memory = int(np.sqrt(settings().memory_limit / (8 * MAX_MATRICES)))
    return max(2, min(max(wanted, 2 * n_clusters), in_memory, limit, n))


def count_landmarks(
    space: Space, landmarks: int | str | None, method: str, n_clusters: int | str = 1
) -> int | None:
    """Return the number of landmarks, None where all rows are compared with each other."""
    if method in BY_DENSITY:
        return None
    if landmarks != AUTO:
        return None if landmarks is None else int(landmarks)
    # All pairs whenever they fit: landmarks take a fifth of the time, but two draws of them agree
    # less (adjusted Rand .55 on diamonds, .82 on loans, .80 on storms) than two seeds of all pairs
    # (.996, .995, .71).
    if space.fits():
        return None
    wanted = 1 if n_clusters == AUTO else int(n_clusters)
    return default_landmarks(len(space), method, space.limit, wanted)


def exactness(n: int, basis: Any, method: str) -> str:
    """Return which rows a clustering is exact on, as text.

    Parameters
    ----------
    n : int
        Rows that were clustered.
    basis : array of positions, or None
        The landmarks.
    method : str
    """
    if basis is None:
        return f"exact on all {n:,} rows"
    rest = "assigned to the nearest exemplar"
    if method in BY_VECTORS:
        rest = "labeled by the extended eigenvectors"
    elif method in ("complete", "ward"):
        rest = "assigned to the cluster of the nearest landmark"
    return f"exact on {len(basis):,} landmark rows, the other {n - len(basis):,} {rest}"


def check_symmetric(space: Space, who: str, *instead: Any) -> None:
    """Refuse directed distances: most methods read one triangle, or assume d(a, b) = d(b, a)."""
    if not space.measure.traits.symmetric:
        needed = "distances that are the same in both directions"
        found = f"{type(space.measure).__name__}, whose distances are directed"
        raise errors.InvalidInput(who, needed, found, (*instead, InPython(" into Precomputed()")))


def check_request(
    space: Space, who: str, method: str, n_clusters: int | str, landmarks: int | None
) -> None:
    """Refuse what a method cannot do, before anything is computed.

    Parameters
    ----------
    space : Space
    who : str
        The estimator with its method.
    method : str
    n_clusters : int or "auto"
    landmarks : int, optional
        None: all rows are compared with each other.
    """
    n, name = len(space), who.partition("(")[0]
    if method != "affinity":
        average = ", or average the two directions"
        check_symmetric(space, who, "Use ", Param("method", "affinity"), average)
    if method in BY_DENSITY and n_clusters != AUTO:
        asked = Param("n_clusters", n_clusters, of=name)
        rule = Param("n_clusters", "auto"), ": this method finds the number itself"
        advice = "Leave it out, or use another method"
        raise errors.InvalidInput(asked, rule, repr(n_clusters), advice)
    # Methods cluster the landmarks, so that is how many rows have to suffice.
    known = n if landmarks is None else landmarks
    if known > n:
        asked, rows = Param("landmarks", known, of=name), Param("n_samples", n)
        hint = "Use ", Param("landmarks", n), ", or leave it out"
        raise TooFewRows(asked, f"at least {known} rows", rows, hint)
    if n_clusters != AUTO and int(n_clusters) > known:
        what, given = ("rows", Param("n_samples", n)) if known == n else ("landmarks", f"{known}")
        asked = Param("n_clusters", n_clusters, of=name)
        hint = "Use ", Param("n_clusters", known), f" or add {what}"
        raise TooFewRows(asked, f"at least {n_clusters} {what}", given, hint)


# -- clusters, and new rows ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Model(ABC):
    """Assigns new rows to clusters.

    Parameters
    ----------
    positions : int64 array
        Of the clustered rows that new rows are compared with.
    """

    FIELDS: ClassVar[Fields] = {"positions": Array("int64", "positions", low=0)}

    MIN_CLUSTERS: ClassVar[int] = 1

    positions: np.ndarray

    @property
    def n_labels(self) -> int:
        """One more than the largest label that can be assigned."""
        return len(self.positions)

    @abstractmethod
    def assign(self, measure: Measure, rows: Rows, new: Rows) -> np.ndarray:
        """Return labels of new rows, given the rows that were clustered."""

    def moved(self, positions: np.ndarray) -> Self:
        """Return the model after its rows have become rows at these positions of a larger set."""
        return replace(self, positions=positions[self.positions])

    def check_rows(self, n: int, n_clusters: int) -> None:
        """Refuse a loaded model that names other rows or clusters than there are."""
        known = self.positions.max(initial=-1) < n and self.n_labels <= n_clusters
        # Without a row or a label to choose from, assign would fail on the first new row.
        known = known and min(len(self.positions), self.n_labels) >= self.MIN_CLUSTERS
        require(known, type(self).__name__, f"rows below {n}", "others")


@dataclass(frozen=True, eq=False)
class LabeledModel(Model):
    """A model that knows the label of each of its rows."""

    FIELDS: ClassVar[Fields] = {"labels": Array("int64", "positions", low=-1)}

    labels: np.ndarray

    @property
    def n_labels(self) -> int:
        """One more than the largest label that can be assigned."""
        return int(self.labels.max(initial=-1)) + 1


@dataclass(frozen=True, eq=False)
class Clustering:
    """A clustering.

    Parameters
    ----------
    labels : int64 array of n, -1 for noise
    exemplars : int64 array of positions, one per cluster
    model : Model
    """

    labels: np.ndarray
    exemplars: np.ndarray
    model: Model

    def __len__(self) -> int:
        return len(self.exemplars)


def best_number(
    numbers: Sequence[int], make: Callable[[int], Any], judge: Callable[[Any], float]
) -> tuple[Any, dict[int, float]]:
    """Return the clusters of the highest score, and the scores by the number of clusters found.

    The fewer clusters on ties. Two clusterings may have the same number of clusters: the first
    counts.
    """
    best, scores = None, {}
    with Progress("trying numbers of clusters", len(numbers)) as bar:
        for wanted in numbers:
            found = make(wanted)
            bar.advance()
            if len(found) not in scores:
                score = judge(found)
                if best is None or score > max(scores.values()):
                    best = found
                scores[len(found)] = score
    return best, scores


# A way of clustering that was prepared once, and cuts the rows into any number of clusters.
Cut = Callable[[int], Clustering]


@saveable
class NearestExemplar(Model):
    """A new row joins the cluster of the nearest exemplar; ties go to the lower label."""

    def assign(self, measure: Measure, rows: Rows, new: Rows) -> np.ndarray:
        """Return labels of new rows."""
        known = rows[self.positions]
        # A measure with a value of its own for undefined pairs fills them itself; the others keep
        # NaN, so that a row that can be compared with one exemplar still gets a label.
        undefined = "keep" if getattr(measure, "undefined", None) is None else "raise"
        distances = rectangle(measure, new, known, undefined=undefined)
        unknown = np.isnan(distances)
        if unknown.all(axis=1).any():  # a row that no exemplar can be compared with is an error
            measure.defined(distances, "distance")
        # As in lists of neighbors, an exemplar with nothing to compare comes last.
        return np.where(unknown, np.inf, distances).argmin(axis=1)


@saveable
class NearestRow(LabeledModel):
    """A new row joins the cluster of the nearest row; ties go to the lower position."""

    def assign(self, measure: Measure, rows: Rows, new: Rows) -> np.ndarray:
        """Return labels of new rows."""
        nearest = measure.nearest(new, rows[self.positions], 1).finish("last")
        return self.labels[nearest.indices[:, 0]]


def number_by_first_row(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return labels numbered by first row, and the old label of each new one."""
    old, first = np.unique(labels[labels >= 0], return_index=True)
    old = old[np.argsort(first)]
    # One entry more than labels: noise, -1, indexes the last one and stays -1.
    new = np.full(int(labels.max(initial=-1)) + 2, -1, dtype=np.int64)
    new[old] = np.arange(len(old))
    return new[labels], old


def cluster_medoids(distances: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return for each cluster the row with the smallest sum of distances to its members."""
    chosen = []
    for label in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == label)
        # The distance from the members to the candidate, as in k-medoids.
        # Column sums: of directed distances these are the costs of a medoid as in FasterPAM.
        sums = distances[np.ix_(members, members)].sum(axis=0)
        chosen.append(members[int(sums.argmin())])
    return np.asarray(chosen, dtype=np.int64)


def densest_rows(labels: np.ndarray, members: np.ndarray, sparsity: np.ndarray) -> np.ndarray:
    """Return for each cluster the member of the lowest sparsity, the first on ties."""
    # Sorted by label, then by sparsity, then by position: the first entry of each label is wanted.
    order = members[np.lexsort((members, sparsity[members], labels[members]))]
    return order[np.searchsorted(labels[order], np.arange(int(labels.max(initial=-1)) + 1))]


def warn_other_number(estimator: Any, needed: str, found: str) -> None:
    """Warn that fit found another number of clusters than ``n_clusters``."""
    who = Param("n_clusters", estimator.n_clusters, of=type(estimator).__name__)
    hint = Phrase(
        "Use these clusters", InPython(" (see n_clusters_)"), ", or ask for another number"
    )
    # Four frames up is the line that called fit: fit, _cluster and this function are ours.
    warnings.warn(errors.LookalikeWarning(who, needed, found, hint), stacklevel=4)


class MeasureClusterer(ClusterMixin, MeasureTask, abstract=True):
    """Base of the estimators that cluster by one measure and can label new rows."""

    FIELDS: ClassVar[Fields] = {
        "dense_limit": Integer(1, INT64),
        "measure_": Saved("Measure"),
        "rows_": Saved("Rows"),
        "model_": Saved("Model"),
        "labels_": Array("int64", "rows", low=-1, below="clusters"),
        "n_clusters_": Integer(0, size="clusters"),
        "exemplars_": Array("int64", "clusters", low=0, below="rows"),
    }

    measure_: Measure
    rows_: Rows
    model_: Model
    labels_: np.ndarray
    exemplars_: np.ndarray
    n_clusters_: int

    def _adopt(self, found: Clustering) -> None:
        self.labels_, self.exemplars_, self.model_ = found.labels, found.exemplars, found.model
        self.n_clusters_ = len(found.exemplars)

    def predict(self, X: Any) -> np.ndarray:
        """Return the clusters of new rows.

        Parameters
        ----------
        X : new rows

        Returns
        -------
        int64 array of n labels, -1 for noise
        """
        check_is_fitted(self, "model_")
        new = self.measure_.encode(X)
        return np.asarray(self.model_.assign(self.measure_, self.rows_, new), dtype=np.int64)

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that labels, exemplars and rows belong together."""
        n = dims["rows"]
        # A file may hold any arrays: rows, labels and model have to agree before they index each
        # other.
        check_task_rows(self, n)
        self.model_.check_rows(n, self.n_clusters_)
