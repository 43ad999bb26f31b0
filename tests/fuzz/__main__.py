"""``python tests/fuzz 20000``: damage saved files and tables that often, and count what happens."""

import argparse
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "src")]

from driver import Driver
from mutants import mutate
from saved import write_corpus


def main():
    """Run the fuzzer and print the failures and the counts."""
    options = argparse.ArgumentParser()
    options.add_argument("count", type=int)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--compiled", action="store_true")
    options.add_argument("--only", default="")
    options.add_argument("--keep", default="")
    given = options.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(given.seed)
    driver, failures = Driver(given.compiled), Counter()
    began = time.time()
    with tempfile.TemporaryDirectory() as folder:
        files = write_corpus(Path(folder), given.only)
        target = Path(folder) / "mutant"
        for number in range(given.count):
            name, rows, path = files[number % len(files)]
            done = mutate(path, target, rng)
            found = driver.ask("one" if rows == "mixed" else "saved", rows, target)
            if not found.startswith(("ok", "clean")):
                failures[f"{found} [{name}]"] += 1
                print(f"{number} {name}: {done}: {found}", flush=True)
                if given.keep:
                    kept = Path(given.keep) / f"{given.seed}-{number}-{name}"
                    kept.write_bytes(target.read_bytes())
            if number % 1000 == 999:
                print(number + 1, dict(driver.counts), f"{time.time() - began:.0f} s", flush=True)
    driver.close()
    print(given.count, "mutants:", dict(driver.counts), f"{time.time() - began:.0f} s")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
