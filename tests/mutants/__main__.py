"""Which faults the tests notice: ``PYTHONPATH=tests python -m mutants --faults 200``.

Random faults are put into modules as they are imported, one at a time, and the tests nearest to the
module run: those by its name and its doctest, then, if none fails, the others of its folder. A
fault that no test notices is a test that is missing, or no fault. Change no source while it runs.
"""

import argparse
import math
import multiprocessing
import os
import random
import re
import signal
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from mutants.faults import find_faults
from mutants.nearest import nearest_tests, run_forked

VERDICTS = ("killed", "survived", "equivalent", "not judged")
TIMEOUT, CRASH = "by taking too long", "by an error"
MAX_SECONDS = 300.0  # of one run; only guards against hanging
# Of the other tests of a folder, which may be thousands: processor time, so that the same tests
# run however busy the machine is.
MAX_FOLDER_SECONDS = 60
# Every run is forked from a process that has imported what is none of ours: most of a short run.
FORKS = multiprocessing.get_context("forkserver")
THEIRS = "numpy scipy.stats pandas pyarrow.parquet sklearn.utils.estimator_checks numba pytest"
FORKS.set_forkserver_preload(THEIRS.split())
# As plain Python the tests nearest to a kernel are faster than compiling all kernels again. What
# is tested of these modules is the compiling.
NOT_COMPILED = ("__init__", "_cache", "_jit", "first_use")
# Run by each process of the tests: the sources on disk stay as they are.
HOOK = """from importlib.machinery import SourceFileLoader
sound = SourceFileLoader.get_code
def get_code(self, name):
    if self.path != {path!r}:
        return sound(self, name)
    return compile({source!r}, self.path, "exec", dont_inherit=True)
SourceFileLoader.get_code = get_code
"""


class Project:
    """A package with its tests: its faults, and what the tests say about one of them.

    Parameters
    ----------
    root : Path
        With ``src/<package>`` and ``tests``.
    package : str
    """

    def __init__(self, root, package):
        self.root, self.source, self.tests = root, root / "src" / package, root / "tests"
        self.sound = {}  # whether a test that failed passes without a fault
        path = self.tests / "mutants" / "equivalent.txt"
        blocks = path.read_text().strip().split("\n\n")[1:] if path.exists() else ()
        lines = [[line.strip() for line in block.strip().split("\n")] for block in blocks]
        # From file, line and fault to the reason why it changes nothing.
        self.equivalent = {tuple(block[:3]): block[3] for block in lines}

    def draw(self, case, count, seed):
        """Return random faults as pairs of a module and a fault, all equally likely."""
        inside = Path(*re.split("[./]", case.removesuffix(".py"))) if case else Path()
        faults = []
        for path in sorted(self.source.rglob("*.py")):
            module = path.relative_to(self.source)
            if inside in (module.with_suffix(""), *module.parents):
                faults += [(module, fault) for fault in find_faults(path.read_bytes())]
        return random.Random(seed).sample(faults, min(count, len(faults)))

    def judge(self, module, fault):
        """Return the verdict on a fault, and the test that fails or the reason."""
        reason = self.equivalent.get((str(module), fault.source_line, fault.text))
        if reason:
            return "equivalent", reason
        near, rest = nearest_tests(module, self.source, self.tests)
        failed = self._run(module, near, fault)
        if failed is None and rest:
            failed = self._run(module, rest, fault, processor=MAX_FOLDER_SECONDS)
            failed = None if failed == TIMEOUT else failed  # too many tests, not a fault
        if failed is None:
            return "survived", ""
        # A test that fails on sound sources says nothing; run a single time. All sets of
        # parameters run: their ids may hold spaces.
        general = failed in (TIMEOUT, CRASH)
        key = module if general else failed
        if key not in self.sound:
            names = near if general else [self.root / failed.split("[")[0]]
            self.sound[key] = self._run(module, names) is None
        return "killed" if self.sound[key] else "not judged", failed

    def _run(self, module, tests, fault=None, seconds=MAX_SECONDS, processor=None):
        """Run tests; return the first that fails, TIMEOUT, CRASH, or None.

        ``seconds`` and ``processor`` are the most time that may pass, and that may be computed.
        """
        with tempfile.TemporaryDirectory(prefix="mutant-", ignore_cleanup_errors=True) as folder:
            # Python runs a file of this name at its start: in processes that tests start as well.
            hook, printed = Path(folder, "sitecustomize.py"), Path(folder, "printed.txt")
            source = fault.mutant if fault else b""
            path = str(self.source / module) if fault else None
            hook.write_text(HOOK.format(path=path, source=source))
            paths = [folder, *map(str, (self.source.parent, self.tests, self.root))]
            environment = {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
            if module.parts[0] == "kernels":
                environment["NUMBA_CACHE_DIR"] = folder
                if module.stem not in NOT_COMPILED and not (fault and fault.compiled):
                    environment["LOOKALIKE_COMPILE"] = "0"
            # Plain asserts: pytest would read the files named here itself, without the fault.
            arguments = ["-x", "-q", "-p", "no:cacheprovider", "--doctest-modules"]
            arguments += ["--assert", "plain", "--rootdir", str(self.root)]
            # A module that is named here may have a class whose name begins as those of tests do.
            arguments += ["-o", "python_classes=Test[A-Z]*"]
            # A folder of its own: pytest removes those of the oldest of several runs.
            arguments += ["--basetemp", str(Path(folder, "made")), *map(str, tests)]
            process = FORKS.Process(
                target=run_forked,
                args=(arguments, paths, environment, self.root, printed, processor),
            )
            process.start()
            process.join(seconds)
            code = process.exitcode
            try:
                os.killpg(process.pid, 9)  # with every process that the tests started
            except ProcessLookupError:
                pass
            process.join()
            if code in (None, -signal.SIGXCPU):
                return TIMEOUT
            text = printed.read_text() if printed.exists() else ""
        failed = re.search(r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$", text, re.MULTILINE)
        # 5: no test was collected, as in a module without a doctest.
        return None if code in (0, 5) else failed[1] if failed else CRASH


def run(project, faults, minutes=math.inf, jobs=1, log=None):
    """Judge faults, as many as fit; print each and the counts; return the counts by package.

    What an earlier run printed to the file ``log`` is not judged again if it was killed: a run that
    was stopped goes on, and new tests meet the survivors only.
    """
    end = time.monotonic() + 60 * minutes
    counts, survivors = defaultdict(Counter), []
    earlier = log.read_text().splitlines() if log and log.exists() else []

    def judge(module, fault):
        start = f"{module}:{fault.line}: {fault.text}: killed "
        killed = [line.removeprefix(start) for line in earlier if line.startswith(start)]
        if killed:
            return module, fault, "killed", killed[-1]
        return time.monotonic() < end and (module, fault, *project.judge(module, fault))

    with ThreadPoolExecutor(jobs) as pool:
        judged = as_completed([pool.submit(judge, *pair) for pair in faults])
        for module, fault, verdict, why in filter(None, (task.result() for task in judged)):
            line = f"{module}:{fault.line}: {fault.text}: {verdict} {why}".rstrip()
            print(line, flush=True)
            if log:
                with log.open("a") as file:
                    file.write(f"{line}\n")
            counts[module.parts[0]][verdict] += 1
            if verdict == "survived":
                survivors.append(
                    f"{module}\n    {fault.source_line}\n    {fault.text}\n    line {fault.line}\n"
                )
    print("\nSurvivors (as blocks of equivalent.txt, if the last line says why)\n")
    print(*survivors, sep="\n")
    print(f"{'package':16}" + "".join(f"{name:>12}" for name in ("drawn", *VERDICTS, "% killed")))
    for name, count in (*sorted(counts.items()), ("all", sum(counts.values(), Counter()))):
        ratio = 100 * count["killed"] / max(count["killed"] + count["survived"], 1)
        numbers = "".join(f"{count[verdict]:12}" for verdict in VERDICTS)
        print(f"{name:16}{count.total():12}{numbers}{ratio:12.1f}")
    return counts


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("case", nargs="?", default="", help="a package or module, as index/shards")
    options.add_argument("--faults", type=int, default=200)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--minutes", type=float, default=math.inf, help="begin no fault later")
    options.add_argument("--jobs", type=int, default=2, help="how many faults at a time")
    options.add_argument("--log", type=Path, help="continue the run that wrote this file")
    given = options.parse_args()
    project = Project(Path(__file__).parents[2], "lookalike")
    drawn = project.draw(given.case, given.faults, given.seed)
    run(project, drawn, given.minutes, given.jobs, given.log)
