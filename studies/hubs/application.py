"""Table 5 on films: two measures weighed together, for recommendations that reach everything.

The paper's songs of a radio station are not available. Films have what they had: two measures of
different nature (facts and the histogram of votes here, rhythm and timbre there) and genres.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from lookalike.datasets import load_films
from lookalike.evaluate import retrieval_accuracy
from lookalike.hubness import MutualProximity, k_occurrence, reachability, skewness
from lookalike.measures import Combined, Gower
from lookalike.neighbors import NeighborGraph
from studies.hubs.published import MUSIC
from studies.palette import COLOURS, tidy
from studies.result import Finding, Plot, Result, Sheet, Value
from studies.work import Work

FACTS, VOTES = ["year", "length", "votes"], ["ratings"]
WEIGHTS = 0.3, 0.7
SAMPLE = 30
WAYS = ("standard", "MP_S", "random")
SONGS = 11_229


def run(work: Work) -> Result:
    """Compare the standard combination, that of sampled proximities, and chance."""
    count = work.times(3000, SONGS, SONGS)
    found = {
        way: work.once(f"{way} {count}", partial(_look, way, count))
        for way in work.each("films", WAYS)
    }
    rows = []
    for at, name in enumerate(MUSIC):
        row: dict[str, Any] = {"statistic": name}
        for place, way in enumerate(WAYS):
            value = found[way]["statistics"][at]
            digits = 2 if name.startswith("S") else 0 if name.startswith("largest") else 1
            row[way] = Value(value, MUSIC[name][place], digits=digits)
        rows.append(row)
    about = (
        f"{count:,} of the films with a genre (fixed draw); the printed values are of 11,229 "
        "songs and are shown for the direction only: nothing is judged. Attributes (year, "
        "length, number of votes, by rank) have the weight 0.3, the histogram of votes 0.7. "
        "Standard: z-scores of the two distances; MP_S: mutual proximities with means and "
        "spreads from 30 rows. R^k: genres in common, as a fraction of the genres of both."
    )
    before, after, chance = (
        dict(zip(MUSIC, found[way]["statistics"], strict=True)) for way in WAYS
    )

    def say(name: str, digits: int = 1) -> str:
        one, two, three = before[name], after[name], chance[name]
        return f"{one:.{digits}f}, MP_S {two:.{digits}f}; random {three:.{digits}f}"

    reach = "reachable, k = 5, %"
    findings = [
        Finding(
            "Sampled proximities lower the hubness of a combination of two measures",
            after["S5"] < before["S5"] and after["largest N5"] <= before["largest N5"],
            f"S5 {say('S5', 2)} (5.65, 2.31, 0.46); largest N5 {say('largest N5', 0)}",
            f"There are no hubs: S5 of the standard combination is {before['S5']:.2f}, "
            f"of random lists {chance['S5']:.2f}",
        ),
        Finding(
            "More of the collection can be reached",
            after[reach] > before[reach],
            f"at k = 5: {say(reach)} % (72.6, 86.2, 99.4)",
        ),
        Finding(
            "Recommendations share at least as many genres",
            after["R5 %"] >= before["R5 %"] - 0.5,
            f"R5 {say('R5 %')} % (48.2, 50.1, 28.5)",
        ),
    ]
    sheet = Sheet("films", "Table 5: recommending, with films for songs", rows, about)

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        most = max(len(found[way]["occurrence"]) for way in WAYS)
        edges = np.arange(min(most, 40))
        for at, way in enumerate(WAYS):
            counts = np.zeros(most)
            counts[: len(found[way]["occurrence"])] = found[way]["occurrence"]
            axes.plot(edges, counts[: len(edges)], color=COLOURS[at], label=way,
                      drawstyle="steps-mid")  # fmt: skip
        cut = " (longer tails are cut off)" if most > len(edges) else ""
        tidy(axes, f"N5: lists that contain a film{cut}", "films")
        axes.legend(frameon=False)

    alt = "How many films are in 0, 1, 2, ... lists under the three methods"
    return Result([sheet], findings, [Plot("figure14", alt, draw, (7.0, 3.5))])


def _look(way: str, count: int) -> dict[str, Any]:
    films = load_films()
    # Recommendations are judged by shared genres, so films without one cannot be used.
    some = np.array([len(cell) > 0 for cell in films["genres"].values])
    chosen = np.random.default_rng(0).choice(np.flatnonzero(some), count, replace=False)
    films = films[np.sort(chosen)]
    genres = list(films["genres"].values)
    lists = _lists(way, films)
    statistics = [100 * retrieval_accuracy(lists, genres, k) for k in (1, 5, 10)]
    for k in (5, 10):
        places = k_occurrence(lists, k)
        statistics += [skewness(places), float(places.max()), 100 * reachability(lists, k)]
    occurrence = np.bincount(k_occurrence(lists, 5)).tolist()
    return {"statistics": statistics, "occurrence": occurrence}


def _lists(way: str, films: Any) -> NeighborGraph:
    if way == "random":
        rng = np.random.default_rng(1)
        n = len(films)
        drawn = np.array([rng.choice(n - 1, 10, replace=False) for _ in range(n)])
        drawn += drawn >= np.arange(n)[:, None]  # never a film itself
        return NeighborGraph(drawn, np.tile(np.arange(1.0, 11.0), (n, 1)), n)
    facts, votes = Gower(scale="rank"), Gower()
    if way == "standard":
        parts = [(WEIGHTS[0], facts, FACTS), (WEIGHTS[1], votes, VOTES)]
        return Combined(parts, how="zscore").fit(films).neighbors(k=10)
    # Each measure is reduced separately and then combined: proximities are probabilities and
    # need no z-scores.
    both = [
        MutualProximity(one, "gauss_independent", sample=SAMPLE, random_state=0)
        for one in (facts, votes)
    ]
    proximities = [(WEIGHTS[0], both[0], FACTS), (WEIGHTS[1], both[1], VOTES)]
    return Combined(proximities).fit(films).neighbors(k=10)
