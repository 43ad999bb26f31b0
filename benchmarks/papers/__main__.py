"""The command: run the studies in ``studies/`` and print their tables.

A study is a module with ``TITLE`` and ``run(data)``, which takes the folder of data and returns
rows as dictionaries. The folder is the one named by LOOKALIKE_DATA, or ``../shared/data`` beside
the repository.
"""

import argparse
import os
import pkgutil
import sys
from importlib import import_module
from pathlib import Path

from rich.console import Console
from rich.table import Table

STUDIES = Path(__file__).parent / "studies"
BESIDE = Path(__file__).parents[3] / "shared" / "data"


def show(title: str, rows: list[dict], console: Console) -> None:
    table = Table(title=title, title_justify="left")
    names = list(dict.fromkeys(name for row in rows for name in row))
    for name in names:
        table.add_column(name)
    for row in rows:
        table.add_row(*("" if row.get(name) is None else str(row[name]) for name in names))
    console.print(table)


def main() -> int:
    studies = sorted(module.name for module in pkgutil.iter_modules([str(STUDIES)]))
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("case", nargs="?", default="all", choices=["all", *studies])
    asked = parser.parse_args()
    if not studies:
        print("no study yet")
        return 0
    data = Path(os.environ.get("LOOKALIKE_DATA", BESIDE))
    if not data.is_dir():
        print(
            f"papers: needs a folder with the data of the studies, found none at {data}. "
            "Set LOOKALIKE_DATA to it.",
            file=sys.stderr,
        )
        return 1
    # A table cut to 80 columns would lose its numbers when written to a file.
    console = Console() if sys.stdout.isatty() else Console(width=200)
    for name in studies if asked.case == "all" else [asked.case]:
        study = import_module(f"benchmarks.papers.studies.{name}")
        show(study.TITLE, study.run(data), console)
    return 0


if __name__ == "__main__":
    sys.exit(main())
