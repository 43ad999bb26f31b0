"""Table 3: how often hubs, orphans and others are in lists of another class."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.hubness import badness, hubs_and_orphans, k_occurrence
from studies.hubs.published import BADNESS, BADNESS_AVERAGES, SPACES
from studies.hubs.sets import SOURCES, files_of, load_set
from studies.hubs.spaces import distances_of, scaled
from studies.result import Finding, Result, Sheet, Value
from studies.work import Work

GROUPS = ("hubs", "orphans", "others")
WORDS = "Not explained: other words than the authors' (see Tables 1 and 2), so other hubs."


def run(work: Work) -> Result:
    """Measure the badness of the groups on the sets with the largest hubs."""
    names = work.available(files_of(name for name in SOURCES if name in BADNESS))
    found = {
        name: work.once(name, partial(_look, work.data, name)) for name in work.each("sets", names)
    }
    rows: list[dict[str, Any]] = []
    causes: dict[tuple[str, str], str] = {}
    for name, groups in found.items():
        for group in GROUPS:
            ours, theirs = groups[group], BADNESS[name][group]
            label = f"{name}, {group}"
            row: dict[str, Any] = {"set and group": label}
            row["rows"] = Value(ours["rows"], theirs[0], 1e-9, digits=0)
            for at, space in enumerate(SPACES):
                row[f"{space} %"] = Value(ours[space], theirs[at + 1], 1e-9, digits=1)
            rows.append(row)
            if SOURCES[name].least:
                causes[label, "*"] = WORDS
    means: dict[str, list[float]] = {}
    for group in GROUPS:
        row = {"set and group": f"mean, {group}"}
        for at, space in enumerate(SPACES):
            each = [one[group][space] for one in found.values() if one[group][space] is not None]
            means.setdefault(group, []).append(float(np.mean(each)) if each else float("nan"))
            printed = BADNESS_AVERAGES[group][at]
            row[f"{space} %"] = Value(means[group][-1], printed, digits=1) if each else "/"
        rows.append(row)
    about = (
        "Fraction of the occurrences in lists of 5 that are in lists of another class. Groups "
        "are those of the original space: hubs are in more than 25 lists, orphans in none. "
        f"{len(names)} of the nine sets; the printed means are over nine and are not judged. "
        "Tolerance: rounding."
    )
    findings = [
        Finding(
            "Hubs become less bad by scaling",
            bool(max(means["hubs"][1:]) < means["hubs"][0]),
            _say(means["hubs"], "46.3, 35.6, 35.3"),
            headline=True,
        ),
        Finding(
            "Orphans come back into lists, and are worse than others but better than hubs were",
            bool(means["others"][2] < means["orphans"][2] < means["hubs"][0]),
            f"NICDM {means['orphans'][1]:.1f} %, MP {means['orphans'][2]:.1f} % (36.5, 35.1); hubs "
            f"were {means['hubs'][0]:.1f} %",
            _without_texts(found),
        ),
        Finding(
            "The others change little",
            # The printed change is 0.9 points; our sets are fewer, so twice that is allowed.
            bool(max(abs(means["others"][at] - means["others"][0]) for at in (1, 2)) < 2),
            _say(means["others"], "29.3, 28.4, 28.4"),
        ),
    ]
    sheet = Sheet("badness", "Table 3: badness of hubs, orphans and others", rows, about, causes)
    return Result([sheet], findings)


def _without_texts(found: dict[str, dict[str, dict[str, float]]]) -> str:
    some = [one for name, one in found.items() if not SOURCES[name].least]
    if not some:
        return ""
    orphans, others = (
        float(np.mean([one[group]["MP"] for one in some])) for group in ("orphans", "others")
    )
    hubs = float(np.mean([one["hubs"]["original"] for one in some]))
    return (
        "The cause is the texts, whose words are not the authors'; on the other sets the "
        f"orphans of MP have {orphans:.1f} %, others {others:.1f} %, and hubs had {hubs:.1f} %"
    )


def _say(means: list[float], printed: str) -> str:
    return f"{means[0]:.1f} %, NICDM {means[1]:.1f} %, MP {means[2]:.1f} % ({printed})"


def _look(data: Path, name: str) -> dict[str, dict[str, float | None]]:
    rows, y = load_set(data, name)
    spaces = scaled(distances_of(rows, SOURCES[name].metric))
    # Groups of the original space, kept in the others: the question is what becomes of them.
    groups = hubs_and_orphans(spaces["original"], 5)
    found: dict[str, dict[str, float | None]] = {
        group: {"rows": float(len(at))} for group, at in groups.groups().items()
    }
    for title, space in spaces.items():
        counts = k_occurrence(space, 5)
        for group, share in groups.badness(badness(space, y, 5), counts).items():
            found[group][title] = share
    return found
