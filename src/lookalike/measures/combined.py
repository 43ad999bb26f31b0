"""A weighted combination of several measures of the same rows."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from lookalike._runtime.estimator import check_is_fitted, clone
from lookalike._runtime.random_state import RANDOM_STATE, make_generator
from lookalike.errors import InPython, InvalidInput, LookalikeError, Param, Phrase, suggest
from lookalike.measures.contract.base import Measure, Traits
from lookalike.measures.contract.explanation import Explanation, ratio, rescaled, shared_out
from lookalike.measures.contract.matrices import moments
from lookalike.measures.contract.rows import Rows
from lookalike.measures.mixed.gower import check_weights
from lookalike.measures.names import as_measure
from lookalike.measures.vector import Vector
from lookalike.saving import fields
from lookalike.saving.fields import Dims, Fields, Misfit, require
from lookalike.table import Table


class WeightedMeasure(NamedTuple):
    """One measure of a combination: its weight, and the columns it compares."""

    weight: float
    measure: Measure
    columns: tuple[str, ...] | None = None


@dataclass(eq=False, repr=False)
class Combined(Measure):
    """Compare rows by several measures, each with its weight.

    The similarity is the weighted sum of those of the parts. Where their scales differ, wrap each
    part in ``lookalike.hubness.MutualProximity``: mutual proximities can be added, because each is
    a probability [1]_. Sound and rhythm of songs, words and pictures of a page, or numbers and
    texts of a table are then weighed as they should be, and hubs are removed on the way.

    Parameters
    ----------
    parts : list of (weight, measure) or (weight, measure, columns)
        Measures, or names of them. Weights of at least 0, not all 0; they are divided by their sum.
        With ``columns`` (a name or a list of names) a measure sees only these.
    how : {"similarity", "zscore"}
        Add the measures' similarities, or their distances, each with the mean and standard
        deviation of its fitted pairs taken out (z-scores), which is the usual baseline.
    sample : int, optional
        Rows whose distances to all others give means and standard deviations. None: all.
    kinds : mapping of column to kind, optional
        How columns are to be read.
    random_state : None, int or numpy.random.Generator
        Which rows are sampled.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    parts_ : the fitted measures
    weights_ : the weights, with sum 1
    offset_ : for ``zscore``, what ``distance`` has on top of the sum of z-scores: without it a
        distance could be negative

    References
    ----------
    .. [1] Schnitzer, Flexer, Schedl, Widmer (2012). Local and Global Scaling Reduce Hubs in Space.
       Journal of Machine Learning Research 13, 2871-2902. Section 5 combines rhythm (0.3) and
       timbre (0.7) of songs.

    Examples
    --------
    >>> from lookalike.hubness import MutualProximity
    >>> from lookalike.measures import Combined, Ranked, Vector
    >>> rows = {"size": [1.0, 2.0, 4.0, 8.0], "age": [3.0, 1.0, 1.5, 2.0]}
    >>> size, age = MutualProximity(Vector()), MutualProximity(Ranked())
    >>> Combined([(0.3, size, "size"), (0.7, age, "age")]).fit(rows).similarity().round(3)[1]
    array([0.15, 1.  , 0.25, 0.  ])
    """

    FIELDS: ClassVar[Fields] = {
        "how": fields.Choice("similarity", "zscore"),
        "sample": fields.Maybe(fields.Integer(1)),
        "random_state": RANDOM_STATE,
        "parts": fields.Anything(),
        "weights_": fields.Array("float64", "parts", finite=True, low=0),
        "parts_": fields.ListOf(fields.Saved("Measure"), "parts"),
        "offset_": fields.Real(nan=True),
        "units_": fields.Sometimes(fields.Array("float64", "parts")),
    }

    parts: Sequence[Any]
    how: str = "similarity"
    _: KW_ONLY
    sample: int | None = None
    kinds: Any = None
    random_state: Any = None
    n_jobs: int | None = None

    @classmethod
    def examples(cls) -> list[Measure]:
        """Return every way to combine."""
        return [
            cls([(0.3, Vector()), (0.7, Vector("cityblock"))], how)
            for how in ("similarity", "zscore")
        ]

    # -- parameters of the parts -------------------------------------------------------------------

    def _read_parts(self) -> list[WeightedMeasure]:
        """Return the parts, checked."""
        if not isinstance(self.parts, list | tuple) or not self.parts:
            raise _wrong("a list of (weight, measure)", repr(self.parts))
        parts = [_read_part(part) for part in self.parts]
        if not sum(part.weight for part in parts) > 0:
            raise _wrong("a weight above 0", f"weights {[part.weight for part in parts]}")
        return parts

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; those of part 0 are named ``0__name``.

        Parameters
        ----------
        deep : bool
            Whether to include the parameters of the parts.
        """
        params: dict[str, Any] = super().get_params(deep=False)
        if deep and isinstance(self.parts, list | tuple):
            # Unchecked: scikit-learn asks for the parameters of wrong parts, too, to show them.
            for i, part in enumerate(self.parts):
                measure: Any = part[1] if isinstance(part, list | tuple) and len(part) > 1 else None
                if hasattr(measure, "get_params"):
                    inner = measure.get_params()
                    params |= {str(i): measure, **{f"{i}__{name}": inner[name] for name in inner}}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``0__name`` is a parameter of part 0, ``0`` its measure.

        Parameters
        ----------
        **params
            New values by name.
        """
        # Names of parts begin with their number, which no parameter of a class can.
        own = {name: value for name, value in params.items() if not name[:1].isdigit()}
        super().set_params(**own)
        for name in sorted(params.keys() - own.keys()):  # a measure before its parameters
            number, _, rest = name.partition("__")
            parts = [list(part) for part in self.parts]
            if not number.isdigit() or int(number) >= len(parts):
                raise _wrong(f"parts numbered 0 to {len(parts) - 1}", repr(name))
            if rest:
                parts[int(number)][1].set_params(**{rest: params[name]})
            else:
                parts[int(number)][1] = params[name]
                self.parts = [tuple(part) for part in parts]
        return self

    # -- the contract ------------------------------------------------------------------------------

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """Facts about this measure, from those of its parts."""
        parts = self._read_parts()
        each = [part.measure.traits for part in parts]
        kinds = [set(traits.kinds) for traits in each if traits.kinds]
        distance = self.how == "zscore"

        def every(name: str) -> bool:
            return all(getattr(traits, name) for traits in each)

        return Traits(
            native="distance" if distance else "similarity",
            conversion="ratio" if distance else "one_minus",
            **{name: every(name) for name in ("symmetric", "unseen_pairs", "missing")},
            # The kinds that every part compares; empty where all of them compare all.
            kinds=tuple(sorted(set.intersection(*kinds))) if kinds else (),
            pairwise=every("pairwise") and all(part.columns is None for part in parts),
            needs_all=any(traits.needs_all for traits in each),
            undefined_last=any(traits.undefined_last for traits in each),
            weighs_columns=not distance and every("weighs_columns"),
        )

    def read(self, X: Any) -> Table:
        """Read data; a single matrix of distances as the first part reads it."""
        parts = self._read_parts()
        return parts[0].measure.read(X) if self.traits.pairwise else super().read(X)

    def read_new(self, X: Any) -> Table:
        """Read new rows; a single matrix of distances as the first part reads it."""
        return self.parts_[0].read_new(X) if self.traits.pairwise else super().read_new(X)

    def _fit(self, table: Table, y: np.ndarray | None) -> None:
        parts = self._read_parts()
        weights = np.array([part.weight for part in parts])
        self.weights_ = weights / weights.sum()
        self.parts_ = [clone(part.measure).fit(_some(table, part.columns), y) for part in parts]
        if self.traits.pairwise:  # a matrix has as many features as rows, whatever the table says
            self.n_features_in_ = self.parts_[0].n_features_in_
        self.offset_ = 0.0
        if self.how == "zscore":
            self._learn_constants(len(table))

    def _learn_constants(self, n: int) -> None:
        drawn = np.arange(n)
        if self.sample is not None and self.sample < n:
            rng = make_generator(self.random_state)
            drawn = np.sort(rng.choice(n, self.sample, replace=False))
        self.units_ = np.zeros(len(self.parts_))
        for i, part in enumerate(self.parts_):
            each = moments(part, part.rows_, part.rows_[drawn], False, self.n_jobs)
            count, mean, sd = (values[each[0] > 0] for values in each)
            with np.errstate(invalid="ignore"):  # not a single distance
                # Mean and variance of all pairs from those of each row (law of total variance).
                center = (count * mean).sum() / count.sum()
                square = count * (sd * sd + (mean - center) ** 2)
                spread = np.sqrt(square.sum() / count.sum())
            # A part of constant distances, round-off aside, has no z-scores: it adds nothing.
            if spread > 1e-12 * center:
                self.units_[i] = self.weights_[i] / spread
                # Means are not subtracted, so distances stay >= 0; their order is that of z-scores.
                self.offset_ += float(self.units_[i] * center)

    def _encode(self, table: Table, seen: np.ndarray) -> Rows:
        pairs = zip(self.parts_, self._read_parts(), strict=True)
        parts = [part.encode(_some(table, given.columns), seen) for part, given in pairs]
        return Rows(seen, {}, {str(i): rows for i, rows in enumerate(parts)})

    def reweighted(self, weights: Mapping[str, float], who: str | None = None) -> Self:
        """Return a copy of this fitted combination under other column weights; rows are shared.

        Well defined where the parts' own similarities are added (``how="similarity"``) and every
        part weighs columns: each part takes the weights of the columns that it sees. A part whose
        columns all have weight 0 is left out, and the weights of the other parts are divided by
        their sum.

        Parameters
        ----------
        weights : mapping of column to number of at least 0
            Each multiplies the fitted weight of its column in every part; columns that are not
            named keep theirs.
        who : str, optional
            Whose name an error begins with.
        """
        check_is_fitted(self, "parts_")
        if not self.traits.weighs_columns:
            return super().reweighted(weights, who)
        who = who or "Combined.reweighted"
        factors = check_weights(weights, tuple(self.schema_.kinds), who)
        copied = copy.copy(self)
        copied.parts_ = []
        shares = np.array([part.weight for part in self._read_parts()])
        for i, part in enumerate(self.parts_):
            own = {name: factors[name] for name in part.schema_.kinds}
            # A part without any weight cannot be reweighted; its share in the sum is 0 instead.
            shares[i] *= any(own.values())
            copied.parts_.append(part.reweighted(own, who) if any(own.values()) else part)
        if not shares.sum() > 0:
            needed = "a column with a weight above 0 in some part"
            raise InvalidInput(who, needed, "none", "Give a column some weight")
        copied.weights_ = shares / shares.sum()
        return copied

    def _why_fixed_weights(self) -> tuple[str, str]:
        if self.how == "similarity":
            fixed = [type(p).__name__ for p in self.parts_ if not p.traits.weighs_columns]
            return f"whose part {fixed[0]} does not weigh columns", "Combine measures such as Gower"
        hint = Phrase("Use ", Param("how", "similarity"), ", or give the weights when fitting")
        return "whose means and deviations hold for the fitted weights only", hint

    def compare(self, a: Rows, b: Rows) -> np.ndarray:
        """Return the weighted sum for every row of a with every row of b."""
        out = np.zeros((len(a), len(b)))
        distance = self.how == "zscore"
        to, weights = ("distance", self.units_) if distance else ("similarity", self.weights_)
        for i, part in enumerate(self.parts_):
            if weights[i]:  # undefined pairs of a part that does not count would make all NaN
                out += weights[i] * part.block(a.parts[str(i)], b.parts[str(i)], to)
        # Weights sum to 1 but for round-off, which must not give a similarity above 1.
        return out if distance else np.minimum(out, 1.0)

    def _explain(self, a: Rows, b: Rows) -> Explanation:
        s, d = self._both_numbers(a, b)
        plus, minus, reach = Counter[Any](), Counter[Any](), Counter[Any]()
        cells: dict[str, Any] = {}
        baseline: dict[str, tuple[float, float]] = {}
        surprisal: dict[str, tuple[float, float]] = {}
        inner, factors = {}, {}
        for i, measure in enumerate(self.parts_):
            part = measure.explain_rows(a.parts[str(i)], b.parts[str(i)])
            name, weight = f"{i} {type(measure).__name__}", float(self.weights_[i])
            inner[name], factors[f"weight of {name}"] = part, weight
            if self.how == "zscore":  # s = c / (c + d), and d is a sum over the parts
                share = float(self.units_[i]) * part.distance / (self.scale_ + d)
                minus.update(shared_out(share, part.minus))
                scales = 0.0, ratio(share, sum(part.minus.values()))
            else:
                plus.update({column: weight * value for column, value in part.plus.items()})
                minus.update({column: weight * value for column, value in part.minus.items()})
                scales = weight, weight
            reach.update({column: scales[1] * most for column, most in part.reach.items()})
            for column, usual in rescaled(part.baseline, *scales).items():
                known = baseline.get(column, (0.0, 0.0))
                baseline[column] = known[0] + usual[0], known[1] + usual[1]
            # A column of several parts is as surprising as in the part where it is most so.
            for column, bits in part.surprisal.items():
                known = surprisal.get(column, (0.0, 0.0))
                surprisal[column] = max(known[0], bits[0]), max(known[1], bits[1])
            cells |= part.cells
        left_out = dict.fromkeys(name for part in inner.values() for name in part.not_compared)
        return Explanation(
            s, d, {None: s} if self.how == "zscore" else dict(plus), dict(minus), factors, inner,
            cells, baseline, surprisal, tuple(left_out), dict(reach),
        )  # fmt: skip

    def _check_parts(self, dims: Dims) -> None:
        try:
            parts = self._read_parts()
        except LookalikeError as error:
            raise Misfit("Combined.parts", "weights and measures", "others") from error
        require(len(parts) == len(self.parts_), "Combined.parts_", f"{len(parts)} measures")
        for part, given in zip(self.parts_, parts, strict=True):
            same = len(part.rows_) == len(self.rows_)
            require(same, "Combined.parts_", f"measures of {len(self.rows_)} rows", "others")
            known = all(name in self.schema_.kinds for name in given.columns or ())
            require(known, "Combined.parts", "columns of the table", "others")
        if self.how == "zscore":
            require(hasattr(self, "units_"), "Combined", "the field units_", "none")

    def rows_shape(self) -> tuple[Fields, Dims]:
        """Return what encoded rows look like: those of the parts, and nothing else."""
        return {}, {}

    def inner_measures(self) -> dict[str, Measure]:
        """Return the parts by their numbers."""
        return {str(i): part for i, part in enumerate(self.parts_)}


def _read_part(part: Any) -> WeightedMeasure:
    """Return one part, checked: (weight, measure) or (weight, measure, columns)."""
    if not isinstance(part, list | tuple) or len(part) not in (2, 3):
        raise _wrong("(weight, measure) or (weight, measure, columns)", repr(part))
    weight, measure, columns = (*part, None)[:3]
    if not fields.Real(0.0, finite=True).fits(weight):
        raise _wrong("weights that are finite numbers of at least 0", repr(weight))
    if isinstance(measure, str):
        measure = as_measure(measure, "Combined")
    if not isinstance(measure, Measure):
        raise _wrong("a measure in second place, such as Vector()", repr(measure))
    if columns is None:
        return WeightedMeasure(float(weight), measure)
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    if not names:
        raise _wrong("at least one column for each measure", repr(columns))
    return WeightedMeasure(float(weight), measure, names)


def _some(table: Table, columns: Sequence[str] | None) -> Table:
    if columns is None:
        return table
    unknown = [name for name in columns if name not in table]
    if unknown:
        needed, found = f"a column named {unknown[0]!r}", f"{len(table.columns)} columns without it"
        raise InvalidInput("Combined", needed, found, suggest(unknown[0], table.names))
    return table.select(columns)


def _wrong(needed: str, found: str) -> InvalidInput:
    hint = InPython("Pass parts such as [(0.3, Vector(), 'size'), (0.7, Ranked())]")
    return InvalidInput("Combined", needed, found, hint)
