"""``lookalike classify``: what rows are, learned from rows whose class is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike.cli.compiling import compile_note
from lookalike.cli.options import File, Form, Kinds, Missing, read, read_kinds
from lookalike.cli.output import (
    Output,
    cells,
    grid,
    headline,
    note,
    paper,
    short,
    write_csv,
    write_json,
)
from lookalike.errors import InvalidInput, message, suggest

if TYPE_CHECKING:
    import numpy as np

    from lookalike.predict import RandomSimilarityForestClassifier
    from lookalike.table import Table

__all__ = ["Report", "classify"]

SHOWN = 20  # predictions in a table for people


@dataclass
class Report:
    """What is said about a forest: how good it is, what it looks at, what it predicts."""

    target: str
    classes: list[Any]
    n_rows: int
    folds: int = 0
    accuracy: float | None = None
    auc: float | None = None
    out_of_bag: float | None = None
    importances: dict[str, float] = field(default_factory=dict)
    predictions: list[dict[str, Any]] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON can hold it."""
        judged = {"folds": self.folds, "accuracy": self.accuracy, "auc": self.auc}
        answer = {
            "target": self.target,
            "classes": self.classes,
            "rows": self.n_rows,
            "cross_validation": judged if self.folds else None,
            "out_of_bag": {"accuracy": self.out_of_bag},
            "importances": [{"column": c, "share": s} for c, s in self.importances.items()],
        }
        if self.predictions is not None:
            answer["predictions"] = self.predictions
        return answer


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
        int, typer.Option("--folds", min=0, help="Parts of the cross-validation; 0: none.")
    ] = 5,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")] = 0,
    kinds: Kinds = None,
    missing: Missing = None,
    output: Form = Output.table,
) -> None:
    """Learn classes from columns of any kind, say how well that goes, and predict new rows."""
    from lookalike.table import as_table

    table = read(file, kinds, missing)
    every = [column.name for column in table.columns + table.aside]
    if target not in every:
        raise InvalidInput(
            message("--target", f"a column {target!r}", "none", suggest(target, every))
        )
    distances = read_distances(distance)
    with compile_note():
        from lookalike.predict import RandomSimilarityForestClassifier

        forest = RandomSimilarityForestClassifier(
            trees, distances, oob_score=True, random_state=seed
        ).fit(table, target)
        report = describe(forest, table, target)
        judge(forest, table, target, folds, seed, report)
        if predict is not None:
            schema = forest.schema_
            new = as_table(predict, schema, who="classify --predict")
            report.predictions = predictions(forest, new)
    if output is Output.json:
        write_json(report.to_dict())
    elif output is Output.csv and report.predictions is not None:
        heads = ["row", "predicted", "share"]
        write_csv(heads, [[one[head] for head in heads] for one in report.predictions])
    elif output is Output.csv:
        write_csv(["column", "share"], list(report.importances.items()))
    else:
        show(report, file)


def read_distances(words: list[str] | None) -> dict[str, list[Any]] | None:
    """Read which distances columns are compared by.

    Examples
    --------
    >>> read_distances(["name=levenshtein", "name=jaro_winkler", "tags=overlap"])
    {'name': ['levenshtein', 'jaro_winkler'], 'tags': ['overlap']}
    """
    distances: dict[str, list[Any]] = {}
    for word in words or ():
        for name, value in (read_kinds([word]) or {}).items():
            distances.setdefault(name, []).append(value)
    return distances or None


def describe(forest: RandomSimilarityForestClassifier, table: Table, target: str) -> Report:
    """Return what the fitted forest says about itself."""
    names = list(forest.schema_.kinds)
    shares = forest.feature_importances_.tolist()
    ordered = sorted(zip(names, shares, strict=True), key=lambda pair: -pair[1])
    judged = forest.oob_score_ if forest.oob_score_ == forest.oob_score_ else None
    return Report(
        target,
        forest.classes_.tolist(),
        len(table),
        out_of_bag=judged,
        importances=dict(ordered),
    )


def judge(
    forest: RandomSimilarityForestClassifier,
    table: Table,
    target: str,
    folds: int,
    seed: int,
    report: Report,
) -> None:
    """Write into the report how well forests do on rows they were not grown on."""
    import numpy as np
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold

    from lookalike.table.targets import split_target

    columns, found = split_target(table, target, "classify")
    y = np.asarray(found)
    _, codes = np.unique(y, return_inverse=True)
    parts = min(folds, int(np.bincount(codes).min()))
    if folds and parts < 2:
        note("no cross-validation: a class has a single row")
    if parts < 2:
        return
    shares = np.zeros((len(y), len(forest.classes_)))
    split = StratifiedKFold(parts, shuffle=True, random_state=seed)
    for known, held in split.split(np.zeros(len(y)), codes):
        model = clone(forest).set_params(oob_score=False).fit(columns[known], y[known])
        shares[held] = model.predict_proba(columns[held])
    report.folds = parts
    report.accuracy = float((shares.argmax(axis=1) == codes).mean())
    report.auc = area(codes, shares)


def area(codes: np.ndarray, shares: np.ndarray) -> float:
    """Return the area under the ROC curve; of several classes, the mean of one against the rest."""
    from sklearn.metrics import roc_auc_score

    if shares.shape[1] == 2:
        return float(roc_auc_score(codes, shares[:, 1]))
    return float(roc_auc_score(codes, shares, multi_class="ovr"))


def predictions(forest: RandomSimilarityForestClassifier, new: Table) -> list[dict[str, Any]]:
    """Return the class of every new row and its share of the votes."""
    shares = forest.predict_proba(new)
    best = shares.argmax(axis=1)
    return [
        {"row": i, "predicted": forest.classes_[c].item(), "share": float(shares[i, c])}
        for i, c in enumerate(best)
    ]


def show(report: Report, file: str) -> None:
    """Print the report for people."""
    console = paper()
    classes = ", ".join(short(name) for name in report.classes[:6])
    classes += ", ..." if len(report.classes) > 6 else ""
    headline(console, f"{file}: {report.target!r} ({classes}) from {report.n_rows:,} rows")
    if report.folds:
        console.print(
            f"{report.folds}-fold cross-validation: {report.accuracy:.1%} right, "
            f"area under the curve {report.auc:.3f}"
        )
    if report.out_of_bag is not None:
        console.print(f"rows left out of trees: {report.out_of_bag:.1%} right")
    table = grid([("column", "left"), ("importance", "right")])
    for name, share in report.importances.items():
        table.add_row(*cells([short(name), f"{share:.1%}"]))
    console.print(table)
    if report.predictions is None:
        return
    table = grid([("row", "right"), ("predicted", "left"), ("share of votes", "right")])
    for one in report.predictions[:SHOWN]:
        table.add_row(*cells([str(one["row"]), short(one["predicted"]), f"{one['share']:.1%}"]))
    console.print(table)
    if len(report.predictions) > SHOWN:
        note(f"{len(report.predictions) - SHOWN:,} more rows; --output csv has all")
