"""Missing cells filled from the rows that are most alike, each column with weights of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lookalike._runtime.frames import is_frame, replace_cells
from lookalike._runtime.random_state import make_generator
from lookalike._runtime.text import plain
from lookalike._runtime.threads import run, single_blas
from lookalike.errors import InvalidInput, Param, suggest
from lookalike.evaluate.vote import list_weights, means, vote
from lookalike.measures.contract.rows import Rows
from lookalike.measures.mixed.gower import Gower
from lookalike.measures.mixed.plan import MixedPlan
from lookalike.measures.task import TableTask
from lookalike.saving import fields
from lookalike.table import Column, Table, as_table, read_table
from lookalike.table.model.names import has_names
from lookalike.table.model.table import CODED

# Chosen with the powers on one half of public tables, confirmed on the other (studies/imputation).
TRIED_K = (3, 5, 10, 20, 40)
# Of the relevance of a column, as its weight: 0 is equal weights.
POWERS = (0, 1, 4)
DEFAULT_K = 10  # where nothing can be learned
MAX_LEARNED_ROWS = 1_000  # a sample of so many is compared with itself; its cost is quadratic
MAX_LEVELS = 20  # of a category, the commonest, whose shares a column should predict
# Two deviations of the kernel that predicts a column from another one, as a difference in [0, 1].
WIDTH = 0.1
# Share of the weight that all columns have alike: where the relevant ones are missing in a row, the
# others decide, and not the order of the rows.
SPREAD = 0.02
MAX_DRAWS = 100


@dataclass(frozen=True, eq=False)
class FilledColumn:
    """A column whose missing cells were filled, and the rows that each value came from.

    Parameters
    ----------
    column : Column, filled
    rows : int64 array, the positions of the n cells that were missing
    donors : int64 array of shape (n, k)
        Positions in the fitted rows, nearest first; -1 throughout where a row has no other cell
        to find donors by: such a cell has the mean or the most frequent value of the column.
    weights : float64 array of shape (n, k), the share of each donor; its sum is 1
    agreement : float64 array of n, from 0 to 1
        Of numbers 1 minus the standard deviation of the donors' values, as a share of that of the
        column; of other kinds the share of the donors that have the value.
    """

    column: Column
    rows: np.ndarray
    donors: np.ndarray
    weights: np.ndarray
    agreement: np.ndarray

    @property
    def cells(self) -> list[Any]:
        """The values that were filled in, in the order of ``rows``."""
        cells = [self.column.cell(row) for row in self.rows.tolist()]
        # As a list, which every frame can hold.
        lists = (frozenset, tuple, np.ndarray)
        return [plain(cell) if isinstance(cell, lists) else cell for cell in cells]


@dataclass(eq=False, repr=False)
class NeighborImputer(OneToOneFeatureMixin, TransformerMixin, TableTask):
    """Fill missing cells from the rows that are most alike (nearest-neighbor hot deck).

    Mixed tables go in and come out as they are, without one-hot columns. For each column the others
    are weighed by how well they predict it [1]_; weights and the number of donors are those that
    do best on known cells, each predicted from the other rows. ``impute`` says which rows each
    value came from, and ``draw`` fills cells several times, so that what is computed from them
    shows how uncertain they are.

    It fills cells from values that occur. Where columns depend on each other linearly, a regression
    such as scikit-learn's ``IterativeImputer`` may come nearer.

    Parameters
    ----------
    n_neighbors : int, optional
        Donors of a cell. None: for each column the best of 3, 5, 10, 20 and 40.
    weights : {"learned", "equal"}
        How much columns count when donors for a column are sought: learned for each, or alike.
    columns : names, optional
        Fill these only; the others still say which rows are alike. None: all.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    random_state : None, int, RandomState or Generator
        Which rows of a table of more than 1,000 are learned from, and the draws. None: the same
        every time.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    measure_ : the fitted measure: Gower by ranks, a missing cell counts as half alike
    table_ : Table, the donors
    weights_ : mapping of column to the weights of the others
    n_neighbors_ : mapping of column to number of donors
    errors_ : mapping of column to number
        Of known cells that were predicted from the other rows: the root mean squared error of
        numbers in standard deviations, the share of wrong levels; columns without such are left
        out.
    feature_names_in_, n_features_in_ : names and number of columns

    Notes
    -----
    Donors vote by a Gaussian kernel of their distance, two deviations wide at the last one. A
    number is the weighted mean of the donors' values, a date the weighted median, a category, flag
    or ordered level the one with most votes, anything else the cell of the nearest donor. Columns
    that are set aside (names, identifiers) and columns without any value stay as they are.

    References
    ----------
    .. [1] G. Tutz, S. Ramzan (2015). Improved methods for the imputation of missing data by nearest
       neighbor methods. Computational Statistics & Data Analysis 90, 84-99.
       doi:10.1016/j.csda.2015.04.009

    Examples
    --------
    >>> import pandas as pd
    >>> from lookalike.prediction import NeighborImputer
    >>> pets = pd.DataFrame(
    ...     {
    ...         "animal": ["cat", "dog", None, "dog", "cat", "cat"],
    ...         "weight": [4.0, 30.0, 5.0, None, 4.5, 5.5],
    ...     }
    ... )
    >>> NeighborImputer(n_neighbors=1).fit_transform(pets)
      animal  weight
    0    cat     4.0
    1    dog    30.0
    2    cat     5.0
    3    dog    30.0
    4    cat     4.5
    5    cat     5.5
    """

    FIELDS: ClassVar[fields.Fields] = {
        "n_neighbors": fields.Maybe(fields.Integer(1)),
        "weights": fields.Choice("learned", "equal"),
        "columns": fields.Maybe(
            fields.Either(
                fields.Text(), fields.ListOf(fields.Text()), fields.TupleOf(fields.Text())
            )
        ),
        "measure_": fields.Saved("Measure"),
        "table_": fields.Saved("Table"),
        "weights_": fields.MapOf(
            fields.Text(), fields.MapOf(fields.Text(), fields.Real(0.0, finite=True))
        ),
        "n_neighbors_": fields.MapOf(fields.Text(), fields.Integer(1)),
        "errors_": fields.MapOf(fields.Text(), fields.Real(0.0)),
    }

    n_neighbors: int | None = None
    _: KW_ONLY
    weights: str = "learned"
    columns: str | Sequence[str] | None = None
    kinds: Mapping[str, Any] | None = None
    random_state: Any = None
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep rows as donors, and learn what each column is predicted by.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
        y : ignored
        """
        self._check_params()
        self.table_ = table = read_table(X, kinds=self.kinds).compare_also(self._wanted())
        for name in self._wanted():
            if name not in table:
                hint, who = suggest(name, table.names), Param("columns", of=type(self).__name__)
                raise InvalidInput(who, "columns that are compared", repr(name), hint)
        self.measure_ = Gower(scale="rank", missing="midpoint", n_jobs=self.n_jobs).fit(table)
        names = [column.name for column in table.every]
        # In the order of a frame, where it has these columns.
        given = [str(name) for name in getattr(X, "column_names", getattr(X, "columns", ()))]
        names = given if set(given) == set(names) else names
        self.n_features_in_ = len(names)
        self.__dict__.pop("feature_names_in_", None)
        if has_names(X):
            self.feature_names_in_ = np.asarray(names, dtype=object)
        self._learn(make_generator(0 if self.random_state is None else self.random_state))
        return self

    def transform(self, X: Any) -> Any:
        """Return rows with their missing cells filled, in the form that they came in.

        Parameters
        ----------
        X : frame, array, Table, or anything else ``read_table`` takes
            A frame of pandas, polars or Arrow stays one, with its index, an array an array, a Table
            a Table; others become a frame of pandas.
        """
        return complete(X, self._read_new(X), self.impute(X))

    def draw(self, X: Any, n_draws: int = 5) -> list[Any]:
        """Fill the missing cells several times, each with the cell of one donor (hot deck).

        A donor is drawn with the probability of its share; cells differ between the draws as far
        as their donors do. Compute what you want to know on each draw: how much the results differ
        is what is not known for missing cells.

        Parameters
        ----------
        X : as for ``transform``
        n_draws : int

        Returns
        -------
        list of completed tables, in the form that they came in
        """
        filled, table = self.impute(X), self._read_new(X)
        return [complete(X, table, drawn) for drawn in self.vary(filled, n_draws)]

    def vary(self, filled: Sequence[FilledColumn], n_draws: int) -> list[list[FilledColumn]]:
        """Return what ``impute`` returned several times, with cells of donors drawn at random."""
        fields.Integer(1, MAX_DRAWS).check(f"{type(self).__name__}.draw", "n_draws", n_draws)
        random = make_generator(0 if self.random_state is None else self.random_state)
        return [[self._drawn(one, random) for one in filled] for _ in range(n_draws)]

    def _drawn(self, filled: FilledColumn, random: np.random.Generator) -> FilledColumn:
        known, values = self.table_[filled.column.name], filled.column.values.copy()
        upto = np.cumsum(filled.weights, axis=1)
        rank = (upto < random.random((len(upto), 1)) * upto[:, -1:]).sum(axis=1)
        donors = filled.donors[np.arange(len(rank)), rank]
        # Without donors any row with a cell.
        some = random.choice(np.flatnonzero(~known.blank), len(donors))
        values[filled.rows] = known.values[np.where(donors < 0, some, donors)]
        return replace(filled, column=replace(filled.column, values=values))

    def impute(self, X: Any) -> list[FilledColumn]:
        """Return what fills the missing cells of each column, and the rows it comes from.

        Parameters
        ----------
        X : as for ``transform``
        """
        table = self._read_new(X)
        lost = {column.name: column.blank for column in table}
        named = [n for n in self.weights_ if lost[n].any() and not self.table_[n].blank.all()]
        rows = self.measure_.encode(table) if named else self.measure_.rows_
        tasks = [(table, rows, name, np.flatnonzero(lost[name])) for name in named]
        return run(self._fill, tasks, self.n_jobs, "filling columns")

    def _read_new(self, X: Any) -> Table:
        check_is_fitted(self, "measure_")
        return as_table(X, self.measure_.schema_, who=type(self).__name__)

    def weighed(self, name: str) -> Gower:
        """Return the fitted measure under the weights that find donors for a column."""
        return self._under(self.weights_[name])

    def _under(self, weights: dict[str, float]) -> Gower:
        return self.measure_.reweighted(dict.fromkeys(self.table_.names, 0.0) | weights)

    def _fill(self, table: Table, rows: Rows, name: str, lost: np.ndarray) -> FilledColumn:
        column, seen = table[name], self.table_[name]
        known, among = np.flatnonzero(~seen.blank), self.measure_.rows_
        others = [other.missing[lost] for other in table if other.name in self.weights_[name]]
        alone = np.all(others, axis=0) if others else np.ones(len(lost), dtype=bool)
        donors, shares = np.full((len(lost), 1), -1), np.ones((len(lost), 1))
        if not alone.all():
            k = min(self.n_neighbors_[name], len(known))
            lists = self.weighed(name).nearest(rows[lost], among[known], k, ids=known)
            lists = lists.finish("last")
            donors, shares = lists.indices, share_votes(lists.distances)
        cells = combine(seen, donors, shares)
        agreement = _agreement(seen, cells, donors, shares, known)
        if alone.any():
            every = known[None], np.full((1, len(known)), 1.0 / len(known))
            cells[alone] = combine(seen, *every)
            agreement[alone] = _agreement(seen, cells[alone][:1], *every, known)
            donors = np.where(alone[:, None], -1, donors)
        values = column.values.copy()
        values[lost] = cells
        return FilledColumn(replace(column, values=values), lost, donors, shares, agreement)

    # -- learning ----------------------------------------------------------------------------------

    def _learn(self, random: np.random.Generator) -> None:
        """Choose weights and numbers of donors on known cells, each found from the other rows."""
        table, measure, n = self.table_, self.measure_, len(self.table_)
        at = np.arange(n)
        if n > MAX_LEARNED_ROWS:
            at = np.sort(random.choice(n, MAX_LEARNED_ROWS, replace=False))
        part, rows = table[at], measure.rows_[at]
        gains = dict(zip(table.names, np.ones((len(table.names),) * 2), strict=True))
        if self.weights == "learned":
            gains = relevance(measure.plan_, rows, part)
        # Of columns that are compared as one, none is compared when another one is filled.
        apart = {name: {*parts} for parts in table.joined.values() for name in parts}
        self.weights_, self.n_neighbors_, self.errors_ = {}, {}, {}
        names = self._wanted() or table.names
        tasks = [(rows, part[name], gains[name], apart) for name in names]
        found = run(self._choose, tasks, self.n_jobs, "weighing columns")
        for name, (weights, k, error) in zip(names, found, strict=True):
            self.weights_[name], self.n_neighbors_[name] = weights, k
            if error is not None:
                self.errors_[name] = error

    def _wanted(self) -> list[str]:
        return [self.columns] if isinstance(self.columns, str) else [*(self.columns or ())]

    def _choose(
        self, rows: Rows, column: Column, gains: np.ndarray, apart: Mapping[str, set[str]]
    ) -> tuple[dict[str, float], int, float | None]:
        """Return the weights and the k with the smallest error on the known cells of a column."""
        own = apart.get(column.name, {column.name})
        gain_of = {n: g for n, g in zip(self.table_.names, gains, strict=True) if n not in own}
        tried = self._tried_weights(gain_of)
        known = np.flatnonzero(~column.blank)
        asked = TRIED_K if self.n_neighbors is None else (self.n_neighbors,)
        ks = [k for k in asked if k < len(known)]
        if not ks or not gain_of or column.kind.name not in (*CODED, "number"):
            # Nothing to judge by: the relevance as it is, where there is one.
            return tried[min(1, len(tried) - 1)], self.n_neighbors or DEFAULT_K, None
        found = []
        for weights in tried:
            measure, cells, own_rows = self._under(weights), rows[known], np.arange(len(known))
            lists = measure.nearest(cells, cells, ks[-1], exclude=own_rows).finish("last")
            for k in ks:
                near = known[lists.indices[:, :k]]
                filled = combine(column, near, share_votes(lists.distances[:, :k]))
                found.append((_error(column.values[known], filled), weights, k))
        error, best, k = min(found, key=lambda one: one[0])  # the first of equal ones
        return best, k, error

    def _tried_weights(self, gain_of: Mapping[str, float]) -> list[dict[str, float]]:
        """Return weights by relevance, sharpened more and more; alike where none is known."""
        gain = np.array([*gain_of.values()])
        gain = gain / gain.max() if gain.any() else gain  # powers of small ones would be 0
        powers = POWERS if self.weights == "learned" and gain.any() else (0,)
        n = max(1, len(gain))
        # Of sum 1, a small share of which all columns have alike.
        shares = [(1 - SPREAD) * gain**k / (gain**k).sum() + SPREAD / n for k in powers]
        return [dict(zip(gain_of, share.tolist(), strict=True)) for share in shares]


def _error(true: np.ndarray, filled: np.ndarray) -> float:
    """Return the root mean squared error in standard deviations, or the share of wrong levels."""
    if true.dtype.kind != "f":
        return float((true != filled).mean())
    unit = float(np.abs(true).max()) or 1.0  # squares of large values would overflow
    spread = float((true / unit).std())
    wrong = float(np.sqrt(np.square((true - filled) / unit).mean()))
    return wrong / spread if spread > 0 else 0.0


# -- relevance -------------------------------------------------------------------------------------


def relevance(plan: MixedPlan, rows: Rows, table: Table) -> dict[str, np.ndarray]:
    """Return for each column how well each other one predicts it by itself.

    The share of the variance (of levels and items, of their indicators) that is explained by the
    mean of the rows near in one column, weighted by a Gaussian kernel, each row without itself
    (Nadaraya-Watson with one more row at the mean of all). At least 0.

    Parameters
    ----------
    plan : MixedPlan
    rows : the rows of the table, as the plan encodes them
    table : Table
    """
    goals = [_indicators(column) for column in table]
    ends = np.cumsum([0, *(goal.shape[1] for goal in goals)])
    parts = [slice(*pair) for pair in pairwise(ends.tolist())]
    stacked = np.hstack(goals)
    known = np.column_stack([~column.blank for column in table]).astype(np.float64)
    variance = np.array([max(float((goal**2).sum()), 1e-300) for goal in goals])
    found = {}
    with single_blas():  # more threads inside a product would add in another order
        for name, unit in zip(plan.names, np.eye(len(plan.names)), strict=True):
            against, compared = plan.sums(rows.arrays, rows.arrays, unit, False)
            near = np.where(compared > 0, np.exp(-2.0 * np.square(against / WIDTH)), 0.0)
            np.fill_diagonal(near, 0.0)
            near = near.astype(np.float32)
            guess, count = near @ stacked, near @ known
            lost = []
            for j, part in enumerate(parts):
                wrong = goals[j] - guess[:, part] / (1.0 + count[:, [j]])
                lost.append(float((known[:, [j]] * np.square(wrong)).sum()))
            found[name] = np.maximum(0.0, 1.0 - np.array(lost) / variance)
    each = np.array([found[plan.name_of(name)] for name in table.names])
    return {name: np.where(goals[j].any(), each[:, j], 0.0) for j, name in enumerate(table.names)}


def _indicators(column: Column) -> np.ndarray:
    """Return what of a column others should predict, with mean 0 and 0 where it is missing."""
    known, kind = ~column.blank, column.kind.name
    if kind == "number":
        values = np.asarray(column.values, dtype=np.float64)[:, None]
        values = values / (np.abs(values[known]).max(initial=0.0) or 1.0)
    elif kind in CODED:
        levels = np.argsort(-np.bincount(column.values[column.values >= 0]), kind="stable")
        values = (column.values[:, None] == levels[:MAX_LEVELS]).astype(np.float64)
    elif kind == "set":
        values = _item_indicators(column, known)
    else:  # nothing to be predicted that could be averaged
        return np.zeros((len(column), 0))
    values = values.reshape(len(column), -1)
    with np.errstate(invalid="ignore"):
        values = values - (values[known].mean(axis=0) if known.any() else 0.0)
    return np.where(known[:, None], values, 0.0)


def _item_indicators(column: Column, known: np.ndarray) -> np.ndarray:
    """Return whether each set has each of the most frequent items."""
    # Sorted, as the order of a set differs between processes and decides between equal counts.
    items = Counter(item for cell in column.values[known] for item in sorted(cell, key=repr))
    some = [item for item, _ in items.most_common(MAX_LEVELS)]
    return np.array([[item in (cell or ()) for item in some] for cell in column.values], float)


# -- donors into cells -----------------------------------------------------------------------------


def share_votes(distances: np.ndarray) -> np.ndarray:
    """Return what each donor of a list counts, of sum 1."""
    counts = list_weights(distances, "kernel", 1.0)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def combine(column: Column, donors: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return a value for each list of donors.

    Parameters
    ----------
    column : Column, which all donors have a cell in, except those of weight 0
    donors : int64 array of shape (n, k), nearest first
    weights : float64 array of that shape
    """
    cells, kind = column.values[donors], column.kind
    if kind.name in CODED:
        return vote(cells, weights, int(column.values.max()) + 1, "first")
    if kind.name != "number" or kind.period:  # the mean of 23 and 1 o'clock is not noon
        return np.asarray(cells[np.arange(len(cells)), weights.argmax(axis=1)])
    if not kind.source:
        return means(cells, weights).astype(cells.dtype)
    # A date between two dates may be one that cannot occur: the weighted median.
    order = np.argsort(cells, axis=1, kind="stable")
    upto = np.cumsum(np.take_along_axis(weights, order, axis=1), axis=1)
    middle = (upto < upto[:, -1:] / 2).sum(axis=1)[:, None]
    return np.take_along_axis(cells, np.take_along_axis(order, middle, axis=1), axis=1)[:, 0]


def _agreement(
    column: Column, filled: np.ndarray, donors: np.ndarray, weights: np.ndarray, known: np.ndarray
) -> np.ndarray:
    """Return how much donors agree with what was filled in, from 0 to 1."""
    cells, kind = column.values[donors], column.kind
    if kind.name == "number":
        spread = float(column.values[known].std())
        deviation = np.sqrt((weights * np.square(cells - filled[:, None])).sum(axis=1))
        return np.asarray(np.clip(1.0 - deviation / spread, 0.0, 1.0) if spread else deviation + 1)
    if cells.ndim == 2 and cells.dtype != object:
        return np.asarray((weights * (cells == filled[:, None])).sum(axis=1))
    same = [[np.array_equal(a, b) for a in some] for some, b in zip(cells, filled, strict=True)]
    return np.asarray((weights * np.array(same)).sum(axis=1))


# -- the form that came in -------------------------------------------------------------------------


def complete(given: Any, table: Table, filled: Iterable[FilledColumn]) -> Any:
    """Return a table with its cells filled, in the form that it was given.

    Parameters
    ----------
    given : frame, array, Table, or anything else ``read_table`` takes
    table : Table
        The same, read.
    filled : FilledColumn
    """
    columns = {one.column.name: one for one in filled}
    if isinstance(given, np.ndarray) and given.ndim == 2:
        array = given.copy()
        for name, one in columns.items():
            array[one.rows, table.names.index(name)] = one.cells
        return array
    if is_frame(given):
        for name, one in columns.items():
            if one.column.kind.reading:
                # Where text was read as numbers or sets, all of the column becomes that.
                columns[name] = replace(one, rows=np.arange(len(one.column)))
        return replace_cells(given, {name: (one.rows, one.cells) for name, one in columns.items()})
    kept = [columns[c.name].column if c.name in columns else c for c in table]
    read = Table(kept, table.aside, len(table), table.missing)
    return read if isinstance(given, Table) else read.to_frame()
