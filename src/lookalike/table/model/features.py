"""What an estimator remembers of the columns it was fitted to (scikit-learn's attributes)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lookalike.table.model.table import Table


def has_names(X: Any) -> bool:
    """Whether the columns of X were named by the user."""
    return isinstance(X, Table | Mapping) or hasattr(X, "columns")


def remember_columns(estimator: Any, X: Any, table: Table, n_features: int | None = None) -> None:
    """Set ``n_features_in_``, and ``feature_names_in_`` if X had names; an older one goes.

    Parameters
    ----------
    estimator : the estimator that is being fitted
    X : the data as given
    table : Table
        The data as read, without the target.
    n_features : int, optional
        None: the number of columns of the table.
    """
    estimator.n_features_in_ = len(table.columns) if n_features is None else n_features
    if has_names(X):
        estimator.feature_names_in_ = np.asarray(table.names, dtype=object)
    else:
        estimator.__dict__.pop("feature_names_in_", None)
