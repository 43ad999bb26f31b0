"""The same index without HTTP: a process reads the store as the service does, answers on a pipe.

It times itself, so that the pipe is not counted. One line asks, one line answers:
``{"row": 7}`` gives the seconds of one search, ``{"threads": 8, "seconds": 5}`` those of all
searches of so many callers in so much time.
"""

import json
import random
import sys
import threading
import time

from lookalike.service.service import Catalog
from lookalike.service.store.store import Store


def answer(index, row):
    """Search, and read all that the answer of the service holds; return the seconds."""
    began = time.perf_counter()
    hits = index.search(row, 10)
    _ = [(hit.reasons(3), hit.row) for hit in hits]
    return time.perf_counter() - began


def many(index, threads, seconds):
    """Run several concurrent callers; return the seconds of every search."""
    end, times = time.monotonic() + seconds, [[] for _ in range(threads)]

    def ask(number):
        draw = random.Random(number)
        while time.monotonic() < end:
            times[number].append(answer(index, draw.randrange(len(index))))

    callers = [threading.Thread(target=ask, args=[number]) for number in range(threads)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    return [one for some in times for one in some]


def main():
    store = Store(sys.argv[1])
    index = Catalog(store).get("films").view.index
    answer(index, 0)
    print("ready", flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        found = answer(index, asked["row"]) if "row" in asked else many(index, **asked)
        print(json.dumps(found), flush=True)
    store.close()


if __name__ == "__main__":
    main()
