"""How a forest whose tests compare cells is grown without labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from lookalike.errors import Param, TooFewRows
from lookalike.saving.fields import Choice, Fields, Instance, Maybe
from lookalike.table import Table
from lookalike.trees.cells.columns import encode_columns, fit_columns
from lookalike.trees.cells.growing import Limits, grow_unsupervised
from lookalike.trees.cells.trees import SimilarityTrees
from lookalike.trees.grower import PUBLISHED, PUBLISHED_OUT_OF_BAG, Grower
from lookalike.trees.grown import Grown
from lookalike.trees.sampling import count_features


class CellSimilarityForest(Grower):
    """Grow trees on columns of any kind: sets, texts, sequences, series, graphs.

    A test asks whether a cell is nearer to one cell of the column or to another (a random
    similarity forest [1]_). Without labels the trees tell the rows of the table from rows whose
    columns were shuffled.

    Parameters
    ----------
    n_estimators : int, optional
        Trees. None: 100, and 1000 out of bag.
    max_samples : float or int, optional
        Rows per tree: a share in (0, 1] of the real and synthetic rows, or a number above 1. None:
        0.8; all of them out of bag.
    max_features : float, int, "sqrt" or "all", optional
        Columns tried per node. None: one half; the square root out of bag.
    bootstrap : bool, optional
        Draw the rows of a tree with replacement. None: only out of bag.
    synthetic : {"resampled", "permuted"}, optional
        Synthetic columns: drawn from the column with replacement, or permuted. None: permuted.
    max_depth : int, optional
        None: until leaves are pure.
    threshold : {"observed", "midpoint"}
        Cut at the largest projection that goes left, or halfway to the next.
    distances : mapping of column name to distance, optional
        How the cells of a column are compared, where the default is not wanted: a name ("jaccard",
        "levenshtein", "dtw", ...), a function of two cells, or whatever else
        ``RandomSimilarityForestClassifier`` takes.
    numeric : {"projection", "value"}
        Whether numbers are compared with two others like every other cell, or tested as they are,
        which makes trees of numbers those of ``SyntheticForest``.
    random_state : None, int, RandomState or Generator

    References
    ----------
    .. [1] M. Piernik, D. Brzezinski, P. Zawadzki (2022). Random similarity forests. European
       Conference on Machine Learning and Knowledge Discovery in Databases.
       doi:10.48550/arXiv.2204.05389

    Examples
    --------
    >>> import lookalike as la
    >>> from lookalike.trees import CellSimilarityForest
    >>> table = la.read_table({"tags": [{"a"}, {"a", "b"}, {"x"}, {"x", "y"}], "n": [1, 2, 8, 9]})
    >>> CellSimilarityForest(5, distances={"tags": "jaccard"}).grow(table).forest.n_trees
    5
    """

    FIELDS: ClassVar[Fields] = {
        "synthetic": Choice(None, "resampled", "permuted"),
        "distances": Maybe(Instance(Mapping, named="a mapping of column to distance")),
        "numeric": Choice("projection", "value"),
    }
    PUBLISHED: ClassVar[dict[str, Any]] = {**PUBLISHED, "synthetic": "permuted"}
    PUBLISHED_OUT_OF_BAG: ClassVar[dict[str, Any]] = PUBLISHED_OUT_OF_BAG

    def __init__(
        self,
        n_estimators: int | None = None,
        *,
        max_samples: float | int | None = None,
        max_features: float | int | str | None = None,
        bootstrap: bool | None = None,
        synthetic: str | None = None,
        max_depth: int | None = None,
        threshold: str = "observed",
        distances: Mapping[str, Any] | None = None,
        numeric: str = "projection",
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.synthetic = synthetic
        self.max_depth = max_depth
        self.threshold = threshold
        self.distances = distances
        self.numeric = numeric
        self.random_state = random_state

    def grow(
        self, table: Table, *, out_of_bag: bool = False, n_jobs: int | None = None
    ) -> Grown[SimilarityTrees]:
        """Grow the trees on a table.

        Parameters
        ----------
        table : Table
        out_of_bag : bool
            Grow as published for out-of-bag similarities, and return the rows of each tree.
        n_jobs : int, optional
        """
        chosen = self._settings(out_of_bag)
        who = type(self).__name__
        if len(table) < 2:
            raise TooFewRows(who, "at least 2 rows", Param("n_samples", len(table)), "Add rows")
        columns = fit_columns(table, chosen["distances"], numeric=chosen["numeric"], who=who)
        limits = Limits(
            count_features(chosen["max_features"], len(columns)),
            max_depth=chosen["max_depth"],
            midpoint=chosen["threshold"] == "midpoint",
        )
        return grow_unsupervised(
            columns,
            encode_columns(columns, table, fitted=True),
            chosen["n_trees"],
            limits=limits,
            max_samples=chosen["max_samples"],
            bootstrap=chosen["bootstrap"],
            resample=chosen["synthetic"] == "resampled",
            keep_bag=out_of_bag,
            random_state=chosen["random_state"],
            n_jobs=n_jobs,
        )
