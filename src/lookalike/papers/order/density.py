"""Figure 3: the best F-measure that density clustering can reach on each scale; S2 looked into."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.cluster import DensitySearch, clustering_f_measure
from lookalike.errors import LookalikeWarning
from lookalike.papers.data import load_numbers, rescale
from lookalike.papers.order.methods import DISTANCES, KEPT, RANKED, SCALES, make, scales
from lookalike.papers.order.panels import panel_plot
from lookalike.papers.order.published import DENSITY_SETS
from lookalike.papers.result import Finding, Result, Sheet, Value
from lookalike.papers.work import Work

__all__ = ["run"]

MEASURES = ("SimUSF", "SimURF", *DISTANCES, *RANKED)
SMALL = ("Iris", "Wine", "Seeds")
SEEDED = ("SimUSF", "SimURF")
S2 = "S-set S2"
Scores = dict[str, dict[str, dict[str, float]]]


def run(work: Work) -> Result:
    """Search the best setting of density clustering for every set, scale and measure."""
    names = work.pick(SMALL, list(DENSITY_SETS), list(DENSITY_SETS))
    seeds = work.times(1, 1, 5)
    found: Scores = {}
    for name in work.each("sets", names):
        found[name] = {
            measure: {
                scale: float(
                    np.mean(
                        [
                            work.once(
                                f"{name} {measure} {scale} {seed}",
                                lambda n=name, m=measure, s=scale, seed=seed: _score(
                                    work.data, n, m, s, seed
                                ),
                            )
                            for seed in range(seeds if measure in SEEDED else 1)
                        ]
                    )
                )
                for scale in SCALES
            }
            for measure in MEASURES
        }
    free = {
        name: {
            measure: work.once(
                f"{name} {measure} free", lambda n=name, m=measure: _free(work.data, n, m)
            )
            for measure in MEASURES
        }
        for name in work.each("without classes", names)
    }
    rows: list[dict[str, Any]] = [
        {"set and measure": f"{name}, {measure}"}
        | {scale: Value(each[scale], chosen=True) for scale in SCALES}
        | {
            "moves by": Value(max(each[s] for s in KEPT) - min(each[s] for s in KEPT)),
            "without classes": Value(free[name][measure]),
        }
        for name, measures in found.items()
        for measure, each in measures.items()
    ]
    about = (
        "The protocol of the paper: minimum neighborhoods of 2 to 25, eps refined to three digits, "
        "the best F-measure by the classes: every such figure is chosen by its own score, here as "
        "in the paper. 'Without classes' is the F-measure on the first scale when eps is put at "
        "the knee of the distances and the silhouette chooses the neighborhood. How its F1 matches "
        "clusters and counts noise is not stated; here each class has its best cluster, classes "
        f"weigh by size, noise is no cluster. 1000 trees, height 5, {seeds} forest(s). 'Moves by': "
        "over the scales that keep the order. The figure prints no numbers. "
        + ("" if len(names) > len(SMALL) else "The three smaller of six sets (--quick).")
    )
    sheet = Sheet("figure3", "Figure 3: best F-measure of density clustering", rows, about)
    s2, cause = _s2(work)
    plot = panel_plot("figure3", found, MEASURES, "best F-measure", 3)
    return Result([sheet, s2], [*_findings(found), cause], [plot])


def _load(data: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    x, y = load_numbers(data, DENSITY_SETS[name][0])
    return rescale(x), y


def _score(data: Path, name: str, measure: str, scale: str, seed: int) -> float:
    x, y = _load(data, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LookalikeWarning)
        return float(DensitySearch(make(measure, seed)).fit(scales(x)[scale], y).score_)


def _free(data: Path, name: str, measure: str) -> float:
    """Return the F-measure of settings that were found without the classes."""
    x, y = _load(data, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LookalikeWarning)
        labels = DensitySearch(make(measure)).fit(x).labels_
    return float(clustering_f_measure(y, labels))


def _findings(found: Scores) -> list[Finding]:
    best = {name: {m: max(each.values()) for m, each in of.items()} for name, of in found.items()}
    # The paper draws SimUSF as a flat line; ours on the first scale stands for it.
    first = {name: of["SimUSF"]["as it is"] for name, of in found.items()}
    rivals = ("SimURF", *DISTANCES)
    top = [n for n in found if first[n] > max(best[n][m] for m in rivals)]
    above_ranks = [n for n in found if first[n] >= max(best[n][m] for m in RANKED)]
    ties = [
        n for n in found if best[n]["ranked cityblock"] >= max(best[n][m] for m in DISTANCES) - 0.01
    ]
    euclid = [n for n in found if best[n]["ranked cityblock"] > best[n]["ranked euclidean"]]
    urf = [n for n in found if best[n]["SimURF"] > best[n]["ranked cityblock"]]
    flat = max(
        max(found[n][m][s] for s in KEPT) - min(found[n][m][s] for s in KEPT)
        for n in found
        for m in ("SimUSF", *RANKED)
    )
    n = len(found)
    return [
        Finding(
            "SimUSF reaches the best F-measure of density clustering (6 of 6 sets in the paper)",
            len(top) == n,
            f"above SimURF and the plain distances on whatever scale suits them on {len(top)} of "
            f"{n} sets ({', '.join(top)}); also at or above every ranked measure on "
            f"{len(above_ranks)}",
            "Exceptions: S2, where clusters are round in the plane (below), and Libras, where "
            "cityblock on squared values is above it",
        ),
        Finding(
            "SimUSF and ranked measures do not move over the scales that keep the order",
            flat < 1e-9,
            f"largest movement {flat:.6f}",
            headline=True,
        ),
        Finding(
            "Ranked cityblock at least ties the four distances over all scales (paper: all but "
            "Image Segmentation)",
            len(ties) == len([one for one in found if one != "Image Segmentation"]),
            f"within 0.01 or above on {len(ties)} of {n} sets ({', '.join(ties)})",
            "Distances may take the scale that suits them best of seven, chosen by the classes",
        ),
        Finding(
            "Ranked cityblock is above ranked Euclidean everywhere",
            len(euclid) == n,
            f"on {len(euclid)} of {n} sets ({', '.join(euclid)})",
            "Not explained; the two differ by little",
        ),
        Finding(
            "SimURF is above ranked cityblock on Wine only",
            urf == ["Wine"],
            f"above on {', '.join(urf) or 'none'}",
            "Not explained; one forest for each scale, whose best is taken",
        ),
    ]


# -- S2 --------------------------------------------------------------------------------------------


def _s2(work: Work) -> tuple[Sheet, Finding]:
    """Look for the cause of SimUSF's place on S2: height, trees, the definition of F."""
    heights = work.pick((5, 7), (3, 4, 5, 6, 7, 8), (3, 4, 5, 6, 7, 8))
    ways = work.pick(("class_weighted",), WAYS, WAYS)
    settings: list[tuple[str, str, int, int]] = [
        ("cityblock", "cityblock", 0, 0),
        ("ranked cityblock", "ranked cityblock", 0, 0),
        *((f"SimUSF, height {h}", "SimUSF", 1000, h) for h in heights),
        ("SimUSF, height 5, 10000 trees", "SimUSF", 10000, 5),
    ]
    found = {
        title: {
            way: work.once(
                f"s2 {title} {way}",
                lambda m=measure, t=trees, h=height, way=way: _s2_score(work.data, m, t, h, way),
            )
            for way in ways
        }
        for title, measure, trees, height in work.each("S2", settings)
    }
    rows: list[dict[str, Any]] = [
        {"measure": title} | {way: Value(each[way], chosen=True) for way in ways}
        for title, each in found.items()
    ]
    about = (
        "Best F-measure on S2 as it is, under the definitions the paper leaves open: best cluster "
        "of each class, one cluster for one class, pairs of rows."
    )
    base = found["cityblock"]["class_weighted"]
    usual = found["SimUSF, height 5"]["class_weighted"]
    more = found["SimUSF, height 5, 10000 trees"]["class_weighted"]
    tall = {h: found[f"SimUSF, height {h}"]["class_weighted"] for h in heights}
    best = max(tall, key=lambda h: tall[h])
    ahead = all(each[way] < found["cityblock"][way]
                for title, each in found.items() if title == "SimUSF, height 5"
                for way in ways)  # fmt: skip
    finding = Finding(
        "On S2 the height of the trees holds SimUSF back: 32 leaves are few for 15 clusters, and "
        "taller trees close the gap to cityblock",
        tall[best] >= base - 0.002 and best > USUAL,
        f"cityblock {base:.3f}; SimUSF height 5 {usual:.3f}, with 10000 trees {more:.3f}, "
        f"height {best} {tall[best]:.3f} (chosen); under "
        + ("every" if ahead else "not every")
        + f" definition of F ({', '.join(ways)}) height 5 is behind",
        "Not explained. Tried: heights, ten times the trees, other definitions of F",
    )
    return Sheet("s2", "S2: why SimUSF is behind cityblock", rows, about), finding


WAYS = ("class_weighted", "hungarian", "pairwise")
USUAL = 5


def _s2_score(data: Path, measure: str, trees: int, height: int, way: str) -> float:
    x, y = _load(data, S2)
    search = DensitySearch(make(measure, 0, trees or 1000, height or 5), definition=way)
    return float(search.fit(x, y).score_)
