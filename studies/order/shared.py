"""Table 1 again: what two SimURF forests may share, which the paper does not say.

The forests are grown apart from our own measure, by scikit-learn: so the synthetic rows can be the
same for both, and our program is not what makes the difference to print.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from lookalike.leaderboard import ranking_agreement
from studies.order.notes import SHARED_ABOUT, SHARED_CAUSES, SHARED_NOT
from studies.order.published import TABLE_1, ZEROS
from studies.result import Finding, Result, Sheet, Value
from studies.work import Work

ROWS, COLUMNS = 1000, 4
PER_NODE = 2  # the square root of the columns
WITHIN = 0.01
SAME, OTHER = "the same synthetic rows", "other synthetic rows"
READINGS = {
    "other synthetic rows, as in Table 1": (OTHER, "apart"),
    "other synthetic rows, a row in its own list": (OTHER, "own"),
    "the same synthetic rows": (SAME, "apart"),
    "the same synthetic rows, a row in its own list": (SAME, "own"),
}
BOTH = list(READINGS)[-1]


def run(work: Work) -> Result:
    """Measure the agreement of forests with the same synthetic rows, and with others."""
    tables = {
        100: work.times(2, 5, 20),
        1000: work.times(0, 2, 20),
        10000: work.times(0, 0, 1),
    }
    found: dict[tuple[str, int], dict[str, float]] = {}
    for trees in work.each("trees", [trees for trees, many in tables.items() if many]):
        for way in (OTHER, SAME):
            each = [
                work.once(f"{way} {trees} {at}", partial(_pair, way == SAME, trees, at))
                for at in range(tables[trees])
            ]
            found[way, trees] = {
                key: float(np.mean([one[key] for one in each])) for key in ("apart", "own", "zeros")
            }
    shown = sorted({trees for _, trees in found})
    rows: list[dict[str, Any]] = []
    for label, (way, key) in READINGS.items():
        row: dict[str, Any] = {"two forests": label}
        for trees in shown:
            one = found[way, trees]
            row[f"{trees} trees"] = Value(one[key], TABLE_1["SimURF"][trees][0], WITHIN)
            row[f"{trees} trees, similarity 0, %"] = Value(
                one["zeros"], ZEROS["SimURF"].get(trees), digits=1
            )
        rows.append(row)
    counts = ", ".join(f"{tables[trees]} with {trees} trees" for trees in shown)
    sheet = Sheet(
        "shared",
        "SimURF: what two forests share",
        rows,
        SHARED_ABOUT.format(counts=counts, within=WITHIN),
        SHARED_CAUSES,
    )
    gaps = {t: found[SAME, t]["own"] - TABLE_1["SimURF"][t][0] for t in shown}
    finding = Finding(
        "SimURF's printed agreement is reproduced if both forests use the same synthetic rows "
        "and a row is in its own list",
        max(map(abs, gaps.values())) <= WITHIN,
        "; ".join(
            f"{t} trees: {found[SAME, t]['own']:.3f} (printed {TABLE_1['SimURF'][t][0]:.3f}; with "
            f"neither {found[OTHER, t]['apart']:.3f})"
            for t in shown
        ),
        SHARED_NOT,
    )
    return Result([sheet], [finding])


def _pair(same: bool, trees: int, at: int) -> dict[str, float]:
    x = np.random.default_rng(at).random((ROWS, COLUMNS))
    one, two = (
        _similarities(x, _permuted(x, 100 + at if same or not side else 200 + at), trees,
                      2 * at + 1 + side)
        for side in (0, 1)
    )  # fmt: skip
    return {
        "apart": ranking_agreement(one, two).mean,
        "own": _own_agreement(one, two),
        "zeros": 100 * float((one == 0).mean()),
    }


def _permuted(x: np.ndarray, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.permutation(column) for column in x.T])


def _similarities(x: np.ndarray, synthetic: np.ndarray, trees: int, seed: int) -> np.ndarray:
    """Return the share of trees grown on neither of two rows in which they share a leaf."""
    from sklearn.ensemble import RandomForestClassifier

    both = np.vstack([x, synthetic])
    kind = np.repeat([0, 1], [len(x), len(synthetic)])
    forest = RandomForestClassifier(trees, max_features=PER_NODE, random_state=seed)
    leaves = forest.fit(both, kind).apply(x)
    shared = np.zeros((len(x), len(x)))
    asked = np.zeros_like(shared)
    # Out-of-bag proximities: only trees grown on neither row compare two rows, as the paper
    # describes SimURF. Positions beyond len(x) are synthetic rows and drop out here.
    for tree, bag in enumerate(forest.estimators_samples_):
        out = np.setdiff1d(np.arange(len(x)), bag)
        here = np.ix_(out, out)
        shared[here] += leaves[out, tree][:, None] == leaves[out, tree]
        asked[here] += 1
    # Pairs that no tree left out of its bootstrap sample count as similarity 0.
    return np.divide(shared, asked, out=np.zeros_like(shared), where=asked > 0)


def _own_agreement(one: np.ndarray, two: np.ndarray) -> float:
    """Return the mean rank correlation of lists in which each row stands itself, as the nearest."""
    from scipy.stats import rankdata

    middle = (len(one) + 1) / 2
    a, b = (rankdata(matrix, axis=1) - middle for matrix in (one, two))
    return float(((a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))).mean())
