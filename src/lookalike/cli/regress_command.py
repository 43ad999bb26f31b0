"""``lookalike regress``: a number of rows, learned from rows where it is known."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from lookalike._runtime.text import short
from lookalike.cli import output as out
from lookalike.cli.compiling import compile_note
from lookalike.cli.learning import (
    Distances,
    Folds,
    Method,
    Predict,
    Target,
    Trees,
    Voters,
    check_method,
    judge_and_fit,
    make_model,
    read_distances,
    show_importances,
    show_predictions,
    with_target,
    write_report,
)
from lookalike.cli.options import Columns, Form, MeasureChoice, Seed, Weight
from lookalike.cli.source import Source, takes_table
from lookalike.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np

EXAMPLES = (
    "lookalike regress penguins.csv --label body_mass_g",
    "lookalike regress penguins.csv --label body_mass_g --method neighbors --measure gower",
)
HEADS = ("row", "predicted")  # of the predictions


@takes_table
def regress(
    source: Source,
    label: Target,
    predict: Predict = None,
    method: Method = "forest",
    measure: MeasureChoice = None,
    weight: Weight = None,
    k: Voters = None,
    distance: Distances = None,
    trees: Trees = None,
    folds: Folds = 5,
    columns: Columns = None,
    seed: Seed = 0,
    output: Form = out.Output.table,
) -> None:
    """Learn a number from columns of any kind, say how well that goes, and predict new rows."""
    check_method(method, measure, weight, k, distance, trees)
    distances = read_distances(distance)
    loaded, target, left_out = with_target(source, label, columns)
    numbers = as_numbers(label, target)
    with compile_note():
        model = make_model("Regressor", loaded, method, measure, weight, k, distances, trees, seed)
        judged, learned = judge_and_fit(model, method, loaded.table, numbers, folds, seed)
        report: dict[str, Any] = {
            "label": label,
            "method": method,
            "rows": len(loaded.table),
            "rows_left_out": left_out,
            "median": median(numbers.tolist()),
            "baseline": None if judged is None else dict(judged.baseline),
            **learned,
        }
        if predict is not None:
            new = source.read_like(predict, loaded.table.schema, "regress --predict")
            values = model.predict(new).tolist()
            report["predictions"] = [
                dict(zip(HEADS, line, strict=True)) for line in enumerate(values)
            ]
    if output is out.Output.table:
        show_report(report, loaded.name)
    else:
        write_report(report, output, HEADS)


def as_numbers(label: str, target: Any) -> np.ndarray:
    """Return the label as numbers; words are not."""
    import numpy as np

    values = np.asarray(target)
    if values.dtype.kind not in "iuf":
        found = f"words, such as {short(values[0])!r}"
        hint = "Use lookalike classify for classes"
        raise InvalidInput(f"--label {label}", "a column of numbers", found, hint)
    return values.astype(np.float64)


def show_report(report: dict[str, Any], file: str) -> None:
    """Print the report for people: how far predictions are off, and beside it what guessing is."""
    console = out.make_console()
    out.headline(console, f"{file}: {report['label']!r} from {report['rows']:,} rows")
    judged, bag = report["cross_validation"], report["out_of_bag"]
    if judged is not None:
        off, guess = judged["mean_absolute_error"], report["baseline"]["mean_absolute_error"]
        out.say(
            console,
            f"{judged['folds']}-fold cross-validation: off by {amount(off)} on average (mean "
            f"absolute error), R2 {judged['r2']:.3f}; always saying the median, "
            f"{_median(report['median'])}, is off by {amount(guess)}",
            "",
        )
        if off >= guess:
            out.say(console, "No better than guessing: the columns say little about it.", "yellow")
    if bag is not None and bag["r2"] == bag["r2"]:  # NaN where no row was left out
        out.say(console, f"out-of-bag R2: {bag['r2']:.3f}", "")
    show_importances(console, report)
    if "predictions" in report:
        show_predictions(console, report["predictions"])


def _median(number: float) -> str:
    """Write the median; thousands are set apart from five digits on, so those of a year are not."""
    return f"{number:,.0f}" if abs(number) >= 10_000 else short(number)


def amount(number: float) -> str:
    """Write how far predictions are off: three digits, and no powers of ten where there are more.

    Examples
    --------
    >>> amount(1.64748), amount(12345.6)
    ('1.65', '12,346')
    """
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"
