"""Which faults the tests notice: ``PYTHONPATH=tests python -m mutants --faults 200``.

Random faults are put into a copy of the sources, one at a time, and the tests nearest to the
module run on it. A fault that no test notices is a test that is missing, or no fault.
"""

import argparse
import hashlib
import math
import multiprocessing
import os
import random
import re
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cached_property
from pathlib import Path
from queue import SimpleQueue

from mutants.faults import find_faults
from mutants.nearest import nearest_tests, run_forked

ROOT = Path(__file__).parents[2]
VERDICTS = ("killed", "SURVIVED", "equivalent", "not judged")
TIMEOUT = "by taking too long"
MAX_SECONDS = 300.0  # of one run; only guards against hanging
MAX_WIDE_SECONDS = 120.0  # of the other tests of a folder, which may be thousands
# Every run is forked from a process that has imported what is none of ours: most of a short run.
FORKS = multiprocessing.get_context("forkserver")
THEIRS = "numpy scipy.stats pandas pyarrow.parquet sklearn.utils.estimator_checks numba pytest"
FORKS.set_forkserver_preload(THEIRS.split())
# Compiled loops are cached by the contents of all kernels: a fault in one compiles all again. As
# plain Python the tests nearest to a kernel are faster than that. These modules are not compiled.
NOT_COMPILED = ("__init__", "_cache", "_jit", "first_use")


class Project:
    """A package with its tests: its faults, and what the tests say about one of them.

    Parameters
    ----------
    root : Path
        With ``src/<package>`` and ``tests``.
    package : str
    workers : int
        How many copies of the sources are tested at a time.
    wide : bool
        Whether what survives the tests of its module meets the others of its folder as well.
    """

    def __init__(self, root, package, workers=2, wide=False):
        self.root, self.package, self.wide = root, package, wide
        self.source, self.tests = root / "src" / package, root / "tests"
        self.folder = Path(tempfile.mkdtemp(prefix="mutants-"))
        self.copies, self.links = SimpleQueue(), []
        for number in range(workers):
            copy = self.folder / str(number) / package
            # With its times: compiled loops are kept for a file of this time.
            shutil.copytree(self.source, copy, ignore=shutil.ignore_patterns("__pycache__"))
            self.copies.put(copy)
            self.links += [link for link in [self._share_kernels(copy)] if link]

    def _share_kernels(self, copy):
        """Let a copy use the loops compiled for the sources; numba keeps them by folder."""
        if not (copy / "kernels" / "_cache.py").exists():
            return None
        from lookalike.kernels._cache import cache_folder

        ours, its = (
            Path(cache_folder(), f"kernels_{hashlib.sha1(bytes(path / 'kernels')).hexdigest()}")
            for path in (self.source, copy)
        )
        ours.mkdir(exist_ok=True)
        its.symlink_to(ours)
        return its

    def close(self):
        """Remove the copies."""
        for link in self.links:
            link.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)

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
        """Put a fault into a copy; return the test that fails (or TIMEOUT), None if none does."""
        copy = self.copies.get()
        path, source = copy / module, (self.source / module).read_bytes()
        near, rest = nearest_tests(module, copy, self.tests)
        try:
            path.write_bytes(fault.apply(source))
            failed = self._run(copy, near, module)
            if failed is None and rest and self.wide:
                failed = self._run(copy, rest, module, MAX_WIDE_SECONDS)
                failed = None if failed == TIMEOUT else failed  # too many tests, not a fault
            return failed
        finally:
            path.write_bytes(source)
            shutil.copystat(self.source / module, path)
            self.copies.put(copy)

    def fails_anyway(self, test, module):
        """Tell whether a test fails, or takes too long, without a fault as well."""
        copy = self.copies.get()
        near = nearest_tests(module, copy, self.tests)[0]
        # All sets of parameters: their ids may hold spaces. With the module: it may be a doctest.
        named = [test.split("[")[0]] if test.startswith(self.tests.name) else []
        names = near if test == TIMEOUT else [*named, near[-1]]
        try:
            return self._run(copy, names, module) is not None
        finally:
            self.copies.put(copy)

    def _run(self, copy, tests, module, seconds=MAX_SECONDS):
        """Run tests on a copy; return the first that fails, TIMEOUT, or None."""
        said = copy.parent / "said.txt"
        paths = [str(path) for path in (copy.parent, self.tests, self.root)]
        environment = {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
        if module.parts[0] == "kernels":
            environment["NUMBA_CACHE_DIR"] = str(copy.parent / "compiled")
            environment |= {} if module.stem in NOT_COMPILED else {"LOOKALIKE_COMPILE": "0"}
        arguments = ["-x", "-q", "-p", "no:cacheprovider", "--doctest-modules"]
        arguments += ["--rootdir", str(self.root), *map(str, tests)]
        process = FORKS.Process(
            target=run_forked, args=(arguments, paths, environment, self.root, said)
        )
        process.start()
        process.join(seconds)
        code = process.exitcode
        try:
            os.killpg(process.pid, 9)  # with every process that the tests started
        except ProcessLookupError:
            pass
        process.join()
        if code is None:
            return TIMEOUT
        failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", said.read_text(), re.MULTILINE)
        # 5: no test was collected, as in a module without a doctest.
        return None if code in (0, 5) else failed[1] if failed else "an error"

    @cached_property
    def equivalent(self):
        """Faults known to change nothing: from file, line and fault to the reason."""
        path = self.tests / "mutants" / "equivalent.txt"
        blocks = path.read_text().split("\n\n") if path.exists() else ()
        lines = [[line.strip() for line in block.strip().split("\n")] for block in blocks]
        return {tuple(block[:3]): block[3] for block in lines if not block[0].startswith("#")}


def run(project, faults, survivors, minutes=math.inf):
    """Judge faults, as many as fit; print each and the ratios; return the counts by package."""
    end = time.monotonic() + 60 * minutes
    counts, lived, sound = defaultdict(Counter), [], {}

    def judge(pair):
        if time.monotonic() > end:
            return None
        module, fault = pair
        line = (project.source / module).read_text().splitlines()[fault.line - 1].strip()
        reason = project.equivalent.get((str(module), line, fault.text))
        if reason:
            return module, fault, line, "equivalent", reason
        failed = project.judge(module, fault)
        if failed is None:
            return module, fault, line, "SURVIVED", ""
        # A test that fails on sound sources says nothing; looked at once for each test.
        key = module if failed == TIMEOUT else failed
        if key not in sound:
            sound[key] = not project.fails_anyway(failed, module)
        return module, fault, line, "killed" if sound[key] else "not judged", failed

    with ThreadPoolExecutor(project.copies.qsize()) as pool:
        judged = as_completed([pool.submit(judge, pair) for pair in faults])
        for module, fault, line, verdict, why in filter(None, (one.result() for one in judged)):
            print(f"{module}:{fault.line}: {fault.text}: {verdict} {why}".rstrip(), flush=True)
            counts[module.parts[0]][verdict] += 1
            if verdict == "SURVIVED":
                lived.append(f"{module}\n    {line}\n    {fault.text}\n    line {fault.line}\n")
                survivors.write_text("\n".join(lived))
    print(f"\n{'package':16}" + "".join(f"{name:>12}" for name in ("drawn", *VERDICTS, "% killed")))
    for name, count in (*sorted(counts.items()), ("all", sum(counts.values(), Counter()))):
        ratio = 100 * count["killed"] / max(count["killed"] + count["SURVIVED"], 1)
        numbers = "".join(f"{count[verdict]:12}" for verdict in VERDICTS)
        print(f"{name:16}{count.total():12}{numbers}{ratio:12.1f}")
    return counts


def main():
    """Read the options and run."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("case", nargs="?", default="", help="a package or module, as index/shards")
    options.add_argument("--faults", type=int, default=200)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--minutes", type=float, default=math.inf, help="begin no fault later")
    options.add_argument("--wide", action="store_true", help="all tests of the folder, if need be")
    options.add_argument("--survivors", type=Path, default=Path("survivors.txt"))
    given = options.parse_args()
    project = Project(ROOT, "lookalike", wide=given.wide)
    try:
        faults = project.draw(given.case, given.faults, given.seed)
        run(project, faults, given.survivors, given.minutes)
    finally:
        project.close()


if __name__ == "__main__":
    main()
