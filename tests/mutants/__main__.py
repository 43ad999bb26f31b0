"""Which faults the tests notice: ``PYTHONPATH=tests python -m mutants --faults 200``.

Random faults are put into a copy of the sources, one at a time, and the tests nearest to the
module run on it. A fault that no test notices is a test that is missing, or no fault.
"""

import argparse
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from queue import SimpleQueue

from mutants.faults import find_faults
from mutants.nearest import nearest_tests

ROOT = Path(__file__).parents[2]
SURVIVED = "SURVIVED"
MIN_SECONDS, MAX_SECONDS = 60.0, 300.0
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
    """

    def __init__(self, root, package, workers=2):
        self.root, self.package = root, package
        self.source, self.tests = root / "src" / package, root / "tests"
        self.folder = Path(tempfile.mkdtemp(prefix="mutants-"))
        self.copies, self.links, self.plain = SimpleQueue(), [], {}
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
        """Put a fault into a copy; return what the tests say: the test that fails, or SURVIVED."""
        copy = self.copies.get()
        path, source = copy / module, (self.source / module).read_bytes()
        near, rest = nearest_tests(module, copy, self.tests)
        try:
            plain = self._measure(copy, module, near)
            if isinstance(plain, str):
                return plain
            path.write_bytes(fault.apply(source))
            limit = min(max(MIN_SECONDS, 5 * plain), MAX_SECONDS)
            code, said = self._run(copy, module, near, limit)
            if code == 0 and rest:  # what takes too long here says nothing: its time is not known
                code, said = self._run(copy, module, rest, MAX_SECONDS)
                code = 0 if code is None else code
            if code is None:
                return f"killed by taking {limit:.0f} s" if plain < limit / 2 else "timeout"
            return SURVIVED if code == 0 else f"killed by {said}"
        finally:
            path.write_bytes(source)
            shutil.copystat(self.source / module, path)
            self.copies.put(copy)

    def _measure(self, copy, module, near):
        """Return the seconds of the nearest tests without a fault, or why they say nothing."""
        if module not in self.plain:
            began = time.monotonic()
            code, said = self._run(copy, module, near, 2 * MAX_SECONDS)
            spent = time.monotonic() - began
            self.plain[module] = spent if code == 0 else f"not judged: {said} without a fault"
        return self.plain[module]

    def _run(self, copy, module, files, limit):
        """Run tests on a copy; return the exit code, or None after the limit, and what failed."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
        command += ["--doctest-modules", "--rootdir", str(self.root), *map(str, files)]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, (copy.parent, self.tests, self.root))),
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        if module.parts[0] == "kernels":
            environment["NUMBA_CACHE_DIR"] = str(copy.parent / "compiled")
            if module.stem not in NOT_COMPILED:
                environment["LOOKALIKE_COMPILE"] = "0"
        process = subprocess.Popen(
            command, cwd=self.root, env=environment, text=True, start_new_session=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            said, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            _end(process)
        failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", said, re.MULTILINE)
        # 5: no test was collected, as in a module without a doctest.
        return 0 if process.returncode == 5 else process.returncode, (failed or ["an error"])[0]

    @cached_property
    def equivalent(self):
        """Faults known to change nothing: from file, line and fault to the reason."""
        path = self.tests / "mutants" / "equivalent.txt"
        blocks = path.read_text().split("\n\n") if path.exists() else ()
        lines = [[line.strip() for line in block.strip().split("\n")] for block in blocks]
        return {tuple(block[:3]): block[3] for block in lines if not block[0].startswith("#")}


def _end(process):
    """End a test run with every process that it started."""
    try:
        os.killpg(process.pid, 9)
    except ProcessLookupError:
        pass
    process.communicate()


def run(project, faults, survivors):
    """Judge faults; print a line for each and the ratios; return the counts by package."""
    drawn, killed, lived = Counter(), Counter(), []

    def judge(pair):
        module, fault = pair
        line = (project.source / module).read_text().splitlines()[fault.line - 1].strip()
        reason = project.equivalent.get((str(module), line, fault.text))
        verdict = f"equivalent: {reason}" if reason else project.judge(module, fault)
        return module, fault, line, verdict

    with ThreadPoolExecutor(project.copies.qsize()) as pool:
        for module, fault, line, verdict in pool.map(judge, faults):
            print(f"{module}:{fault.line}: {fault.text}: {verdict}", flush=True)
            if verdict.startswith(("killed", SURVIVED)):
                package = module.parts[0]
                drawn[package] += 1
                killed[package] += verdict.startswith("killed")
            if verdict == SURVIVED:
                lived.append(f"{module}\n    {line}\n    {fault.text}\n    line {fault.line}\n")
    survivors.write_text("\n".join(lived))
    print(f"\n{'package':24}{'drawn':>8}{'killed':>8}{'%':>8}")
    for name, total, found in (
        *((name, drawn[name], killed[name]) for name in sorted(drawn)),
        ("all", drawn.total(), killed.total()),
    ):
        print(f"{name:24}{total:8}{found:8}{100 * found / max(total, 1):8.1f}")
    return drawn, killed


def main():
    """Read the options and run."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("case", nargs="?", default="", help="a package or module, as index/shards")
    options.add_argument("--faults", type=int, default=200)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--survivors", type=Path, default=Path("survivors.txt"))
    given = options.parse_args()
    project = Project(ROOT, "lookalike")
    try:
        run(project, project.draw(given.case, given.faults, given.seed), given.survivors)
    finally:
        project.close()


if __name__ == "__main__":
    main()
