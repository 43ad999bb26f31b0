"""The named tuples of arrays that travel through the kernels of similarity trees.

A test on column f is a pair of rows p and q and a threshold: a row x is projected to
``d(q, x) - d(p, x)`` and goes left if that is at most the threshold.
"""

from typing import NamedTuple

import numpy as np

from lookalike.kernels._jit import kernel

NUMBER, SQUARED, VALUE, CATEGORY, TABLE, TABLE_SQUARED, OUTSIDE = range(7)
GINI, ENTROPY, VARIANCE = range(3)


class CellColumns(NamedTuple):
    """The cells of all columns.

    Parameters
    ----------
    kinds : int64 (columns,)
        One of NUMBER, ..., OUTSIDE.
    values : float64 (columns, rows)
        Numbers, codes of categories, or places in a matrix of distances; NaN where missing.
    ranks : int32 (columns, rows)
        The same as whole numbers in the order of the values.
    flat : float64
        Matrices of distances, one after another: ``flat[base[f] + width[f] * i + j]`` is the
        distance of cells i and j of column f.
    base, width : int64 (columns,)
    """

    kinds: np.ndarray
    values: np.ndarray
    ranks: np.ndarray
    flat: np.ndarray
    base: np.ndarray
    width: np.ndarray


class CellColumn(NamedTuple):
    """One of the columns of ``CellColumns``."""

    kind: int
    values: np.ndarray
    ranks: np.ndarray
    flat: np.ndarray
    base: int
    width: int


class Targets(NamedTuple):
    """What a tree learns: a class or an amount per row, its weight, and how often it was drawn."""

    label: np.ndarray
    amount: np.ndarray
    weight: np.ndarray
    times: np.ndarray
    n_classes: int


class SplitRules(NamedTuple):
    """What is asked of a tree and of its tests, in whole numbers.

    Parameters
    ----------
    max_columns, max_pairs : int
        Columns tried per node, pairs of cells tried per column.
    max_depth, min_split, min_leaf : int
        Greatest depth, fewest entries of a node that is split, fewest entries of a side.
    criterion : int
        GINI, ENTROPY or VARIANCE.
    by_class, balanced, midpoint : int
        Whether p comes from the least varied class, whether even cuts win ties, and whether
        thresholds lie halfway between two projections.
    """

    max_columns: int
    max_pairs: int
    max_depth: int
    min_split: int
    min_leaf: int
    criterion: int
    by_class: int
    balanced: int
    midpoint: int


class NodeRows(NamedTuple):
    """The rows of a node, ``rows[low:high]``, its impurity, and the least weight of a side."""

    rows: np.ndarray
    low: int
    high: int
    impurity: float
    floor: float


class BestTest(NamedTuple):
    """The best test so far: its score and threshold, and (column, p, q, imbalance, default side).

    The column is -1 while there is none; the side of missing values is 1 for left.
    """

    score: np.ndarray
    test: np.ndarray


class Scratch(NamedTuple):
    """Memory that the tests of a tree share; nothing in it outlives a test."""

    present: np.ndarray
    grouped: np.ndarray
    ends: np.ndarray
    gaps: np.ndarray
    chosen: np.ndarray
    keys: np.ndarray
    spare: np.ndarray
    counts: np.ndarray
    item: np.ndarray
    proj: np.ndarray
    left: np.ndarray
    right: np.ndarray


class CellTree(NamedTuple):
    """The nodes of a tree, written as it grows.

    ``first`` and ``second`` are the rows p and q, -1 where a number is tested by itself; ``value``
    holds the class weights of every node, or the mean of its target.
    """

    feature: np.ndarray
    first: np.ndarray
    second: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    default: np.ndarray
    entries: np.ndarray
    weights: np.ndarray
    impurities: np.ndarray
    value: np.ndarray


@kernel
def column_of(cells, f):
    """Return one column."""
    return CellColumn(
        cells.kinds[f], cells.values[f], cells.ranks[f], cells.flat, cells.base[f], cells.width[f]
    )


@kernel
def make_scratch(n_rows, n_classes):
    """Return memory for trees of so many rows and classes."""
    return Scratch(
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(n_classes + 1, np.int64),
        np.empty(n_rows),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(256, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(n_rows),
        np.empty(n_classes),
        np.empty(n_classes),
    )


@kernel
def make_best():
    """Return a place for the best test of a node."""
    return BestTest(np.empty(2), np.empty(5, np.int64))


@kernel
def make_tree(most, n_classes):
    """Return room for so many nodes."""
    return CellTree(
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(most),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.empty(most, np.uint8),
        np.empty(most, np.int64),
        np.zeros(most),
        np.zeros(most),
        np.zeros((most, n_classes)),
    )
