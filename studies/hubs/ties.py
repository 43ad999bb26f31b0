"""Two causes looked into: ties of counted proximities, and the labels of liver-disorders."""

from __future__ import annotations

from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.evaluate import loo_accuracy
from lookalike.hubness import MutualProximity, k_occurrence, skewness
from lookalike.measures import Precomputed, Vector
from studies.data import load_numbers, rescale
from studies.hubs.published import SETS
from studies.hubs.sets import SOURCES, files_of, load_set
from studies.hubs.spaces import distances_of
from studies.result import Finding, Result, Sheet, Value
from studies.work import Work

NAMES = ("liver-disorders", "amlall")
STATISTICS = ("C1 %", "C5 %", "S5")
SELECTOR = "the file's selector"
DRINKS = 5  # the column of half-pints a day


def run(work: Work) -> Result:
    """Break ties at random, and use other labels of the livers."""
    orders = work.times(20, 200, 200)
    found = {
        name: [
            work.once(f"{name} {seed}", partial(_lot, work.data, name, seed))
            for seed in range(orders)
        ]
        for name in work.each("random orders", work.available(files_of(NAMES)))
    }
    rows: list[dict[str, Any]] = []
    inside = []
    for name, each in found.items():
        values = np.array(each)
        printed = SETS[name].rows[2]
        row: dict[str, Any] = {"set": name}
        for at, (statistic, value) in enumerate(
            zip(STATISTICS, (printed.c1, printed.c5, printed.s5), strict=True)
        ):
            low, high = values[:, at].min(), values[:, at].max()
            digits = 2 if statistic == "S5" else 1
            slack = 0.5 * 10.0**-digits
            inside.append(bool(low - slack <= value <= high + slack))
            row[f"{statistic}, lowest"] = Value(low, digits=digits)
            row[f"{statistic}, mean"] = Value(float(values[:, at].mean()), value, digits=digits)
            row[f"{statistic}, highest"] = Value(high, digits=digits)
        rows.append(row)
    about = (
        f"Empirical mutual proximity, {orders} random orders: S5 with each tied place drawn for "
        "each list; C1 and C5 with the rows in a random order, ties going to the first. Nothing "
        "is judged: the printed value is one random order."
    )
    finding = Finding(
        "The printed values of MP that differ from ours are in the range of random tie breaking",
        all(inside),
        f"{sum(inside)} of {len(inside)} values inside the range of {orders} random orders",
    )
    labels, label_finding = _labels(work)
    sheet = Sheet("ties", "Ties of empirical proximities, broken at random", rows, about)
    return Result([sheet, labels], [finding, label_finding])


@lru_cache(maxsize=1)
def _read(data: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    rows, y = load_set(data, name)
    return distances_of(rows, SOURCES[name].metric), y


def _lot(data: Path, name: str, seed: int) -> list[float]:
    distances, y = _read(data, name)
    order = np.random.default_rng(seed).permutation(len(y))
    mixed = MutualProximity(Precomputed(), "empirical").fit(distances[np.ix_(order, order)])
    lists = mixed.neighbors(k=5)
    drawn = k_occurrence(mixed, 5, ties="random", random_state=seed)
    return [*(100 * loo_accuracy(lists, y[order], k) for k in (1, 5)), skewness(drawn)]


def _labels(work: Work) -> tuple[Sheet, Finding]:
    x, selector = load_numbers(work.data, "liver_disorders")
    x = rescale(x, -1.0, 1.0)
    drinks = load_numbers(work.data, "liver_disorders")[0][:, DRINKS]
    readings = {SELECTOR: (selector, x)}
    for cut in (2, 3, 4, 5):
        label = (drinks > cut).astype(int)
        readings[f"more than {cut} drinks"] = (label, x)
        readings[f"more than {cut} drinks, that column left out"] = (label, np.delete(x, DRINKS, 1))
    printed = SETS["liver-disorders"].rows[0]
    rows: list[dict[str, Any]] = []
    for title, (label, columns) in readings.items():
        lists = Vector().fit(columns).neighbors(k=5)
        within = 1e-9 if title == SELECTOR else None  # the others are there to be ruled out
        rows.append(
            {
                "labels": title,
                "C1 %": Value(100 * loo_accuracy(lists, label, 1), printed.c1, within, digits=1),
                "C5 %": Value(100 * loo_accuracy(lists, label, 5), printed.c5, within, digits=1),
                "S5": Value(skewness(k_occurrence(lists, 5)), printed.s5, within, digits=2),
            }
        )
    about = (
        "liver-disorders, original distances. The selector was made by the donors to split the "
        "data in two and is not a diagnosis; newer files label by the number of drinks. Which "
        "one the paper used is not stated; labels other than the selector are not judged."
    )
    near = [
        max(abs(row["C1 %"].difference), abs(row["C5 %"].difference)) < 0.1 for row in rows
    ]  # fmt: skip
    right = [row["labels"] for row, fits in zip(rows, near, strict=True) if fits]
    finding = Finding(
        "The labels of liver-disorders in this paper are the file's selector, not a cut of drinks",
        right == [SELECTOR],
        f"both accuracies are reproduced by: {', '.join(right) or 'none'}",
    )
    return Sheet("liver", "The labels of liver-disorders", rows, about), finding
