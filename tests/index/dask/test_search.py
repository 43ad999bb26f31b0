"""Workers find in the shards of a folder what one process finds, and read every file of it."""

import pyarrow.parquet as pq
import pytest

from index.dask.conftest import mixed
from lookalike.errors import InvalidInput
from lookalike.index import build_index
from lookalike.index.dask import check, kneighbors, open_index

RECORD = {"height": 171.0, "town": "Zug"}


@pytest.fixture
def folder(tmp_path):
    pq.write_table(mixed(2500), tmp_path / "rows.parquet")
    build_index(tmp_path / "rows.parquet", tmp_path / "index", "gower", shard_rows=1024)
    return tmp_path / "index"


def shown(hits):
    return [(hit.id, hit.score, hit.distance, hit.row) for hit in hits]


def test_answers_are_those_of_one_process(folder, here):
    from lookalike import Index

    one, summaries = Index.open(folder), []
    asked = [
        {},
        {"filter": {"town": "Bern", "score": (">=", 10)}},
        {"weights": {"town": 5.0, "score": 0.0}},
        {"like": [3, 9], "unlike": [17], "gamma": 0.7},
    ]
    with open_index(folder, here, tell=summaries.append) as many:
        for options in asked:
            for query in (7, RECORD):
                found = many.search(query, 5, **options)
                assert shown(found) == shown(one.search(query, 5, **options))
    assert {summary.tasks for summary in summaries} == {3}
    assert len(summaries) == 8
    assert not list((folder / "graphs").glob("*"))  # the queries of the workers are removed
    graph = kneighbors(folder, [7, RECORD], 5, here, tell=summaries.append)
    assert graph.indices[0].tolist() == one.search(7, 5).ids
    assert graph.indices[1].tolist() == one.search(RECORD, 5).ids
    assert len(summaries) == 9
    with pytest.raises(InvalidInput, match="k"):
        kneighbors(folder, 7, 2501, here)


def test_a_check_names_the_shard_that_is_damaged(folder, here):
    summaries = []
    assert check(folder, here, tell=summaries.append) == {}
    assert summaries[0].tasks == 3
    path = folder / "shards" / "000001" / "0.npy"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert check(folder, here) == {"000001": ["0.npy has another SHA-256"]}
