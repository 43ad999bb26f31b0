"""Why leaf sharing (Shi) is better here than in print: ties, and what spectral clustering is given.

Two rows that share no leaf have similarity 0, and most pairs do not share one. Complete linkage
then joins clusters at the largest distance of all, over and over, in the order of the rows, and
that of a file can give the classes away. Spectral clustering cuts the similarities themselves here;
the authors' code gives it exp(-d**2 / 2) of the distance, which is never below 0.6.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from studies.forests.notes import NOT_BY_AFFINITY, NOT_BY_ORDER
from studies.forests.published import MEASURES, SETS, TABLE_2
from studies.forests.sets import load_listed
from studies.result import Finding, Result, Sheet, Value
from studies.work import Work

# Column -> the clustering, its affinity, whether rows stay as listed, and the printed row.
WAYS = {
    "SC": ("spectral", "similarity", True, "SC"),
    "SC, exp(-d²/2)": ("spectral", "rbf", True, "SC"),
    "HC-CL, rows as listed": ("complete", "similarity", True, "HC-CL"),
    "HC-CL, rows shuffled": ("complete", "similarity", False, "HC-CL"),
    "HC-W": ("ward", "similarity", True, "HC-W"),
}
ZEROS = "pairs without a shared leaf, %"
SHUFFLES = 5


def run(work: Work) -> Result:
    """Cluster by shared leaves in each way."""
    many = work.times(2, 5, 30)
    found: dict[str, dict[str, float]] = {}
    for name in work.each("sets", work.available(SETS)):
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
        "means are over twelve sets and six parametrisations and are not judged. 'As listed': "
        f"the rows in file order; 'shuffled': the same similarities, mean of {SHUFFLES} orders. "
        "Elsewhere in this study rows are shuffled."
    )
    listed, shuffled = "HC-CL, rows as listed", "HC-CL, rows shuffled"
    most = max(found, key=lambda name: abs(found[name][listed] - found[name][shuffled]))
    half = 0.5 * (means["SC"] + printed["SC"])
    findings = [
        Finding(
            "complete linkage on shared leaves recovers classes from the order of the file, by "
            "more than 0.01",
            means[listed] > means[shuffled] + 0.01,
            f"index {means[listed]:.3f} as listed, {means[shuffled]:.3f} shuffled (printed "
            f"{printed[listed]:.3f} over twelve sets); most on {most}: {found[most][listed]:.3f} "
            f"and {found[most][shuffled]:.3f}",
            NOT_BY_ORDER,
        ),
        Finding(
            "exp(-d²/2) instead of the similarities explains half of Shi's difference from the "
            "printed value under spectral clustering",
            means["SC, exp(-d²/2)"] <= half,
            f"index {means['SC']:.3f}, with it {means['SC, exp(-d²/2)']:.3f}, printed "
            f"{printed['SC']:.3f} over twelve sets",
            NOT_BY_AFFINITY,
        ),
    ]
    return Result([Sheet("ties", "Shi: ties and affinities", rows, about)], findings)


def _score(data: Any, name: str, seed: int) -> dict[str, float]:
    from sklearn.metrics import adjusted_rand_score

    from lookalike.clustering import SimilarityClustering
    from lookalike.measures import ForestProximity
    from lookalike.trees import SyntheticForest

    x, y = load_listed(data, name)
    grown = ForestProximity("shi", SyntheticForest(100, max_features=0.5), random_state=seed).fit(x)
    rng = np.random.default_rng(seed)
    # Complete linkage merges tied pairs in row order; shuffling shows how much of its score
    # comes from the order of the file.
    orders = [rng.permutation(len(y)) for _ in range(SHUFFLES)]
    found: dict[str, list[float]] = {ZEROS: [100 * float((grown.similarity() == 0).mean())]}
    for turn, at in enumerate((np.arange(len(y)), *orders)):
        # The forest is not regrown: only the order of the rows differs.
        read = ForestProximity("shi", model=grown.forest_).fit(x[at]).frozen()
        for way, (method, affinity, listed, _) in WAYS.items():
            if listed == (turn == 0):
                model = SimilarityClustering(
                    read,
                    int(y.max()) + 1,
                    method=method,
                    affinity=affinity,
                    random_state=seed,
                )
                found.setdefault(way, []).append(
                    adjusted_rand_score(y[at], model.fit(x[at]).labels_)
                )
    return {key: float(np.mean(values)) for key, values in found.items()}
