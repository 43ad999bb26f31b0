"""How a forest is grown: small objects that hold the options of one kind of forest each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from lookalike.errors import InvalidInput, Param, suggest
from lookalike.saving.fields import Choice, Fields
from lookalike.trees.cells.grower import CellSimilarityForest
from lookalike.trees.grower import PUBLISHED, PUBLISHED_OUT_OF_BAG, Grower
from lookalike.trees.grown import Grown
from lookalike.trees.thresholds.extra import grow_extra
from lookalike.trees.thresholds.flat import Forest
from lookalike.trees.thresholds.synthetic import grow_synthetic


class MatrixGrower(Grower, abstract=True):
    """Base of the growers that read a matrix; ``CellSimilarityForest`` reads a table."""

    _grow_trees: ClassVar[Callable[..., Grown[Forest]]]

    def grow(
        self,
        values: np.ndarray,
        category: np.ndarray | None = None,
        *,
        out_of_bag: bool = False,
        n_jobs: int | None = None,
    ) -> Grown[Forest]:
        """Grow the forest on a matrix: numbers or codes of categories, NaN where missing.

        Parameters
        ----------
        values : array of shape (n, d)
        category : bool array of length d, optional
            Which columns hold codes of categories.
        out_of_bag : bool
            Grow as published for out-of-bag similarities, and return the rows of each tree.
        n_jobs : int, optional
        """
        chosen = self._settings(out_of_bag)
        return self._grow_trees(values, category, keep_bag=out_of_bag, n_jobs=n_jobs, **chosen)


class SyntheticForest(MatrixGrower):
    """Grow trees that tell the rows of a table from rows with independent columns.

    What the trees must know for that is how columns hang together, so their leaves gather rows that
    are alike [1]_. Numbers, ordered levels, flags and categories are tested; only the order of
    numbers matters, unless the synthetic rows are uniform.

    Parameters
    ----------
    n_estimators : int, optional
        Trees. None: 100, and 1000 out of bag.
    max_samples : float or int, optional
        Rows per tree: a share in (0, 1] of the real and synthetic rows, or a number above 1. None:
        0.8; all of them out of bag.
    max_features : float, int, "sqrt" or "all", optional
        Columns tried per node. None: one half; the square root out of bag.
    feature_sampling : {"node", "tree"}
        Draw these columns at every node, or once per tree.
    bootstrap : bool, optional
        Draw the rows of a tree with replacement. None: only out of bag.
    synthetic : {"resampled", "permuted", "uniform"}, optional
        Synthetic columns: drawn from the column with replacement, permuted, or uniform between its
        smallest and largest values. None: resampled; permuted out of bag.
    max_depth : int, optional
        None: until leaves are pure.
    threshold : {"observed", "midpoint"}
        Cut at the largest value that goes left, or halfway to the next.
    random_state : None, int, RandomState or Generator

    References
    ----------
    .. [1] T. Shi, S. Horvath (2006). Unsupervised learning with random forest predictors. Journal
       of Computational and Graphical Statistics 15(1). doi:10.1198/106186006X94072

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.trees import SyntheticForest
    >>> rows = np.random.default_rng(0).normal(size=(50, 3))
    >>> SyntheticForest(5, max_depth=3, random_state=0).grow(rows).forest.n_trees
    5
    """

    FIELDS: ClassVar[Fields] = {
        "feature_sampling": Choice("node", "tree"),
        "synthetic": Choice(None, "resampled", "permuted", "uniform"),
    }
    PUBLISHED: ClassVar[dict[str, Any]] = PUBLISHED
    PUBLISHED_OUT_OF_BAG: ClassVar[dict[str, Any]] = PUBLISHED_OUT_OF_BAG
    _grow_trees = staticmethod(grow_synthetic)

    def __init__(
        self,
        n_estimators: int | None = None,
        *,
        max_samples: float | int | None = None,
        max_features: float | int | str | None = None,
        feature_sampling: str = "node",
        bootstrap: bool | None = None,
        synthetic: str | None = None,
        max_depth: int | None = None,
        threshold: str = "observed",
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.feature_sampling = feature_sampling
        self.bootstrap = bootstrap
        self.synthetic = synthetic
        self.max_depth = max_depth
        self.threshold = threshold
        self.random_state = random_state


class ExtraForest(MatrixGrower):
    """Grow trees by cutting random columns at random places (extremely randomized trees).

    No labels and no search, so it is fast; the scale of the columns matters, as a cut is uniform
    between the smallest and the largest value in a node.

    Parameters
    ----------
    n_estimators : int, optional
        Trees. None: 100.
    max_samples : float or int, optional
        Rows per tree, without replacement: a share in (0, 1] or a number above 1. None: 0.8.
    max_depth : int, optional
        None: the base-2 logarithm of the rows per tree, rounded up.
    random_state : None, int, RandomState or Generator

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.trees import ExtraForest
    >>> rows = np.random.default_rng(0).normal(size=(50, 3))
    >>> ExtraForest(5, max_depth=3, random_state=0).grow(rows).forest.nodes.depth.max()
    np.int32(3)
    """

    PUBLISHED: ClassVar[dict[str, Any]] = {"n_estimators": 100, "max_samples": 0.8}
    _grow_trees = staticmethod(grow_extra)

    def __init__(
        self,
        n_estimators: int | None = None,
        *,
        max_samples: float | int | None = None,
        max_depth: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_depth = max_depth
        self.random_state = random_state


class IsolatingForest(ExtraForest):
    """Grow isolation trees: random cuts on small samples, which keeps them low and fast [1]_.

    The forest that mass-based similarities were published with; ``ExtraForest`` on samples of 256
    rows. Unlike ``sklearn.ensemble.IsolationForest`` it judges no outliers.

    Parameters
    ----------
    n_estimators : int, optional
        Trees. None: 100.
    max_samples : float or int, optional
        Rows per tree, without replacement: a share in (0, 1] or a number above 1. None: 256.
    max_depth : int, optional
        None: the base-2 logarithm of the rows per tree, rounded up.
    random_state : None, int, RandomState or Generator

    References
    ----------
    .. [1] F. T. Liu, K. M. Ting, Z.-H. Zhou (2008). Isolation forest. IEEE International
       Conference on Data Mining. doi:10.1109/ICDM.2008.17

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.trees import IsolatingForest
    >>> rows = np.random.default_rng(0).normal(size=(1000, 3))
    >>> IsolatingForest(5, random_state=0).grow(rows).forest.nodes.depth.max()
    np.int32(8)
    """

    PUBLISHED: ClassVar[dict[str, Any]] = {"n_estimators": 100, "max_samples": 256}


GROWERS: dict[str, type[Grower]] = {
    "synthetic": SyntheticForest,
    "extra": ExtraForest,
    "isolation": IsolatingForest,
    "similarity": CellSimilarityForest,
}


def find_grower(name: str) -> Grower:
    """Return the grower of a name, with every option as published.

    Examples
    --------
    >>> find_grower("extra")
    ExtraForest()
    """
    if name not in GROWERS:
        raise InvalidInput(
            Param("forest", name),
            "one of " + ", ".join(map(repr, GROWERS)) + ", a grower or a fitted forest",
            repr(name),
            suggest(name, GROWERS),
        )
    return GROWERS[name]()
