"""The default comparison beside Gower as published, table by table.

Both are scored as in ``studies/defaults.py``: how well neighbors predict hidden columns (0: as
random pairs, 1: perfectly), and leave-one-out accuracy of ten neighbors where a table has classes.
Before is Gower by ranges with missing cells left out, after is the default of today. With
``--limit 0`` all tables are scored.
"""

import argparse
import os
import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from lookalike.errors import InvalidInput
from lookalike.measures.default import default_measure
from studies.defaults import PUBLISHED, Pairs, Task, accuracy, agreement, nearest, tasks
from studies.work import Work

BESIDE = Path(__file__).parents[3] / "shared" / "data"
MAX_ROWS, MAX_HIDDEN = 400, 6  # rows of a table, and columns that are hidden: as the study has them
CLEAR = 0.02  # a difference that is looked at
SCORES = {
    "hidden columns": "how well neighbors predict a hidden column: 0 as random rows, 1 perfectly",
    "labels": "share of rows whose class ten neighbors vote for",
}


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


def compare(task: Task) -> dict[str, tuple[float, float]]:
    """Return each score as a pair: Gower as published, the default of today."""
    today = default_measure()
    before, after = score(task, *PUBLISHED[:2]), score(task, today.scale, today.missing)
    named = zip(SCORES, before, after, strict=True)
    return {name: (old, new) for name, old, new in named if old is not None and new is not None}


def verdict(old: float, new: float) -> str:
    """Say whether a difference is large enough to be looked at."""
    return "" if abs(new - old) <= CLEAR else ("better" if new > old else "worse")


def show(scored: list[tuple[Task, dict[str, tuple[float, float]]]], console: Console) -> None:
    """Print one line per table, then the mean of each score and its standard error."""
    table = Table(title="Gower as published (before) and the default of today (after)")
    table.title_justify = "left"
    table.add_column("table")
    for head in ("rows", "missing", "hidden: before", "after", "", "labels: before", "after", ""):
        table.add_column(head, justify="right" if head else "left")
    for task, scores in scored:
        cells = [task.name, f"{len(task.table):,}", f"{task.share_missing:.0%}"]
        for name in SCORES:
            both = scores.get(name)
            cells += ["", "", ""] if both is None else [*(f"{x:.3f}" for x in both), verdict(*both)]
        table.add_row(*cells)
    console.print(table)
    for name, text in SCORES.items():
        both = np.array([scores[name] for _, scores in scored if name in scores])
        if not len(both):
            continue
        words = [verdict(*pair) for pair in both]
        change = both[:, 1] - both[:, 0]
        error = f" ± {change.std(ddof=1) / len(both) ** 0.5:.3f}" if len(both) > 1 else ""
        counts = f"{words.count('better')} better and {words.count('worse')} worse"
        console.print(
            f"{name}: {text}\n  mean of {len(both)} tables {both[:, 0].mean():.3f} before, "
            f"{both[:, 1].mean():.3f} after; change {change.mean():+.3f}{error}; "
            f"{counts} by more than {CLEAR}"
        )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.defaults")
    parser.description = __doc__
    parser.add_argument("--limit", type=int, default=8, help="tables of each source; 0: all")
    asked = parser.parse_args(arguments)
    work = Work(os.environ.get("LOOKALIKE_DATA", BESIDE))
    scored = []
    for task in tasks(work, MAX_ROWS, asked.limit or None):
        # The table comes last, and all of them take a quarter of an hour.
        try:
            scored.append((task, compare(task)))
            print(f"{len(scored)}: {task.name}", file=sys.stderr)
        except InvalidInput as refused:  # infinite numbers, which Gower leaves to the caller
            print(f"left out: {task.name}: {refused}", file=sys.stderr)
    show(scored, Console() if sys.stdout.isatty() else Console(width=120))
    return 0


if __name__ == "__main__":
    sys.exit(main())
