"""One measure on one table: fitted, timed and scored, or the reason why it failed."""

from __future__ import annotations

import time
import tracemalloc
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor

from lookalike._runtime.folds import assign_folds
from lookalike.errors import ColumnsLeftOut, InvalidInput, LookalikeError, LookalikeWarning, Param
from lookalike.evaluate.vote import class_totals, winners
from lookalike.leaderboard import scores
from lookalike.leaderboard.ranking import ranking_agreement
from lookalike.measures.contract.base import Measure
from lookalike.measures.numeric import plan_inputs, read_inputs
from lookalike.measures.precomputed import Precomputed
from lookalike.table import Table
from lookalike.table.model.targets import code_labels, split_target
from lookalike.trees.growers import Grower


def split_labels(table: Table, y: Any, who: str) -> tuple[Table, Any]:
    """Return the table without its labels, and the labels, checked, as they were given."""
    if isinstance(y, str):
        table, labels = split_target(table, y, who)
        # Not even set aside: a measure whose kinds name the column would compare by it.
        table = table.drop(y)
        if not table.columns:
            hint = "Give the table more columns than its labels"
            raise InvalidInput(who, "columns to compare", "none", hint)
        return table, labels
    if y is not None:
        code_labels(y, len(table), who)
    return table, y


def read_codes(y: Any, n: int, who: str) -> np.ndarray:
    """Return labels as integer codes; missing labels and amounts are refused."""
    codes, labels = code_labels(y, n, who)
    for label in labels:
        if isinstance(label, float | np.floating) and label != round(label):
            needed = "labels: texts, integers or booleans"
            hint = "Cut amounts into classes, or leave ", Param("y"), " out"
            raise InvalidInput(who, needed, f"{label:g}, an amount", hint)
    return codes


N_WARM_UP_ROWS = 64  # a measure runs on them first, so that its time does not include compiling
MAX_MATRIX_ROWS = 2_000  # rows whose distances to each other are computed
MAX_RANKED_ROWS = 500  # rows whose rankings are compared, and that are clustered
N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class TrialData:
    """The rows that all measures are tried on.

    Parameters
    ----------
    table : Table
        Without the labels; for measures of matrices, one column of distances, and these learn from
        no labels.
    codes : int array of n, optional
        The labels, as integers.
    k : int
    seed : int
    n_jobs : int or None
    other : Table, optional
        The distances of ``table`` by another seed.
    """

    table: Table
    codes: np.ndarray | None
    k: int
    seed: int
    n_jobs: int | None
    other: Table | None = None

    @property
    def again(self) -> Table:
        """The rows for the fit with another seed."""
        return self.table if self.other is None else self.other

    @property
    def words(self) -> np.ndarray:
        """The labels as texts: measures that learn would read numbers as amounts."""
        return np.array([f"class {code}" for code in np.asarray(self.codes)])


@dataclass(frozen=True, eq=False)
class Entry:
    """A line of a leaderboard.

    Parameters
    ----------
    name : str
    measure : Measure
        Not fitted, with the seed it was tried with.
    score : float
        What the leaderboard is sorted by; NaN where the measure could not be used.
    values : mapping of statistic to number
        See ``Leaderboard``.
    scored_by : {"leave-one-out", "cross-validation", "no labels", ""}
        Empty if nothing could be scored.
    notes : tuple of str
        What the measure warned about, such as columns it leaves out.
    partial : bool
        Whether it leaves out columns.
    error : str
        Why the measure could not be used; empty if it could.
    right : bool array of n, optional
        On which rows the vote of the neighbors was right.
    distances : array of n x n, optional
        Of the rows it was tried on, for its reducers; None after ``compare``, and where a pair has
        no distance.
    other : Measure, optional
        Fitted with another seed, likewise for its reducers.
    """

    name: str
    measure: Measure
    score: float = float("nan")
    values: dict[str, float] = field(default_factory=dict)
    scored_by: str = ""
    notes: tuple[str, ...] = ()
    partial: bool = False
    error: str = ""
    right: np.ndarray | None = field(default=None, repr=False)
    distances: np.ndarray | None = field(default=None, repr=False)
    other: Measure | None = field(default=None, repr=False)


def try_measure(name: str, measure: Measure, data: TrialData) -> Entry:
    """Fit and score one measure; whatever goes wrong becomes the reason in its line."""
    # A copy with a seed: the board shows what was tried, and can be repeated.
    measure = prepared(measure, data.seed, data.n_jobs)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            entry = _tried(name, measure, data)
        except Exception as error:  # also those of measures written elsewhere
            why = (
                error.phrase()
                if isinstance(error, LookalikeError)
                else f"{type(error).__name__}: {error}"
            )
            entry = Entry(name, measure, error=why)
    ours = [w.message.phrase() for w in heard if isinstance(w.message, LookalikeWarning)]
    partial = any(issubclass(w.category, ColumnsLeftOut) for w in heard)
    return replace(entry, notes=tuple(dict.fromkeys([*entry.notes, *ours])), partial=partial)


def _tried(name: str, measure: Measure, data: TrialData) -> Entry:
    _refuse_fitted(measure)
    _warm(measure, data)
    given = supervised_forests(measure) if data.codes is not None else []
    # The same measure with another seed serves both as memory trial and for stability.
    other = reseeded(measure, data.seed + 1)
    learns = False
    values: dict[str, float] = {}
    # Memory is measured on a fit of its own: tracemalloc would slow down the one that is timed.
    try:
        values["peak_bytes"] = _peak(lambda: other.fit(data.again))
    except Exception:
        if data.codes is None:
            raise
        # What cannot be fitted without labels learns from them, or its own error comes out here.
        values["peak_bytes"] = _peak(lambda: other.fit(data.table, data.words))
        learns = True
    fitted = clone(measure)
    began = time.perf_counter()
    fitted.fit(data.table, data.words if learns else None)
    values["fit_seconds"] = time.perf_counter() - began
    began = time.perf_counter()
    lists = fitted.neighbors(None, data.k)
    values["search_seconds"] = time.perf_counter() - began
    values["kept_bytes"] = scores.bytes_kept(fitted)
    some = scores.some_rows(len(data.table), MAX_MATRIX_ROWS, data.seed)
    distances, undefined = scores.distances_among(fitted, some, data.n_jobs, mirrored=True)
    values["hubness"] = scores.expected_hubness(distances, data.k)
    values["ties"] = scores.tied_share(distances)
    notes = [] if not undefined else [f"{undefined:.1%} of the pairs have nothing to compare"]
    kept = None if undefined else distances
    if data.codes is None:
        values["stability"] = _stability(measure, fitted, other, data)
        some = scores.some_rows(len(distances), MAX_RANKED_ROWS, data.seed)
        values["silhouette"] = scores.best_silhouette(distances[np.ix_(some, some)])
        score = without_labels(values)
        found = score, values, "no labels", tuple(notes)
        return Entry(name, measure, *found, distances=kept, other=other)
    if learns or given:
        near, how = _by_folds(measure, data, given), "cross-validation"
    else:
        near, how = data.codes[lists.indices], "leave-one-out"
    # Uniform votes: the order of neighbors is scored, not the scale of distances.
    votes = class_totals(near, np.ones(near.shape), int(data.codes.max()) + 1)
    right = winners(votes, near, "first") == data.codes
    values["accuracy"] = float(right.mean())
    values["precision"] = scores.precision_at_k(near, data.codes)
    found = values["accuracy"], values, how, tuple(notes)
    return Entry(name, measure, *found, right=right, distances=kept)


# -- reducers of one measure -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Space:
    """All distances by a measure: its reducers are tried on them, and none computes them again.

    Parameters
    ----------
    base : Entry
    inner : Precomputed
        The measure in trials of reducers: its distances, computed once.
    data : TrialData
        The distances.
    """

    base: Entry
    inner: Measure
    data: TrialData

    def try_reducer(self, name: str, reducer: Measure) -> Entry:
        """Try a reducer of the measure; its time and memory include those of the measure."""
        shown = prepared(reducer, self.data.seed, self.data.n_jobs)
        entry = try_measure(name, clone(reducer).set_params(measure=self.inner), self.data)
        if entry.error:
            return replace(entry, measure=shown)
        values, base = dict(entry.values), self.base.values
        values["fit_seconds"] += base["fit_seconds"] + base["search_seconds"]  # compares all rows
        values["search_seconds"] += base["search_seconds"]
        values["kept_bytes"] += base["kept_bytes"] - self.data.table.columns[0].values.nbytes
        values["peak_bytes"] = max(base["peak_bytes"], values["kept_bytes"])
        notes = tuple(dict.fromkeys([*self.base.notes, *entry.notes]))
        partial = self.base.partial
        return replace(entry, measure=shown, values=values, notes=notes, partial=partial)


def open_space(base: Entry, data: TrialData) -> Space | None:
    """Return the distances of all rows by a measure that was tried; None if there are none.

    A measure that learns from labels has others in every fold; pairs without a distance and rows
    beyond the sample have none.
    """
    found, learns = base.distances, base.scored_by == "cross-validation"
    if found is None or learns or len(found) < len(data.table) or base.measure.traits.pairwise:
        return None
    inner = Precomputed(symmetric=base.measure.traits.symmetric)
    matrices = [found]
    if base.other is not None and own_params(base.measure, "random_state"):
        every = np.arange(len(data.table))
        matrices.append(scores.distances_among(base.other, every, data.n_jobs, mirrored=True)[0])
    try:
        table, *others = map(inner.read, matrices)
    except LookalikeError:  # such as a row at a distance from itself
        return None
    return Space(base, inner, replace(data, table=table, other=others[0] if others else None))


def without_labels(values: dict[str, float]) -> float:
    """Return the score of a measure that there are no labels for: a mean of four shares."""
    return (
        max(values["stability"], 0.0)
        + 1 / (1 + max(values["hubness"], 0.0))
        + (1 + values["silhouette"]) / 2
        + (1 - values["ties"])
    ) / 4


# -- measures that learn from labels ---------------------------------------------------------------


def _by_folds(measure: Measure, data: TrialData, given: list[str]) -> np.ndarray:
    """Return the labels of the neighbors of each row among the rows of the other folds."""
    codes, words = np.asarray(data.codes), data.words
    n = len(codes)
    near = np.empty((n, data.k), dtype=np.int64)
    folds = assign_folds(codes, n, N_FOLDS, data.seed, "compare")
    for fold in np.unique(folds):
        known, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        own = clone(measure)
        for name in given:
            own.set_params(**{name: _refitted(own.get_params()[name], data, known)})
        own.fit(data.table[known], words[known])
        near[held_out] = codes[known][own.neighbors(data.table[held_out], data.k).indices]
    return near


def given_forests(measure: Measure) -> list[str]:
    """Return the parameters that hold a forest which was fitted elsewhere."""
    return [
        name
        for name, value in measure.get_params().items()
        if hasattr(value, "get_params") and not isinstance(value, Measure | Grower)
    ]


def supervised_forests(measure: Measure) -> list[str]:
    """Return the parameters that hold a forest which was fitted to some target."""
    params, given = measure.get_params(), given_forests(measure)
    return [n for n in given if is_classifier(params[n]) or is_regressor(params[n])]


def _refitted(forest: Any, data: TrialData, known: np.ndarray) -> Any:
    """Return a new forest of the same settings that has seen the known rows only."""
    who = type(forest).__name__
    if not is_classifier(forest):
        needed = "a forest that can be fitted anew in each fold"
        found = "one that was fitted to amounts, which may come from these labels"
        hint = "Leave ", Param("y"), " out, or pass a classifier"
        raise InvalidInput(f"compare with a fitted {who}", needed, found, hint)
    # The columns as ForestProximity passes them to a forest.
    values = read_inputs(data.table, plan_inputs(data.table, who, categories=True))
    return clone(forest).fit(values[known], np.asarray(data.codes)[known])


def _refuse_fitted(measure: Measure) -> None:
    """Refuse a measure that keeps what it has learned, perhaps from the rows to be scored."""
    for part in [measure, *measure.get_params().values()]:
        if isinstance(part, Measure) and getattr(part, "frozen_", False):
            found = f"a frozen {type(part).__name__}, which may have learned from these rows"
            hint = "Pass the measure itself"
            raise InvalidInput("compare", "measures that are fitted here", found, hint)


# -- seeds, time and memory ------------------------------------------------------------------------


def own_params(measure: Measure, last: str) -> list[str]:
    """Return the parameters of this name, of the measure and of what is fitted with it."""
    params = measure.get_params()
    # A forest that was fitted elsewhere keeps its seed.
    owners = {name: params.get(name.rpartition("__")[0], measure) for name in params}
    return [
        name
        for name, owner in owners.items()
        if name.rpartition("__")[2] == last and isinstance(owner, Measure | Grower)
    ]


def prepared(measure: Measure, seed: int, n_jobs: int | None) -> Measure:
    """Return a copy with seeds and threads where the measure says nothing about them."""
    if getattr(measure, "frozen_", False):
        return measure
    measure = clone(measure)
    params = measure.get_params()
    wanted = {name: seed for name in own_params(measure, "random_state") if params[name] is None}
    if n_jobs is not None:
        wanted |= {name: n_jobs for name in own_params(measure, "n_jobs") if params[name] is None}
    return measure.set_params(**wanted)


def reseeded(measure: Measure, seed: int) -> Measure:
    """Return a copy with another seed in every parameter that takes one."""
    params, names = measure.get_params(), own_params(measure, "random_state")
    # One more where the user chose this very seed: the two runs have to differ.
    return clone(measure).set_params(**{name: seed + (params[name] == seed) for name in names})


def _stability(measure: Measure, fitted: Measure, other: Measure, data: TrialData) -> float:
    some = scores.some_rows(len(data.table), MAX_RANKED_ROWS, data.seed)
    seeded = data.other is not None or own_params(measure, "random_state")
    if not seeded or len(some) < 3:
        return 1.0
    first, second = (
        scores.distances_among(m, some, data.n_jobs, mirrored=True)[0] for m in (fitted, other)
    )
    return ranking_agreement(-first, -second).mean


def _warm(measure: Measure, data: TrialData) -> None:
    """Run everything once on a few rows; what goes wrong here goes wrong again later."""
    few = data.table[: min(N_WARM_UP_ROWS, len(data.table))]
    try:
        if measure.traits.pairwise:
            few = measure.read(few.columns[0].values[:, : len(few)])
        words = None if data.codes is None else data.words[: len(few)]
        small = clone(measure).fit(few, words)
        scores.distances_among(small, np.arange(len(few)))
        small.neighbors(None, data.k)
    except Exception:
        return


def _peak(task: Callable[[], Any]) -> int:
    """Return the peak memory of Python and numpy during a task, in bytes."""
    tracing = tracemalloc.is_tracing()
    if not tracing:
        tracemalloc.start()
    try:
        # A caller may be tracing already: its own peak is lost, its trace is not.
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        task()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        if not tracing:
            tracemalloc.stop()
