"""Damage saved files and tables many times: ``PYTHONPATH=tests python -m fuzz 20000``."""

import argparse
import gzip
import shutil
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from fuzz.driver import Driver
from fuzz.folders import damage_folder, write_folders
from fuzz.mutants import damage, mutate
from fuzz.saved import write_corpus, write_tables


def damage_saved(files, target, number, rng):
    """Damage one of the saved files; return what to ask of it, and what was done."""
    name, rows, path = files[number % len(files)]
    done = mutate(path, target / "mutant", rng)
    return (_saved(rows), rows, target / "mutant"), f"{name}: {done}"


def _saved(rows):
    return "one" if rows == "mixed" else "saved"


def damage_table(files, target, number, rng):
    """Damage one of the tables, inside its gzip file where there is one."""
    path = files[number % len(files)]
    mutant = target / f"mutant-{path.name}"
    packed = path.suffix == ".gz" and rng.random() < 0.7
    data = gzip.decompress(path.read_bytes()) if packed else path.read_bytes()
    data = damage(data, rng)
    mutant.write_bytes(gzip.compress(data) if packed else data)
    return ("table", "none", mutant), path.name


def damage_shards(files, target, number, rng):
    """Damage one of the folders of an index."""
    path = files[number % len(files)]
    done = damage_folder(path, target / "mutant", rng)
    return ("folder", "none", target / "mutant"), f"{path.name}: {done}"


def warm_up(driver, questions):
    """Ask whole files first: they must answer, and the kernels are compiled on the way."""
    patience, driver.seconds = driver.seconds, 600.0
    for question in questions:
        found = driver.ask(*question)
        assert found == "ok", (question, found)
    driver.seconds = patience
    driver.counts.clear()


def main():
    """Run the fuzzer and print the failures and the counts."""
    options = argparse.ArgumentParser()
    options.add_argument("count", type=int)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--compiled", action="store_true", help="with bounds checks")
    options.add_argument("--tables", action="store_true", help="tables, not saved estimators")
    options.add_argument("--folders", action="store_true", help="indexes in folders")
    options.add_argument("--only", default="", help="part of a name")
    options.add_argument("--keep", default="", help="a folder for mutants that fail")
    given = options.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(given.seed)
    driver, began, failed = Driver(given.compiled), time.time(), 0
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        source.mkdir()
        if given.tables:
            files, make = write_tables(source), damage_table
        elif given.folders:
            files, make = write_folders(source), damage_shards
            warm_up(driver, [("folder", "none", path) for path in files])
        else:
            files, make = write_corpus(source, given.only), damage_saved
            warm_up(driver, [(_saved(rows), rows, path) for _, rows, path in files])
        for number in range(given.count):
            question, done = make(files, Path(folder), number, rng)
            found = driver.ask(*question)
            if not found.startswith(("ok", "clean")):
                failed += 1
                print(f"{number} {done}: {found}", flush=True)
                if given.keep:
                    kept = Path(given.keep) / f"{given.seed}-{number}-{question[2].name}"
                    copy = shutil.copytree if question[2].is_dir() else shutil.copyfile
                    copy(question[2], kept)
            if number % 1000 == 999:
                print(number + 1, dict(driver.counts), f"{time.time() - began:.0f} s", flush=True)
    driver.close()
    seconds = f"{time.time() - began:.0f} s"
    print(f"{given.count} mutants, {failed} failed: {dict(driver.counts)}, {seconds}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
