"""Why rows of mixed columns are alike: one row against several, all of them together."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from lookalike.measures.contract.explanation import Explanation
from lookalike.measures.contract.rows import Rows
from lookalike.measures.contract.typical import Typical
from lookalike.measures.mixed.plan import SIMPLE, MixedPlan


def explain_mixed(
    plan: MixedPlan,
    typical: Typical,
    columns: Iterable[str],
    weights: np.ndarray,
    midpoint: bool,
    a: Rows,
    b: Rows,
    distances: np.ndarray,
    similarities: np.ndarray,
) -> list[Explanation]:
    """Return what each column contributes to the likeness of one row and each of some others.

    Parameters
    ----------
    plan : MixedPlan
    typical : Typical, what random pairs have
    columns : names of the columns in the order of the table
    weights : float64 per column of the plan
    midpoint : bool
        Whether a missing cell counts as half a difference.
    a : Rows of length one
    b : Rows
    distances, similarities : float64 per row of b, the numbers to be explained
    """
    names, order = plan.names, tuple(columns)
    found = plan.pairs(a[np.zeros(len(b), np.int64)].arrays, b.arrays)
    differs = _half_for_gaps(plan, found, a, b) if midpoint else found
    gone = np.isnan(differs)
    counted = np.where(gone, 0.0, weights)
    whole = counted.sum(axis=1)
    plus, minus = _shares(counted, np.nan_to_num(differs), whole)
    known = counted * ~np.isnan(typical.mean)
    usual = np.stack(_shares(known, np.nan_to_num(typical.mean), whole), axis=2)
    left_out = gone & (weights > 0)
    telling = typical.telling(plan, a, b, found)
    each = []
    for i, (similarity, distance) in enumerate(
        zip(similarities.tolist(), distances.tolist(), strict=True)
    ):
        not_compared = tuple(name for name, out in zip(names, left_out[i], strict=True) if out)
        if not whole[i] > 0 or np.isnan(similarity):  # nothing to compare
            filler = 0.5 if np.isnan(similarity) else similarity
            half: dict[str | None, float] = {None: filler}
            rest: dict[str | None, float] = {None: 1 - filler}
            each.append(Explanation(similarity, distance, half, rest, not_compared=not_compared))
            continue
        two = (dict(zip(names, side[i].tolist(), strict=True)) for side in (plus, minus))
        pro, contra = (_in_order(side, order) for side in two)
        more = similarity - sum(pro.values())
        if more > 1e-9:  # a row with itself is exactly alike, whatever its gaps
            contra = dict.fromkeys(contra, 0.0)
            pro[None] = more
        pairs = (tuple(pair) for pair in usual[i].tolist())
        each.append(
            Explanation(
                similarity, distance, pro, contra, typical=dict(zip(names, pairs, strict=True)),
                telling=telling[i], not_compared=not_compared,
            )
        )  # fmt: skip
    return each


def _in_order(side: dict[str, float], order: tuple[str, ...]) -> dict[str | None, float]:
    return {name: side[name] for name in order}


def _shares(
    weights: np.ndarray, differs: np.ndarray, whole: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return what each column says for likeness and against it, of a total of 1."""
    with np.errstate(divide="ignore", invalid="ignore"):  # of pairs with nothing to compare
        return weights * (1 - differs) / whole[:, None], weights * differs / whole[:, None]


def _half_for_gaps(plan: MixedPlan, differs: np.ndarray, a: Rows, b: Rows) -> np.ndarray:
    """Fill 1/2 where a cell is missing; a flag absent in both stays not comparable."""
    absent = np.zeros(differs.shape, dtype=bool)
    flags = slice(int(plan.ends[2]), int(plan.ends[3]))
    absent[:, flags] = (a.arrays[SIMPLE][:, flags] == 0) & (b.arrays[SIMPLE][:, flags] == 0)
    return np.where(np.isnan(differs) & ~absent, 0.5, differs)
