"""Forests of random cuts: no labels, no search, any kind of column."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lookalike._runtime.threads import blocks, run
from lookalike.kernels.growing import ThresholdTree
from lookalike.trees.grown import Grown
from lookalike.trees.sampling import count_share
from lookalike.trees.seeds import tree_states
from lookalike.trees.thresholds.flat import Forest, join_trees


def grow_extra(
    values: np.ndarray,
    category: np.ndarray | None = None,
    n_trees: int = 100,
    *,
    max_samples: float | int = 0.8,
    max_depth: int | None = None,
    keep_bag: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Grown[Forest]:
    """Grow trees by cutting random columns at random places.

    A node takes a random column whose values differ there and cuts it at a uniform point between
    the smallest and the largest; a category column is cut into one of its categories and the rest.
    The scale of a column therefore matters, unlike for the other growers.

    Parameters
    ----------
    values : array of shape (n, d)
        Numbers, or codes of categories; NaN where missing.
    category : bool array of length d, optional
        Which columns hold codes of categories.
    n_trees : int
    max_samples : float or int
        Rows per tree, without replacement: a share in (0, 1] or a number above 1.
    max_depth : int, optional
        None: the base-2 logarithm of the rows per tree, rounded up.
    keep_bag : bool
        Return which rows each tree was grown on.
    random_state : None, int or Generator
    n_jobs : int, optional

    Examples
    --------
    >>> import numpy as np
    >>> values = np.random.default_rng(0).random((64, 2))
    >>> grown = grow_extra(values, n_trees=3, max_samples=16, random_state=0)
    >>> int(grown.forest.nodes.depth.max())
    4
    """
    from lookalike.kernels.growing import grow_random, sample_rows

    values = np.asarray(values, np.float64)
    n, d = values.shape
    which = np.zeros(d, np.uint8) if category is None else np.asarray(category, np.uint8)
    size = count_share(max_samples, n, "max_samples")
    limit = math.ceil(math.log2(max(2, size))) if max_depth is None else max_depth
    columns = np.ascontiguousarray(values.T)
    states = tree_states(random_state, n_trees)
    in_bag = np.zeros((n, n_trees), np.uint8) if keep_bag else None
    no_labels = np.empty(0, np.uint8)

    def one(t: int) -> ThresholdTree:
        state = states[t : t + 1]
        rows = np.empty(size, np.int64)
        sample_rows(n, size, False, no_labels, state, rows)
        if in_bag is not None:
            in_bag[rows, t] = 1
        feature, left, right = (np.empty(2 * size, np.int32) for _ in range(3))
        tree = ThresholdTree(feature, np.empty(2 * size), left, right)
        made = grow_random(columns, which, rows, limit, state, tree)
        return ThresholdTree(*(part[:made].copy() for part in tree))

    def some(part: slice) -> list[ThresholdTree]:
        return [one(part.start + at.start) for at in blocks(part.stop - part.start, 1)]

    grown = run(some, [(part,) for part in blocks(n_trees, 8)], n_jobs, "growing trees")
    forest = join_trees([tree for part in grown for tree in part], which)
    return Grown(forest, in_bag)
