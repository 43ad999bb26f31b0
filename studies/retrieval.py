"""How well a measure finds rows of the same class, with feedback given by the classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike._runtime.random_state import make_generator
from lookalike.errors import InvalidInput
from lookalike.index.relevance import check_gamma
from lookalike.measures.contract.base import Measure
from lookalike.saving.fields import Integer
from lookalike.table import Table, read_table
from lookalike.table.model.targets import code_labels, split_target
from studies.marking import Protocol, make_rankers


@dataclass(frozen=True, eq=False, repr=False)
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

    def __repr__(self) -> str:
        return f"Retrieval({self})"


def retrieval_precision(
    measure: Any,
    X: Any,
    y: Any,
    *,
    n_queries: int = 5,
    rounds: int = 5,
    top: int = 50,
    n_marks: int = 2,
    gamma: float | Sequence[float] = 0.5,
    n_repetitions: int = 20,
    kinds: Mapping[str, Any] | None = None,
    random_state: Any = None,
) -> Retrieval | list[Retrieval]:
    """Return the precision of retrieval after rounds of relevance feedback.

    Some rows of every class are drawn as queries; the measure is fitted to the others, the
    database. The database is ranked for each query; then, round by round, up to two
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
        Rounds of feedback, length of the evaluated list, and marks of each kind per round.
    gamma : float, or several
        Weight of unwanted rows. With several the measure is fitted once and evaluated for each.
    n_repetitions : int
        How often everything is repeated with other queries.
    kinds : mapping of column to kind, optional
        Kinds that override the inferred ones (see ``read_table``).
    random_state : None, int, numpy Generator or RandomState
        Also seeds methods without their own seed. One seed draws the same queries for all methods.

    Returns
    -------
    Retrieval, or a list of them if there are several gammas

    References
    ----------
    .. [1] T. L. Fernando, G. I. Webb (2017). SimUSF: an efficient and effective similarity measure
       that is invariant to violations of the interval scale assumption. Data Mining and Knowledge
       Discovery 31. doi:10.1007/s10618-016-0463-0

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.measures import Vector
    >>> from studies.retrieval import retrieval_precision
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
        Integer(low).check(who, name, value)
    several = isinstance(gamma, list | tuple | np.ndarray)
    gammas: Any = gamma if several else [gamma]
    for one in gammas:
        check_gamma(one, who)
    if not len(gammas):
        raise InvalidInput(who, "at least one gamma", "none", "Pass 0.5")
    table, classes = _read(measure, X, y, kinds, who)
    protocol = Protocol(n_queries, rounds, top, n_marks)
    seeds = make_generator(random_state).spawn(n_repetitions)
    means = []
    for generator in seeds:
        # Generators of their own: queries and marks are the same for a method that draws nothing
        # and for one that grows a forest.
        draw, seed, marks = generator.spawn(3)
        queries = protocol.draw(classes, draw, who)
        # The measure is fitted without the queries, as new rows would be.
        rest = np.setdiff1d(np.arange(len(table)), queries)
        rankers = make_rankers(measure, table[rest], table[queries], gammas, seed, who)
        precision = [
            # Every gamma draws its marks as it would alone.
            protocol.ask(rank, classes[rest] == classes[query], [deepcopy(own) for _ in gammas])
            for rank, query, own in zip(rankers, queries, marks.spawn(len(queries)), strict=True)
        ]
        means.append(np.mean(precision, axis=0))
    found = [Retrieval(each) for each in np.stack(means, axis=1)]
    return found if several else found[0]


def _read(measure: Any, X: Any, y: Any, kinds: Any, who: str) -> tuple[Table, np.ndarray]:
    """Return the rows without the target, and their classes as codes."""
    if isinstance(measure, Measure) and measure.traits.pairwise:
        hint = "Use a measure of rows"
        raise InvalidInput(who, "rows, since queries are taken out", "distances", hint)
    table = X if kinds is None else read_table(X, kinds=kinds)
    table = measure.read(table) if isinstance(measure, Measure) else read_table(table)
    table, target = split_target(table, y, who)
    if target is None:
        raise InvalidInput(who, "labels", "none", "Pass y")
    classes, _ = code_labels(target, len(table), who)
    return table, classes
