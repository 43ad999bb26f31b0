"""The scores as tables."""

from __future__ import annotations

from typing import Any

from studies.beyond import notes
from studies.beyond.contenders import EVERYWHERE, MEASURES, MIXED, REDUCERS
from studies.beyond.questions import (
    AUTO,
    FOUR,
    SORTS,
    TABLES,
    THREE,
    against_none,
    best_of,
    candidates,
    duelists,
    plain,
)
from studies.beyond.scores import Scores
from studies.result import Sheet, Value


def make_sheets(scores: Scores, rows: int, seeds: int) -> list[Sheet]:
    """Return every table there is to make of the scores."""
    numbers, mixed = scores.sets(sorts=["numbers"]), scores.sets(sorts=["mixed"])
    first = _measures(scores, "numbers", list(MEASURES), numbers, notes.NUMBERS)
    return [
        _with_counts(first, rows, seeds, scores),
        _measures(scores, "mixed", list(MIXED), mixed, notes.MIXED),
        _measures(scores, "all", list(EVERYWHERE), scores.sets(), notes.EVERY),
        _reducers(scores),
        _duels(scores, "numbers"),
        _duels(scores, "mixed"),
        _best(scores),
        _auto(scores),
    ]


def _with_counts(sheet: Sheet, rows: int, seeds: int, scores: Scores) -> Sheet:
    counts = {sort: len(scores.sets(sorts=[sort])) for sort in ("numbers", "mixed", "objects")}
    counted = "one seed" if seeds == 1 else f"{seeds} seeds each"
    about = notes.COUNTS.format(
        rows=rows, seeds=counted, selection=len(scores.sets("selection")), **counts
    )
    return Sheet(sheet.name, sheet.title, sheet.rows, f"{about} {sheet.about}")


def _measures(scores: Scores, name: str, measures: list[str], sets: list[str], about: str) -> Sheet:
    methods = plain([*measures, "auto"])
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
    title = (
        f"Measures alone, {len(sets)} {TABLES[name]}"
        if name in TABLES
        else f"Measures that support any column, {len(sets)} sets"
    )
    return Sheet(f"measures-{name}", title, rows, f"{about} {tests}.")


def _reducers(scores: Scores) -> Sheet:
    """Put reducers beside none, over every set and measure."""
    rows = []
    for reducer in list(REDUCERS)[1:]:
        row: dict[str, Any] = {"reducer": reducer}
        for task in FOUR:
            gain, wins, losses = against_none(scores, reducer, task)
            if wins + losses:
                row[task] = f"{100 * gain:+.1f}, {wins} : {losses}".replace("-", "−")
        rows.append(row)
    return Sheet("reducers", "Hubness reducers, compared with none", rows, notes.REDUCERS)


def _duels(scores: Scores, sort: str) -> Sheet:
    """Put combinations beside each paper's winner."""
    sets = scores.sets(sorts=[sort])
    combinations, winners = duelists(scores, sort)
    rows = []
    for label, method in combinations.items():
        row: dict[str, Any] = {"combination": label}
        for winner, other in winners.items():
            row[winner] = "; ".join(
                f"{task} {scores.duel(method, other, task, sets)}" for task in THREE
            )
        rows.append(row)
    title = f"Combinations against the recommendation of each paper, {len(sets)} {TABLES[sort]}"
    asked = len(combinations) * len(winners) * len(THREE)
    about = notes.DUELS.format(asked=asked, chance=round(0.05 * asked))
    return Sheet(f"duels-{sort}", title, rows, about)


def _best(scores: Scores) -> Sheet:
    """Show the first by the selection half, and where they are on the validation half."""
    rows: list[dict[str, Any]] = []
    for label, sorts in SORTS.items():
        methods = candidates(scores, sorts) | {"auto": AUTO}
        found = scores.rank(methods, THREE, scores.sets("selection", sorts))
        checked = scores.rank(methods, THREE, scores.sets("validation", sorts))
        place = {name: at for at, name in enumerate(checked.ranks, 1)}
        shown = list(found.ranks)[:6]
        for name in [*shown, *(["auto"] if "auto" not in shown else [])]:
            rows.append(
                {
                    "tables and method": f"{label}: {name}",
                    "selection half, mean rank": Value(
                        found.ranks[name], digits=2, chosen=name != "auto"
                    ),
                    "validation half, mean rank": Value(checked.ranks[name], digits=2),
                    "validation half, rank": f"{place[name]} of {len(methods)}",
                }
            )
    return Sheet("best", "The best of all combinations", rows, notes.BEST)


def _auto(scores: Scores) -> Sheet:
    """Put the leader of the selection half, and two reducers, beside what "auto" picks today."""
    rows = []
    for label, sorts in SORTS.items():
        methods = candidates(scores, sorts)
        leader = best_of(scores, sorts)
        always = "MP Gauss on Gower on ranks"
        for name in dict.fromkeys((leader, always, "NICDM on Gower on ranks")):
            halves = {half: scores.sets(half, sorts) for half in ("selection", "validation")}
            counts = " and ".join(str(len(sets)) for sets in halves.values())
            row: dict[str, Any] = {"tables and method": f"{label} ({counts} sets): {name}"}
            for half, sets in halves.items():
                for task in THREE:
                    duel = scores.duel(methods[name], AUTO, task, sets)
                    row[f"{task}, {half}"] = str(duel)
            rows.append(row)
    return Sheet("auto", 'Against measure="auto"', rows, notes.AUTO)
