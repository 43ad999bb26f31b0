"""Figures 11, 12, 19 and 20: weights of the columns, and those that the outlook asks for.

Weights are learned on the training part of each split; then everything is as for equal weights.
The thesis tries ReliefF and least squares on pairs of a row and the medoid of its cluster. Its
outlook asks for importances of a forest, and for all pairs within a cluster; all pairs of rows are
added to complete the row.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from lookalike.measures import (
    Gower,
    importance_weights,
    least_squares_weights,
    relieff_weights,
)
from studies.gower import notes
from studies.gower.drawing import draw_curves, draw_panels
from studies.gower.learning import LEARNERS, METHODS, prototype_errors, tuned_nearest
from studies.gower.problems import load_problem, split_rows
from studies.gower.prototypes import run_splits
from studies.gower.splits import at_keys, mean_of, over_splits, per_set
from studies.result import Finding, Plot, Result, Sheet, Value
from studies.work import Work

TRIED = {
    "equal": "equal weights",
    "relieff": "ReliefF",
    "least_squares": "least squares, row and its medoid",
}
OUTLOOK = {
    "cluster": "least squares, pairs within clusters",
    "global": "least squares, all pairs",
    "importance": "importance in a forest",
}
Errors = dict[str, dict[str, list[float]]]


def run(work: Work) -> Result:
    """Make the errors for each way to weigh columns."""
    near_splits = work.times(quick=3, default=20, full=20)
    near = _neighbors(work, near_splits)
    splits = work.times(quick=2, default=20, full=20)
    errors = _learners(work, splits)
    sheets = [_near_sheet(near, near_splits), _learner_sheet(errors, splits)]
    return Result(sheets, _findings(near, errors), _plots(near, errors))


def learn_weights(
    name: str, table: Any, y: np.ndarray, seed: int, trees: int = 200
) -> np.ndarray | None:
    """Return one weight per column, learned from these rows; None: equal ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where no column helps all are equal, and it warns
        if name == "equal":
            return None
        if name == "relieff":
            return relieff_weights(table, y, target="classes")
        if name == "importance":
            from sklearn.ensemble import RandomForestClassifier

            forest = RandomForestClassifier(trees, random_state=seed)
            return importance_weights(
                table, y, estimator=forest, target="classes", random_state=seed
            )
        pairs = "cluster_prototype" if name == "least_squares" else name
        return least_squares_weights(table, y, pairs=pairs, random_state=seed)


def _neighbors(work: Work, splits: int) -> Errors:
    """Nearest neighbors on all rows: cheap, so every way to weigh is seen on every set."""
    found = {}
    trees = work.times(quick=30, default=200, full=200)
    for name in (*TRIED, *OUTLOOK):

        def one(which: str, seed: int, name: str = name) -> float:
            problem = load_problem(work.data, which)
            known, held = split_rows(problem, seed)
            # From the training part alone: weights that have seen test labels would be optimistic.
            weights = learn_weights(name, problem.table[known], problem.y[known], seed, trees)
            measure = Gower(weights=weights, undefined=0.5)
            errors, k = tuned_nearest(measure, problem.table, problem.y, known, held, seed)
            return errors[k - 1]

        # A forest for each fold and each column that is shuffled: it has fewer splits.
        times = min(splits, work.times(1, 5, 20)) if name == "importance" else splits
        key = f"neighbors, {name}" + (f" {trees}" if name == "importance" else "")
        made = over_splits(work, key, one, times)
        found[name] = per_set(made, lambda error: float(error))
    return found


def _learners(work: Work, splits: int) -> dict[tuple[str, str, str], dict[str, list[float]]]:
    """Learners on prototypes, by (weights, method, learner)."""
    found = {}
    for name in TRIED:

        def one(which: str, seed: int, name: str = name) -> Any:
            problem = load_problem(work.data, which)
            known, _ = split_rows(problem, seed)
            weights = learn_weights(name, problem.table[known], problem.y[known], seed)
            measure = Gower(weights=weights, undefined=0.5)
            return prototype_errors(problem, seed, list(METHODS), measure)

        # Equal weights are those of the tables: of the same splits, so run once.
        made = (
            run_splits(work, splits)
            if name == "equal"
            else over_splits(work, f"prototypes, {name}", one, splits)
        )
        for method in METHODS:
            for learner in LEARNERS:
                found[name, method, learner] = per_set(made, at_keys(method, learner))
    return found


def _near_sheet(near: Errors, splits: int) -> Sheet:
    rows = []
    for name, label in (TRIED | OUTLOOK).items():
        row: dict[str, Any] = {"weights": label}
        row |= {one: Value(float(np.mean(errors)), digits=1) for one, errors in near[name].items()}
        row["mean"] = Value(mean_of(near[name]), digits=1)
        row["less equal weights"] = Value(_gain(near, name), digits=1)
        row["splits"] = len(next(iter(near[name].values())))
        rows.append(row)
    return Sheet(
        "weights-neighbors",
        "Test error of Gower's neighbors by weights, percent",
        rows,
        notes.WEIGHTS_NEAR.format(splits=splits),
    )


def _gain(near: Errors, name: str) -> float:
    """Return the mean error less that of equal weights, on the splits that both have."""
    many = len(next(iter(near[name].values())))
    # Paired on the same splits; importances have fewer splits than the other weights.
    equal = {one: errors[:many] for one, errors in near["equal"].items()}
    return mean_of(near[name]) - mean_of(equal)


def _learner_sheet(errors: Any, splits: int) -> Sheet:
    rows = []
    for name, label in TRIED.items():
        for method in METHODS:
            row: dict[str, Any] = {"weights": f"{label}; {METHODS[method]}"}
            for learner in LEARNERS:
                row[learner] = Value(mean_of(errors[name, method, learner]), digits=1)
            rows.append(row)
    return Sheet(
        "weights-learners",
        "Figures 11 and 12: mean test error of learners on prototypes, percent",
        rows,
        notes.WEIGHTS_LEARN.format(splits=splits),
    )


def _by_set(errors: Any, name: str) -> dict[str, float]:
    """Return the mean over methods and learners for each set."""
    keys = [(name, method, learner) for method in METHODS for learner in LEARNERS]
    return {
        one: float(np.mean([np.mean(errors[key][one]) for key in keys])) for one in errors[keys[0]]
    }


def _findings(near: Errors, errors: Any) -> list[Finding]:
    mean = {name: _by_set(errors, name) for name in TRIED}
    relief = {one: mean["relieff"][one] - mean["equal"][one] for one in mean["equal"]}
    squares = {one: mean["least_squares"][one] - mean["equal"][one] for one in mean["equal"]}
    both = {name: float(np.mean(list(mean[name].values()))) for name in TRIED}
    return [
        Finding(
            "ReliefF weights are better on some sets and worse on others",
            min(relief.values()) < 0 < max(relief.values()),
            ", ".join(f"{one} {value:+.1f}" for one, value in relief.items()),
            headline=True,
        ),
        Finding(
            "the least-squares weights of the thesis (row and its medoid) are worse",
            both["least_squares"] > both["equal"] and _gain(near, "least_squares") > 0,
            f"learners {both['least_squares'] - both['equal']:+.1f} points on average ("
            + ", ".join(f"{one} {value:+.1f}" for one, value in squares.items())
            + f"), neighbors {_gain(near, 'least_squares'):+.1f}",
            notes.SQUARES_HELP,
        ),
        Finding(
            "outlook: all pairs within clusters are better than pairs with the medoid alone",
            _gain(near, "cluster") < _gain(near, "least_squares"),
            f"{_gain(near, 'cluster'):+.1f} and {_gain(near, 'least_squares'):+.1f} points against "
            f"equal weights; all pairs of rows {_gain(near, 'global'):+.1f}",
            notes.OUTLOOK_PAIRS,
        ),
        Finding(
            "outlook: importances of a forest are better weights than equal ones",
            _gain(near, "importance") < 0,
            f"{_gain(near, 'importance'):+.1f} points",
            notes.OUTLOOK_IMPORTANCE,
        ),
    ]


def _plots(near: Errors, errors: Any) -> list[Plot]:
    def figure11(figure: Any) -> None:
        grid = figure.subplots(1, len(TRIED), sharey=True)
        for axes, (name, title) in zip(grid, TRIED.items(), strict=True):
            curves = {
                label: (LEARNERS, [mean_of(errors[name, m, learner]) for learner in LEARNERS])
                for m, label in METHODS.items()
            }
            draw_curves(axes, curves)
            axes.set_title(title, fontsize=9)
        grid[0].set_ylabel("mean test error of the sets, %")
        grid[0].legend(fontsize=8, frameon=False)

    def figure19(figure: Any) -> None:
        panels = {
            one: {
                label: (
                    LEARNERS,
                    [
                        float(np.mean([np.mean(errors[name, m, who][one]) for m in METHODS]))
                        for who in LEARNERS
                    ],
                )
                for name, label in TRIED.items()
            }
            for one in near["equal"]
        }
        draw_panels(figure, panels)

    return [
        Plot(
            "figure11",
            "Figures 11 and 12: mean test error by learner for equal, ReliefF and least-squares "
            "weights",
            figure11,
            (9.0, 3.6),
        ),
        Plot("figure19", "Figures 19 and 20: the same, set by set", figure19, (8.4, 4.4)),
    ]
