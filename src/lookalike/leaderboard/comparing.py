"""Compare measures on a table, best first."""

from __future__ import annotations

import re
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor

from lookalike._runtime.config import count_jobs
from lookalike._runtime.folds import assign_folds
from lookalike._runtime.keywords import forgiving
from lookalike._runtime.progress import Progress
from lookalike._runtime.random_state import RANDOM_STATE, make_seed
from lookalike.errors import (
    ColumnsLeftOut,
    InPython,
    InvalidInput,
    LookalikeError,
    LookalikeWarning,
    Param,
    Phrase,
)
from lookalike.evaluate.vote import vote
from lookalike.hubness import NICDM, LocalScaling, MutualProximity
from lookalike.leaderboard import scores
from lookalike.leaderboard.board import Entry, Leaderboard, shares_of_score
from lookalike.measures import MEASURES, Gower, Measure, Precomputed, Vector
from lookalike.measures.names import make_measure, named_entries
from lookalike.measures.numeric import plan_inputs, read_inputs
from lookalike.saving.fields import KINDS, Integer, Maybe, Real
from lookalike.table import Table, read_table
from lookalike.table.model.targets import code_labels, split_target
from lookalike.trees.growers import Grower

MAX_SAMPLE_ROWS = 2_000  # rows of a larger table that are tried
MIN_ROWS_FOR_REDUCERS = 11  # hubness reducers look at 10 neighbors
REDUCERS: tuple[Any, ...] = (LocalScaling, NICDM, MutualProximity)


@forgiving
def compare(
    table: Any,
    measures: Any = None,
    y: Any = None,
    k: int = 5,
    *,
    max_seconds: float | None = None,
    sample: int | None = None,
    kinds: Mapping[str, Any] | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Leaderboard:
    """Compare measures on a table, and recommend one.

    **With labels** a measure is as good as its neighbors: the share of rows whose k nearest others
    vote for their label, each row left out of its own list. A measure that learns from the labels
    (``Gower(weights="relieff")``, a supervised forest) is scored by 5-fold cross-validation: it
    never meets the label of a row that it is scored on, and a classifier given to
    ``ForestProximity`` is fitted anew in every fold. Measures that can do without labels are fitted
    without.

    **Without labels** the score says only whether a measure behaves, not what it is good for. It
    is the mean of four numbers, each 1 at its best: how far two seeds rank rows alike;
    ``1 / (1 + hubness)``; the best silhouette of two to six clusters around medoids, moved to
    [0, 1]; and the share of distances that are not tied. Take it as a hint.

    Parameters
    ----------
    table : table, frame, array, dict of columns or path
        Or, for measures of matrices such as ``NICDM(Precomputed())``, a square matrix of distances.
    measures : sequence, or mapping of name to measure, optional
        Measures, or names of measures such as "gower". None: every measure that the library or a
        subclass of ``Measure`` offers, with its usual settings, ``Vector(scale="standard")``, with
        labels ``Gower(weights="relieff")``; then the best of them with the hubness reducers
        ``LocalScaling``, ``NICDM`` and ``MutualProximity``.
    y : array of n labels, or the name of a column, optional
        A named column is taken out of the table.
    k : int
        Neighbors that vote, and the length of the lists that hubs are counted in.
    max_seconds : float, optional
        Begin no further measure after this time.
    sample : int, optional
        Rows that are tried, drawn once for all measures. None: 2,000 of a larger table. Hubness,
        ties, stability and silhouette look at no more than 2,000 of them.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    random_state : None, int, RandomState or Generator
        Seed of the sample, the folds, and every measure that has none.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``. Only times depend on it.

    Returns
    -------
    Leaderboard
        Print it; ``.best`` is the measure to take, ``.reason`` says why. A measure that cannot be
        used has a line with the reason.

    Notes
    -----
    Times are those of the sample, on this machine, after a first run that compiles; reducers share
    the distances of their measure, and its time and memory are added to theirs. The best of
    many is a little worse on new rows than it looks here: keep some rows back if its score matters.

    Examples
    --------
    >>> import lookalike as la
    >>> from lookalike.datasets import load_penguins
    >>> from lookalike.measures import Gower, Vector
    >>> board = la.compare(
    ...     load_penguins(), [Gower(), Gower(missing="midpoint"), Vector()], "species"
    ... )
    >>> board.best
    Gower(missing='midpoint')
    >>> print(board["Vector"].error)
    Vector: needs numbers without missing or infinite values, found 8 missing values (NaN), ...
    """
    Integer(1).check("compare", "k", k)
    Maybe(Integer(3)).check("compare", "sample", sample)
    Maybe(Real(0.0)).check("compare", "max_seconds", max_seconds)
    KINDS.check("compare", "kinds", kinds)
    RANDOM_STATE.check("compare", "random_state", random_state)
    count_jobs(n_jobs)
    seed = make_seed(random_state)
    candidates = _usual(y is not None) if measures is None else _named(measures)
    # Read once: all measures see the same kinds and the same sample.
    read, n = _read(table, candidates, kinds)
    positions = scores.some_rows(n, sample or MAX_SAMPLE_ROWS, seed)
    data = _data(read, y, positions, k, seed, n_jobs)
    reduces = measures is None and len(positions) >= MIN_ROWS_FOR_REDUCERS
    reducers = REDUCERS if reduces else ()
    entries: list[Entry] = []
    skipped: list[str] = []
    deadline = time.monotonic() + (np.inf if max_seconds is None else max_seconds)
    # Of the best alone: the distances of all measures together would take a lot of memory.
    kept = Kept()

    def wanted(measures: list[tuple[str, Measure]]) -> Iterator[tuple[str, Measure]]:
        for name, measure in measures:
            # Even without any time left one measure is tried, so there is an answer.
            if entries and time.monotonic() > deadline:
                skipped.append(name)
            else:
                yield name, measure
                bar.advance()

    with Progress("comparing measures", len(candidates) + len(reducers)) as bar:
        for name, measure in wanted(candidates):
            entry, found = try_measure(name, measure, data)
            entries.append(entry)
            if max(entries, key=_sort_key) is entry:
                kept = found
        best = max(entries, key=_sort_key)
        if reducers and not best.error:
            known = on_distances(best, kept, data)
            reduced = [(f"{cls.__name__}({best.name})", cls(best.measure)) for cls in reducers]
            entries += [try_reducer(*one, best, known, data) for one in wanted(reduced)]
    notes = [f"not tried in {max_seconds:g} seconds: {', '.join(skipped)}"] if skipped else []
    entries.sort(key=_sort_key, reverse=True)
    chance = None if data.codes is None else float(np.bincount(data.codes).max() / len(positions))
    return Leaderboard(tuple(entries), len(positions), n, k, chance, tuple(notes))


def _sort_key(entry: Entry) -> tuple[float, ...]:
    """Return what entries are sorted by: the score, then precision, then few hubs."""
    # Failed measures come last, whatever else they have.
    if entry.error:
        return (-1.0, 0.0, 0.0)
    return (entry.score, entry.values.get("precision", 0.0), -entry.values["hubness"])


# -- measures --------------------------------------------------------------------------------------


def _usual(labelled: bool) -> list[tuple[str, Measure]]:
    """Return every registered measure that works on tables by itself, with its usual settings."""
    measures = []
    for cls in MEASURES.values():
        with suppress(TypeError):  # one that cannot be made without arguments
            measures.append(cls())
    measures = [measure for measure in measures if not measure.traits.pairwise]
    measures += [Vector(scale="standard"), *([Gower(weights="relieff")] if labelled else [])]
    return [(short_name(measure), measure) for measure in measures]


def short_name(measure: Measure) -> str:
    """Return the repr of a measure in one line.

    Examples
    --------
    >>> from lookalike.hubness import NICDM
    >>> short_name(NICDM(Gower(missing="midpoint"))), short_name(NICDM(Vector()))
    ("NICDM(Gower(missing='midpoint'))", 'NICDM(Vector)')
    """
    # repr breaks long lines; a name in a table is one line.
    line = re.sub(r"\s+", " ", repr(measure))
    return line.replace("(measure=", "(").replace("()", "")


def _named(measures: Any) -> list[tuple[str, Measure]]:
    if isinstance(measures, str | Measure) or not isinstance(measures, Iterable):
        measures = [measures]
    named: dict[str, Measure] = {}
    for given, entry in named_entries(measures):
        measure = make_measure(entry, "compare") if isinstance(entry, str) else entry
        if not isinstance(measure, Measure):
            hint = Phrase(InPython("Pass instances, for example [Gower(), Vector()]"))
            raise InvalidInput("compare", "measures, or names of them", repr(entry), hint)
        name = short_name(measure) if given is None else str(given)
        numbered = (f"{name} ({i})" for i in count(2))
        named[next(n for n in chain([name], numbered) if n not in named)] = measure
    if not named:
        raise InvalidInput("compare", "at least one measure", "none", "Name at least one")
    return list(named.items())


# -- rows and labels -------------------------------------------------------------------------------


def _read(
    table: Any, measures: list[tuple[str, Measure]], kinds: Mapping[str, Any] | None
) -> tuple[Table | np.ndarray, int]:
    """Return the table, or the matrix that all measures want, and its number of rows."""
    pairwise = {bool(measure.traits.pairwise) for _, measure in measures}
    if pairwise == {True}:
        matrix = np.asarray(measures[0][1].read(table).columns[0].values)
        return matrix, len(matrix)
    if True in pairwise:
        needed, hint = "measures of tables, or measures of matrices", "Compare them in two calls"
        raise InvalidInput("compare", needed, "both", hint)
    read = read_table(table, kinds=kinds)
    return read, len(read)


def _data(
    read: Table | np.ndarray, y: Any, positions: np.ndarray, k: int, seed: int, n_jobs: int | None
) -> TrialData:
    """Return the rows to be tried, with labels as numbers."""
    scores.check_rows(k, len(positions), "compare")
    codes = None
    if isinstance(y, str):
        if isinstance(read, np.ndarray):
            hint = "Pass the labels as an array"
            raise InvalidInput("compare", "labels beside a matrix", repr(y), hint)
        read, y = split_labels(read, y, "compare")
    if y is not None:
        codes, labels = code_labels(y, len(read), "compare")
        for label in labels:
            if isinstance(label, float | np.floating) and label != round(label):
                needed = "labels: texts, integers or booleans"
                cut = "Cut amounts into classes, or leave ", Param("y"), " out"
                raise InvalidInput("compare", needed, f"{label:g}, an amount", cut)
        # Renumbered: the sample may have no row of a class.
        codes = np.unique(codes[positions], return_inverse=True)[1]
        if codes.max() == 0:
            who, leave = Param("y", of="compare"), ("Leave ", Param("y"), " out")
            raise InvalidInput(who, "labels of at least two classes", "one", leave)
    if isinstance(read, np.ndarray):
        part = Precomputed(symmetric=False).read(read[np.ix_(positions, positions)])
    else:
        part = read[positions]
    return TrialData(part, codes, k, seed, n_jobs)


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


OURS = (Measure, Grower)  # what a measure is made of, beside forests fitted elsewhere
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
    def words(self) -> np.ndarray:
        """The labels as texts: measures that learn would read numbers as amounts."""
        return np.array([f"class {code}" for code in np.asarray(self.codes)])


class Kept(NamedTuple):
    """What reducers of a measure are tried on: its distances, and the measure by another seed."""

    distances: np.ndarray | None = None  # of all rows that are tried; None: some pairs have none
    other: Measure | None = None  # without labels, for the stability of reducers


def try_measure(name: str, measure: Measure, data: TrialData) -> tuple[Entry, Kept]:
    """Fit and score one measure; whatever goes wrong becomes the reason in its line."""
    # A copy with a seed: the board shows what was tried, and can be repeated.
    measure, kept = prepared(measure, data.seed, data.n_jobs), Kept()
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            entry, kept = _tried(name, measure, data)
        except LookalikeError as error:
            entry = Entry(name, measure, error=error.phrase())
        except Exception as error:  # also those of measures written elsewhere
            entry = Entry(name, measure, error=f"{type(error).__name__}: {error}")
    ours = [w.message.phrase() for w in heard if isinstance(w.message, LookalikeWarning)]
    partial = any(issubclass(w.category, ColumnsLeftOut) for w in heard)
    notes = tuple(dict.fromkeys([*entry.notes, *ours]))
    return replace(entry, notes=notes, partial=partial), kept


def _tried(name: str, measure: Measure, data: TrialData) -> tuple[Entry, Kept]:
    _refuse_fitted(measure)
    _warm(measure, data)
    given = supervised_forests(measure) if data.codes is not None else {}
    # The same measure with another seed serves both as memory trial and for stability.
    other = reseeded(measure, data.seed + 1)
    learns = False
    values: dict[str, float] = {}
    # Memory is measured on a fit of its own: tracemalloc would slow down the one that is timed.
    try:
        rows = data.table if data.other is None else data.other
        values["peak_bytes"] = _peak(lambda: other.fit(rows))
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
    some = scores.some_rows(len(data.table), MAX_MATRIX_ROWS, data.seed)
    distances, undefined = scores.distances_among(fitted, some, data.n_jobs, mirrored=True)
    values["hubness"] = scores.expected_hubness(distances, data.k)
    values["ties"] = scores.tied_share(distances)
    notes = (f"{undefined:.1%} of the pairs have nothing to compare",) if undefined else ()
    right = None
    if data.codes is None:
        values["stability"] = _stability(measure, fitted, other, data)
        few = scores.some_rows(len(distances), MAX_RANKED_ROWS, data.seed)
        values["silhouette"] = scores.best_silhouette(distances[np.ix_(few, few)])
        score, how = sum(shares_of_score(values).values()) / 4, "no labels"
    else:
        near, how = data.codes[lists.indices], "leave-one-out"
        if learns or given:
            near, how = _by_folds(measure, data, given), "cross-validation"
        # Uniform votes: the order of neighbors is scored, not the scale of distances.
        right = vote(near, np.ones(near.shape), int(data.codes.max()) + 1, "first") == data.codes
        score = values["accuracy"] = float(right.mean())
        values["precision"] = scores.precision_at_k(near, data.codes)
    entry = Entry(name, measure, score, values, how, notes, right=right)
    # A measure that learns has other distances in every fold; rows beyond the sample have none.
    whole = not undefined and how != "cross-validation" and len(some) == len(data.table)
    return entry, Kept(distances, other if data.codes is None else None) if whole else Kept()


# -- reducers of one measure -----------------------------------------------------------------------


def on_distances(base: Entry, kept: Kept, data: TrialData) -> TrialData | None:
    """Return the distances of a measure, for reducers of it to be tried on; None if they cannot."""
    if kept.distances is None or base.measure.traits.pairwise:
        return None
    matrices = [kept.distances]
    if kept.other is not None and own_params(base.measure, "random_state"):
        every = np.arange(len(data.table))
        matrices.append(scores.distances_among(kept.other, every, data.n_jobs, mirrored=True)[0])
    with suppress(LookalikeError):  # such as a row at a distance from itself
        table, *others = map(Precomputed(symmetric=base.measure.traits.symmetric).read, matrices)
        return replace(data, table=table, other=others[0] if others else None)
    return None


def try_reducer(
    name: str, reducer: Measure, base: Entry, known: TrialData | None, data: TrialData
) -> Entry:
    """Try a reducer of a measure, on its distances where they are known.

    Time and memory include those of the measure.
    """
    if known is None:
        return try_measure(name, reducer, data)[0]
    inner = Precomputed(symmetric=base.measure.traits.symmetric)
    entry, _ = try_measure(name, clone(reducer).set_params(measure=inner), known)
    shown = prepared(reducer, data.seed, data.n_jobs)
    if entry.error:
        return replace(entry, measure=shown)
    values, before = dict(entry.values), base.values
    values["fit_seconds"] += before["fit_seconds"] + before["search_seconds"]  # all rows
    values["search_seconds"] += before["search_seconds"]
    values["peak_bytes"] = max(before["peak_bytes"], values["peak_bytes"])
    notes = tuple(dict.fromkeys([*base.notes, *entry.notes]))
    return replace(entry, measure=shown, values=values, notes=notes, partial=base.partial)


# -- measures that learn from labels ---------------------------------------------------------------


def _by_folds(measure: Measure, data: TrialData, given: dict[str, Any]) -> np.ndarray:
    """Return the labels of the neighbors of each row among the rows of the other folds."""
    codes, words = np.asarray(data.codes), data.words
    n = len(codes)
    near = np.empty((n, data.k), dtype=np.int64)
    folds = assign_folds(codes, n, N_FOLDS, data.seed, "compare")
    for fold in np.unique(folds):
        known, held_out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        own = clone(measure)
        own.set_params(**{name: _refitted(given[name], data, known) for name in given})
        own.fit(data.table[known], words[known])
        near[held_out] = codes[known][own.neighbors(data.table[held_out], data.k).indices]
    return near


def given_forests(measure: Measure) -> dict[str, Any]:
    """Return the parameters that hold a forest which was fitted elsewhere."""
    params = measure.get_params().items()
    return {n: v for n, v in params if hasattr(v, "get_params") and not isinstance(v, OURS)}


def supervised_forests(measure: Measure) -> dict[str, Any]:
    """Return the parameters that hold a forest which was fitted to some target."""
    given = given_forests(measure).items()
    return {n: forest for n, forest in given if is_classifier(forest) or is_regressor(forest)}


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
    own = [name for name, owner in owners.items() if isinstance(owner, OURS)]
    return [name for name in own if name.rpartition("__")[2] == last]


def prepared(measure: Measure, seed: int, n_jobs: int | None) -> Measure:
    """Return a copy with seeds and threads where the measure says nothing about them."""
    if getattr(measure, "frozen_", False):
        return measure
    measure = clone(measure)
    params = measure.get_params()
    given = {"random_state": seed, "n_jobs": n_jobs}
    wanted = {name: value for last, value in given.items() for name in own_params(measure, last)}
    return measure.set_params(**{name: v for name, v in wanted.items() if params[name] is None})


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
    return scores.ranking_agreement(-first, -second).mean


def _warm(measure: Measure, data: TrialData) -> None:
    """Run everything once on a few rows; what goes wrong here goes wrong again later."""
    few = data.table[:N_WARM_UP_ROWS]
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
    # A caller may be tracing already: its own peak is lost, its trace is not.
    tracing = tracemalloc.is_tracing()
    tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        task()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        if not tracing:
            tracemalloc.stop()
