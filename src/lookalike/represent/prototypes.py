"""Which rows stand for all the others."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np

from lookalike._runtime.random_state import make_generator
from lookalike.errors import InPython, InvalidInput, Param, Phrase, TooFewRows, suggest
from lookalike.measures.contract.base import Measure
from lookalike.measures.task import read_source
from lookalike.represent.prototype_selector import MAX_ROWS, PrototypeSelector

METHODS = ("medoids", "medoids_similarity", "relieff", "cfs", "random", "farthest")
NEED_TARGET = ("relieff", "cfs")


def select_prototypes(
    measure: Measure | None,
    X: Any,
    y: Any = None,
    method: str = "medoids",
    n: int | float = 0.05,
    *,
    target: str = "auto",
    kinds: Mapping[str, Any] | None = None,
    max_rows: int = MAX_ROWS,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Choose rows that stand for all the others, under any measure.

    Parameters
    ----------
    measure : Measure or None
        How alike rows are; None: ``Gower()``. A clone is fitted to X.
    X : table, frame, array, dict of columns or path
    y : array of n, or the name of a column, optional
        The target that "relieff" and "cfs" choose for; also handed to a measure that learns.
    method : str
        "medoids": the rows in the middle of k groups, by partitioning around medoids on the
        distances [1]_. "medoids_similarity": the same on rows of the similarity matrix, compared
        by their cityblock distance. "relieff": rows to which similarity tells the classes apart,
        each by itself [2]_. "cfs": such rows that do not repeat each other; it settles their
        number itself. "random": any rows. "farthest": each as far as can be from those before
        [3]_.
    n : int or float
        How many, or a share of the rows (at least 2).
    target : {"auto", "classes", "numbers"}
        What y holds for "relieff" and "cfs". "auto": words, truth values and whole numbers are
        classes, unless there are more than two and more than half as many as rows.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    max_rows : int
        Tables with more rows are sampled. Medoids are then those of the best of five samples of at
        least half as many rows, judged by all rows (CLARA [1]_); "relieff" and "cfs" look at one
        sample of this size. "random" and "farthest" never compare all rows with all.
    random_state : None, int, RandomState or Generator
        For "random", and for sampling.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Returns
    -------
    int64 array
        Positions of the prototypes, sorted.

    Notes
    -----
    Two rows with nothing to compare count as half alike.

    References
    ----------
    .. [1] L. Kaufman and P. J. Rousseeuw (1990). Finding Groups in Data. Wiley.
       doi:10.1002/9780470316801
    .. [2] M. Robnik-Sikonja and I. Kononenko (2003). Theoretical and empirical analysis of ReliefF
       and RReliefF. Machine Learning 53, 23-69. doi:10.1023/A:1025667309714
    .. [3] T. F. Gonzalez (1985). Clustering to minimize the maximum intercluster distance.
       Theoretical Computer Science 38, 293-306. doi:10.1016/0304-3975(85)90224-5

    Examples
    --------
    >>> from lookalike.measures import Vector
    >>> from lookalike.represent import select_prototypes
    >>> points = [[0.0], [1.0], [2.0], [10.0], [11.0], [30.0]]
    >>> select_prototypes(Vector("cityblock"), points, n=3)
    array([1, 3, 5])
    """
    who = "select_prototypes"
    check_method(method, y, who)
    source, values = read_source(measure, X, y, who, kinds, n_jobs)
    many = count_prototypes(n, len(source), who)
    fitted, rows = source.fit(values)
    rng = make_generator(random_state)
    selector = PrototypeSelector(fitted, rows, values, method, rng, target, max_rows, n_jobs, who)
    return selector.select(many)


def check_method(method: Any, y: Any, who: str) -> None:
    """Refuse a method that is not there, or one that needs a target without one."""
    if not isinstance(method, str) or method not in METHODS:
        wants = "one of " + ", ".join(map(repr, METHODS))
        raise InvalidInput(who, wants, repr(method), suggest(str(method), METHODS))
    if method in NEED_TARGET and y is None:
        needed = Phrase(
            f"a target for {method!r}",
            InPython(" (it requires y to be passed, but the target y is None)"),
        )
        raise InvalidInput(
            who, needed, "none", ("Pass ", Param("y"), ", or use ", Param("method", "medoids"))
        )


def count_prototypes(n: Any, n_rows: int, who: str) -> int:
    """Return how many prototypes a whole number or a share of the rows asks for."""
    whole = isinstance(n, numbers.Integral) and not isinstance(n, bool)
    if whole and int(n) >= 1:
        if int(n) > n_rows:
            raise TooFewRows(
                f"{who} ({n} prototypes)",
                f"at least {n} rows",
                Param("n_samples", n_rows),
                f"Ask for {n_rows} or fewer, or for a share such as 0.05",
            )
        return int(n)
    if isinstance(n, numbers.Real) and not isinstance(n, numbers.Integral) and 0 < float(n) <= 1:
        return min(n_rows, max(2, round(float(n) * n_rows)))
    needed = "a number of prototypes: a whole number of at least 1, or a share above 0 and up to 1"
    raise InvalidInput(who, needed, repr(n), "Give for example 20 or 0.05")
