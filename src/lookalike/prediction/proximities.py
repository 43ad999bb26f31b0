"""Breiman's three uses of proximities: outliers, prototypes of classes, missing cells.

All read lists of neighbors, so no matrix of all pairs is needed: rows beyond the end of a list
count as a proximity of 0, which nearly all pairs have where leaves of deep trees are shared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from lookalike.errors import InvalidInput
from lookalike.evaluate.space import as_space, lists_of, needs_distances
from lookalike.measures.contract.base import Measure
from lookalike.measures.forest.proximity import ForestProximity
from lookalike.prediction.imputation import combine
from lookalike.saving.fields import Integer
from lookalike.table import Column, Table, read_table
from lookalike.table.model.table import CODED
from lookalike.table.model.targets import read_target


def proximity_outliers(space: Any, y: Any = None, *, n_neighbors: int | None = None) -> np.ndarray:
    """Score rows by how little they are like the rows of their own class [1]_.

    The raw score of a row is the number of rows over the sum of its squared proximities to the rows
    of its class, itself included. From it the median of the class is subtracted, and the result is
    divided by the median of the absolute deviations from it (by 1 where that is 0). Breiman calls
    rows with a score above 10 outliers.

    Parameters
    ----------
    space : fitted measure, or square matrix of distances
    y : array of n, optional
        Classes. None: all rows are one class.
    n_neighbors : int, optional
        Rows that a row is compared with: its nearest. None: all, which takes memory for all pairs.

    Returns
    -------
    float64 array of length n

    References
    ----------
    .. [1] L. Breiman (2001). Random forests. Machine Learning 45. doi:10.1023/A:1010933404324

    Examples
    --------
    A flower with a wrong label is unlike its class:

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from lookalike.measures import ForestProximity
    >>> from lookalike.prediction import proximity_outliers
    >>> flowers, species = load_iris(return_X_y=True)
    >>> species[17] = 2
    >>> forest = RandomForestClassifier(min_samples_leaf=5, random_state=0).fit(flowers, species)
    >>> measure = ForestProximity("shi", model=forest).fit(flowers)
    >>> int(proximity_outliers(measure, species).argmax())
    17
    """
    near, s = _proximities(space, n_neighbors, "proximity_outliers")
    n = len(near)
    classes = np.zeros(n, np.int64) if y is None else _classes(y, n, "proximity_outliers")[0]
    inside = classes[near] == classes[:, None]
    # The row itself has proximity 1: no sum is 0, however alone a row is.
    scores = n / (1.0 + (inside * s**2).sum(axis=1))
    for label in np.unique(classes):
        members = classes == label
        scores[members] -= np.median(scores[members])
        spread = np.median(np.abs(scores[members]))
        scores[members] /= spread if spread > 0 else 1.0
    return scores


@dataclass(frozen=True)
class Prototype:
    """A typical case of a class, and how far the rows around it differ.

    Parameters
    ----------
    label : its class
    row : int
        The row around which most neighbors are of the class.
    members : array
        Those neighbors of the class, the row itself first if it is of the class.
    share : float
        Share of the class among the neighbors.
    center : dict of column to value
        Medians of numbers and ordered levels, the most frequent category; None if all are missing.
    low, high : dict of column to value
        Quartiles of numbers and ordered levels.
    """

    label: Any
    row: int
    members: np.ndarray
    share: float
    center: dict[str, Any]
    low: dict[str, Any]
    high: dict[str, Any]


def class_prototypes(
    space: Any, table: Any, y: Any, *, n_neighbors: int = 10, n_prototypes: int = 1
) -> list[Prototype]:
    """Find typical cases of each class [1]_.

    A prototype lies around the row with the most rows of the class among its nearest neighbors; its
    values are medians and most frequent categories of these rows, its quartiles say how stable they
    are. The next prototype of the class is sought among the rows that are in none before.

    Parameters
    ----------
    space : fitted measure, or square matrix of distances
    table : the rows of the space
    y : array of n
        Classes.
    n_neighbors : int
        Neighbors of a row that are counted.
    n_prototypes : int
        Of each class, at most.

    Returns
    -------
    list of Prototype
        Classes in ascending order.

    References
    ----------
    .. [1] L. Breiman, A. Cutler (2003). Manual: setting up, using, and understanding random forests
       V4.0. University of California, Berkeley.

    Examples
    --------
    >>> from lookalike.datasets import load_penguins
    >>> from lookalike.measures import ForestProximity
    >>> from lookalike.prediction import class_prototypes
    >>> birds = load_penguins().drop("species")
    >>> species = [load_penguins()["species"].cell(row) for row in range(len(birds))]
    >>> measure = ForestProximity("shi", n_estimators=50, random_state=0).fit(birds)
    >>> for one in class_prototypes(measure, birds, species, n_neighbors=20):
    ...     print(one.label, one.center["island"], one.center["flipper_length_mm"])
    Adelie Dream 190.0
    Chinstrap Dream 197.0
    Gentoo Biscoe 210.0
    """
    who = "class_prototypes"
    Integer(1).check(who, "n_prototypes", n_prototypes)
    near, _ = _proximities(space, n_neighbors, who)
    rows = read_table(table)
    codes, labels = _classes(y, len(near), who)
    if len(rows) != len(near):
        needed, found = f"the {len(near):,} rows of the measure", f"{len(rows):,} rows"
        raise InvalidInput(who, needed, found, "Give the table that the measure was fitted on")
    around = np.concatenate([np.arange(len(near))[:, None], near], axis=1)
    found_ones = []
    for code, label in enumerate(labels.tolist()):
        free = np.ones(len(near), bool)
        for _ in range(n_prototypes):
            inside = codes[around] == code
            counts = np.where(free & (codes == code), (inside & free[around]).sum(axis=1), -1)
            row = int(counts.argmax())  # of equal ones the first
            if counts[row] <= 0:
                break
            members = around[row][inside[row] & free[around[row]]]
            free[members] = False
            values = [_quartiles(column, members) for column in rows]
            low, center, high = (
                {column.name: value[at] for column, value in zip(rows, values, strict=True)}
                for at in range(3)
            )
            found_ones.append(
                Prototype(label, row, members, len(members) / around.shape[1], center, low, high)
            )
    return found_ones


def impute_by_proximity(
    table: Any,
    measure: Measure | None = None,
    *,
    n_neighbors: int | None = None,
    max_iter: int = 5,
    random_state: Any = None,
) -> Table:
    """Fill missing numbers and categories by the rows that are most alike [1]_.

    First with medians and most frequent levels; then a measure is fitted to the filled table, and
    each cell that was missing becomes the mean of the known cells of its column, weighted by
    proximity, or the level with the largest sum of proximities; and again, until nothing changes or
    as often as ``max_iter`` says. A cell without any row alike that knows its column keeps what it
    has. Columns of other kinds stay as they are.

    Parameters
    ----------
    table : table, frame, array, dict of columns or path
    measure : measure, optional
        Fitted anew in every round. None: shared leaves of a forest against shuffled rows.
    n_neighbors : int, optional
        Rows that fill a cell. None: all.
    max_iter : int
    random_state : None, int, RandomState or Generator
        Seed of the forest where no measure is given.

    References
    ----------
    .. [1] L. Breiman, A. Cutler (2003). Manual: setting up, using, and understanding random forests
       V4.0. University of California, Berkeley.

    Examples
    --------
    >>> from lookalike.prediction import impute_by_proximity
    >>> rows = {"size": [1.0, 1.1, None, 5.0, 5.2, 5.1], "kind": ["a", "a", "a", "b", "b", None]}
    >>> filled = impute_by_proximity(rows, random_state=0)
    >>> filled["kind"].cell(5), filled["size"].cell(2) < 3
    ('b', True)
    """
    Integer(1).check("impute_by_proximity", "max_iter", max_iter)
    start = read_table(table)
    kinds, first = (*CODED, "number"), {}
    lost = {c.name: c.missing for c in start if c.kind.name in kinds and not c.missing.all()}
    for name, gone in lost.items():
        first[name] = values = start[name].values.copy()
        known = values[~gone]
        coded = start[name].kind.name in CODED
        values[gone] = np.bincount(known).argmax() if coded else np.median(known)
    filled = _with_values(start, first)
    if not any(gone.any() for gone in lost.values()):
        return filled
    given = ForestProximity("shi", random_state=random_state) if measure is None else measure
    for _ in range(max_iter):
        fitted = clone(given).fit(filled)
        near, s = _proximities(fitted, n_neighbors, "impute_by_proximity")
        before = filled
        values = {name: _filled(filled[name], gone, near, s) for name, gone in lost.items()}
        filled = _with_values(filled, values)
        if all(np.array_equal(filled[name].values, before[name].values) for name in lost):
            break
    return filled


def _with_values(table: Table, values: Mapping[str, np.ndarray]) -> Table:
    """Return a table with other cells in some columns."""
    columns = [replace(c, values=values[c.name]) if c.name in values else c for c in table]
    return Table(columns, table.aside, len(table), table.missing)


def _proximities(space: Any, n_neighbors: int | None, who: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest rows of each row, and the proximity to each."""
    measure = needs_distances(as_space(space, who), who)
    n = len(measure.rows_)
    lists = lists_of(measure, n - 1 if n_neighbors is None else n_neighbors, who)
    d = lists.distances.copy()
    if measure.traits.conversion == "ratio":
        return lists.indices, measure.convert(d)
    # Pairs without a distance are last in a list, at infinity.
    return lists.indices, np.maximum(
        0.0, 1.0 - (d**2 if measure.traits.conversion == "sqrt" else d)
    )


def _classes(y: Any, n: int, who: str) -> tuple[np.ndarray, np.ndarray]:
    codes, labels = read_target(y, n, who, "classes")
    assert labels is not None
    return codes, labels


def _filled(column: Column, lost: np.ndarray, near: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Return the values of a column with the lost ones filled by known ones, by proximity."""
    values = column.values.copy()
    rows = np.flatnonzero(lost)
    weights = np.where(lost[near[rows]], 0.0, s[rows])
    usable = weights.sum(axis=1) > 0
    rows, weights = rows[usable], weights[usable]
    if len(rows):
        values[rows] = combine(column, near[rows], weights)
    return values


def _quartiles(column: Column, rows: np.ndarray) -> tuple[Any, Any, Any]:
    """Return the lower quartile, the median and the upper quartile of some cells, or their mode."""
    part = column.take(rows)
    known = part.values[~part.missing]
    name = column.kind.name
    if not len(known) or name not in (*CODED, "number"):
        return None, None, None
    if name in ("category", "flag"):
        at = np.array([np.bincount(known).argmax()])
        return (replace(column, values=at).cell(0),) * 3
    # Ordered levels have no middle between two: of an even number the lower one.
    method: Any = "linear" if name == "number" else "inverted_cdf"
    ends = np.quantile(known, (0.25, 0.5, 0.75), method=method).astype(column.values.dtype)
    low, middle, high = (replace(column, values=ends).cell(i) for i in range(3))
    return low, middle, high
