"""Explanations of forest proximities: tests answered alike, or columns at which rows part."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lookalike.columns.ragged import Ragged
from lookalike.measures.contract.explanation import ColumnDifferences, Explanation, by_owner
from lookalike.measures.contract.rows import Rows
from lookalike.saving.fields import require
from lookalike.trees.thresholds.attribution import (
    ancestor_dissimilarities,
    leaf_weights,
    parting_counts,
    parting_shares,
    ratio_parts,
    undecided_columns,
)
from lookalike.trees.thresholds.flat import Forest, unknown_bin

ROUND_OFF = 1e-12


def soft_part(rows: Rows) -> tuple[Ragged, Ragged]:
    """Return the leaves and weights of rows with missing cells."""
    return rows.arrays["leaves"], rows.arrays["weights"]


class FittedForest(NamedTuple):
    """A forest that rows are compared by.

    Parameters
    ----------
    forest : Forest
    values : array or None
        The value of each node as a lowest common ancestor, for methods that use it.
    owner : tuple of str
        Names of the columns; ``Forest.column`` has the position of each input in them.
    """

    forest: Forest
    values: np.ndarray | None
    owner: tuple[str, ...]


def explain_sharing(
    numbers: tuple[float, float], owner: tuple[str, ...], parted: np.ndarray, feature: np.ndarray
) -> Explanation:
    """Explain a share of leaves: the rest to 1 is attributed to the columns rows part at.

    Parameters
    ----------
    numbers : similarity and distance
    owner : names of columns
    parted : float array, one per node
        The share of trees in which the two rows part there.
    feature : int array, one per node
        The position of the test's column in the owners, below 0 in a leaf.
    """
    similarity, distance = numbers
    minus: dict[str | None, float] = dict.fromkeys(owner, 0.0)
    if similarity < 1.0:  # a row with itself has similarity 1, whatever its missing cells
        inside = feature >= 0  # rows part at tests, never in leaves
        _add(minus, owner, np.bincount(feature[inside], parted[inside], len(owner)))
    return Explanation(similarity, distance, {None: similarity}, minus)


def explain_leaves(
    fitted: FittedForest, numbers: tuple[float, float], a: Rows, b: Rows
) -> Explanation:
    """Explain shared leaves by the tests at which the paths of two rows part."""
    forest = fitted.forest
    # Out of bag, only the trees that were grown on neither row count.
    parted, tree = _parting(forest, a, b)
    usable = np.ones(forest.n_trees, bool)
    if "bag" in a.arrays:
        usable = (a.arrays["bag"][0] == 0) & (b.arrays["bag"][0] == 0)
        usable = (
            usable if usable.any() else ~usable
        )  # no tree left: all are used, as ``compare`` does
    owned = np.where(forest.feature >= 0, forest.column[forest.feature], -1)
    return explain_sharing(numbers, fitted.owner, parted * usable[tree] / usable.sum(), owned)


def explain_ancestors(
    fitted: FittedForest, numbers: tuple[float, float], a: Rows, b: Rows, kind: str
) -> Explanation:
    """Explain by the columns at which the paths of two rows part, and their loss of similarity.

    ``kind`` is the one of ``ancestor_block`` that belongs to the method.
    """
    forest, values, owner = fitted
    assert values is not None
    parted, tree = _parting(forest, a, b)
    similarity, distance = numbers
    x, y = (rows.arrays["codes"][0] for rows in (a, b))
    # In each tree the loss of similarity belongs to the one column at which the paths part.
    loss = ancestor_dissimilarities(forest, x, y, values, kind)
    nodes = np.flatnonzero(parted > 0)
    by_column = np.bincount(forest.column[forest.feature[nodes]], loss[tree[nodes]], len(owner))
    total = max(float(loss.sum()), float(by_column.sum()))
    # Scaled to what the similarity is short of 1, which for some methods is no mean over trees.
    minus: dict[str | None, float] = dict.fromkeys(owner, 0.0)
    if total > 0:
        _add(minus, owner, by_column * ((1.0 - similarity) / total))
    rest = 1.0 - similarity - sum(minus.values())
    if rest > ROUND_OFF:  # rows that share a leaf still differ by the value of the leaf
        minus[None] = rest
    return Explanation(similarity, distance, {None: similarity}, minus)


def explain_ratio(
    fitted: FittedForest,
    numbers: tuple[float, float],
    a: Rows,
    b: Rows,
    once: bool,
    alpha: float,
    beta: float,
) -> Explanation:
    """Explain a ratio by the tests that two rows answer alike and those they do not."""
    similarity, distance = numbers
    if np.isnan(similarity):
        return Explanation(similarity, distance, {None: 0.5}, {None: 0.5})
    forest, _, owner = fitted
    sides = [rows.arrays[name][0] for rows in (a, b) for name in ("codes", "bins")]
    # Tests that one of the rows cannot answer count on neither side, as in the ratio itself.
    unknown = unknown_bin(a.arrays["bins"])
    agreed, apart, _ = ratio_parts(
        forest, *sides, unknown=unknown, once=once, alpha=alpha, beta=beta
    )
    plus: dict[str | None, float] = dict.fromkeys(owner, 0.0)
    minus: dict[str | None, float] = dict.fromkeys(owner, 0.0)
    # Several inputs may belong to one column: entries of a vector, pairs of cells.
    _add(plus, owner, np.bincount(forest.column, agreed, len(owner)))
    _add(minus, owner, np.bincount(forest.column, apart, len(owner)))
    # Trees of one leaf belong to no column, nor does the likeness of an empty row with itself.
    for side, whole in ((plus, similarity), (minus, 1.0 - similarity)):
        rest = whole - sum(side.values())
        if rest > ROUND_OFF:
            side[None] = rest
    return Explanation(similarity, distance, plus, minus)


def parting_columns(fitted: FittedForest, a: Rows, b: Rows) -> ColumnDifferences:
    """Return in how many trees a row parts from each of some at every column.

    Columns in which a single row is missing are left out, where its leaves or bins show that. Of
    several rows, missing cells count by the side that the trees send them to.
    """
    forest, _, owner = fitted
    counts = parting_counts(forest, a.arrays["codes"], b.arrays["codes"], len(owner))
    values = counts.astype(float)
    for rows in (a, b):
        if len(rows) == 1:
            values[:, _missing_columns(fitted, rows)] = np.nan
    return by_owner(owner, values)


def _missing_columns(fitted: FittedForest, row: Rows) -> np.ndarray:
    """Return in which columns one row is missing, as far as the forest tests them."""
    forest, missing = fitted.forest, np.zeros(len(fitted.owner), bool)
    if "bins" in row.arrays:
        bins = row.arrays["bins"]
        missing[forest.column[bins[0] == unknown_bin(bins)]] = True
    elif "leaves" in row.arrays and len(row.arrays["leaves"].values):
        weights = leaf_weights(forest.nodes.leaf_offsets, row.arrays["codes"], soft_part(row))
        missing = undecided_columns(forest, weights, len(fitted.owner))
    return missing


def _parting(forest: Forest, a: Rows, b: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return, for every node, how likely two rows part at its test, and the tree it belongs to."""
    offsets = forest.nodes.leaf_offsets
    weights = [
        leaf_weights(
            offsets, rows.arrays["codes"], soft_part(rows) if "leaves" in a.arrays else None
        )
        for rows in (a, b)
    ]
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.offsets))
    return parting_shares(forest, *weights), tree


def _add(side: dict[str | None, float], owner: tuple[str, ...], shares: np.ndarray) -> None:
    """Add the share of each owner to the column of that name."""
    for name, share in zip(owner, shares, strict=True):
        side[name] += float(share)


def check_soft(rows: Rows, where: str) -> None:
    """Refuse loaded rows whose leaves and weights are not pairs."""
    leaves, weights = rows.arrays["leaves"], rows.arrays["weights"]
    pairs = np.array_equal(leaves.offsets, weights.offsets)
    require(pairs, where, "a weight for every leaf of a row with missing cells", "others")
