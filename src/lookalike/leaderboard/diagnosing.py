"""What kind of thing a measure is, on your rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lookalike._runtime.frames import frame_of_records
from lookalike._runtime.random_state import RANDOM_STATE, make_seed
from lookalike.datasets import transforms
from lookalike.errors import InvalidInput, LookalikeWarning, Param, Phrase, TooFewRows
from lookalike.evaluate.space import as_space, needs_distances
from lookalike.hubness import HubnessReport, hubness_report
from lookalike.leaderboard.ranking import Agreement, ranking_agreement
from lookalike.leaderboard.scores import (
    distances_among,
    smallest_eigenvalue,
    some_rows,
    tied_share,
    violated_share,
    zero_share,
)
from lookalike.leaderboard.trial import (
    given_forests,
    own_params,
    prepared,
    reseeded,
    split_labels,
    supervised_forests,
)
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.matrices import rectangle
from lookalike.measures.names import as_measure
from lookalike.saving.fields import KINDS, Integer
from lookalike.show.html.document import HtmlReport
from lookalike.table import Column, Table, read_table
from lookalike.table.model.targets import code_labels

MANY = 0.5  # share of ties or zeros from which most of a measure's answers are alike
RISING = ("exp", "square", "sqrt", "log")  # the transforms that keep the order of values


@dataclass(frozen=True, eq=False)
class Diagnosis(HtmlReport):
    """What ``diagnose`` found; print it, or show it in a notebook.

    Parameters
    ----------
    name : str
    n, n_all : int
        Rows that were looked at, and rows there are.
    figures : mapping of figure to number or truth value
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
    figures: dict[str, float | bool]
    seeds: Agreement | None = None
    scales: dict[str, Agreement] = field(default_factory=dict)
    hubness: HubnessReport | None = None
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What was looked at, in words."""
        rows = f"{self.n:,} rows" if self.n == self.n_all else f"{self.n:,} of {self.n_all:,} rows"
        return f"{self.name}, {rows}"

    def rows(self) -> list[tuple[str, str, float | bool, str]]:
        """Return (figure, what it says, the number, the number as text) for all that was found."""
        f = self.figures
        rows: list[tuple[str, str, float | bool, str]] = [
            (
                "symmetric",
                "as far from a to b as from b to a",
                f["symmetric"],
                _yes(f["symmetric"]),
            ),
            (
                "positive_semidefinite",
                "similarities positive semi-definite, as kernels must be",
                f["positive_semidefinite"],
                _yes(f["positive_semidefinite"]),
            ),
            (
                "smallest_eigenvalue",
                "smallest eigenvalue of the similarities",
                f["smallest_eigenvalue"],
                f"{f['smallest_eigenvalue']:.3g}",
            ),
        ]
        for name, label in (
            ("violated_triangles", "triples in which a detour is shorter than the direct way"),
            ("zeros", "pairs with similarity 0"),
            ("ties", "distances tied with another one of their row"),
            ("undefined", "pairs with nothing to compare"),
        ):
            rows.append((name, label, f[name], f"{f[name]:.1%}"))
        if self.seeds is not None:
            label = "agreement of the rankings of two seeds"
            rows.append(("seeds", label, self.seeds.mean, f"{self.seeds.mean:.3f}"))
        for name, one in self.scales.items():
            label = f"agreement of the rankings after the transform {name}"
            rows.append((f"scale_{name}", label, one.mean, f"{one.mean:.3f}"))
        return rows

    def findings(self) -> list[str]:
        """Return what follows for the use of the measure, in words."""
        f, out = self.figures, []
        if not f["symmetric"]:
            out.append(
                "Not symmetric: clusterings and representations that need symmetry refuse it."
            )
        if not f["positive_semidefinite"]:
            out.append("Not a kernel: support vector machines and Nystroem features may misbehave.")
        if f["violated_triangles"] > 0:
            out.append("Not a metric: index structures that prune by the triangle inequality fail.")
        if f["ties"] > MANY:
            out.append(
                "Most distances are tied: count hubs with ties='expected', or use more trees."
            )
        if f["zeros"] > MANY:
            out.append("Most pairs have similarity 0: only the nearest rows can be told apart.")
        if self.seeds is not None and self.seeds.mean < 0.9:
            out.append("Two seeds rank rows differently: use more trees or a larger sample.")
        out += self._about_scales()
        skew = 0.0 if self.hubness is None else _skewness(self.hubness)
        if skew > 1.4:
            out.append(f"Hubs (skewness {skew:.1f}): look at a repair such as MutualProximity.")
        return out

    def _about_scales(self) -> list[str]:
        if not self.scales:
            return []
        # What two seeds differ by anyway is not put down to the scale.
        enough = 0.999 if self.seeds is None else min(0.999, self.seeds.mean - 0.01)
        worst = min(self.scales, key=lambda name: self.scales[name].mean)
        rising = [one.mean for name, one in self.scales.items() if name in RISING]
        if self.scales[worst].mean >= enough:
            return ["The scale of the numbers does not matter."]
        if rising and min(rising) >= enough:
            return ["The scale of the numbers does not matter as long as their order is kept."]
        return [
            f"The scale of the numbers matters, most under {worst} (agreement "
            f"{self.scales[worst].mean:.2f}): choose it on purpose, or take a measure of ranks."
        ]

    def __str__(self) -> str:
        rows = self.rows()
        wide = max(len(label) for _, label, _, _ in rows)
        lines = [f"Diagnosis of {self.title}"]
        lines += [f"  {label:<{wide}}  {text:>9}" for _, label, _, text in rows]
        lines += [*self.findings(), *(f"note: {note}" for note in self.notes)]
        if self.hubness is not None:
            lines += ["", str(self.hubness)]
        return "\n".join(lines)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the figures as a data frame, one row each, those about hubs at the end.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
        """
        records: list[dict[str, Any]] = [
            {"figure": name, "meaning": label, "value": float(value)}
            for name, label, value, _ in self.rows()
        ]
        if self.hubness is not None:
            labels = {name: label for name, label, _ in self.hubness.rows()}
            for column, figures in self.hubness.statistics.items():
                end = "" if column == "value" else f"_{column}"
                records += [
                    {"figure": f"{name}{end}", "meaning": labels[name], "value": value}
                    for name, value in figures.items()
                    if name in labels
                ]
        return frame_of_records(records, backend)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {
            "title": self.title,
            "figures": {name: value for name, _, value, _ in self.rows()},
            "findings": self.findings(),
            "hubness": None if self.hubness is None else self.hubness.to_dict(),
            "notes": list(self.notes),
        }

    def html_title(self) -> str:
        """Return the heading of the page."""
        return f"Diagnosis: {self.title}"

    def html_body(self) -> str:
        """Return what stands on the page, as HTML."""
        from lookalike.leaderboard.page import diagnosis_fragment

        return diagnosis_fragment(self)


def _skewness(report: HubnessReport) -> float:
    last = list(report.statistics.values())[-1]
    return float(last["skewness"] or 0.0)


def _yes(value: float | bool) -> str:
    return "yes" if value else "no"


SAMPLE = 2_000  # rows of a larger table that are looked at
NARROW = 500  # rows for eigenvalues, triangles and rankings
FLAT = 1e-9  # an eigenvalue this far below 0, as a share of the largest, is rounding


def diagnose(
    space: Any,
    X: Any = None,
    y: Any = None,
    k: int = 5,
    *,
    kinds: Mapping[str, Any] | None = None,
    random_state: Any = 0,
) -> Diagnosis:
    """Say what kind of thing a measure is on your rows: a metric, a kernel, stable, with hubs.

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
        stay open.
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
    >>> found.figures["violated_triangles"]
    0.0
    >>> round(found.scales["log"].mean, 6)
    1.0
    """
    for name, value, rule in (
        ("k", k, Integer(1)),
        ("kinds", kinds, KINDS),
        ("random_state", random_state, RANDOM_STATE),
    ):
        rule.check("diagnose", name, value)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        found = _diagnose(space, X, y, k, kinds, make_seed(random_state))
    warned = [str(w.message) for w in heard if issubclass(w.category, LookalikeWarning)]
    return replace(found, notes=tuple(dict.fromkeys([*found.notes, *warned])))


def _diagnose(
    space: Any, X: Any, y: Any, k: int, kinds: Mapping[str, Any] | None, seed: int
) -> Diagnosis:
    notes: list[str] = []
    table, learned, n_all = None, False, 0
    if X is not None:
        measure, table, y, learned, n_all = _fit(space, X, y, kinds, seed)
    else:
        measure = needs_distances(as_space(space, "diagnose"), "diagnose")
        n_all = len(measure.rows_)
        why = "without the table (X=...)" if isinstance(space, Measure) else "for a bare matrix"
        notes.append(f"agreement of seeds and sensitivity to scales are not known {why}")
        if y is not None:
            code_labels(y, n_all, "diagnose")  # gaps and a wrong number of them are refused
            y = np.asarray(y)
        learned = has_learned(measure)
    at = some_rows(len(measure.rows_), SAMPLE, seed)
    if len(at) < max(3, k + 1):
        hint = Phrase("Use ", Param("k", len(at) - 1)) if len(at) > 2 else "Add rows"
        needed = f"at least {max(3, k + 1)} rows"
        raise TooFewRows(Param("k", k, of="diagnose"), needed, Param("n_samples", len(at)), hint)
    distances, undefined = distances_among(measure, at)
    few = some_rows(len(at), NARROW, seed)
    near = distances[np.ix_(few, few)]
    similarities = _similarities(measure, at[few])
    low, high = smallest_eigenvalue(similarities)
    figures: dict[str, float | bool] = {
        "symmetric": bool(np.array_equal(distances, distances.T)),
        "smallest_eigenvalue": low,
        "positive_semidefinite": bool(low >= -FLAT * max(high, 1.0)),
        "violated_triangles": violated_share(near, seed),
        "zeros": zero_share(similarities),
        "ties": tied_share(distances),
        "undefined": undefined,
    }
    found = Diagnosis(type(measure).__name__, len(at), n_all, figures)
    if table is not None:
        target = y if learned else None
        found = replace(
            found,
            seeds=_seeds(measure, table, target, at[few], near, seed),
            scales=_scales(measure, table, target, at[few], near, notes),
        )
    if learned and y is not None:
        notes.append("labels are left out of the table of hubs: the measure has learned from them")
    labels = None if learned or y is None else y
    # Ties shared out: else those at the top of the table would look like hubs. A list that ends
    # with pairs that cannot be compared has no last distance to share.
    tied = figures["ties"] > MANY and not undefined
    hubs = _hubness(measure, labels, k, at, distances, tied, notes)
    return replace(found, hubness=hubs, notes=tuple(notes))


def _fit(
    space: Any, X: Any, y: Any, kinds: Mapping[str, Any] | None, seed: int
) -> tuple[Measure, Table | None, np.ndarray | None, bool, int]:
    """Fit a copy of a measure to a sample of X; return also the table and whether it learned."""
    if isinstance(space, str):
        space = as_measure(space, "diagnose")
    if not isinstance(space, Measure):
        raise InvalidInput(
            "diagnose", "a measure for X", type(space).__name__, ("Leave ", Param("X"), " out")
        )
    if getattr(space, "frozen_", False):
        raise InvalidInput(
            "diagnose",
            "a measure that can be fitted to X",
            f"a frozen {type(space).__name__}",
            ("Leave ", Param("X"), " out, or pass the measure itself"),
        )
    measure = prepared(space, seed, None)
    table, y = split_labels(
        measure.read(X if kinds is None else read_table(X, kinds=kinds)), y, "diagnose"
    )
    target = None if y is None else np.asarray(y)
    n = len(table)
    at = some_rows(n, SAMPLE, seed)
    if measure.traits.pairwise:
        measure.fit(table)
        return measure, None, target, False, n
    table, target = table[at], None if target is None else target[at]
    learned = has_learned(measure)
    try:
        measure.fit(table)
    except InvalidInput:
        if target is None:
            raise
        measure.fit(table, target)
        learned = True
    return measure, table, target, learned, n


def has_learned(measure: Measure) -> bool:
    """Whether a fitted measure is known to have seen labels: learned weights, a given forest."""
    params = measure.get_params()
    weights = [params[name] for name in own_params(measure, "weights")]
    return bool(supervised_forests(measure)) or any(isinstance(one, str) for one in weights)


def _similarities(measure: Measure, at: np.ndarray) -> np.ndarray:
    """Return the similarities of some fitted rows; pairs that cannot be compared have 0."""
    rows = measure.rows_[at]
    found = rectangle(measure, rows, rows, "similarity", undefined="keep")
    found[np.isnan(found)] = 0.0
    return found


def _seeds(
    measure: Measure,
    table: Table,
    y: np.ndarray | None,
    at: np.ndarray,
    near: np.ndarray,
    seed: int,
) -> Agreement | None:
    if not own_params(measure, "random_state"):
        return None
    other = reseeded(measure, seed + 1).fit(table, y)
    return ranking_agreement(-near, -distances_among(other, at)[0])


def _scales(
    measure: Measure,
    table: Table,
    y: np.ndarray | None,
    at: np.ndarray,
    near: np.ndarray,
    notes: list[str],
) -> dict[str, Agreement]:
    """Return how far rows are ranked alike when the number columns are written on other scales."""
    from sklearn.base import clone

    if given_forests(measure):
        notes.append("a forest that was fitted elsewhere cannot be fitted to other scales")
        return {}
    written = [_rescaled(column) for column in table]
    if not any(written):
        notes.append("no number columns, so no sensitivity to scales")
        return {}
    found = {}
    for name in next(columns for columns in written if columns):
        columns = [
            columns[name] if columns else column
            for column, columns in zip(table, written, strict=True)
        ]
        changed = Table(columns, table.aside, len(table), table.missing)
        try:
            other = clone(measure).fit(changed, y)
            found[name] = ranking_agreement(-near, -distances_among(other, at)[0])
        except InvalidInput as error:  # values that differed may be equal on another scale
            notes.append(f"the transform {name} is left out: {error}")
    return found


def _rescaled(column: Column) -> dict[str, Column]:
    """Return a column of numbers under the six transforms; gaps stay, other columns have none."""
    if column.kind.name != "number":
        return {}
    known = ~np.isnan(column.values)
    if not known.any() or not np.isfinite(column.values[known]).all():
        return {}
    out = {}
    for name, values in transforms(column.values[known][:, None]).items():
        cells = np.full(len(column), np.nan)
        cells[known] = values[:, 0]
        out[name] = replace(column, values=cells)
    return out


def _hubness(
    measure: Measure,
    labels: np.ndarray | None,
    k: int,
    at: np.ndarray,
    distances: np.ndarray,
    tied: bool,
    notes: list[str],
) -> HubnessReport:
    n = len(measure.rows_)
    if n == len(at):
        ties = "expected" if tied else "index"
        return hubness_report(measure, labels, k, ties=ties)
    from lookalike.measures import Precomputed

    notes.append(f"hubs are counted in the {len(at):,} rows of the sample")
    given = Precomputed(symmetric=measure.traits.symmetric).fit(distances)
    return hubness_report(given, None if labels is None else labels[at], k)
