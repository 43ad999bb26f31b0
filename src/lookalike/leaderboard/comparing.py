"""Compare measures on a table, best first."""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, count
from typing import Any

import numpy as np

from lookalike._runtime.config import count_jobs
from lookalike._runtime.keywords import forgiving
from lookalike._runtime.progress import Progress
from lookalike._runtime.random_state import RANDOM_STATE, make_seed
from lookalike.errors import InPython, InvalidInput, Param, Phrase
from lookalike.hubness import NICDM, LocalScaling, MutualProximity
from lookalike.leaderboard import trial
from lookalike.leaderboard.board import Leaderboard
from lookalike.leaderboard.scores import check_rows, some_rows
from lookalike.measures import MEASURES, Gower, Measure, Precomputed, Vector
from lookalike.measures.names import make_measure, named_entries
from lookalike.saving.fields import KINDS, Integer, Maybe, Real
from lookalike.table import Table, read_table

MAX_SAMPLE_ROWS = 2_000  # rows of a larger table that are tried
MIN_ROWS_FOR_REDUCERS = 11  # hubness reducers look at 10 neighbors
REDUCERS: tuple[Any, ...] = (LocalScaling, NICDM, MutualProximity)
FIELDS = {
    "k": Integer(1),
    "sample": Maybe(Integer(3)),
    "max_seconds": Maybe(Real(0.0)),
    "kinds": KINDS,
    "random_state": RANDOM_STATE,
}


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
    _check(k=k, sample=sample, max_seconds=max_seconds, kinds=kinds, random_state=random_state)
    count_jobs(n_jobs)
    seed = make_seed(random_state)
    labelled = y is not None
    candidates = _usual(labelled) if measures is None else _named(measures)
    # Read once: all measures see the same kinds and the same sample.
    read, n = _read(table, candidates, kinds)
    positions = some_rows(n, sample or MAX_SAMPLE_ROWS, seed)
    data, chance = _data(read, y, positions, k, seed, n_jobs)
    n_reducers = (
        len(REDUCERS) if measures is None and len(positions) >= MIN_ROWS_FOR_REDUCERS else 0
    )
    entries: list[trial.Entry] = []
    skipped: list[str] = []
    deadline = time.monotonic() + (np.inf if max_seconds is None else max_seconds)

    def try_all(
        measures: Iterable[tuple[str, Measure]], try_one: Callable[[str, Measure], trial.Entry]
    ) -> None:
        for name, measure in measures:
            # Even without any time left one measure is tried, so there is an answer.
            if entries and time.monotonic() > deadline:
                skipped.append(name)
            else:
                entries.append(try_one(name, measure))
                _forget_distances(entries, entries.index(max(entries, key=_sort_key)))
                bar.advance()

    with Progress("comparing measures", len(candidates) + n_reducers) as bar:
        try_measure_on = partial(trial.try_measure, data=data)
        try_all(candidates, try_measure_on)
        best = max(entries, key=_sort_key)
        if n_reducers and not best.error:
            space = trial.open_space(best, data)
            try_all(_reduced(best), try_measure_on if space is None else space.try_reducer)
    notes = [f"not tried in {max_seconds:g} seconds: {', '.join(skipped)}"] if skipped else []
    _forget_distances(entries)
    entries.sort(key=_sort_key, reverse=True)
    return Leaderboard(tuple(entries), len(positions), n, k, chance, tuple(notes))


def _forget_distances(entries: list[trial.Entry], best: int = -1) -> None:
    """Release the matrices of all entries but one: together they would take a lot of memory."""
    for i, entry in enumerate(entries):
        if i != best:
            entries[i] = replace(entry, distances=None, other=None)


def _sort_key(entry: trial.Entry) -> tuple[float, ...]:
    """Return what entries are sorted by: the score, then precision, then few hubs."""
    # Failed measures come last, whatever else they have.
    if entry.error:
        return (-1.0, 0.0, 0.0)
    return (entry.score, entry.values.get("precision", 0.0), -entry.values["hubness"])


def _reduced(best: trial.Entry) -> list[tuple[str, Measure]]:
    return [(f"{cls.__name__}({best.name})", cls(best.measure)) for cls in REDUCERS]


# -- measures --------------------------------------------------------------------------------------


def _usual(labelled: bool) -> list[tuple[str, Measure]]:
    """Return every registered measure that works on tables by itself, with its usual settings."""
    measures = [cls() for cls in MEASURES.values() if _has_defaults(cls)]
    measures = [measure for measure in measures if not measure.traits.pairwise]
    measures.append(Vector(scale="standard"))
    if labelled:
        measures.append(Gower(weights="relieff"))
    return [(short_name(measure), measure) for measure in measures]


def _has_defaults(cls: type[Measure]) -> bool:
    """Whether a measure can be made without arguments."""
    optional = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    parameters = inspect.signature(cls).parameters.values()
    return all(p.default is not p.empty or p.kind in optional for p in parameters)


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
    if isinstance(measures, str | Measure):
        measures = [measures]
    if not isinstance(measures, Iterable):
        raise InvalidInput("compare", "measures, or names of them", repr(measures), "Pass a list")
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
) -> tuple[trial.TrialData, float | None]:
    """Return the rows to be tried, with labels as numbers, and the share of the commonest label."""
    n = len(positions)
    check_rows(k, n, "compare")
    codes, chance = None, None
    if isinstance(y, str):
        if isinstance(read, np.ndarray):
            hint = "Pass the labels as an array"
            raise InvalidInput("compare", "labels beside a matrix", repr(y), hint)
        read, y = trial.split_labels(read, y, "compare")
    if y is not None:
        codes = trial.read_codes(y, len(read), "compare")[positions]
        counts = np.unique(codes, return_counts=True)[1]
        if len(counts) < 2:
            who, leave = Param("y", of="compare"), ("Leave ", Param("y"), " out")
            raise InvalidInput(who, "labels of at least two classes", "one", leave)
        # Renumbered: the sample may have no row of a class.
        codes = np.unique(codes, return_inverse=True)[1]
        chance = float(counts.max() / n)
    if isinstance(read, np.ndarray):
        part = Precomputed(symmetric=False).read(read[np.ix_(positions, positions)])
    else:
        part = read[positions]
    return trial.TrialData(part, codes, k, seed, n_jobs), chance


def _check(**given: Any) -> None:
    for name, value in given.items():
        FIELDS[name].check("compare", name, value)
