"""Figure 2: whether the ranking of rows survives a change of scale."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from lookalike.errors import LookalikeWarning
from lookalike.leaderboard import ranking_agreement
from studies.data import rescale
from studies.order.methods import DISTANCES, KEPT, RANKED, SCALES, make, scales
from studies.palette import COLOURS, MARKERS, tidy
from studies.result import Finding, Plot, Result, Sheet, Value
from studies.work import Work

MEASURES = ("SimUSF", "SimURF", *DISTANCES, *RANKED)
COLUMNS = 4


def run(work: Work) -> Result:
    """Rank two synthetic sets on seven scales by ten measures."""
    rows_of = work.times(300, 1000, 1000)
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    for kind in work.each("sets", ("uniform", "normal")):
        found[kind] = {
            measure: work.once(
                f"{kind} {rows_of} {measure}", partial(_look, kind, rows_of, measure)
            )
            for measure in MEASURES
        }
    rows: list[dict[str, Any]] = [
        {"set and measure": f"{kind}, {measure}"}
        | {scale: Value(each[scale][0], spread=each[scale][1]) for scale in SCALES[1:]}
        | ({"same seed, monotone scales": Value(each["same"][0])} if "same" in each else {})
        for kind, measures in found.items()
        for measure, each in measures.items()
    ]
    about = (
        f"{rows_of} rows, {COLUMNS} columns, uniform and normal (size and parameters were in a "
        "plot missing from our copy). Mean and standard deviation over rows of Spearman's "
        "correlation with the ranking on the first scale. Forests are regrown with another seed "
        "on each scale, so that their own noise is included; the last column is the lowest "
        "agreement over the four monotone scales with the same seed. 1000 trees, height 5."
    )

    def low(measures: tuple[str, ...], which: tuple[str, ...]) -> float:
        return min(found[k][m][s][0] for k in found for m in measures for s in which)

    keep, turn = KEPT[1:], SCALES[5:]
    same = min(found[k][m]["same"][0] for k in found for m in ("SimUSF", "SimURF"))
    ranks = low(RANKED, keep)
    distances = [min(found[k][m][s][0] for k in found for s in SCALES[1:]) for m in DISTANCES]
    findings = [
        Finding(
            "SimUSF, SimURF and ranked measures are invariant under monotone changes of scale",
            same > 1 - 1e-9 and ranks > 1 - 1e-9,
            f"lowest agreement: forests with one seed {same:.6f}, ranked measures {ranks:.6f}",
            headline=True,
        ),
        Finding(
            "Two SimUSF forests on two scales agree better than two SimURF, and both better than "
            "plain distances",
            bool(low(("SimUSF",), SCALES[1:]) > low(("SimURF",), SCALES[1:]) > max(distances)),
            f"lowest over sets and scales: SimUSF {low(('SimUSF',), SCALES[1:]):.3f}, SimURF "
            f"{low(('SimURF',), SCALES[1:]):.3f}, best plain distance {max(distances):.3f}",
        ),
        Finding(
            "Ranked cityblock, Euclidean and Chebyshev are invariant under a reversal, too "
            "(claimed for all; cosine of ranks is not)",
            low(RANKED[:2] + RANKED[3:], turn) > 1 - 1e-9,
            f"lowest under 1/x and exp(-x): {low(RANKED[:2] + RANKED[3:], turn):.6f}; ranked "
            f"cosine {low(('ranked cosine',), turn):.3f}, SimUSF {low(('SimUSF',), turn):.3f}",
        ),
    ]
    sheet = Sheet("figure2", "Figure 2: agreement with the first scale", rows, about)
    return Result([sheet], findings, [_plot(found)])


def _look(kind: str, n: int, name: str) -> dict[str, list[float]]:
    rng = np.random.default_rng(0)
    drawn = rng.random((n, COLUMNS)) if kind == "uniform" else rng.normal(size=(n, COLUMNS))
    versions = scales(rescale(drawn))
    forest = name in ("SimUSF", "SimURF")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LookalikeWarning)
        first = make(name, 0).fit(versions["as it is"]).similarity()
        found: dict[str, list[float]] = {}
        same = []
        for at, scale in enumerate(SCALES[1:], 1):
            other = make(name, at if forest else 0).fit(versions[scale]).similarity()
            found[scale] = list(ranking_agreement(first, other))
            if forest and scale in KEPT:
                again = make(name, 0).fit(versions[scale]).similarity()
                same.append(ranking_agreement(first, again).mean)
    if forest:
        found["same"] = [min(same)]
    return found


def _plot(found: dict[str, dict[str, dict[str, list[float]]]]) -> Plot:
    shown = ("SimUSF", "SimURF", *DISTANCES)

    def draw(figure: Any) -> None:
        panels = figure.subplots(1, 2, sharey=True)
        for axes, (kind, measures) in zip(panels, found.items(), strict=True):
            for at, measure in enumerate(shown):
                values = np.array([measures[measure][scale] for scale in SCALES[1:]])
                places = np.arange(len(values)) + (at - 2.5) * 0.1
                axes.errorbar(places, values[:, 0], values[:, 1], fmt=MARKERS[at], markersize=4,
                              color=COLOURS[at], linewidth=0.8, label=measure)  # fmt: skip
            axes.set_xticks(range(len(SCALES) - 1), SCALES[1:], rotation=30)
            tidy(axes, "", "agreement with the first scale", kind)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=6,
                      frameon=False, fontsize=8)  # fmt: skip

    alt = "Agreement with the ranking on the first scale, by transform: forests high, distances low"
    return Plot("figure2", alt, draw, (8.5, 4.0))
