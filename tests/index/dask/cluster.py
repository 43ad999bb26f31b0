"""A real cluster on this machine: a scheduler and worker processes that can be killed."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import distributed

TESTS = Path(__file__).parents[2]
SOURCE = TESTS.parent / "src"
QUIET = {
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "2",
    "DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE": "False",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "30s",
    "NUMBA_NUM_THREADS": "1",
}


class Cluster:
    """Processes of Dask's own programs, without nannies: who is killed stays dead."""

    def __init__(self, folder, workers, *options):
        self.folder, self.file = folder, folder / "scheduler.json"
        self.options = options  # of workers
        self.log = (folder / "log").open("wb")
        self.scheduler = self._start(
            "dask_scheduler", "--host", "127.0.0.1", "--port", "0",
            "--scheduler-file", str(self.file), "--no-dashboard", "--no-show",
        )  # fmt: skip
        end = time.monotonic() + 120
        while not self.file.exists():
            assert time.monotonic() < end, "the scheduler did not start"
            time.sleep(0.1)
        self.workers = []
        self.fill(workers)

    def fill(self, many):
        """Start workers until so many are there and known to the scheduler."""
        self.workers = [process for process in self.workers if process.poll() is None]
        self.workers += [self.join() for _ in range(many - len(self.workers))]
        with distributed.Client(self.address, timeout=120, set_as_default=False) as client:
            client.wait_for_workers(many, timeout=400)  # the machine may have other things to do

    def _start(self, program, *options):
        paths = os.pathsep.join([str(SOURCE), str(TESTS)])
        env = {**os.environ, **QUIET, "PYTHONPATH": paths}
        command = [sys.executable, "-m", f"distributed.cli.{program}", *options]
        return subprocess.Popen(command, env=env, stdout=self.log, stderr=self.log)

    def join(self):
        """Start one more worker."""
        return self._start(
            "dask_worker", "--scheduler-file", str(self.file), "--no-nanny", "--nthreads", "1",
            "--no-dashboard", "--host", "127.0.0.1", *self.options,
        )  # fmt: skip

    @property
    def address(self):
        return json.loads(self.file.read_text())["address"]

    def kill(self, number):
        """Kill a worker for good."""
        self.workers[number].send_signal(signal.SIGKILL)
        self.workers[number].wait()

    def close(self):
        for process in [*self.workers, self.scheduler]:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait()
        self.log.close()
