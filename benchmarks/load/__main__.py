"""Mixed reads and writes by several clients for a minute: errors, times, memory.

    make load                                   # films, 8 clients, 60 s
    python -m benchmarks.load --seconds 10 --rows 5000

Printed: requests, errors, p50 and p99 by kind of request; whether memory grew; whether an inserted
row was in the next search; the service's own cost (its p50 minus that of the same ``Index`` asked
in a process without HTTP, one caller each); and the same number of searches by a plain server of
scikit-learn and FastAPI.
"""

import argparse
import contextlib
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil

from lookalike.datasets import load_films
from lookalike.service import Client, ServiceError
from lookalike.service.catalog import Catalog
from lookalike.service.fitting import Settings
from lookalike.service.limits import Limits
from lookalike.service.store.store import Store

MIX = ["search"] * 12 + ["record"] * 2 + ["row"] * 2 + ["add"] * 2 + ["replace", "delete"]
SOLO = 60  # searches by one caller, for the cost of HTTP
INDEX, SERVED = "Index in the same process", "the service, with reasons"


def free_port():
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return trial.getsockname()[1]


class Caller(threading.Thread):
    """One client: asks as fast as it is answered, and remembers how long it took."""

    def __init__(self, address, number, end, n_rows):
        super().__init__()
        self.client, self.random = Client(address), random.Random(number)
        self.end, self.n_rows = end, n_rows
        self.times, self.errors, self.unseen, self.mine = {}, [], 0, []

    def run(self):
        while time.monotonic() < self.end:
            what = self.random.choice(MIX)
            if what in ("replace", "delete") and not self.mine:
                what = "add"
            began = time.perf_counter()
            try:
                getattr(self, what)()
            except (ServiceError, OSError) as error:
                self.errors.append(f"{what}: {error}")
            self.times.setdefault(what, []).append(time.perf_counter() - began)
        self.client.close()

    def search(self):
        self.client.search("films", self.random.randrange(self.n_rows), 10)

    def record(self):
        year = self.random.randrange(1920, 2005)
        self.client.search("films", {"year": year, "genres": ["Drama"]}, 10)

    def row(self):
        self.client.row("films", self.random.randrange(self.n_rows))

    def film(self):
        name = f"load {self.random.getrandbits(48)}"
        return {"title": name, "year": self.random.randrange(1920, 2005), "length": 90, "votes": 7}

    def add(self):
        film = self.film()
        added = self.client.add("films", [film])
        self.mine += added["ids"]
        query = {name: cell for name, cell in film.items() if name != "title"}
        hits = self.client.search("films", query, 50, at_least=added["generation"], explain=0)[
            "hits"
        ]
        # Rows that are alike in every column may fill the list; then it is full of distance 0.
        found = added["ids"][0] in [hit["id"] for hit in hits] or hits[-1]["distance"] == 0
        self.unseen += not found

    def replace(self):
        self.client.replace("films", self.random.choice(self.mine), self.film())

    def delete(self):
        self.client.delete("films", self.mine.pop(self.random.randrange(len(self.mine))))


@contextlib.contextmanager
def process(*command):
    """Run a server as a process until the block ends."""
    running = subprocess.Popen([sys.executable, *command], stderr=subprocess.DEVNULL)
    try:
        yield running
    finally:
        running.terminate()
        running.wait()


def wait_for(address):
    client = Client(address)
    while True:
        with contextlib.suppress(OSError):
            client.get("/healthz")
            client.close()
            return
        time.sleep(0.1)


def figures(times):
    values = 1000 * np.sort(np.array(times))
    return np.median(values), np.quantile(values, 0.99)


def show(title, times):
    p50, p99 = figures(times)
    print(f"  {title:<34}{len(times):>8,}{p50:>9.1f}{p99:>9.1f}{p99 / p50:>8.1f}x")


def load(address, asked, pid):
    """Let all callers ask; return them and the memory at a third of the time and at the end."""
    end = time.monotonic() + asked.seconds
    callers = [Caller(address, number, end, asked.rows) for number in range(asked.clients)]
    for caller in callers:
        caller.start()
    server = psutil.Process(pid)
    time.sleep(asked.seconds / 3)
    early = server.memory_info().rss
    for caller in callers:
        caller.join()
    return callers, early, server.memory_info().rss


def interleaved(searches):
    """Return the times of one caller alone, the ways to search taking turns."""
    draw = random.Random(0)
    times = {name: [] for name in searches}
    for turn in range(SOLO + 5):
        row = draw.randrange(1000)
        for name, search in searches.items():
            began = time.perf_counter()
            search(row)
            if turn >= 5:
                times[name].append(time.perf_counter() - began)
    return times


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--rows", type=int, default=58_788)
    asked = parser.parse_args()
    films = load_films()[: asked.rows]
    asked.rows = len(films)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "films.sqlite"
        catalog = Catalog(Store(path))
        catalog.create("films", films, Settings("films", label_column="title"), Limits())
        index = catalog.get("films").view.index
        catalog.store.close()
        ours, plain = free_port(), free_port()
        code = "from lookalike.cli import main; main()"
        command = ("-c", code, "serve", "--store", str(path), "--port", str(ours))
        rival = ("-m", "benchmarks.load.plain", "--port", str(plain), "--rows", str(asked.rows))
        os.environ.setdefault("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
        with process(*command) as server, contextlib.ExitStack() as stack:
            client = stack.enter_context(Client(f"http://127.0.0.1:{ours}"))
            wait_for(client.address)
            with process(*rival), Client(f"http://127.0.0.1:{plain}") as other:
                wait_for(other.address)
                alone = interleaved(
                    {
                        INDEX: lambda row: [hit.reasons(3) for hit in index.search(row, 10)],
                        SERVED: lambda row: client.search("films", row, 10),
                        "the service, without reasons": lambda row: client.search(
                            "films", row, 10, explain=0
                        ),
                        "scikit-learn + FastAPI": lambda row: other.get(f"/search/{row}"),
                    }
                )
            callers, early, late = load(client.address, asked, server.pid)
    report(asked, callers, early, late, alone)


def report(asked, callers, early, late, alone):
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
    print(f"errors {len(errors)}, rows added but not found {unseen}; "
          f"{len(every) / asked.seconds:.0f} requests per second")  # fmt: skip
    for error in errors[:5]:
        print("  " + error[:200])
    print(f"memory of the server {early / 1e6:.0f} MB at a third, {late / 1e6:.0f} MB at the end "
          f"({late / early:.2f}x)")  # fmt: skip
    print("one caller alone, taking turns")
    for name, times in alone.items():
        show(name, times)
    cost = figures(alone[SERVED])[0] - figures(alone[INDEX])[0]
    print(f"the service's own cost at p50: {cost:.1f} ms")


if __name__ == "__main__":
    main()
