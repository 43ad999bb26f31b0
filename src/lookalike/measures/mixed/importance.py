"""Weights of columns from how much a forest misses them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import islice, pairwise
from typing import Any

import numpy as np

from lookalike._runtime.config import count_jobs
from lookalike._runtime.folds import assign_folds
from lookalike._runtime.random_state import make_generator
from lookalike.columns import Absolute
from lookalike.errors import InvalidInput, Param
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.matrices import rectangle
from lookalike.measures.medoids import farthest_first
from lookalike.measures.mixed.gower import Gower
from lookalike.measures.mixed.weights import positive
from lookalike.table import Table
from lookalike.table.model.targets import read_target

N_PROTOTYPES = 10  # a column that is not of numbers becomes similarities to so many of its cells
N_FOLDS = 5
N_REPEATS = 5
MIN_CELLS_FOR_THREADS = 200_000  # below, starting threads costs more than growing the forest


def importance_weights(
    X: Any,
    y: Any,
    *,
    estimator: Any = None,
    target: str = "auto",
    kinds: Mapping[str, Any] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Weigh columns by how much a forest loses without them: weights for ``Gower``.

    Every column becomes numbers: a number column itself, any other one as its similarities to ten
    of its own cells. A forest learns from them; then the cells of one column are shuffled among
    rows that the forest has not seen, and its loss of accuracy is the importance of the column
    [1]_. Unlike impurity, this does not favor columns of many values. Columns that say the same
    share their importance; ``relieff_weights`` gives such columns equal, full weights.

    Parameters
    ----------
    X : table, frame, array, dict of columns or path
    y : array of n, or the name of a column
    estimator : scikit-learn classifier or regressor, optional
        The learner; None: a random forest of 200 trees.
    target : {"auto", "classes", "numbers"}
        What y holds. "auto": texts, booleans and integers are classes, unless there are
        more than two and more than half as many as rows.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    random_state : None, int, RandomState or Generator
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Returns
    -------
    float64 array, one weight per column of the table without the target
        At least 0, of sum 1. If no column is missed all are equal, with a warning.

    Notes
    -----
    Each of five folds is held out once and each of its columns shuffled five times. The loss is
    the share of rows that become wrong, or the growth of the mean squared error.

    References
    ----------
    .. [1] L. Breiman (2001). Random forests. Machine Learning 45, 5-32.
       doi:10.1023/A:1010933404324

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.measures import Gower, importance_weights
    >>> rng = np.random.default_rng(0)
    >>> pets = {"sound": ["meow", "woof"] * 20, "luck": rng.random(40)}
    >>> weights = importance_weights(pets, ["cat", "dog"] * 20)
    >>> weights.round(2)
    array([1., 0.])
    >>> measure = Gower(weights=weights).fit(pets)
    """
    from sklearn.base import clone

    who = "importance_weights"
    if y is None:
        raise InvalidInput(who, "a target to learn from", "none", ("Pass ", Param("y")))
    # Imports scikit-learn, which a search does not need.
    from lookalike.measures.task import read_source

    source, y = read_source(Gower(), X, y, who, kinds, n_jobs)
    values, classes = read_target(y, len(source), who, target)
    if classes is not None and len(classes) < 2:
        raise InvalidInput(who, "at least two classes", f"{len(classes)}", "Add rows")
    classify = classes is not None
    if not classify:  # importance is a share of the whole loss, so the unit does not matter
        values = _moderate(np.asarray(values, dtype=np.float64))
    rng = make_generator(random_state)
    parts = [_numbers(source.table, c.name, n_jobs) for c in source.table]
    columns = np.hstack(parts)  # one matrix for any learner
    learner = _forest(classify, rng, n_jobs, columns.size) if estimator is None else estimator
    folds = assign_folds(values if classify else None, len(source), N_FOLDS, rng, who)
    losses = np.zeros(len(parts))
    # Where the inputs of each column begin and end in the matrix.
    ends = np.cumsum([0, *(part.shape[1] for part in parts)])
    for fold in range(int(folds.max()) + 1):
        train, test = folds != fold, folds == fold
        fitted = clone(learner).fit(columns[train], values[train])
        if estimator is None:  # so many small predictions: a pool for each costs more than it gives
            fitted.set_params(n_jobs=1)
        outside, true = columns[test], values[test]
        before = _loss(fitted.predict(outside), true, classify)
        for column, (start, end) in enumerate(pairwise(ends)):
            for _ in range(N_REPEATS):
                shuffled = outside.copy()
                # All inputs of a column move together, so each row still has a possible cell.
                shuffled[:, start:end] = outside[rng.permutation(len(outside)), start:end]
                losses[column] += _loss(fitted.predict(shuffled), true, classify) - before
    # A shuffled column may help by chance.
    hint = "Try another estimator, or leave the weights out"
    return positive(losses, np.ones(len(losses)), who, "a column that the learner needs", hint)


def _forest(classes: bool, rng: np.random.Generator, n_jobs: int | None, n_cells: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    forest = RandomForestClassifier if classes else RandomForestRegressor
    seed, jobs = int(rng.integers(2**31)), count_jobs(n_jobs)  # checked, used or not
    jobs = 1 if n_cells < MIN_CELLS_FOR_THREADS else jobs
    return forest(n_estimators=200, min_samples_leaf=2, random_state=seed, n_jobs=jobs)


def _numbers(table: Table, name: str, n_jobs: int | None) -> np.ndarray:
    column = table[name]
    if column.kind.name == "number":
        cells = Absolute().fit(column).encode(column)  # refuses infinite ones
        return _moderate(np.asarray(cells))[:, None]  # forests take missing values
    alone = Table([column], n_rows=len(table))
    measure: Measure = Gower(n_jobs=n_jobs).fit(alone)
    rows = measure.rows_
    # Farthest-first spreads the cells: random ones would repeat a frequent level.
    order = farthest_first(partial(rectangle, measure, undefined="half", n_jobs=n_jobs), rows)
    n = min(N_PROTOTYPES, len(table))
    spread = rows[np.sort(list(islice(order, n)))] if n < len(table) else rows
    similarities = rectangle(measure, rows, spread, "similarity", undefined="half", n_jobs=n_jobs)
    similarities[column.missing] = np.nan
    return similarities


def _moderate(values: np.ndarray) -> np.ndarray:
    """Return numbers whose squares a float can hold, and they themselves a float32.

    Others are divided by a power of two, which changes no comparison.
    """
    largest = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
    # Within a range where neither a square overflows nor float32, which forests use, underflows.
    if largest == 0 or 1e-30 < largest < 1e30:
        return values
    return np.ldexp(values, -int(np.frexp(largest)[1]))


def _loss(found: np.ndarray, true: np.ndarray, classes: bool) -> float:
    return float(np.mean(found != true) if classes else np.mean((found - true) ** 2))
