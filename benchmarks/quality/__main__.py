"""The command: each table and task with this version of the library and with an earlier one.

Predictions are scored by 5-fold cross-validation (share of right rows, or R squared), clusters by
the adjusted Rand index against the classes. The difference of two predictors is judged by the rows
they share: "worse" and "better" mean more than two standard errors of the mean paired difference;
for clusters, more than 0.02.
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[2]
BESIDE = ROOT.parent / "shared" / "data"
CLEAR = 0.02  # a difference of adjusted Rand indices that is looked at


def answers(source: Path, data: Path, names: list[str]) -> dict[tuple[str, str], dict]:
    """Run the tasks with the library of one source folder, in a process of its own."""
    path = os.pathsep.join([str(source), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.quality.tasks", str(data), *names],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        check=True,
    )
    return {(row["table"], row["task"]): row for row in json.loads(done.stdout)}


def judge(before: object, after: object) -> tuple[float | None, float | None, str]:
    """Return both scores and a word about their difference.

    Examples
    --------
    >>> judge([1.0, 0.0, 1.0, 0.0] * 50, [0.0, 0.0, 1.0, 0.0] * 50)
    (0.5, 0.75, 'better')
    """
    scores = [None if lost is None else 1 - float(np.mean(lost)) for lost in (before, after)]
    if None in scores:
        return scores[0], scores[1], ""
    gain = np.asarray(before, float) - np.asarray(after, float)
    noise = CLEAR if gain.ndim == 0 else 2 * float(gain.std(ddof=1)) / np.sqrt(len(gain))
    mean = float(gain.mean())
    word = "" if abs(mean) <= max(noise, 1e-12) else ("better" if mean > 0 else "worse")
    return scores[0], scores[1], word


def show(before: dict, after: dict, console: Console) -> list[str]:
    """Print the table, then the mean of each task; return what got worse."""
    table = Table(title="before and after, by table and task", title_justify="left")
    for head in ("table", "task", "before", "after", "", "seconds before", "after"):
        table.add_column(head)
    worse, means = [], {}
    for key, new in after.items():
        old = before.get(key, {"lost": None, "seconds": None, "error": "not run"})
        first, second, word = judge(old["lost"], new["lost"])
        if first is not None and second is not None:
            means.setdefault(key[1], []).append((first, second))
        worse += [f"{key[0]}, {key[1]}: {first:.3f} to {second:.3f}"] if word == "worse" else []
        table.add_row(*key, *map(words, (first, second)), word, *seconds(old, new))
    console.print(table)
    for task, pairs in means.items():
        first, second = np.mean(pairs, axis=0)
        console.print(f"{task}: mean of {len(pairs)} tables {first:.3f} before, {second:.3f} after")
    return worse


def words(score: float | None) -> str:
    return "" if score is None else f"{score:.3f}"


def seconds(*rows: dict) -> list[str]:
    return ["" if row["seconds"] is None else f"{row['seconds']:.1f}" for row in rows]


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--before", type=Path, help="the src folder of an earlier version")
    parser.add_argument("tables", nargs="*", help="names of tables; all of them by default")
    asked = parser.parse_args()
    data = Path(os.environ.get("LOOKALIKE_DATA", BESIDE))
    if not data.is_dir():
        print(f"quality: found no data at {data}. Set LOOKALIKE_DATA to it.", file=sys.stderr)
        return 1
    after = answers(ROOT / "src", data, asked.tables)
    before = {} if asked.before is None else answers(asked.before, data, asked.tables)
    console = Console() if sys.stdout.isatty() else Console(width=140)
    worse = show(before, after, console)
    console.print("worse by more than noise: " + ("; ".join(worse) or "nothing"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
