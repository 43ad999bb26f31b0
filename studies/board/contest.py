"""One loop for every task of the board: tables, contenders, a score, then ranks and differences."""

from __future__ import annotations

import inspect
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from studies.board import split
from studies.board.split import Entry, digest, entries
from studies.diagram import Ranking, draw_diagram, rank_methods
from studies.recipes import MissingSet
from studies.result import Finding, Plot, Result, Sheet, Value
from studies.work import Work

HALVES = {True: "reported", False: "tuned on"}
Score = Callable[[Any], float]


@dataclass(frozen=True)
class Contender:
    """A method: ``score`` takes a prepared table; ``needs`` is a package it cannot do without."""

    score: Score
    ours: bool = False
    needs: str | None = None


@dataclass(frozen=True)
class Contest:
    """A task of the board.

    Parameters
    ----------
    name, title, about : str
    tables : str, the list of ``tables.json``
    prepare : function of an entry, the data folder and the most rows
    contenders : mapping of name to contender, the default of the library first
    quick : int, how many tables of the reported half a quick run scores
    """

    name: str
    title: str
    about: str
    tables: str
    prepare: Callable[[Entry, Path, int], Any]
    contenders: Mapping[str, Contender]
    quick: int

    @property
    def source(self) -> str:
        """What results depend on: methods, preparation and tables; a change invalidates them."""
        names = {getattr(c.score, "func", c.score).__module__ for c in self.contenders.values()}
        modules = sorted(names | {self.prepare.__module__, split.__name__})
        texts = [inspect.getsource(sys.modules[name]) for name in modules]
        return "".join([*texts, split.LIST.read_text("utf-8")])


@dataclass(frozen=True)
class Scores:
    """Scores of the contenders that could be run, on the tables on which all of them have one."""

    entries: Sequence[Entry]
    values: Mapping[str, np.ndarray]  # contender -> score of each table
    seconds: Mapping[str, float]

    def half(self, reports: bool) -> Scores:
        """Return the scores of one half."""
        kept = np.array([entry.reports == reports for entry in self.entries], dtype=bool)
        chosen = [entry for entry in self.entries if entry.reports == reports]
        return Scores(chosen, {n: v[kept] for n, v in self.values.items()}, self.seconds)


def run_contest(contest: Contest, work: Work) -> Result:
    """Score every contender on every table, and rank them on the half that is reported."""
    scores = collect(contest, work)
    shown = {half: scores.half(half) for half in HALVES}
    if len(shown[True].entries) < 2:
        return Result()
    ranking = rank_methods({n: v.tolist() for n, v in shown[True].values.items()})
    sheets = [_means(contest, half, one) for half, one in shown.items() if len(one.entries) > 1]
    sheets += [_versus(contest, shown[True]), _tables(contest, scores)]

    def draw(figure: Any) -> None:
        draw_diagram(figure.add_subplot(), ranking, f"{contest.title}: mean ranks")

    text = f"Mean ranks of the contenders on {ranking.n_sets} tables, best at the left."
    plot = Plot(contest.name, text, draw, (8.0, 0.9 + 0.35 * len(ranking.ranks)))
    return Result(sheets, _findings(contest, shown[True], ranking), [plot])


def collect(contest: Contest, work: Work) -> Scores:
    """Return the scores, each computed once and kept from run to run."""
    kept = work.shared(f"board-{contest.name}", contest.source)
    most = work.times(quick=400, default=1000, full=3000)
    listed = sorted(entries(contest.tables), key=lambda entry: digest(entry.name))
    if work.effort == "quick":
        listed = [entry for entry in listed if entry.reports][: contest.quick]
    able = {}
    for name, one in contest.contenders.items():
        if one.needs is None or find_spec(one.needs) is not None:
            able[name] = one.score
        else:
            work.missing[name] = f"package {one.needs} is not installed"
    rows = []
    for entry in work.each(contest.title, listed):
        # Prepared only if a score is not known yet.
        prepare = cache(partial(contest.prepare, entry, work.data, most))
        found = {
            name: kept.once(f"{entry.name}/{name}/{most}", partial(attempt, prepare, score))
            for name, score in able.items()
        }
        failed = {name: one["error"] for name, one in found.items() if one["error"]}
        if failed:
            work.missing[entry.name] = "; ".join(f"{n}: {why}" for n, why in failed.items())
        else:
            rows.append((entry, found))
    return Scores(
        [entry for entry, _ in rows],
        {name: np.array([found[name]["score"] for _, found in rows]) for name in able},
        {name: float(sum(found[name]["seconds"] for _, found in rows)) for name in able},
    )


def attempt(prepare: Callable[[], Any], score: Score) -> dict[str, Any]:
    """Return a score with its CPU seconds, or the error that left none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            prepared = prepare()
            started = time.process_time()
            # One thread each: threads that wait for each other on a busy machine burn CPU time.
            with threadpool_limits(1):
                value: float | None = float(score(prepared))
        except MissingSet as error:
            return {"score": None, "seconds": 0.0, "error": error.reason}
        except Exception as error:  # a rival may fail in any way: the table is then named, with why
            text = f"{type(error).__name__}: {error}".splitlines()[0][:120]
            return {"score": None, "seconds": 0.0, "error": text}
    return {"score": value, "seconds": time.process_time() - started, "error": ""}


# -- sheets ----------------------------------------------------------------------------------------


def _means(contest: Contest, half: bool, scores: Scores) -> Sheet:
    ranks = rank_methods({n: v.tolist() for n, v in scores.values.items()}).ranks
    best = np.max(list(scores.values.values()), axis=0)
    least = min(scores.seconds.values()) or 1.0
    rows: list[dict[str, Any]] = [
        {
            "contender": name,
            "ours": "yes" if contest.contenders[name].ours else "",
            "mean": Value(100 * float(scores.values[name].mean()), digits=1),
            "mean rank": Value(rank, digits=2),
            "best on": int((scores.values[name] >= best - 1e-12).sum()),
            "CPU time": f"{scores.seconds[name] / least:.1f}",
        }
        for name, rank in ranks.items()
    ]
    about = (
        f"{contest.about} Scores times 100, mean over {len(scores.entries)} tables; CPU time as a "
        "multiple of the fastest, compilation left in."
    )
    return Sheet(f"{contest.name}-{half}", f"{contest.title}, half {HALVES[half]}", rows, about)


def _versus(contest: Contest, scores: Scores) -> Sheet:
    first = next(iter(scores.values))
    rows: list[dict[str, Any]] = []
    for name, values in scores.values.items():
        if name != first:
            gap = np.round(scores.values[first] - values, 12)
            error = gap.std(ddof=1) / np.sqrt(len(gap))
            rows.append(
                {
                    "against": name,
                    "difference": f"{100 * gap.mean():+.1f} ±{100 * error:.1f}",
                    "wins": int((gap > 0).sum()),
                    "losses": int((gap < 0).sum()),
                }
            )
    about = f"{first} less the other, times 100: mean over tables and its standard error."
    return Sheet(f"{contest.name}-versus", f"{contest.title}, {first} against each", rows, about)


def _tables(contest: Contest, scores: Scores) -> Sheet:
    rows: list[dict[str, Any]] = [
        {"table": entry.name, "half": HALVES[entry.reports]}
        | {name: Value(100 * float(v[at]), digits=1) for name, v in scores.values.items()}
        for at, entry in enumerate(scores.entries)
    ]
    return Sheet(f"{contest.name}-tables", f"{contest.title}, every table", rows)


def _findings(contest: Contest, scores: Scores, ranking: Ranking) -> list[Finding]:
    """Say whether the best of ours is at least as good as the best rival, by mean and by rank."""
    ours = [name for name in scores.values if contest.contenders[name].ours]
    rivals = [name for name in scores.values if name not in ours]
    means = {name: 100 * float(values.mean()) for name, values in scores.values.items()}
    found = []
    for name in ours:
        rival = max(rivals, key=means.__getitem__)
        found.append(
            Finding(
                f"{contest.title}: {name} has no lower mean than the best rival",
                means[name] >= means[rival],
                f"{means[name]:.1f}, {rival} {means[rival]:.1f}",
                headline=name == ours[0],
            )
        )
    best = min(rivals, key=ranking.ranks.__getitem__)
    first = ours[0]
    apart = "beyond" if ranking.apart(first, best) else "within"
    values = (
        f"{ranking.ranks[first]:.2f}, {best} {ranking.ranks[best]:.2f}: {apart} the critical "
        f"difference of {ranking.difference:.2f}; Friedman's test p = {ranking.p:.2g}"
    )
    says = f"{contest.title}: {first} has no worse mean rank than the best rival"
    found.append(Finding(says, ranking.ranks[first] <= ranking.ranks[best], values))
    return found
