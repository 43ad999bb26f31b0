"""Outliers in tables of any kind: rows that random similarity trees isolate early."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import OutlierMixin

from lookalike.errors import InvalidInput, Param
from lookalike.prediction.random_similarity_forest import TreeForest
from lookalike.saving.fields import Choice, Either, Fields, Integer, Real
from lookalike.trees.cells.growing import grow_isolation_trees
from lookalike.trees.growing import count_share

AUTO_SAMPLES = 256  # rows per tree in the paper on isolation forests


@dataclass(eq=False, repr=False)
class RandomSimilarityIsolationForest(OutlierMixin, TreeForest):
    """Find rows unlike the rest in a table whose columns are of any kind.

    Trees cut small samples of rows at random: a random column, a random cell p of it and the cell q
    farthest from it, a random threshold of ``d(q, x) - d(p, x)``. Rows that are soon alone are
    outliers [1]_ [2]_. It has scikit-learn's outlier interface.

    Parameters
    ----------
    n_estimators : int
        How many trees.
    distances : mapping of column name to distance, optional
        As for ``RandomSimilarityForestClassifier``.
    max_samples : "auto", float or int
        Rows per tree; "auto": 256, or all if there are fewer.
    contamination : "auto" or float
        Share of outliers among the fitted rows, which sets the threshold of ``predict``; "auto": a
        score of -0.5, as in the original isolation forest.
    pairs : {"far", "random"}
        The second cell of a pair is the one farthest from the first, as published, or any that
        differs from it. Under a distance with an upper bound outliers are about as far from one
        usual cell as from another: with "random" they land in the middle and are cut off late.
    projection : {"distance", "squared"}
    numeric : {"value", "projection"}
        Whether numbers are cut as they are, as isolation forests do, or projected; projected
        distances are constant beyond p and q, where the outliers are.
    kinds : mapping of column to kind, optional
    random_state : None, int, RandomState or Generator
    n_jobs : int, optional

    Attributes
    ----------
    trees_ : SimilarityTrees
    offset_ : float
        ``decision_function`` is ``score_samples`` minus this.
    max_samples_ : int
        Rows per tree.
    feature_names_in_, n_features_in_ : as in scikit-learn

    References
    ----------
    .. [1] S. Chwilczyński, D. Brzezinski (2025). Random similarity isolation forests.
       doi:10.48550/arXiv.2502.19122
    .. [2] F. T. Liu, K. M. Ting, Z.-H. Zhou (2008). Isolation forest. IEEE International Conference
       on Data Mining. doi:10.1109/ICDM.2008.17

    Examples
    --------
    >>> from lookalike.prediction import RandomSimilarityIsolationForest
    >>> words = ["anna", "hanna", "johanna", "ann", "anne", "hannah", "zyx-981", "anja"]
    >>> table = {"name": words, "visits": [3, 4, 3, 5, 4, 4, 90, 3]}
    >>> model = RandomSimilarityIsolationForest(random_state=0, kinds={"name": "text"})
    >>> scores = model.fit(table).score_samples(table)
    >>> words[scores.argmin()]
    'zyx-981'
    """

    FIELDS: ClassVar[Fields] = {
        "max_samples": Either(Choice("auto"), Integer(1), Real(0.0, 1.0, open_low=True)),
        "contamination": Either(Choice("auto"), Real(0.0, 0.5, open_low=True)),
        "pairs": Choice("far", "random"),
        "max_samples_": Integer(1),
        "offset_": Real(nan=True),
    }

    n_estimators: int = 100
    distances: Mapping[str, Any] | None = None
    _: KW_ONLY
    max_samples: Any = "auto"
    contamination: Any = "auto"
    pairs: str = "far"
    projection: str = "distance"
    numeric: str = "value"
    kinds: Mapping[str, Any] | None = None
    random_state: Any = None
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
        y : ignored
        """
        table, _ = self._read(X)
        columns, cells = self._fit_columns(table)
        n = len(table)
        self.max_samples_ = min(AUTO_SAMPLES, n)
        if self.max_samples != "auto":
            self.max_samples_ = count_share(self.max_samples, n)
        if n < 1:
            who = f"{type(self).__name__}.fit"
            raise InvalidInput(who, "rows", Param("n_samples", 0), "Add rows")
        self.trees_ = grow_isolation_trees(
            columns,
            cells,
            self.n_estimators,
            n_samples=self.max_samples_,
            far=self.pairs == "far",
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        self.offset_ = -0.5  # the score of a row that is isolated at the average depth
        if self.contamination != "auto":
            # On the fitted rows, as scikit-learn does: contamination is a share of these.
            scores = self._scores(self.trees_.leaves(cells, self.n_jobs))
            self.offset_ = float(np.percentile(scores, 100.0 * self.contamination))
        return self

    def _scores(self, leaves: np.ndarray) -> np.ndarray:
        trees = self.trees_
        # A leaf with several rows would have been split further: the expected depth is added.
        length = trees.depth + average_depth(trees.entries)
        depth = length[leaves + trees.offsets[:-1]].mean(axis=1)
        usual = float(average_depth(np.array([self.max_samples_]))[0])
        # Trees of one row have depth 0: all rows are alike, with score -1.
        return np.asarray(-(2.0 ** -(depth / usual))) if usual > 0 else np.full(len(depth), -1.0)

    def score_samples(self, X: Any) -> np.ndarray:
        """Return how usual each row is: about -1 for outliers, above -0.5 for usual rows.

        Parameters
        ----------
        X : rows

        Returns
        -------
        array of n numbers, the opposite of the anomaly score of the original paper
        """
        return self._scores(self.apply(X))

    def decision_function(self, X: Any) -> np.ndarray:
        """Return ``score_samples`` minus ``offset_``: negative for outliers.

        Parameters
        ----------
        X : rows
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """Return -1 for outliers and 1 for the others.

        Parameters
        ----------
        X : rows
        """
        return np.where(self.decision_function(X) < 0, -1, 1)


def average_depth(n: np.ndarray) -> np.ndarray:
    """Return the mean number of cuts that isolate one of n rows in a random tree.

    ``2 H(n - 1) - 2 (n - 1) / n`` with the harmonic number H as ``log`` plus Euler's constant; 1 of
    two rows, 0 of one.

    Examples
    --------
    >>> import numpy as np
    >>> average_depth(np.array([1, 2, 256])).round(4)
    array([ 0.    ,  1.    , 10.2448])
    """
    n = np.asarray(n, np.float64)
    # Equation 1 of Liu et al.; below 3 rows it would take the logarithm of 0.
    large = np.maximum(n, 3.0)
    usual = 2.0 * (np.log(large - 1.0) + np.euler_gamma) - 2.0 * (large - 1.0) / large
    return np.where(n > 2, usual, np.where(n == 2, 1.0, 0.0))
