"""What the clustering estimators share beyond other tasks: the limit on matrices, new rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from lookalike._params import AtLeast, Rule
from lookalike.cluster._clustering import Model
from lookalike.measures.base import Measure
from lookalike.measures.rows import Rows
from lookalike.measures.task import MeasureTask

__all__ = ["MeasureClusterer"]


class MeasureClusterer(ClusterMixin, MeasureTask):
    """Base of the estimators that cluster by one measure and can label new rows."""

    PARAMS: ClassVar[dict[str, Rule]] = {"dense_limit": AtLeast(1)}

    measure_: Measure
    rows_: Rows
    model_: Model

    def _assign(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "model_")
        new = self.measure_.encode(X)
        return np.asarray(self.model_.assign(self.measure_, self.rows_, new), dtype=np.int64)
