"""Choice of prototypes: rows that represent the others."""

from __future__ import annotations

import heapq
import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice
from typing import Any

import numpy as np

from lookalike._runtime.random_state import make_generator
from lookalike._runtime.threads import blocks, run
from lookalike.errors import InPython, InvalidInput, Param, Phrase, TooFewRows
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.matrices import block_or_half, check_pairs, rectangle, square
from lookalike.measures.contract.rows import Rows
from lookalike.measures.medoids import farthest_first, k_medoids
from lookalike.measures.task import TaskSource, read_source
from lookalike.saving import fields
from lookalike.table.model.display import filled_rows
from lookalike.table.model.targets import read_target

MAX_ROWS = 2000  # rows that are compared all with all
N_SAMPLES = 5  # of a large table, as in CLARA (Kaufman and Rousseeuw 1990)
BLOCK_CELLS = 1 << 19  # entries of one block: 4 MB


@dataclass(eq=False, repr=False)
class PrototypeSelector:
    """Chooses prototypes among encoded rows; what all numbers of them share is computed once.

    Parameters
    ----------
    measure : Measure, fitted
    rows : Rows
    y : array of n, optional
        The target that "relieff" and "cfs" choose for.
    method : str
        See ``select_prototypes``.
    rng : Generator
    target_type : {"auto", "classes", "numbers"}
        What y holds.
    max_rows : int
    n_jobs : int, optional
    who : str
        Who is asking, for error messages.
    """

    measure: Measure
    rows: Rows
    y: np.ndarray | None
    method: str
    rng: np.random.Generator
    target_type: str = "auto"
    max_rows: int = MAX_ROWS
    n_jobs: int | None = None
    who: str = "select_prototypes"

    def __post_init__(self) -> None:
        self._order: list[int] = []
        self._farthest = farthest_first(self._compare, self.rows)

    def select(self, n: int) -> np.ndarray:
        """Return n positions, sorted; "cfs" settles the number itself."""
        if self.method == "cfs":
            return self._ranked
        if n >= len(self.rows):
            return np.arange(len(self.rows))
        if self.method in ("random", "relieff"):
            chosen = self._ranked[:n]
        elif self.method == "farthest":
            self._order += islice(self._farthest, max(0, n - len(self._order)))
            chosen = np.asarray(self._order[:n])
        elif len(self.rows) <= self.max_rows:
            chosen = k_medoids(self._distances, n)
        else:
            chosen = self._clara(n)
        return np.sort(np.asarray(chosen, dtype=np.int64))

    def _compare(self, a: Rows, b: Rows, to: str = "similarity") -> np.ndarray:
        return compare_with_prototypes(self.measure, a, b, self.n_jobs, to)

    def _square(self, rows: Rows, to: str) -> np.ndarray:
        return symmetric_square(self.measure, rows, to, self.n_jobs, self.who)

    # -- medoids -----------------------------------------------------------------------------------

    @cached_property
    def _distances(self) -> np.ndarray:
        return self._between(self.rows)

    def _between(self, rows: Rows) -> np.ndarray:
        """Return distances of these rows to each other, in data space or in similarity space."""
        if self.method == "medoids":
            return self._square(rows, "distance")
        # Rows are near where they are similar to the same rows.
        s = self._square(rows, "similarity")
        return cityblock(s, s, self.n_jobs)

    def _clara(self, n: int) -> np.ndarray:
        """Return the medoids of the sample whose medoids serve all rows best (CLARA)."""
        size = min(len(self.rows), max(self.max_rows // 2, 4 * n + 80))
        # Refused before five samples are compared.
        check_size(size, self.who)
        best, cost = np.empty(0, dtype=np.int64), np.inf
        for _ in range(N_SAMPLES):
            drawn = self.rng.choice(len(self.rows), size, replace=False)
            # Each sample contains the best medoids so far, as in CLARA: it can only improve them.
            sample = np.unique(np.concatenate([best, drawn[: size - len(best)]]))
            medoids = sample[k_medoids(self._between(self.rows[sample]), n)]
            total = self._cost(medoids, sample)
            if total < cost:
                best, cost = medoids, total
        return best

    def _cost(self, medoids: np.ndarray, sample: np.ndarray) -> float:
        """Return the sum over all rows of the distance to the nearest medoid."""
        if self.method == "medoids":
            near = self.rows[medoids]
            height = max(16, BLOCK_CELLS // max(1, len(near)))

            def cost_of(part: slice) -> float:
                d = block_or_half(self.measure, self.rows[part], near, "distance")
                return float(d.min(axis=1).sum())

            parts = [(part,) for part in blocks(len(self.rows), height)]
            return float(sum(run(cost_of, parts, self.n_jobs, "scoring prototypes")))
        # In similarity space a row is its similarities to the sample.
        columns = self.rows[sample]
        centers = self._compare(self.rows[medoids], columns)
        total = 0.0
        for part in blocks(len(self.rows), 1024):
            similarities = self._compare(self.rows[part], columns)
            total += float(cityblock(similarities, centers, self.n_jobs).min(axis=1).sum())
        return total

    # -- by the target, or at random ---------------------------------------------------------------

    @cached_property
    def _ranked(self) -> np.ndarray:
        """The rows in the order in which they are chosen; by "cfs" those that are."""
        from lookalike.measures.mixed.weights import relieff_weights

        n = len(self.rows)
        if self.method == "random":
            return self.rng.permutation(n)
        # Of a large table a sample is looked at; by "relieff" the others follow, at random.
        order = np.arange(n) if n <= self.max_rows else self.rng.permutation(n)
        sample = np.sort(order[: self.max_rows])
        # Each column a possible prototype.
        columns = self._square(self.rows[sample], "similarity")
        target = read_target(self.y, n, self.who, self.target_type)[0][sample]
        kind = "numbers" if target.dtype.kind == "f" else "classes"
        if self.method == "cfs":
            return sample[cfs(columns, target, target=kind)]
        # Not normalized: only their order is needed.
        weights = relieff_weights(columns, target, target=kind, normalize=False, n_jobs=self.n_jobs)
        best_first = sample[np.argsort(-weights, kind="stable")]
        return np.concatenate([best_first, order[self.max_rows :]])


def compare_with_prototypes(
    measure: Measure, rows: Rows, prototypes: Rows, n_jobs: int | None, to: str = "similarity"
) -> np.ndarray:
    """Return all rows against all prototypes; pairs with nothing to compare are half alike."""
    what = "comparing with prototypes"
    return rectangle(measure, rows, prototypes, to, undefined="half", n_jobs=n_jobs, what=what)


def symmetric_square(
    measure: Measure, rows: Rows, to: str, n_jobs: int | None, who: str
) -> np.ndarray:
    """Return all rows against each other; the mean of both directions where they differ."""
    check_size(len(rows), who)
    values = square(measure, rows, to, undefined="half", n_jobs=n_jobs)
    # k-medoids and eigenvalues need a symmetric matrix.
    return values if measure.traits.symmetric else (values + values.T) / 2


def check_size(n: int, who: str) -> None:
    """Refuse a square of n rows that would not fit under the memory limit."""
    methods = Param("method", "random"), " or ", Param("method", "farthest")
    check_pairs(who, n, n, Phrase("Choose fewer prototypes, or use ", *methods))


def cityblock(a: np.ndarray, b: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Return sums of absolute differences of every row of a to every row of b."""
    from lookalike.kernels.distances import CODES, distance_block

    out = np.empty((len(a), len(b)))

    def compare(part: slice) -> None:
        distance_block(a[part], b, CODES["cityblock"], out[part])

    run(compare, [(part,) for part in blocks(len(a), 128)], n_jobs, "comparing similarities")
    return out


METHODS = ("medoids", "medoids_similarity", "relieff", "cfs", "random", "farthest")
NEED_TARGET = ("relieff", "cfs")
NUMBER = fields.Either(fields.Integer(1), fields.Real(0.0, 1.0, open_low=True))


def select_prototypes(
    measure: Measure | None,
    X: Any,
    y: Any = None,
    method: str = "medoids",
    n: int | float = 0.05,
    *,
    target: str = "auto",
    kinds: Mapping[str, Any] | None = None,
    max_rows: int = MAX_ROWS,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Choose prototypes: rows that represent the others, under any measure.

    Parameters
    ----------
    measure : Measure or None
        How alike rows are; None: "auto" (``choose_measure``). A clone is fitted to X.
    X : table, frame, array, dict of columns or path
    y : array of n, or the name of a column, optional
        The target that "relieff" and "cfs" choose for; also handed to a measure that learns.
    method : str
        "medoids": the rows in the middle of k groups, by partitioning around medoids on the
        distances [1]_. "medoids_similarity": the same on rows of the similarity matrix, compared
        by their cityblock distance. "relieff": rows to which similarity tells the classes apart,
        each by itself [2]_. "cfs": such rows that do not repeat each other; it settles their
        number itself. "random": any rows. "farthest": each as far as can be from those before
        [3]_.
    n : int or float
        How many, or a share of the rows (at least 2).
    target : {"auto", "classes", "numbers"}
        What y holds for "relieff" and "cfs". "auto": texts, booleans and integers are
        classes, unless there are more than two and more than half as many as rows.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    max_rows : int
        Tables with more rows are sampled. Medoids are then those of the best of five samples of at
        least half as many rows, judged by all rows (CLARA [1]_); "relieff" and "cfs" look at one
        sample of this size. "random" and "farthest" never compare all rows with all.
    random_state : None, int, RandomState or Generator
        For "random", and for sampling.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Returns
    -------
    int64 array
        Positions of the prototypes, sorted.

    Notes
    -----
    Two rows with nothing to compare count as half alike.

    References
    ----------
    .. [1] L. Kaufman and P. J. Rousseeuw (1990). Finding Groups in Data. Wiley.
       doi:10.1002/9780470316801
    .. [2] M. Robnik-Sikonja and I. Kononenko (2003). Theoretical and empirical analysis of ReliefF
       and RReliefF. Machine Learning 53, 23-69. doi:10.1023/A:1025667309714
    .. [3] T. F. Gonzalez (1985). Clustering to minimize the maximum intercluster distance.
       Theoretical Computer Science 38, 293-306. doi:10.1016/0304-3975(85)90224-5

    Examples
    --------
    >>> from lookalike.measures import Vector
    >>> from lookalike.represent import select_prototypes
    >>> points = [[0.0], [1.0], [2.0], [10.0], [11.0], [30.0]]
    >>> select_prototypes(Vector("cityblock"), points, n=3)
    array([1, 3, 5])
    """
    who = "select_prototypes"
    check_method(method, y, who, "method")
    source, values = read_source(measure, X, y, who, kinds, n_jobs)
    many = count_prototypes(n, len(source), who)
    fitted, rows = source.fit(values)
    # Rows of mostly missing cells represent nothing, unless there are too few others.
    at = np.flatnonzero(filled_rows(source.table))
    at = at if len(at) >= many else np.arange(len(rows))
    some = rows if len(at) == len(rows) else rows[at]
    wanted = None if values is None else values[at]
    rng = make_generator(random_state)
    selector = PrototypeSelector(fitted, some, wanted, method, rng, target, max_rows, n_jobs, who)
    return np.asarray(at[selector.select(many)])


def check_method(method: Any, y: Any, who: str, name: str) -> None:
    """Refuse a method that is not there, or one that needs a target without one."""
    fields.Choice(*METHODS).check(who, name, method)
    if method in NEED_TARGET and y is None:
        required = InPython(" (it requires y to be passed, but the target y is None)")
        hint = "Pass ", Param("y"), ", or use ", Param(name, "medoids")
        raise InvalidInput(who, Phrase(f"a target for {method!r}", required), "none", hint)


def count_prototypes(n: Any, n_rows: int, who: str) -> int:
    """Return the number of prototypes for an integer or a share of the rows."""
    NUMBER.check(who, "n_prototypes", n, "Give for example 20 or 0.05")
    if not isinstance(n, numbers.Integral):
        return min(n_rows, max(2, round(float(n) * n_rows)))
    if int(n) > n_rows:
        hint = f"Ask for {n_rows} or fewer, or for a share such as 0.05"
        where, found = f"{who} ({n} prototypes)", Param("n_samples", n_rows)
        raise TooFewRows(where, f"at least {n} rows", found, hint)
    return int(n)


# -- cross-validation ------------------------------------------------------------------------------
# Cross-validation in which each fold fits its own measure and chooses its own prototypes.

# Takes the columns of training rows, their target, and the columns of other rows; returns
# predictions for these, one row of predictions per setting.
Learn = Callable[[np.ndarray, np.ndarray, np.ndarray], Sequence[np.ndarray]]


def shares_to_try(n_rows: int) -> list[int]:
    """Return 2, 3, ..., 10 percent of the rows: rounded half to even, at least 2, no repeats.

    Examples
    --------
    >>> shares_to_try(200)
    [4, 6, 8, 10, 12, 14, 16, 18, 20]
    >>> shares_to_try(50)
    [2, 3, 4, 5]
    """
    # Integers first: 0.07 * 50 is not exactly 3.5, which must become 4.
    sizes = {max(2, round(percent * n_rows / 100)) for percent in range(2, 11)}
    return sorted(n for n in sizes if n <= n_rows)


def cross_validate_prototypes(
    source: TaskSource,
    y: np.ndarray,
    target: np.ndarray,
    method: str,
    sizes: Sequence[int],
    learn: Learn,
    loss: Callable[[np.ndarray, np.ndarray], np.ndarray],
    folds: np.ndarray,
    rng: np.random.Generator,
    **options: Any,
) -> np.ndarray:
    """Return the mean loss on held-out rows, of shape (numbers of prototypes, settings).

    Parameters
    ----------
    source : TaskSource
    y : the target as measures and prototype methods see it
    target : the target that is learned
    method : how prototypes are chosen
    sizes : numbers of prototypes to try; more than a fold has rows means all of them
    learn : see above
    loss : what each prediction loses, given the true target
    folds : fold of each row
    rng : Generator
    options : passed to ``PrototypeSelector``
    """
    losses: list[list[np.ndarray]] = [[] for _ in sizes]
    for fold in range(int(folds.max()) + 1):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        measure, rows = source.fit(y, train)
        others = source.ask(measure, train, test)
        # One selector for all sizes: what they share is computed once per fold.
        selector = PrototypeSelector(measure, rows, y[train], method, rng, **options)
        for n, of_size in zip(sizes, losses, strict=True):
            # A fold has fewer rows than the table that sizes were chosen for.
            prototypes = rows[selector.select(min(n, len(rows)))]
            inside = compare_with_prototypes(measure, rows, prototypes, selector.n_jobs)
            outside = compare_with_prototypes(measure, others, prototypes, selector.n_jobs)
            predictions = learn(inside, target[train], outside)
            of_size.append(np.array([loss(found, target[test]) for found in predictions]))
    return np.array([np.concatenate(parts, axis=1).mean(axis=1) for parts in losses])


# -- correlation-based feature selection -----------------------------------------------------------

MAX_IDLE_EXPANSIONS = 5  # expansions in a row without a gain that end the search, as in the paper
MIN_GAIN = 1e-12


def cfs(X: Any, y: Any, *, target: str = "auto") -> np.ndarray:
    """Choose columns that correlate with the target and not with each other.

    Correlation-based feature selection [1]_: the merit of a set of columns is the sum of their
    correlations with the target over the square root of k + 2 (the sum of those between them), and
    a best-first search adds one column at a time until five steps in a row improve nothing.

    Use it where many columns repeat each other, such as similarities to all rows. A column that
    helps only together with another one is not seen.

    Parameters
    ----------
    X : array of shape (n, d)
        Numbers without missing values.
    y : array of n
        Classes or numbers.
    target : {"auto", "classes", "numbers"}
        What y holds. "auto": texts, booleans and integers are classes, unless there are
        more than two and more than half as many as rows.

    Returns
    -------
    int64 array
        Positions of the chosen columns, sorted; at least one.

    Notes
    -----
    Correlation is the absolute value of Pearson's, 0 for a constant column. With classes it is the
    mean over the classes, weighted by their share, of the correlation with being in the class.

    References
    ----------
    .. [1] M. A. Hall (2000). Correlation-based feature selection for discrete and numeric class
       machine learning. Proceedings of ICML, 359-366. doi:10.5555/645529.657793

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.represent import cfs
    >>> X = np.array([[0, 0, 1], [0, 0.1, 0], [1, 0.9, 1], [1, 1, 0]])
    >>> cfs(X, [0, 0, 1, 1])
    array([0])
    """
    x = np.asarray(X, dtype=np.float64)
    if x.ndim != 2 or x.shape[1] == 0 or not np.isfinite(x).all():
        found = f"shape {x.shape}" if x.ndim != 2 or x.shape[1] == 0 else "missing or infinite ones"
        raise InvalidInput("cfs", "rows and columns of numbers", found, "Fill missing values")
    if len(x) < 2:
        raise TooFewRows("cfs", "at least 2 rows", Param("n_samples", len(x)), "Add rows")
    return _best_first(x, read_target(y, len(x), "cfs", target)[0])


def _best_first(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    z, with_target = _standardized(x), correlations(x, y)

    @cache
    def between(column: int) -> np.ndarray:
        """Return the correlations of a column with all; most columns are never chosen."""
        return np.asarray(np.abs(z[:, column] @ z))

    best: tuple[float, tuple[int, ...]] = (-1.0, ())
    # Entries are (-merit, size, columns, sum with the target, sum between each other): the heap
    # then takes the smaller set, and the earlier columns, where merits are equal.
    todo: list[tuple[float, int, tuple[int, ...], float, float]] = [(0.0, 0, (), 0.0, 0.0)]
    seen: set[tuple[int, ...]] = set()
    idle = 0
    while todo and idle < MAX_IDLE_EXPANSIONS:
        _, size, columns, with_y, among = heapq.heappop(todo)
        shared = np.sum([between(f) for f in columns], axis=0) if columns else np.zeros(x.shape[1])
        # Equation 1 of Hall (2000) for all sets that have one column more, in one step.
        merits = (with_y + with_target) / np.sqrt(size + 1 + 2 * (among + shared))
        improved = False
        for g in range(x.shape[1]):
            grown = tuple(sorted((*columns, g)))
            if g in columns or grown in seen:
                continue
            seen.add(grown)
            # Twelve digits: equal merits summed in another order must stay equal.
            merit = round(float(merits[g]), 12)
            if merit > best[0] + MIN_GAIN:
                best, improved = (merit, grown), True
            entry = (-merit, size + 1, grown, with_y + with_target[g], among + shared[g])
            heapq.heappush(todo, entry)
        idle = 0 if improved else idle + 1
    return np.asarray(best[1], dtype=np.int64)


def correlations(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the correlation of each column with a target of classes (codes) or of numbers."""
    z = _standardized(x)
    if y.dtype.kind == "f":
        return np.asarray(np.abs(_standardized(y[:, None])[:, 0] @ z))
    total = np.zeros(x.shape[1])
    for c, count in enumerate(np.bincount(y)):
        inside = _standardized((y == c).astype(np.float64)[:, None])[:, 0]
        # Weighted by the size of the class, as in Hall: a rare class says less about the target.
        total += count / len(y) * np.abs(inside @ z)
    return total


def _standardized(x: np.ndarray) -> np.ndarray:
    """Return columns of mean 0 and length 1; constant ones become 0."""
    centered = x - x.mean(axis=0)
    length = np.sqrt((centered * centered).sum(axis=0))
    # Compared with the first row: the computed deviation of a constant column may be rounding
    # noise.
    flat = (x == x[:1]).all(axis=0) | (length == 0)
    return np.where(flat, 0.0, centered / np.where(flat, 1.0, length))
