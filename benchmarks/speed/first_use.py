"""Processor seconds of the first command after an installation, and of the same with kernels kept.

``python -m benchmarks.speed.first_use [VERB ...]`` runs each verb twice in a new process on a CSV
file of 2,000 rows, ten columns and a label, 8 % of the cells missing: with an empty folder for
compiled kernels, then with what the first run left there. ``demo`` is the whole demonstration.
"""

import csv
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROWS, MISSING, CLASSES = 2000, 0.08, 3
VERBS = {
    "search": ["{table}", "--row", "3"],
    "cluster": ["{table}"],
    "outliers": ["{table}"],
    "hubs": ["{table}"],
    "classify": ["{table}", "--label", "label"],
    "report": ["{table}", "-o", "{folder}/report.html"],
    "compare": ["{table}"],
    "demo": [],
}


def write_table(path: Path) -> None:
    """Write five numbers, three categories, a flag, an amount and a label that they depend on."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, CLASSES, ROWS)
    columns = {f"number{j}": (rng.normal(size=ROWS) + label * j % 3).round(4) for j in range(5)}
    for j in range(3):
        columns[f"category{j}"] = np.array(list("abcdefg"))[rng.integers(0, 5, ROWS) + label]
    columns["flag"] = np.where(rng.random(ROWS) < 0.3 + 0.2 * label, "yes", "no")
    columns["amount"] = rng.gamma(2.0, 50.0, ROWS).round(2)
    cells = [np.where(rng.random(ROWS) < MISSING, "", one.astype(str)) for one in columns.values()]
    with path.open("w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow([*columns, "label"])
        writer.writerows(zip(*cells, np.array(list("xyz"))[label], strict=True))


def processor_seconds(words: list[str], cache: Path) -> float:
    """Run a command in a process of its own; return the time of all its threads."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"XDG_CACHE_HOME": str(cache), "NUMBA_CACHE_DIR": ""}
    command = [sys.executable, "-m", "lookalike", *words]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    """Print a line per verb."""
    print(f"{'':10}{'first use':>10}{'kernels kept':>14}")
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.csv"
        write_table(table)
        for verb in sys.argv[1:] or VERBS:
            words = [verb, *(word.format(table=table, folder=folder) for word in VERBS[verb])]
            cache = Path(folder) / verb
            cold, warm = (processor_seconds(words, cache) for _ in range(2))
            print(f"{verb:10}{cold:10.1f}{warm:14.1f}", flush=True)


if __name__ == "__main__":
    main()
