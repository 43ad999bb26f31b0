"""Proximities of rows in a forest, block by block: shared leaves, common ancestors, tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike._runtime.threads import blocks, run
from lookalike.columns.ragged import Ragged
from lookalike.kernels import proximity as kernels
from lookalike.trees.thresholds.flat import Forest, has_missing, unknown_bin

Soft = tuple[Ragged, Ragged]

ANCESTOR_TILE_ROWS, ANCESTOR_TILE_COLUMNS = 1024, 256  # rows of a tile of common ancestors
MAX_TILE_ROWS = 2048  # rows whose leaves are compared with a block: many of them share one
TILE_COLUMNS = 128  # rows of a block: bytes for four vectors, and sums that stay near
GAP_TILE_ROWS = 256  # rows and columns of a tile with missing values
SPREAD_COLUMNS = 512  # rows listed leaf by leaf: with 1,000 trees their leaves take 12 MB
JOIN_TILE_ROWS = 256  # rows and columns of a tile when two halves are joined


def share_block(
    codes_x: np.ndarray,
    codes_y: np.ndarray,
    soft_x: Soft | None = None,
    soft_y: Soft | None = None,
    leaf_offsets: np.ndarray | None = None,
) -> np.ndarray:
    """Return the share of trees in which two rows share a leaf.

    Parameters
    ----------
    codes_x, codes_y : unsigned arrays of shape (n, n_trees), (m, n_trees)
        Leaf of every row in every tree.
    soft_x, soft_y : pairs of Ragged, optional
        Leaves and weights of rows with missing values, from ``share_leaves``; such a row shares a
        leaf with another to the degree sum(weight_x * weight_y).
    leaf_offsets : int64 array, needed with the former
        Where the leaf numbers of each tree begin.

    Returns
    -------
    float64 array of shape (n, m)
    """
    codes_x, codes_y = np.ascontiguousarray(codes_x), np.ascontiguousarray(codes_y)
    out, trees = np.empty((len(codes_x), len(codes_y))), codes_x.shape[1]
    kernels.count_matches(codes_x, codes_y, trees, out)
    _fill_soft((codes_x, soft_x, None), (codes_y, soft_y, None), leaf_offsets, trees, out)
    return out


def out_of_bag_block(
    codes_x: np.ndarray,
    bag_x: np.ndarray,
    codes_y: np.ndarray,
    bag_y: np.ndarray,
    soft_x: Soft | None = None,
    soft_y: Soft | None = None,
    leaf_offsets: np.ndarray | None = None,
) -> np.ndarray:
    """Return the share of trees, among those grown on neither row, in which two rows share a leaf.

    A pair without such a tree uses all trees.

    Parameters
    ----------
    codes_x, codes_y, soft_x, soft_y, leaf_offsets
        As for ``share_block``.
    bag_x, bag_y : uint8 arrays of shape (n, n_trees), (m, n_trees)
        1 where the tree was grown on the row.
    """
    shared, usable = np.empty((len(codes_x), len(codes_y)), np.int64), count_usable(bag_x, bag_y)
    # Rows grown on carry marks that match nothing, a different one on each side.
    top = int(np.iinfo(codes_x.dtype).max)
    kernels.count_matches(
        np.where(bag_x > 0, codes_x.dtype.type(top), codes_x),
        np.where(bag_y > 0, codes_y.dtype.type(top - 1), codes_y),
        1,
        shared,
    )
    trees = np.maximum(usable, 1)
    out = shared / trees
    one, other = (codes_x, soft_x, bag_x == 0), (codes_y, soft_y, bag_y == 0)
    _fill_soft(one, other, leaf_offsets, trees, out)
    # A pair without a tree that has seen neither row would be 0 / 0.
    if not usable.all():
        every = share_block(codes_x, codes_y, soft_x, soft_y, leaf_offsets)
        out = np.where(usable == 0, every, out)
    return out


def count_usable(bag_x: np.ndarray, bag_y: np.ndarray) -> np.ndarray:
    """Return for pairs of rows how many trees were grown on neither of the two."""
    usable = np.empty((len(bag_x), len(bag_y)), np.int64)
    # 1 and 2 mark the rows of each side that a tree was grown on: they match nothing.
    ones, twos = (bag_x > 0).astype(np.uint8), 2 * (bag_y > 0).astype(np.uint8)
    kernels.count_matches(ones, twos, 1, usable)
    return usable


def leaf_matrix(
    codes: np.ndarray,
    leaf_offsets: np.ndarray,
    weights: np.ndarray | None = None,
    soft: Soft | None = None,
) -> Any:
    """Return the weight of each row in each leaf, numbered over the forest, as a sparse matrix.

    Parameters
    ----------
    codes, leaf_offsets, soft
        As for ``share_block``.
    weights : array of the shape of ``codes``, optional
        What a row counts in each tree; None: 1.
    """
    from scipy.sparse import csr_array

    n, trees = codes.shape
    complete = np.arange(n)
    rows, leaf, weight = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    if soft is not None:
        counts = np.diff(soft[0].offsets)
        complete, rows = np.flatnonzero(counts == 0), np.repeat(complete, counts)
        leaf, weight = (part.values for part in soft)
    rows = np.concatenate([rows, np.repeat(complete, trees)])
    leaf = np.concatenate([leaf, (leaf_offsets[:-1] + codes[complete].astype(np.int64)).ravel()])
    weight = np.concatenate([weight, np.ones(len(complete) * trees)])
    if weights is not None:
        weight *= weights[rows, np.searchsorted(leaf_offsets, leaf, side="right") - 1]
    return csr_array((weight, (rows, leaf)), shape=(n, leaf_offsets[-1]))


def sum_products(one: Any, other: Any) -> np.ndarray:
    """Return for all pairs of rows of two leaf matrices the sum of their products.

    They are added in the order of the leaves whichever side comes first, so that exchanging the two
    sides gives the same bits.
    """
    return np.asarray((one @ other.T).toarray())


def _fill_soft(
    one: tuple[np.ndarray, Soft | None, np.ndarray | None],
    other: tuple[np.ndarray, Soft | None, np.ndarray | None],
    leaf_offsets: np.ndarray | None,
    trees: int | np.ndarray,
    out: np.ndarray,
) -> None:
    """Overwrite the pairs in which at least one row misses values and so is in several leaves.

    A side has codes, leaves and weights, and which trees count for each row; ``trees`` is how many
    count for each pair.
    """
    if leaf_offsets is None:
        return
    sides = [leaf_matrix(codes, leaf_offsets, use, soft) for codes, soft, use in (one, other)]
    spread = [np.diff(soft[0].offsets) > 0 for _, soft, _ in (one, other) if soft]
    every = np.broadcast_to(trees, out.shape)
    # Pairs of complete rows are exact counts already; only the others are spread over leaves.
    for rows, columns in _rectangles(*spread):
        if not (spread[0][rows[0]] or spread[1][columns[0]]):
            continue
        mine = sides[0][rows]
        for wide in blocks(len(columns), SPREAD_COLUMNS):
            where = np.ix_(rows, columns[wide])
            out[where] = sum_products(mine, sides[1][columns[wide]]) / every[where]


# -- common ancestors ------------------------------------------------------------------------------


def node_values(forest: Forest, method: str, n_fitted: int) -> np.ndarray:
    """Return what each node is worth as a lowest common ancestor.

    "zhu2": its depth. "zhu3": the sum, over the nodes from the root's child down to it, of one over
    the fitted rows there. "ting": its share of the fitted rows. "aryal": the logarithm of that
    share.
    """
    mass = forest.mass
    if method == "ting":
        return np.asarray(mass / n_fitted)
    if method == "aryal":
        return np.asarray(np.log(np.maximum(mass, 1.0) / n_fitted))
    if method == "zhu2":
        return forest.nodes.depth.astype(np.float64)
    # An empty node counts as one row: no division by 0, and its weight is the largest there is.
    weight = 1.0 / np.maximum(mass, 1.0)
    weight[forest.offsets[:-1]] = 0.0  # the root is on every path and tells nothing
    start = np.repeat(forest.offsets[:-1], np.diff(forest.offsets))
    for depth in range(1, forest.sizes[0] + 1):  # from the root down to each node
        here = np.flatnonzero(forest.nodes.depth == depth)
        weight[here] += weight[start[here] + forest.nodes.parent[here]]
    return weight


def ancestor_block(
    forest: Forest, leaf_x: np.ndarray, leaf_y: np.ndarray, value: np.ndarray, kind: str = "value"
) -> np.ndarray:
    """Return the mean over trees of what the lowest common ancestors of two rows' leaves are worth.

    Parameters
    ----------
    forest : Forest
    leaf_x, leaf_y : arrays of shape (n, n_trees), (m, n_trees)
    value : array from ``node_values``
    kind : {"value", "longer", "max"}
        The value itself, or its share: of the value of the deeper leaf (equal depths: the mean of
        both shares), or of the larger of the two leaves' values.
    """
    mode = ("value", "longer", "max").index(kind)
    out = np.zeros((len(leaf_x), len(leaf_y)))
    for wide in blocks(len(leaf_y), ANCESTOR_TILE_COLUMNS):
        for tall in blocks(len(leaf_x), ANCESTOR_TILE_ROWS):
            part = np.zeros((tall.stop - tall.start, wide.stop - wide.start))
            facts = forest.nodes, forest.offsets, forest.sizes[2]
            kernels.ancestor_sums(leaf_x[tall], leaf_y[wide], *facts, value, mode, part)
            out[tall, wide] = part
    # Divided once, after the sum over trees: the same bits for every size of tiles.
    out /= forest.n_trees
    return out


# -- tests on two paths ----------------------------------------------------------------------------


def ratio_one_sided(
    forest: Forest,
    leaf_x: np.ndarray,
    leaf_y: np.ndarray,
    bins_y: np.ndarray,
    once: bool = False,
    n_jobs: int | None = 1,
) -> np.ndarray:
    """Return the half of the ratio similarity that looks at the paths of x, summed over trees.

    The similarity is this half plus the one with the roles exchanged, over the number of trees.
    Rows have no gaps.

    Parameters
    ----------
    forest : Forest
    leaf_x, leaf_y : arrays of shape (n, n_trees), (m, n_trees)
    bins_y : array of shape (m, n_inputs)
    once : bool
        See ``ratio_block``.
    n_jobs : int, optional
        Threads.
    """
    splits, nodes, tests = forest.splits, forest.nodes, forest.tests
    # Compared in the type of the bins: wider integers would halve the speed of the loop.
    cuts = splits.cut.astype(bins_y.dtype)
    total = np.empty((len(leaf_x), len(leaf_y)))
    # A byte for nearly every forest: the narrower the counter, the more rows per vector.
    counter = np.empty(0, np.min_scalar_type(forest.sizes[0]))

    def one(wide: slice, tall: slice, places: tuple[np.ndarray, ...], most: int) -> None:
        side = kernels.RowBlock(leaf_y[wide], np.ascontiguousarray(bins_y[wide].T))
        scratch = np.empty((most, len(side.leaf)))
        part = np.zeros((tall.stop - tall.start, len(side.leaf)))
        kernels.ratio_one_sided(
            places, side, splits, cuts, nodes, tests, forest.sizes, once, counter, scratch, part
        )
        total[tall, wide] = part

    for tall in blocks(len(leaf_x), MAX_TILE_ROWS):
        # Leaves in which a row ends, and the nodes above them: below a node, leaves are a range.
        leaf = nodes.leaf_offsets[:-1] + leaf_x[tall]
        reached = np.zeros(nodes.leaf_offsets[-1], bool)
        reached[leaf] = True
        upto = np.concatenate([[0], np.cumsum(reached)])
        begin = np.repeat(nodes.leaf_offsets[:-1], np.diff(forest.offsets))
        wanted = upto[begin + nodes.last] > upto[begin + nodes.first]
        number = upto[:-1] - np.repeat(upto[nodes.leaf_offsets[:-1]], nodes.n_leaves)
        places = number[leaf], number, wanted
        most = int(np.diff(upto[nodes.leaf_offsets]).max(initial=0))
        parts = [(wide, tall, places, most) for wide in blocks(len(leaf_y), TILE_COLUMNS)]
        run(one, parts, n_jobs, "comparing paths")
    return total


def ratio_square(
    forest: Forest,
    leaf: np.ndarray,
    bins: np.ndarray,
    once: bool = False,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Return the ratio similarities of rows without gaps to each other, for equal weights of 1.

    The same numbers as ``ratio_block``, in less than half the time: one pass serves both halves.
    """
    total = ratio_one_sided(forest, leaf, leaf, bins, once, n_jobs)

    def join(rows: slice) -> None:
        for columns in blocks(len(leaf), JOIN_TILE_ROWS):
            if columns.start >= rows.start:
                both = (total[rows, columns] + total[columns, rows].T) / forest.n_trees
                total[rows, columns], total[columns, rows] = both, both.T

    run(join, [(rows,) for rows in blocks(len(leaf), JOIN_TILE_ROWS)], n_jobs, "joining halves")
    return total


def ratio_block(
    forest: Forest,
    leaf_x: np.ndarray,
    bins_x: np.ndarray,
    leaf_y: np.ndarray,
    bins_y: np.ndarray,
    *,
    parting: str = "twice",
    alpha: float = 1.0,
    beta: float = 1.0,
    shares: np.ndarray | None = None,
) -> np.ndarray:
    """Return how far rows agree on the tests that either of them meets, as a mean over trees.

    In a tree, with X and Y the tests on the two paths (known by content, each counted once),
    ``common`` those of either on which both rows give the same answer, and X - Y those of X on
    which y answers otherwise: ``common / (common + alpha |X - Y| + beta |Y - X|)``. A test on both
    paths that the rows answer differently is counted in both differences (``parting="twice"``, as
    published) or once in total, with the mean of the two weights (``"once"``).

    A test that one of the rows cannot answer is left out for that pair; a tree left without any is
    left out of the mean; NaN if no tree remains.

    Parameters
    ----------
    forest : Forest
    leaf_x, bins_x, leaf_y, bins_y : arrays
        Leaves and bins of the rows of both sides.
    parting : {"twice", "once"}
    alpha, beta : float
        Weights of the differences. Unequal ones give a similarity that is not symmetric.
    shares : array, one per node, optional
        The share of rows that go left at the test: each answer then counts by its information, the
        negative logarithm of its share. None: all count alike.

    Returns
    -------
    float64 array of shape (len(leaf_x), len(leaf_y))
    """
    # With equal weights the similarity is a sum of two one-sided terms, each of which needs one
    # pass (kernels/proximity.py explains them).
    once, plain = parting == "once", alpha == beta == 1.0 and shares is None
    gaps_x, gaps_y = has_missing(bins_x), has_missing(bins_y)
    if plain and not np.concatenate([gaps_x, gaps_y]).any():
        half = ratio_one_sided(forest, leaf_x, leaf_y, bins_y, once)
        own = leaf_x is leaf_y and bins_x is bins_y  # one pass serves both halves
        half = half + (half if own else ratio_one_sided(forest, leaf_y, leaf_x, bins_x, once)).T
        half /= forest.n_trees
        return half
    sides = leaf_x, bins_x, leaf_y, bins_y
    if not plain or gaps_x.all() or gaps_y.all():
        return _ratio_with_gaps(forest, *sides, (float(alpha), float(beta)), once, shares)
    # The faster kernel for the pairs without missing values; which kernel compares a pair depends
    # on that pair alone, so that its value does not change with the block it is in.
    out = np.empty((len(leaf_x), len(leaf_y)))
    for rows, columns in _rectangles(gaps_x, gaps_y):
        part = leaf_x[rows], bins_x[rows], leaf_y[columns], bins_y[columns]
        out[np.ix_(rows, columns)] = ratio_block(forest, *part, parting=parting)
    return out


def _rectangles(gaps_x: np.ndarray, gaps_y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Cut a block into the pairs without missing values and two rectangles of the others."""
    full_x, full_y = np.flatnonzero(~gaps_x), np.flatnonzero(~gaps_y)
    gap_x, gap_y = np.flatnonzero(gaps_x), np.flatnonzero(gaps_y)
    parts = [(full_x, full_y), (gap_x, np.arange(len(gaps_y))), (full_x, gap_y)]
    return [(rows, columns) for rows, columns in parts if len(rows) and len(columns)]


def _ratio_with_gaps(
    forest: Forest,
    leaf_x: np.ndarray,
    bins_x: np.ndarray,
    leaf_y: np.ndarray,
    bins_y: np.ndarray,
    weights: tuple[float, float],
    once: bool,
    shares: np.ndarray | None,
) -> np.ndarray:
    """Return ratio similarities for any weights, of rows that may miss values."""
    out = np.empty((len(leaf_x), len(leaf_y)))
    unknown, depth = bins_x.dtype.type(unknown_bin(bins_x)), forest.sizes[0]
    splits, nodes, tests = forest.splits, forest.nodes, forest.tests
    write: Any = kernels.ratio_with_missing
    facts: Any = splits, splits.cut.astype(bins_y.dtype), nodes, tests, forest.sizes
    # Four counts share an integer, a quarter of its bits for each.
    last = np.empty(0, np.uint32 if depth < 256 else np.uint64)
    if shares is not None or depth >= 65536:
        write, facts = kernels.ratio_by_weight, (splits, nodes, tests, forest.sizes[3])
        last = np.ones((len(forest.feature), 2))
    if shares is not None:
        # Leaves ask nothing: their share is 0, which has no logarithm.
        known = np.where(forest.feature >= 0, shares, 0.5)
        last = -np.log(np.column_stack([known, 1.0 - known]))
    for wide in blocks(len(leaf_y), GAP_TILE_ROWS):
        other = kernels.RowBlock(leaf_y[wide], np.ascontiguousarray(bins_y[wide].T))
        for tall in blocks(len(leaf_x), GAP_TILE_ROWS):
            one = kernels.RowBlock(leaf_x[tall], np.ascontiguousarray(bins_x[tall].T))
            part = np.empty((tall.stop - tall.start, wide.stop - wide.start))
            write(one, other, *facts, unknown, weights, once, last, part)
            out[tall, wide] = part
    return out


def answer_shares(forest: Forest, bins: np.ndarray) -> np.ndarray:
    """Return for each node the share of rows that go left at its test, wherever they end.

    Of the rows that can answer it; half a row is added to each side, so that no answer is without
    information or has infinitely much of it. 0 for leaves.
    """
    shares, unknown = np.zeros(len(forest.feature)), unknown_bin(bins)
    for f in range(forest.n_inputs):
        at = np.flatnonzero(forest.feature == f)
        known = bins[bins[:, f] != unknown, f]
        cut = forest.splits.cut[at].astype(np.int64)
        counts = np.bincount(known, minlength=int(cut.max(initial=0)) + 1)
        left = np.where(forest.equal[at] == 1, counts[cut], np.cumsum(counts)[cut])
        shares[at] = (left + 0.5) / (len(known) + 1)
    return shares
