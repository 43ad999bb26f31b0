"""``lookalike classify``: what rows are, learned from rows whose class is known."""

from __future__ import annotations

import shlex
from collections import Counter
from typing import Any

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
from lookalike.cli.source import Loaded, Source, takes_table
from lookalike.errors import InvalidInput

EXAMPLES = (
    "lookalike classify penguins.csv --label species",
    "lookalike classify penguins.csv --label species --method neighbors -k 5",
    "lookalike classify penguins.csv --label species --predict new.csv --output csv",
)
HEADS = ("row", "predicted", "share")  # of the predictions
CLASSES = 20  # different numbers in a label from which they look like amounts


@takes_table
def classify(
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
    """Learn classes from columns of any kind, say how well that goes, and predict new rows."""
    check_method(method, measure, weight, k, distance, trees)
    distances = read_distances(distance)
    loaded, classes, left_out = with_target(source, label, columns)
    check_classes(label, classes)
    with compile_note():
        model = make_model("Classifier", loaded, method, measure, weight, k, distances, trees, seed)
        _, learned = judge_and_fit(model, method, loaded.table, classes, folds, seed)
        ((commonest, count),) = Counter(classes.tolist()).most_common(1)
        report: dict[str, Any] = {
            "label": label,
            "method": method,
            "classes": model.classes_.tolist(),
            "rows": len(loaded.table),
            "rows_left_out": left_out,
            "baseline": {
                "class": commonest,
                "accuracy": count / len(loaded.table),
            },
            **learned,
        }
        if predict is not None:
            report["predictions"] = predictions(model, source, loaded, predict)
    if output is out.Output.table:
        show_report(report, loaded.name)
    else:
        write_report(report, output, HEADS)


def check_classes(label: str, values: Any) -> None:
    """Refuse numbers that look like amounts: nobody means a class for each price."""
    import numpy as np

    from lookalike.table.model.targets import holds_classes

    numbers = np.asarray(values)
    if numbers.dtype.kind not in "iuf":
        return
    distinct = len(np.unique(numbers))
    if distinct <= CLASSES and holds_classes(numbers):
        return
    found = f"{distinct:,} different numbers, which look like amounts"
    kind = shlex.quote(f"{label}=category")
    hint = f"Use lookalike regress, or --kinds {kind} if each number is a class"
    raise InvalidInput(f"--label {label}", "classes", found, hint)


def predictions(model: Any, source: Source, loaded: Loaded, file: str) -> list[dict[str, Any]]:
    """Return the class of every new row and its share of the votes."""
    new = source.read_like(file, loaded.table.schema, "classify --predict")
    shares = model.predict_proba(new)
    rows = zip(model.classes_[shares.argmax(axis=1)].tolist(), shares.max(axis=1), strict=True)
    return [
        dict(zip(HEADS, (row, name, float(share)), strict=True))
        for row, (name, share) in enumerate(rows)
    ]


def show_report(report: dict[str, Any], file: str) -> None:
    """Print the report for people: what was learned, how well, and beside it what guessing does."""
    console = out.make_console()
    start = f"{file}: {report['label']!r} from {report['rows']:,} rows"
    classes = ", ".join(short(name) for name in report["classes"])
    head = f"{start}: {classes}"
    if len(head) > console.width:  # many or long names: what was found is below, by --output json
        head = f"{start}, {len(report['classes'])} classes"
    out.headline(console, head)
    guess = report["baseline"]
    always = f"always saying {short(guess['class'])!r} is right for {guess['accuracy']:.1%}"
    judged, bag = report["cross_validation"], report["out_of_bag"]
    if judged is not None:
        out.say(
            console,
            f"{judged['folds']}-fold cross-validation: {judged['accuracy']:.1%} right, area under "
            f"the curve {judged['auc']:.3f}; {always}",
            "",
        )
        if judged["accuracy"] <= guess["accuracy"]:
            out.say(console, "No better than guessing: the columns say little about it.", "yellow")
    if bag is not None and bag["accuracy"] == bag["accuracy"]:  # NaN where no row was left out
        more = "" if judged is not None else f"; {always}"
        out.say(console, f"out-of-bag accuracy: {bag['accuracy']:.1%}{more}", "")
    elif judged is None:
        out.say(console, always, "")
    show_importances(console, report)
    if "predictions" in report:
        show_predictions(console, report["predictions"])
