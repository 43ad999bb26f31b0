"""Figure 12: what becomes of hubs and orphans, over repeated draws of uniform data."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from lookalike.hubness import hubs_and_orphans, k_occurrence
from studies.hubs.published import SPACES
from studies.hubs.spaces import distances_of, scaled
from studies.palette import COLOURS, MARKERS, tidy
from studies.result import Finding, Plot, Result, Sheet, Value
from studies.work import Work

ROWS, COLUMNS = 1000, 50
GROUPS = ("hubs", "orphans", "others")


def run(work: Work) -> Result:
    """Repeat the draw and follow the groups of the original space."""
    repetitions = work.times(10, 100, 100)
    each: list[dict[str, dict[str, float]]] = [
        work.once(f"{seed}", partial(_look, seed))
        for seed in work.each("repetitions", range(repetitions))
    ]

    def series(space: str, group: str) -> np.ndarray:
        return np.array([one[space][group] for one in each])

    rows = [
        {"space": space}
        | {
            f"mean N5 of {group}": Value(
                float(series(space, group).mean()),
                digits=1,
                spread=float(series(space, group).std()),
            )
            for group in GROUPS
        }
        for space in SPACES
    ]
    about = (
        f"{repetitions} repetitions (100 in the paper) of {ROWS} rows with {COLUMNS} uniform "
        "columns; groups fixed in the original space. The figure shows no numbers."
    )
    weaker = all((series(s, "hubs") < series("original", "hubs")).all() for s in SPACES[1:])
    back = all((series(s, "orphans") > 0).all() for s in SPACES[1:])
    apart = min(float((series(s, "hubs") - series(s, "orphans")).min()) for s in SPACES)
    level = max(
        abs(float(series(s, "others").mean() / series("original", "others").mean()) - 1)
        for s in SPACES[1:]
    )
    hubs = [series(s, "hubs").mean() for s in SPACES]
    orphans = [series(s, "orphans").mean() for s in SPACES]
    findings = [
        Finding(
            "Hubs weaken and orphans return in every repetition",
            weaker and back,
            f"mean N5 of hubs {hubs[0]:.1f}, NICDM {hubs[1]:.1f}, MP {hubs[2]:.1f}; of orphans "
            f"{orphans[0]:.1f}, {orphans[1]:.1f}, {orphans[2]:.1f}",
            headline=True,
        ),
        Finding(
            "Their order never changes: former hubs stay above former orphans",
            apart > 0,
            f"the smallest difference between the two is {apart:.2f}",
        ),
        Finding(
            "The others hardly change",
            level < 0.15,
            f"their mean N5 changes by {100 * level:.0f} %",
        ),
    ]
    sheet = Sheet("groups", "Figure 12: hubs and orphans", rows, about)

    def draw(figure: Any) -> None:
        panels = figure.subplots(1, 3, sharey=False)
        for axes, group in zip(panels, GROUPS, strict=True):
            for at, space in enumerate(SPACES):
                axes.plot(np.arange(1, repetitions + 1), series(space, group), color=COLOURS[at],
                          marker=MARKERS[at], markersize=3, linewidth=0.8, label=space)  # fmt: skip
            tidy(axes, "repetition", "mean N5", group)
            axes.set_ylim(0, 1.08 * axes.get_ylim()[1])
            axes.locator_params(axis="x", integer=True)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3,
                      frameon=False, fontsize=8)  # fmt: skip

    alt = "Mean N5 of hubs, orphans and others per repetition in the three spaces"
    return Result([sheet], findings, [Plot("figure12", alt, draw, (8.0, 3.2))])


def _look(seed: int) -> dict[str, dict[str, float | None]]:
    x = np.random.default_rng(seed).random((ROWS, COLUMNS))
    spaces = scaled(distances_of(x, "euclidean"))
    groups = hubs_and_orphans(spaces["original"], 5)
    return {
        title: groups.mean_occurrence(k_occurrence(space, 5)) for title, space in spaces.items()
    }
