"""Names of columns and labels of rows, as the caller's data has them."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from lookalike.errors import InPython, InvalidInput, LookalikeWarning, Param, Phrase
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


DEFAULT_NAMES = ("index", "label", "row_label")


def with_labels(
    X: Any, name: str | None = None, who: str = "Index.fit", strict: bool = False
) -> tuple[Any, str | None]:
    """Return a frame with its labels as a column, and the name of this column.

    Labels are kept where every row has one of its own, and they are not just the numbers of the
    rows. Everything else, a frame with several levels of labels included, comes back as it is.

    Parameters
    ----------
    X : anything
    name : str, optional
        The column that the labels are to become. None: the name of the index, or "index".
    who : str
        Whose name a warning begins with.
    strict : bool
        Whether labels that several rows have are an error, instead of a warning.

    Examples
    --------
    >>> import pandas as pd
    >>> frame, name = with_labels(pd.DataFrame({"x": [1, 2]}, index=["a", "b"]))
    >>> name, frame["index"].tolist()
    ('index', ['a', 'b'])
    """
    labels = _labels(X)
    if labels is None or (name is not None and name in X.columns):
        return X, None
    if not labels.is_unique or labels.hasnans:
        _refuse_labels(labels, who, strict)
        return X, None
    wanted = labels.name if name is None else name
    names = [wanted, *DEFAULT_NAMES] if isinstance(wanted, str) else DEFAULT_NAMES
    free = next((other for other in names if other not in X.columns), None)
    return (X, None) if free is None else (X.reset_index(names=free), free)


def _refuse_labels(labels: Any, who: str, strict: bool) -> None:
    twice = labels[labels.duplicated()].tolist()
    what = "a missing one" if labels.hasnans else f"{twice[0]!r} twice"
    start = "Make" if strict else "Rows are numbered from 0 instead; make"
    hint = Phrase(f"{start} the labels differ", InPython(", or call reset_index()"))
    needed = "labels of the rows that differ"
    if strict:
        raise InvalidInput(Param(who), needed, what, hint)
    warnings.warn(LookalikeWarning(who, needed, what, hint), stacklevel=5)


def row_labels(X: Any) -> list[Any] | None:
    """Return the labels of the rows of a frame; None where there are none to speak of."""
    labels = _labels(X)
    if labels is None or not labels.is_unique or labels.hasnans:
        return None
    return list(labels.tolist())


def _labels(X: Any) -> Any:
    """Return the index of a pandas frame, None if it is only a count or has several levels."""
    labels = getattr(X, "index", None)
    if labels is None or not hasattr(X, "reset_index") or getattr(X, "ndim", 0) != 2:
        return None
    if getattr(labels, "nlevels", 1) != 1 or not len(labels):
        return None
    if labels.dtype.kind in "iu" and np.array_equal(np.asarray(labels), np.arange(len(labels))):
        return None
    return labels
