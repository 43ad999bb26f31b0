"""Figures 16 and 25: powers of the similarity matrix; and the outlook's transitive closure.

All rows of both parts are compared, labels of the training part alone are used: medoids choose the
columns, learners read them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.measures import Gower, Precomputed
from lookalike.represent import power_similarity, select_prototypes, transitive_closure
from studies.gower import notes
from studies.gower.drawing import draw_curves, draw_panels
from studies.gower.learning import LEARNERS, learner_answers
from studies.gower.problems import load_problem, split_rows
from studies.gower.splits import over_splits
from studies.result import Finding, Plot, Result, Sheet, Value
from studies.work import Work

POWERS = (1, 2, 4, 8)
SHARE = 0.05  # of the training rows, as columns
WAYS = {
    **{f"S{n}": f"power {n}" if n > 1 else "S itself" for n in POWERS},
    **{f"plain{n}": f"power {n}, from the eigenvalues of S" for n in POWERS[1:]},
    **{f"even{n}": f"power {n}, columns of one spread" for n in POWERS},
    "min": "transitive closure, min",
    "product": "transitive closure, product",
    "lukasiewicz": "transitive closure, Lukasiewicz",
}


def run(work: Work) -> Result:
    """Make the errors by power and by closure."""
    splits = work.times(quick=2, default=10, full=20)

    def one(name: str, seed: int) -> dict[str, list[float]]:
        problem = load_problem(work.data, name)
        known, held = split_rows(problem, seed)
        # Powers and closures need one square matrix, so the test rows are in it (not their labels).
        both = np.concatenate([known, held])
        s = Gower(undefined=0.5).fit(problem.table[both]).similarity()
        # Rounding may break symmetry and the bounds, on which powers and closures rely.
        s = np.clip((s + s.T) / 2, 0.0, 1.0)
        true = problem.y[held]
        found = {}
        for way in WAYS:
            columns = _columns(way, s, round(SHARE * len(known)))
            inside, outside = columns[: len(known)], columns[len(known) :]
            answers = learner_answers(inside, problem.y[known], outside)
            found[way] = [float((answer != true).mean()) for answer in answers]
        return found

    made = over_splits(work, "powers", one, splits)
    means = {
        (way, name): [float(e) for e in 100 * np.mean([split[way] for split in errors], axis=0)]
        for name, errors in made.items()
        for way in WAYS
    }
    sheet = _sheet(means, splits)
    return Result([sheet], _findings(means), _plots(means))


def change(way: str, s: np.ndarray) -> np.ndarray:
    """Return a power or a closure of similarities, in [0, 1]."""
    if way in ("S1", "even1"):
        return s
    if way.startswith(("S", "even")):
        return power_similarity(s, int(way[-1]))
    if way.startswith("plain"):
        return power_similarity(s, int(way[5:]), "plain", average=True)
    return transitive_closure(s, way)


def _columns(way: str, s: np.ndarray, many: int) -> np.ndarray:
    """Return the columns that medoids choose, as they come or brought to a common spread."""
    changed = change(way, s)
    apart = np.clip(1.0 - changed, 0.0, 1.0)
    np.fill_diagonal(apart, 0.0)
    chosen = select_prototypes(Precomputed(), (apart + apart.T) / 2, n=max(2, many))
    columns = changed[:, chosen]
    if not way.startswith("even"):
        return columns
    # High powers have columns of tiny spread, which penalized learners treat as constant.
    spread = columns.std(axis=0)
    return np.asarray((columns - columns.mean(axis=0)) / np.where(spread > 1e-12, spread, 1.0))


def _sheet(means: dict[tuple[str, str], list[float]], splits: int) -> Sheet:
    rows = []
    for way, label in WAYS.items():
        row: dict[str, Any] = {"similarity": label}
        row |= {name: Value(float(np.mean(means[way, name])), digits=1) for name in _names(means)}
        row["mean"] = Value(_mean(means, way), digits=1)
        rows.append(row)
    return Sheet(
        "powers",
        "Figures 16 and 25: test error by power of S, mean of three learners, percent",
        rows,
        notes.POWERS.format(splits=splits),
    )


def _names(means: dict[tuple[str, str], list[float]]) -> list[str]:
    return list(dict.fromkeys(name for _, name in means))


def _mean(means: dict[tuple[str, str], list[float]], way: str) -> float:
    return float(np.mean([means[way, name] for name in _names(means)]))


def _findings(means: dict[tuple[str, str], list[float]]) -> list[Finding]:
    by_power = {n: _mean(means, f"S{n}") for n in POWERS}
    even = {n: _mean(means, f"even{n}") for n in POWERS}
    closures = {way: _mean(means, way) for way in ("min", "product", "lukasiewicz")}
    return [
        Finding(
            "powers of S are worse from the second one on, by more than .5 points",
            all(by_power[n] > by_power[1] + 0.5 for n in POWERS[1:]),
            ", ".join(f"S^{n} {value:.1f}" for n, value in by_power.items())
            + " %; with columns of one spread "
            + ", ".join(f"S^{n} {value:.1f}" for n, value in even.items()),
            notes.POWERS_MILD,
        ),
        *_on_credit(means),
        Finding(
            "outlook: transitive closure is better than S itself, by more than .5 points",
            min(closures.values()) < by_power[1] - 0.5,
            f"S {by_power[1]:.1f}, "
            + ", ".join(f"{way} {value:.1f}" for way, value in closures.items())
            + " %",
            notes.CLOSURE,
        ),
    ]


def _on_credit(means: dict[tuple[str, str], list[float]]) -> list[Finding]:
    if "Credit" not in _names(means):
        return []
    credit = [float(np.mean(means[f"S{n}", "Credit"])) for n in POWERS]
    curves = np.array([means[f"S{n}", "Credit"] for n in POWERS])
    levels = int(((curves[-1] > curves[0] + 5) & (abs(curves[-1] - curves[-2]) < 1)).sum())
    finding = Finding(
        "on Credit Approval the error rises with the power, then levels off",
        levels >= 2,
        ", ".join(f"S^{n} {value:.1f}" for n, value in zip(POWERS, credit, strict=True))
        + f"; {levels} of 3 learners are five points up and within one between the last two",
        notes.POWERS_CREDIT,
    )
    return [finding]


def _plots(means: dict[tuple[str, str], list[float]]) -> list[Plot]:
    def curves(name: str) -> dict[str, Any]:
        return {
            learner: (POWERS, [means[f"S{n}", name][at] for n in POWERS])
            for at, learner in enumerate(LEARNERS)
        }

    def figure16(figure: Any) -> None:
        axes = figure.add_subplot()
        draw_curves(axes, curves("Credit"))
        axes.set_xticks(POWERS)
        axes.set_xlabel("power of S")
        axes.set_ylabel("test error, %")
        axes.legend(fontsize=8, frameon=False)

    def figure25(figure: Any) -> None:
        draw_panels(figure, {name: curves(name) for name in _names(means)}, x_label="power of S")

    plots = [Plot("figure25", "Figure 25: error by power of S, set by set", figure25, (9.0, 4.6))]
    if "Credit" in _names(means):
        alt = "Figure 16: error on Credit Approval by power of S"
        plots.insert(0, Plot("figure16", alt, figure16, (6.0, 3.6)))
    return plots
