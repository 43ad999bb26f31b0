"""The two collections of texts: which words are kept, and what a word counts."""

from __future__ import annotations

import itertools
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lookalike.evaluate import loo_accuracy
from lookalike.hubness import k_occurrence, skewness
from studies.data import load_frame
from studies.hubs.notes import TEXTS_ABOUT, TEXTS_CAUSE, WORDS_ABOUT
from studies.hubs.published import SETS, SPACES
from studies.hubs.sets import SOURCES, bodies, files_of, frequencies, weigh_words
from studies.hubs.spaces import distances_of, scaled, without_tied_votes
from studies.result import Finding, Result, Sheet, Value
from studies.work import Work


class Words(NamedTuple):
    """Which words of a collection are kept; ``least`` is 0 for what Tables 1 and 2 have."""

    headers: bool = False
    least: int = 0
    in_all: bool = False


WEIGHTS = ("frequency", "logarithm", "presence", "mean length", "saturating", "root")
TABLES, FIVE = Words(), Words(headers=True, least=5, in_all=True)
RULES = {
    "in 3 texts, messages without headers": Words(least=3),
    "in 4 texts, messages without headers": Words(least=4),
    "in 3 texts, whole messages": Words(True, 3),
    "in 4 texts, whole messages": Words(True, 4),
    "5 times in all, messages without headers": Words(least=5, in_all=True),
    "5 times in all, whole messages": FIVE,
}
NEAR = 0.02  # of the printed number of words


def run(work: Work) -> Result:
    """Compare the readings of both collections."""
    names = work.available(files_of(name for name, one in SOURCES.items() if one.least))
    kept = work.pick((TABLES,), (TABLES, FIVE), (TABLES, FIVE))
    found: dict[str, dict[str, Any]] = {}
    for name in work.each("texts", names):
        for words, how in itertools.product(kept, WEIGHTS):
            label = f"{name}, {how}" + (", 5 times in all" if words == FIVE else "")
            found[label] = work.once(label, partial(_look, work.data, name, words, how))
    sizes = {
        rule: {
            name: work.once(f"{name} {rule}", partial(_size, work.data, name, words))
            for name in names
        }
        for rule, words in RULES.items()
    }
    rows = [_row(label, statistics) for label, statistics in found.items()]
    counted = Sheet(
        "words",
        "The words of the texts",
        [
            {"a word occurs": rule}
            | {name: Value(size, SETS[name].d, digits=0) for name, size in each.items()}
            for rule, each in sizes.items()
        ],
        WORDS_ABOUT,
    )
    readings = Sheet("texts", "Readings of the texts", rows, TEXTS_ABOUT, {("*", "*"): TEXTS_CAUSE})
    return Result([counted, readings], _findings(found, sizes))


def _row(label: str, statistics: dict[str, Any]) -> dict[str, Any]:
    printed = SETS[label.split(", ")[0]].rows
    row: dict[str, Any] = {"reading": label}
    for key, value in (("C1 %", printed[0].c1), ("C5 %", printed[0].c5)):
        row[key] = Value(statistics[key], value, 0.5, digits=1)
    row["C5 %, a tie is wrong"] = Value(statistics["C5 wrong"], printed[0].c5, 0.5, digits=1)
    for at, space in enumerate(SPACES):
        row[f"S5, {space}"] = Value(statistics[space], printed[at].s5, 0.1, digits=2)
    return row


def _findings(found: dict[str, dict[str, Any]], sizes: dict[str, dict[str, int]]) -> list[Finding]:
    lower = [
        all(statistics[space] < statistics["original"] for space in SPACES[1:])
        for label, statistics in found.items()
        # Raw frequencies are what Tables 1 and 2 are made with: they are the case to explain.
        if "frequency" not in label
    ]
    one_rule = [
        rule
        for rule, each in sizes.items()
        if all(abs(size / SETS[name].d - 1) <= NEAR for name, size in each.items())
    ]
    return [
        Finding(
            "one rule for both collections gives the printed numbers of words, within two per cent",
            bool(one_rule),
            f"a word occurs {' or '.join(one_rule) or 'under no rule tried'}",
        ),
        Finding(
            "Both scalings lower the hubness of texts if frequencies are damped",
            all(lower),
            f"{sum(lower)} of {len(lower)} interpretations and collections",
        ),
    ]


def _counts(data: Path, name: str, words: Words) -> tuple[Any, Any]:
    table, y = load_frame(data, SOURCES[name].file)
    texts = table["text"].to_pylist()
    if not words.headers:
        texts = bodies(texts, SOURCES[name].file)
    return frequencies(texts, words.least or SOURCES[name].least, words.in_all)[0], y


def _size(data: Path, name: str, words: Words) -> int:
    return int(_counts(data, name, words)[0].shape[1])


def _look(data: Path, name: str, words: Words, how: str) -> dict[str, float]:
    counts, y = _counts(data, name, words)
    x = weigh_words(counts, how)
    found: dict[str, float] = {}
    for title, space in scaled(distances_of(x, SOURCES[name].metric)).items():
        lists = space.neighbors(k=5)
        found[title] = skewness(k_occurrence(lists, 5))
        if title == "original":
            found["C1 %"], found["C5 %"] = (100 * loo_accuracy(lists, y, k) for k in (1, 5))
            found["C5 wrong"] = 100 * without_tied_votes(lists, np.asarray(y))
    return found
