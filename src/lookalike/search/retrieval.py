"""How well a measure finds rows of the same class, with feedback given by the classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from lookalike._params import AtLeast
from lookalike._random import make_generator
from lookalike._threads import blocks, run
from lookalike.errors import InvalidInput, WrongType, message
from lookalike.measures.base import Measure
from lookalike.measures.names import as_measure
from lookalike.measures.rows import Rows
from lookalike.search.choose import choose_measure
from lookalike.search.refeat import ReFeat
from lookalike.search.relevance import check_gamma, rocchio
from lookalike.table import Table, read_table
from lookalike.table.targets import code_labels, split_target

__all__ = ["Retrieval", "retrieval_precision"]

WIDE = 4096  # rows of the database compared at once

# Takes what is wanted and what is not (positions in the database; the query is -1) and returns a
# number for every row of the database, smaller for better.
Ranker = Callable[[list[int], list[int]], np.ndarray]


@dataclass(frozen=True, eq=False)
class Retrieval:
    """Precision of a measure under simulated feedback.

    Parameters
    ----------
    precision : float64 array of shape (repetitions, rounds + 1)
        Mean over the queries, after 0, 1, ... rounds of feedback.
    """

    precision: np.ndarray

    @property
    def mean(self) -> float:
        """Precision after the last round, mean over the repetitions."""
        return float(self.precision[:, -1].mean())

    @property
    def std(self) -> float:
        """Standard deviation of the same over the repetitions."""
        return float(self.precision[:, -1].std())

    @property
    def rounds(self) -> np.ndarray:
        """Precision after each round, mean over the repetitions."""
        return np.asarray(self.precision.mean(axis=0))

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.std:.3f}"


def retrieval_precision(
    measure: Any,
    X: Any,
    y: Any,
    *,
    n_queries: int = 5,
    rounds: int = 5,
    top: int = 50,
    n_marks: int = 2,
    gamma: float = 0.5,
    n_repetitions: int = 20,
    kinds: Mapping[str, Any] | None = None,
    random_state: Any = None,
) -> Retrieval:
    """Say how many of the first rows found are of the query's class, after rounds of feedback.

    From every class some rows are drawn as queries and taken out; the rest is the database, which
    the measure is fitted to. The database is ranked for each query; then, round by round, up to two
    rows of the query's class and up to two others are drawn from the first fifty, marked as wanted
    and unwanted, and the database is ranked again without the marked rows [1]_.

    Parameters
    ----------
    measure : Measure, name of one, "auto", ReFeat, or callable
        "auto" chooses by the database (see ``choose_measure``). A callable takes the database (a
        ``Table``) and returns a function of two tables, the wanted rows and the unwanted ones (or
        None), and gamma, which gives every row of the database a number, smaller for better.
    X : table, frame, array, dict of columns or path
    y : array of n labels, or the name of a column
        Measures do not see it. To weigh columns, pass ``Gower(weights=...)``: an index that is
        asked with weights answers as one fitted with them.
    n_queries : int
        Queries per class; a class always keeps one row in the database.
    rounds, top, n_marks : int
        Rounds of feedback, rows that are looked at, and marks of each kind per round.
    gamma : float
        How much unwanted rows count.
    n_repetitions : int
        How often everything is repeated with other queries.
    kinds : mapping of column to kind, optional
        What columns of X hold, where reading them does not guess it (see ``read_table``).
    random_state : None, int, numpy Generator or RandomState
        Also seeds methods that have no seed of their own. One seed draws the same queries for all
        methods.

    Returns
    -------
    Retrieval

    References
    ----------
    .. [1] T. L. Fernando, G. I. Webb (2017). SimUSF: an efficient and effective similarity measure
       that is invariant to violations of the interval scale assumption. Data Mining and Knowledge
       Discovery 31. doi:10.1007/s10618-016-0463-0

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.measures import Vector
    >>> from lookalike.search import retrieval_precision
    >>> rows = np.arange(40.0)[:, None] + 100 * (np.arange(40) >= 20)[:, None]
    >>> result = retrieval_precision(
    ...     Vector(), rows, np.arange(40) >= 20, top=5, n_repetitions=2, random_state=0
    ... )
    >>> result.mean
    1.0
    """
    who = "retrieval_precision"
    for name, value, low in (
        ("n_queries", n_queries, 1),
        ("rounds", rounds, 0),
        ("top", top, 1),
        ("n_marks", n_marks, 0),
        ("n_repetitions", n_repetitions, 1),
    ):
        if not AtLeast(low).fits(value):
            needed, do = AtLeast(low).wants(), "Change the parameter"
            raise InvalidInput(message(f"{who}({name}={value!r})", needed, repr(value), do))
    check_gamma(gamma, who)
    if isinstance(measure, Measure) and measure.traits.pairwise:
        do = "Use a measure of rows"
        raise InvalidInput(message(who, "rows, since queries are taken out", "distances", do))
    table = X if kinds is None else read_table(X, kinds=kinds)
    table = measure.read(table) if isinstance(measure, Measure) else read_table(table)
    table, target = split_target(table, y, who)
    if target is None:
        raise InvalidInput(message(who, "labels", "none", "Pass y"))
    classes, _ = code_labels(target, len(table), who)
    drawn = _Protocol(n_queries, rounds, top, n_marks, gamma)
    seeds = make_generator(random_state).spawn(n_repetitions)
    means = []
    for generator in seeds:
        draw, seed, marks = generator.spawn(3)
        queries = drawn.draw(classes, draw, who)
        rest = np.setdiff1d(np.arange(len(table)), queries)
        rankers = _rankers(measure, table[rest], table[queries], gamma, seed, who)
        precision = [
            drawn.ask(ranker, classes[rest] == classes[query], own)
            for ranker, query, own in zip(rankers, queries, marks.spawn(len(queries)), strict=True)
        ]
        means.append(np.mean(precision, axis=0))
    return Retrieval(np.array(means))


@dataclass(frozen=True)
class _Protocol:
    n_queries: int
    rounds: int
    top: int
    n_marks: int
    gamma: float

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
            raise InvalidInput(message(who, "a class of two rows or more", "none", do))
        return queries

    def ask(self, rank: Ranker, relevant: np.ndarray, random: np.random.Generator) -> list[float]:
        """Return the precision for one query after each round."""
        yes: list[int] = []
        no: list[int] = []
        found = []
        for turn in range(self.rounds + 1):
            scores = rank(yes, no)
            order = np.argsort(scores, kind="stable")  # ties go to the lower position
            order = order[~np.isin(order, yes + no)]
            first = order[: self.top]
            found.append(precision_of(relevant[first]))
            if turn < self.rounds:
                for marks, right in ((yes, relevant[first]), (no, ~relevant[first])):
                    some = first[right]
                    count = min(self.n_marks, len(some))
                    marks += random.choice(some, count, replace=False).tolist()
        return found


def precision_of(first: np.ndarray) -> float:
    """Return the share of relevant rows among the first of a list; 0 for an empty list."""
    return float(first.mean()) if len(first) else 0.0


def _rankers(
    measure: Any,
    database: Table,
    queries: Table,
    gamma: float,
    random: np.random.Generator,
    who: str,
) -> list[Ranker]:
    """Return for each query what ranks the database."""
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
        start = _distances(measure, measure.encode(queries))
        return [_by_measure(measure, start[i], gamma) for i in range(len(queries))]
    if isinstance(measure, ReFeat):
        return [_by_refeat(measure, queries[i : i + 1], gamma) for i in range(len(queries))]
    if not callable(measure):
        do = "Pass for example Gower() or ReFeat()"
        raise WrongType(message(who, "a measure, 'auto', ReFeat or a function", repr(measure), do))
    function = measure(database)
    return [
        _by_function(function, database, queries[i : i + 1], gamma) for i in range(len(queries))
    ]


def _by_measure(measure: Measure, start: np.ndarray, gamma: float) -> Ranker:
    known: dict[int, np.ndarray] = {}  # every marked row is compared once

    def rank(yes: list[int], no: list[int]) -> np.ndarray:
        new = [at for at in yes + no if at not in known]
        if new:
            known.update(zip(new, _distances(measure, measure.rows_[np.array(new)]), strict=True))
        near = np.array([start, *(known[at] for at in yes)])
        return np.asarray(rocchio(near, np.array([known[at] for at in no]), gamma))

    return rank


def _by_refeat(ranker: ReFeat, query: Table, gamma: float) -> Ranker:
    def rank(yes: list[int], no: list[int]) -> np.ndarray:
        return -ranker.relevance(query, yes, no, gamma)

    return rank


def _by_function(function: Any, database: Table, query: Table, gamma: float) -> Ranker:
    from lookalike.search.tables import concatenate

    def rank(yes: list[int], no: list[int]) -> np.ndarray:
        wanted = concatenate([query, database[np.array(yes)]]) if yes else query
        unwanted = database[np.array(no)] if no else None
        scores = np.asarray(function(wanted, unwanted, gamma), dtype=np.float64)
        if scores.shape != (len(database),):
            needed = f"a number for each of the {len(database)} rows of the database"
            do = "Return one number per row"
            raise InvalidInput(message("retrieval_precision", needed, f"shape {scores.shape}", do))
        return scores

    return rank


def _distances(measure: Measure, a: Rows) -> np.ndarray:
    """Return the distances of some rows to the whole database."""
    rows = measure.rows_
    out = np.empty((len(a), len(rows)))

    def one(part: slice) -> None:
        out[:, part] = measure.block(a, rows[part])

    run(one, [(p,) for p in blocks(len(rows), WIDE)], getattr(measure, "n_jobs", None), "comparing")
    return out
