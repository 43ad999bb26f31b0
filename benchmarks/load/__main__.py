"""Mixed reads and writes by several clients for a minute: errors, times, memory.

    make load                                   # films, 8 clients, 60 s
    python -m benchmarks.load --seconds 10 --rows 5000
    python -m benchmarks.load --seconds 600 --judge     # a part of make fuzz

Printed: requests, errors, p50 and p99 by kind of request; whether memory grew; whether an inserted
row was in the next search; and the overhead of the service. With ``--judge`` errors, lost rows and
memory that grows end it with status 1. For that the same queries go to the
service, to the same ``Index`` read from the same store by a process without HTTP, and to a plain
server of scikit-learn and FastAPI: by one caller, interleaved in a rotating order, then by all
clients concurrently. Times are those of the caller; the CPU time of each process is printed as
well, since it does not depend on the load of the machine.
"""

import argparse
import contextlib
import os
import random
import socket
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil

from benchmarks.load.callers import Alone, Caller, process, together, wait_for
from lookalike.datasets import load_films
from lookalike.service import Client
from lookalike.service.fitting import CollectionSettings
from lookalike.service.limits import RequestLimits
from lookalike.service.service import Catalog
from lookalike.service.store.store import Store

SOLO = 120  # questions of one caller alone
WARM = 10  # that come before, and are not counted
# Of memory, from one third of the time to the next: more rows are added than deleted, which takes a
# hundredth in ten minutes, and memory that Python gives back late moves by some hundredths.
MAX_GROWTH = 1.05
SERVE = "from lookalike.cli import main; main()"
INDEX, SERVED, PLAIN = "the same Index, no HTTP", "the service", "scikit-learn + FastAPI"


def free_port():
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return trial.getsockname()[1]


def percentiles(times):
    values = 1000 * np.sort(np.array(times))
    return np.median(values), np.quantile(values, 0.99)


def show(title, times, cpu=None):
    p50, p99 = percentiles(times)
    used = "" if cpu is None else f"{1000 * cpu:>9.1f}"
    print(f"  {title:<34}{len(times):>8,}{p50:>9.1f}{p99:>9.1f}{p99 / p50:>8.1f}x{used}")


def cpu_of(pid):
    used = psutil.Process(pid).cpu_times()
    return used.user + used.system


def by_turns(searches, pids, n_rows):
    """Return times and CPU seconds per question of one caller, the ways to search taking turns."""
    draw, names = random.Random(0), list(searches)
    times, cpu = {name: [] for name in names}, dict.fromkeys(names, 0.0)
    for turn in range(SOLO + WARM):
        row = draw.randrange(n_rows)
        for at in range(
            len(names)
        ):  # rotate: no contender is always first, or always after the slowest
            name = names[(turn + at) % len(names)]
            before, began = cpu_of(pids[name]), time.perf_counter()
            own = searches[name](row)  # a process without HTTP says how long it took
            took = time.perf_counter() - began
            if turn >= WARM:
                times[name].append(own if own is not None else took)
                cpu[name] += (cpu_of(pids[name]) - before) / SOLO
    return times, cpu


def all_at_once(asked, alone, address, pids):
    """Return the same for all clients concurrently, with searches only."""
    seconds = max(5.0, asked.seconds / 6)
    before = cpu_of(pids[INDEX])
    times = {INDEX: alone.ask(threads=asked.clients, seconds=seconds)}
    cpu = {INDEX: (cpu_of(pids[INDEX]) - before) / len(times[INDEX])}
    before = cpu_of(pids[SERVED])
    callers = together(address, asked.clients, seconds, asked.rows, ["search"])
    times[SERVED] = [one for caller in callers for some in caller.times.values() for one in some]
    cpu[SERVED] = (cpu_of(pids[SERVED]) - before) / len(times[SERVED])
    return times, cpu


def mixed(address, asked, pid):
    """Let all clients read and write; return them, and the memory of the server each second."""
    server = psutil.Process(pid)
    end = time.monotonic() + asked.seconds
    callers = [Caller(address, number, end, asked.rows) for number in range(asked.clients)]
    memory = [server.memory_info().rss]
    for caller in callers:
        caller.start()
    while any(caller.is_alive() for caller in callers):
        time.sleep(min(1.0, asked.seconds / 30))
        memory.append(server.memory_info().rss)
    return callers, memory


def growth(memory):
    """Return the memory of the last third in that of the second; the first one fills caches."""
    _, second, third = np.array_split(np.array(memory), 3)
    return float(np.median(third) / np.median(second))


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--rows", type=int, default=58_788)
    parser.add_argument("--judge", action="store_true", help="fail where something is wrong")
    asked = parser.parse_args()
    films = load_films()[: asked.rows]
    asked.rows = len(films)
    os.environ.setdefault("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        path = Path(folder) / "films.sqlite"
        catalog = Catalog(Store(path))
        catalog.create(
            "films", films, CollectionSettings("films", label_column="title"), RequestLimits()
        )
        catalog.store.close()
        ours, plain = free_port(), free_port()
        server = stack.enter_context(
            process("-c", SERVE, "serve", "--store", str(path), "--port", str(ours))
        )
        client = stack.enter_context(Client(f"http://127.0.0.1:{ours}"))
        wait_for(client.address)
        with contextlib.ExitStack() as rivals:
            command = ("-m", "benchmarks.load.plain", "--port", str(plain))
            rival = rivals.enter_context(process(*command, "--rows", str(asked.rows)))
            pipe = rivals.enter_context(
                process("-m", "benchmarks.load.alone", str(path), pipes=True)
            )
            other, alone = rivals.enter_context(Client(f"http://127.0.0.1:{plain}")), Alone(pipe)
            wait_for(other.address)
            pids = {INDEX: pipe.pid, SERVED: server.pid, PLAIN: rival.pid}
            searches = {
                INDEX: lambda row: alone.ask(row=row),
                SERVED: lambda row: client.search("films", row, 10) and None,
                PLAIN: lambda row: other.get(f"/search/{row}") and None,
            }
            costs = {
                "one caller, taking turns": by_turns(searches, pids, asked.rows),
                f"{asked.clients} callers": all_at_once(asked, alone, client.address, pids),
            }
        callers, memory = mixed(client.address, asked, server.pid)
    wrong = report(asked, callers, memory, costs)
    return int(asked.judge and wrong)


def report(asked, callers, memory, costs):
    """Print the results; return whether something is wrong."""
    size = f"{asked.rows:,} films, {asked.clients} clients, {asked.seconds:g} s"
    print(f"{size}, mixed reads and writes")
    print(f"  {'request (milliseconds)':<34}{'n':>8}{'p50':>9}{'p99':>9}{'ratio':>9}")
    everything = {}
    for caller in callers:
        for what, times in caller.times.items():
            everything.setdefault(what, []).extend(times)
    for what in sorted(everything):
        show(what + (" and find it" if what == "add" else ""), everything[what])
    every = [time for times in everything.values() for time in times]
    show("all", every)
    errors = [error for caller in callers for error in caller.errors]
    unseen = sum(caller.unseen for caller in callers)
    print(f"requests {len(every):,}, errors {len(errors)}, rows added but not found {unseen}; "
          f"{len(every) / asked.seconds:.0f} requests per second")  # fmt: skip
    for error in errors[:5]:
        print("  " + error[:200])
    start, third, end = (memory[at] / 1e6 for at in (0, len(memory) // 3, -1))
    print(f"memory of the server: {start:.0f} MB at the start, {third:.0f} MB at a third, "
          f"{end:.0f} MB at the end; last third {growth(memory):.2f}x the second")  # fmt: skip
    for who, (times, cpu) in costs.items():
        print(f"{who}: searches with reasons{'':<18}p50      p99   ratio      CPU")
        for name in times:
            show(name, times[name], cpu[name])
        cost = percentiles(times[SERVED])[0] - percentiles(times[INDEX])[0]
        print(f"  the service's own cost: {cost:.1f} ms at p50, "
              f"{1000 * (cpu[SERVED] - cpu[INDEX]):.1f} ms of CPU")  # fmt: skip
    return bool(errors) or unseen > 0 or growth(memory) > MAX_GROWTH


if __name__ == "__main__":
    sys.exit(main())
