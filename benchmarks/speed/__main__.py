"""The command: run the cases, print a table of each, keep the figures as JSON."""

import argparse
import json
import os
import pkgutil
import platform
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

import benchmarks.speed.cases as cases
import lookalike
from benchmarks.speed.case import OURS
from benchmarks.speed.growth import SLACK, Grown, measure
from benchmarks.speed.run import CLOCKS, Result, run_case
from benchmarks.speed.threads import limited

RESULTS = Path(__file__).parents[1] / "results"


def known_cases() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(cases.__path__))


def machine(threads: int | None) -> dict[str, object]:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cores": usable,
        "threads": threads or "all cores, for everybody",
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scikit-learn", "numba")},
        "lookalike": lookalike.__version__,
    }


def show(result: Result, console: Console) -> None:
    best = result.best
    table = Table(title=result.case.name, title_justify="left")
    table.add_column("contender")
    for heading in ("seconds (min)", "ours / theirs", "extra peak MB"):
        table.add_column(heading, justify="right")
    table.add_column("answers")
    for label in best:
        agrees = "" if label == OURS else "agree"
        table.add_row(
            label,
            f"{best[label]:.4f}",
            "" if label == OURS else f"{best[OURS] / best[label]:.3g}",
            f"{result.extra_mb[label]:.0f}",
            f"[red]{result.disagreements[label]}" if label in result.disagreements else agrees,
        )
    for label, why in result.absent.items():
        table.add_row(label, "", "", "", why)
    console.print(table)
    words = {True: "[green]holds", False: "[red]missed", None: "[yellow]could not be told"}
    for text, holds in result.targets().items():
        console.print(f"target: {text}: {words[holds]}")
    console.print()


def show_growth(grown: Grown, console: Console) -> None:
    wanted = grown.growth
    words = "[green]holds[/]"
    if not grown.holds:
        words = f"[yellow]above: {wanted.exception}[/]" if wanted.exception else "[red]too fast[/]"
    console.print(
        f"{wanted.name}: time n^{grown.time:.2f} (at most {wanted.time + SLACK:g}), memory "
        f"n^{grown.memory:.2f} (at most {wanted.memory + SLACK:g}), {grown.sizes[0]:,} to "
        f"{grown.sizes[-1]:,} rows, {grown.seconds[-1]:.2g} s: {words}"
        + (f" ({wanted.reason})" if wanted.reason else ""),
        soft_wrap=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("case", nargs="?", default="all", choices=["all", *known_cases()])
    parser.add_argument("--repeats", type=int, default=7, help="turns for each contender (7)")
    parser.add_argument("--threads", type=int, help="threads for everybody (default: all cores)")
    parser.add_argument(
        "--enough", type=float, default=6.0, help="seconds for the largest size of a growth (6)"
    )
    parser.add_argument(
        "--clock", choices=CLOCKS, default="wall", help="cpu: on a machine that others use (wall)"
    )
    parser.add_argument(
        "--largest", type=int, default=10_000_000, help="rows of the last step of a ladder (10^7)"
    )
    parser.add_argument("--only", default="", help="cases and growths whose name has these words")
    parser.add_argument("--json", type=Path, help="where to write the figures (one case only)")
    parser.add_argument("--strict", action="store_true", help="fail if a target is missed")
    asked = parser.parse_args()
    if asked.repeats < 1 or (asked.threads is not None and asked.threads < 1):
        parser.error("--repeats and --threads are at least 1")
    if asked.json and asked.case == "all":
        parser.error("--json needs a case")

    console = Console()
    header = machine(asked.threads)
    console.print(", ".join(f"{key} {value}" for key, value in header.items()) + "\n")
    failed = False
    for name in known_cases() if asked.case == "all" else [asked.case]:
        module = import_module(f"benchmarks.speed.cases.{name}")
        results = []
        for case in (case for case in module.CASES if asked.only in case.name):
            repeats = asked.repeats, asked.threads, asked.clock
            results.append(run_case(case, module.__name__, *repeats))
            show(results[-1], console)
            failed |= bool(results[-1].disagreements)
            failed |= asked.strict and False in results[-1].targets().values()
        if hasattr(module, "GROWTHS"):
            with limited(1):
                for growth in (one for one in module.GROWTHS() if asked.only in one.name):
                    results.append(measure(growth, asked.enough))
                    show_growth(results[-1], console)
            known = (grown.holds or grown.growth.exception for grown in results)
            failed |= asked.strict and not all(known)
        if hasattr(module, "LADDER"):  # sizes that take minutes: only when this case is asked for
            largest = asked.largest if asked.case == name else min(asked.largest, 100_000)
            results += module.LADDER(largest, console)
        path = asked.json or RESULTS / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = {"machine": header, "results": [result.to_json() for result in results]}
        path.write_text(json.dumps(kept, indent=1) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
