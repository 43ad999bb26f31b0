"""Some damaged files of every sort; tens of thousands, with bounds checks on, are `make fuzz`."""

from pathlib import Path

import numpy as np
import pytest

from fuzz.__main__ import damage_saved, damage_table
from fuzz.driver import Driver
from fuzz.saved import write_corpus, write_tables
from lookalike.saving.encode import SAVEABLE
from lookalike.saving.load import import_packages
from lookalike.table.formats.files import FORMATS

EACH = 3  # damaged copies of every saved file
TABLES = 240


@pytest.fixture(scope="module")
def driver():
    workers = Driver()
    yield workers
    workers.close()


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    with pytest.warns():
        return write_corpus(folder)


def bad(outcomes):
    return {done: found for done, found in outcomes if not found.startswith(("ok", "clean"))}


@pytest.mark.long
def test_whole_files_are_read_and_answer(driver, saved):
    found = [
        (name, driver.ask("one" if rows == "mixed" else "saved", rows, path))
        for name, rows, path in saved
    ]
    assert {name: outcome for name, outcome in found if outcome != "ok"} == {}


def test_every_saveable_class_is_damaged(saved):
    import_packages()
    text = b"".join(path.read_bytes() for _, _, path in saved)
    ours = {name: cls for name, cls in SAVEABLE.items() if cls.__module__.startswith("lookalike.")}
    # Functions are handed back by the caller; the head of a folder of shards is not a file that is
    # loaded: it is damaged with its folder (fuzz.folders), and each class that it holds here. A
    # query of shards lives as long as its search, in a folder of the client that its workers read.
    apart = {"CallableDistance", "ShardHead"}
    missing = {name for name in ours if f'"class": "{name}"'.encode() not in text}
    assert missing == apart


def test_every_format_of_a_table_is_damaged(tmp_path):
    names = [path.name.removesuffix(".gz") for path in write_tables(tmp_path)]
    damaged = {FORMATS[Path(name).suffix] for name in names}
    assert damaged == set(FORMATS.values())


@pytest.mark.long
def test_damaged_files_end_in_a_clean_error_or_an_answer(driver, saved, tmp_path):
    rng = np.random.default_rng(20)
    outcomes = []
    for number in range(EACH * len(saved)):
        question, done = damage_saved(saved, tmp_path, number, rng)
        outcomes.append((f"{number} {done}", driver.ask(*question)))
    assert bad(outcomes) == {}
    refused = sum(found.startswith("clean") for _, found in outcomes)
    assert refused > len(outcomes) / 2  # most damage is noticed


@pytest.mark.long
def test_damaged_tables_end_in_a_clean_error_or_an_answer(driver, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    files = write_tables(source)
    rng = np.random.default_rng(21)
    outcomes = []
    for path in files:
        assert driver.ask("table", "none", path).startswith("ok (12,"), path
    for number in range(TABLES):
        question, done = damage_table(files, tmp_path, number, rng)
        outcomes.append((f"{number} {done}", driver.ask(*question)))
    assert bad(outcomes) == {}


@pytest.mark.long
def test_the_driver_notices_crashes_and_hangs(saved):
    workers = Driver(seconds=0.5)
    assert workers.ask("hang", "none", "none") == "HANG"
    assert workers.ask("crash", "none", "none") == "CRASH -11"
    workers.seconds = 60.0
    (_, rows, path), *_ = saved
    assert workers.ask("saved", rows, path) == "ok"  # by a new worker
    assert workers.counts == {"HANG": 1, "CRASH": 1, "ok": 1}
    workers.close()
