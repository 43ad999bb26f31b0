"""Classes of rows, learned from rows whose class is known."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from lookalike._runtime.text import short
from lookalike.errors import InvalidInput, Param, Phrase
from lookalike.show import layout
from lookalike.show.result import Console
from lookalike.verbs import annotations as args
from lookalike.verbs.learning import NO_BETTER, Learned, judge_and_fit, make_model, split_label
from lookalike.verbs.source import as_source

HEADING, RANK = "Learn from it", 60
EXAMPLES = (
    "lookalike classify penguins.csv --label species",
    "lookalike classify penguins.csv --label species --method neighbors:k=5",
    "lookalike classify penguins.csv --label species --predict new.csv --output csv",
)
MAX_NUMERIC_CLASSES = 20  # more different numbers look like amounts; chosen by hand


@dataclass(frozen=True)
class Classified(Learned):
    """What ``classify`` learned.

    Parameters
    ----------
    classes : list
    """

    classes: list[Any] = field(default_factory=list)
    FACTS = ("label", "method", "classes", "rows", "rows_left_out", "baseline")
    COLUMNS = ("row", "predicted", "share")

    def render_scores(self, console: Console) -> None:
        """Print the classes and how often they are right, beside always the commonest one."""
        start = f"{self.name}: {self.label!r} from {self.rows:,} rows"
        head = f"{start}: {', '.join(short(name) for name in self.classes)}"
        if len(head) > console.width:  # many classes, or long names
            head = f"{start}, {len(self.classes)} classes"
        layout.headline(console, head)
        guess = self.baseline or {}
        always = f"always saying {short(guess['class'])!r} is right for {guess['accuracy']:.1%}"
        judged, bag = self.cross_validation, self.out_of_bag
        if judged is not None:
            text = f"{judged['folds']}-fold cross-validation: {judged['accuracy']:.1%} right, area "
            layout.say(console, f"{text}under the curve {judged['auc']:.3f}; {always}", "")
            if judged["accuracy"] <= guess["accuracy"]:
                layout.say(console, NO_BETTER, "yellow")
        # NaN, unequal to itself, where no row was out of bag.
        if bag is not None and bag["accuracy"] == bag["accuracy"]:
            more = "" if judged is not None else f"; {always}"
            layout.say(console, f"out-of-bag accuracy: {bag['accuracy']:.1%}{more}", "")
        elif judged is None:
            layout.say(console, always, "")


def classify(
    table: args.TableLike,
    label: args.Target,
    *,
    predict: args.NewRows = None,
    method: args.Method = "forest",
    measure: args.MeasureLike = None,
    weights: args.Weights = None,
    folds: args.Folds = 5,
    columns: args.Columns = None,
    filter: args.Filter = None,
    seed: args.Seed = 0,
) -> Classified:
    """Learn classes from columns of any kind, say how well that goes, and predict new rows.

    Parameters
    ----------
    table : path, frame, dict of columns, Table or Index
    label : name of a column
        The column to predict.
    predict : path, frame, dict of columns or Table, optional
        A table of rows to predict, with the same columns; the label may be among them.
    method : str
        forest: a random similarity forest (forest:trees=200, or
        'forest:distances={"name": "jaro_winkler"}' for how it compares the cells of a column);
        neighbors: the rows most alike (neighbors:k=5; k=tune by cross-validation; 10 unless given).
    measure : str or Measure, optional
        For neighbors: how rows are compared. None: the measure of an index, "auto" for a table.
    weights : mapping of column to number, optional
        For neighbors: how much columns matter.
    folds : int
        Folds of the cross-validation; 0: none.
    columns : names, optional
        Compare by these columns only.
    filter : conditions, optional
        Which rows are learned from; see ``search``.
    seed : int

    Returns
    -------
    Classified

    Examples
    --------
    >>> import lookalike as la
    >>> found = la.classify(la.datasets.load_penguins(), "species", method="neighbors:k=5")
    >>> found.classes, found.cross_validation["accuracy"] > 0.95
    (['Adelie', 'Chinstrap', 'Gentoo'], True)
    """
    from lookalike.table.model.targets import keep_repeated

    source = as_source(table)
    rows, classes, left_out = split_label(source, label, columns, filter)
    check_classes(label, classes)
    # A class of a single row cannot be learned and held out as well.
    kept = keep_repeated(classes)
    rows, classes = rows.take(kept.nonzero()[0]), classes[kept]
    left_out += int((~kept).sum())
    name, model = make_model("Classifier", method, rows, measure, weights, seed)
    learned = judge_and_fit(model, name, rows, classes, folds, seed)
    ((commonest, count),) = Counter(classes.tolist()).most_common(1)
    predictions = None
    if predict is not None:
        new = source.read_like(predict, rows.table.schema, Phrase(Param("predict", of="classify")))
        shares = model.predict_proba(new)
        # The class of the largest share; of several, the first, as scikit-learn does.
        found = zip(model.classes_[shares.argmax(axis=1)].tolist(), shares.max(axis=1), strict=True)
        predictions = [
            {"row": row, "predicted": one, "share": float(share)}
            for row, (one, share) in enumerate(found)
        ]
    guess = {"class": commonest, "accuracy": count / len(rows.table)}
    about = {"baseline": guess, "predictions": predictions, "classes": model.classes_.tolist()}
    return Classified(label=label, rows_left_out=left_out, **(learned | about))


def check_classes(label: str, values: Any) -> None:
    """Refuse numbers that look like amounts, such as a class for each price, and sets."""
    import numpy as np

    from lookalike.table.model.targets import holds_classes

    kinds = Param("kinds", {label: "category"})
    if isinstance(values, list):
        found, hint = "sets, so a row may have several", ("Use ", kinds, " if each is a class")
        raise InvalidInput(Param("label", label), "one class per row", found, hint)
    numbers = np.asarray(values)
    if numbers.dtype.kind not in "iuf":
        return
    distinct = len(np.unique(numbers))
    # Few integers are classes, as in a column of stars or of years of school.
    if distinct <= MAX_NUMERIC_CLASSES and holds_classes(numbers):
        return
    found = f"{distinct:,} different numbers, which look like amounts"
    hint = ("Use regress, or ", kinds, " if each number is a class")
    raise InvalidInput(Param("label", label), "classes", found, hint)
