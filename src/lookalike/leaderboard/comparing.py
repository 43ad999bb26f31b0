"""Which measure suits a table: all of them tried, best first."""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from lookalike._runtime.config import count_jobs
from lookalike._runtime.progress import Progress
from lookalike._runtime.random_state import RANDOM_STATE, make_seed
from lookalike.errors import InPython, InvalidInput, Param, Phrase, TooFewRows
from lookalike.hubness import NICDM, LocalScaling, MutualProximity
from lookalike.leaderboard.board import Leaderboard
from lookalike.leaderboard.scores import some_rows
from lookalike.leaderboard.trial import Data, Entry, read_codes, split_labels, try_measure
from lookalike.measures import MEASURES, Gower, Measure, Vector
from lookalike.measures.names import make_measure
from lookalike.saving.fields import KINDS, Integer, Maybe, Real
from lookalike.table import Table, read_table

SAMPLE = 2_000  # rows of a larger table that are tried
LEAST = 11  # rows that the repairs of hubness need
FIELDS = {
    "k": Integer(1),
    "sample": Maybe(Integer(3)),
    "max_seconds": Maybe(Real(0.0)),
    "kinds": KINDS,
    "random_state": RANDOM_STATE,
}


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
    """Try measures on your table, and say which one to take.

    **With labels** a measure is as good as its neighbors: the share of rows whose k nearest others
    vote for their label, each row left out of its own list. A measure that learns from the labels
    (``Gower(weights="relieff")``, a supervised forest) is scored by 5-fold cross-validation: it
    never meets the label of a row that it is scored on, and a classifier given to
    ``ForestProximity`` is fitted anew in every fold. Measures that can do without labels are fitted
    without.

    **Without labels** nobody can say what a measure is good for, only whether it behaves. The score
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
        labels ``Gower(weights="relieff")``; then the best of them repaired by ``LocalScaling``,
        ``NICDM`` and ``MutualProximity``.
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
    Times are those of the sample, on this machine, after a first run that compiles. The best of
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
    Vector: needs numbers without gaps or infinities, found 8 missing values (NaN), ...
    """
    _check(k=k, sample=sample, max_seconds=max_seconds, kinds=kinds, random_state=random_state)
    count_jobs(n_jobs)
    seed = make_seed(random_state)
    labelled = y is not None
    candidates = _usual(labelled) if measures is None else _named(measures)
    read, n = _read(table, [measure for _, measure in candidates], kinds)
    at = some_rows(n, sample or SAMPLE, seed)
    data, chance = _data(read, y, at, k, seed, n_jobs)
    repairs = (
        (LocalScaling, NICDM, MutualProximity) if measures is None and len(at) >= LEAST else ()
    )
    entries: list[Entry] = []
    began = time.monotonic()

    def late() -> bool:
        # A budget of nothing still gives an answer: one measure is always tried.
        return max_seconds is not None and bool(entries) and time.monotonic() - began > max_seconds

    with Progress("comparing measures", len(candidates) + len(repairs)) as bar:
        skipped = []
        for name, measure in candidates:
            if late():
                skipped.append(name)
                continue
            entries.append(try_measure(name, measure, data))
            bar.advance()
        if repairs and any(not entry.error for entry in entries):
            inner = max((entry for entry in entries if not entry.error), key=_place)
            for repair in repairs:
                measure = repair(inner.measure)
                name = f"{repair.__name__}({inner.name})"
                if late():
                    skipped.append(name)
                    continue
                entries.append(try_measure(name, measure, data))
                bar.advance()
    notes = []
    if skipped:
        notes.append(f"not tried in {max_seconds:g} seconds: {', '.join(skipped)}")
    entries.sort(key=_place, reverse=True)
    return Leaderboard(tuple(entries), len(at), n, k, chance, tuple(notes))


def _place(entry: Entry) -> tuple[float, ...]:
    """Return what entries are sorted by: the score, then precision, then few hubs."""
    if entry.error:
        return (-1.0, 0.0, 0.0)
    return (entry.score, entry.figures.get("precision", 0.0), -entry.figures["hubness"])


# -- measures --------------------------------------------------------------------------------------


def _usual(labelled: bool) -> list[tuple[str, Measure]]:
    """Return every registered measure that works on tables by itself, with its usual settings."""
    made = [cls() for cls in MEASURES.values() if _stands_alone(cls)]
    made = [measure for measure in made if not measure.traits.pairwise]
    made.append(Vector(scale="standard"))
    if labelled:
        made.append(Gower(weights="relieff"))
    return [(short_name(measure), measure) for measure in made]


def _stands_alone(cls: type[Measure]) -> bool:
    parameters = inspect.signature(cls).parameters.values()
    return not any(
        p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters
    )


def short_name(measure: Measure) -> str:
    """Write a measure in one line.

    Examples
    --------
    >>> from lookalike.hubness import NICDM
    >>> short_name(NICDM(Gower(missing="midpoint"))), short_name(NICDM(Vector()))
    ("NICDM(Gower(missing='midpoint'))", 'NICDM(Vector)')
    """
    line = re.sub(r"\s+", " ", repr(measure))
    return line.replace("(measure=", "(").replace("()", "")


def _named(measures: Any) -> list[tuple[str, Measure]]:
    if isinstance(measures, str | Measure):
        measures = [measures]
    if not isinstance(measures, Iterable):
        raise InvalidInput("compare", "measures, or names of them", repr(measures), "Pass a list")
    pairs: Iterable[tuple[Any, Any]] = ((None, measure) for measure in measures)
    if isinstance(measures, Mapping):
        pairs = measures.items()
    found_names: dict[str, Measure] = {}
    for given, one in pairs:
        measure = make_measure(one, "compare") if isinstance(one, str) else one
        if not isinstance(measure, Measure):
            hint = Phrase(InPython("Pass instances, for example [Gower(), Vector()]"))
            raise InvalidInput("compare", "measures, or names of them", repr(one), hint)
        name = base = short_name(measure) if given is None else str(given)
        count = 1
        while name in found_names:
            count += 1
            name = f"{base} ({count})"
        found_names[name] = measure
    if not found_names:
        raise InvalidInput("compare", "at least one measure", "none", "Name at least one")
    return list(found_names.items())


# -- rows and labels -------------------------------------------------------------------------------


def _read(
    table: Any, measures: list[Measure], kinds: Mapping[str, Any] | None
) -> tuple[Table | np.ndarray, int]:
    """Return the table, or the matrix that all measures want, and its number of rows."""
    pairwise = {bool(measure.traits.pairwise) for measure in measures}
    if pairwise == {True}:
        matrix = np.asarray(measures[0].read(table).columns[0].values)
        return matrix, len(matrix)
    if True in pairwise:
        raise InvalidInput(
            "compare",
            "measures of tables, or measures of matrices",
            "both",
            "Compare them in two calls",
        )
    read = read_table(table, kinds=kinds)
    return read, len(read)


def _data(
    read: Table | np.ndarray, y: Any, at: np.ndarray, k: int, seed: int, n_jobs: int | None
) -> tuple[Data, float | None]:
    """Return the rows to be tried, with labels as numbers, and the share of the commonest label."""
    n = len(at)
    if k > n - 1 or n < 3:
        needed = f"at least {max(k + 1, 3)} rows"
        hint = Phrase("Use ", Param("k", n - 1)) if n >= 3 else "Add rows"
        raise TooFewRows(Param("k", k, of="compare"), needed, Param("n_samples", n), hint)
    codes, chance = None, None
    if isinstance(y, str):
        if isinstance(read, np.ndarray):
            hint = "Pass the labels as an array"
            raise InvalidInput("compare", "labels beside a matrix", repr(y), hint)
        read, y = split_labels(read, y, "compare")
    if y is not None:
        codes = read_codes(y, len(read), "compare")[at]
        counts = np.unique(codes, return_counts=True)[1]
        if len(counts) < 2:
            raise InvalidInput(
                Param("y", of="compare"),
                "labels of at least two classes",
                "one",
                ("Leave ", Param("y"), " out"),
            )
        codes = np.unique(codes, return_inverse=True)[1]
        chance = float(counts.max() / n)
    part = read[np.ix_(at, at)] if isinstance(read, np.ndarray) else read[at]
    if isinstance(part, np.ndarray):
        from lookalike.measures import Precomputed

        part = Precomputed(symmetric=False).read(part)
    return Data(part, codes, k, seed, n_jobs), chance


def _check(**given: Any) -> None:
    for name, value in given.items():
        FIELDS[name].check("compare", name, value)
