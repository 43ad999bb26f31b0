"""What the clustering estimators share beyond other tasks: the limit on matrices, new rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from lookalike.clustering._clustering import Model
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows
from lookalike.measures.task import MeasureTask, check_task_rows
from lookalike.saving.fields import INT64, Array, Dims, Fields, Integer, Saved

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
