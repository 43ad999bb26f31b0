"""Similarity forests over whole rows: one distance, whatever the rows are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from lookalike.columns import CallableDistance, Distance, Euclidean
from lookalike.columns.base import Cells
from lookalike.errors import InvalidInput, Param, Phrase, WrongType
from lookalike.kernels.cells import TABLE, TABLE_SQUARED
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows
from lookalike.measures.names import IsMeasure, as_measure
from lookalike.measures.task import accept_mixed
from lookalike.prediction.random_similarity_forest import ForestClassifier
from lookalike.saving.fields import Choice, Either, Fields, Instance, Saved, require
from lookalike.table import Column, Kind, Table, as_table
from lookalike.trees.cells.columns import PrecomputedRows, TreeColumn, check_distance

WORDS = ("euclidean", "precomputed")  # values of ``measure`` that do not name a measure


class WholeRows(Distance):
    """The distance of a fitted measure, for whole rows in place of cells.

    Parameters
    ----------
    measure : Measure
        Fitted.

    Examples
    --------
    >>> from lookalike.measures import Vector
    >>> measure = Vector("cityblock").fit([[0.0, 1.0], [2.0, 3.0]])
    >>> WholeRows(measure).compare(measure.rows_, measure.rows_)
    array([[0., 4.],
           [4., 0.]])
    """

    FIELDS: ClassVar[Fields] = {"measure": Saved("Measure"), "scale_": None}

    name = "rows"
    kinds = ()

    def __init__(self, measure: Measure) -> None:
        self.measure = measure
        self.scale = None
        self.column_ = "rows"

    def compare(self, a: Any, b: Any) -> np.ndarray:
        """Return the distances of all rows of a to all of b."""
        return self._compare(a, b)  # whole rows are never missing

    def _compare(self, a: Any, b: Any) -> np.ndarray:
        return self.measure.block(a, b, "distance")

    def _encode(self, column: Column) -> Any:
        needed, found = "rows that its measure has encoded", f"the column {column.name!r}"
        raise WrongType("WholeRows", needed, found, "Encode whole rows with the measure")

    def check_cells(self, cells: Any, n: int | None, where: str) -> None:
        """Refuse loaded rows that the measure would not have encoded."""
        fits = isinstance(cells, Rows) and hasattr(self.measure, "rows_")
        require(fits, where, "rows of a fitted measure", type(cells).__name__)
        self.measure.check_rows(cells, where)


@dataclass(eq=False, repr=False)
class SimilarityForestClassifier(ForestClassifier):
    """Classify rows by one distance between whole rows.

    The older relative of ``RandomSimilarityForestClassifier`` [1]_: each test draws two rows of
    different classes and asks whether a row is nearer to the one or to the other. It is the choice
    where objects are known only as wholes (a matrix of distances, a measure such as ``Gower``), and
    a baseline elsewhere: where a few columns matter among many, one distance over all of them
    blurs the difference.

    Parameters
    ----------
    measure : "euclidean", "precomputed", Measure or name of one, or function
        Euclidean distances of rows of numbers; distances given as X (n x n to fit, a row per new
        row and a column per fitted row to predict); a measure, of which a clone is fitted; or a
        function of two rows (arrays of numbers, or the two cells of a table with one column).
    n_estimators : int
        How many trees.
    projection : {"distance", "squared"}, optional
        None: squared for "euclidean", which is the projection onto the line through the two rows,
        plain for all others.
    max_pairs : int
        Pairs of rows tried per node.
    criterion : {"gini", "entropy"}
    max_depth : int, optional
    min_samples_split, min_samples_leaf : int
    min_weight_fraction_leaf : float
    voting : {"soft", "majority"}
    bootstrap, oob_score : bool
    ccp_alpha : float
    splitter : {"best", "random"}
    class_weight : mapping or "balanced", optional
    kinds : mapping of column to kind, optional
    cache_pairs : int
    random_state : None, int, RandomState or Generator
    n_jobs : int, optional
        As for ``RandomSimilarityForestClassifier``.

    Attributes
    ----------
    classes_ : the classes, sorted
    trees_ : SimilarityTrees
    oob_score_, oob_decision_function_, in_bag_ : with ``oob_score`` only
    feature_names_in_, n_features_in_ : as in scikit-learn

    Notes
    -----
    The second row of a pair is one at a distance above 0: a pair of equal rows projects everything
    to one value. Thresholds lie halfway between two projections; among equal cuts the first is
    taken.

    References
    ----------
    .. [1] S. Sathe, C. C. Aggarwal (2017). Similarity forests. Proceedings of the 23rd ACM SIGKDD
       International Conference on Knowledge Discovery and Data Mining. doi:10.1145/3097983.3098046

    Examples
    --------
    >>> from lookalike.measures import Gower
    >>> from lookalike.prediction import SimilarityForestClassifier
    >>> pets = {"weight": [4.0, 5.0, 30.0, 25.0], "sound": ["meow", "meow", "woof", "woof"]}
    >>> model = SimilarityForestClassifier(Gower(), 20, random_state=0)
    >>> model = model.fit(pets, ["cat", "cat", "dog", "dog"])
    >>> print(*model.predict({"weight": [28.0, 3.0], "sound": [None, "meow"]}))
    dog cat
    """

    BY_COLUMN = False  # whole rows: no test is about a column
    # The algorithm of Sathe and Aggarwal: pairs from the whole node, thresholds at midpoints.
    TREE_OPTIONS: ClassVar[dict[str, Any]] = {
        "max_features": 1,
        "by_class": False,
        "balanced": False,
        "midpoint": True,
    }

    FIELDS: ClassVar[Fields] = {
        "measure": Either(
            IsMeasure(none="", words=WORDS), Instance(Callable, named="a function of two rows")
        ),
        "projection": Choice(None, "distance", "squared"),
    }

    measure: Any = "euclidean"
    n_estimators: int = 100
    _: KW_ONLY
    projection: str | None = None
    voting: str = "soft"

    @property
    def _word(self) -> str | None:
        """Return "euclidean", "precomputed", or None where a measure or a function is given."""
        return self.measure if isinstance(self.measure, str) and self.measure in WORDS else None

    def _resolved(self) -> Any:
        """Return ``measure``, with the name of a measure replaced by an instance."""
        named = isinstance(self.measure, str) and self._word is None
        return as_measure(self.measure, type(self).__name__) if named else self.measure

    def _read_table(self, X: Any) -> Table:
        measure = self._resolved()
        # A measure may know kinds of its own.
        if isinstance(measure, Measure) and self.kinds is None:
            return measure.read(X)
        return super()._read_table(X)

    def _fit_columns(self, table: Table) -> tuple[tuple[TreeColumn, ...], tuple[Cells, ...]]:
        squared = self.projection == "squared"
        if self.projection is None:
            squared = self._word == "euclidean"
        given = self._resolved()
        distance: Any
        cells: Any
        if isinstance(given, Measure):
            # A clone: the parameters of an estimator are never changed by fit.
            measure = clone(given).fit(table)
            distance, cells = WholeRows(measure), measure.rows_
        elif self._word == "precomputed":
            column = self._whole(table)
            n, width = column.values.shape
            if n != width:
                who = Param("measure", "precomputed", of=type(self).__name__)
                hint = "Give the distance of every row to every row"
                raise InvalidInput(who, "a square matrix", f"{n} x {width}", hint)
            distance = PrecomputedRows().fit(column)
            cells = distance.encode_fitted(column)
        else:
            column = self._whole(table)
            distance = (Euclidean() if self._word else CallableDistance(given)).fit(column)
            # A function of the caller is checked on some pairs before any tree is grown.
            check_distance(column, distance)
            cells = distance.encode(column)
        kind = TABLE_SQUARED if squared else TABLE
        return (TreeColumn(0, "rows", distance, kind),), (cells,)

    def _encode(self, X: Any) -> tuple[Cells, ...]:
        check_is_fitted(self, "trees_")
        table = as_table(X, self.schema_, who=type(self).__name__)
        distance = self.trees_.columns[0].distance
        if isinstance(distance, WholeRows):
            rows: Any = distance.measure.encode(table)
            return (rows,)
        return (distance.encode(self._whole(table)),)

    def _whole(self, table: Table) -> Column:
        """Return rows as the cells of one column."""
        who = type(self).__name__
        # A function gets the cells of a single column as they are, of any kind.
        if not isinstance(self.measure, str) and len(table.columns) == 1:
            return table.columns[0]
        for column in table.columns:
            if column.kind.name != "number" or column.missing.any():
                found = f"column {column.name!r} of kind {column.kind.name}"
                if column.kind.name == "number":
                    found = f"{int(column.missing.sum())} missing values (NaN) in {column.name!r}"
                takes = ", which takes mixed columns and missing values"
                hint = Phrase("Use ", Param("measure", "gower"), takes)
                raise InvalidInput(who, "rows of numbers without missing values", found, hint)
        # One vector per row: the forest then tests a single column.
        rows = np.column_stack([np.asarray(c.values, np.float64) for c in table.columns])
        for row, column in np.argwhere(~np.isfinite(rows)):
            found = f"infinity in row {row}, column {table.columns[column].name!r}"
            raise InvalidInput(who, "finite numbers", found, "Replace infinite values")
        return Column("rows", Kind("vector", width=rows.shape[1]), rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Tags are read before parameters are checked: an unknown name must not fail here.
        given = self._resolved() if IsMeasure(none="").fits(self.measure) else self.measure
        traits = given.traits if isinstance(given, Measure) else None
        pairwise = traits.pairwise if traits else self._word == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.positive_only = pairwise
        return accept_mixed(tags, traits is not None and traits.missing)

    def _check_columns(self, names: list[str]) -> None:
        columns, who = self.trees_.columns, "SimilarityForestClassifier"
        require(len(columns) == 1 and columns[0].is_object, f"{who}.trees_", "whole rows")
        distance = columns[0].distance
        if isinstance(distance, WholeRows):
            same = set(distance.measure.schema_.kinds) == set(names)
            require(same, f"{who}.schema_", "columns of the measure", "others")
