"""Neighbors for estimators that take a precomputed sparse graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lookalike.measures.contract.base import MODES, to_sparse
from lookalike.measures.contract.rows import Rows, check_k
from lookalike.measures.task import MeasureTask, check_task_rows
from lookalike.neighbors.graph import NeighborGraph
from lookalike.saving.fields import Choice, Dims, Fields, Integer, Saved


@dataclass(eq=False, repr=False)
class NeighborsTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MeasureTask):
    """Turn rows of any kind into a sparse graph of their neighbors, for use in a pipeline.

    With it, scikit-learn's estimators that take a precomputed graph work on mixed tables with
    missing values: ``DBSCAN(metric="precomputed")``, ``TSNE(metric="precomputed", init="random")``,
    ``SpectralClustering(affinity="precomputed_nearest_neighbors")``, ``Isomap``,
    ``KNeighborsClassifier(metric="precomputed")``. It is
    scikit-learn's ``KNeighborsTransformer`` with any measure instead of a metric.

    Parameters
    ----------
    measure : Measure, optional
        How far rows are apart; None: "auto" (``choose_measure``).
    n_neighbors : int
        How many other rows each list has; in mode "distance" it has the row itself as well, as in
        scikit-learn.
    mode : {"distance", "connectivity"}
        Whether entries are distances, or 1.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    measure_ : the fitted measure
    rows_ : Rows, those that were fitted, as the measure encodes them
    n_samples_fit_ : int
        How many rows were fitted.

    Notes
    -----
    A graph holds the nearest rows only: ``DBSCAN`` with an ``eps`` larger than the last distance of
    a list sees fewer neighbors than there are, and ``TSNE`` needs at least three times its
    perplexity. Rows with nothing to compare have no entry.

    Examples
    --------
    >>> from sklearn.cluster import DBSCAN
    >>> from sklearn.pipeline import make_pipeline
    >>> pets = {
    ...     "weight": [4.0, 5.0, None, 30.0, 25.0, 28.0],
    ...     "sound": ["meow", "meow", "meow", "woof", "woof", None],
    ... }
    >>> graph = NeighborsTransformer(n_neighbors=3)
    >>> model = make_pipeline(graph, DBSCAN(eps=0.4, min_samples=2, metric="precomputed"))
    >>> model.fit_predict(pets)
    array([0, 0, 0, 1, 1, 1])
    """

    FIELDS: ClassVar[Fields] = {
        "n_neighbors": Integer(1),
        "mode": Choice(*MODES),
        "measure_": Saved("Measure"),
        "rows_": Saved("Rows"),
    }

    _: KW_ONLY
    n_neighbors: int = 5
    mode: str = "distance"
    kinds: Mapping[str, Any] | None = None
    n_jobs: int | None = None

    @property
    def n_samples_fit_(self) -> int:
        """How many rows were fitted."""
        return len(self.rows_)

    @property
    def _n_features_out(self) -> int:
        return self.n_samples_fit_

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep rows, to be the neighbors of others.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
        y : array of n, or the name of a column, optional
            For measures that learn from a target. A named column is not compared.
        """
        source, target = self._read(X, y)
        self.measure_, self.rows_ = source.fit(target)
        self._remember_columns(X, source, self.measure_)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Return the graph of the rows among themselves.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
        y : array of n, or the name of a column, optional

        Returns
        -------
        CSR matrix of shape (n, n)
        """
        self.fit(X, y)
        # As in scikit-learn: a row is one of its own n_neighbors, or comes on top of them.
        k = self.n_neighbors - (self.mode == "connectivity")
        lists = self._nearest(self.rows_, k, np.arange(len(self.rows_)))
        return to_sparse(lists, self.mode, include_self=True)

    def transform(self, X: Any) -> Any:
        """Return the graph from new rows to the fitted ones.

        Parameters
        ----------
        X : table, frame, array, record or list of records

        Returns
        -------
        CSR matrix of shape (n, fitted rows)
        """
        check_is_fitted(self, "measure_")
        # One more, as in scikit-learn: a new row is not among the fitted ones.
        k = self.n_neighbors + (self.mode == "distance")
        return to_sparse(self._nearest(self.measure_.encode(X), k, None), self.mode)

    def _nearest(self, rows: Rows, k: int, own: np.ndarray | None) -> NeighborGraph:
        """Return the k nearest fitted rows; ``own`` are the positions of the rows themselves."""
        n = len(self.rows_)
        # n_neighbors=1 in mode "connectivity" lists the row alone.
        if k == 0:
            return NeighborGraph.empty(len(rows), 0, n)
        check_k(k, n - (own is not None), type(self).__name__, own is not None)
        lists = self.measure_.nearest(rows, self.rows_, k, exclude=own)
        return lists.finish("last" if self.measure_.traits.undefined_last else "raise")

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that the rows are those of the measure."""
        check_task_rows(self)
