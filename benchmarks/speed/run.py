"""Run one case: prepare everybody, check the answers, then take turns with the clock."""

import gc
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.speed.case import OURS, Case
from benchmarks.speed.memory import extra_mb
from benchmarks.speed.threads import limited
from lookalike.kernels.first_use import compile_at_once


@dataclass
class Result:
    """What came out of one case; contenders that did not run are in ``absent`` with the reason."""

    case: Case
    seconds: dict[str, list[float]] = field(default_factory=dict)
    extra_mb: dict[str, float] = field(default_factory=dict)
    disagreements: dict[str, str] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)

    @property
    def best(self) -> dict[str, float]:
        """The shortest time of each contender."""
        return {label: min(times) for label, times in self.seconds.items()}

    def targets(self) -> dict[str, bool | None]:
        """Each target in words, and whether it was met (None: unknown)."""
        return {str(aim): aim.holds(self.best, self.extra_mb) for aim in self.case.targets}

    def to_json(self) -> dict:
        """Everything but the answers, as plain values."""
        return {
            "case": self.case.name,
            "seconds": self.seconds,
            "best": self.best,
            "extra_mb": self.extra_mb,
            "disagreements": self.disagreements,
            "absent": self.absent,
            "targets": self.targets(),
        }


def processor_seconds() -> float:
    """Return the processor time of this process, its threads and the processes it waited for."""
    waited = resource.getrusage(resource.RUSAGE_CHILDREN)
    # ``os.times`` counts in hundredths of a second: more than a question takes.
    return time.process_time() + waited.ru_utime + waited.ru_stime


CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "cpu": processor_seconds}


def run_case(
    case: Case, module: str, repeats: int, threads: int | None, clock: str = "wall"
) -> Result:
    """Time every contender in turn; the least of several repeats says what the code can do.

    On a machine that others use as well, processor time ("cpu") says more than the clock on the
    wall.
    """
    now = CLOCKS[clock]
    result = Result(case)
    with limited(threads):
        problem = case.problem(False)
        ready = {OURS: case.ours(problem)}
        for label, prepare in case.rivals.items():
            try:
                ready[label] = prepare(problem)
            except ImportError as error:
                result.absent[label] = f"not installed ({error.name or error})"

        # The first call of each warms it up: compilation and thread pools are not timed.
        with compile_at_once():
            answer = ready[OURS]()
        for label in ready.keys() - {OURS}:
            wrong = case.agree(answer, ready[label]())
            if wrong:
                result.disagreements[label] = wrong
        del answer

        labels = list(ready)
        result.seconds = {label: [] for label in labels}
        for turn in range(repeats):
            at = turn % len(labels)  # rotate, so no contender always follows the same one
            for label in labels[at:] + labels[:at]:
                gc.collect()
                began = now()
                ready[label]()
                result.seconds[label].append(now() - began)
    for label in labels:
        result.extra_mb[label] = extra_mb(module, case.name, label, threads)
    return result
