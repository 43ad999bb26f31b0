"""What ``classify`` and ``regress`` share: their options, and how their answers are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lookalike._runtime.text import percent, short
from lookalike.cli import output as out
from lookalike.cli.measure import pick_measure, set_seed
from lookalike.cli.options import split_pair
from lookalike.cli.source import Loaded, Source
from lookalike.cli.spelling import spell_option
from lookalike.cli.unused import refuse_unused
from lookalike.errors import TooFewRows, message

if TYPE_CHECKING:
    from rich.console import Console

    from lookalike.prediction import CrossValidation

SHOWN = 20  # predictions, and columns, in a table for people
TREES = 100

Target = Annotated[
    str,
    typer.Option("--label", metavar="COLUMN", help="The column to predict.", show_default=False),
]
Predict = Annotated[
    str | None,
    typer.Option(
        "--predict",
        metavar="FILE",
        help="A table of rows to predict, with the same columns; the label may be among them.",
        show_default=False,
    ),
]
Method = Annotated[
    Literal["forest", "neighbors"],
    typer.Option(
        "--method",
        metavar="NAME",
        help="forest: a random similarity forest; neighbors: the rows most alike.",
    ),
]
Distances = Annotated[
    list[str] | None,
    typer.Option(
        "--distance",
        metavar="COLUMN=NAME",
        help="For a forest: how it compares the cells of a column, if not by the default: "
        "name=jaro_winkler. May be repeated, also for the same column.",
        show_default=False,
    ),
]
Trees = Annotated[
    int | None,
    typer.Option(
        "--trees",
        metavar="N",
        min=1,
        help=f"For a forest: how many trees; {TREES} unless given.",
        show_default=False,
    ),
]
Voters = Annotated[
    int | None,
    typer.Option(
        "-k",
        metavar="N",
        min=1,
        help="For neighbors: how many vote; chosen by cross-validation unless given.",
        show_default=False,
    ),
]
Folds = Annotated[
    int, typer.Option("--folds", metavar="N", min=0, help="Folds of the cross-validation; 0: none.")
]


def check_method(
    method: str,
    measure: str | None,
    weight: list[str] | None,
    k: int | None,
    distances: list[str] | None,
    trees: int | None,
) -> None:
    """Refuse options that this method would not look at."""
    neighbors, forest = ("neighbors",), ("forest",)
    refuse_unused(
        method,
        {
            "--measure": (measure, neighbors),
            "--weight": (weight, neighbors),
            "-k": (k, neighbors),
            "--distance": (distances, forest),
            "--trees": (trees, forest),
        },
    )


def with_target(source: Source, label: str, columns: str | None) -> tuple[Loaded, Any, int]:
    """Return the rows whose label is known, their labels, and how many rows lack one."""
    loaded = source.load()
    rest, values = loaded.without_label(label)
    return rest.compared_by(columns), values, len(loaded.table) - len(rest.table)


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


def validate(model: Any, table: Any, y: Any, folds: int, seed: int) -> CrossValidation | None:
    """Return how well models do on rows they have not seen; None if that was not asked."""
    from lookalike.prediction import cross_validate

    if not folds:
        return None
    try:
        return cross_validate(model, table, y, n_splits=folds, random_state=seed)
    except TooFewRows as error:
        out.note(message(**error.words(spell_option) | {"who": "no cross-validation"}))
        return None


def judge_and_fit(
    model: Any, method: str, table: Any, y: Any, folds: int, seed: int
) -> tuple[CrossValidation | None, dict[str, Any]]:
    """Cross-validate a model, then fit it to all rows; return the first, and both in plain values.

    A forest also says how well its trees do on the rows each of them has not seen.
    """
    judged = validate(model, table, y, folds, seed)
    if method == "forest":
        model.set_params(oob_score=True)
    model.fit(table, y)
    score = "accuracy" if hasattr(model, "classes_") else "r2"
    return judged, {
        "cross_validation": None if judged is None else {"folds": judged.n_splits, **judged.scores},
        "out_of_bag": {score: model.oob_score_} if method == "forest" else None,
        "importances": importances(model),
    }


def write_report(report: dict[str, Any], form: out.Output, heads: tuple[str, ...]) -> None:
    """Write a report for programs: in rows the predictions, or the importances without any."""
    asked = "predictions" in report
    rows = report["predictions"] if asked else report["importances"]
    names = list(heads) if asked else ["column", "share"]
    out.write(form, names, [[row[name] for name in names] for row in rows], lambda: report)


def make_model(
    what: str,
    loaded: Loaded,
    method: str,
    measure: str | None,
    weight: list[str] | None,
    k: int | None,
    distances: dict[str, list[Any]] | None,
    trees: int | None,
    seed: int,
) -> Any:
    """Return the model that was asked for, not fitted.

    Parameters
    ----------
    what : {"Classifier", "Regressor"}
    loaded : Loaded
    method, measure, weight, k, distances, trees, seed
        The options.
    """
    from lookalike import prediction as predict

    if method == "forest":
        forest = getattr(predict, f"RandomSimilarityForest{what}")
        return forest(trees or TREES, distances, random_state=seed)
    chosen, _ = pick_measure(measure, loaded, weights=weight)
    neighbors = getattr(predict, f"Neighbor{what}")
    return neighbors(set_seed(chosen, seed), k or "tune", random_state=seed)


def importances(model: Any) -> list[dict[str, Any]]:
    """Return the columns that a forest looks at, the most important first; none of neighbors."""
    if not hasattr(model, "feature_importances_"):
        return []
    shares = zip(model.schema_.kinds, model.feature_importances_.tolist(), strict=True)
    ordered = sorted(shares, key=lambda pair: -pair[1])
    return [{"column": name, "share": share} for name, share in ordered]


def show_importances(console: Console, report: dict[str, Any]) -> None:
    """Print the columns that the forest looks at."""
    if not report["importances"]:
        return
    lines = out.grid([("column", "left"), ("importance", "right")])
    every = report["importances"]
    for one in every[:SHOWN]:
        lines.add_row(*out.cells([short(one["column"]), percent(one["share"])]))
    console.print(lines)
    if len(every) > SHOWN:
        more = len(every) - SHOWN
        out.say(console, f"not shown: {more:,} less important columns (csv and json have all)")


def show_predictions(console: Console, rows: list[dict[str, Any]]) -> None:
    """Print the first predictions."""
    heads = {"row": "row", "predicted": "predicted", "share": "share of votes"}
    used = [head for head in heads if head in rows[0]] if rows else []
    places = {"row": "right", "predicted": "left", "share": "right"}
    lines = out.grid([(heads[head], places[head]) for head in used])
    for one in rows[:SHOWN]:
        words = [str(one["row"]), short(one["predicted"])]
        lines.add_row(*out.cells(words + ([percent(one["share"])] if "share" in one else [])))
    console.print(lines)
    if len(rows) > SHOWN:
        out.note(f"{len(rows) - SHOWN:,} more rows; --output csv has all")
