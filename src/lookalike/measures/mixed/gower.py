"""Gower's similarity of mixed columns with missing cells."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np

from lookalike._runtime.estimator import check_is_fitted
from lookalike._runtime.threads import blocks
from lookalike.columns import Distance
from lookalike.errors import InPython, InvalidInput, Param, suggest
from lookalike.kernels.mixed import all_compared
from lookalike.measures.contract.base import Codes, Measure, Traits
from lookalike.measures.contract.codes import _BoundedMeasure, boxes_of
from lookalike.measures.contract.explanation import Explanation, as_bits, draw_pairs
from lookalike.measures.contract.rows import Named, Rows, are_self_pairs
from lookalike.measures.mixed.codes import MixedCodes, mixed_codes
from lookalike.measures.mixed.plan import SCALES, SIMPLE, MixedPlan, Pairs, PlanOptions
from lookalike.neighbors.boxes import MIN_QUERIES, MIN_ROWS
from lookalike.neighbors.codes import BoundedQuery
from lookalike.neighbors.graph import NeighborGraph
from lookalike.saving import fields
from lookalike.saving.encode import saveable
from lookalike.saving.fields import Dims, Fields, require
from lookalike.table import Column, LazyTable, Table

LEARNED = ("relieff", "least_squares", "importance")
GAPS = {"midpoint": 0.5, "pessimistic": 1.0}  # the difference that a missing cell counts as
Side = dict[str | None, float]  # contributions of the columns for likeness, or against it
# Of the sample that reasons are compared with.
MAX_SAMPLE_ROWS = 512  # whose simple cells are stored, and pairs of them that are compared
MAX_BALANCED_ROWS = 200  # all pairs of them
MAX_SAMPLE_CELLS = 2**20  # 8 MB; of a table with very many columns fewer rows are stored
MAX_OBJECT_PAIRS = 64  # of columns with a distance of their own, which may take 0.1 s for one pair
MIN_DIFFERENCE = 0.1  # clusters are as good with .02 to .33, see decision 33


@saveable
@dataclass(frozen=True)
class PairBaseline:
    """A sample of the fitted rows, and how much pairs of them differ.

    Parameters
    ----------
    simple : float64 (sampled rows, simple columns), as the plan encodes them
    seen : int64 (sampled rows), their positions in the fitted table
    mean : float64 per column, the mean difference of two sampled rows; NaN without such a pair
    objects : float64 (pairs, columns with a distance of their own), differences of sampled pairs
    """

    FIELDS: ClassVar[Fields] = {
        "simple": fields.Array("float64", "sample", "simple"),
        "seen": fields.Array("int64", "sample", low=-1),
        "mean": fields.Array("float64", "columns"),
        "objects": fields.Array("float64", "pairs", "objects"),
    }

    simple: np.ndarray
    seen: np.ndarray
    mean: np.ndarray
    objects: np.ndarray

    @classmethod
    def fit(cls, plan: MixedPlan, rows: Any) -> PairBaseline:
        """Draw the sample, always the same one of the same rows, and compare pairs in it."""
        fits = max(MAX_OBJECT_PAIRS, MAX_SAMPLE_CELLS // max(plan.n_simple, 1))
        size = min(len(rows), MAX_SAMPLE_ROWS, fits)
        drawn, left, right = draw_pairs(len(rows), size)
        sample = rows[drawn]
        simple = sample.arrays[SIMPLE]
        differs = plan.simple_pairs(simple[left], simple[right])
        few = slice(0, MAX_OBJECT_PAIRS if plan.objects else 0)
        cells = sample.arrays
        objects = plan.differences(cells, cells, left[few], right[few])[:, plan.n_simple :]
        mean = np.concatenate([_mean(differs), _mean(objects)])
        return cls(simple, sample.seen, mean, objects)

    def mean_differences(self, plan: MixedPlan, missing: float) -> np.ndarray:
        """Return the mean difference of two rows in each column, by all pairs of some of them.

        Parameters
        ----------
        plan : MixedPlan
        missing : float
            The difference of a pair with a missing cell; NaN: it is left out.
        """
        n = plan.n_simple
        most = math.isqrt(2 * MAX_SAMPLE_CELLS // max(n, 1))
        some = self.simple[: max(2, min(most, MAX_BALANCED_ROWS))]
        left, right = np.triu_indices(len(some), 1)
        differs, gaps = plan.simple_pairs(some[left], some[right]), np.isnan(some)
        differs[gaps[left] | gaps[right]] = missing
        return np.nan_to_num(np.concatenate([_mean(differs), self.mean[n:]]), nan=1.0)

    def surprisal(
        self, plan: MixedPlan, a: Rows, b: Rows, differs: np.ndarray
    ) -> list[dict[str, tuple[float, float]]]:
        """Return the surprisal of the nearness and of the difference in each column, in bits.

        In the simple columns each of the two cells is compared with those of the sample, so that
        a rare level in common is more surprising than a frequent one. Columns with nothing to
        compare are left out.

        Parameters
        ----------
        plan : MixedPlan
        a : Rows of length one
        b : Rows
        differs : float64 (rows of b, columns), how much a differs from each of them
        """
        n, cells = plan.n_simple, b.arrays[SIMPLE]
        own = self._view(plan, a.arrays[SIMPLE])
        surprisal = as_bits(plan.names[n:], self.objects[None], differs[:, n:])
        for part in blocks(len(b), max(1, MAX_SAMPLE_CELLS // max(1, own.size))):
            # The two rows themselves are no random rows: they are left out of the sample.
            others = (self.seen != a.seen) | (self.seen < 0)
            others = others & ((self.seen != b.seen[part, None]) | (self.seen < 0))
            views = np.concatenate(
                [np.where(others[:, :, None], view, np.nan)
                 for view in (own, self._view(plan, cells[part]))], axis=1
            )  # fmt: skip
            bits = as_bits(plan.names[:n], views, differs[part, :n])
            surprisal[part] = [simple | surprisal[i] for i, simple in enumerate(bits, part.start)]
        return surprisal

    def _view(self, plan: MixedPlan, cells: np.ndarray) -> np.ndarray:
        """Return the differences (rows, sampled rows, columns) of simple cells to the sample."""
        n, size = len(cells), len(self.simple)
        left, right = np.repeat(cells, size, axis=0), np.tile(self.simple, (n, 1))
        return plan.simple_pairs(left, right).reshape(n, size, -1)


def _mean(differs: np.ndarray) -> np.ndarray:
    """Return the mean of each column over what could be compared."""
    count = (~np.isnan(differs)).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(differs, axis=0) / count)


@dataclass(eq=False, repr=False)
class Gower(PlanOptions, _BoundedMeasure):
    """Compare rows of mixed columns with missing cells, each column by its kind.

    Numbers count by their difference as a share of the fitted range, categories by being equal,
    ordered levels by how narrow a span holds both, flags by being present in both, texts, sets,
    sequences, series, histograms, vectors and graphs by their distance as a share of a fitted
    scale. The similarity is the weighted mean over the columns that can be compared [1]_. Ranges
    and frequencies come from the fitted rows alone, so a pair has one similarity whatever else is
    asked with it.

    A good first choice for any table. When only the order of numbers means something, see
    ``Ranked``; when columns depend on each other, see the forest measures.

    Parameters
    ----------
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    weights : None, mapping, sequence, "relieff", "least_squares" or "importance"
        Weight of each column (columns a mapping does not name have weight 1). A name learns the
        weights from the target: ``Gower(weights="relieff").fit(X, y)``.
    missing : {"ignore", "midpoint", "pessimistic"}
        A comparison with a missing cell is left out, or counts as half alike, or as not alike.
    distances : mapping of column to name, Distance, function of two cells or matrix, optional
        How cells differ, where it is not the default of their kind.
    ranges : mapping of column to number, optional
        Known ranges of number columns, instead of the fitted ones.
    scale : {"range", "robust", "rank"} or mapping of column to one of them
        What a difference of numbers is divided by, or what takes its place. ``range``: the range
        of the fitted column, as published [1]_. ``robust``: the range without the lowest and the
        highest twentieth of the values; larger differences count as 1. ``rank``: the share of the
        fitted values between the two, so that only order counts and no skewed column drowns in
        its range. Columns a mapping does not name have ``range``; ``ranges`` and ``distances`` go
        before it.
    order : {"information", "rank_range"}
        How ordered levels compare: by the information in the span between them, or by ranks.
    constant : {"keep", "drop"}
        Whether a constant number column takes part.
    alpha, beta : float
        A number's similarity is (1 - z**beta)**alpha with z the share of the range.
    undefined : float, optional
        Similarity of two rows with nothing to compare. None: matrices raise UndefinedMeasure. In
        neighbor lists such pairs always come last.
    conversion : {"one_minus", "sqrt"}
        Distance 1 - S, or sqrt(1 - S), which is Euclidean on data without missing cells.
    self_similarity : {"exact", "formula"}
        The similarity of a row with itself is 1, or the value of the formula, which is below 1
        with ``missing="midpoint"``.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    weights_ : mapping of column to weight
    plan_ : the fitted distances, ranges and level tables
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns

    Notes
    -----
    Without missing cells the matrix of similarities is positive semi-definite. They can break that:
    with ranges of 4, the rows (1, 2, 3, 1), (1, 3, 3, -) and (1, 3, 3, 5) have similarities 11/12,
    11/16 and 1, a matrix with determinant -121/2304. With ``missing="midpoint"`` it holds for
    numbers and two-valued categories, not for categories of five values or more.

    References
    ----------
    .. [1] J. C. Gower (1971). A general coefficient of similarity and some of its properties.
       Biometrics 27(4), 857-871. doi:10.2307/2528823

    Examples
    --------
    >>> from lookalike.measures import Gower
    >>> pets = {"weight": [4.0, 30.0, 5.0, None], "animal": ["cat", "dog", "cat", "dog"]}
    >>> measure = Gower().fit(pets)
    >>> measure.similarity().round(2)
    array([[1.  , 0.  , 0.98, 0.  ],
           [0.  , 1.  , 0.02, 1.  ],
           [0.98, 0.02, 1.  , 0.  ],
           [0.  , 1.  , 0.  , 1.  ]])
    >>> print(measure.explain(0, 2))
    similarity 0.981, distance 0.01923
      animal   +0.500  -0.000
      weight   +0.481  -0.019
    """

    FIELDS: ClassVar[Fields] = {
        "missing": fields.Choice("ignore", "midpoint", "pessimistic"),
        "order": fields.Choice("information", "rank_range"),
        "constant": fields.Choice("keep", "drop"),
        "conversion": fields.Choice("one_minus", "sqrt"),
        "self_similarity": fields.Choice("exact", "formula"),
        "alpha": fields.Real(1.0),
        "beta": fields.Real(0.0, 1.0, open_low=True),
        "undefined": fields.Maybe(fields.Real(0.0, 1.0)),
        "distances": fields.Maybe(
            fields.Instance(Mapping, named="a mapping of column to distance")
        ),
        "scale": fields.Either(
            fields.Choice(*SCALES), fields.Instance(Mapping, named="a mapping of column to scale")
        ),
        "ranges": fields.Maybe(fields.Instance(Mapping, named="a mapping of column to range")),
        "weights": fields.Anything(),
        "plan_": fields.Saved("MixedPlan"),
        "baseline_": fields.Saved("PairBaseline"),
        "weights_": fields.MapOf(fields.Text(), fields.Real(0.0, finite=True)),
    }

    kinds: Mapping[str, Any] | None = None
    weights: Any = None
    missing: str = "ignore"
    _: KW_ONLY
    undefined: float | None = None
    conversion: str = "one_minus"
    self_similarity: str = "exact"
    n_jobs: int | None = None

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """Facts about this measure."""
        exact = self.self_similarity == "exact"
        return _traits(
            conversion=self.conversion, exact_self=exact, missing=True, undefined_last=True,
            weighs_columns=True,
        )  # fmt: skip

    @classmethod
    def examples(cls) -> list[Measure]:
        """Return all treatments of gaps, and the options that change the formula."""
        return [
            cls(),
            cls(missing="midpoint"),
            cls(missing="pessimistic"),
            cls(scale="robust"),
            cls(scale="rank"),
            cls(order="rank_range", alpha=2.0, beta=0.5, conversion="sqrt"),
            cls(constant="drop", self_similarity="formula"),
        ]

    def _fit(self, table: Table, y: np.ndarray | None) -> None:
        self._fit_columns(table, lambda distance, column: distance.fit(column), y)

    def _fit_parts(self, table: LazyTable) -> None:
        if isinstance(self.weights, str):
            hint = "Give the weights as numbers, or fit in memory"
            raise self._cannot_stream(f"learned weights ({self.weights!r})", hint)
        self._fit_columns(table.like, lambda d, column: d.fit_in_parts(table, column.name), None)

    def _fit_columns(
        self, table: Table, learn: Callable[[Distance, Column], Distance], y: np.ndarray | None
    ) -> None:
        who = type(self).__name__
        self.plan_ = MixedPlan.fit(table, who, self, learn)
        if isinstance(self.weights, str):
            self.weights_ = self._learn_weights(table, y)
        else:
            self.weights_ = check_weights(self.weights, table.names, who)

    def _fit_rows(self, rows: Any) -> None:
        super()._fit_rows(rows)
        self.baseline_ = PairBaseline.fit(self.plan_, rows)

    def _learn_weights(self, table: Table, y: np.ndarray | None) -> dict[str, float]:
        from lookalike.measures.mixed.importance import importance_weights
        from lookalike.measures.mixed.weights import least_squares_weights, relieff_weights

        who = Param("weights", self.weights, of="Gower")
        fields.Choice(*LEARNED).check("Gower", "weights", self.weights)
        if y is None:
            pass_y = ("Pass ", Param("y"), InPython(" to fit"))
            raise InvalidInput(who, "a target to learn from", "none", pass_y)
        if self.weights == "importance":
            found = importance_weights(table, y, n_jobs=self.n_jobs)
        else:
            learn = relieff_weights if self.weights == "relieff" else least_squares_weights
            found = learn(table, y, plan=self.plan_, n_jobs=self.n_jobs)
        return dict(zip(table.names, map(float, found), strict=True))

    def reweighted(self, weights: Mapping[str, float], who: str | None = None) -> Self:
        """Return a copy of this fitted measure under other column weights; the rows are shared.

        The copy compares as ``Gower(weights=...)`` fitted to the same rows with the products of the
        fitted and the given weights does, to the last bit: nothing else depends on the weights.

        Parameters
        ----------
        weights : mapping of column to number of at least 0
            Each multiplies the fitted weight of its column; columns that are not named keep theirs.
        who : str, optional
            Whose name an error begins with.

        Examples
        --------
        >>> from lookalike.measures import Gower
        >>> pets = {"weight": [4.0, 30.0, 5.0], "animal": ["cat", "dog", "dog"]}
        >>> measure = Gower().fit(pets)
        >>> measure.reweighted({"animal": 3}).similarity().round(2)[2]
        array([0.24, 0.76, 1.  ])
        """
        check_is_fitted(self, "weights_")
        who = who or f"{type(self).__name__}.reweighted"
        factors = check_weights(weights, tuple(self.weights_), who)
        # Products may overflow or all be 0, though both factors are valid: they are checked again.
        products = {name: own * factors[name] for name, own in self.weights_.items()}
        copied = copy.copy(self)  # shares the rows with their codes, which do not depend on weights
        copied.weights = copied.weights_ = check_weights(products, tuple(products), who)
        return copied

    def balanced(self) -> Self:
        """Return a copy of this fitted measure in which columns differ alike on the mean.

        Each weight is divided by the mean difference of random pairs of fitted rows in its column,
        as principal components of columns of several units are those of columns of variance 1. A
        mean below 0.1 counts as 0.1, so that a column that is nearly constant stays one.

        Examples
        --------
        >>> from lookalike.measures import Gower
        >>> pets = {"weight": [4.0, 30.0, 5.0], "animal": ["cat", "dog", "dog"]}
        >>> Gower().fit(pets).balanced().weights_
        {'weight': 1.5, 'animal': 1.5}
        """
        check_is_fitted(self, "weights_")
        unlike = GAPS.get(self.missing, np.nan)
        each = self.baseline_.mean_differences(self.plan_, unlike)
        means = dict(zip(self.plan_.names, each.tolist(), strict=True))
        factors = {
            name: 1.0 / max(means[self.plan_.name_of(name)], MIN_DIFFERENCE)
            for name in self.weights_
            if self.plan_.name_of(name) in means
        }
        return self.reweighted(factors)

    def _encode(self, table: Table, seen: np.ndarray) -> Rows:
        return Rows(seen, self.plan_.encode(table))

    def _weights_in_order(self) -> np.ndarray:
        return self.plan_.weights_of(self.weights_)

    def compare(self, a: Rows, b: Rows, pairs: Pairs | None = None) -> np.ndarray:
        """Return similarities of every row of a to every row of b, NaN with nothing to compare.

        With ``pairs``, two arrays of positions in a and in b, of these pairs alone.
        """
        # Sums run in the order of the plan, whatever the block: the same bits (decision 3).
        sides = a.arrays, b.arrays, self._weights_in_order()
        against, compared = self.plan_.sums(*sides, self.missing != "ignore", pairs=pairs)
        if self.missing == "pessimistic":
            # What counts beyond the present cells is missing, and speaks against as a whole.
            against, present = self.plan_.sums(*sides, False, pairs=pairs)
            against = np.minimum(against + (compared - present), compared)
        with np.errstate(invalid="ignore"):
            against /= compared  # 0 / 0 (nothing to compare) is NaN
        return np.subtract(1.0, against, out=against)

    def _make_codes(self, rows: Rows) -> MixedCodes | None:
        return mixed_codes(self.plan_, rows.arrays)

    def _codes_from(self, arrays: Codes, rows: Rows) -> MixedCodes:
        return MixedCodes.from_arrays(self.plan_, rows.arrays, arrays)

    def _bound_queries(self, kept: MixedCodes, a: Rows) -> BoundedQuery:
        # Codes do not depend on weights, which enter here: other weights need no new codes.
        # Half of what a missing cell counts in pessimistic distances is a lower bound of it.
        queries = kept.queries(a.arrays, self._weights_in_order(), self.missing != "ignore")
        limit_of = np.square if self.conversion == "sqrt" else np.asarray  # bounds are of 1 - S
        return BoundedQuery(kept.codes, queries, limit_of)

    def find_nearest(self, a: Rows, b: Rows, k: int, named: Named) -> NeighborGraph:
        """Return unfinished lists of the nearest rows, by boxes or codes where these prune."""
        simple = self.missing != "pessimistic" and not (self.plan_.objects or self.plan_.has_curves)
        if not simple or len(a) < MIN_QUERIES or len(b) < MIN_ROWS:
            return super().find_nearest(a, b, k, named)
        x, y = (np.ascontiguousarray(rows.arrays[SIMPLE]) for rows in (a, b))
        plan = self.plan_.for_kernel(self._weights_in_order())
        boxes = boxes_of(b, x, y, k, plan)
        if boxes is None:
            return super().find_nearest(a, b, k, named)
        barred, names, n_indexed = named
        own = a.seen if self.traits.exact_self else np.full(len(a), -1)
        half = 0.5 * (self.missing == "midpoint")
        ways = self.conversion == "sqrt", half, bool(all_compared(x, y, self.plan_.ends, half > 0))
        seen = own, barred, names, b.seen
        lists, left_over = boxes.nearest(x, k, plan, ways, seen, n_indexed, self.n_jobs)
        if len(rest := np.flatnonzero(left_over)):
            found = super().find_nearest(a[rest], b, k, (barred[rest], names, n_indexed))
            lists.indices[rest], lists.distances[rest] = found.indices, found.distances
        return lists

    def pair_distances(self, a: Rows, b: Rows, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the distance of row left[i] of a to row right[i] of b, NaN if undefined."""
        similarity = self.compare(a, b, (left, right))
        if self.traits.exact_self:  # as ``block`` does: pairs must have the bits of the matrix
            similarity[are_self_pairs(a, b, left, right)] = 1.0
        return self.to_distance(similarity)

    def _explain(self, a: Rows, b: Rows) -> Explanation:
        return self._explain_each(a, b)[0]

    def _explain_each(self, a: Rows, b: Rows) -> list[Explanation]:
        plan, baseline, weights = self.plan_, self.baseline_, self._weights_in_order()
        names, order = plan.names, plan.names_of(self.schema_.kinds)
        first = np.zeros(len(b), np.int64)  # the only row of a
        found = plan.differences(a.arrays, b.arrays, first, np.arange(len(b)))
        gap = GAPS.get(self.missing)
        differs = found
        if gap is not None:
            # Cells that are there and not comparable, such as a flag absent in both, are no gap.
            missing = plan.missing(a.arrays) | plan.missing(b.arrays)
            differs = np.where(np.isnan(found) & missing, gap, found)
        gone = np.isnan(differs)
        counted = np.where(gone, 0.0, weights)
        whole = counted.sum(axis=1)
        places = [names.index(name) for name in order]
        plus, minus = (
            side[:, places] for side in _shares_of_whole(counted, np.nan_to_num(differs), whole)
        )
        # A column without any comparable random pair has no baseline: it counts as 0 on both sides.
        known = counted * ~np.isnan(baseline.mean)
        usual = np.stack(_shares_of_whole(known, np.nan_to_num(baseline.mean), whole), axis=2)
        surprisal = baseline.surprisal(plan, a, b, found)
        each = []
        pairs = zip(*(values[0].tolist() for values in self.both_blocks(a, b)), strict=True)
        for i, (distance, similarity) in enumerate(pairs):
            out = gone[i] & (weights > 0)
            not_compared = tuple(name for name, left in zip(names, out, strict=True) if left)
            if not whole[i] > 0 or np.isnan(similarity):  # nothing to compare
                # Half for and half against, where the measure does not say what it is worth.
                half = 0.5 if np.isnan(similarity) else similarity
                sides: tuple[Side, Side] = {None: half}, {None: 1 - half}
                each.append(Explanation(similarity, distance, *sides, not_compared=not_compared))
                continue
            pro: Side = dict(zip(order, plus[i].tolist(), strict=True))
            contra: Side = dict(zip(order, minus[i].tolist(), strict=True))
            more = similarity - sum(pro.values())
            if more > 1e-9:  # a row with itself has similarity 1, whatever its missing cells
                contra, pro[None] = dict.fromkeys(contra, 0.0), more
            random_pairs = dict(zip(names, map(tuple, usual[i].tolist()), strict=True))
            each.append(
                Explanation(
                    similarity, distance, pro, contra, baseline=random_pairs,
                    surprisal=surprisal[i], not_compared=not_compared,
                )
            )  # fmt: skip
        return each

    def _check_parts(self, dims: Dims) -> None:
        columns, joined = set(self.schema_.kinds), self.plan_.joined
        fits = columns.issuperset(part for parts in joined for part in parts)
        fits = fits and set(self.plan_.names_of(columns)) == set(self.plan_.names)
        require(fits, "Gower.plan_", "columns of the table", "others")
        require(columns <= set(self.weights_), "Gower.weights_", "a weight per column", "fewer")
        plan, base = self.plan_, self.baseline_
        widths = base.simple.shape[1], len(base.mean), base.objects.shape[1]
        needed = plan.n_simple, len(plan.names), len(plan.objects)
        require(widths == needed, "PairBaseline", f"{needed} columns", str(widths))
        plan.check_levels({SIMPLE: base.simple})

    def rows_shape(self) -> tuple[Fields, Dims]:
        """Return what encoded rows look like."""
        return self.plan_.rows_shape(), {}

    def check_rows(self, rows: Rows, where: str) -> None:
        """Refuse loaded rows that this measure would not have encoded."""
        super().check_rows(rows, where)
        self.plan_.check_cells(rows.arrays, where)


_traits = cache(Traits)  # read several times in every query


def _shares_of_whole(
    weights: np.ndarray, differs: np.ndarray, whole: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return what each column says for likeness and against it, of a total of 1."""
    with np.errstate(divide="ignore", invalid="ignore"):  # of pairs with nothing to compare
        return weights * (1 - differs) / whole[:, None], weights * differs / whole[:, None]


def check_weights(weights: Any, names: tuple[str, ...], who: str) -> dict[str, float]:
    """Return a weight for every column; refuse unknown columns and numbers that are not weights."""
    option = Param("weights", of=who)
    if weights is None:
        return dict.fromkeys(names, 1.0)
    if isinstance(weights, Mapping):
        for name in weights:
            if name not in names:
                hint = suggest(name, names)
                raise InvalidInput(option, "columns of the table", repr(name), hint)
        each = {name: weights.get(name, 1.0) for name in names}
    else:
        values = np.asarray(weights, dtype=object).ravel()
        if len(values) != len(names):
            needed = f"one weight for each of the {len(names)} columns"
            hint = "Pass a mapping of column to weight"
            raise InvalidInput(option, needed, f"{len(values)}", hint)
        each = dict(zip(names, values, strict=True))
    for name, value in each.items():
        # At most 1e300, so that sums of weights and of weighted differences stay finite.
        if not fields.Real(0.0, 1e300).fits(value):
            found, hint = f"{value!r} for column {name!r}", "Use 0 to leave a column out"
            raise InvalidInput(option, "weights of at least 0", found, hint)
    if not any(each.values()):
        wanted = "at least one column with a weight above 0"
        raise InvalidInput(who, wanted, "none", "Give a column some weight")
    return {name: float(value) for name, value in each.items()}
