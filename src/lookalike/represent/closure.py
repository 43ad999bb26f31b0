"""Similarity by the best chain: what is alike to something alike is alike itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike._runtime.threads import blocks, run
from lookalike.errors import InvalidInput, Param, suggest
from lookalike.represent._matrix import between_rows, similarity_matrix

TNORMS = ("min", "product", "lukasiewicz")


def transitive_closure(
    S: Any, tnorm: str = "min", *, new: Any = None, n_jobs: int | None = None
) -> np.ndarray:
    """Make rows as alike as the best chain of rows between them.

    The smallest relation above S that is transitive: a chain is worth its weakest link (``"min"``),
    the product of its links, or what is left of 1 after taking off all they lack
    (``"lukasiewicz"``), and two rows are worth their best chain [1]_. With "min", 1 minus the
    answer is the distance at which single-linkage clustering joins the rows.

    Use it where groups hang together in chains. A single row between two groups joins them.

    Parameters
    ----------
    S : array of shape (n, n), or fitted measure
        Similarities from 0 to 1; its diagonal is taken to be 1.
    tnorm : {"min", "product", "lukasiewicz"}
    new : array of shape (m, n), optional
        Similarities of new rows to the n rows. The answer is then theirs: what they would have if
        each were added alone.
    n_jobs : int, optional
        Threads for new rows; None: the setting of ``lookalike.config``.

    Returns
    -------
    array of shape (n, n), or (m, n) with ``new``

    Notes
    -----
    "min" of a symmetric S grows a maximum spanning tree in n^2 steps; all else takes n^3.

    References
    ----------
    .. [1] L. A. Zadeh (1971). Similarity relations and fuzzy orderings. Information Sciences 3(2),
       177-200. doi:10.1016/S0020-0255(71)80005-1

    Examples
    --------
    >>> from lookalike.represent import transitive_closure
    >>> transitive_closure([[1, 0.8, 0.1], [0.8, 1, 0.6], [0.1, 0.6, 1]])
    array([[1. , 0.8, 0.6],
           [0.8, 1. , 0.6],
           [0.6, 0.6, 1. ]])
    """
    from lookalike.kernels.clustering import CODES, best_chains, best_first_links, weakest_links

    who = "transitive_closure"
    if tnorm not in TNORMS:
        wants = "one of " + ", ".join(map(repr, TNORMS))
        raise InvalidInput(
            Param("tnorm", tnorm, of=who), wants, repr(tnorm), suggest(str(tnorm), TNORMS)
        )
    s = np.ascontiguousarray(similarity_matrix(S, who))
    edges = None if new is None else np.ascontiguousarray(between_rows(new, len(s), who))
    np.fill_diagonal(s, 1.0)
    symmetric = np.array_equal(s, s.T)
    if tnorm == "min" and symmetric:
        closed = np.empty_like(s)
        weakest_links(s, closed)
    else:
        closed = s
        best_chains(closed, CODES[tnorm])
        if symmetric:  # a chain's product rounds differently read backward
            closed = np.maximum(closed, closed.T)
    if edges is None:
        return closed
    answer = np.empty_like(edges)

    def one(at: slice) -> None:
        best_first_links(edges[at], closed, CODES[tnorm], answer[at])

    run(one, [(at,) for at in blocks(len(edges), 32)], n_jobs, "joining new rows")
    return answer
