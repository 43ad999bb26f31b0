"""Workers build and add to a folder what one process builds, byte for byte."""

import pyarrow.parquet as pq
import pytest

import lookalike as la
from index.dask.conftest import mixed
from index.dask.test_cluster import digests, learned
from lookalike.errors import InvalidInput
from lookalike.index import build_index
from lookalike.index.dask import add, fit_encode, folders, read_table


def test_a_build_and_an_addition_are_those_of_one_process(files, tmp_path, here, monkeypatch):
    monkeypatch.setattr(folders, "ROWS_PER_FACTS", 2500)  # facts of several tasks are merged
    summaries = []
    many, one = tmp_path / "many", tmp_path / "one"
    options = {"shard_rows": 2048}
    index = fit_encode(files, many, "gower", here, tell=summaries.append, **options)
    alone = build_index(files, one, "gower", **options)
    assert digests(many) == digests(one)
    assert learned(many) == learned(one)
    assert not list(many.glob(".learned*"))
    assert (summaries[0].rows, summaries[0].tasks, summaries[0].found) == (6000, 3, 0)
    assert index.search(7, 5).ids == alone.search(7, 5).ids
    fit_encode(files, many, "gower", here, tell=summaries.append, **options)
    assert (summaries[1].rows, summaries[1].found) == (0, 3)  # nothing is done again
    pq.write_table(mixed(1500, seed=5), tmp_path / "more.parquet")
    assert add(many, tmp_path / "more.parquet", here, tell=summaries.append) == 1500
    assert alone.add_files(tmp_path / "more.parquet") == 1500
    assert (summaries[2].rows, summaries[2].tasks) == (1500, 1)
    assert digests(many) == digests(one)


def test_kinds_are_inferred_from_all_rows(files, here, monkeypatch):
    monkeypatch.setattr(folders, "ROWS_PER_FACTS", 700)
    table = read_table(files, here, kinds={"score": "category"})
    assert repr(table) == repr(la.read_table(files, lazy=True, kinds={"score": "category"}))
    assert len(table) == 6000


def test_a_table_in_memory_is_refused_before_anything_is_written(tmp_path, here):
    with pytest.raises(InvalidInput, match="Parquet files, which workers can read"):
        fit_encode(la.read_table({"x": [1.0, 2.0]}), tmp_path / "many", "gower", here)
    assert not list((tmp_path / "many").glob("*.lookalike"))
    assert not list((tmp_path / "many").glob("shards/*"))
