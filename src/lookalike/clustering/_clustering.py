"""A clustering: labels, exemplars, and a model that labels new rows."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from lookalike.errors import InPython, LookalikeWarning, Param, Phrase
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.matrices import rectangle
from lookalike.measures.contract.rows import Rows
from lookalike.measures.task import MeasureTask, check_task_rows
from lookalike.saving.encode import saveable
from lookalike.saving.fields import INT64, Array, Dims, Fields, Integer, Saved, require


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
    warnings.warn(LookalikeWarning(who, needed, found, hint), stacklevel=4)


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
