"""Mutual proximity: the chance that both rows would find a random third one farther away."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.random_state import RANDOM_STATE, make_generator
from lookalike._runtime.threads import blocks, lock_of, run
from lookalike.errors import InPython, InvalidInput, LookalikeWarning, Param, Phrase
from lookalike.hubness.reducer import INNER, Facts, _Scaled
from lookalike.kernels import hubness as kernels
from lookalike.measures.contract.base import Measure, Traits
from lookalike.measures.contract.matrices import check_pairs, moments
from lookalike.measures.contract.rows import Rows
from lookalike.measures.vector import Vector
from lookalike.neighbors.graph import NeighborGraph
from lookalike.saving.fields import Array, Choice, Dims, Fields, Flag, Integer, Maybe, require

MODELS = ("empirical", "gauss", "gauss_independent", "gamma_independent")
ALL_TRIPLES = MODELS[:2]  # models that compare all triples of rows
AUTO = "auto"
ALL_PAIRS = 10_000  # rows up to which every distance enters the default reducer; chosen by hand
# Rows up to which "auto" counts: 8 MB of ranks, 4e9 triples, about a second.
MAX_ROWS_FOR_AUTO_COUNTS = 2_000
MAX_ROWS_WITHOUT_WARNING = 20_000  # above it comparing all triples takes many minutes
ROWS_PER_STRIP = 128  # whose distances to all fitted rows are in memory at a time


@dataclass(eq=False, repr=False)
class MutualProximity(_Scaled):
    """Compare two rows by how many others are farther away from both.

    The similarity of x and y is the probability that a random row is farther from x than y is,
    and farther from y than x is [1]_. Hubs are close to all rows, but few rows are close to hubs in
    return. The values are probabilities, so those of several measures can be added: see
    ``Combined``.

    Parameters
    ----------
    measure : Measure, or name of one
        Whose hubness is reduced; it is cloned and fitted.
    model : {"auto", "empirical", "gauss", "gauss_independent", "gamma_independent"}
        The model of the distances of a row. ``empirical`` counts rows, and like ``gauss`` (two
        normal variables with their correlation) it compares all triples of rows: memory grows with
        the square of their number, time with the cube. The independent models store a mean and a
        standard deviation of each row, stream through data of any size, and do as well in
        practice. ``auto`` is ``empirical`` up to 2,000 rows and ``gauss_independent`` above, or
        with a ``sample``; ``model_`` is the one in use.
    sample : int, optional
        For the independent models: estimate mean and spread from that many random rows instead of
        all; 30 were enough in [1]_.
    augment : bool
        Count a new row as part of the collection: it joins the divisor of the counts, and the
        means and spreads of its partners, so that values are those of a fit with that row. Only
        the correlations of ``gauss`` with ``self_distance="include"`` stay those of fitted rows.
    self_distance : {"exclude", "include"}
        Whether the distance 0 of a row to itself is among the distances it is judged by. Published
        formulas include it, the authors' programs do not. Counts do not depend on it.
    random_state : None, int, RandomState or Generator
        Which rows are sampled.
    n_candidates : int, optional
        Re-rank only that many nearest rows of the inner measure in neighbor search.
        None: exact, over all rows.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    measure_ : the fitted inner measure
    model_ : the model in use
    reference_ : positions of the sampled rows, or None

    Notes
    -----
    Counts are divided by the number of fitted rows n, comparisons are strict, and the largest value
    between two rows is (n - 2) / n. A row whose distances are all equal has a step for a
    distribution: 1 below, 1/2 at, 0 above. Mean and variance leave the row itself out and divide by
    the number of the others.

    References
    ----------
    .. [1] Schnitzer, Flexer, Schedl, Widmer (2012). Local and Global Scaling Reduce Hubs in Space.
       Journal of Machine Learning Research 13, 2871-2902.

    Examples
    --------
    >>> from lookalike.hubness import MutualProximity
    >>> from lookalike.measures import Vector
    >>> rows = [[0.0], [1.0], [3.0], [7.0]]
    >>> MutualProximity(Vector()).fit(rows).similarity()
    array([[1.  , 0.5 , 0.25, 0.  ],
           [0.5 , 1.  , 0.25, 0.  ],
           [0.25, 0.25, 1.  , 0.  ],
           [0.  , 0.  , 0.  , 1.  ]])
    >>> MutualProximity(Vector(), "gauss_independent").fit(rows).similarity().round(3)[0]
    array([1.   , 0.705, 0.303, 0.013])
    """

    FIELDS: ClassVar[Fields] = {
        "model": Choice(AUTO, *MODELS),
        "sample": Maybe(Integer(1)),
        "augment": Flag(),
        "self_distance": Choice("exclude", "include"),
        "random_state": RANDOM_STATE,
        "model_": Choice(*MODELS),
        "reference_": Maybe(Array("int64", "sample", low=0, ascending=True)),
    }

    measure: Measure
    model: str = AUTO
    _: KW_ONLY
    sample: int | None = None
    augment: bool = False
    self_distance: str = "exclude"
    n_candidates: int | None = None
    random_state: Any = None
    n_jobs: int | None = None

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """Traits: symmetric, even if the inner measure is not."""
        model = getattr(self, "model_", self.model) if self.model == AUTO else self.model
        return replace(super().traits, symmetric=True, needs_all=model in ALL_TRIPLES)

    @classmethod
    def examples(cls) -> list[Measure]:
        """Return every model, and a sample."""
        models: list[Measure] = [cls(Vector(), model) for model in MODELS]
        return [*models, cls(Vector(), "gauss_independent", sample=3, random_state=0)]

    # -- fitting -----------------------------------------------------------------------------------

    def _learn(self, n: int) -> None:
        few = n <= MAX_ROWS_FOR_AUTO_COUNTS and self.sample is None
        auto = "empirical" if few else "gauss_independent"
        self.model_ = auto if self.model == AUTO else self.model
        self.reference_: np.ndarray | None = None
        if self.model_ in ALL_TRIPLES:
            if self.sample is not None:
                asked = Param("model", self.model_, of="MutualProximity")
                rule = ("a model that can be fitted to ", Param("sample", self.sample))
                advice = ("Use ", Param("model", MODELS[2]), " or ", Param("model", MODELS[3]))
                raise InvalidInput(asked, rule, repr(self.model_), advice)
            self._check_cost(n)
            if self.model_ == "empirical":
                self._ranks, tied = self._count_ranks()
                # Comparisons are strict, so tied rows count for no pair.
                if n > 2 and tied > n * (n - 1) / 2:
                    who, needed = "MutualProximity.fit", "distances that differ"
                    share = tied / (n * (n - 1))
                    found = f"{share:.0%} tied within their row, so that all values are low"
                    hint = InPython("Ask k_occurrence for ties='expected'")
                    warnings.warn(LookalikeWarning(who, needed, found, hint), stacklevel=4)
        if self.sample is not None and self.sample < n - 1:
            rng = make_generator(self.random_state)
            self.reference_ = np.sort(rng.choice(n, self.sample, replace=False))

    def _check_cost(self, n: int) -> None:
        who, faster = f"MutualProximity ({self.model_})", Param("model", "gauss_independent")
        # Ranks of all pairs are stored; the joint model only ever holds two strips of distances.
        bytes_per_pair = np.dtype(rank_type(n)).itemsize if self.model_ == "empirical" else 0
        hint = Phrase("Use ", faster, ", or ", Param("sample", 30), " with it, which streams")
        check_pairs(who, n, n, hint, bytes_per_pair=bytes_per_pair, what="all pairs of rows")
        if n > MAX_ROWS_WITHOUT_WARNING:
            found = f"{n:,}, whose pairs make {n**3 / 2:.0e} triples"
            advice = ("Use ", faster, ", which gives much the same lists")
            warnings.warn(LookalikeWarning(who, "fewer rows", found, advice), stacklevel=5)

    def _count_ranks(self) -> tuple[np.ndarray, int]:
        """Return the competition rank of every distance within its row, and how many are tied."""
        rows, n = self.measure_.rows_, len(self.measure_.rows_)
        ranks = np.empty((n, n), dtype=rank_type(n))

        def rank_strip(part: slice) -> int:
            return competition_ranks(self._strip(rows[part]), ranks[part])

        parts = [(part,) for part in blocks(n, ROWS_PER_STRIP)]
        return ranks, sum(run(rank_strip, parts, self.n_jobs, "ranking distances"))

    def _rank_table(self) -> np.ndarray:
        # Ranks follow from the rows, and n**2 of them would dominate a saved file: they are
        # computed again after loading, once, whichever thread is first.
        with lock_of(self):
            if not hasattr(self, "_ranks"):
                self._ranks, _ = self._count_ranks()
        return self._ranks

    def _strip(self, inner: Rows) -> np.ndarray:
        """Return the distances of a few rows to all fitted rows, NaN to themselves."""
        out = np.empty((len(inner), len(self.measure_.rows_)))
        for seen, d in self.measure_.scan(inner):
            out[:, seen[0] : seen[-1] + 1] = d
        return out

    def _facts(self, inner: Rows) -> dict[str, np.ndarray]:
        if self.model_ == "empirical":
            return {}
        fitted = self.measure_.rows_
        reference = fitted if self.reference_ is None else fitted[self.reference_]
        include = self.self_distance == "include"
        count, mean, sd = moments(self.measure_, inner, reference, include, self.n_jobs)
        facts = {"mean": mean, "sd": sd}
        if self.augment:
            new = (inner.seen < 0).astype(np.float64)
            if include:  # a row that joins brings the distance 0 to itself, as fitted rows do
                mean, sd = grown(mean, sd, count, np.zeros(len(mean)), new)
                count = count + new
            facts = {"mean": mean, "sd": sd, "others": count, "new": new}
        return facts

    # -- comparing ---------------------------------------------------------------------------------

    def compare(self, a: Rows, b: Rows) -> np.ndarray:
        """Return probabilities for every row of a with every row of b."""
        if self.model_ == "empirical":
            return self._compare_counts(a, b)
        if self.model_ == "gauss":
            return self._compare_jointly(a, b)
        return super().compare(a, b)

    def _distances(self, a: Rows, b: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return the distances both ways; where one is undefined, the other is used for it."""
        d = self.measure_.block(a.parts[INNER], b.parts[INNER])
        if self.measure_.traits.symmetric:
            return d, d
        back = self.measure_.block(b.parts[INNER], a.parts[INNER]).T
        return np.where(np.isnan(d), back, d), np.where(np.isnan(back), d, back)

    def _scaled(self, d: np.ndarray, back: np.ndarray, a: Facts, b: Facts) -> np.ndarray:
        (mean, sd), (means, sds) = self._augmented(d, back, a, b)
        gauss = self.model_ == "gauss_independent"
        if gauss and not self.augment and back is d and (sd != 0).all() and (sds != 0).all():
            # One kernel instead of two passes, for the usual case; the same values to the last bit.
            kernels.gauss_block(d, a["mean"], 1 / a["sd"], means, 1 / sds)
            return d
        survival = gauss_survival if gauss else gamma_survival
        return survival(d, mean, sd) * survival(back, means, sds)

    def _augmented(
        self, d: np.ndarray, back: np.ndarray, a: Facts, b: Facts
    ) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """Return mean and spread of the rows and of the columns, each other counted if new."""
        mean, sd, means, sds = a["mean"][:, None], a["sd"][:, None], b["mean"], b["sd"]
        if not self.augment:
            return (mean, sd), (means, sds)
        grown_b = grown(means, sds, b["others"], back, a["new"][:, None])
        return grown(mean, sd, a["others"][:, None], d, b["new"]), grown_b

    def _candidates(self, a: Rows, b: Rows, near: NeighborGraph) -> np.ndarray:
        # Lists hold one distance of a pair; these need triples, or the distance back as well.
        if self.model_ in ALL_TRIPLES or not self.measure_.traits.symmetric:
            return super(_Scaled, self)._candidates(a, b, near)
        return super()._candidates(a, b, near)

    def _compare_counts(self, a: Rows, b: Rows) -> np.ndarray:
        n, out = len(self.measure_.rows_), np.empty((len(a), len(b)))
        new_a, new_b = a.seen < 0, b.seen < 0
        if not new_a.any() and not new_b.any():
            ranks = self._rank_table()
            kernels.mutual_counts(ranks, a.seen, b.seen, ranks.dtype.type(0), out)
            return out / n
        # Rows without ranks are counted from distances. Counts are integers, so both lead to the
        # same values for fitted rows. In strips of b: distances of all rows of b to all fitted
        # ones may not fit in memory.
        d, back = self._distances(a, b)
        from_a = self._strip(a.parts[INNER])
        for part in blocks(len(b), ROWS_PER_STRIP):
            from_b = self._strip(b.parts[INNER][part])
            some = np.empty((len(a), len(from_b)))
            there, home = (np.ascontiguousarray(v[:, part]) for v in (d, back))
            kernels.farther_counts(from_a, from_b, there, home, some)
            out[:, part] = some
        joined = new_a[:, None].astype(np.int64) + new_b if self.augment else 0
        return np.asarray(out / (n + joined))

    def _compare_jointly(self, a: Rows, b: Rows) -> np.ndarray:
        d, back = self._distances(a, b)
        deviations, known = self._deviations(a)
        rho = np.empty(d.shape)
        for part in blocks(len(b), ROWS_PER_STRIP):
            others, theirs = self._deviations(b[part])
            some = np.empty((len(a), len(others)))
            kernels.correlations(deviations, known, others, theirs, some)
            rho[:, part] = some
        columns = {name: fact[None] for name, fact in b.arrays.items()}
        (mean, sd), (means, sds) = self._augmented(d, back, a.arrays, columns)
        # P(A > d and B > back) for two normal variables with correlation rho.
        h = -(d - mean) / np.where(sd == 0, 1.0, sd)
        k = -(back - means) / np.where(sds == 0, 1.0, sds)
        joint = bivariate_normal(h, k, rho)
        flat = (sd == 0) | (sds == 0)
        if not flat.any():
            return joint
        return np.where(flat, gauss_survival(d, mean, sd) * gauss_survival(back, means, sds), joint)

    def _deviations(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        d = self._strip(rows.parts[INNER])
        if self.self_distance == "include":
            old = np.flatnonzero(rows.seen >= 0)
            d[old, rows.seen[old]] = 0.0
        d -= rows.arrays["mean"][:, None]
        # Pairs that are undefined for one of the two rows are left out of their correlation.
        known = np.isfinite(d)
        d[~known] = 0.0
        return d, known.astype(np.float64)

    def _factors(self, a: Rows, b: Rows, d: float) -> dict[str, float]:
        if self.model_ == "empirical":
            there, back = (float(v[0, 0]) for v in self._distances(a, b))
            n = len(self.measure_.rows_)
            f_x = int((self._strip(a.parts[INNER]) > there).sum()) / n
            f_y = int((self._strip(b.parts[INNER]) > back).sum()) / n
            return {"F_x": f_x, "F_y": f_y}
        survival = gamma_survival if self.model_ == "gamma_independent" else gauss_survival
        factors: dict[str, float] = {}
        for name, rows, value in zip("xy", (a, b), self._distances(a, b), strict=True):
            mean, sd = rows.arrays["mean"], rows.arrays["sd"]
            factors[f"F_{name}"] = float(survival(value, mean[:, None], sd[:, None])[0, 0])
            factors[f"mean_{name}"] = float(mean[0])
            factors[f"sd_{name}"] = float(sd[0])
        return factors

    # -- loading -----------------------------------------------------------------------------------

    def _check_parts(self, dims: Dims) -> None:
        super()._check_parts(dims)
        if self.reference_ is not None:
            fits = len(self.reference_) and self.reference_[-1] < len(self.rows_)
            require(fits, "MutualProximity.reference_", f"rows below {len(self.rows_)}", "others")

    def rows_shape(self) -> tuple[Fields, Dims]:
        """Return the form of encoded rows: mean and standard deviation, unless counted."""
        names = ["mean", "sd"] if self.model_ != "empirical" else []
        names += ["others", "new"] if names and self.augment else []
        return {name: Array("float64", "n") for name in names}, {}


def rank_type(n: int) -> type[np.signedinteger[Any]]:
    """Return the narrowest type for ranks and counts of n rows: the table has n**2 of them."""
    return np.int16 if n <= np.iinfo(np.int16).max else np.int32


def competition_ranks(d: np.ndarray, out: np.ndarray) -> int:
    """Write how many smaller distances each row has into out; return how many entries are tied.

    NaN gets rank -1, below every other; d is changed.
    """
    unknown, n = np.isnan(d), d.shape[1]
    d[unknown] = np.inf  # sorting is several times faster without NaN
    order = d.argsort(axis=1)
    d = np.take_along_axis(d, order, axis=1)
    ends = np.ones((len(d), n + 1), dtype=bool)  # of runs of equal distances
    ends[:, 1:-1] = d[:, 1:] != d[:, :-1]
    smaller = np.maximum.accumulate(np.where(ends[:, :-1], np.arange(n), 0), axis=1)
    np.put_along_axis(out, order, smaller, axis=1)
    out[unknown] = -1
    alone = ends[:, :-1] & ends[:, 1:]
    return int((~alone & np.isfinite(d)).sum())


def default_reducer(measure: Measure, n_rows: int) -> MutualProximity:
    """Return the reducer that surfaces offer: mutual proximity of independent Gaussians.

    Above ``ALL_PAIRS`` rows its moments come from a sample of 30, so that fitting stays linear.

    Parameters
    ----------
    measure : Measure, not fitted
    n_rows : int
    """
    options: dict[str, Any] = {} if n_rows <= ALL_PAIRS else {"sample": 30, "random_state": 0}
    return MutualProximity(measure, model="gauss_independent", **options)


# -- tail probabilities of the distances of a row --------------------------------------------------


def grown(
    mean: np.ndarray, sd: np.ndarray, count: np.ndarray, d: np.ndarray, new: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and standard deviation with the distance d added where the partner is new."""
    # Welford's update of the moments by one value.
    delta = np.where(new > 0, d - mean, 0.0)
    weight = np.where(new > 0, count, 1.0)
    variance = (sd * sd * weight + delta * delta * (weight / (weight + 1))) / (weight + 1)
    # Squaring a tiny sd and taking the root again would lose it to underflow.
    grown_sd = np.where(delta == 0, sd * np.sqrt(weight / (weight + 1)), np.sqrt(variance))
    return mean + delta / (weight + 1), np.where(new > 0, grown_sd, sd)


def step(d: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Return 1 below the mean, 1/2 at it, 0 above: the limit for a spread of 0."""
    return np.where(np.isnan(d), np.nan, np.where(d < mean, 1.0, np.where(d > mean, 0.0, 0.5)))


def gauss_survival(d: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """Return P(X > d) for a normal X."""
    z = (d - mean) * (1 / np.where(sd == 0, 1.0, sd))
    kernels.tails(z)
    return np.where(sd == 0, step(d, mean), z)


def gamma_survival(d: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """Return P(X > d) for a Gamma variable X of this mean and standard deviation."""
    from scipy.special import gammaincc

    flat = (sd == 0) | (mean == 0)
    safe_mean, safe_sd = np.where(flat, 1.0, mean), np.where(flat, 1.0, sd)
    relative = safe_mean / safe_sd
    # By moments: shape (mean / sd)**2, scale sd**2 / mean. Divided before it is squared, since
    # sd**2 may underflow.
    shape = relative * relative
    tail = gammaincc(shape, d / safe_mean * shape)
    return np.where(flat, step(d, mean), tail)


def bivariate_normal(h: np.ndarray, k: np.ndarray, rho: np.ndarray) -> np.ndarray:
    """Return P(X <= h and Y <= k) for standard normal X, Y with correlation rho.

    By Owen's T function: Owen (1956), Tables for Computing Bivariate Normal Probabilities,
    Annals of Mathematical Statistics 27. doi:10.1214/aoms/1177728074
    """
    from scipy.special import ndtr, owens_t

    # At a correlation of 1 or -1 the formula divides by 0; the limits are below, in ``ends``.
    tight = np.abs(rho) > 1 - 1e-12
    r = np.where(tight, 0.0, rho)
    root = np.sqrt(1 - r * r)

    def term(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        safe = np.where(x == 0, 1.0, x)
        return np.where(x == 0, np.sign(y) / 4, owens_t(x, (y - r * x) / (safe * root)))

    below = (h * k > 0) | ((h * k == 0) & (h + k >= 0))
    # The two terms are added first: the sum is then the same for (h, k) and (k, h), so that the
    # measure is symmetric to the last bit.
    value = (ndtr(h) + ndtr(k)) / 2 - (term(h, k) + term(k, h)) - np.where(below, 0.0, 0.5)
    value = np.where((h == 0) & (k == 0), 0.25 + np.arcsin(r) / (2 * np.pi), value)
    ends = np.where(rho > 0, ndtr(np.minimum(h, k)), np.maximum(0.0, ndtr(h) + ndtr(k) - 1))
    value = np.where(tight, ends, value)
    value = np.where(np.isnan(h) | np.isnan(k), np.nan, value)
    return np.clip(value, 0.0, 1.0)
