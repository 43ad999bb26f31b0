"""Before a list of neighbors is filled: its length, and the names of the rows in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.errors import Param, Phrase, TooFewRows
from lookalike.measures.contract.rows import Rows
from lookalike.saving.fields import Integer

Ids = np.ndarray | None
"""Names of rows, whole numbers; None: their positions, or nobody's."""


def check_k(k: Any, most: int, who: str, own: bool, word: str = "n_neighbors") -> None:
    """Refuse a k that the rows cannot serve; it is never shrunk silently.

    Parameters
    ----------
    k : int
    most : int, how many rows a list can hold
    who : str, the caller
    own : bool, whether each row is left out of its own list
    word : str, what the caller calls k
    """
    Integer(1).check(who, word, k, "Raise it")
    if k > most:
        rows = most + own
        hint = Phrase("Use ", Param(word, most), " or add rows") if most >= 1 else "Add rows"
        raise TooFewRows(
            Param(word, k, of=who), f"at least {k + own} rows", Param("n_samples", rows), hint
        )


def name_rows(a: Rows, b: Rows, exclude: Ids, ids: Ids) -> tuple[np.ndarray, np.ndarray, int]:
    """Return exclude, ids and the size of the collection with their defaults filled in."""
    exclude = np.full(len(a), -1) if exclude is None else np.asarray(exclude, dtype=np.int64)
    if ids is None:
        return exclude, np.arange(len(b)), len(b)
    ids = np.asarray(ids, dtype=np.int64)
    return exclude, ids, max(len(b), _end_of(b, ids))


def _end_of(b: Rows, ids: np.ndarray) -> int:
    """Return one more than the largest id; an index asks the same rows by the same ids again."""
    known = b.__dict__.get("_end_of_ids")
    if known is None or known[0] is not ids:
        known = b.__dict__["_end_of_ids"] = ids, int(ids.max(initial=-1)) + 1
    return int(known[1])
