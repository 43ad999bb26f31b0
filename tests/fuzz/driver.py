"""Feeds damaged files to a worker process, and starts another when one dies."""

import contextlib
import os
import select
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil

HERE = Path(__file__).parent
SRC = HERE.parents[1] / "src"
CROWDED = 10  # a busy machine gives a process at least one part in so many of its time


class Driver:
    """Workers, one after another.

    Parameters
    ----------
    compiled : bool
        Run compiled kernels with bounds checks, or plain Python ones, where an index out of bounds
        raises by itself.
    seconds : float
        How long one file may take, in seconds of the processor: a busy machine is no hang. After
        ten times as long on the clock even one that waits is given up.
    """

    def __init__(self, compiled=False, seconds=20.0):
        self.seconds, self.process = seconds, None
        switches = {"NUMBA_BOUNDSCHECK": "1"} if compiled else {"LOOKALIKE_COMPILE": "0"}
        paths = os.pathsep.join([str(SRC), str(HERE.parent), os.environ.get("PYTHONPATH", "")])
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.env = {**os.environ, **switches, **threads, "PYTHONPATH": paths}
        if compiled:  # checked kernels must not be mixed with unchecked ones
            self.env["XDG_CACHE_HOME"] = str(Path.home() / ".cache" / "lookalike-checked")
        self.counts = Counter()

    def _start(self):
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "worker.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self.env,
            text=True,
        )
        assert self._line(120.0) == "ready"

    def _line(self, seconds):
        """Return what the worker writes next, or None if that takes too long."""
        try:
            worked = self._worked()
            until, most = time.monotonic() + CROWDED * seconds, worked + seconds
            while time.monotonic() < until and worked < most:
                ready, _, _ = select.select([self.process.stdout], [], [], min(1.0, seconds))
                if ready:
                    return self.process.stdout.readline().strip()
                worked = self._worked()
        except psutil.Error:  # it died meanwhile
            return self.process.stdout.readline().strip()
        return None

    def _worked(self):
        used = psutil.Process(self.process.pid).cpu_times()
        return used.user + used.system

    def ask(self, kind, rows, path):
        """Return the outcome of a file: ``ok``, ``clean ...``, ``FOREIGN ...``, CRASH or HANG."""
        if self.process is None:
            self._start()
        self.process.stdin.write(f"{kind}\t{rows}\t{path}\n")
        self.process.stdin.flush()
        found = self._line(self.seconds)
        if not found:
            code = self.process.poll() if found is None else self.process.wait()
            self.close()
            found = "HANG" if found is None else f"CRASH {code}"
        self.counts[found.split()[0]] += 1
        return found

    def close(self):
        """End the worker."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
            self.process.stdout.close()
            self.process = None
