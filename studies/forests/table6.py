"""Table 6: the larger sets, spectral clustering, 100 trees on 256 rows each, half of the columns.

Of Isolet 1,560 of 7,797 rows are available, of Gas 6,697 of 13,910; UAV not at all. The printed
values belong to the whole sets, so they are shown but not judged.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from lookalike.errors import LookalikeWarning
from studies.forests.notes import NOT_FIRST
from studies.forests.published import INDICES, MEASURES, TABLE_6
from studies.forests.sets import LARGER, load_larger
from studies.forests.table2 import column
from studies.result import Finding, Result, Sheet, Value
from studies.work import Work


def run(work: Work) -> Result:
    """Cluster parts of the larger sets."""
    many = work.times(1, 5, 30)
    n_rows = work.times(800, 1560, 6697)
    found: dict[str, np.ndarray] = {}
    sizes: dict[str, int] = {}
    for name in work.available({name: file for name, (file, _) in LARGER.items()}):
        x, y = load_larger(work.data, name, n_rows)
        sizes[name] = len(y)
        lists = [
            [
                work.once(
                    f"{name}|{len(y)}|{measure}|{seed}",
                    partial(_score, x, y, measure, seed),
                )
                for measure in MEASURES
            ]
            for seed in work.each(name, range(many))
        ]
        found[name] = np.array(lists)  # forests x measures x indices
    rows: list[dict[str, Any]] = []
    for name, scores in found.items():
        for at, index in enumerate(INDICES):
            row: dict[str, Any] = {"set": f"{name}, {index}", "rows": sizes[name]}
            for place, measure in enumerate(MEASURES):
                statistics = scores[:, place, at]
                row[measure] = Value(
                    float(statistics.mean()),
                    TABLE_6[name][column(index, measure)],
                    spread=float(statistics.std(ddof=1)) if many > 1 else None,
                )
            row["significantly best"] = f"{_best(scores[:, :, at])} (ratio)"
            rows.append(row)
    means = {name: scores[:, :, 1].mean(axis=0) for name, scores in found.items()}
    about = (
        f"{many} forests (the paper: 30), at most {n_rows} rows drawn once. Isolet is 1,560 of "
        "7,797 rows and Gas 6,697 of 13,910; UAV is not available. Printed values are of the "
        "whole sets and are not judged. Best: ahead of each other measure by a paired t-test at "
        "0.05; in parentheses the statement of the paper."
    )
    finding = Finding(
        "on the larger sets RatioRF is first by the index",
        all(means[name].argmax() == MEASURES.index("ratio") for name in means),
        "; ".join(
            f"{name}: "
            + ", ".join(
                f"{one} {mean:.3f}" for one, mean in zip(MEASURES, means[name], strict=True)
            )
            for name in means
        ),
        NOT_FIRST,
    )
    return Result([Sheet("larger", "Table 6, larger sets", rows, about)], [finding])


def _best(scores: np.ndarray) -> str:
    """Name the measure that is significantly ahead of each other one, if any."""
    from scipy.stats import ttest_rel

    if len(scores) < 2:
        return "one forest cannot tell"
    first = int(scores.mean(axis=0).argmax())
    others = [at for at in range(len(MEASURES)) if at != first]
    clear = all(ttest_rel(scores[:, first], scores[:, at]).pvalue < 0.05 for at in others)
    return MEASURES[first] if clear else "none"


def _score(x: np.ndarray, y: np.ndarray, measure: str, seed: int) -> list[float]:
    from sklearn.metrics import adjusted_rand_score

    from lookalike.clustering import SimilarityClustering, purity
    from lookalike.measures import ForestProximity
    from lookalike.trees import SyntheticForest

    forest = SyntheticForest(100, max_samples=256, max_features=0.5)
    read = ForestProximity(measure, forest, random_state=seed)
    model = SimilarityClustering(read, int(y.max()) + 1, method="spectral", random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LookalikeWarning)
        labels = model.fit(x).labels_
    return [purity(y, labels), adjusted_rand_score(y, labels)]
