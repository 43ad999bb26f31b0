"""How much a column says about a pair, whatever the measure: against pairs drawn at random.

A measure says how much rows differ in each column (``Measure.column_differences``); the rest is
here. The sample is drawn at the first explanation, always the same one of the same rows, and kept
beside them, so fitting takes no longer and a loaded measure has it too.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lookalike.measures.contract.explanation import Explanation, ratio
from lookalike.measures.contract.rows import Rows, kept_beside

if TYPE_CHECKING:
    from lookalike.measures.contract.base import Measure

SAMPLE = 128  # rows that the two of a pair are compared with
PAIRS = 24  # of them that are explained in full: a forest may take some milliseconds for each


class ColumnDifferences(NamedTuple):
    """How much pairs of rows differ in each column, in a unit of the measure's own.

    Only the order within a column counts: what is nearer has less.

    Parameters
    ----------
    names : tuple of str
    values : float64 (pairs, columns); NaN where there is nothing to compare
    """

    names: tuple[str, ...]
    values: np.ndarray


class _Sample(NamedTuple):
    rows: Rows
    typical: dict[str, tuple[float, float]]


def finish_explanation(measure: Measure, found: Explanation, a: Rows, b: Rows) -> Explanation:
    """Add how much each column says (the surprisal, in bits), and what random pairs have there.

    A pair with nothing to compare has the similarity that the measure gives to such pairs instead.

    Parameters
    ----------
    measure : Measure
    found : Explanation
    a, b : Rows of length one
    """
    if not np.isnan(found.similarity):
        return found if found.telling else _with_telling(measure, found, a, b)
    filler = getattr(measure, "undefined", None)
    if filler is None:
        return found
    plus: dict[str | None, float] = {None: filler}
    minus: dict[str | None, float] = {None: 1 - filler}
    distance = measure.distance_at(filler)
    return replace(found, similarity=filler, distance=distance, plus=plus, minus=minus)


def _with_telling(measure: Measure, found: Explanation, a: Rows, b: Rows) -> Explanation:
    own = measure.column_differences(a, b)
    if own is None:
        return found
    sample = kept_beside(measure.rows_, "_sample", lambda: _draw(measure))
    pair = [at for at in (a.seen[0], b.seen[0]) if at >= 0]
    others = sample.rows[~np.isin(sample.rows.seen, pair)]
    views = [measure.column_differences(one, others) for one in (a, b)] if len(others) else [own]
    differs = np.concatenate([view.values for view in views if view is not None])
    telling = as_bits(own.names, differs[None], own.values[:1])[0]
    if any(name in found.plus for name in own.names):
        return replace(found, typical=sample.typical, telling=telling)
    # From the unit of the differences to that of contributions.
    seen = differs[:, [name in telling for name in own.names]]
    unit = ratio(sum(minus for _, minus in sample.typical.values()), float(seen.mean(0).sum()))
    reach = dict(zip(telling, unit * seen.max(0), strict=True))
    return replace(found, typical=sample.typical, telling=telling, reach=reach)


def as_bits(
    names: tuple[str, ...], differs: np.ndarray, own: np.ndarray
) -> list[dict[str, tuple[float, float]]]:
    """Return -log2 of the shares of pairs at least as near, and at least as far (surprisal).

    The pair itself counts as one more, so that no share is 0. Columns with nothing to compare are
    left out.

    Parameters
    ----------
    names : tuple of str
    differs : float64 (questions or 1, pairs, columns), how much random pairs differ
    own : float64 (questions, columns), how much the two rows in question differ
    """
    count = (~np.isnan(differs)).sum(axis=1).astype(np.float64)
    count = np.where((count == 0) | np.isnan(own), np.nan, count)
    asked = own[:, None, :]
    near, far = (
        np.abs(-np.log2((side.sum(axis=1) + 1) / (count + 1))).tolist()  # no -0.0
        for side in (differs <= asked, differs >= asked)
    )
    return [
        {
            name: (for_, against)
            for name, for_, against in zip(names, *sides, strict=True)
            if not math.isnan(for_)
        }
        for sides in zip(near, far, strict=True)
    ]


def draw_pairs(n: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw some of n rows, always the same, and make pairs of them.

    Returns
    -------
    drawn : int64 array, positions in the order of the draw
    left, right : int64 arrays, the two rows of each pair: those beside each other in the draw
    """
    drawn = np.random.default_rng(0).choice(n, size, replace=False)
    # Of two rows there is one pair, of one row none; otherwise the last goes with the first.
    n_pairs = size if size > 2 else size - 1
    return drawn, drawn[:n_pairs], np.roll(drawn, -1)[:n_pairs]


def by_owner(owner: tuple[str, ...], values: np.ndarray) -> ColumnDifferences:
    """Add up the entries of each column; those of one column stand beside each other."""
    names = tuple(dict.fromkeys(owner))
    if len(names) < len(owner):
        starts = [at for at, name in enumerate(owner) if at == 0 or owner[at - 1] != name]
        values = np.add.reduceat(values, starts, axis=1)
    return ColumnDifferences(names, values)


def _draw(measure: Measure) -> _Sample:
    """Draw rows, and explain some pairs of them for what a column has in the mean."""
    rows = measure.rows_
    drawn, left, right = draw_pairs(len(rows), min(len(rows), SAMPLE))
    if hasattr(measure, "n_streamed_"):  # the rows that are left were drawn when it was fitted
        drawn = np.arange(len(rows))
        left, right = drawn[: len(left)], np.roll(drawn, -1)[: len(right)]
    sums: dict[str, np.ndarray] = {}
    count = 0
    for i, j in zip(left[:PAIRS], right[:PAIRS], strict=True):
        told = measure._explain(rows[i : i + 1], rows[j : j + 1])
        if np.isnan(told.similarity):
            continue
        count += 1
        for at, side in enumerate((told.plus, told.minus)):
            for name, value in side.items():
                if name is not None:
                    sums.setdefault(name, np.zeros(2))[at] += value
    typical = {name: (float(p) / count, float(m) / count) for name, (p, m) in sums.items()}
    return _Sample(rows[drawn], typical)
