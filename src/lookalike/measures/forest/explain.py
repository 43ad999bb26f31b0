"""Explanations of forest proximities: tests answered alike, or columns at which rows part."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lookalike.columns.ragged import Ragged
from lookalike.measures.contract.explanation import ColumnDifferences, Explanation, by_owner
from lookalike.measures.contract.rows import Rows
from lookalike.saving.fields import require
from lookalike.trees.thresholds import attribution
from lookalike.trees.thresholds.flat import Forest, unknown_bin
from lookalike.trees.thresholds.proximity import leaf_matrix

ROUND_OFF = 1e-12
Numbers = tuple[float, float]  # similarity and distance of the pair to be explained
Side = dict[str | None, float]  # contributions of the columns for likeness, or against it


Soft = tuple[Ragged, Ragged]  # the leaves and weights of rows with missing cells


def soft_part(rows: Rows) -> Soft:
    """Return the leaves and weights of rows with missing cells."""
    return rows.arrays["leaves"], rows.arrays["weights"]


def are_complete(a: Rows, b: Rows) -> bool:
    """Whether no row has missing cells: each has one leaf per tree, the one of its code."""
    return not any(len(rows.arrays["leaves"].values) for rows in (a, b))


def soft_parts(a: Rows, b: Rows, offsets: np.ndarray) -> tuple[()] | tuple[Soft, Soft, np.ndarray]:
    """Return what rows with missing cells share leaves by; nothing if there are none."""
    # Complete rows have one leaf per tree: comparing codes is faster than sharing weights.
    return () if are_complete(a, b) else (soft_part(a), soft_part(b), offsets)


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


def explain_leaves(fitted: FittedForest, numbers: Numbers, a: Rows, b: Rows) -> Explanation:
    """Explain shared leaves by the tests at which the paths of two rows part."""
    # Out of bag, only the trees that were grown on neither row count.
    usable = np.ones(fitted.forest.n_trees, bool)
    if "bag" in a.arrays:
        usable = (a.arrays["bag"][0] == 0) & (b.arrays["bag"][0] == 0)
        if not usable.any():
            usable = ~usable  # no tree left: all are used, as ``compare`` does
    elif fitted.values is not None:
        usable = fitted.values[fitted.forest.offsets[:-1]]
    return explain_parting(fitted, numbers, a, b, usable)


def explain_parting(
    fitted: FittedForest, numbers: Numbers, a: Rows, b: Rows, usable: np.ndarray, whole: float = 0.0
) -> Explanation:
    """Explain by the columns of the tests at which two rows part, in the trees that are usable.

    ``usable`` may also be the weight of each tree.
    What the columns are short of ``whole`` belongs to none of them.
    """
    (forest, _, owner), (similarity, distance) = fitted, numbers
    parted, tree = parting(forest, a, b)
    inside = forest.feature >= 0  # rows part at tests, never in leaves
    # A row with itself has similarity 1, whatever its missing cells.
    lost = (parted * usable[tree] / usable.sum())[inside] * (similarity < 1.0)
    tested = forest.column[forest.feature[inside]]
    minus = by_column(owner, np.bincount(tested, lost, len(owner)), whole)
    return Explanation(similarity, distance, {None: similarity}, minus)


def parting_columns(fitted: FittedForest, a: Rows, b: Rows) -> ColumnDifferences:
    """Return in how many trees a row parts from each of some at every column.

    Columns in which a single row is missing are left out, where its leaves or bins show that. Of
    several rows, missing cells count by the side that the trees send them to.
    """
    forest, _, owner = fitted
    counts = attribution.parting_counts(forest, a.arrays["codes"], b.arrays["codes"], len(owner))
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
        offsets, codes = forest.nodes.leaf_offsets, row.arrays["codes"]
        weights = leaf_matrix(codes, offsets, soft=soft_part(row)).toarray()[0]
        missing = attribution.undecided_columns(forest, weights, len(fitted.owner))
    return missing


def parting(forest: Forest, a: Rows, b: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return, for every node, how likely two rows part at its test, and the tree it belongs to."""
    offsets = forest.nodes.leaf_offsets
    soft = "leaves" in a.arrays
    weights = [
        leaf_matrix(
            rows.arrays["codes"], offsets, soft=soft_part(rows) if soft else None
        ).toarray()[0]
        for rows in (a, b)
    ]
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.offsets))
    return attribution.parting_shares(forest, *weights), tree


def by_column(owner: tuple[str, ...], shares: np.ndarray, whole: float = 0.0) -> Side:
    """Add up the shares of each column; what they are short of a whole belongs to none."""
    side: Side = dict.fromkeys(owner, 0.0)
    for name, share in zip(owner, shares, strict=True):
        side[name] += float(share)
    rest = whole - sum(side.values())
    return {**side, None: rest} if rest > ROUND_OFF else side


def check_soft(rows: Rows, where: str) -> None:
    """Refuse loaded rows whose leaves and weights are not pairs."""
    leaves, weights = soft_part(rows)
    pairs = np.array_equal(leaves.offsets, weights.offsets)
    require(pairs, where, "a weight for every leaf of a row with missing cells", "others")
