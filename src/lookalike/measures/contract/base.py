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
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from lookalike._runtime.config import count_jobs
from lookalike._runtime.estimator import Estimator, check_is_fitted
from lookalike._runtime.keywords import forgiving
from lookalike._runtime.threads import blocks
from lookalike.errors import InPython, InvalidInput, Param, Phrase
from lookalike.measures.contract import explanation, matrices
from lookalike.measures.contract.explanation import ColumnDifferences, Explanation
from lookalike.measures.contract.rows import Ids, Named, Rows, check_k, name_rows, self_pairs
from lookalike.neighbors.exact import MAX_QUERIES_PER_BLOCK, Fill, fill_by_blocks, search
from lookalike.neighbors.graph import NeighborGraph
from lookalike.neighbors.sketch import Sketch
from lookalike.saving import fields
from lookalike.saving.encode import SaveMixin
from lookalike.table import LazyTable, Table, as_table, read_table
from lookalike.table.model.names import remember_columns
from lookalike.table.model.targets import split_target


@dataclass(frozen=True)
class Traits:
    """Facts about a measure, stated once and read by search, docs, tests and the command line.

    Parameters
    ----------
    native : {"similarity", "distance"}
        What ``compare`` returns: a similarity in [0, 1] or a distance of at least 0.
    conversion : {"one_minus", "sqrt", "ratio"}
        How the other one is made: d = 1 - s, d = sqrt(1 - s), or ``s = scale_ / (scale_ + d)``.
    symmetric : bool
        Whether compare(a, b) equals compare(b, a).T, bit for bit.
    exact_self : bool
        Whether a row with itself is set to exactly 1 or 0.
    unseen_pairs : bool
        Whether two rows that were not fitted can be compared.
    missing : bool
        Whether missing values are accepted.
    kinds : tuple of str
        Kinds of column that are compared; others are left out with a warning. Empty: every kind.
    pairwise : bool
        Whether X is a matrix of distances.
    needs_all : bool
        Whether fitting looks at all pairs of rows.
    undefined_last : bool
        Whether neighbors at an undefined distance are put at the end of a list instead of being
        an error.
    weighs_columns : bool
        Whether a fitted measure takes other column weights without being fitted again
        (``reweighted``).
    """

    native: str = "similarity"
    conversion: str = "one_minus"
    symmetric: bool = True
    exact_self: bool = True
    unseen_pairs: bool = True
    missing: bool = False
    kinds: tuple[str, ...] = ()
    pairwise: bool = False
    needs_all: bool = False
    undefined_last: bool = False
    weighs_columns: bool = False


Codes = Mapping[tuple[str, ...], np.ndarray]  # saved arrays by keys of several words
MODES = ("connectivity", "distance")  # of a sparse matrix of neighbors, as in scikit-learn
MEASURES: dict[str, type[Measure]] = {}


class _LazyRows:
    """Rows of a table in files, encoded when they are sliced."""

    def __init__(self, measure: Measure, table: LazyTable) -> None:
        self._measure, self._table = measure, table

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, at: Any) -> Rows:
        rows = np.arange(len(self))[at] if isinstance(at, slice) else np.asarray(at)
        return self._measure._encode(self._table[rows], rows)


class Measure(SaveMixin, Estimator, ABC, abstract=True):
    """Base of all measures of likeness between rows.

    Subclassing registers the class under its name. See the contributing guide for what to write.
    """

    traits = Traits()
    FIELDS: ClassVar[fields.Fields] = {
        "kinds": fields.KINDS,
        "n_jobs": fields.N_JOBS,
        "schema_": fields.Saved("Schema"),
        "n_features_in_": fields.Integer(0, high=2**31),
        "feature_names_in_": fields.Sometimes(fields.Objects("features", fields.Text())),
        "rows_": fields.Saved("Rows"),
        "scale_": fields.Sometimes(fields.Real(0.0, nan=True)),
        "n_streamed_": fields.Sometimes(fields.Integer(1)),
        "frozen_": fields.Sometimes(fields.Flag()),
    }
    ROWS: ClassVar[fields.Fields | None] = None  # arrays of encoded rows, n of them

    rows_: Rows
    n_features_in_: int
    scale_: float
    frozen_: bool

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls.__name__.startswith("_"):  # bases such as _BoundedMeasure are not measures
            MEASURES[cls.__name__] = cls

    # -- what a measure writes ---------------------------------------------------------------------

    def _fit(self, table: Table, y: np.ndarray | None) -> Rows | None:
        """Learn from the table; return its encoded rows if they are a by-product, else None."""
        return None

    @abstractmethod
    def _encode(self, table: Table, seen: np.ndarray) -> Rows:
        """Return the rows of a table as packed arrays; ``seen`` has their fitted positions."""

    def _fit_parts(self, table: LazyTable) -> None:
        """Learn from a table in files, out of core; the result is that of ``_fit`` in memory."""
        raise self._cannot_stream("its fit, which looks at all rows together", "")

    def _cannot_stream(self, part: str, hint: str) -> InvalidInput:
        """Return the error of a measure that cannot be fitted to a table in files."""
        sample = InPython(
            ", or fit it in memory to a sample (table[::100]) and pass its frozen() form"
        )
        hint = hint or Phrase("Use Gower, Vector, Ranked or StochasticForest", sample)
        who, needed = f"{type(self).__name__}.fit", "a measure that can be fitted in parts"
        return InvalidInput(who, needed, f"{part}, needs all rows in memory", hint)

    def _fit_rows(self, rows: Any) -> None:
        """Learn what needs the encoded rows."""
        if self.traits.conversion == "ratio":
            self.scale_ = matrices.median_distance(self, rows)

    @abstractmethod
    def compare(self, a: Rows, b: Rows) -> np.ndarray:
        """Return native values of every row of a against every row of b; NaN is undefined."""

    def _explain(self, a: Rows, b: Rows) -> Explanation:
        """Explain one row against one; by default no column gets a share."""
        s, d = self._both_numbers(a, b)
        return Explanation(s, d, {None: s}, {None: 1 - s})

    def _both_numbers(self, a: Rows, b: Rows) -> tuple[float, float]:
        """Return the similarity and the distance of one row to one."""
        similarity, distance = (self.block(a, b, to)[0, 0] for to in ("similarity", "distance"))
        return float(similarity), float(distance)

    def column_differences(self, a: Rows, b: Rows) -> ColumnDifferences | None:
        """Return how much a row differs from each of some in every column, for the surprisal."""
        return None

    @classmethod
    def examples(cls) -> list[Measure]:
        """Return small instances for the contract tests, one for each option that matters."""
        return [cls()]

    def read(self, X: Any) -> Any:
        """Read data to be fitted as a typed table; a wrapper asks the measure inside it."""
        kinds, lazy = getattr(self, "kinds", None), isinstance(X, LazyTable)
        table = X.with_kinds(kinds or {}) if lazy else read_table(X, kinds=kinds)
        # Columns that the caller gave a distance or a weight are compared, whatever they hold.
        options = (getattr(self, option, None) for option in ("distances", "weights"))
        named = [name for given in options if isinstance(given, Mapping) for name in given]
        return table.compare_also(named)

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
        if getattr(self, "frozen_", False):  # a task must not refit what the caller has fitted
            return self
        # Before any reading: a wrong option must not cost the time of parsing a large file.
        fields.check_params(self)
        count_jobs(getattr(self, "n_jobs", None))
        if isinstance(X, LazyTable):
            return self._fit_lazy(X, y)
        self.__dict__.pop("n_streamed_", None)  # of an earlier fit to a table in files
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
        table = Measure.read(self, table)
        self.schema_ = table.schema
        remember_columns(self, table.like, table.like)
        self._fit_parts(table)
        self.n_streamed_ = len(table)
        # The rows that a fit in memory would draw for the baseline of explanations.
        drawn, _, _ = explanation.draw_pairs(len(table), min(len(table), explanation.BASELINE_ROWS))
        self.rows_ = self._encode(table[drawn], drawn)
        self._fit_rows(_LazyRows(self, table))
        return self

    def check_holds_rows(self, who: str) -> None:
        """Refuse to answer from the sample of rows that is left after fitting in parts."""
        if hasattr(self, "n_streamed_"):
            build = InPython(" (lookalike.index.build_index)")
            hint = Phrase("Build an index in a folder", build, " and ask that")
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
        # The same object, so that its cache (byte codes, samples) is shared by wrappers.
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
        name, (reason, hint) = type(self).__name__, self._why_fixed_weights()
        needed, found = "a measure that weighs columns", f"{name}, {reason}"
        raise InvalidInput(who or f"{name}.reweighted", needed, found, hint)

    def balanced(self) -> Self:
        """Return a copy whose columns differ alike on the mean; itself if it has no columns."""
        return self

    def _why_fixed_weights(self) -> tuple[str, str]:
        """Return why the weights cannot be changed after fitting, and what to do instead."""
        other = ", or another measure of mixed columns"
        return "which has no column weights", Phrase("Use ", Param("measure", "gower"), other)

    def __sklearn_clone__(self) -> Any:
        if getattr(self, "frozen_", False):  # a clone of it would lose the fit that was asked for
            return self
        return super().__sklearn_clone__()

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
            self.check_holds_rows(to)
        a = self.rows_ if X is None else self.encode(X)
        b = self.rows_ if Y is None else (a if Y is X else self.encode(Y))
        way = InPython(" by kneighbors")
        hint = Phrase("Ask for neighbors", way, ", which never builds the matrix")
        matrices.check_pairs(f"{type(self).__name__}.{to}", len(a), len(b), hint)
        return matrices.rectangle(self, a, b, to)

    def defined(self, values: np.ndarray, to: str) -> np.ndarray:
        """Return values without NaN: filled on request, else an error that names the rows."""
        return matrices.settle(self, values, to)

    def distance_at(self, similarity: float) -> float:
        """Return the distance of two rows of a given similarity."""
        if self.traits.conversion == "ratio":  # s = c / (c + d)
            return float(self.scale_ * (1 - similarity) / similarity) if similarity else np.inf
        rest = 1.0 - similarity
        return float(np.sqrt(rest)) if self.traits.conversion == "sqrt" else rest

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
            # Round-off, or the formula for missing cells, may give a row with itself less than 1.
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
        # In place: a block of a large table is made once and not copied.
        np.subtract(1.0, values, out=values)
        np.maximum(values, 0.0, out=values)  # round-off; keeps NaN
        return np.sqrt(values, out=values) if self.traits.conversion == "sqrt" else values

    def convert(self, values: np.ndarray) -> np.ndarray:
        """Turn similarities into distances, or distances into similarities; may overwrite them."""
        if self.traits.conversion == "ratio":
            return np.asarray(self.scale_ / (self.scale_ + values))
        return self.to_distance(values)

    def both_blocks(self, a: Rows, b: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and similarities of every row of a to every row of b, compared once."""
        values = self.block(a, b, self.traits.native)
        other = self.convert(values.copy())
        return (values, other) if self.traits.native == "distance" else (other, values)

    def similarity_at(self, distances: np.ndarray) -> np.ndarray | None:
        """Return the similarities of pairs at these distances; None: they have to be compared.

        The same bits as ``both_blocks`` gives.

        Parameters
        ----------
        distances : float64 array, as lists of neighbors hold them
        """
        if not np.isfinite(distances).all():
            return None
        if self.traits.native == "distance":
            return self.convert(distances.copy())
        # For s in [1/2, 1], 1 - s is exact (Sterbenz), so 1 - d is s again, bit for bit. Elsewhere
        # it is rounded, and a distance of 0 may have been clipped from a similarity above 1.
        invertible = (distances > 0.0) & (distances < 0.5)
        exact = self.traits.conversion == "one_minus" and invertible.all()
        return 1.0 - distances if exact else None

    def scan(self, a: Rows) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (positions, distances) of a to the fitted rows in chunks; a row itself is NaN."""
        # A fixed width: sums over the chunks then have the same order, hence the same bits, for any
        # number of threads and any memory limit (rule 7 of the contract, decision 3).
        for chunk in blocks(len(self.rows_), matrices.CHUNK):
            b = self.rows_[chunk]
            d = self.block(a, b)
            d[self_pairs(a, b)] = np.nan
            yield b.seen, d

    # -- neighbors ---------------------------------------------------------------------------------

    @forgiving
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

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int = 5, mode: str = "connectivity"
    ) -> Any:
        """Return the nearest fitted rows as a sparse matrix, as scikit-learn does.

        Parameters
        ----------
        X : new rows, optional
            None: the fitted rows; no row is then among its own neighbors.
        n_neighbors : int
        mode : {"connectivity", "distance"}
            Whether an entry is 1, or the distance. Rows with nothing to compare are left out.

        Returns
        -------
        CSR matrix of shape (rows of X, fitted rows)
            The entries of each row are sorted by distance; distances of 0 are stored.

        Examples
        --------
        >>> from lookalike.measures import Vector
        >>> Vector("cityblock").fit([[0.0], [1.0], [3.0]]).kneighbors_graph(
        ...     n_neighbors=1, mode="distance"
        ... ).toarray()
        array([[0., 1., 0.],
               [1., 0., 0.],
               [0., 2., 0.]])
        """
        fields.Choice(*MODES).check(f"{type(self).__name__}.kneighbors_graph", "mode", mode)
        return to_sparse(self.neighbors(X, n_neighbors), mode)

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
        self.check_holds_rows("kneighbors")
        a = self.rows_ if X is None else self.encode(X)
        check_k(k, len(self.rows_) - (X is None), type(self).__name__, X is None, word)
        # A row is left out of its own list by position, not by distance: duplicates stay neighbors.
        exclude = np.arange(len(a)) if X is None else None
        graph = self.nearest(a, self.rows_, int(k), exclude=exclude)
        return graph.finish("last" if self.traits.undefined_last else "raise")

    def nearest(
        self, a: Rows, b: Rows, k: int, *, exclude: Ids = None, ids: Ids = None
    ) -> NeighborGraph:
        """Return unfinished lists of the k rows of b nearest to each row of a.

        Parameters
        ----------
        a, b : Rows
        k : int
        exclude : int64 array of len(a), optional
            For each query the id that may not be in its list; -1: none.
        ids : int64 array of len(b), optional
            Names of the rows of b; 0, 1, ... by default.
        """
        return self.find_nearest(a, b, k, name_rows(a, b, exclude, ids))

    def find_nearest(self, a: Rows, b: Rows, k: int, named: Named) -> NeighborGraph:
        """Return unfinished lists; ``named`` is what ``name_rows`` returns for the two.

        A measure may override this with a faster search of the same answer.
        """
        barred, names, _ = named
        fill = fill_by_blocks(lambda i, j: self.order_block(a[i], b[j]), names, barred)
        return self._search(fill, a, b, k, named).shifted(self.order_shift)

    def nearest_among(
        self, a: Rows, b: Rows, k: int, allowed: np.ndarray, *, exclude: Ids = None, ids: Ids = None
    ) -> NeighborGraph:
        """Return unfinished lists of the nearest rows of b that are allowed.

        Parameters
        ----------
        a, b, k, exclude, ids : as for ``nearest``
        allowed : bool per row of b
        """
        positions = np.flatnonzero(allowed)
        names: Any = positions if ids is None else ids[positions]
        lists = self.nearest(a, b[positions], k, exclude=exclude, ids=names)
        return lists.within(name_rows(a, b, exclude, ids)[2])

    def steps_over(self, rows: Rows, k: int) -> bool:
        """Whether ``nearest_among`` skips rows by a mask, instead of copying the allowed ones."""
        return False

    def near_order(self, rows: Rows) -> np.ndarray | None:
        """Return positions of rows so that near ones follow each other; None: no such order."""
        return None

    @property
    def order_shift(self) -> float:
        """The constant by which distances exceed the values that lists are sorted by."""
        return 0.0

    def order_block(self, a: Rows, b: Rows) -> np.ndarray:
        """Return the values that lists are sorted by, for every row of a and every row of b.

        Distances, except for a measure that adds a large constant, ``order_shift``, which rounds
        differences away: it sorts by the values before the addition.
        """
        return self.block(a, b)

    def _search(
        self, fill: Fill, a: Rows, b: Rows, k: int, named: Named, tall: int = MAX_QUERIES_PER_BLOCK
    ) -> NeighborGraph:
        """Search by a fill; ``named`` is what ``name_rows`` returned for the two."""
        exclude, _, n_indexed = named
        has_self, n_jobs = bool((exclude < 0).any()), getattr(self, "n_jobs", None)
        lists = search(fill, len(a), len(b), k, has_self=has_self, n_jobs=n_jobs, tallest=tall)
        return replace(lists, n_indexed=n_indexed)

    def pair_distances(self, a: Rows, b: Rows, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the distance of row left[i] of a to row right[i] of b, NaN if undefined.

        The same numbers as ``block``. Pairs with the same left row are best kept together.

        Parameters
        ----------
        a, b : Rows
        left, right : int64 arrays of one length
        """
        return matrices.pair_by_pair(self, a, b, left, right)

    # -- derived data that an index stores with the rows -------------------------------------------

    def prepare(self, rows: Rows) -> None:
        """Make ahead of the first query the derived data that searching these rows needs."""

    def sketch(self, rows: Rows) -> Sketch | None:
        """Return how rows become sketches that a graph can link; None: this measure has none."""
        return None

    def codes_to_arrays(self, rows: Rows) -> Codes:
        """Return what ``prepare`` makes of rows as arrays, to be saved with them, if anything."""
        return {}

    def codes_from_arrays(self, rows: Rows, arrays: Codes) -> None:
        """Restore what ``prepare`` made of rows from saved arrays."""

    # -- explanations ------------------------------------------------------------------------------

    def explain_many(self, a: Rows, b: Rows) -> list[Explanation]:
        """Explain one encoded row against each of some, all together.

        Parameters
        ----------
        a : Rows of length one
        b : Rows
        """
        each = enumerate(self._explain_each(a, b))
        return [explanation.finish_explanation(self, plain, a, b[i : i + 1]) for i, plain in each]

    def _explain_each(self, a: Rows, b: Rows) -> list[Explanation]:
        return [self._explain(a, b[i : i + 1]) for i in range(len(b))]

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
            A position in the fitted rows, a record (a dictionary, a row of a pandas frame), or a
            table of one row.
        """
        check_is_fitted(self, "rows_")
        return self.explain_rows(self._single_row(x), self._single_row(y))

    def _single_row(self, row: Any) -> Rows:
        who = f"{type(self).__name__}.explain"
        if isinstance(row, int | np.integer) and not isinstance(row, bool):
            self.check_holds_rows("explain")
            n = len(self.rows_)
            if not 0 <= row < n:
                hint = "Count the fitted rows from 0"
                raise InvalidInput(who, f"a position from 0 to {n - 1}", str(row), hint)
            return self.rows_[int(row) : int(row) + 1]
        rows = self.encode(row)
        if len(rows) != 1:
            hint = "Pass a position, a record, or a table of one row"
            raise InvalidInput(who, "one row on each side", f"{len(rows)} rows", hint)
        return rows

    # -- loading -----------------------------------------------------------------------------------

    @property
    def n_fitted_rows(self) -> int:
        """How many rows it was fitted to, whether they are kept or not."""
        return int(getattr(self, "n_streamed_", 0) or len(self.rows_))

    def check_loaded(self, dims: fields.Dims) -> None:
        """Check after loading that what was learned fits together, and that the rows fit it."""
        who = type(self).__name__
        # A saved measure is untrusted input, and kernels do not check bounds: everything that they
        # index with is checked here and in ``check_rows``.
        names = dims.get("features", self.n_features_in_)
        # A matrix of distances may come as one named column, and has as many features as rows.
        fits = names == self.n_features_in_ or self.traits.pairwise
        fields.require(fits, who, f"{self.n_features_in_} names", str(names))
        if self.traits.conversion == "ratio":
            fields.require(hasattr(self, "scale_"), who, "the field scale_", "none")
        n = len(self.rows_)
        in_order = np.array_equal(self.rows_.seen, np.arange(n))
        if hasattr(self, "n_streamed_"):  # a sample, in the order of its draw
            in_order = n <= self.n_streamed_ and len(np.unique(self.rows_.seen)) == n
        fields.require(in_order and n, f"{who}.rows_", "fitted rows in their order", "others")
        self._check_parts(dims)
        self.check_rows(self.rows_, f"{who}.rows_")

    def _check_parts(self, dims: fields.Dims) -> None:
        """Check after loading that the learned parts fit together."""

    def rows_shape(self) -> tuple[fields.Fields | None, fields.Dims]:
        """Return what encoded rows look like, and the sizes that are known; None: not declared."""
        return self.ROWS, {}

    def _row_fields(self, rows: Rows) -> tuple[dict[str, fields.Field] | None, fields.Dims]:
        declared, dims = self.rows_shape()
        known = None if declared is None else {k: v for k, v in declared.items() if v is not None}
        return known, {**dims, "n": len(rows)}

    def inner_measures(self) -> dict[str, Any]:
        """Return the measures inside by the names of their rows in ``Rows.parts``."""
        return {}

    def check_row_forms(self, rows: Rows, where: str) -> None:
        """Refuse rows whose arrays are not of the types and sizes of this measure; none is read.

        Parameters
        ----------
        rows : Rows
        where : str
            Where they are, for the message.
        """
        shapes, dims = self._row_fields(rows)
        if shapes is None:
            return
        same = set(rows.arrays) == set(shapes)
        known = ", ".join(shapes) or "no arrays"
        fields.require(same, where, known[:80], ", ".join(rows.arrays)[:80])
        for name, shape in shapes.items():
            shape.form(rows.arrays[name], dims, f"{where}.{name}")
        inner = self.inner_measures()
        same = set(rows.parts) == set(inner)
        fields.require(same, where, "rows of the measures inside", "others")
        for name, measure in inner.items():
            measure.check_row_forms(rows.parts[name], f"{where}.{name}")

    def check_rows(self, rows: Rows, where: str) -> None:
        """Refuse loaded rows that this measure would not have encoded.

        Parameters
        ----------
        rows : Rows
        where : str
            Where they are, for the message.
        """
        self.check_row_forms(rows, where)
        shapes, dims = self._row_fields(rows)
        if shapes is None:
            return
        fields.check_fields(rows.arrays, shapes, where, dims)
        n = self.n_fitted_rows
        # Facts of fitted rows are looked up by ``seen`` in kernels, which do not check bounds.
        fits = rows.seen.max(initial=-1) < n
        fields.require(fits, f"{where}.seen", f"positions below {n}", "others")
        for name, measure in self.inner_measures().items():
            measure.check_rows(rows.parts[name], f"{where}.{name}")

    # -- scikit-learn ------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        traits = self.traits
        tags.input_tags.allow_nan = traits.missing
        categories = not traits.pairwise and (not traits.kinds or "category" in traits.kinds)
        tags.input_tags.categorical = tags.input_tags.string = categories
        tags.input_tags.pairwise = tags.input_tags.positive_only = traits.pairwise
        return tags


def to_sparse(graph: NeighborGraph, mode: str, include_self: bool = False) -> Any:
    """Return lists of neighbors as a CSR matrix without pairs that cannot be compared.

    Parameters
    ----------
    graph : NeighborGraph
    mode : {"connectivity", "distance"}
    include_self : bool
        Whether each row is first in its own list, at distance 0.
    """
    # ``to_csr`` drops entries of index -1; an infinite distance would break scikit-learn's readers.
    known = np.isfinite(graph.distances)
    indices = np.where(known, graph.indices, -1)
    lists = NeighborGraph(indices, graph.distances, graph.n_indexed, graph.has_self)
    matrix = lists.to_csr(include_self=include_self)
    if mode == "connectivity":
        matrix.data = np.ones_like(matrix.data)
    return matrix
