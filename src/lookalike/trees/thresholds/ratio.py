"""The ratio similarity of rows in a forest, block by block."""

from __future__ import annotations

import numpy as np

from lookalike._runtime.threads import blocks, run
from lookalike.trees.thresholds.flat import Forest
from lookalike.trees.thresholds.rows import has_gaps, unknown_bin

TALL = 2048  # rows whose leaves are compared with a block: many of them share one
WIDE = 128  # rows of a block: bytes for four vectors, and sums that stay near
JOINED = 32  # rows and columns of a tile when two halves are joined


def ratio_half(
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
    from lookalike.kernels import proximity

    splits, nodes, tests = forest.splits, forest.nodes, forest.tests
    cuts = splits.cut.astype(bins_y.dtype)
    total = np.empty((len(leaf_x), len(leaf_y)))
    counter = _counter(forest)
    parts = [(wide,) for wide in blocks(len(leaf_y), WIDE)]
    # Tall tiles come one after another and share this memory: there is a place for every node.
    number = np.empty(int(nodes.leaf_offsets[-1]), np.int32)
    wanted = np.empty(len(forest.feature), np.uint8)
    for tall in blocks(len(leaf_x), TALL):
        place = np.empty((tall.stop - tall.start, forest.n_trees), np.int32)
        places = proximity.Places(place, number, wanted)
        most = proximity.place_rows(leaf_x[tall], forest.offsets, nodes, places)

        def one(
            wide: slice, tall: slice = tall, places: proximity.Places = places, most: int = most
        ) -> None:
            side = proximity.Block(leaf_y[wide], np.ascontiguousarray(bins_y[wide].T))
            scratch = np.empty((proximity.TREES, most, len(side.leaf)))
            part = np.zeros((tall.stop - tall.start, len(side.leaf)))
            proximity.ratio_half(
                places, side, splits, cuts, nodes, tests, forest.sizes, once, counter, scratch, part
            )
            total[tall, wide] = part

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
    from lookalike.kernels.proximity import join_halves

    total = ratio_half(forest, leaf, leaf, bins, once, n_jobs)

    def join(rows: slice) -> None:
        for at in range(rows.start, len(leaf), JOINED):
            columns = slice(at, at + JOINED)
            join_halves(total[rows, columns], total[columns, rows], forest.n_trees)

    run(join, [(rows,) for rows in blocks(len(leaf), JOINED)], n_jobs, "joining halves")
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

    Returns
    -------
    float64 array of shape (len(leaf_x), len(leaf_y))
    """
    from lookalike.kernels import proximity

    once = parting == "once"
    unknown = bins_x.dtype.type(unknown_bin(bins_x))
    gaps_x, gaps_y = has_gaps(bins_x), has_gaps(bins_y)
    plain = alpha == 1.0 and beta == 1.0
    if plain and not gaps_x.any() and not gaps_y.any():
        half = ratio_half(forest, leaf_x, leaf_y, bins_y, once)
        own = leaf_x is leaf_y and bins_x is bins_y  # one pass serves both halves
        half = half + (half if own else ratio_half(forest, leaf_y, leaf_x, bins_x, once)).T
        half /= forest.n_trees
        return half
    out = np.empty((len(leaf_x), len(leaf_y)))
    if plain and not (gaps_x.all() or gaps_y.all()):
        # The fast road for the pairs without gaps; a pair's road depends on that pair alone.
        full_x, full_y = np.flatnonzero(~gaps_x), np.flatnonzero(~gaps_y)
        gap_x, gap_y = np.flatnonzero(gaps_x), np.flatnonzero(gaps_y)
        every_y = np.arange(len(leaf_y))
        for rows, columns in ((full_x, full_y), (gap_x, every_y), (full_x, gap_y)):
            if len(rows) and len(columns):
                out[np.ix_(rows, columns)] = ratio_block(
                    forest,
                    leaf_x[rows],
                    bins_x[rows],
                    leaf_y[columns],
                    bins_y[columns],
                    parting=parting,
                )
        return out
    splits, counter, weights = forest.splits, _counter(forest), (float(alpha), float(beta))
    for wide in blocks(len(leaf_y), WIDE):
        other = proximity.Block(leaf_y[wide], np.ascontiguousarray(bins_y[wide].T))
        for tall in blocks(len(leaf_x), WIDE):
            one = proximity.Block(leaf_x[tall], np.ascontiguousarray(bins_x[tall].T))
            part = np.empty((tall.stop - tall.start, wide.stop - wide.start))
            proximity.ratio_whole(
                one,
                other,
                splits,
                forest.nodes,
                forest.tests,
                forest.sizes[3],
                unknown,
                weights,
                once,
                counter,
                part,
            )
            out[tall, wide] = part
    return out


def _counter(forest: Forest) -> np.ndarray:
    """Return an empty array of the narrowest type that counts to the greatest depth."""
    depth = forest.sizes[0]
    return np.empty(0, np.uint8 if depth < 256 else np.uint16 if depth < 65536 else np.uint32)
