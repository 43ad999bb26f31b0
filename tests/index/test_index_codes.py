"""An index with byte codes: made in time, stepped over by filters and deletions, never believed."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import lookalike as la
from lookalike.kernels.first_use import compile_at_once
from lookalike.measures import Gower, Vector
from lookalike.measures.contract import codes as bounded_search
from lookalike.table import Table

N = 5000
KINDS = {"color": "category", "tags": "set"}


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    size = rng.random(n).round(3)
    size[rng.random(n) < 0.1] = np.nan
    tags = [frozenset(rng.choice(list("abcd"), 2).tolist()) for _ in range(n)]
    columns = {"size": size, "age": rng.gamma(2.0, size=n), "tags": tags}
    return columns | {"color": [f"c{i}" for i in rng.integers(0, 9, n)]}


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Ask the bytes from the first question on, also where no earlier test compiled their loops."""
    with compile_at_once():
        yield


@pytest.fixture(scope="module")
def index():
    return la.Index(Gower(), kinds=KINDS).fit(rows(N))


@pytest.fixture
def plain(monkeypatch):
    """Answer a question by looking at everything."""

    def ask(index, *question, **options):
        with monkeypatch.context() as patch:
            patch.setattr(bounded_search, "pays", lambda b, k, n=1: False)
            return index.search(*question, **options)

    return ask


def parts(index):
    return index.state_.segments.segments


def has_codes(segment):
    return segment.rows.cache.get("codes") is not None


def same(hits, others):
    assert hits.ids == others.ids
    assert [hit.distance for hit in hits] == [hit.distance for hit in others]
    assert [hit.similarity for hit in hits] == [hit.similarity for hit in others]


def test_codes_are_there_before_the_first_question(tmp_path):
    index = la.Index(Vector("cityblock")).fit(np.random.default_rng(0).random((N, 3)))
    assert has_codes(parts(index)[0])
    index.add(np.random.default_rng(1).random((N, 3)))
    assert [has_codes(part) for part in parts(index)] == [True, True]
    index.save(tmp_path / "index.lookalike")
    again = la.load(tmp_path / "index.lookalike")
    for part, other in zip(parts(index), parts(again), strict=True):
        assert has_codes(other)
        codes, made = (p.rows.cache["codes"].codes for p in (part, other))
        assert_array_equal(codes.tiles, made.tiles)


def test_few_rows_have_no_codes():
    index = la.Index(Vector("cityblock")).fit(np.random.default_rng(0).random((50, 3)))
    assert not has_codes(parts(index)[0])


@pytest.mark.parametrize(
    "options",
    [
        {"filter": {"color": {"in": ["c1", "c2", "c3"]}}},
        {"filter": {"color": "c4", "size": ("<", 0.05)}},  # few rows: cut out
        {"filter": {"age": ("<", -1)}},  # none at all
        {"weights": {"tags": 5.0, "size": 0.0}},
        {"columns": ["size", "tags"], "filter": {"age": (">", 1.0)}},
    ],
)
def test_questions_give_what_looking_at_everything_gives(index, plain, options):
    for query in (7, {"size": 0.4, "tags": {"a", "b"}}):
        same(index.search(query, 12, **options), plain(index, query, 12, **options))


def test_deleted_rows_are_stepped_over_and_not_copied(plain):
    index = la.Index(Gower(), kinds=KINDS).fit(rows(N))
    nearest = index.search(0, 200).ids
    index.delete(nearest)
    hits = index.search(0, 12)
    assert not set(hits.ids) & set(nearest)
    assert "_kept" not in parts(index)[0].__dict__
    assert has_codes(parts(index)[0])
    same(hits, plain(index, 0, 12))
    index.add(rows(N, seed=3))
    same(index.search(1, 12), plain(index, 1, 12))
    index.refit()
    same(index.search(1, 12), plain(index, 1, 12))


def test_no_record_is_read_before_it_is_asked_for(index, monkeypatch):
    read = []
    record = Table.record
    monkeypatch.setattr(Table, "record", lambda self, at: read.append(at) or record(self, at))
    hits = index.search(11, 5)
    assert read == []
    assert hits.query["color"] == rows(N)["color"][11]
    assert hits[0].row["color"] == rows(N)["color"][hits[0].id]
    assert len(read) == 2


def test_reasons_are_the_same_alone_and_together(index):
    for options in ({}, {"weights": {"size": 3.0}}):
        together = index.search(5, 8, **options)
        together[0].explanation  # noqa: B018  the first alone, the second with all others
        for at, hit in enumerate(together):
            alone = index.search(5, 8, **options)[at].explanation
            assert repr(hit.explanation) == repr(alone)  # every number in full; NaN is NaN
