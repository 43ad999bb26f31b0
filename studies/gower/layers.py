"""Figures 14 and 21 to 24: similarities of similarities, layer upon layer."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from lookalike.measures import Gower
from lookalike.represent import LayeredRepresentation
from studies.gower import notes
from studies.gower.drawing import draw_curves, draw_panels
from studies.gower.learning import LEARNERS, learner_answers
from studies.gower.problems import load_problem, split_rows
from studies.gower.splits import over_splits
from studies.result import Finding, Plot, Result, Sheet, Value
from studies.work import Work

SCHEDULES = {  # name: (schedule, share of the training rows)
    "shrinking to 3 %": ("decreasing", 0.03),
    "shrinking to 6 %": ("decreasing", 0.06),
    "constant 5 %": ("constant", 0.05),
    "constant 10 %": ("constant", 0.10),
}
FIGURE_NUMBERS = dict(zip(SCHEDULES, (21, 22, 23, 24), strict=True))
Means = dict[tuple[str, str, int], list[float]]  # (schedule, set, layers) -> error of each learner


def run(work: Work) -> Result:
    """Make the errors by number of layers."""
    splits = work.times(quick=1, default=5, full=20)
    deepest = work.times(quick=4, default=6, full=6)
    layers = list(range(1, deepest + 1))
    found = _collect(work, splits, layers)
    sheet = _sheet(found, layers, splits)
    return Result([sheet], _findings(found, layers), _plots(found, layers))


def _collect(work: Work, splits: int, layers: list[int]) -> Means:
    means: Means = {}
    for label, (schedule, share) in SCHEDULES.items():
        for many in layers:

            def one(
                name: str, seed: int, n: int = many, how: str = schedule, w: float = share
            ) -> list[float]:
                problem = load_problem(work.data, name)
                known, held = split_rows(problem, seed)
                y, true = problem.y[known], problem.y[held]
                represent = LayeredRepresentation(
                    Gower(), n, schedule=how, n_prototypes=w, random_state=seed
                )
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of layers in which all rows are alike
                    inside = represent.fit_transform(problem.table[known], y)
                    outside = represent.transform(problem.table[held])
                answers = learner_answers(inside, y, outside)
                return [float((answer != true).mean()) for answer in answers]

            made = over_splits(work, f"{label}, {many} layers", one, splits)
            for name, errors in made.items():
                means[label, name, many] = [float(e) for e in 100 * np.mean(errors, axis=0)]
    return means


def _names(found: Means) -> list[str]:
    return list(dict.fromkeys(name for _, name, _ in found))


def _sheet(found: Means, layers: list[int], splits: int) -> Sheet:
    rows = []
    for label in SCHEDULES:
        for name in _names(found):
            row: dict[str, Any] = {"prototypes and set": f"{label}: {name}"}
            for many in layers:
                row[f"{many} layers" if many > 1 else "1 layer"] = Value(
                    float(np.mean(found[label, name, many])), digits=1
                )
            rows.append(row)
    return Sheet(
        "layers",
        "Figures 14 and 21 to 24: test error by number of layers, percent",
        rows,
        notes.LAYERS.format(splits=splits),
    )


def _findings(found: Means, layers: list[int]) -> list[Finding]:
    deepest = layers[-1]
    grows, gains = [], []
    for label in SCHEDULES:
        for name in _names(found):
            first, last = (np.mean(found[label, name, at]) for at in (1, deepest))
            grows.append(last > first)
            best = min(float(np.mean(found[label, name, at])) for at in layers[1:])
            if best < first - 0.5:
                gains.append(f"{name} ({label}, {best - first:+.1f})")
    findings = [
        Finding(
            "stacking layers does not help on most sets",
            float(np.mean(grows)) > 0.5,
            f"the error is larger with {deepest} layers than with one in {sum(grows)} of "
            f"{len(grows)} cases; some depth gains more than half a point in {len(gains)}: "
            + ", ".join(gains[:6])
            + (" and others" if len(gains) > 6 else ""),
            headline=True,
        ),
    ]
    return [*findings, *_on_credit(found, layers)] if "Credit" in _names(found) else findings


def _on_credit(found: Means, layers: list[int]) -> list[Finding]:
    """Check the two claims that the thesis makes about one set."""
    deepest = layers[-1]
    by_depth = {
        label: [float(np.mean(found[label, "Credit", at])) for at in layers] for label in SCHEDULES
    }
    at_end = [float(np.mean(found[label, "Credit", deepest])) for label in SCHEDULES]
    return [
        Finding(
            "on Credit Approval layers bring no gain of .5 points under any schedule, and the "
            "error grows",
            all(min(errors[1:]) > errors[0] - 0.5 for errors in by_depth.values())
            and all(errors[-1] > errors[0] for errors in by_depth.values()),
            "; ".join(
                f"{label} {errors[0]:.1f} with one layer, best of more {min(errors[1:]):.1f}, "
                f"{errors[-1]:.1f} with {deepest}"
                for label, errors in by_depth.items()
            ),
            notes.LAYERS_CREDIT,
        ),
        Finding(
            "the four schedules are alike on Credit Approval",
            max(at_end) - min(at_end) < 5,
            ", ".join(
                f"{label} {value:.1f}" for label, value in zip(SCHEDULES, at_end, strict=True)
            )
            + f" % with {deepest} layers",
        ),
    ]


def _plots(found: Means, layers: list[int]) -> list[Plot]:
    def figure14(figure: Any) -> None:
        axes = figure.add_subplot()
        curves = {
            label: (layers, [float(np.mean(found[label, "Credit", at])) for at in layers])
            for label in SCHEDULES
        }
        draw_curves(axes, curves)
        axes.set_xticks(layers)
        axes.set_xlabel("layers")
        axes.set_ylabel("test error, mean of three learners, %")
        axes.legend(fontsize=8, frameon=False)

    def by_set(label: str) -> Any:
        def draw(figure: Any) -> None:
            panels = {
                name: {
                    learner: (layers, [found[label, name, at][place] for at in layers])
                    for place, learner in enumerate(LEARNERS)
                }
                for name in _names(found)
            }
            draw_panels(figure, panels, x_label="layers")

        return draw

    plots = []
    if "Credit" in _names(found):
        alt = "Figure 14: error on Credit Approval by number of layers"
        plots.append(Plot("figure14", alt, figure14))
    for label, number in FIGURE_NUMBERS.items():
        alt = f"Figure {number}: error by number of layers, {label}, set by set"
        plots.append(Plot(f"figure{number}", alt, by_set(label), (9.0, 4.6)))
    return plots
