"""Everything that looks for new faults, as one command: ``make fuzz``.

    PYTHONPATH=tests python -m fuzz.run                       # hours
    PYTHONPATH=tests python -m fuzz.run --mutants 500 --folders 20 --kills 3 --examples 5 --load 30
    PYTHONPATH=tests python -m fuzz.run --part folders        # one part alone

Each part is a command of its own, which is printed; the last lines say how much each has tried and
how much of it failed.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field

PYTEST = ["-m", "pytest", "-q", "--timeout", "7200"]
# What the last lines of a part say, of which there may be several: how much was tried, and failed.
MUTANTS = re.compile(r"^(?P<tried>\d+) mutants, (?P<failed>\d+) failed", re.M)
LOAD = re.compile(r"^requests (?P<tried>[\d,]+), errors (?P<failed>\d+)", re.M)
PASSED = re.compile(r"(\d+) passed")
FAILED = re.compile(r"(\d+) (?:failed|error)")


@dataclass
class Part:
    """A command that tries much, and what it says about that."""

    name: str
    command: list
    unit: str
    says: re.Pattern | None = None
    env: dict = field(default_factory=dict)

    def shown(self):
        """Return the command as it may be typed."""
        words = [f"{name}={value}" for name, value in self.env.items()]
        return " ".join(["PYTHONPATH=tests", *words, "python", *self.command])

    def run(self):
        """Run it, showing its output; return how much was tried, and how much failed."""
        env = os.environ | {"PYTHONPATH": os.pathsep.join(["tests", "src"])} | self.env
        lines = []
        with subprocess.Popen(
            [sys.executable, *self.command],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as running:
            for line in running.stdout:
                print(line, end="", flush=True)
                lines.append(line)
        return self.count("".join(lines[-200:]), running.returncode)

    def count(self, text, status):
        """Return how much was tried, and how much failed, by the output and the status."""
        if self.says is not None:
            found = self.says.search(text)
            tried, failed = (int(n.replace(",", "")) for n in found.groups()) if found else (0, 0)
        else:
            failed = sum(map(int, FAILED.findall(text)))
            tried = failed + sum(map(int, PASSED.findall(text)))
        # A part that was stopped, or has tried nothing, has failed whatever it printed.
        return tried, max(failed, int(status != 0 or tried == 0))


def parts(given):
    """Return all parts, of the sizes that are asked for."""
    seed = ["--seed", str(given.seed)]
    saved = ["tests/test_hostile_surroundings.py", "tests/test_install.py", "tests/fuzz"]
    return [
        Part("files", ["-m", "fuzz", str(given.mutants), "--compiled", *seed], "files", MUTANTS),
        Part("tables", ["-m", "fuzz", str(given.mutants), "--tables", *seed], "files", MUTANTS),
        Part(
            "folders",
            ["-m", "fuzz", str(given.folders), "--folders", "--compiled", *seed],
            "folders", MUTANTS,
        ),
        Part(
            "kills",
            [*PYTEST, "tests/service/test_durability.py", "tests/index/dask"],
            f"tests, {given.kills} kills in each of a server",
            env={"LOOKALIKE_KILLS": str(given.kills)},
        ),
        Part(
            "surroundings",
            [*PYTEST, *saved, "tests/kernels/test_cache.py"],
            "tests", env={"LOOKALIKE_LONG": "1"},
        ),
        Part(
            "requests",
            [*PYTEST, "tests/service/test_bad_input.py", "-k", "openapi"],
            f"tests, {given.examples} requests of each operation",
            env={"LOOKALIKE_EXAMPLES": str(given.examples)},
        ),
        Part(
            "load",
            ["-m", "benchmarks.load", "--seconds", str(given.load), "--judge"], "requests", LOAD,
        ),
        Part(
            "properties",
            [*PYTEST, "-n", str(given.workers), given.case],
            "tests, with new examples", env={"LOOKALIKE_FUZZ": "1"},
        ),
    ]  # fmt: skip


def read_arguments(arguments):
    """Return the sizes of all parts, and which of them are to run."""
    options = argparse.ArgumentParser(prog="python -m fuzz.run", description=__doc__.split("\n")[0])
    for name, size in (("mutants", 20_000), ("folders", 1_000), ("kills", 40), ("examples", 50)):
        options.add_argument(f"--{name}", type=int, default=size)
    options.add_argument("--load", type=float, default=600, help="seconds")
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument("--workers", type=int, default=(os.cpu_count() or 1) + 1)
    options.add_argument("--case", default="tests", help="a folder of tests for the properties")
    options.add_argument("--part", action="append", help="only this one; may be repeated")
    return options.parse_args(arguments)


def main(arguments=None):
    """Run all parts, then print what each has tried; return whether any has failed."""
    given = read_arguments(arguments)
    chosen = [one for one in parts(given) if not given.part or one.name in given.part]
    if not chosen:
        raise SystemExit(f"no such part: {', '.join(one.name for one in parts(given))}")
    lines, wrong = [], False
    for part in chosen:
        print(f"\n{part.name}: {part.shown()}", flush=True)
        began = time.monotonic()
        tried, failed = part.run()
        wrong = wrong or failed > 0
        minutes = (time.monotonic() - began) / 60
        lines.append(f"{part.name:<14}{tried:>10,}{failed:>9,}{minutes:>10.1f}  {part.unit}")
    print(f"\n{'part':<14}{'tried':>10}{'failed':>9}{'minutes':>10}  seed {given.seed}")
    print("\n".join(lines))
    return wrong


if __name__ == "__main__":
    sys.exit(main())
