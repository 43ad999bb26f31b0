"""Why a forest finds two rows alike: the tests they agree on, or the columns at which they part."""

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

NOTHING = 1e-12  # rounding


def soft_part(rows: Rows) -> tuple[Ragged, Ragged]:
    """Return the leaves and weights of rows with gaps."""
    return rows.arrays["leaves"], rows.arrays["weights"]


class FittedForest(NamedTuple):
    """A forest that rows are compared by.

    Parameters
    ----------
    forest : Forest
    values : array or None
        What each node is worth as a lowest common ancestor, where that is asked for.
    owner : tuple of str
        Names of the columns; ``Forest.column`` gives the place of each input among them.
    """

    forest: Forest
    values: np.ndarray | None
    owner: tuple[str, ...]


def explain_sharing(
    numbers: tuple[float, float], owner: tuple[str, ...], parted: np.ndarray, feature: np.ndarray
) -> Explanation:
    """Explain a share of leaves: what it lacks to 1 is put down to the columns rows part at.

    Parameters
    ----------
    numbers : similarity and distance
    owner : names of columns
    parted : float array, one per node
        The share of trees in which the two rows part there.
    feature : int array, one per node
        The place of the test's column among the owners, below 0 in a leaf.
    """
    similarity, distance = numbers
    minus: dict[str | None, float] = dict.fromkeys(owner, 0.0)
    if similarity < 1.0:  # a row with itself is exactly alike, whatever its gaps
        inside = feature >= 0
        _add(minus, owner, np.bincount(feature[inside], parted[inside], len(owner)))
    return Explanation(similarity, distance, {None: similarity}, minus)


def explain_leaves(
    fitted: FittedForest, numbers: tuple[float, float], a: Rows, b: Rows
) -> Explanation:
    """Explain shared leaves by the tests at which the ways of two rows part."""
    forest = fitted.forest
    parted, tree = _parting(forest, a, b)
    usable = np.ones(forest.n_trees, bool)
    if "bag" in a.arrays:
        usable = (a.arrays["bag"][0] == 0) & (b.arrays["bag"][0] == 0)
        usable = usable if usable.any() else ~usable
    owned = np.where(forest.feature >= 0, forest.column[forest.feature], -1)
    return explain_sharing(numbers, fitted.owner, parted * usable[tree] / usable.sum(), owned)


def explain_ancestors(
    fitted: FittedForest, numbers: tuple[float, float], a: Rows, b: Rows, kind: str
) -> Explanation:
    """Explain by the columns at which the ways of two rows part, and what that costs.

    ``kind`` is the one of ``ancestor_block`` that belongs to the method.
    """
    forest, values, owner = fitted
    assert values is not None
    parted, tree = _parting(forest, a, b)
    similarity, distance = numbers
    x, y = (rows.arrays["codes"][0] for rows in (a, b))
    # What each tree lacks to likeness belongs to the column at which the ways part in it.
    lacking = ancestor_dissimilarities(forest, x, y, values, kind)
    at = np.flatnonzero(parted > 0)
    by_column = np.bincount(forest.column[forest.feature[at]], lacking[tree[at]], len(owner))
    total = max(float(lacking.sum()), float(by_column.sum()))
    minus: dict[str | None, float] = dict.fromkeys(owner, 0.0)
    if total > 0:
        _add(minus, owner, by_column * ((1.0 - similarity) / total))
    rest = 1.0 - similarity - sum(minus.values())
    if rest > NOTHING:  # rows that share a leaf are still as far apart as the leaf is wide
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
    unknown = unknown_bin(a.arrays["bins"])
    agreed, apart, _ = ratio_parts(
        forest, *sides, unknown=unknown, once=once, alpha=alpha, beta=beta
    )
    plus: dict[str | None, float] = dict.fromkeys(owner, 0.0)
    minus: dict[str | None, float] = dict.fromkeys(owner, 0.0)
    # Several inputs may be about one column.
    _add(plus, owner, np.bincount(forest.column, agreed, len(owner)))
    _add(minus, owner, np.bincount(forest.column, apart, len(owner)))
    # Trees of one leaf belong to no column, nor does the likeness of an empty row with itself.
    for side, whole in ((plus, similarity), (minus, 1.0 - similarity)):
        rest = whole - sum(side.values())
        if rest > NOTHING:
            side[None] = rest
    return Explanation(similarity, distance, plus, minus)


def parting_columns(fitted: FittedForest, a: Rows, b: Rows) -> ColumnDifferences:
    """Return in how many trees a row parts from each of some at every column.

    Columns in which one row has a gap are left out, where its leaves or bins show the gap. Among
    several rows those with gaps count as they go in trees that send a gap one way.
    """
    forest, _, owner = fitted
    counts = parting_counts(forest, a.arrays["codes"], b.arrays["codes"], len(owner))
    values = counts.astype(float)
    for rows in (a, b):
        if len(rows) == 1:
            values[:, _gap_columns(fitted, rows)] = np.nan
    return by_owner(owner, values)


def _gap_columns(fitted: FittedForest, row: Rows) -> np.ndarray:
    """Return in which columns one row has a gap, as far as the forest asks for them."""
    forest, found = fitted.forest, np.zeros(len(fitted.owner), bool)
    if "bins" in row.arrays:
        bins = row.arrays["bins"]
        found[forest.column[bins[0] == unknown_bin(bins)]] = True
    elif "leaves" in row.arrays and len(row.arrays["leaves"].values):
        weights = leaf_weights(forest.nodes.leaf_offsets, row.arrays["codes"], soft_part(row))
        found = undecided_columns(forest, weights, len(fitted.owner))
    return found


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
    """Add what each place among the owners contributes to the column of that name."""
    for name, share in zip(owner, shares, strict=True):
        side[name] += float(share)


def check_soft(rows: Rows, where: str) -> None:
    """Refuse loaded rows whose leaves and weights are not pairs."""
    leaves, weights = rows.arrays["leaves"], rows.arrays["weights"]
    pairs = np.array_equal(leaves.offsets, weights.offsets)
    require(pairs, where, "a weight for every leaf of a row with gaps", "others")
