"""Tables 2 and 3, Figures 4, 8, 9 and 18: neighbors, and learners on similarities to prototypes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from studies.gower import notes
from studies.gower.drawing import draw_curves, draw_panels
from studies.gower.learning import LEARNERS, METHODS, nearest_error, prototype_errors
from studies.gower.problems import PLAIN, Reading, load_problem
from studies.gower.published import SETS, TABLE3
from studies.gower.splits import at_keys, mean_of, over_splits, per_set, sets_here, twice_error
from studies.result import Finding, Plot, Result, Sheet, Value
from studies.work import Work, source_of

ALL = ("kNN", *LEARNERS)
FORMS = {"raw": "Euclidean, plain numbers", "Gower": "Gower, all rows"}
# The column `surgery` nearly determines whether the lesion was surgical (the class).
BLIND = "Colic 24 without surgery"
Errors = dict[tuple[str, str], dict[str, list[float]]]  # (rows compared with, learner) -> set


def run(work: Work) -> Result:
    """Make the six rows of Table 3 and every learner of Figure 9."""
    splits = work.times(quick=2, default=20, full=20)
    errors = _collect(work, splits)
    sheets = [_table3(errors, splits), _learners(errors, splits)]
    return Result(sheets, _findings(errors), _plots(errors))


def run_splits(work: Work, splits: int, names: Sequence[str] | None = None) -> dict[str, list[Any]]:
    """Return what each split of each set gave, by rows compared with and learner."""

    def one(name: str, seed: int) -> dict[str, Any]:
        which, reading = name, PLAIN
        if name == BLIND:
            which, reading = "Colic 24", Reading(without="surgery")
        problem = load_problem(work.data, which, reading)
        near = {form: {"kNN": nearest_error(problem, seed, form)} for form in FORMS}
        return near | prototype_errors(problem, seed, list(METHODS))

    # Another part needs them too: whichever is run first keeps them for both.
    memory = work.shared("gower-prototypes", source_of(sys.modules[__name__]))
    return over_splits(memory, "prototypes", one, splits, names)


def _collect(work: Work, splits: int) -> Errors:
    names = sets_here(work)
    names += [BLIND] if "Colic 24" in names else []
    found = run_splits(work, splits, names)
    keys = [(form, "kNN") for form in FORMS]
    keys += [(method, learner) for method in METHODS for learner in ALL]
    return {key: per_set(found, at_keys(*key)) for key in keys}


def _row(label: str, errors: dict[str, list[float]], printed: float | None) -> dict[str, Any]:
    row: dict[str, Any] = {"rows compared with": label}
    for name, splits in errors.items():
        row[name] = Value(float(np.mean(splits)), digits=1)
    for column, some in (("mean", _seven(errors)), ("mean, surgery left out", _blind(errors))):
        # The printed mean is over seven sets: a mean over fewer is shown but not judged.
        judged = printed is not None and len(some) == len(SETS)
        within = twice_error(some) if judged else None
        chosen = BLIND in some
        row[column] = Value(mean_of(some), printed, within, digits=1, chosen=chosen)
    return row


def _seven(errors: dict[str, list[float]]) -> dict[str, list[float]]:
    """Return the errors of the seven sets as they are."""
    return {name: errors[name] for name in SETS if name in errors}


def _blind(errors: dict[str, list[float]]) -> dict[str, list[float]]:
    """Return the errors of the seven sets, Colic 24 without the column that tells its class."""
    return {name: errors[name] for name in (*SETS, BLIND) if name != "Colic 24" and name in errors}


def _table3(errors: Errors, splits: int) -> Sheet:
    rows = [
        _row((FORMS | METHODS)[form], errors[form, "kNN"], printed)
        for form, printed in TABLE3.items()
    ]
    return Sheet(
        "table3",
        "Tables 2 and 3: test error of nearest neighbors, percent",
        rows,
        notes.TABLE3.format(splits=splits),
        {
            ("*", "mean"): notes.LOWER,
            (METHODS["relieff"], "mean"): notes.LOWER_RELIEFF,
            ("*", "mean, surgery left out"): notes.STILL,
        },
    )


def _learners(errors: Errors, splits: int) -> Sheet:
    rows = []
    for learner in LEARNERS:
        for method, label in METHODS.items():
            rows.append(_row(f"{label}: {learner}", errors[method, learner], None))
    return Sheet(
        "learners",
        "Figures 9 and 18: test error of learners on prototypes, percent",
        rows,
        notes.LEARNERS.format(splits=splits),
    )


def _findings(errors: Errors) -> list[Finding]:
    mean = {key: mean_of(_seven(found)) for key, found in errors.items()}
    raw, gower = mean["raw", "kNN"], mean["Gower", "kNN"]
    near = {method: mean[method, "kNN"] for method in METHODS}
    both = {m: (mean[m, "logistic"] + mean[m, "LDA"]) / 2 for m in METHODS}
    worst = max(both, key=lambda m: both[m])
    others = [near[m] for m in METHODS if m != "relieff"]
    names = list(_seven(errors["Gower", "kNN"]))
    noise = twice_error(
        {
            name: list(np.subtract(errors["Gower", "kNN"][name], errors["raw", "kNN"][name]))
            for name in names
        },
        10**9,
    )
    findings = [
        Finding(
            "Gower's nearest neighbors are as good on average as Euclidean ones",
            gower <= raw + noise,
            f"{gower:.1f} and {raw:.1f} % (printed 22.1 and 22.2), two standard errors of the "
            f"difference {noise:.1f}",
            headline=True,
        ),
        Finding(
            "nearest neighbors on 2 to 10 % of the rows as prototypes cost one to four points "
            "(.5 to 4.5)",
            all(0.5 <= value - gower < 4.5 for value in near.values()),
            ", ".join(f"{METHODS[m]} {v - gower:+.1f}" for m, v in near.items())
            + " (printed +1.2, +1.8, +3.8, +1.2)",
            notes.CHEAPER,
        ),
        Finding(
            "with the logistic model or LDA prototypes match or beat Euclidean neighbors, within "
            ".5 points",
            all(value <= raw + 0.5 for m, value in both.items() if m != "relieff"),
            ", ".join(f"{METHODS[m]} {v:.1f}" for m, v in both.items())
            + f"; Euclidean neighbors {raw:.1f}",
            headline=True,
        ),
        Finding(
            "ReliefF is the worst method to choose prototypes for neighbors",
            near["relieff"] == max(near.values()),
            ", ".join(f"{METHODS[m]} {v:.1f}" for m, v in near.items()),
            notes.FEW_SPLITS,
        ),
        Finding(
            "CFS and both kinds of medoids are close, within 1.5 points",
            max(others) - min(others) <= 1.5,
            f"between {min(others):.1f} and {max(others):.1f} % (printed 23.3 to 23.9); with "
            f"learners the worst is {METHODS[worst]}",
            notes.FEW_SPLITS,
        ),
    ]
    return findings + ([_on_audiology(errors, names)] if "Audiology" in names else [])


def _on_audiology(errors: Errors, names: list[str]) -> Finding:
    loss = {
        name: float(
            np.mean([np.mean(errors[m, "kNN"][name]) for m in METHODS])
            - np.mean(errors["Gower", "kNN"][name])
        )
        for name in names
    }
    return Finding(
        "Audiology is the set where prototypes are worse",
        max(loss, key=lambda name: loss[name]) == "Audiology",
        ", ".join(f"{name} {value:+.1f}" for name, value in loss.items())
        + " (kNN on prototypes less kNN on all rows)",
        notes.AUDIOLOGY,
    )


def _plots(errors: Errors) -> list[Plot]:
    mean = {key: mean_of(_seven(found)) for key, found in errors.items()}
    raw = mean["raw", "kNN"]
    names = list(_seven(errors["raw", "kNN"]))

    def figure9(figure: Any) -> None:
        axes = figure.add_subplot()
        curves = {
            label: (ALL, [mean[method, learner] for learner in ALL])
            for method, label in METHODS.items()
        }
        draw_curves(axes, curves, raw, "Euclidean kNN, all rows")
        axes.set_ylabel("mean test error of the sets, %")
        axes.legend(fontsize=8, frameon=False)

    def figure8(figure: Any) -> None:
        axes = figure.add_subplot()
        label = FORMS | METHODS
        curves = {
            label[form]: (names, [float(np.mean(errors[form, "kNN"][name])) for name in names])
            for form in TABLE3
        }
        draw_curves(axes, curves)
        axes.set_ylabel("test error of kNN, %")
        axes.legend(fontsize=8, frameon=False)

    def figure18(figure: Any) -> None:
        panels = {
            name: {
                label: (LEARNERS, [float(np.mean(errors[m, one][name])) for one in LEARNERS])
                for m, label in METHODS.items()
            }
            for name in names
        }
        lines = {name: float(np.mean(errors["raw", "kNN"][name])) for name in names}
        draw_panels(figure, panels, lines, "Euclidean kNN")

    return [
        Plot("figure8", "Figures 4 and 8: test error of kNN by set, six ways", figure8),
        Plot("figure9", "Figure 9: mean test error by learner, one line per choice", figure9),
        Plot("figure18", "Figure 18: test error by learner, set by set", figure18, (8.4, 4.4)),
    ]
