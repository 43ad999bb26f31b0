"""Diagnose a measure on a table: metric, kernel, ties, hubs, sensitivity to scales."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike._runtime.random_state import RANDOM_STATE, make_seed
from lookalike.datasets import transforms
from lookalike.errors import InvalidInput, LookalikeWarning, Param
from lookalike.evaluate.space import as_space, needs_distances
from lookalike.hubness import HubnessReport, hubness_report
from lookalike.leaderboard import comparing, scores
from lookalike.leaderboard.scores import Agreement, ranking_agreement
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.matrices import rectangle
from lookalike.measures.names import as_measure
from lookalike.measures.precomputed import Precomputed
from lookalike.saving.fields import KINDS, Integer
from lookalike.show import layout
from lookalike.show.result import Result, Spell
from lookalike.table import Column, Table, read_table
from lookalike.table.model.targets import code_labels

if TYPE_CHECKING:
    from rich.console import Console

MAX_USUAL_SHARE = 0.5  # of ties or zeros; above it a finding is reported
MONOTONE = ("exp", "square", "sqrt", "log")  # the transforms that keep the order of values


_yes = {True: "yes", False: "no"}.__getitem__
# Statistic, its meaning, and its format.
MEANINGS: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("symmetric", "as far from a to b as from b to a", _yes),
    ("positive_semidefinite", "similarities positive semi-definite, as kernels must be", _yes),
    ("smallest_eigenvalue", "smallest eigenvalue of the similarities", "{:.3g}".format),
    ("violated_triangles", "triples that violate the triangle inequality", "{:.1%}".format),
    ("zeros", "pairs with similarity 0", "{:.1%}".format),
    ("ties", "distances tied with another one of their row", "{:.1%}".format),
    ("undefined", "pairs with nothing to compare", "{:.1%}".format),
)
# Above it a statistic is bad; one that is true or false is bad where it is false.
LIMITS = {"violated_triangles": 0.0, "ties": MAX_USUAL_SHARE, "zeros": MAX_USUAL_SHARE}
# What follows then.
FINDINGS = {
    "symmetric": "Not symmetric: clusterings and representations that need it refuse it.",
    "positive_semidefinite": (
        "Not a kernel: support vector machines and Nystroem features may misbehave."
    ),
    "violated_triangles": (
        "Not a metric: index structures that prune by the triangle inequality fail."
    ),
    "ties": "Most distances are tied: use ties='expected' for hubs, or more trees.",
    "zeros": "Most pairs have similarity 0: rankings beyond the nearest rows are ties.",
}


@dataclass(frozen=True, eq=False)
class Diagnosis(Result):
    """What ``diagnose`` found; print it, or show it in a notebook.

    Parameters
    ----------
    name : str
    n, n_all : int
        Rows that were looked at, and rows there are.
    values : mapping of statistic to number or bool
        ``symmetric``; ``smallest_eigenvalue`` of the similarities and whether they are
        ``positive_semidefinite``; ``violated_triangles``, ``zeros``, ``ties`` and ``undefined``:
        shares of triples, of similarities, of distances and of pairs.
    seeds : Agreement or None
        Ranking agreement of two seeds; None where nothing is random, or there was no table.
    scales : mapping of transform to Agreement
        Ranking agreement with the same measure after each of the six transforms of the number
        columns; empty without a table or numbers.
    hubness : HubnessReport or None
    notes : tuple of str
        What was left out, and why.
    """

    name: str
    n: int
    n_all: int
    values: dict[str, float | bool]
    seeds: Agreement | None = None
    scales: dict[str, Agreement] = field(default_factory=dict)
    hubness: HubnessReport | None = None
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The measure and the rows that were compared."""
        rows = f"{self.n:,} rows" if self.n == self.n_all else f"{self.n:,} of {self.n_all:,} rows"
        return f"{self.name}, {rows}"

    def rows(self) -> list[tuple[str, str, float | bool, str]]:
        """Return (statistic, meaning, value, formatted value) for all that was computed."""
        f = self.values
        rows = [(name, label, f[name], write(f[name])) for name, label, write in MEANINGS]
        seeds = [] if self.seeds is None else [("seeds", "of two seeds", self.seeds)]
        scales = ((f"scale_{t}", f"after the transform {t}", a) for t, a in self.scales.items())
        for name, label, found in [*seeds, *scales]:
            mean = f"{found.mean:.3f}"
            rows.append((name, f"agreement of the rankings {label}", found.mean, mean))
        return rows

    def findings(self) -> list[str]:
        """Return what follows for the use of the measure, a sentence each."""

        def is_bad(name: str) -> bool:
            value = self.values[name]
            return value > LIMITS[name] if name in LIMITS else not value

        out = [sentence for name, sentence in FINDINGS.items() if is_bad(name)]
        if self.seeds is not None and self.seeds.mean < 0.9:
            out.append("Two seeds rank rows differently: use more trees or a larger sample.")
        out += self._about_scales()
        hubs = self.hubness
        if hubs is not None and hubs.judged.problem:
            if len(hubs.columns) == 1 or not hubs.judged.reduction_helps:
                out.append(str(hubs.judged))
        return out

    def _about_scales(self) -> list[str]:
        if not self.scales:
            return []
        # What two seeds differ by anyway is not put down to the scale.
        enough = 0.999 if self.seeds is None else min(0.999, self.seeds.mean - 0.01)
        # Named in the finding: the transform that changes the ranking most.
        worst = min(self.scales, key=lambda name: self.scales[name].mean)
        rising = [one.mean for name, one in self.scales.items() if name in MONOTONE]
        if self.scales[worst].mean >= enough:
            return ["The scale of the numbers does not matter."]
        if rising and min(rising) >= enough:
            return ["The scale of the numbers does not matter as long as their order is kept."]
        return [
            f"The scale of the numbers matters, most under {worst} (agreement "
            f"{self.scales[worst].mean:.2f}): choose it deliberately, or use a measure of ranks."
        ]

    def cells(self) -> dict[str, list[Any]]:
        """Return the statistics, one row each, those about hubs at the end."""
        lines: list[Any] = [(name, label, float(value)) for name, label, value, _ in self.rows()]
        if self.hubness is not None:
            for column, found in self.hubness.statistics.items():
                end = "" if column == "value" else f"_{column}"
                known = [line for line in self.hubness.rows() if line[0] in found]
                lines += [(f"{name}{end}", label, found[name]) for name, label, _ in known]
        names, meanings, values = map(list, zip(*lines, strict=True))
        return {"statistic": names, "meaning": meanings, "value": values}

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print the statistics, what follows from them, and the report on hubs."""
        layout.headline(console, f"Diagnosis of {self.title}")
        heads = [("", "left"), ("", "right")]
        console.print(layout.grid(heads, ([label, text] for _, label, _, text in self.rows())))
        for sentence in self.findings():
            layout.say(console, sentence, "")
        for note in self.notes:
            layout.say(console, spell(f"note: {note}"))
        if self.hubness is not None:
            self.hubness.render(console, spell)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {
            "title": self.title,
            "values": {name: value for name, _, value, _ in self.rows()},
            "findings": self.findings(),
            "hubness": None if self.hubness is None else self.hubness.to_dict(),
            "notes": list(self.notes),
        }


MAX_SAMPLE_ROWS = 2_000  # rows of a larger table that are compared
MAX_RANKED_ROWS = 500  # rows for eigenvalues, triangles and rankings
MAX_ROUND_OFF = 1e-9  # of an eigenvalue below 0, as a share of the largest


def diagnose(
    space: Any,
    X: Any = None,
    y: Any = None,
    k: int = 5,
    *,
    kinds: Mapping[str, Any] | None = None,
    random_state: Any = 0,
) -> Diagnosis:
    """Diagnose a measure on a table: metric or not, kernel or not, stability, hubs.

    One report: whether it is symmetric and positive semi-definite, how often the triangle
    inequality fails, how many similarities are 0 and how many distances tied, whether two seeds
    agree, whether the scale of the numbers matters, and whether there are hubs.

    Parameters
    ----------
    space : measure, name of one, or square matrix of distances
        A measure need not be fitted if X is given.
    X : table, frame, array, dict of columns or path, optional
        The rows. A copy of the measure is fitted to them, and again with another seed and on six
        other scales [1]_. Without X a fitted measure is looked at as it is, and these two questions
        are left out.
    y : array of n labels, or the name of a column of X, optional
        For the table of hubs, and for measures that learn from labels; of these, what the table of
        hubs says about labels is left out, since they have seen them.
    k : int
        Length of the lists that hubs are counted in.
    kinds : mapping of column to kind, optional
        What columns of X hold, where reading them does not guess it (see ``read_table``).
    random_state : None, int, RandomState or Generator
        Seed of the samples, and of measures that have none.

    Returns
    -------
    Diagnosis

    Notes
    -----
    Tables above 2,000 rows are represented by a sample of so many; eigenvalues, rankings and 10,000
    triples for the triangle inequality come from 500 rows of these. Pairs that cannot be compared
    are put as far apart as the farthest pair.

    References
    ----------
    .. [1] T. L. Fernando, G. I. Webb (2017). SimUSF: an efficient and effective similarity measure
       that is invariant to violations of the interval scale assumption. Data Mining and Knowledge
       Discovery 31. doi:10.1007/s10618-016-0463-0

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.leaderboard import diagnose
    >>> from lookalike.measures import Ranked
    >>> found = diagnose(Ranked(), np.random.default_rng(0).random((60, 3)))
    >>> found.values["violated_triangles"]
    0.0
    >>> round(found.scales["log"].mean, 6)
    1.0
    """
    Integer(1).check("diagnose", "k", k)
    KINDS.check("diagnose", "kinds", kinds)
    RANDOM_STATE.check("diagnose", "random_state", random_state)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = _diagnose(space, X, y, k, kinds, make_seed(random_state))
    warned = [str(w.message) for w in heard if issubclass(w.category, LookalikeWarning)]
    return replace(found, notes=tuple(dict.fromkeys([*found.notes, *warned])))


def _diagnose(
    space: Any, X: Any, y: Any, k: int, kinds: Mapping[str, Any] | None, seed: int
) -> Diagnosis:
    notes: list[str] = []
    if X is None:
        measure, table, y, learned, n_all = _take_fitted(space, y, notes)
    else:
        measure, table, y, learned, n_all = _fit(space, X, y, kinds, seed)
    sample = scores.some_rows(len(measure.rows_), MAX_SAMPLE_ROWS, seed)
    scores.check_rows(k, len(sample), "diagnose")
    distances, undefined = scores.distances_among(measure, sample)
    few = scores.some_rows(len(sample), MAX_RANKED_ROWS, seed)
    near = distances[np.ix_(few, few)]
    # Eigenvalues take cubic time, so these are of a smaller sample.
    rows = measure.rows_[sample[few]]
    similarities = rectangle(measure, rows, rows, "similarity", undefined="keep")
    similarities[np.isnan(similarities)] = 0.0  # of pairs that cannot be compared
    low, high = scores.smallest_eigenvalue(similarities)
    values: dict[str, float | bool] = {
        "symmetric": bool(np.array_equal(distances, distances.T)),
        "smallest_eigenvalue": low,
        "positive_semidefinite": bool(low >= -MAX_ROUND_OFF * max(high, 1.0)),
        "violated_triangles": scores.violated_share(near, seed),
        "zeros": scores.zero_share(similarities),
        "ties": scores.tied_share(distances),
        "undefined": undefined,
    }
    seeds, scales = None, {}
    if table is not None:

        def agreement(other: Measure, rows: Table) -> Agreement:
            other.fit(rows, y if learned else None)
            return ranking_agreement(-near, -scores.distances_among(other, sample[few])[0])

        if comparing.own_params(measure, "random_state"):
            seeds = agreement(comparing.reseeded(measure, seed + 1), table)
        scales = _scales(measure, table, agreement, notes)
    if learned and y is not None:
        notes.append("labels are left out of the table of hubs: the measure has learned from them")
        y = None
    if len(measure.rows_) == len(sample):
        # Ties share the last entries of a list: else the first rows of the table would look like
        # hubs. A list that ends with pairs that cannot be compared has no last distance to share.
        tied = values["ties"] > MAX_USUAL_SHARE and not undefined
        hubs = hubness_report(measure, y, k, ties="expected" if tied else "index")
    else:
        notes.append(f"hubs are counted in the {len(sample):,} rows of the sample")
        # Of a sample only its matrix is left, without the rows outside.
        given = Precomputed(symmetric=measure.traits.symmetric).fit(distances)
        hubs = hubness_report(given, None if y is None else y[sample], k)
    name = type(measure).__name__
    return Diagnosis(name, len(sample), n_all, values, seeds, scales, hubs, tuple(notes))


# The measure, its table, the labels, whether it has learned from them, and the rows there are.
Fitted = tuple[Measure, Table | None, np.ndarray | None, bool, int]


def _take_fitted(space: Any, y: Any, notes: list[str]) -> Fitted:
    measure = needs_distances(as_space(space, "diagnose"), "diagnose")
    n = len(measure.rows_)
    why = "without the table (X=...)" if isinstance(space, Measure) else "for a bare matrix"
    notes.append(f"agreement of seeds and sensitivity to scales are not known {why}")
    if y is not None:
        code_labels(y, n, "diagnose")  # refuses missing labels and a wrong number of them
        y = np.asarray(y)
    return measure, None, y, has_learned(measure), n


def _fit(space: Any, X: Any, y: Any, kinds: Mapping[str, Any] | None, seed: int) -> Fitted:
    """Fit a copy of a measure to a sample of X; return also the table and whether it learned."""
    if isinstance(space, str):
        space = as_measure(space, "diagnose")
    if not isinstance(space, Measure):
        hint = "Leave ", Param("X"), " out"
        raise InvalidInput("diagnose", "a measure for X", type(space).__name__, hint)
    if getattr(space, "frozen_", False):
        hint = "Leave ", Param("X"), " out, or pass the measure itself"
        found = f"a frozen {type(space).__name__}"
        raise InvalidInput("diagnose", "a measure that can be fitted to X", found, hint)
    measure = comparing.prepared(space, seed, None)
    read = measure.read(X if kinds is None else read_table(X, kinds=kinds))
    table, y = comparing.split_labels(read, y, "diagnose")
    target = None if y is None else np.asarray(y)
    n = len(table)
    sample = scores.some_rows(n, MAX_SAMPLE_ROWS, seed)
    if measure.traits.pairwise:
        measure.fit(table)
        return measure, None, target, False, n
    table, target = table[sample], None if target is None else target[sample]
    learned = has_learned(measure)
    try:
        measure.fit(table)
    # Whether a measure needs labels is not declared: fitting without them shows it.
    except InvalidInput:
        if target is None:
            raise
        measure.fit(table, target)
        learned = True
    return measure, table, target, learned, n


def has_learned(measure: Measure) -> bool:
    """Whether a fitted measure is known to have seen labels: learned weights, a given forest."""
    params = measure.get_params()
    weights = (params[name] for name in comparing.own_params(measure, "weights"))
    learned = any(isinstance(weight, str) for weight in weights)
    return learned or bool(comparing.supervised_forests(measure))


def _scales(
    measure: Measure,
    table: Table,
    agreement: Callable[[Measure, Table], Agreement],
    notes: list[str],
) -> dict[str, Agreement]:
    """Return how far rows are ranked alike when the number columns are written on other scales."""
    from sklearn.base import clone

    if comparing.given_forests(measure):
        notes.append("a forest that was fitted elsewhere cannot be fitted to other scales")
        return {}
    written = [_rescaled(column) for column in table]
    if not any(written):
        notes.append("no number columns, so no sensitivity to scales")
        return {}
    agreements = {}
    for name in next(columns for columns in written if columns):
        pairs = zip(table, written, strict=True)
        columns = [by_name[name] if by_name else column for column, by_name in pairs]
        changed = Table(columns, table.aside, len(table), table.missing)
        try:
            # Fitted anew: scales are learned from the rows.
            agreements[name] = agreement(clone(measure), changed)
        except InvalidInput as error:  # values that differed may be equal on another scale
            notes.append(f"the transform {name} is left out: {error}")
    return agreements


def _rescaled(column: Column) -> dict[str, Column]:
    """Return a column of numbers under the six transforms; {} for other kinds."""
    # Hours and degrees have a unit: on another scale they are no longer what they were.
    if column.kind.name != "number" or column.kind.period or column.kind.parts:
        return {}
    # Transforms are fitted to known values; missing ones stay missing.
    known = ~np.isnan(column.values)
    if not known.any() or not np.isfinite(column.values[known]).all():
        return {}
    out = {}
    for name, values in transforms(column.values[known][:, None]).items():
        cells = np.full(len(column), np.nan)
        cells[known] = values[:, 0]
        out[name] = replace(column, values=cells)
    return out
