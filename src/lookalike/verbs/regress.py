"""A numeric column, learned from rows where it is known."""

from dataclasses import dataclass
from statistics import median

from lookalike._runtime.text import short
from lookalike.errors import InvalidInput, Param, Phrase
from lookalike.show import layout
from lookalike.show.result import Console
from lookalike.verbs import annotations as args
from lookalike.verbs.learning import NO_BETTER, Learned, judge_and_fit, make_model, split_label
from lookalike.verbs.source import as_source

HEADING, RANK = "Learn from it", 70
EXAMPLES = (
    "lookalike regress penguins.csv --label body_mass_g",
    "lookalike regress penguins.csv --label body_mass_g --method neighbors --measure gower",
)


@dataclass(frozen=True)
class Regressed(Learned):
    """What ``regress`` learned.

    Parameters
    ----------
    median : float
        Of the label.
    """

    median: float = 0.0
    FACTS = ("label", "method", "rows", "rows_left_out", "median", "baseline")
    COLUMNS = ("row", "predicted")

    def render_scores(self, console: Console) -> None:
        """Print how far predictions are off, beside always saying the median."""
        layout.headline(console, f"{self.name}: {self.label!r} from {self.rows:,} rows")
        judged, bag, guess = self.cross_validation, self.out_of_bag, self.baseline
        if judged is not None and guess is not None:
            off, by_median = judged["mean_absolute_error"], guess["mean_absolute_error"]
            # Thousands are set apart from five digits on, so those of a year are not.
            far = abs(self.median) >= 10_000
            middle = f"{self.median:,.0f}" if far else short(self.median)
            text = f"{judged['folds']}-fold cross-validation: off by {amount(off)} on average "
            text += f"(mean absolute error), R2 {judged['r2']:.3f}; always saying the median, "
            layout.say(console, f"{text}{middle}, is off by {amount(by_median)}", "")
            if off >= by_median:
                layout.say(console, NO_BETTER, "yellow")
        # NaN, unequal to itself, where no row was out of bag.
        if bag is not None and bag["r2"] == bag["r2"]:
            layout.say(console, f"out-of-bag R2: {bag['r2']:.3f}", "")


def regress(
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
) -> Regressed:
    """Learn a number from columns of any kind, say how well that goes, and predict new rows.

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
    Regressed

    Examples
    --------
    >>> import lookalike as la
    >>> known, method = "body_mass_g!=", "neighbors:k=5"
    >>> penguins = la.datasets.load_penguins()
    >>> found = la.regress(penguins, "body_mass_g", filter=known, method=method)
    >>> found.cross_validation["r2"] > 0.8
    True
    """
    import numpy as np

    source = as_source(table)
    rows, target, left_out = split_label(source, label, columns, filter)
    numbers = np.asarray(target)
    if numbers.dtype.kind not in "iuf":
        found, hint = f"words, such as {short(numbers[0])!r}", "Use classify for classes"
        raise InvalidInput(Param("label", label), "a column of numbers", found, hint)
    numbers = numbers.astype(np.float64)
    name, model = make_model("Regressor", method, rows, measure, weights, seed)
    # The baseline is scored on the folds, and is None without them.
    learned = judge_and_fit(model, name, rows, numbers, folds, seed)
    predictions = None
    if predict is not None:
        new = source.read_like(predict, rows.table.schema, Phrase(Param("predict", of="regress")))
        values = model.predict(new).tolist()
        predictions = [{"row": row, "predicted": value} for row, value in enumerate(values)]
    about = {"predictions": predictions, "median": median(numbers.tolist())}
    return Regressed(label=label, rows_left_out=left_out, **learned, **about)


def amount(number: float) -> str:
    """Write how far predictions are off: three digits, and no powers of ten where there are more.

    Examples
    --------
    >>> amount(1.64748), amount(12345.6)
    ('1.65', '12,346')
    """
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.3g}"
