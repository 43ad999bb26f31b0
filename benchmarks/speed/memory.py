"""How much memory one call takes at its peak beyond what was there, in a fresh process."""

import gc
import multiprocessing
import resource
import sys
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path

from benchmarks.speed.threads import limited

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")


def extra_mb(module: str, case: str, contender: str, threads: int | None) -> float:
    """Measure one contender of a case in a process of its own."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(_measure, module, case, contender, threads).result()


def _measure(module: str, name: str, contender: str, threads: int | None) -> float:
    case = next(case for case in import_module(module).CASES if case.name == name)
    prepare = case.contenders[contender]
    with limited(threads):
        prepare(
            case.problem(True)
        )()  # imports, compiled code and thread pools are not the answer's
        run = prepare(case.problem(False))
        gc.collect()
        before = reset_peak()
        answer = run()
        after = peak()
    del answer
    return max(0, after - before) / 1e6


def reset_peak() -> int:
    """Forget earlier peaks where the system can; return the bytes that growth is counted from."""
    try:
        CLEAR.write_text("5")
        return _status("VmRSS")
    except OSError:  # elsewhere the highest peak so far has to do: growth below it goes unseen
        return peak()


def peak() -> int:
    """Return the most bytes that this process has held."""
    try:
        return _status("VmHWM")
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _status(field: str) -> int:
    for line in STATUS.read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"{STATUS} has no {field}")
