"""The contract every measure keeps: an encoder and a comparison; the rest is written here, once.

A measure writes ``_fit`` (learn from a table), ``_encode`` (rows as packed arrays), ``compare``
(a block of native values; the only place that knows the formula) and, for explanations,
``_explain``. It then has ``similarity``, ``distance``, ``kneighbors``, ``neighbors``, ``explain``
and ``save``.

``compare`` is pure, element by element: entry (i, j) depends on row i, row j and the fitted state
alone, to the last bit. Blocks, threads and merged lists rely on it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from lookalike._runtime.config import count_jobs
from lookalike._runtime.threads import blocks
from lookalike.errors import InPython, InvalidInput, Param, Phrase
from lookalike.measures.contract.explanation import Explanation
from lookalike.measures.contract.lists import Ids, check_k, name_rows
from lookalike.measures.contract.loading import CheckedRows
from lookalike.measures.contract.matrices import (
    check_pairs,
    pair_by_pair,
    rectangle,
    settle_undefined,
    square,
    typical_distance,
)
from lookalike.measures.contract.rows import Rows, self_pairs
from lookalike.measures.contract.searched import SearchedRows
from lookalike.measures.contract.sparse_graph import KNeighborsGraph
from lookalike.measures.contract.telling import SAMPLE, ColumnDifferences, draw_pairs
from lookalike.measures.contract.traits import Traits
from lookalike.neighbors.exact import TALLEST, Fill, fill_by_blocks, search
from lookalike.neighbors.graph import NeighborGraph
from lookalike.saving.encode import SaveMixin
from lookalike.saving.fields import KINDS, N_JOBS, Fields, check_params
from lookalike.table import LazyTable, Table, as_table, read_table
from lookalike.table.model.names import remember_columns
from lookalike.table.model.targets import split_target

CHUNK = 1024  # width of a scan over the fitted rows: never derived from n_jobs or memory_limit

MEASURES: dict[str, type[Measure]] = {}


class _Encoded:
    """Rows of a table in files, encoded when they are asked for."""

    def __init__(self, measure: Measure, table: LazyTable) -> None:
        self._measure, self._table = measure, table

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, at: Any) -> Rows:
        rows = np.arange(len(self))[at] if isinstance(at, slice) else np.asarray(at)
        return self._measure._encode(self._table[rows], rows)


class Measure(SearchedRows, CheckedRows, KNeighborsGraph, SaveMixin, BaseEstimator, abstract=True):
    """Base of all measures of likeness between rows.

    Subclassing registers the class under its name. See the contributing guide for what to write.
    """

    traits = Traits()
    FIELDS: ClassVar[Fields] = {
        "kinds": KINDS,
        "n_jobs": N_JOBS,
    }

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls.__name__.startswith("_"):
            MEASURES[cls.__name__] = cls

    # -- what a measure writes ---------------------------------------------------------------------

    def _fit(self, table: Table, y: np.ndarray | None) -> Rows | None:
        """Learn from the table; return its encoded rows if they have come along, else None."""
        return None

    def _encode(self, table: Table, seen: np.ndarray) -> Rows:
        raise AssertionError(f"{type(self).__name__} must write _encode")

    def _fit_parts(self, table: LazyTable) -> None:
        """Learn from a table that stays in files, the same as ``_fit`` learns in memory."""
        raise self._cannot_stream("its fit, which looks at all rows together", "")

    def _cannot_stream(self, part: str, hint: str) -> InvalidInput:
        """Return the error of a measure that cannot be fitted to a table in files."""
        hint = hint or (
            Phrase(
                "Use Gower, Vector, Ranked or StochasticForest",
                InPython(
                    ", or fit it in memory to a sample (table[::100]) and pass its frozen() form"
                ),
            )
        )
        needed = "a measure that can be fitted in parts"
        who = f"{type(self).__name__}.fit"
        return InvalidInput(who, needed, f"{part}, needs all rows in memory", hint)

    def _fit_rows(self, rows: Any) -> None:
        """Learn what needs the encoded rows."""
        if self.traits.conversion == "ratio":
            self.scale_ = typical_distance(self, rows)

    def compare(self, a: Rows, b: Rows) -> np.ndarray:
        """Return native values of every row of a against every row of b; NaN is undefined."""
        raise AssertionError(f"{type(self).__name__} must write compare")

    def _explain(self, a: Rows, b: Rows) -> Explanation:
        """Explain one row against one; without a better idea nothing is put down to a column."""
        s = float(self.block(a, b, "similarity")[0, 0])
        d = float(self.block(a, b, "distance")[0, 0])
        return Explanation(s, d, {None: s}, {None: 1 - s})

    def column_differences(self, a: Rows, b: Rows) -> ColumnDifferences | None:
        """Return how much a row differs from each of some in every column, for ``telling``."""
        return None

    @classmethod
    def examples(cls) -> list[Measure]:
        """Return small instances for the shared tests; wrappers and measures with options add."""
        return [cls()]

    def read(self, X: Any) -> Table:
        """Read data to be fitted as a typed table; a wrapper asks the measure inside it."""
        table = read_table(X, kinds=getattr(self, "kinds", None))
        return table.with_objects(getattr(self, "distances", None) or ())

    # -- fitting and encoding ----------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from rows, and keep them as the rows to be searched.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
            A ``LazyTable`` is learned from in parts, and stays in its files; not every measure can.
        y : array of n, or the name of a column, optional
            A target for measures that learn from one. A named column is taken out of the table.
        """
        if getattr(self, "frozen_", False):
            return self
        check_params(self)
        count_jobs(getattr(self, "n_jobs", None))
        if isinstance(X, LazyTable):
            return self._fit_lazy(X, y)
        self.__dict__.pop("n_streamed_", None)
        table, target = split_target(self.read(X), y, f"{type(self).__name__}.fit")
        self.schema_ = table.schema
        remember_columns(self, X, table)
        rows = self._fit(table, target)
        self.rows_ = self._encode(table, np.arange(len(table))) if rows is None else rows
        self._fit_rows(self.rows_)
        return self

    def _fit_lazy(self, table: LazyTable, y: Any) -> Self:
        """Learn from a table in files; only a sample of its rows is kept, for explanations."""
        if y is not None:
            raise self._cannot_stream("a target", "Fit in memory to learn from a target")
        kinds = getattr(self, "kinds", None)
        if kinds:
            table = table.with_kinds(kinds)
        self.schema_ = table.schema
        remember_columns(self, table.like, table.like)
        self._fit_parts(table)
        self.n_streamed_ = len(table)
        drawn, _, _ = draw_pairs(len(table), min(len(table), SAMPLE))
        self.rows_ = self._encode(table[drawn], drawn)
        self._fit_rows(_Encoded(self, table))
        return self

    def _check_holds_rows(self, who: str) -> None:
        """Refuse to answer from the sample of rows that is left after fitting in parts."""
        if hasattr(self, "n_streamed_"):
            hint = Phrase(
                "Build an index in a folder",
                InPython(" (lookalike.index.build_index)"),
                " and ask that",
            )
            found = f"{self.n_streamed_:,} rows that stayed in their files"
            raise InvalidInput(f"{type(self).__name__}.{who}", "fitted rows in memory", found, hint)

    def encode(self, X: Any, seen: Any = None) -> Rows:
        """Return rows as this measure keeps them.

        Parameters
        ----------
        X : table, frame, array, record or list of records
        seen : positions in the fitted set, optional
            For a worker that holds a part of the fitted table. Without it every row is new, even
            one that was fitted.
        """
        check_is_fitted(self, "schema_")
        if seen is not None and hasattr(self, "rows_") and np.array_equal(seen, self.rows_.seen):
            return self.rows_
        table = self.read_new(X)
        at = np.full(len(table), -1) if seen is None else np.asarray(seen, dtype=np.int64)
        return self._encode(table, at)

    def read_new(self, X: Any) -> Table:
        """Read new rows as the fitted ones were read; a wrapper asks the measure inside it."""
        return as_table(X, self.schema_, who=type(self).__name__)

    def frozen(self) -> Self:
        """Return this fitted measure in a form that ``clone`` and ``fit`` leave as it is."""
        check_is_fitted(self, "schema_")
        kept = copy.copy(self)
        kept.frozen_ = True
        return kept

    def reweighted(self, weights: Mapping[str, float], who: str | None = None) -> Self:
        """Return a copy of this fitted measure under other column weights; the rows are shared.

        Only for measures whose traits say ``weighs_columns``; the others raise ``InvalidInput``
        with the reason.

        Parameters
        ----------
        weights : mapping of column to number of at least 0
            Each multiplies the fitted weight of its column; columns that are not named keep theirs.
        who : str, optional
            Whose name an error begins with.
        """
        name = type(self).__name__
        found, hint = self._why_fixed_weights()
        needed = "a measure that weighs columns"
        raise InvalidInput(who or f"{name}.reweighted", needed, f"{name}, {found}", hint)

    def _why_fixed_weights(self) -> tuple[str, str]:
        """Return why the weights cannot be changed after fitting, and what to do instead."""
        return "which has no column weights", Phrase(
            "Use ", Param("measure", "gower"), ", or another measure of mixed columns"
        )

    def __sklearn_clone__(self) -> Any:
        if getattr(self, "frozen_", False):
            return self
        return BaseEstimator.__sklearn_clone__(self)

    # -- matrices ----------------------------------------------------------------------------------

    def similarity(self, X: Any = None, Y: Any = None) -> np.ndarray:
        """Return how alike rows are, from 0 to 1, as an array of shape (rows of X, rows of Y).

        Parameters
        ----------
        X, Y : new rows, optional
            None: the fitted rows.
        """
        return self._matrix(X, Y, "similarity")

    def distance(self, X: Any = None, Y: Any = None) -> np.ndarray:
        """Return how far rows are apart, as an array of shape (rows of X, rows of Y).

        Parameters
        ----------
        X, Y : new rows, optional
            None: the fitted rows.
        """
        return self._matrix(X, Y, "distance")

    def _matrix(self, X: Any, Y: Any, to: str) -> np.ndarray:
        check_is_fitted(self, "rows_")
        if X is None or Y is None:
            self._check_holds_rows(to)
        a = self.rows_ if X is None else self.encode(X)
        b = self.rows_ if Y is None else (a if Y is X else self.encode(Y))
        hint = Phrase(
            "Ask for neighbors", InPython(" by kneighbors"), ", which never builds the matrix"
        )
        check_pairs(f"{type(self).__name__}.{to}", len(a), len(b), hint)
        return square(self, a, to) if a is b else self._rectangle(a, b, to)

    def _rectangle(self, a: Rows, b: Rows, to: str) -> np.ndarray:
        """Return the values of all rows of a against all rows of b."""
        return rectangle(self, a, b, to)

    def defined(self, values: np.ndarray, to: str) -> np.ndarray:
        """Return values without NaN: filled on request, else an error that names the rows."""
        return settle_undefined(self, values, to)

    def distance_at(self, similarity: float) -> float:
        """Return the distance of two rows of a given similarity."""
        if self.traits.conversion == "ratio":  # s = c / (c + d)
            return float(self.scale_ * (1 - similarity) / similarity) if similarity else np.inf
        gap = 1.0 - similarity
        return float(np.sqrt(gap)) if self.traits.conversion == "sqrt" else gap

    def block(self, a: Rows, b: Rows, to: str = "distance", same: bool = False) -> np.ndarray:
        """Return a block of similarities or distances; the only converter between the two.

        Parameters
        ----------
        a, b : Rows
        to : {"distance", "similarity"}
        same : bool
            Whether a and b are the same rows in the same order, so that entry (i, i) is a row
            with itself even if it was not fitted.
        """
        values = self.compare(a, b)
        traits = self.traits
        if traits.exact_self:
            exact = float(traits.native == "similarity")
            values[self_pairs(a, b)] = exact
            if same:
                np.fill_diagonal(values, exact)
        return values if to == traits.native else self.convert(values)

    def to_distance(self, values: np.ndarray) -> np.ndarray:
        """Turn similarities into distances (or, where both are 1 minus the other, back) in place.

        Parameters
        ----------
        values : float64 array, overwritten
        """
        np.subtract(1.0, values, out=values)
        np.maximum(values, 0.0, out=values)  # round-off; keeps NaN
        return np.sqrt(values, out=values) if self.traits.conversion == "sqrt" else values

    def scan(self, a: Rows) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (positions, distances) of a to the fitted rows in chunks; a row itself is NaN."""
        for at in blocks(len(self.rows_), CHUNK):
            b = self.rows_[at]
            d = self.block(a, b)
            d[self_pairs(a, b)] = np.nan
            yield b.seen, d

    # -- neighbors ---------------------------------------------------------------------------------

    def kneighbors(self, X: Any = None, n_neighbors: int = 5, return_distance: bool = True) -> Any:
        """Return the nearest fitted rows, as scikit-learn does: (distances, indices).

        Parameters
        ----------
        X : new rows, optional
            None: the fitted rows; each is then left out of its own list, by its position.
        n_neighbors : int
            Never shrunk: more than there are rows is an error.
        return_distance : bool
            False: indices only.
        """
        graph = self._neighbors(X, n_neighbors, "n_neighbors")
        return (graph.distances, graph.indices) if return_distance else graph.indices

    def neighbors(self, X: Any = None, k: int = 5) -> NeighborGraph:
        """Return the k nearest fitted rows of each row as a NeighborGraph.

        Parameters
        ----------
        X : new rows, optional
            None: the fitted rows; each is then left out of its own list, by its position.
        k : int
        """
        return self._neighbors(X, k, "k")

    def _neighbors(self, X: Any, k: int, word: str) -> NeighborGraph:
        check_is_fitted(self, "rows_")
        self._check_holds_rows("kneighbors")
        a = self.rows_ if X is None else self.encode(X)
        most = len(self.rows_) - (X is None)
        check_k(k, most, type(self).__name__, X is None, word)
        exclude = np.arange(len(a)) if X is None else None
        graph = self.nearest(a, self.rows_, int(k), exclude=exclude)
        return graph.finish("last" if self.traits.undefined_last else "raise")

    def nearest(
        self, a: Rows, b: Rows, k: int, *, exclude: Ids = None, ids: Ids = None
    ) -> NeighborGraph:
        """Return unfinished lists of the k rows of b nearest to each row of a.

        A measure may override this with a faster road to the same answer.

        Parameters
        ----------
        a, b : Rows
        k : int
        exclude : int64 array of len(a), optional
            For each query the id that may not be in its list; -1: none.
        ids : int64 array of len(b), optional
            Names of the rows of b; 0, 1, ... by default.
        """
        exclude, ids, n_indexed = name_rows(a, b, exclude, ids)
        fill = fill_by_blocks(
            lambda rows, columns: self.order_block(a[rows], b[columns]), ids, exclude
        )
        return self._search(fill, a, b, k, exclude, n_indexed).shifted(self.order_shift)

    @property
    def order_shift(self) -> float:
        """What a distance has over the value that lists are sorted by."""
        return 0.0

    def order_block(self, a: Rows, b: Rows) -> np.ndarray:
        """Return what lists are sorted by, for every row of a and every row of b: distances.

        A measure whose distances are the sum of something and a large constant, which rounds
        differences away, sorts by what there is before the constant, ``order_shift``, is added.
        """
        return self.block(a, b)

    def _search(
        self,
        fill: Fill,
        a: Rows,
        b: Rows,
        k: int,
        exclude: np.ndarray,
        n_indexed: int,
        tallest: int = TALLEST,
    ) -> NeighborGraph:
        has_self = bool((exclude < 0).any())
        n_jobs = getattr(self, "n_jobs", None)
        found = search(fill, len(a), len(b), k, has_self=has_self, n_jobs=n_jobs, tallest=tallest)
        return replace(found, n_indexed=n_indexed)

    def pair_distances(self, a: Rows, b: Rows, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the distance of row left[i] of a to row right[i] of b, NaN if undefined.

        The same numbers as ``block``. Pairs with the same left row are best kept together.

        Parameters
        ----------
        a, b : Rows
        left, right : int64 arrays of one length
        """
        return pair_by_pair(self, a, b, left, right)

    # -- explanations ------------------------------------------------------------------------------

    def explain_rows(self, a: Rows, b: Rows) -> Explanation:
        """Explain one encoded row against another.

        Parameters
        ----------
        a, b : Rows of length one
        """
        return self.explain_many(a, b)[0]

    def explain(self, x: Any, y: Any) -> Explanation:
        """Say why two rows are alike, column by column.

        Parameters
        ----------
        x, y : int or one row
            A position in the fitted rows, a record (dict), or a table of one row.
        """
        check_is_fitted(self, "rows_")
        return self.explain_rows(self._one(x), self._one(y))

    def _one(self, row: Any) -> Rows:
        who = f"{type(self).__name__}.explain"
        if isinstance(row, int | np.integer) and not isinstance(row, bool):
            self._check_holds_rows("explain")
            if not 0 <= row < len(self.rows_):
                needed = f"a position from 0 to {len(self.rows_) - 1}"
                raise InvalidInput(who, needed, str(row), "Count the fitted rows from 0")
            return self.rows_[int(row) : int(row) + 1]
        rows = self.encode(row)
        if len(rows) != 1:
            hint = "Pass a position, a record, or a table of one row"
            raise InvalidInput(who, "one row on each side", f"{len(rows)} rows", hint)
        return rows

    # -- scikit-learn ------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        traits = self.traits
        tags.input_tags.allow_nan = traits.missing
        words = not traits.pairwise and (not traits.kinds or "category" in traits.kinds)
        tags.input_tags.categorical = words
        tags.input_tags.string = words
        tags.input_tags.pairwise = traits.pairwise
        tags.input_tags.positive_only = traits.pairwise
        return tags
