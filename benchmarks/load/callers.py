"""Those who ask: clients of the service, and the processes that they ask."""

import contextlib
import json
import random
import subprocess
import sys
import threading
import time

from lookalike.service import Client, ServiceError

MIX = ["search"] * 12 + ["record"] * 2 + ["row"] * 2 + ["add"] * 2 + ["replace", "delete"]


class Caller(threading.Thread):
    """One client: asks as fast as it is answered, and remembers how long it took."""

    def __init__(self, address, number, end, n_rows, mix=MIX):
        super().__init__()
        self.client, self.random = Client(address), random.Random(number)
        self.end, self.n_rows, self.mix = end, n_rows, mix
        self.times, self.errors, self.unseen, self.mine = {}, [], 0, []

    def run(self):
        while time.monotonic() < self.end:
            what = self.random.choice(self.mix)
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
        asked = {"at_least": added["generation"], "explain": 0}
        hits = self.client.search("films", query, 50, **asked)["hits"]
        # Rows that are alike in every column may fill the list; then it is full of distance 0.
        found = added["ids"][0] in [hit["id"] for hit in hits] or hits[-1]["distance"] == 0
        self.unseen += not found

    def replace(self):
        self.client.replace("films", self.random.choice(self.mine), self.film())

    def delete(self):
        self.client.delete("films", self.mine.pop(self.random.randrange(len(self.mine))))


def together(address, clients, seconds, n_rows, mix=MIX):
    """Run several concurrent clients; return them when all have ended."""
    end = time.monotonic() + seconds
    callers = [Caller(address, number, end, n_rows, mix) for number in range(clients)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    return callers


@contextlib.contextmanager
def process(*command, pipes=False):
    """Run something as a process until the block ends."""
    pipe = subprocess.PIPE if pipes else None
    running = subprocess.Popen(
        [sys.executable, *command], stderr=subprocess.DEVNULL, stdin=pipe, stdout=pipe, text=True
    )
    try:
        yield running
    finally:
        running.terminate()
        running.wait()
        for one in (running.stdin, running.stdout):
            if one is not None:
                one.close()


class Alone:
    """The same index without HTTP, in a process of its own (``benchmarks.load.alone``)."""

    def __init__(self, running):
        self._running = running
        if running.stdout.readline().strip() != "ready":
            raise SystemExit("benchmarks.load.alone did not start")

    def ask(self, **asked):
        """Return what it has measured."""
        self._running.stdin.write(json.dumps(asked) + "\n")
        self._running.stdin.flush()
        return json.loads(self._running.stdout.readline())


def wait_for(address):
    """Wait until a server answers."""
    client = Client(address)
    while True:
        with contextlib.suppress(OSError):
            client.get("/healthz")
            client.close()
            return
        time.sleep(0.1)
