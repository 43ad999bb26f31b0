"""The best F-measure that density clustering can reach with each measure, on seven scales.

T. L. Fernando, G. I. Webb (2017), doi:10.1007/s10618-016-0463-0, Fig. 3: DBSCAN with the best of
all K = 2..25 and eps, found with the classes in hand, on the data scaled to [0, 1] and on six other
scales. The figure prints no numbers; its findings are that SimUSF is first on all six sets and does
not move with the scale. How the paper's F1 treats noise and matches clusters is not stated; here it
is the best cluster of each class, weighted by the size of the class, and noise is no cluster.

"moves by" is the spread over the scales that keep the order; "above" says whether SimUSF on the
first scale is above SimURF and the four plain distances on whatever scale suits them best.

LOOKALIKE_QUICK=1 leaves out the two larger sets and three scales.
"""

import os
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from lookalike.cluster import DensitySearch
from lookalike.datasets import transforms
from lookalike.measures import ForestProximity, Ranked, StochasticForest, Vector

TITLE = "Best F-measure of density clustering (first scale: as it is)"
QUICK = os.environ.get("LOOKALIKE_QUICK", "") not in ("", "0")
SETS = ("iris", "wine", "seeds", "libras_movement", "image_segmentation", "s_set_s2")
MEASURES = {
    "SimUSF": StochasticForest(1000, 5, on_fail="relax", random_state=0),
    "SimURF": ForestProximity("oob", random_state=0),
    "euclidean": Vector("euclidean"),
    "cityblock": Vector("cityblock"),
    "cosine": Vector("cosine"),
    "chebyshev": Vector("chebyshev"),
    "ranked cityblock": Ranked("cityblock"),
    "ranked euclidean": Ranked("euclidean"),
}
RIVALS = ("SimURF", "euclidean", "cityblock", "cosine", "chebyshev")
REVERSED = ("inverse", "exp_minus")


def load(data: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    frame = pq.read_table(data / f"{name}.parquet").to_pandas()
    y = frame.pop("target").to_numpy()
    x = frame.astype(float).to_numpy()
    span = np.ptp(x, axis=0)
    return (x - x.min(axis=0)) / np.where(span > 0, span, 1.0), y


def run(data: Path) -> list[dict]:
    rows = []
    for name in SETS[: 4 if QUICK else None]:
        x, y = load(data, name)
        scales = {"as it is": x, **transforms(x)}
        if QUICK:
            scales = {scale: scales[scale] for scale in ("as it is", "log", "inverse")}
        found = {
            title: {s: DensitySearch(measure).fit(z, y).score_ for s, z in scales.items()}
            for title, measure in MEASURES.items()
        }
        rivals = max(max(found[title].values()) for title in RIVALS)
        for title, by_scale in found.items():
            kept = [value for scale, value in by_scale.items() if scale not in REVERSED]
            row = {
                "set": name if title == "SimUSF" else "",
                "measure": title,
                **{scale: f"{value:.3f}" for scale, value in by_scale.items()},
                "moves by": f"{max(kept) - min(kept):.3f}",
            }
            if title == "SimUSF":
                row["above"] = "yes" if by_scale["as it is"] > rivals else "no"
            rows.append(row)
    return rows
