"""A rule for "auto": mutual proximity wherever lists are uneven, not only where there are hubs.

How uneven is too uneven is fixed on the selection half, and checked twice: on the validation half,
and on tables of everyday life that have no part in any of the papers.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from lookalike.hubness import MutualProximity, k_occurrence, skewness
from lookalike.measures import Gower, Measure
from lookalike.table import Table
from studies.beyond import combinations, notes
from studies.beyond.contenders import precision
from studies.beyond.former import HUB_NEIGHBORS, MIN_ROWS_FOR_HUBS, choose_former
from studies.beyond.questions import AUTO, THREE
from studies.beyond.scores import Duel, Scores, beats, duel_of
from studies.beyond.sets import load_set
from studies.result import Finding, Result, Sheet
from studies.scales import check_extra, holds_numbers, score, validation_tables
from studies.work import Work, source_of

# Of skewness: from always reducing to the limit by which the paper divides its sets (1.4).
LIMITS = (-np.inf, 0.2, 0.4, 0.5, 0.6, 0.8, 1.0, 1.4)
PLAIN, REPAIRED = ("Gower on ranks", "none"), ("Gower on ranks", "MP")
TWO = THREE[:2]  # everyday tables have targets, not all of them groups


def run(work: Work) -> Result:
    """Fix the limit on one half of the sets, and check it on the other and on everyday tables."""
    check_extra()
    rows, seeds = combinations.sizes(work)
    memory = work.shared("beyond-combinations", source_of(combinations))
    scores = combinations.collect(memory, rows, seeds)
    uneven = {
        name: work.once(f"{name}/{rows}", partial(_unevenness_of_set, work, name, rows))
        for name in work.each("sets", scores.sets())
    }
    most = work.times(quick=300, default=1500, full=2000)
    everyday = [
        work.once(f"everyday {name}/{most}", partial(score_everyday, table, y))
        for name, table, y in work.each("everyday tables", validation_tables(most))
    ]
    found = {
        limit: {
            half: _on_sets(scores, uneven, scores.sets(half), limit)
            for half in ("selection", "validation")
        }
        | {"everyday": _on_tables(everyday, limit)}
        for limit in LIMITS
    }
    limit = best_limit({limit: duels["selection"] for limit, duels in found.items()})
    return Result([_sheet(found, limit, len(everyday), most)], _findings(found[limit], limit))


def best_limit(found: dict[float, dict[str, Duel]]) -> float:
    """Return the limit that gains most for lists, of those by which clusters do not lose."""
    # Lists decide, clusters may veto: a default that helps search must not harm clustering.
    allowed = [limit for limit, duels in found.items() if duels["medoids"].gain >= 0]
    return max(allowed or found, key=lambda limit: sum(found[limit][task].gain for task in TWO))


def _unevenness(measure: Measure, table: Table) -> float | None:
    # Skewness of so few counts is noise, and "auto" does not look for hubs there either.
    if len(table) < MIN_ROWS_FOR_HUBS:
        return None
    return skewness(k_occurrence(clone(measure).fit(table), HUB_NEIGHBORS, ties="expected"))


def _unevenness_of_set(work: Work, name: str, rows: int) -> float | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = load_set(work.data, name, rows).table
        return _unevenness(Gower(scale="rank", undefined=0.0), table)


def score_everyday(table: Table, y: np.ndarray) -> dict[str, Any]:
    """Return how uneven the lists are, and the scores of "auto", without and with the reducer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chosen = choose_former(table)
        # The measure without its reducer, so that the three ways differ in the reducer alone.
        bare: Any = chosen.measure if isinstance(chosen, MutualProximity) else chosen
        if "undefined" in bare.get_params():
            bare.set_params(undefined=0.0)
        ways = {"auto": chosen, "none": bare, "MP": MutualProximity(bare)}
        return {"uneven": _unevenness(bare, table)} | {
            way: _scores(measure, table, y) for way, measure in ways.items()
        }


def _scores(measure: Measure, table: Table, y: np.ndarray) -> dict[str, float]:
    found = {"neighbors": score(table, y, clone(measure)) / 100}
    if not holds_numbers(y):
        codes = np.unique(y.astype(str), return_inverse=True)[1]
        found["retrieval"] = precision(clone(measure).fit(table), codes)
    return found


def _reducers(uneven: float | None, limit: float) -> bool:
    return uneven is not None and uneven > limit


def _on_sets(
    scores: Scores, uneven: dict[str, float | None], names: list[str], limit: float
) -> dict[str, Duel]:
    """Put the rule beside "auto" on some sets."""
    return {
        task: duel_of(
            [
                scores.by[name, *(REPAIRED if _reducers(uneven[name], limit) else PLAIN), task]
                - scores.by[name, *AUTO, task]
                for name in names
            ]
        )
        for task in THREE
    }


def _on_tables(everyday: list[dict[str, Any]], limit: float) -> dict[str, Duel]:
    """Put the rule beside "auto" on everyday tables."""
    return {
        task: duel_of(
            [
                one["MP" if _reducers(one["uneven"], limit) else "none"][task] - one["auto"][task]
                for one in everyday
                if task in one["auto"]
            ]
        )
        for task in TWO
    }


def _words(limit: float) -> str:
    return "always" if np.isinf(limit) else f"above {limit:g}"


def _sheet(
    found: dict[float, dict[str, dict[str, Duel]]], best: float, n_tables: int, most: int
) -> Sheet:
    rows = []
    for limit, groups in found.items():
        row: dict[str, Any] = {"reduced": _words(limit) + (" †" if limit == best else "")}
        for group, duels in groups.items():
            row |= {f"{task}, {group}": str(duel) for task, duel in duels.items()}
        rows.append(row)
    about = notes.RULE.format(tables=n_tables, rows=most)
    return Sheet("rule", "Mutual proximity above a threshold of hubness", rows, about)


def _findings(groups: dict[str, dict[str, Duel]], limit: float) -> list[Finding]:
    rule = f'mutual proximity where the skewness is {_words(limit)} beats measure="auto"'
    where = {
        "validation": "on the validation half",
        "everyday": "on everyday tables, which were not used for the choice",
    }
    return [
        Finding(
            f"{rule} {place}",
            beats(groups[group].values()),
            "; ".join(f"{task} {duel}" for task, duel in groups[group].items())
            + f" ({max(duel.n_sets for duel in groups[group].values())} tables)",
            notes.RULE_STAYS,
        )
        for group, place in where.items()
    ]
