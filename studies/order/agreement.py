"""Table 1: how far two forests of the same kind agree, and the band that eight tables left.

The paper does not print the height of the trees for this table; both 2 and 5 (its value elsewhere)
are shown.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from lookalike.errors import LookalikeWarning
from lookalike.leaderboard import ranking_agreement
from lookalike.measures import StochasticForest
from studies.order.methods import make
from studies.order.notes import FIRST_CUTS, ONE_TABLE, OTHER_HEIGHT, URF
from studies.order.published import TABLE_1, ZEROS
from studies.palette import COLOURS, tidy
from studies.result import Finding, Plot, Result, Sheet, Value
from studies.work import Work

ROWS, COLUMNS = 1000, 4
LOW, USUAL = 2, 5
TABLES = 12
ENOUGH = 5
BAND = 0.945, 0.01  # what was expected of a hundred trees of height 2


def run(work: Work) -> Result:
    """Measure the agreement of pairs of forests, and what moves it."""
    pairs = work.times(2, 10, 20)
    # SimURF is slow: fewer tables with more trees.
    urf = {100: pairs, 1000: work.times(1, 5, 20), 10000: work.times(0, 1, 1)}
    cells: dict[tuple[str, int], list[list[float]]] = {}
    for trees in work.each("trees", (100, 1000, 10000)):
        for height in (LOW, USUAL):
            cells[f"SimUSF, height {height}", trees] = [
                work.once(
                    f"usf {height} {trees} {at}",
                    partial(_pair, "SimUSF", trees, height, at),
                )
                for at in range(pairs)
            ]
        cells["SimURF", trees] = [
            work.once(f"urf {trees} {at}", partial(_pair, "SimURF", trees, 0, at))
            for at in range(urf[trees])
        ]
    band, found = _band(work)
    return Result([_sheet(cells, pairs, urf), band], [*_findings(cells), *found], [_plot(work)])


def _table(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((ROWS, COLUMNS))


def _pair(name: str, trees: int, height: int, at: int) -> list[float]:
    """Return mean and spread of the agreement, and the share of zeros of the first forest."""
    x = _table(at)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LookalikeWarning)  # pairs that no tree left out of its bag
        one, two = (
            make(name, 2 * at + 1 + side, trees, height).fit(x).similarity() for side in (0, 1)
        )
    agreed = ranking_agreement(one, two)
    return [agreed.mean, agreed.std, 100 * float((one == 0).mean())]


def _sheet(
    cells: dict[tuple[str, int], list[list[float]]], pairs: int, urf: dict[int, int]
) -> Sheet:
    rows: list[dict[str, Any]] = []
    for (name, trees), each in cells.items():
        kind = name.split(",")[0]
        printed, spread = TABLE_1[kind][trees]
        row: dict[str, Any] = {"forest": f"{name}, {trees} trees", "tables": len(each)}
        if not each:
            rows.append(row | {"agreement": Value(None, printed), "sd over rows": Value(None)})
            continue
        values = np.array(each)
        # Two standard deviations of a single table: the print is one. Few tables tell none.
        within = max(2 * float(values[:, 0].std(ddof=1)), 0.001) if len(each) >= ENOUGH else 0.01
        row["agreement"] = Value(
            float(values[:, 0].mean()), printed, within, spread=float(values[:, 0].std())
        )
        row["sd over rows"] = Value(float(values[:, 1].mean()), spread, digits=3)
        row["similarity 0, %"] = Value(float(values[:, 2].mean()), ZEROS[kind].get(trees), digits=1)
        rows.append(row)
    causes = {(f"SimUSF, height {USUAL}, {t} trees", "*"): OTHER_HEIGHT for t in TABLE_1["SimUSF"]}
    causes |= {(f"SimUSF, height {LOW}, {t} trees", "*"): ONE_TABLE for t in TABLE_1["SimUSF"]}
    causes |= {(f"SimURF, {t} trees", "*"): URF for t in TABLE_1["SimURF"]}
    about = (
        f"{ROWS} rows, {COLUMNS} columns, uniform; two forests with other seeds on one table. "
        f"{pairs} tables for SimUSF, {', '.join(map(str, urf.values()))} for SimURF with 100, 1000 "
        "and 10000 trees; the paper has one. Tolerance: two standard deviations of a table, at "
        f"least 0.001 (0.01 where there are fewer than {ENOUGH} tables). The height is not "
        "printed."
    )
    return Sheet("table1", "Table 1: agreement of two forests", rows, about, causes)


def _findings(cells: dict[tuple[str, int], list[list[float]]]) -> list[Finding]:
    means = {key: np.mean(each, axis=0) for key, each in cells.items() if each}
    most = max(trees for name, trees in means if name == "SimURF")
    few = means[f"SimUSF, height {LOW}", 100], means[f"SimUSF, height {USUAL}", 100]
    rival = means["SimURF", most]
    zeros = [means["SimURF", t][2] for t in (100, 1000, 10000) if ("SimURF", t) in means]
    return [
        Finding(
            f"SimUSF with 100 trees agrees with itself better than SimURF with {most}",
            bool(min(few[0][0], few[1][0]) > rival[0]),
            f"{few[0][0]:.3f} (height 2), {few[1][0]:.3f} (height 5) against {rival[0]:.3f} (0.951 "
            "against 0.867 with 10000 trees)",
            headline=True,
        ),
        Finding(
            "SimURF has similarity 0 for most pairs, fewer with more trees; SimUSF for none at "
            "100 trees",
            bool(zeros[0] > 50 and (np.diff(zeros) < 0).all() and few[0][2] < 0.5),
            f"SimURF {', '.join(f'{z:.1f} %' for z in zeros)} (96.0, 85.5, 71.0 %); SimUSF "
            f"{few[0][2]:.1f} % with height 2, {few[1][2]:.1f} % with height 5",
        ),
    ]


# -- the band --------------------------------------------------------------------------------------


def _looked(work: Work) -> list[list[dict[str, float]]]:
    pairs = work.times(3, 10, 10)
    return [
        [work.once(f"band {table} {pair} own", partial(_one, table, pair)) for pair in range(pairs)]
        for table in range(TABLES)
    ]


def _one(table: int, pair: int) -> dict[str, float]:
    x = _table(table)
    # The first pair is the one the band was tried with; the others differ from table to table.
    first = 1 if pair == 0 else 1000 * pair + 2 * table
    seeds = (first, first + 1)
    one, two = (StochasticForest(100, LOW, random_state=seed).fit(x) for seed in seeds)
    # The root decides which half of the rows a tree separates first: two forests whose roots
    # use the columns unequally often may rank rows differently.
    shares = [
        np.bincount(forest.forest_.feature[:, 0], minlength=COLUMNS) / 100 for forest in (one, two)
    ]
    return {
        "agreement": ranking_agreement(one, two).mean,
        "apart": float(np.abs(shares[0] - shares[1]).sum() / 2),
    }


def _band(work: Work) -> tuple[Sheet, list[Finding]]:
    looked = _looked(work)
    values = np.array([[one["agreement"] for one in row] for row in looked])
    apart = np.array([[one["apart"] for one in row] for row in looked])
    outside = np.abs(values - BAND[0]) > BAND[1]
    rows: list[dict[str, Any]] = [
        {
            "table": table,
            "seeds 1 and 2": Value(values[table, 0]),
            "in the band": "no" if outside[table, 0] else "yes",
            "mean of all pairs": Value(
                float(values[table].mean()), spread=float(values[table].std())
            ),
            "pairs in the band": f"{int((~outside[table]).sum())} of {values.shape[1]}",
            "first cuts apart, mean of pairs": Value(float(apart[table].mean()), digits=2),
        }
        for table in range(TABLES)
    ]
    within = float(values.var(axis=1, ddof=1).mean())
    # One-way variance components: the variance of table means contains the share within / pairs
    # of the variance within tables; a negative estimate means none between tables.
    between = max(0.0, float(values.mean(axis=1).var(ddof=1)) - within / values.shape[1])
    link = float(np.corrcoef(values.ravel(), apart.ravel())[0, 1])
    about = (
        f"100 trees of height 2; {TABLES} tables (seeds 0 to {TABLES - 1}), {values.shape[1]} "
        f"pairs of forests on each. The band is {BAND[0]} ± {BAND[1]}. 'First cuts apart': half "
        "the sum of the differences between the two forests in how often each column makes the "
        f"first cut; it is {apart[0, 0]:.2f} for seeds 1 and 2 on every table, which were tried "
        "on all twelve. "
        f"Variance within a table {within:.6f}, between tables {between:.6f}; correlation of "
        f"agreement with 'first cuts apart' {link:+.2f}."
    )
    findings = [
        Finding(
            "The band is missed because of the forests, not of the tables",
            within > between,
            f"{int(outside[:, 0].sum())} of {TABLES} tables outside with seeds 1 and 2, "
            f"{100 * outside.mean():.0f} % of all pairs; mean {values.mean():.3f}, standard "
            f"deviation {values.std():.3f} where the band is ± {BAND[1]}; "
            f"{100 * within / (within + between):.0f} % of the variance is within tables",
        ),
        Finding(
            "Forests that make their first cuts in other columns agree less",
            link < -0.3,
            f"correlation of agreement with the difference in first cuts {link:+.2f}, "
            f"{values.size} pairs",
            FIRST_CUTS,
        ),
    ]
    return Sheet("band", "The band of 100 trees of height 2", rows, about), findings


def _plot(work: Work) -> Plot:
    looked = _looked(work)

    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2, sharey=True)
        for table, row in enumerate(looked):
            left.plot([table] * len(row), [one["agreement"] for one in row], "o", markersize=4,
                      color=COLOURS[0])  # fmt: skip
        right.plot([one["apart"] for row in looked for one in row],
                   [one["agreement"] for row in looked for one in row], "o", markersize=4,
                   color=COLOURS[0])  # fmt: skip
        for axes in (left, right):
            axes.axhspan(BAND[0] - BAND[1], BAND[0] + BAND[1], color=COLOURS[4], alpha=0.3, lw=0)
        tidy(left, "table", "agreement", "each pair of forests; shaded: the band")
        tidy(right, "difference of the forests in first cuts", "", "the same pairs")

    alt = "Agreement of pairs of forests by table, and against how differently they cut first"
    return Plot("band", alt, draw, (8.0, 3.2))
