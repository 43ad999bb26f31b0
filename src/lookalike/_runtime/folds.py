"""Folds for cross-validation, from scikit-learn's splitters."""

import warnings
from typing import Any

import numpy as np

from lookalike._runtime.random_state import make_generator
from lookalike.errors import Param, TooFewRows


def assign_folds(
    classes: np.ndarray | None, n: int, n_splits: int, random_state: Any, who: str
) -> np.ndarray:
    """Split rows into folds of equal class shares (stratified folds); return the fold of each row.

    Rows are shuffled, so a table that is sorted by its target does no harm. Fewer rows than folds
    make as many folds as rows; where no class has a row for every fold, classes are not looked at.

    Parameters
    ----------
    classes : array of n, optional
        None: plain folds.
    n : int
    n_splits : int
    random_state : None, int, Generator or RandomState
        None: the same folds in every call.
    who : str

    Returns
    -------
    int64 array of n, from 0
    """
    from sklearn.model_selection import KFold, StratifiedKFold

    if n < 2:
        raise TooFewRows(who, "at least 2 rows", Param("n_samples", n), "Add rows")
    splits = min(n_splits, n)
    seed = 0 if random_state is None else int(make_generator(random_state).integers(2**31))
    splitter: Any = KFold(splits, shuffle=True, random_state=seed)
    if classes is not None and np.unique(classes, return_counts=True)[1].max() >= splits:
        splitter = StratifiedKFold(splits, shuffle=True, random_state=seed)
    folds = np.empty(n, dtype=np.int64)
    with warnings.catch_warnings():
        # A class with fewer rows than folds is missing from some of them: nothing to warn about.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        for fold, (_, held) in enumerate(splitter.split(np.zeros(n), classes)):
            folds[held] = fold
    return folds
