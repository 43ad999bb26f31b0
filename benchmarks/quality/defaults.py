"""The default comparison beside Gower as published, table by table.

Both are scored as in ``studies/defaults.py``: how well neighbors predict hidden columns (0: as
random pairs, 1: perfectly), and leave-one-out accuracy of ten neighbors where a table has classes.
Before is Gower by ranges without missing cells, after is the default of today. ``--limit 0`` is all
tables.
"""

import argparse
import os
import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from lookalike.measures.default import default_measure
from studies.defaults import PUBLISHED, Pairs, Task, accuracy, agreement, nearest, tasks
from studies.work import Work

BESIDE = Path(__file__).parents[3] / "shared" / "data"
MAX_ROWS, MAX_HIDDEN = 400, 6  # rows of a table, and columns that are hidden: as the study has them
CLEAR = 0.02  # a difference that is looked at


def score(task: Task, scale: str, missing: str) -> tuple[float, float | None]:
    """Return the gain on hidden columns, and the accuracy on labels, None without labels."""
    judge = Pairs(task.table, "rank")
    hidden = np.random.default_rng(0).permutation(len(judge.differences))[:MAX_HIDDEN]
    pairs = judge if scale == "rank" else Pairs(task.table, scale)
    whole, *lists = map(nearest, pairs.distances(missing, hidden))
    gains = [agreement(judge.differences[j], rows) for j, rows in zip(hidden, lists, strict=True)]
    known = [gain for gain in gains if np.isfinite(gain)]
    labels = None if task.labels is None else accuracy(whole, task.labels)
    return float(np.mean(known)) if known else 0.0, labels


def compare(task: Task) -> list[tuple[str, float, float]]:
    """Return each score before and after: its name, Gower as published, the default of today."""
    today = default_measure()
    before, after = score(task, *PUBLISHED[:2]), score(task, today.scale, today.missing)
    named = zip(("hidden columns", "labels"), before, after, strict=True)
    return [(name, old, new) for name, old, new in named if old is not None and new is not None]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.defaults")
    parser.description = __doc__
    parser.add_argument("--limit", type=int, default=8, help="tables of each source; 0: all")
    asked = parser.parse_args(arguments)
    work = Work(os.environ.get("LOOKALIKE_DATA", BESIDE))
    console = Console() if sys.stdout.isatty() else Console(width=120)
    table = Table(title="Gower as published, and the default of today", title_justify="left")
    for head in ("table", "missing", "score", "before", "after", ""):
        table.add_column(head)
    means: dict[str, list[tuple[float, float]]] = {}
    for task in tasks(work, MAX_ROWS, asked.limit or None):
        for name, old, new in compare(task):
            means.setdefault(name, []).append((old, new))
            word = "" if abs(new - old) <= CLEAR else ("better" if new > old else "worse")
            share = f"{task.share_missing:.0%}"
            table.add_row(task.name, share, name, f"{old:.3f}", f"{new:.3f}", word)
    console.print(table)
    for name, both in means.items():
        old, new = np.mean(both, axis=0)
        console.print(f"{name}: mean of {len(both)} tables {old:.3f} before, {new:.3f} after")
    return 0


if __name__ == "__main__":
    sys.exit(main())
