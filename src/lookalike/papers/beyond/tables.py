"""The scores as tables, findings and diagrams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lookalike.papers.beyond import notes
from lookalike.papers.beyond.contenders import EVERYWHERE, MEASURES, MIXED, REPAIRS
from lookalike.papers.beyond.scores import Method, Scores
from lookalike.papers.diagram import draw_diagram, rank_methods
from lookalike.papers.result import Finding, Plot, Result, Sheet, Value

__all__ = ["COMBINATIONS", "WINNERS", "make"]

THREE = ("neighbors", "retrieval", "medoids")  # every repair was put to these
FOUR = (*THREE, "spectral")
AUTO: Method = ("auto", "none")

# What each paper would take, and the combinations that none of them could try.
WINNERS: dict[str, Method] = {
    "SimUSF (order and scale)": ("SimUSF", "none"),
    "MP on Euclidean (hubs)": ("Euclidean", "MP"),
    "RatioRF (forest clustering)": ("RatioRF", "none"),
    "Gower (mixed data)": ("Gower", "none"),
}
COMBINATIONS: dict[str, Method] = {
    "Gower on ranks": ("Gower on ranks", "none"),
    "MP on Gower on ranks": ("Gower on ranks", "MP"),
    "NICDM on Gower on ranks": ("Gower on ranks", "NICDM"),
    "MP on RatioRF": ("RatioRF", "MP"),
    "NICDM on RatioRF": ("RatioRF", "NICDM"),
    "MP on SimUSF": ("SimUSF", "MP"),
    "NICDM on SimUSF": ("SimUSF", "NICDM"),
    "RatioRF on cells": ("RatioRF on cells", "none"),
    "NICDM on RatioRF on cells": ("RatioRF on cells", "NICDM"),
    "NICDM on cosine": ("cosine", "NICDM"),
}


def make(scores: Scores, rows: int, seeds: int) -> Result:
    """Return everything there is to say about the scores."""
    numbers, mixed = scores.sets(sorts=["numbers"]), scores.sets(sorts=["mixed"])
    every = scores.sets()
    sheets = [
        _measures(scores, "numbers", list(MEASURES), numbers, notes.NUMBERS),
        _measures(scores, "mixed", list(MIXED), mixed, notes.MIXED),
        _measures(scores, "all", list(EVERYWHERE), every, notes.EVERY),
        _repairs(scores),
        _duels(scores, numbers),
        _best(scores),
        _auto(scores),
    ]
    sheets[0] = _with_counts(sheets[0], rows, seeds, scores)
    return Result(sheets, _findings(scores), _plots(scores))


def _with_counts(sheet: Sheet, rows: int, seeds: int, scores: Scores) -> Sheet:
    counts = {sort: len(scores.sets(sorts=[sort])) for sort in ("numbers", "mixed", "objects")}
    counted = "one seed" if seeds == 1 else f"{seeds} seeds each"
    about = notes.COUNTS.format(
        rows=rows, seeds=counted, finding=len(scores.sets("finding")), **counts
    )
    return Sheet(sheet.name, sheet.title, sheet.rows, f"{about} {sheet.about}")


def _plain(names: Sequence[str]) -> dict[str, Method]:
    return {name: (name, "none") for name in names}


def _measures(scores: Scores, name: str, measures: list[str], sets: list[str], about: str) -> Sheet:
    methods = _plain([*measures, "auto"])
    rankings = {task: scores.rank(methods, [task], sets) for task in FOUR}
    overall = scores.rank(methods, FOUR, sets)
    rows = []
    for label in overall.ranks:
        row: dict[str, Any] = {"measure": label}
        for task in FOUR:
            score = 100 * scores.mean(methods[label], task, sets)
            row[task] = f"{score:.1f} ({rankings[task].ranks[label]:.1f})"
        row["mean rank"] = Value(overall.ranks[label], digits=2)
        rows.append(row)
    tests = "; ".join(
        f"{task}: Friedman p {one.p:.2g}, critical difference {one.difference:.2f}"
        for task, one in rankings.items()
    )
    title = {
        "numbers": f"Measures alone, {len(sets)} tables of numbers",
        "mixed": f"Measures alone, {len(sets)} tables of mixed columns or with gaps",
        "all": f"Measures that take any column, {len(sets)} sets",
    }[name]
    return Sheet(f"measures-{name}", title, rows, f"{about} {tests}.")


def _repairs(scores: Scores) -> Sheet:
    """Put repairs beside none, over every set and measure."""
    rows = []
    for repair in list(REPAIRS)[1:]:
        row: dict[str, Any] = {"repair": repair}
        for task in FOUR:
            gain, wins, losses = _against_none(scores, repair, task)
            if wins + losses:
                row[task] = f"{100 * gain:+.1f}, {wins} : {losses}".replace("-", "−")
        rows.append(row)
    return Sheet("repairs", "Repairs of hubs, beside none", rows, notes.REPAIRS)


def _against_none(scores: Scores, repair: str, task: str) -> tuple[float, int, int]:
    """Return the mean gain of a repair, and how often it is ahead and behind."""
    ahead = np.array(
        [
            score - scores.by[name, measure, "none", task]
            for (name, measure, one, what), score in scores.by.items()
            if one == repair and what == task
        ]
    )
    gain = float(ahead.mean()) if len(ahead) else 0.0
    return gain, int((ahead > 0.005).sum()), int((ahead < -0.005).sum())


def _duels(scores: Scores, sets: list[str]) -> Sheet:
    """Put combinations beside each paper's winner."""
    rows = []
    for label, method in COMBINATIONS.items():
        row: dict[str, Any] = {"combination": label}
        for winner, other in WINNERS.items():
            row[winner] = "; ".join(
                f"{task} {scores.duel(method, other, task, sets)}"
                for task in ("neighbors", "medoids")
            )
        rows.append(row)
    title = f"Combinations against each paper's winner, {len(sets)} tables of numbers"
    return Sheet("duels", title, rows, notes.DUELS)


def candidates(scores: Scores, sorts: Sequence[str]) -> dict[str, Method]:
    """Return every measure with every repair that can be put to sorts of tables."""
    sets = scores.sets(sorts=sorts)
    return {
        measure if repair == "none" else f"{repair} on {measure}": (measure, repair)
        for measure in MEASURES
        for repair in REPAIRS
        if all(scores.has((measure, repair), task, sets) for task in THREE)
    }


SORTS = {"numbers": ["numbers"], "mixed": ["mixed"], "any": ["numbers", "mixed", "objects"]}


def _best(scores: Scores) -> Sheet:
    """Show the first by the finding half, and where they are on the checking half."""
    rows: list[dict[str, Any]] = []
    for label, sorts in SORTS.items():
        methods = candidates(scores, sorts) | {"auto": AUTO}
        found = scores.rank(methods, THREE, scores.sets("finding", sorts))
        checked = scores.rank(methods, THREE, scores.sets("checking", sorts))
        place = {name: at for at, name in enumerate(checked.ranks, 1)}
        shown = list(found.ranks)[:6]
        for name in [*shown, *(["auto"] if "auto" not in shown else [])]:
            rows.append(
                {
                    "tables and method": f"{label}: {name}",
                    "finding half, mean rank": Value(
                        found.ranks[name], digits=2, chosen=name != "auto"
                    ),
                    "checking half, mean rank": Value(checked.ranks[name], digits=2),
                    "checking half, place": f"{place[name]} of {len(methods)}",
                }
            )
    return Sheet("best", "The best of all combinations", rows, notes.BEST)


def best_of(scores: Scores, sorts: Sequence[str]) -> str:
    """Return the combination that leads on the finding half."""
    found = scores.rank(candidates(scores, sorts), THREE, scores.sets("finding", sorts))
    return next(iter(found.ranks))


def _auto(scores: Scores) -> Sheet:
    """Put the leader of the finding half, and two repairs, beside what "auto" picks today."""
    rows = []
    for label, sorts in SORTS.items():
        methods = candidates(scores, sorts)
        leader = best_of(scores, sorts)
        always = "MP Gauss on Gower on ranks"
        for name in dict.fromkeys((leader, always, "NICDM on Gower on ranks")):
            halves = {half: scores.sets(half, sorts) for half in ("finding", "checking")}
            counts = " and ".join(str(len(sets)) for sets in halves.values())
            row: dict[str, Any] = {"tables and method": f"{label} ({counts} sets): {name}"}
            for half, sets in halves.items():
                for task in THREE:
                    duel = scores.duel(methods[name], AUTO, task, sets)
                    row[f"{task}, {half}"] = str(duel)
            rows.append(row)
    return Sheet("auto", 'Against measure="auto"', rows, notes.AUTO)


def _findings(scores: Scores) -> list[Finding]:
    numbers = scores.sets(sorts=["numbers"])
    found = []
    for task in FOUR:
        one = scores.rank(_plain(list(MEASURES)), [task], numbers)
        best = next(iter(one.ranks))
        beaten = [name for name in one.ranks if one.apart(best, name)]
        found.append(
            Finding(
                f"the measures differ by more than chance: {task}",
                one.p < 0.05,
                f"Friedman p {one.p:.2g}; best {best}, told apart from "
                + (", ".join(beaten) or "none"),
                notes.NO_DIFFERENCE,
                headline=task in ("neighbors", "retrieval"),
            )
        )
    found += _of_repairs(scores)
    for winner, other in WINNERS.items():
        ahead = []
        for label, method in COMBINATIONS.items():
            duels = [scores.duel(method, other, task, numbers) for task in THREE]
            if all(duel.gain > 0 for duel in duels) and min(duel.p for duel in duels) < 0.05:
                ahead.append(label)
        found.append(
            Finding(
                f"a combination beats {winner} on tables of numbers: on average for neighbors, "
                "retrieval and medoids, and beyond chance in one of them",
                bool(ahead),
                ", ".join(ahead) or "none of " + ", ".join(COMBINATIONS),
            )
        )
    for label, sorts in SORTS.items():
        leader = best_of(scores, sorts)
        methods = candidates(scores, sorts)
        checking = scores.sets("checking", sorts)
        fought = {task: scores.duel(methods[leader], AUTO, task, checking) for task in THREE}
        found.append(
            Finding(
                f'the leader of the finding half beats measure="auto" on the checking half: '
                f"{label} tables",
                all(duel.gain > 0 for duel in fought.values())
                and any(duel.p < 0.05 for duel in fought.values()),
                f"{leader}: "
                + "; ".join(f"{task} {duel}" for task, duel in fought.items())
                + f" ({len(checking)} sets)",
                notes.NOT_CONFIRMED,
            )
        )
    return found


def _of_repairs(scores: Scores) -> list[Finding]:
    by = {
        (repair, task): _against_none(scores, repair, task)
        for repair in ("MP", "NICDM", "CSLS")
        for task in THREE
    }

    def told(repair: str) -> str:
        parts = (f"{task} {by[repair, task][1]} : {by[repair, task][2]}" for task in THREE)
        return f"{repair}: " + ", ".join(parts)

    return [
        Finding(
            "mutual proximity helps neighbors, retrieval and medoids more often than it hurts, "
            "over all sets and measures",
            all(by["MP", task][1] > by["MP", task][2] for task in THREE),
            told("MP"),
            headline=True,
        ),
        Finding(
            "NICDM and CSLS help neighbors more than mutual proximity does, and hurt clusters",
            all(
                by[one, "neighbors"][0] > by["MP", "neighbors"][0] and by[one, "medoids"][0] < 0
                for one in ("NICDM", "CSLS")
            ),
            "; ".join(
                f"{one}: neighbors {100 * by[one, 'neighbors'][0]:+.1f}, medoids "
                f"{100 * by[one, 'medoids'][0]:+.1f}"
                for one in ("MP", "NICDM", "CSLS")
            ),
            headline=True,
        ),
    ]


def _plots(scores: Scores) -> list[Plot]:
    numbers = scores.sets(sorts=["numbers"])

    def measures(figure: Any) -> None:
        grid = figure.subplots(4, 1)  # one below the other: a page is 700 pixels wide
        for axes, task in zip(grid, FOUR, strict=True):
            draw_diagram(axes, scores.rank(_plain([*MEASURES, "auto"]), [task], numbers), task)

    def combinations(task: str) -> Callable[[Any], None]:
        def draw(figure: Any) -> None:
            ranking = scores.rank(WINNERS | COMBINATIONS, [task], numbers)
            draw_diagram(figure.add_subplot(), ranking, task)

        return draw

    def repairs(figure: Any) -> None:
        grid = figure.subplots(3, 1)
        for axes, task in zip(grid, THREE, strict=True):
            means = {
                repair: [
                    float(np.mean([scores.by[name, one, repair, task] for one in MEASURES]))
                    for name in numbers
                ]
                for repair in REPAIRS
            }
            draw_diagram(axes, rank_methods(means), task)

    return [
        Plot(
            "measures",
            "Critical-difference diagrams of the measures alone, four tasks",
            measures,
            (8.0, 11.0),
        ),
        Plot(
            "repairs",
            "Critical-difference diagrams of the repairs, scores averaged over measures",
            repairs,
            (8.0, 7.0),
        ),
        *(
            Plot(
                f"combinations-{task}",
                f"Critical-difference diagram of the papers' winners and the combinations, {task}",
                combinations(task),
                (8.4, 3.1),
            )
            for task in THREE
        ),
    ]
