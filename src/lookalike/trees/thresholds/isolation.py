"""Isolation forests: random cuts on small samples, as mass-based measures were published with."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.trees.grown import Grown
from lookalike.trees.thresholds.extra import grow_extra
from lookalike.trees.thresholds.flat import Forest


def grow_isolation(
    values: np.ndarray,
    category: np.ndarray | None = None,
    n_trees: int = 100,
    *,
    max_samples: float | int = 256,
    max_depth: int | None = None,
    keep_bag: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Grown[Forest]:
    """Grow an isolation forest: random cuts on samples of 256 rows, 8 levels deep [1]_.

    The trees are those of ``grow_extra``; the small samples are what keeps the height low and a
    table of any length cheap.

    Parameters
    ----------
    values, category, n_trees, max_samples, max_depth, keep_bag, random_state, n_jobs
        As for ``grow_extra``; more samples than rows means all rows.

    References
    ----------
    .. [1] F. T. Liu, K. M. Ting, Z.-H. Zhou (2008). Isolation forest. IEEE International
       Conference on Data Mining. doi:10.1109/ICDM.2008.17

    Examples
    --------
    >>> import numpy as np
    >>> values = np.random.default_rng(0).random((1000, 2))
    >>> grown = grow_isolation(values, n_trees=3, random_state=0)
    >>> int(grown.forest.nodes.depth.max())
    8
    """
    return grow_extra(
        values,
        category,
        n_trees,
        max_samples=max_samples,
        max_depth=max_depth,
        keep_bag=keep_bag,
        random_state=random_state,
        n_jobs=n_jobs,
    )
