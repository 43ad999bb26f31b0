"""Command line: run the cases, print a table of each, write the results as JSON."""

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
from benchmarks.speed.growth import SLACK, MeasuredGrowth, measure
from benchmarks.speed.run import CLOCKS, Result, run_case
from benchmarks.speed.threads import limited

# Cases that tell most in a few minutes: lists, matrices, forests, hubs, clusters, questions.
QUICK = (
    "knn euclidean, uniform",
    "gower matrix",
    "ratio similarity, 2,000 rows",
    "shared leaves",
    "NICDM, 5,000 rows",
    "rsf predict",
    "50 medoids",
    "Index.search, 10,000 x 20 mixed cells, 1 caller",
)
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
    words = {True: "[green]holds", False: "[red]missed", None: "[yellow]unknown"}
    for text, holds in result.targets().items():
        console.print(f"target: {text}: {words[holds]}")
    console.print()


def show_growth(grown: MeasuredGrowth, console: Console) -> None:
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


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("case", nargs="?", default="all", choices=["all", *known_cases()])
    parser.add_argument("--repeats", type=int, default=7, help="repetitions for each contender (7)")
    parser.add_argument(
        "--threads", type=int, help="threads for all contenders (default: all cores)"
    )
    parser.add_argument(
        "--enough", type=float, default=6.0, help="seconds for the largest size of a growth (6)"
    )
    parser.add_argument(
        "--clock", choices=CLOCKS, default="wall", help="cpu: on a shared machine (wall)"
    )
    parser.add_argument(
        "--largest", type=int, default=10_000_000, help="rows of the last step of a ladder (10^7)"
    )
    parser.add_argument(
        "--only", default="", help="cases and growths whose name contains this text"
    )
    parser.add_argument(
        "--quick", action="store_true", help="eight telling cases, twice each, in processor time"
    )
    parser.add_argument("--json", type=Path, help="where to write the results (one case only)")
    parser.add_argument("--strict", action="store_true", help="fail if a target is missed")
    options = parser.parse_args()
    options.wanted = QUICK if options.quick else (options.only,)
    if options.quick:
        options.repeats, options.clock = 2, "cpu"
    if options.case == "tables":  # its page says what a processor does
        options.clock = "cpu"
    if options.repeats < 1 or (options.threads is not None and options.threads < 1):
        parser.error("--repeats and --threads are at least 1")
    if options.json and options.case == "all":
        parser.error("--json needs a case")
    return options


def main() -> int:
    options = parse()
    console = Console()
    header = machine(options.threads)
    console.print(", ".join(f"{key} {value}" for key, value in header.items()) + "\n")
    failed = False
    for name in known_cases() if options.case == "all" else [options.case]:
        module = import_module(f"benchmarks.speed.cases.{name}")
        results = []
        failed |= run_cases(module, options, console, results)
        if options.quick:  # neither exponents nor files: a look, not a record
            continue
        if hasattr(module, "GROWTHS"):
            failed |= run_growths(module, options, console, results)
        if hasattr(module, "LADDER"):  # sizes that take minutes: only if this case is selected
            largest = options.largest if options.case == name else min(options.largest, 100_000)
            results += module.LADDER(largest, console)
        if name == "tables":
            from benchmarks.speed.two_tables import write_page

            write_page(results, options.largest, console)
        path = options.json or RESULTS / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        document = {"machine": header, "results": [result.to_json() for result in results]}
        path.write_text(json.dumps(document, indent=1) + "\n")
    return int(failed)


def run_cases(module, options, console, results) -> bool:
    """Run the comparisons of a module and append their results; whether one of them failed."""
    failed = False
    for case in (case for case in module.CASES if any(w in case.name for w in options.wanted)):
        result = run_case(case, module.__name__, options.repeats, options.threads, options.clock)
        results.append(result)
        show(result, console)
        failed |= bool(result.disagreements)
        failed |= options.strict and False in result.targets().values()
    return failed


def run_growths(module, options, console, results) -> bool:
    """Measure the exponents of a module on one thread; whether an unexpected one is too large."""
    with limited(1):
        for growth in (one for one in module.GROWTHS() if options.only in one.name):
            results.append(measure(growth, options.enough))
            show_growth(results[-1], console)
    known = all(grown.holds or grown.growth.exception for grown in results)
    return options.strict and not known


if __name__ == "__main__":
    sys.exit(main())
