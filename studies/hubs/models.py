"""Figures 8 and 9: four models of mutual proximity, and its parameters from thirty rows."""

from __future__ import annotations

import warnings
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.errors import LookalikeWarning
from lookalike.evaluate import loo_predict, mcnemar
from lookalike.hubness import MutualProximity, k_occurrence, skewness
from lookalike.measures import Measure, Precomputed
from studies.hubs.plots import bars
from studies.hubs.published import SETS
from studies.hubs.sets import SOURCES, files_of, load_set
from studies.hubs.spaces import distances_of
from studies.palette import COLOURS
from studies.result import Finding, Plot, Result, Sheet, Value
from studies.work import Work

MODELS = {
    "empirical": "empirical",
    "gauss": "joint Gauss",
    "gauss_independent": "independent Gauss",
    "gamma_independent": "independent Gamma",
}
SAMPLE = 30
SAMPLED = {"gauss_independent": "MP_S Gauss", "gamma_independent": "MP_S Gamma"}
ALPHA = 0.05
SMALL = 400  # rows; the joint model looks at all triples
DIFFER = ("arcene", "colon-cancer", "reuters-transcribed")  # MP_S from MP, by the text
Statistics = dict[str, dict[str, Any]]


def run(work: Work) -> Result:
    """Compare the models, and samples of thirty rows."""
    small = [name for name in SOURCES if SETS[name].n <= SMALL]
    names = work.available(files_of(work.pick(small, list(SOURCES), list(SOURCES))))
    draws = work.times(3, 10, 10)
    found: dict[str, Statistics] = {}
    for name in work.each("sets", names):
        one: Statistics = work.once(name, partial(_models, work.data, name))
        for model, title in SAMPLED.items():
            each = [
                work.once(
                    f"{name} {model} {seed}",
                    partial(_sampled, work.data, name, model, seed),
                )
                for seed in range(draws)
            ]
            one[title] = {key: float(np.mean([e[key] for e in each])) for key in ("C5", "S5")}
            one[title]["p"] = float(np.median([_compared(one["empirical"], e) for e in each]))
        found[name] = one
    about = (
        f"C5 in percent and S5. MP_S: means and spreads from {SAMPLE} random rows, mean of {draws} "
        f"draws (10 in the paper). {len(names)} sets"
        + (f", those with at most {SMALL} rows" if work.effort == "quick" else "")
        + ". The figures show no numbers."
    )
    rows = [
        {"set": name}
        | {
            f"{title}, {key}": Value(one[title][key], digits=1 if key == "C5" else 2)
            for key in ("C5", "S5")
            for title in one
        }
        for name, one in found.items()
    ]
    sheet = Sheet("models", "Figures 8 and 9: models of mutual proximity", rows, about)
    plots = [
        _plot(found, "figure8", list(MODELS.values())),
        _plot(found, "figure9", ["empirical", *SAMPLED.values()]),
    ]
    return Result([sheet], _findings(found), plots)


def _findings(found: dict[str, Statistics]) -> list[Finding]:
    return [*_of_means(found), _of_samples(found)]


def _of_means(found: dict[str, Statistics]) -> list[Finding]:
    def mean(title: str, key: str) -> float:
        return float(np.mean([one[title][key] for one in found.values()]))

    c5 = [mean(title, "C5") for title in MODELS.values()]
    s5 = [mean(title, "S5") for title in MODELS.values()]
    before = mean("original", "S5"), mean("original", "C5")
    sampled = [mean(title, "S5") for title in SAMPLED.values()]
    whole = [mean(MODELS[model], "S5") for model in SAMPLED]
    accuracy = [mean(title, "C5") for title in SAMPLED.values()]
    return [
        Finding(
            "The four models are about equally good; independent Gauss is sufficient",
            max(c5) - min(c5) < 2 and max(s5) < before[0] / 2,
            "mean C5 " + ", ".join(f"{t} {v:.1f}" for t, v in zip(MODELS.values(), c5, strict=True))
            + f" (original {before[1]:.1f}); mean S5 {min(s5):.2f} to {max(s5):.2f} (original "
            f"{before[0]:.2f})",
        ),
        Finding(
            "Thirty rows are enough for accuracy, but hubness falls less than with all rows",
            bool(
                all(part > all_ for part, all_ in zip(sampled, whole, strict=True))
                and max(sampled) < before[0]
                and min(accuracy) > min(c5) - 2
            ),
            f"mean S5 Gauss {sampled[0]:.2f} (all rows {whole[0]:.2f}), Gamma {sampled[1]:.2f} "
            f"({whole[1]:.2f}), original {before[0]:.2f}; mean C5 {accuracy[0]:.1f} and "
            f"{accuracy[1]:.1f}",
        ),
    ]  # fmt: skip


def _of_samples(found: dict[str, Statistics]) -> Finding:
    apart = [
        name
        for name, one in found.items()
        if min(one[title]["p"] for title in SAMPLED.values()) < ALPHA
    ]
    there = [name for name in DIFFER if name in found]
    return Finding(
        "Thirty rows change the accuracy of mutual proximity significantly on "
        f"{' and '.join(there) or 'no set'} alone (in print also on reuters-transcribed)",
        apart == there,
        f"by McNemar's test in half of the draws or more: {', '.join(apart) or 'on no set'}",
        "How the paper tests the mean of ten draws is not stated",
    )


def _statistics(space: Measure, y: np.ndarray) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LookalikeWarning)
        lists = space.neighbors(k=5)
    right = loo_predict(lists, y, 5) == y
    return {
        "C5": 100 * float(right.mean()),
        "S5": skewness(k_occurrence(lists, 5)),
        "right": "".join("1" if one else "0" for one in right),
    }


def _compared(one: dict[str, Any], other: dict[str, Any]) -> float:
    """Return McNemar's p of two lists of right and wrong answers."""
    rights = (np.array(list(each["right"])) == "1" for each in (one, other))
    return float(mcnemar(*rights).pvalue)


@lru_cache(maxsize=1)
def _read(data: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    rows, y = load_set(data, name)
    return distances_of(rows, SOURCES[name].metric), y


def _models(data: Path, name: str) -> Statistics:
    distances, y = _read(data, name)
    found = {"original": _statistics(Precomputed().fit(distances), y)}
    for model, title in MODELS.items():
        found[title] = _statistics(MutualProximity(Precomputed(), model).fit(distances), y)
    return found


def _sampled(data: Path, name: str, model: str, seed: int) -> dict[str, Any]:
    distances, y = _read(data, name)
    scaled = MutualProximity(Precomputed(), model, sample=SAMPLE, random_state=seed)
    return _statistics(scaled.fit(distances), y)


def _plot(found: dict[str, Statistics], name: str, titles: list[str]) -> Plot:
    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2, sharey=True)
        gain = {t: [one[t]["C5"] - one["original"]["C5"] for one in found.values()] for t in titles}
        bars(left, list(found), gain, COLOURS, "gain of C5, percentage points")
        hubs = {t: [one[t]["S5"] for one in found.values()] for t in ["original", *titles]}
        bars(right, list(found), hubs, ("#999999", *COLOURS), "hubness S5")
        figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=5,
                      frameon=False, fontsize=8)  # fmt: skip

    alt = f"Bars per set: gain of C5 and hubness S5 under {', '.join(titles)}"
    return Plot(name, alt, draw, (8.0, 1.6 + 0.34 * len(found)))
