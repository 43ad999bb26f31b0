"""Simulated relevance feedback: the classes determine which rows are relevant.

A ranker ranks one query for several weights of unwanted rows (gamma): each has its own marks, but
distances are computed once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from lookalike._runtime.config import settings
from lookalike._runtime.threads import blocks, run
from lookalike.errors import InvalidInput, WrongType
from lookalike.index.refeat import ReFeat, tree_weights
from lookalike.index.relevance import Marks
from lookalike.index.segments import join_tables
from lookalike.measures import choose_measure
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows
from lookalike.measures.names import as_measure
from lookalike.table import Table

BLOCK_ROWS = 4096  # rows of the database per block; chosen by hand

# Takes for each gamma what has been marked since the last call, wanted and unwanted (positions in
# the database), and returns for each a number for every row of the database, smaller for better.
Marked = tuple[list[int], list[int]]
Ranker = Callable[[list[Marked]], Sequence[np.ndarray]]


@dataclass(frozen=True)
class Protocol:
    """How queries are drawn and marks are given.

    Parameters
    ----------
    n_queries : int, per class
    rounds, top, n_marks : int, rounds of feedback, rows looked at, marks of each kind per round
    """

    n_queries: int
    rounds: int
    top: int
    n_marks: int

    def draw(self, classes: np.ndarray, random: np.random.Generator, who: str) -> np.ndarray:
        """Return the rows that serve as queries."""
        found = []
        for number in range(int(classes.max()) + 1):
            members = np.flatnonzero(classes == number)
            count = min(self.n_queries, len(members) - 1)
            found.append(np.sort(random.choice(members, count, replace=False)))
        queries = np.concatenate(found)
        if not len(queries):
            do = "Use labels that several rows share"
            raise InvalidInput(who, "a class of two rows or more", "none", do)
        return queries

    def ask(
        self, rank: Ranker, relevant: np.ndarray, randoms: Sequence[np.random.Generator]
    ) -> np.ndarray:
        """Return the precision for one query: a row for each gamma, a column for each round.

        Parameters
        ----------
        rank : Ranker
        relevant : bool array, which rows of the database are of the query's class
        randoms : generators that draw the marks, one for each gamma
        """
        free = np.ones((len(randoms), len(relevant)), bool)  # what may be listed
        new: list[Marked] = [([], []) for _ in randoms]
        found = np.empty((len(randoms), self.rounds + 1))
        for turn in range(self.rounds + 1):
            for at, scores in enumerate(rank(new)):
                first = self._first(scores, free[at])
                found[at, turn] = precision_of(relevant[first])
                yes, no = (
                    self._mark(first[right], randoms[at]) if turn < self.rounds else []
                    for right in (relevant[first], ~relevant[first])
                )
                new[at] = (yes, no)
                free[at, yes + no] = False
        return found

    def _first(self, scores: np.ndarray, free: np.ndarray) -> np.ndarray:
        """Return the best rows that may be listed; ties go to the lower position."""
        some = np.flatnonzero(free)
        if self.top < len(some):
            limit = np.partition(scores[some], self.top - 1)[self.top - 1]  # NaN sorts last
            if not np.isnan(limit):
                some = some[scores[some] <= limit]
        return np.asarray(some[np.argsort(scores[some], kind="stable")][: self.top])

    def _mark(self, some: np.ndarray, random: np.random.Generator) -> list[int]:
        count = min(self.n_marks, len(some))
        drawn: list[int] = random.choice(some, count, replace=False).tolist()
        return drawn


def precision_of(first: np.ndarray) -> float:
    """Return the share of relevant rows among the first of a list; 0 for an empty list."""
    return float(first.mean()) if len(first) else 0.0


def make_rankers(
    measure: Any,
    database: Table,
    queries: Table,
    gammas: Sequence[float],
    random: np.random.Generator,
    who: str,
) -> list[Ranker]:
    """Return for each query what ranks the database.

    Parameters
    ----------
    measure : Measure, name of one, "auto", ReFeat, or callable (see ``retrieval_precision``)
    database, queries : Table
    gammas : how much unwanted rows count
    random : Generator, seeds methods that have no seed of their own
    who : str, begins the messages
    """
    if isinstance(measure, str) and measure == "auto":
        measure = choose_measure(database)[0]
    elif isinstance(measure, str):
        measure = as_measure(measure, who)
    if isinstance(measure, Measure | ReFeat):
        measure = clone(measure)
        nested = measure.get_params()
        idle = [n for n in nested if n.rpartition("__")[2] == "random_state" and nested[n] is None]
        measure.set_params(**{name: int(random.integers(2**31)) for name in idle})
        measure.fit(database)
    if isinstance(measure, Measure):
        compared = _Compared(measure)
        start = compared.with_all(measure.encode(queries))
        return [_by_measure(compared, start[i], gammas) for i in range(len(queries))]
    if isinstance(measure, ReFeat):
        paths = measure.paths(queries)
        return [_by_refeat(measure, paths[i : i + 1], gammas) for i in range(len(queries))]
    if not callable(measure):
        do = "Pass for example Gower() or ReFeat()"
        raise WrongType(who, "a measure, 'auto', ReFeat or a function", repr(measure), do)
    function = measure(database)
    return [
        _by_function(function, database, queries[i : i + 1], gammas) for i in range(len(queries))
    ]


def _by_measure(compared: _Compared, start: np.ndarray, gammas: Sequence[float]) -> Ranker:
    kept = [Marks(start.shape, gamma) for gamma in gammas]
    for marks in kept:
        marks.mark(start, wanted=True)

    def rank(new: list[Marked]) -> list[np.ndarray]:
        known = compared.rows({at for yes, no in new for at in yes + no})
        for marks, (yes, no) in zip(kept, new, strict=True):
            for at in yes:
                marks.mark(known[at], wanted=True)
            for at in no:
                marks.mark(known[at], wanted=False)
        return [marks.score() for marks in kept]

    return rank


def _by_refeat(ranker: ReFeat, query: np.ndarray, gammas: Sequence[float]) -> Ranker:
    wanted = [query for _ in gammas]
    unwanted = [query[:0] for _ in gammas]

    def rank(new: list[Marked]) -> list[np.ndarray]:
        for at, (yes, no) in enumerate(new):
            wanted[at] = np.concatenate([wanted[at], ranker.paths(yes)]) if yes else wanted[at]
            unwanted[at] = np.concatenate([unwanted[at], ranker.paths(no)]) if no else unwanted[at]
        weights = [
            tree_weights(wanted[at], unwanted[at], ranker.psi_, gamma)
            for at, gamma in enumerate(gammas)
        ]
        return [-scores for scores in ranker.relevance_by(np.array(weights))]

    return rank


def _by_function(function: Any, database: Table, query: Table, gammas: Sequence[float]) -> Ranker:
    kept: list[Marked] = [([], []) for _ in gammas]

    def one(yes: list[int], no: list[int], gamma: float) -> np.ndarray:
        wanted = join_tables([query, database[np.array(yes)]]) if yes else query
        unwanted = database[np.array(no)] if no else None
        scores = np.asarray(function(wanted, unwanted, gamma), dtype=np.float64)
        if scores.shape != (len(database),):
            needed = f"a number for each of the {len(database)} rows of the database"
            do = "Return one number per row"
            raise InvalidInput("retrieval_precision", needed, f"shape {scores.shape}", do)
        return scores

    def rank(new: list[Marked]) -> list[np.ndarray]:
        for marks, more in zip(kept, new, strict=True):
            for side, some in zip(marks, more, strict=True):
                side += some
        return [one(*marks, gamma) for marks, gamma in zip(kept, gammas, strict=True)]

    return rank


class _Compared:
    """Distances of marked rows to the whole database; kept, since other queries mark them too.

    Parameters
    ----------
    measure : Measure, fitted to the database
    """

    def __init__(self, measure: Measure) -> None:
        self.measure = measure
        self._known: dict[int, np.ndarray] = {}
        self._most = settings().memory_limit // 4 // (8 * max(1, len(measure.rows_)))

    def rows(self, wanted: set[int]) -> dict[int, np.ndarray]:
        """Return the distances of some rows of the database to all of it."""
        if len(self._known) + len(wanted) > self._most:
            self._known.clear()
        new = sorted(wanted - self._known.keys())
        if new:
            self._known.update(
                zip(new, self.with_all(self.measure.rows_[np.array(new)]), strict=True)
            )
        return self._known

    def with_all(self, some: Rows) -> np.ndarray:
        """Return the distances of some rows to the whole database."""
        rows = self.measure.rows_
        out = np.empty((len(some), len(rows)))

        def one(part: slice) -> None:
            out[:, part] = self.measure.block(some, rows[part])

        jobs = getattr(self.measure, "n_jobs", None)
        run(one, [(p,) for p in blocks(len(rows), BLOCK_ROWS)], jobs, "comparing")
        return out
