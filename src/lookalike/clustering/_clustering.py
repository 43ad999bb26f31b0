"""A clustering: labels, exemplars, and a model that labels new rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.matrices import rectangle
from lookalike.measures.contract.rows import Rows
from lookalike.measures.task import MeasureTask, check_task_rows
from lookalike.saving.encode import saveable
from lookalike.saving.fields import INT64, Array, Dims, Fields, Integer, Saved, require


class Model(Protocol):
    """Says which cluster new rows belong to."""

    def assign(self, measure: Measure, rows: Rows, new: Rows) -> np.ndarray:
        """Return labels of new rows, given the rows that were clustered."""
        ...

    def check_rows(self, n: int, n_clusters: int) -> None:
        """Refuse a loaded model that names other rows or clusters than there are."""
        ...


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


class Method(Protocol):
    """A way of clustering that is prepared once and then cut into any number of clusters."""

    def cut(self, k: int) -> Clustering:
        """Return k clusters."""
        ...


@saveable
@dataclass(frozen=True, eq=False)
class NearestExemplar:
    """A new row joins the cluster of the nearest exemplar; ties go to the lower label."""

    FIELDS: ClassVar[Fields] = {
        "exemplars": Array("int64", "clusters", low=0),
    }

    exemplars: np.ndarray

    def assign(self, measure: Measure, rows: Rows, new: Rows) -> np.ndarray:
        """Return labels of new rows."""
        known = rows[self.exemplars]
        undefined = "keep" if getattr(measure, "undefined", None) is None else "raise"
        far = rectangle(measure, new, known, undefined=undefined)
        lost = np.isnan(far)
        if lost.all(axis=1).any():  # a row that no exemplar can be compared with is an error
            measure.defined(far, "distance")
        # As in lists of neighbors, an exemplar with nothing to compare comes last.
        return np.where(lost, np.inf, far).argmin(axis=1)

    def moved(self, at: np.ndarray) -> NearestExemplar:
        """Return the model when its rows stand at these places among others."""
        return NearestExemplar(at[self.exemplars])

    def check_rows(self, n: int, n_clusters: int) -> None:
        """Refuse a loaded model that names other rows than there are."""
        known = len(self.exemplars) and self.exemplars.max() < n
        require(known, "NearestExemplar", f"rows below {n}", "others")


@saveable
@dataclass(frozen=True, eq=False)
class NearestRow:
    """A new row joins the cluster of the nearest row; ties go to the lower position."""

    FIELDS: ClassVar[Fields] = {
        "basis": Array("int64", "basis", low=0),
        "labels": Array("int64", "basis", low=-1),
    }

    basis: np.ndarray
    labels: np.ndarray

    def assign(self, measure: Measure, rows: Rows, new: Rows) -> np.ndarray:
        """Return labels of new rows."""
        nearest = measure.nearest(new, rows[self.basis], 1).finish("last")
        return self.labels[nearest.indices[:, 0]]

    def moved(self, at: np.ndarray) -> NearestRow:
        """Return the model when its rows stand at these places among others."""
        return replace(self, basis=at[self.basis])

    def check_rows(self, n: int, n_clusters: int) -> None:
        """Refuse a loaded model that names other rows than there are."""
        known = len(self.basis) and self.basis.max() < n
        require(known, "NearestRow", f"rows below {n}", "others")


def number_by_first_row(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return labels numbered by first row, and the old label of each new one."""
    kept = labels[labels >= 0]
    old, first = np.unique(kept, return_index=True)
    old = old[np.argsort(first)]
    new = np.full(int(labels.max(initial=-1)) + 2, -1, dtype=np.int64)  # noise finds the last, -1
    new[old] = np.arange(len(old))
    return new[labels], old


def cluster_medoids(distances: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return for each cluster the row with the smallest sum of distances to its members."""
    chosen = []
    for label in range(int(labels.max()) + 1):
        members = np.flatnonzero(labels == label)
        # The distance from the members to the candidate, as in k-medoids.
        sums = distances[np.ix_(members, members)].sum(axis=0)
        chosen.append(members[int(sums.argmin())])
    return np.asarray(chosen, dtype=np.int64)


MODELS = ("NearestExemplar", "NearestRow", "WithinReach", "MutualReach", "SpectralExtension")


class MeasureClusterer(ClusterMixin, MeasureTask, abstract=True):
    """Base of the estimators that cluster by one measure and can label new rows."""

    FIELDS: ClassVar[Fields] = {
        "dense_limit": Integer(1, INT64),
        "measure_": Saved("Measure"),
        "rows_": Saved("Rows"),
        "model_": Saved(*MODELS),
        "labels_": Array("int64", "rows", low=-1, below="clusters"),
        "n_clusters_": Integer(0, size="clusters"),
        "exemplars_": Array("int64", "clusters", low=0, below="rows"),
    }

    measure_: Measure
    rows_: Rows
    model_: Model

    def _assign(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "model_")
        new = self.measure_.encode(X)
        return np.asarray(self.model_.assign(self.measure_, self.rows_, new), dtype=np.int64)

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that labels, exemplars and rows belong together."""
        n = dims["rows"]
        check_task_rows(self, n)
        self.model_.check_rows(n, self.n_clusters_)
