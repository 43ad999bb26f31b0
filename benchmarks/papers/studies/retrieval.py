"""Precision among the first fifty after five rounds of feedback, on seven scales.

T. L. Fernando, G. I. Webb (2017), doi:10.1007/s10618-016-0463-0, Figs. 5 and 6. The figure prints
no numbers. Its findings: ranked cityblock at least ties the distances, except on cardiotocography;
ReFeat moves with the scale and beats neither ranked cityblock nor SimUSF, which do not move. The
paper shows the best of five values of gamma and of sample sizes up to 128; here gamma is 0.5, and
SimUSF and ReFeat have the best of three sample sizes on the unchanged scale.

LOOKALIKE_RETRIEVAL sets how often everything is repeated (default 3, in the paper 20).
"""

import os
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from lookalike.datasets import transforms
from lookalike.measures import Ranked, StochasticForest, Vector
from lookalike.search import ReFeat, retrieval_precision

TITLE = "Precision@50 after 5 rounds of feedback, percent (standard deviation over repetitions)"
REPEATS = int(os.environ.get("LOOKALIKE_RETRIEVAL", "3"))
SETS = ("cardiotocography", "steel_plates_faults", "letter_recognition")
HEIGHTS = (2, 4, 6)  # samples of 4, 16 and 64 rows
SAMPLES = (4, 16, 64)
KEEPS_ORDER = ("as it is", "exp", "square", "sqrt", "log")


def load(data: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    frame = pq.read_table(data / f"{name}.parquet").to_pandas()
    y = frame.pop("target").to_numpy()
    x = frame.astype(float).to_numpy()
    span = np.ptp(x, axis=0)
    return (x - x.min(axis=0)) / np.where(span > 0, span, 1.0), y


def ask(method, x, y):
    return retrieval_precision(method, x, y, n_repetitions=REPEATS, random_state=0)


def best(rivals, x, y):
    """Return the one that does best on these rows."""
    return max(rivals, key=lambda rival: ask(rival, x, y).mean)


def methods(x, y):
    """Return the contenders by name."""
    forest = best([StochasticForest(1000, h, on_fail="relax") for h in HEIGHTS], x, y)
    refeat = best([ReFeat(1000, psi) for psi in SAMPLES], x, y)
    return {
        f"SimUSF (height {forest.height})": forest,
        "ranked cityblock": Ranked("cityblock"),
        "cityblock": Vector("cityblock"),
        f"ReFeat ({refeat.max_samples} rows)": refeat,
    }


def run(data: Path) -> list[dict]:
    rows = []
    for name in SETS:
        x, y = load(data, name)
        scales = {"as it is": x, **transforms(x)}
        for title, method in methods(x, y).items():
            found = {scale: ask(method, values, y) for scale, values in scales.items()}
            kept = [100 * found[scale].mean for scale in KEEPS_ORDER]
            rows.append(
                {
                    "set": name,
                    "method": title,
                    **{
                        scale: f"{100 * each.mean:.1f} ({100 * each.std:.1f})"
                        for scale, each in found.items()
                    },
                    "moves by": f"{max(kept) - min(kept):.1f}",
                }
            )
    return rows
