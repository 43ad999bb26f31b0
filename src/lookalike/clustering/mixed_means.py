"""K-means for mixed columns: as many rows as fit in memory, in time linear in their number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from lookalike._runtime.random_state import make_generator
from lookalike._runtime.threads import blocks, run
from lookalike.clustering import _clustering as shared
from lookalike.clustering._clustering import AUTO
from lookalike.clustering.scores import count
from lookalike.errors import Param, TooFewRows
from lookalike.kernels.mixed import assign_centers
from lookalike.measures.numeric import MatrixLayout, check_owners, plan_inputs, read_inputs
from lookalike.measures.task import TableTask
from lookalike.saving import fields
from lookalike.saving.encode import saveable
from lookalike.saving.fields import INT64, Dims, Fields, require
from lookalike.table import Table, as_table, read_table
from lookalike.table.model.names import remember_columns
from lookalike.table.model.targets import split_target

BLOCK_ROWS = 8192  # rows that one kernel call assigns; never derived from n_jobs
NOMINAL = ("category", "flag")  # kinds whose levels have no order
MixedRows = tuple[np.ndarray, np.ndarray]


@saveable
@dataclass(frozen=True, eq=False)
class Centers:
    """The centers of k clusters.

    Parameters
    ----------
    means : float64 (k, p), of the scaled numbers
    shares : float64 (k, levels), of all levels of all columns, side by side
    inertia : float, the sum of squared distances when they were made
    rounds : int, until they came to rest
    """

    FIELDS: ClassVar[Fields] = {
        "means": fields.Array("float64", "k", "numbers", finite=True),
        "shares": fields.Array("float64", "k", "levels", finite=True),
        "inertia": fields.Real(0.0, finite=True),
        "rounds": fields.Integer(0),
    }

    means: np.ndarray
    shares: np.ndarray
    inertia: float
    rounds: int

    def __len__(self) -> int:
        return len(self.means)


@saveable
@dataclass(frozen=True, eq=False)
class MixedSpace:
    """How columns were scaled.

    Parameters
    ----------
    inputs : MatrixLayout, the columns
    levels : bool per input, True where its cells are levels
    offset, spread : float64 of p, of the numbers; a spread of 0 says the column is constant
    starts : int64 of c + 1, where the levels of each column begin
    shares : float64, of all levels among the fitted rows
    weight : float, of a column of levels
    """

    FIELDS: ClassVar[Fields] = {
        "inputs": fields.Saved("MatrixLayout"),
        "levels": fields.Array("bool", "inputs"),
        "offset": fields.Array("float64", "numbers", finite=True),
        "spread": fields.Array("float64", "numbers", low=0.0, finite=True),
        "starts": fields.Array("int64", "starts", low=0, ascending=True),
        "shares": fields.Array("float64", "levels", low=0.0, finite=True),
        "weight": fields.Real(0.0, finite=True),
    }

    inputs: MatrixLayout
    levels: np.ndarray
    offset: np.ndarray
    spread: np.ndarray
    starts: np.ndarray
    shares: np.ndarray
    weight: float

    def encode(self, table: Table) -> MixedRows:
        """Return scaled numbers (NaN where missing) and codes (-1 where missing) of rows."""
        matrix = read_inputs(table, self.inputs).astype(np.float64, copy=False)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            numbers = (matrix[:, ~self.levels] - self.offset) / self.spread
        numbers[:, self.spread == 0] = np.nan  # 0 / 0: a constant column counts for no center
        cells = matrix[:, self.levels]
        codes = np.where(np.isnan(cells), -1, cells).astype(np.int64)
        return np.ascontiguousarray(numbers), np.ascontiguousarray(codes)

    def assign(
        self, centers: Centers, rows: MixedRows, n_jobs: int | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return nearest centers, their squared distances, and those of the next ones."""
        numbers, codes = rows
        n = len(numbers)
        labels, near, other = np.empty(n, np.int64), np.empty(n), np.empty(n)
        # A row with level a is (1 - 2 q_a) / p_a + sum of q^2 / p from a center with shares q: the
        # first depends on the level, the second only on center and column.
        known = self.shares > 0
        scale = np.divide(self.weight, self.shares, out=np.zeros_like(self.shares), where=known)
        by_level = (1.0 - 2.0 * centers.shares) * scale
        squares = centers.shares**2 * scale
        by_column = np.zeros((len(centers), len(self.starts) - 1))
        for j, (a, b) in enumerate(pairwise(self.starts)):
            by_column[:, j] = squares[:, a:b].sum(axis=1)
        of_centers = self.starts, centers.means, by_level, by_column

        def assign_part(part: slice) -> None:
            out = labels[part], near[part], other[part]
            assign_centers(numbers[part], codes[part], *of_centers, *out)

        parts = [(part,) for part in blocks(n, BLOCK_ROWS)]
        run(assign_part, parts, n_jobs, "assigning rows to centers")
        return labels, near, other

    def settle(self, rows: MixedRows, k: int, most: int, rng: Any, n_jobs: int | None) -> Centers:
        """Return k centers from one start: seeds far apart (k-means++), then rounds of k-means."""
        centers, before = self._seeds(rows, k, rng, n_jobs), None
        for rounds in range(1, most + 1):
            labels, near, _ = self.assign(centers, rows, n_jobs)
            means, shares = self._means(rows, labels, centers)
            centers = Centers(means, shares, float(near.sum()), rounds)
            # Labels that do not change give the same centers again: k-means has converged.
            if before is not None and np.array_equal(before, labels):
                break
            before = labels
        return centers

    def silhouette(self, centers: Centers, rows: MixedRows, n_jobs: int | None) -> float:
        """Return the mean simplified silhouette: 0 for a row that two centers are equally near."""
        # Without a second center there is no distance to the next one.
        if len(centers) < 2:
            return -1.0
        _, near, other = self.assign(centers, rows, n_jobs)
        a, b = np.sqrt(near), np.sqrt(other)
        return float(np.divide(b - a, b, out=np.zeros_like(b), where=b > 0).mean())

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that the parts agree."""
        n, n_nominal = len(self.levels), int(self.levels.sum())
        sizes = len(self.inputs.owner), len(self.offset), len(self.starts)
        fits = sizes == (n, n - n_nominal, n_nominal + 1)
        # Kernels index shares by these offsets without checking them.
        fits = fits and self.starts[0] == 0 and self.starts[-1] == len(self.shares)
        require(bool(fits), "MixedSpace", "parts of one width", "others")

    def _seeds(self, rows: MixedRows, k: int, rng: Any, n_jobs: int | None) -> Centers:
        numbers, codes = rows
        n = len(numbers)
        chosen = [int(rng.integers(n))]
        near = np.full(n, np.inf)
        while len(chosen) < k:
            last = self._at(numbers[chosen[-1:]], codes[chosen[-1:]])
            # Only the newest center is compared: distances to the earlier ones are in near already.
            near = np.minimum(near, self.assign(last, rows, n_jobs)[1])
            total = np.cumsum(near)
            if total[-1] <= 0:  # no row differs from those chosen
                break
            # k-means++: a row is drawn with a probability proportional to its squared distance.
            drawn = int(np.searchsorted(total, rng.random() * total[-1], side="right"))
            chosen.append(min(drawn, n - 1))  # the product may round up to the total
        return self._at(numbers[chosen], codes[chosen])

    def _at(self, numbers: np.ndarray, codes: np.ndarray) -> Centers:
        """Return centers at some rows; a missing cell is the mean of all rows."""
        means = np.where(np.isnan(numbers), 0.0, numbers)
        shares = np.tile(self.shares, (len(numbers), 1))
        for j, (a, b) in enumerate(pairwise(self.starts)):
            known = np.flatnonzero(codes[:, j] >= 0)
            shares[known, a:b] = 0.0
            shares[known, a + codes[known, j]] = 1.0
        return Centers(means, shares, 0.0, 0)

    def _means(
        self, rows: MixedRows, labels: np.ndarray, old: Centers
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return means and shares of labelled rows; those without rows, or a cell, stay."""
        (numbers, codes), k = rows, len(old)
        means, shares = old.means.copy(), old.shares.copy()
        for j in range(numbers.shape[1]):
            known = ~np.isnan(numbers[:, j])
            sizes = np.bincount(labels[known], minlength=k)
            sums = np.bincount(labels[known], weights=numbers[known, j], minlength=k)
            means[:, j] = np.divide(sums, sizes, out=means[:, j], where=sizes > 0)
        for j, (a, b) in enumerate(pairwise(self.starts)):
            known = codes[:, j] >= 0
            counts = count(labels[known], codes[known, j], k, int(b - a))
            totals = counts.sum(axis=1, keepdims=True)
            shares[:, a:b] = np.divide(counts, totals, out=shares[:, a:b], where=totals > 0)
        return means, shares


def learn_space(table: Table, weight: float, who: str) -> MixedSpace:
    """Learn means, spreads and shares of levels from the rows that are clustered."""
    inputs = plan_inputs(table, who, categories=True)
    levels = np.array([table[name].kind.name in NOMINAL for name in inputs.owner], dtype=bool)
    matrix = read_inputs(table, inputs).astype(np.float64, copy=False)
    numbers, cells = matrix[:, ~levels], matrix[:, levels]
    # A spread of 0 marks a constant column, which encode turns into NaN.
    offset, spread = np.zeros((2, numbers.shape[1]))
    for j, column in enumerate(numbers.T):
        known = column[~np.isnan(column)]
        if len(known) and known.min() < known.max():
            # Scaled by the largest first, so that no square overflows.
            largest = float(np.abs(known).max())
            scaled = known / largest
            offset[j] = float(scaled.mean()) * largest
            spread[j] = float(scaled.std()) * largest
    shares = [np.zeros(0)]
    for column in cells.T:
        counts = np.bincount(column[~np.isnan(column)].astype(np.int64))
        # A level that no fitted row has gets share 0, and so weight 0 instead of a division by 0.
        shares.append(counts / max(1, counts.sum()))
    starts = np.cumsum([len(levels) for levels in shares])  # the first is empty
    flat = np.concatenate(shares)
    return MixedSpace(inputs, levels, offset, spread, starts, flat, weight**2)


@dataclass(eq=False, repr=False)
class MixedKMeans(ClusterMixin, TableTask):
    """Cluster rows around centers: k-means for numbers and categories.

    Numbers (and ordered levels) are brought to standard deviation 1, each level of a category
    becomes an indicator divided by the square root of its share, as factor analysis of mixed data
    has it [1]_; ``category_weight`` says how much categories count beside numbers. A center holds
    means and shares of levels. Missing cells count for no center, so a row is placed by what it
    has. No pair of rows is ever compared: time and memory grow with the number of rows.

    ``SimilarityClustering`` finds clusters of any shape, takes every kind of column and any
    measure. This one is for many rows, and for tables whose groups are set apart by their numbers
    more than by their categories.

    Parameters
    ----------
    n_clusters : int or "auto"
        "auto": the number from 2 to ``max_clusters`` with the highest mean of (b - a) / b, where a
        is the distance of a row to its own center and b that to the next one (the simplified
        silhouette [2]_); the smaller number on ties.
    category_weight : float
        What a column of categories counts, where a column of numbers counts 1.
    n_init : int
        Starts; the one with the smallest sum of squared distances is kept.
    max_iter : int
        The most rounds of one start.
    max_clusters : int
        The most clusters that "auto" tries.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    random_state : None, int, RandomState or Generator
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``. Answers do not depend on it.

    Attributes
    ----------
    labels_ : int64 array of n, numbered by first row
    n_clusters_ : int
        May be fewer than were asked for, with a warning.
    exemplars_ : int64 array of positions
        The row nearest to each center; never one without any cell.
    exemplar_distances_ : float64 array of n
        The distance of each row to the center of its cluster.
    inertia_ : float
        The sum of their squares.
    n_iter_ : int
    silhouettes_ : dict of number of clusters to mean simplified silhouette, with "auto" only
    exactness_ : str
        Which rows were looked at, in words.
    space_ : how columns were scaled
    centers_ : means and shares of levels
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns

    References
    ----------
    .. [1] J. Pagès (2004). Analyse factorielle de données mixtes. Revue de statistique appliquée
       52(4), 93-111.
    .. [2] E. R. Hruschka, L. N. de Castro, R. J. G. B. Campello (2004). Evolutionary algorithms
       for clustering gene-expression data. ICDM 2004, 403-406. doi:10.1109/ICDM.2004.10073

    Examples
    --------
    >>> from lookalike.clustering import MixedKMeans
    >>> pets = {
    ...     "weight": [4.0, 5.0, None, 30.0, 25.0, 28.0],
    ...     "sound": ["meow", "meow", "meow", "woof", "woof", "woof"],
    ... }
    >>> model = MixedKMeans(2, random_state=0).fit(pets)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> model.predict({"weight": [27.0, None], "sound": [None, "meow"]})
    array([1, 0])
    """

    FIELDS: ClassVar[Fields] = {
        "n_clusters": fields.Either(fields.Integer(1), fields.Choice(AUTO)),
        "category_weight": fields.Real(0.0, 1e6),
        "n_init": fields.Integer(1),
        "max_iter": fields.Integer(1, INT64),
        "max_clusters": fields.Integer(2, INT64),
        "schema_": fields.Saved("Schema"),
        "space_": fields.Saved("MixedSpace"),
        "centers_": fields.Saved("Centers"),
        "labels_": fields.Array("int64", "rows", low=0, below="clusters"),
        "exemplars_": fields.Array("int64", "clusters", low=0, below="rows"),
        "exemplar_distances_": fields.Array("float64", "rows", low=0.0, finite=True),
        "n_clusters_": fields.Integer(1, size="clusters"),
        "n_iter_": fields.Integer(0),
        "inertia_": fields.Real(0.0, finite=True),
        "silhouettes_": fields.Sometimes(
            fields.MapOf(fields.Integer(0), fields.Real(-1.0, 1.0, nan=True))
        ),
    }

    n_clusters: int | str = AUTO
    _: KW_ONLY
    category_weight: float = 0.5
    n_init: int = 10
    max_iter: int = 100
    max_clusters: int = 10
    kinds: Mapping[str, Any] | None = None
    random_state: Any = None
    n_jobs: int | None = None

    # -- fitting -----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows of a table.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
        y : array of n, or the name of a column, optional
            Never needed. A named column is taken out of the table.
        """
        self._check_params()
        table, _ = split_target(read_table(X, kinds=self.kinds), y, type(self).__name__)
        space = learn_space(table, float(self.category_weight), type(self).__name__)
        self._cluster(space, table)
        self.schema_, self.space_ = table.schema, space
        remember_columns(self, X, table)
        return self

    def _cluster(self, space: MixedSpace, table: Table) -> None:
        self.__dict__.pop("silhouettes_", None)  # of an earlier fit
        n, asked = len(table), self.n_clusters
        fewest = 1 if asked == AUTO else int(asked)
        if n < fewest:
            who = Param("n_clusters", asked, of=type(self).__name__)
            hint = ("Lower ", Param("n_clusters"), " or add rows")
            raise TooFewRows(who, f"at least {fewest} rows", Param("n_samples", n), hint)
        rows = space.encode(table)
        # A row without such a cell is equally near to all centers: it says nothing about them.
        tells = (~np.isnan(rows[0])).any(axis=1) | (rows[1] >= 0).any(axis=1)
        if not tells.any():  # all columns are constant: rows with any cell, else all
            tells = ~np.all([column.missing for column in table.columns], axis=0)
        telling = np.flatnonzero(tells if tells.any() else ~tells)
        some = rows if len(telling) == n else (rows[0][telling], rows[1][telling])
        best = self._search(space, some, fewest)
        self.centers_, self.labels_, near = self._number(space, best, some, rows)
        self.n_clusters_, self.n_iter_ = len(self.centers_), best.rounds
        self.inertia_, self.exemplar_distances_ = float(near.sum()), np.sqrt(near)
        self.exemplars_ = shared.densest_rows(self.labels_, telling, near)
        if asked not in (AUTO, self.n_clusters_):
            needed = f"rows of {asked} different kinds"
            shared.warn_other_number(self, needed, str(self.n_clusters_))

    def _search(self, space: MixedSpace, rows: MixedRows, fewest: int) -> Centers:
        """Return the best centers of the number that was asked for, or of all that "auto" tries."""
        rng = make_generator(self.random_state)

        def start(k: int) -> Centers:
            """Return the best centers of several starts; the first on ties."""
            starts = range(self.n_init if k > 1 else 1)
            found = (space.settle(rows, k, self.max_iter, rng, self.n_jobs) for _ in starts)
            return min(found, key=lambda centers: centers.inertia)

        if self.n_clusters != AUTO:
            return start(fewest)
        # With n clusters every row is its own center, and every silhouette 1.
        tried = range(2, min(self.max_clusters, len(rows[0]) - 1) + 1)
        best, self.silhouettes_ = shared.best_number(
            tried, start, lambda found: space.silhouette(found, rows, self.n_jobs)
        )
        # Without a number to try, the rows are one cluster.
        return best or start(fewest)

    def _number(
        self, space: MixedSpace, centers: Centers, some: MixedRows, rows: MixedRows
    ) -> tuple[Centers, np.ndarray, np.ndarray]:
        """Return centers numbered by their first row, and labels and squared distances of all.

        Centers that none of some rows is nearest to are dropped. Ties go to the lower number, so a
        new number may move rows between centers that are equally near; each round settles one
        number more, and in the end ``predict`` gives the same labels.
        """
        _, old = shared.number_by_first_row(space.assign(centers, some, self.n_jobs)[0])
        while True:
            centers = replace(centers, means=centers.means[old], shares=centers.shares[old])
            labels, near, _ = space.assign(centers, rows, self.n_jobs)
            _, old = shared.number_by_first_row(labels)
            if np.array_equal(old, np.arange(len(centers))):
                return centers, labels, near

    @property
    def exactness_(self) -> str:
        """Which rows were looked at, and how often the search was started."""
        check_is_fitted(self, "labels_")
        return f"on all {len(self.labels_):,} rows, the best of {self.n_init} starts"

    # -- new rows ----------------------------------------------------------------------------------

    def predict(self, X: Any) -> np.ndarray:
        """Return the cluster of new rows: that of the nearest center.

        Parameters
        ----------
        X : new rows
        """
        check_is_fitted(self, "centers_")
        rows = self.space_.encode(as_table(X, self.schema_, who=type(self).__name__))
        return self.space_.assign(self.centers_, rows, self.n_jobs)[0]

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that centers, labels and columns belong together."""
        who = type(self).__name__
        require(len(self.centers_) == dims["clusters"], f"{who}.centers_", "one per cluster")
        space, centers = self.space_, self.centers_
        check_owners(self.schema_, space.inputs.names, space.inputs.owner, "MixedSpace.inputs")
        sizes = len(space.offset), len(space.shares)
        found = centers.means.shape[1], centers.shares.shape[1]
        require(found == sizes, "Centers", f"{sizes} numbers and levels", str(found))
