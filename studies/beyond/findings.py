"""Findings from the scores, each with the values that support it."""

from __future__ import annotations

from studies.beyond import notes
from studies.beyond.contenders import MEASURES
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
from studies.beyond.scores import Scores, beats
from studies.result import Finding


def make_findings(scores: Scores) -> list[Finding]:
    """Return the answers, those that are no as well."""
    numbers = scores.sets(sorts=["numbers"])
    found = []
    for task in FOUR:
        one = scores.rank(plain(list(MEASURES)), [task], numbers)
        best = next(iter(one.ranks))
        beaten = [name for name in one.ranks if one.apart(best, name)]
        found.append(
            Finding(
                f"the measures differ by more than chance: {task}",
                one.p < 0.05,
                f"Friedman p {one.p:.2g}; best {best}, significantly different from "
                + (", ".join(beaten) or "none"),
                notes.NO_DIFFERENCE,
                headline=task in ("neighbors", "retrieval"),
            )
        )
    found += _of_reducers(scores)
    found += [one for sort in TABLES for one in _of_duels(scores, sort)]
    for label, sorts in SORTS.items():
        leader = best_of(scores, sorts)
        methods = candidates(scores, sorts)
        checking = scores.sets("validation", sorts)
        fought = {task: scores.duel(methods[leader], AUTO, task, checking) for task in THREE}
        found.append(
            Finding(
                f'the best on the selection half beats measure="auto" on the validation half: '
                f"{label} tables",
                beats(fought.values()),
                f"{leader}: "
                + "; ".join(f"{task} {duel}" for task, duel in fought.items())
                + f" ({len(checking)} sets)",
                notes.NOT_CONFIRMED,
            )
        )
    return found


def _of_duels(scores: Scores, sort: str) -> list[Finding]:
    sets = scores.sets(sorts=[sort])
    combinations, winners = duelists(scores, sort)
    found = []
    for winner, other in winners.items():
        ahead = [
            label
            for label, method in combinations.items()
            if beats([scores.duel(method, other, task, sets) for task in THREE])
        ]
        found.append(
            Finding(
                f"a combination beats {winner} on {TABLES[sort]}: on average for neighbors, "
                "retrieval and medoids, and beyond chance in one of them",
                bool(ahead),
                ", ".join(ahead) or "none of " + ", ".join(combinations),
            )
        )
    return found


def _of_reducers(scores: Scores) -> list[Finding]:
    by = {
        (reducer, task): against_none(scores, reducer, task)
        for reducer in ("MP", "NICDM", "CSLS")
        for task in THREE
    }

    def gains(reducer: str) -> str:
        parts = (f"{task} {by[reducer, task][1]} : {by[reducer, task][2]}" for task in THREE)
        return f"{reducer}: " + ", ".join(parts)

    return [
        Finding(
            "mutual proximity improves neighbors, retrieval and medoids more often than not, "
            "over all sets and measures",
            all(by["MP", task][1] > by["MP", task][2] for task in THREE),
            gains("MP"),
            headline=True,
        ),
        Finding(
            "NICDM and CSLS improve neighbors more than mutual proximity, but make clusters worse",
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
