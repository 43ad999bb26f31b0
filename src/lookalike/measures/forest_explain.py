"""Why a forest finds two rows alike: the tests they agree on, or the columns at which they part."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike._ragged import Ragged
from lookalike.forests.blame import ancestor_lacks, leaf_weights, parting_shares, ratio_parts
from lookalike.forests.rows import unknown_bin
from lookalike.measures.explanation import Explanation
from lookalike.measures.rows import Rows

__all__ = ["explain_parting", "explain_ratio", "explain_sharing", "soft_part"]

NOTHING = 1e-12  # rounding


def soft_part(rows: Rows) -> tuple[Ragged, Ragged]:
    """Return the leaves and weights of rows with gaps."""
    return rows.arrays["leaves"], rows.arrays["weights"]


def explain_sharing(
    measure: Any, a: Rows, b: Rows, parted: np.ndarray, feature: np.ndarray
) -> Explanation:
    """Explain a share of leaves: what it lacks to 1 is put down to the columns rows part at.

    ``parted`` is, for every node, the share of trees in which the two rows part there; ``feature``
    the place of its test's column among the owners, below 0 in a leaf.
    """
    similarity, distance = _numbers(measure, a, b)
    owner = measure.inputs_.owner
    minus: dict[str | None, float] = dict.fromkeys(owner, 0.0)
    if similarity < 1.0:  # a row with itself is exactly alike, whatever its gaps
        inside = feature >= 0
        _add(minus, owner, np.bincount(feature[inside], parted[inside], len(owner)))
    return Explanation(similarity, distance, {None: similarity}, minus)


def explain_parting(measure: Any, a: Rows, b: Rows, kind: str) -> Explanation:
    """Explain by the tests at which the ways of two rows part, whatever the parting costs.

    ``kind`` is the one of ``ancestor_block`` that belongs to the method.
    """
    forest, owner = measure.forest_, measure.inputs_.owner
    shares = "leaves" in a.arrays
    weights = [
        leaf_weights(
            forest.nodes.leaf_offsets, rows.arrays["codes"], soft_part(rows) if shares else None
        )
        for rows in (a, b)
    ]
    parted = parting_shares(forest, *weights)
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.offsets))
    if shares:
        usable = np.ones(forest.n_trees, bool)
        if "bag" in a.arrays:
            usable = (a.arrays["bag"][0] == 0) & (b.arrays["bag"][0] == 0)
            usable = usable if usable.any() else ~usable
        owned = np.where(forest.feature >= 0, forest.column[forest.feature], -1)
        return explain_sharing(measure, a, b, parted * usable[tree] / usable.sum(), owned)
    # What each tree lacks to likeness belongs to the column at which the ways part in it.
    similarity, distance = _numbers(measure, a, b)
    x, y = (rows.arrays["codes"][0] for rows in (a, b))
    lacking = ancestor_lacks(forest, x, y, measure.values_, kind)
    at = np.flatnonzero(parted > 0)
    by_column = np.bincount(forest.column[forest.feature[at]], lacking[tree[at]], len(owner))
    total = max(float(lacking.sum()), float(by_column.sum()))
    minus: dict[str | None, float] = dict.fromkeys(owner, 0.0)
    if total > 0:
        _add(minus, owner, by_column * ((1.0 - similarity) / total))
    rest = 1.0 - similarity - sum(minus.values())
    if rest > NOTHING:  # rows that share a leaf are still as far apart as the leaf is wide
        minus[None] = rest
    return Explanation(similarity, distance, {None: similarity}, minus)


def explain_ratio(measure: Any, a: Rows, b: Rows) -> Explanation:
    """Explain a ratio by the tests that two rows answer alike and those they do not."""
    similarity, distance = _numbers(measure, a, b)
    if np.isnan(similarity):
        return Explanation(similarity, distance, {None: 0.5}, {None: 0.5})
    owner = measure.inputs_.owner
    sides = [rows.arrays[name][0] for rows in (a, b) for name in ("codes", "bins")]
    agreed, apart, _ = ratio_parts(
        measure.forest_,
        *sides,
        unknown=unknown_bin(a.arrays["bins"]),
        once=measure.parting == "once",
        alpha=measure.alpha,
        beta=measure.beta,
    )
    plus: dict[str | None, float] = dict.fromkeys(owner, 0.0)
    minus: dict[str | None, float] = dict.fromkeys(owner, 0.0)
    column = measure.forest_.column  # several inputs may be about one column
    _add(plus, owner, np.bincount(column, agreed, len(owner)))
    _add(minus, owner, np.bincount(column, apart, len(owner)))
    # Trees of one leaf belong to no column, nor does the likeness of an empty row with itself.
    for side, whole in ((plus, similarity), (minus, 1.0 - similarity)):
        rest = whole - sum(side.values())
        if rest > NOTHING:
            side[None] = rest
    return Explanation(similarity, distance, plus, minus)


def _numbers(measure: Any, a: Rows, b: Rows) -> tuple[float, float]:
    return tuple(float(measure.block(a, b, to)[0, 0]) for to in ("similarity", "distance"))  # type: ignore[return-value]


def _add(side: dict[str | None, float], owner: tuple[str, ...], shares: np.ndarray) -> None:
    """Add what each place among the owners contributes to the column of that name."""
    for name, share in zip(owner, shares, strict=True):
        side[name] += float(share)
