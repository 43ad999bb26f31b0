"""Why leaf sharing (Shi) is better here than in print: ties, and what spectral clustering is given.

Two rows that share no leaf have similarity 0, and most pairs do not share one. Complete linkage
then joins clusters at the largest distance of all, over and over, in the order of the rows; where a
file lists one class after the other that order gives the classes away. Spectral clustering cuts
the similarities themselves here; the authors' code gives it exp(-d**2 / 2) of the distance, which
is never below 0.6.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from lookalike.papers.forests.notes import NOT_BY_AFFINITY, NOT_BY_ORDER
from lookalike.papers.forests.published import MEASURES, SETS, TABLE_2
from lookalike.papers.forests.sets import load_listed, load_set
from lookalike.papers.result import Finding, Result, Sheet, Value
from lookalike.papers.work import Work

__all__ = ["run"]

# Column -> the clustering, its affinity, whether rows stay as listed, and the printed row.
WAYS = {
    "SC": ("spectral", "similarity", False, "SC"),
    "SC, exp(-d²/2)": ("spectral", "rbf", False, "SC"),
    "HC-CL": ("complete", "similarity", False, "HC-CL"),
    "HC-CL, rows as listed": ("complete", "similarity", True, "HC-CL"),
    "HC-W": ("ward", "similarity", False, "HC-W"),
    "HC-W, rows as listed": ("ward", "similarity", True, "HC-W"),
}
ZEROS = "pairs without a shared leaf, %"


def run(work: Work) -> Result:
    """Cluster by shared leaves in each way."""
    many = work.times(2, 5, 30)
    found: dict[str, dict[str, float]] = {}
    for name in work.each("sets", SETS):
        each = [
            work.once(f"{name}|{seed}", partial(_score, work.data, name, seed))
            for seed in range(many)
        ]
        found[name] = {key: float(np.mean([one[key] for one in each])) for key in each[0]}
    rows: list[dict[str, Any]] = [
        {"set": name, ZEROS: Value(one[ZEROS], digits=0)} | {way: Value(one[way]) for way in WAYS}
        for name, one in found.items()
    ]
    means = {way: float(np.mean([one[way] for one in found.values()])) for way in WAYS}
    place = len(MEASURES) + MEASURES.index("shi")
    printed = {way: TABLE_2[row][place] for way, (*_, row) in WAYS.items()}
    rows.append({"set": "mean"} | {way: Value(means[way], printed[way]) for way in WAYS})
    about = (
        f"Adjusted Rand index of Shi, {many} forests of 100 trees, half of the columns. Printed "
        "means are over twelve sets and six parametrisations and are not judged. 'As listed': the "
        "rows in the order of the file; elsewhere in this study they are shuffled."
    )
    half = 0.5 * (means["SC"] + printed["SC"])
    findings = [
        Finding(
            "complete linkage on shared leaves finds classes in the order of the file",
            means["HC-CL, rows as listed"] > means["HC-CL"] + 0.02,
            f"index {means['HC-CL, rows as listed']:.3f} as listed, {means['HC-CL']:.3f} shuffled "
            f"(printed {printed['HC-CL']:.3f} over twelve sets); Ward "
            f"{means['HC-W, rows as listed']:.3f} and {means['HC-W']:.3f}",
            NOT_BY_ORDER,
        ),
        Finding(
            "exp(-d²/2) in place of the similarities explains half of Shi's lead over print under "
            "spectral clustering",
            means["SC, exp(-d²/2)"] <= half,
            f"index {means['SC']:.3f}, with it {means['SC, exp(-d²/2)']:.3f}, printed "
            f"{printed['SC']:.3f} over twelve sets; on WBC {found['WBC']['SC']:.3f} and "
            f"{found['WBC']['SC, exp(-d²/2)']:.3f}"
            if "WBC" in found
            else f"{means['SC']:.3f} and {means['SC, exp(-d²/2)']:.3f}",
            NOT_BY_AFFINITY,
        ),
    ]
    return Result([Sheet("ties", "Shi: ties and affinities", rows, about)], findings)


def _score(data: Any, name: str, seed: int) -> dict[str, float]:
    from lookalike.cluster import SimilarityClustering, adjusted_rand
    from lookalike.forests import SyntheticForest
    from lookalike.measures import ForestProximity

    out: dict[str, float] = {}
    for listed in (False, True):
        x, y = (load_listed if listed else load_set)(data, name)
        read = ForestProximity(
            "shi", SyntheticForest(100, max_features=0.5), random_state=seed
        ).fit(x).frozen()  # fmt: skip
        if not listed:
            out[ZEROS] = 100 * float((read.similarity() == 0).mean())
        for way, (method, affinity, wanted, _) in WAYS.items():
            if wanted == listed:
                model = SimilarityClustering(
                    read,
                    int(y.max()) + 1,
                    method=method,
                    affinity=affinity,
                    random_state=seed,
                )
                out[way] = adjusted_rand(y, model.fit(x).labels_)
    return out
