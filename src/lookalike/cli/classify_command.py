"""``lookalike classify``: what rows are, learned from rows whose class is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike._show import short
from lookalike.cli import output as out
from lookalike.cli.compiling import compile_note
from lookalike.cli.options import (
    File,
    Form,
    Kinds,
    Missing,
    Seed,
    read,
    split_label,
    split_pair,
)
from lookalike.errors import TooFewRows

if TYPE_CHECKING:
    from lookalike.predict import RandomSimilarityForestClassifier

__all__ = ["classify"]

SHOWN = 20  # predictions in a table for people
HEADS = ("row", "predicted", "share")  # of the predictions


def classify(
    file: File,
    target: Annotated[
        str,
        typer.Option(
            "--target", metavar="COLUMN", help="The column of classes.", show_default=False
        ),
    ],
    predict: Annotated[
        str | None,
        typer.Option(
            "--predict",
            metavar="FILE",
            help="Rows whose class is to be predicted; the same columns, the target may be there.",
            show_default=False,
        ),
    ] = None,
    distance: Annotated[
        list[str] | None,
        typer.Option(
            "--distance",
            metavar="COLUMN=NAME",
            help="How cells of a column are compared, where the default is not wanted: "
            "name=jaro_winkler. May be repeated, also for one column.",
            show_default=False,
        ),
    ] = None,
    trees: Annotated[int, typer.Option("--trees", min=1, help="How many trees vote.")] = 100,
    folds: Annotated[
        int, typer.Option("--folds", min=0, help="Folds of the cross-validation; 0: none.")
    ] = 5,
    seed: Seed = 0,
    kinds: Kinds = None,
    missing: Missing = None,
    output: Form = out.Output.table,
) -> None:
    """Learn classes from columns of any kind, say how well that goes, and predict new rows."""
    table, classes = split_label(read(file, kinds, missing), target, "--target")
    distances = read_distances(distance)
    with compile_note():
        from lookalike.predict import RandomSimilarityForestClassifier

        model = RandomSimilarityForestClassifier(trees, distances, random_state=seed)
        forest = RandomSimilarityForestClassifier(
            trees, distances, oob_score=True, random_state=seed
        ).fit(table, classes)
        report = {
            "target": target,
            "classes": forest.classes_.tolist(),
            "rows": len(table),
            "cross_validation": validate(model, table, classes, folds, seed),
            "out_of_bag": {"accuracy": forest.oob_score_},
            "importances": importances(forest),
        }
        if predict is not None:
            report["predictions"] = predictions(forest, predict)
    if output is out.Output.json:
        out.write_json(report)
    elif output.is_csv:
        rows: list[dict[str, Any]] = report.get("predictions", report["importances"])
        heads = list(HEADS) if predict is not None else ["column", "share"]
        out.write_csv(heads, [[row[head] for head in heads] for row in rows], form=output)
    else:
        show_report(report, file)


def read_distances(words: list[str] | None) -> dict[str, list[Any]] | None:
    """Read which distances columns are compared by.

    Examples
    --------
    >>> read_distances(["name=levenshtein", "name=jaro_winkler", "tags=overlap"])
    {'name': ['levenshtein', 'jaro_winkler'], 'tags': ['overlap']}
    """
    distances: dict[str, list[Any]] = {}
    for word in words or ():
        name, value = split_pair(word, "--distance", "COLUMN=NAME", "name=levenshtein")
        distances.setdefault(name, []).append(value)
    return distances or None


def validate(model: Any, table: Any, classes: Any, folds: int, seed: int) -> dict[str, Any] | None:
    """Return how well forests do on rows they were not grown on; None if that was not asked."""
    from lookalike.predict import cross_validate

    if not folds:
        return None
    try:
        result = cross_validate(model, table, classes, n_splits=folds, random_state=seed)
    except TooFewRows as error:
        out.note(str(error))
        return None
    return {"folds": result.n_splits, **result.scores}


def importances(forest: RandomSimilarityForestClassifier) -> list[dict[str, Any]]:
    """Return the columns that the forest looks at, the most important first."""
    shares = zip(forest.schema_.kinds, forest.feature_importances_.tolist(), strict=True)
    ordered = sorted(shares, key=lambda pair: -pair[1])
    return [{"column": name, "share": share} for name, share in ordered]


def predictions(forest: RandomSimilarityForestClassifier, file: str) -> list[dict[str, Any]]:
    """Return the class of every new row and its share of the votes."""
    from lookalike.table import as_table

    new = as_table(file, forest.schema_, who="classify --predict")
    shares = forest.predict_proba(new)
    rows = zip(forest.classes_[shares.argmax(axis=1)].tolist(), shares.max(axis=1), strict=True)
    return [
        dict(zip(HEADS, (row, name, float(share)), strict=True))
        for row, (name, share) in enumerate(rows)
    ]


def show_report(report: dict[str, Any], file: str) -> None:
    """Print the report for people."""
    console = out.make_console()
    classes = ", ".join(short(name) for name in report["classes"][:6])
    classes += ", ..." if len(report["classes"]) > 6 else ""
    out.headline(console, f"{file}: {report['target']!r} ({classes}) from {report['rows']:,} rows")
    judged = report["cross_validation"]
    if judged is not None:
        console.print(
            f"{judged['folds']}-fold cross-validation: {judged['accuracy']:.1%} right, "
            f"area under the curve {judged['auc']:.3f}"
        )
    out_of_bag = report["out_of_bag"]["accuracy"]
    if out_of_bag == out_of_bag:  # not NaN, as it is where no row was left out
        console.print(f"out-of-bag accuracy: {out_of_bag:.1%}")
    lines = out.grid([("column", "left"), ("importance", "right")])
    for one in report["importances"]:
        lines.add_row(*out.cells([short(one["column"]), f"{one['share']:.1%}"]))
    console.print(lines)
    if "predictions" not in report:
        return
    lines = out.grid([("row", "right"), ("predicted", "left"), ("share of votes", "right")])
    for one in report["predictions"][:SHOWN]:
        lines.add_row(*out.cells([str(one["row"]), short(one["predicted"]), f"{one['share']:.1%}"]))
    console.print(lines)
    if len(report["predictions"]) > SHOWN:
        out.note(f"{len(report['predictions']) - SHOWN:,} more rows; --output csv has all")
