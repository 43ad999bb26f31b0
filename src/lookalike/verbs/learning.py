"""What ``classify`` and ``regress`` share: models by name, validation, and their answers."""

from __future__ import annotations

import inspect
import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from lookalike._runtime.text import percent, plain, short
from lookalike.errors import LookalikeWarning, TooFewRows
from lookalike.show import layout
from lookalike.show.result import Console, Result, Spell
from lookalike.verbs.measures import choose_measure, read_method, refuse_unused
from lookalike.verbs.source import NamedRows, TableSource

# Beside it any number looks like a success.
NO_BETTER = "No better than guessing: the columns say little about it."
MAX_SHOWN_LINES = 20  # predictions, and columns, in the text form
HEADS = {"row": "row", "predicted": "predicted", "share": "share of votes"}
# Set by this module, so not options of a method.
OWN_PARAMETERS = ("self", "random_state", "oob_score", "measure")


@dataclass(frozen=True)
class Learned(Result):
    """How well a column can be predicted from the others, and predictions for new rows.

    Parameters
    ----------
    name : str
        Of the table.
    label, method : str
    rows, rows_left_out : int
        Rows that were learned from, and rows without a label or with a class of their own.
    baseline : dict or None
        What guessing without looking at any column scores.
    cross_validation : dict or None
        Folds and scores on rows that were held out.
    out_of_bag : dict or None
        Score of a forest on the rows that each tree has not seen.
    importances : list of dict
        Columns with their share, the most important first; of a forest only.
    predictions : list of dict or None
        For rows to be predicted, in their order.
    model : the fitted estimator
    """

    name: str
    label: str
    method: str
    rows: int
    rows_left_out: int
    baseline: dict[str, Any] | None
    cross_validation: dict[str, Any] | None
    out_of_bag: dict[str, Any] | None
    importances: list[dict[str, Any]]
    predictions: list[dict[str, Any]] | None
    model: Any = field(repr=False)

    FACTS: ClassVar[tuple[str, ...]]  # of the JSON form, what was learned and what guessing scores
    COLUMNS: ClassVar[tuple[str, ...]]  # of the predictions

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the model as plain values."""
        names = [*self.FACTS, "cross_validation", "out_of_bag", "importances"]
        # Without rows to predict there is no such key, rather than an empty list.
        if self.predictions is not None:
            names.append("predictions")
        return {name: plain(getattr(self, name)) for name in names}

    def cells(self) -> dict[str, list[Any]]:
        """Return the predictions, or the importances where nothing was to be predicted."""
        lines = self.importances if self.predictions is None else self.predictions
        heads = ("column", "share") if self.predictions is None else self.COLUMNS
        return {head: [line[head] for line in lines] for head in heads}

    @abstractmethod
    def render_scores(self, console: Console) -> None:
        """Print what was learned and how well, beside what guessing scores."""

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print the scores, the columns that matter, and the first predictions."""
        self.render_scores(console)
        if self.importances:
            heads = [("column", "left"), ("importance", "right")]
            lines = [[short(one["column"]), percent(one["share"])] for one in self.importances]
            _print(console, heads, lines, "not shown: {:,} less important columns")
        if self.predictions is not None:
            right = ("row", "share")
            heads = [(HEADS[head], "right" if head in right else "left") for head in self.COLUMNS]
            # Only classes have shares of votes.
            write: dict[str, Callable[[Any], str]]
            write = {"row": str, "predicted": short, "share": percent}
            lines = [[write[head](one[head]) for head in self.COLUMNS] for one in self.predictions]
            _print(console, heads, lines, "{:,} more rows")


def _print(console: Console, heads: Any, lines: list[list[str]], more: str) -> None:
    """Print the first lines of a table, and how many more there are."""
    console.print(layout.grid(heads, lines[:MAX_SHOWN_LINES]))
    if len(lines) > MAX_SHOWN_LINES:
        layout.say(console, f"{more.format(len(lines) - MAX_SHOWN_LINES)} (csv and json have all)")


def make_model(
    what: str, method: str, rows: NamedRows, measure: Any, weights: Any, seed: int
) -> tuple[str, Any]:
    """Return the name of a method, and its model, not fitted.

    Parameters
    ----------
    what : {"Classifier", "Regressor"}
    method : str
        "forest" or "neighbors", with options of the estimator after a colon.
    rows : NamedRows
    measure, weights, seed
        As the verb was given them.
    """
    from lookalike import prediction

    classes = {"forest": f"RandomSimilarityForest{what}", "neighbors": f"Neighbor{what}"}
    models = {name: getattr(prediction, model) for name, model in classes.items()}
    # Options are the parameters of the estimator: a new one is an option without an edit here.
    known = {
        name: [one for one in inspect.signature(model).parameters if one not in OWN_PARAMETERS]
        for name, model in models.items()
    }
    name, options = read_method(method, known)
    refuse_unused(name, ["neighbors"], measure=measure, weights=weights)
    # A forest compares columns one at a time, each by a distance of its own: it has no measure.
    if name == "forest":
        return name, models[name](**options, random_state=seed)
    chosen, _ = choose_measure(measure, rows, weights, seed)
    return name, models[name](chosen, **options, random_state=seed)


def judge_and_fit(
    model: Any, name: str, rows: NamedRows, y: Any, folds: int, seed: int
) -> dict[str, Any]:
    """Cross-validate a model, then fit it to all rows; return facts of the answer.

    A forest also says how well its trees do on the rows each of them has not seen.
    """
    from lookalike.prediction import cross_validate

    judged = None
    try:
        if folds:
            judged = cross_validate(model, rows.table, y, n_splits=folds, random_state=seed)
    except TooFewRows as error:  # the model can still be fitted, and predict
        warnings.warn(LookalikeWarning(error.by("no cross-validation").phrase()), stacklevel=3)
    # Only now: out-of-bag scores of the forests of each fold would be computed for nothing.
    if name == "forest":
        model.set_params(oob_score=True)
    model.fit(rows.table, y)
    # Plain values for the result: the estimator keeps its own forms.
    facts = {"name": rows.name, "method": name, "rows": len(rows.table), "model": model}
    facts |= {"cross_validation": None, "baseline": None, "out_of_bag": None, "importances": []}
    if judged is not None:
        facts["cross_validation"] = {"folds": judged.n_splits, **judged.scores}
        facts["baseline"] = dict(judged.baseline)
    if name == "forest":
        facts["out_of_bag"] = {"accuracy" if hasattr(model, "classes_") else "r2": model.oob_score_}
        shares = zip(model.schema_.kinds, model.feature_importances_.tolist(), strict=True)
        ordered = sorted(shares, key=lambda pair: -pair[1])  # stable: equal ones as in the table
        facts["importances"] = [{"column": column, "share": share} for column, share in ordered]
    return facts


def split_label(
    source: TableSource, label: str, columns: Any, filter: Any
) -> tuple[NamedRows, Any, int]:
    """Return the rows whose label is known, their labels, and how many rows have none."""
    every = source.rows(filter)
    rows, values = every.without_label(label)
    return rows.compared_by(columns), values, len(every.table) - len(rows.table)
