"""Figures 4 and 6: the height of the trees, and their number."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.clustering import DensitySearch
from lookalike.measures import StochasticForest
from studies.data import load_numbers, rescale
from studies.order.notes import ONE_FOREST, OTHER_BEST
from studies.order.published import DENSITY_SETS, RETRIEVAL_SETS
from studies.order.retrieval import load, precisions
from studies.palette import COLOURS, MARKERS, tidy
from studies.result import Finding, Plot, Result, Sheet, Value
from studies.work import Work

HEIGHTS = (1, 2, 3, 4, 5, 6, 7)
TREES = (100, 1000, 10000)
CLUSTERED = ("Wine", "Libras Movement")
SOUGHT = "GTZAN Music"
GAMMA = 0.5
Found = dict[str, dict[tuple[int, int], list[float]]]  # set -> (trees, height) -> score by seed
Means = dict[str, dict[tuple[int, int], float]]


def run(work: Work) -> Result:
    """Vary height and number of trees for clustering and for retrieval."""
    seeds = work.times(1, 5, 20)
    settings = [(1000, h) for h in HEIGHTS] + [(t, 5) for t in TREES if t != 1000]
    found: Found = {}
    files = {name: printed[0] for name, printed in (DENSITY_SETS | RETRIEVAL_SETS).items()}
    names = work.available({name: files[name] for name in (*CLUSTERED, SOUGHT)})
    for name in work.each("sets", names):
        found[name] = {
            (trees, height): [
                work.once(
                    f"{name} {trees} {height} {seed}",
                    partial(_score, work.data, name, trees, height, seed),
                )
                for seed in range(seeds)
            ]
            for trees, height in settings
        }
    rows = _rows(found, settings)
    about = (
        f"Best F-measure of density clustering (Wine, Libras; † chosen by the classes, as in the "
        f"paper) and precision@50 after five rounds (GTZAN, gamma {GAMMA}); {seeds} forest(s). "
        "Corel is not available. The figures show no numbers; best heights in the paper: Wine 6, "
        "Libras 5."
    )
    means = {name: {k: float(np.mean(v)) for k, v in each.items()} for name, each in found.items()}
    findings = _findings(means)
    sheet = Sheet("parameters", "Figures 4 and 6: height and number of trees", rows, about)
    return Result([sheet], findings, [_plot(means)])


def _rows(found: Found, settings: list[tuple[int, int]]) -> list[dict[str, Any]]:
    return [
        {"trees and height": f"{trees} trees, height {height}"}
        | {name: _value(name, each[trees, height]) for name, each in found.items()}
        for trees, height in settings
    ]


def _value(name: str, scores: list[float]) -> Value:
    spread = float(np.std(scores)) if len(scores) > 1 else None
    return Value(float(np.mean(scores)), spread=spread, chosen=name in CLUSTERED)


def _findings(means: Means) -> list[Finding]:
    lost = {
        name: max(each[1000, h] for h in HEIGHTS) - max(each[1000, h] for h in (4, 5, 6))
        for name, each in means.items()
    }
    gains = {n: (e[1000, 5] - e[100, 5], e[10000, 5] - e[1000, 5]) for n, e in means.items()}
    best = {name: max((each[1000, h], -h) for h in HEIGHTS)[1] for name, each in means.items()}
    return [
        Finding(
            "Heights of 4, 5 and 6 with 1000 trees suffice",
            max(lost.values()) < 0.02,
            "best height "
            + ", ".join(f"{n} {-h}" for n, h in best.items())
            + "; lost by the best of 4 to 6: "
            + ", ".join(f"{n} {v:.3f}" for n, v in lost.items()),
            OTHER_BEST,
        ),
        Finding(
            "More than 1000 trees gain little",
            max(second for _, second in gains.values()) < 0.02,
            "; ".join(f"{n}: to 1000 {a:+.3f}, to 10000 {b:+.3f}" for n, (a, b) in gains.items()),
            ONE_FOREST,
        ),
    ]


def _score(data: Path, name: str, trees: int, height: int, seed: int) -> float:
    forest = StochasticForest(trees, height, on_fail="relax", random_state=seed)
    if name in CLUSTERED:
        x, y = load_numbers(data, DENSITY_SETS[name][0])
        return float(DensitySearch(forest).fit(rescale(x), y).score_)
    return precisions(forest, *load(data, name), [GAMMA], seed)[0]


def _plot(means: Means) -> Plot:
    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2, sharey=True)
        for at, (name, each) in enumerate(means.items()):
            style = {"color": COLOURS[at], "marker": MARKERS[at], "markersize": 4, "label": name}
            left.plot(HEIGHTS, [each[1000, h] for h in HEIGHTS], **style)
            right.plot(TREES, [each[t, 5] for t in TREES], **style)
        right.set_xscale("log")
        tidy(left, "height, 1000 trees", "best F-measure, or precision@50")
        tidy(right, "trees, height 5", "")
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3,
                      frameon=False, fontsize=8)  # fmt: skip

    alt = "Scores against height and number of trees: little changes from height 4 and 1000 trees"
    return Plot("figures4and6", alt, draw, (8.0, 3.4))
