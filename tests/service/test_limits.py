"""Limits of requests: buckets that refill, sizes that are refused."""

import importlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from lookalike.errors import InvalidInput, TooLarge
from lookalike.measures.names import known_measures
from lookalike.saving.fields import fields_of
from lookalike.service import limits
from lookalike.service.limits import RateLimiter, RequestLimits
from lookalike.trees.growers import GROWERS
from lookalike.verbs import VERBS, get_verb
from lookalike.verbs.requests import request_model


def test_a_bucket_refills():
    rates = RateLimiter(10, 2)
    assert [rates.wait("a", now=0) for _ in range(2)] == [0, 0]
    assert rates.wait("a", now=0) == pytest.approx(0.1)
    assert rates.wait("b", now=0) == 0
    assert rates.wait("a", now=0.1) == 0
    assert RateLimiter(0, 0).wait("a") == 0


def test_a_bucket_holds_no_more_than_a_burst():
    rates = RateLimiter(10, 2)
    assert rates.wait("a", now=0) == 0
    assert [rates.wait("a", now=100) for _ in range(3)] == [0, 0, pytest.approx(0.1)]


def test_clients_that_are_silent_are_forgotten_first(monkeypatch):
    monkeypatch.setattr(limits, "MAX_CLIENTS", 2)
    rates = RateLimiter(1, 1)
    for client in ("a", "b", "a", "c"):  # b was silent the longest
        rates.wait(client, now=0)
    assert rates.wait("b", now=0) == 0
    assert rates.wait("c", now=0) == 1


def integer_options():
    """Return the integer options of all measures that a request can name, and of their parts."""
    found = set()
    for cls, _ in known_measures(matrices=False).values():
        for part in (*cls.examples(), *GROWERS.values()):
            fields = fields_of(part if isinstance(part, type) else type(part))
            found |= {n for n, field in fields.items() if field.fits(10**9) and n[-1] != "_"}
    return found


def method_options():
    """Return the options of all methods that a request can name."""
    every = [importlib.import_module(f"lookalike.verbs.{verb}") for verb in (*VERBS, "learning")]
    methods = [getattr(module, "METHODS", {}) for module in every]
    return {option for known in methods for options in known.values() for option in options}


def counts_of_verbs():
    """Return the parameters of verbs that a request may give as a number of any size."""
    found = set()
    for verb in VERBS:
        for name, field in request_model(get_verb(verb)).model_fields.items():
            try:
                TypeAdapter(field.annotation).validate_python(10**9, strict=True)
            except ValidationError:
                continue
            found.add(name)
    return found


def test_every_option_that_multiplies_work_has_a_limit():
    # Shares, exponents and seeds take a large number, too, and cost nothing.
    # More features than columns are all of them; forest and parts take anything, checked later.
    harmless = {"random_state", "alpha", "beta", "tol", "weights", "undefined", "ranges"}
    harmless |= {"max_features", "forest", "model", "parts"}
    assert integer_options() - harmless <= set(limits.AT_MOST)
    assert method_options() - {"eps"} <= set(limits.AT_MOST)
    # Rows, thresholds and seconds; k has a limit of its own.
    harmless = {
        "row",
        "other",
        "like",
        "unlike",
        "seed",
        "max_distance",
        "max_seconds",
        "k",
        "threshold",
    }
    assert counts_of_verbs() - harmless <= set(limits.AT_MOST)
    with pytest.raises(InvalidInput, match="k=1001: needs at most 1,000"):
        limits.check_verb({"k": 1_001}, RequestLimits())


@pytest.mark.parametrize(
    "text",
    [
        "ratio:n_trees=1000000000",
        "ratio:n_trees=1e9",
        "ratio:trees=20001",
        "ratio:forest=extra,max_depth=100000",
        "simusf:height=60",
        "nicdm:measure=ratio:n_estimators=1000000",
        "nicdm:measure=gower,n_neighbors=100000",
        "mutual-proximity:measure=gower,sample=10000000",
        'combined:parts=[[1, "ratio:n_trees=1000000"]]',
        "neighbors:k=5000",
        "gower,ratio:n_trees=50000",
        "ratio:n_trees=NaN",
    ],
)
def test_options_that_multiply_work_are_refused(text):
    with pytest.raises(InvalidInput, match="at most"):
        limits.check_options(text)


@given(st.integers(-10, 1_000), st.sampled_from(["ratio", "shi", "nicdm:measure=oob"]))
def test_options_within_the_limits_are_allowed(n, name):
    limits.check_options(f'{name}:n_trees={n},seed=123456789,weights={{"a": 1e9}}')


@pytest.mark.parametrize(
    "filter",
    [
        {"a": {"in": [1] * 11}},
        {"a": {"in": [1] * 6}, "b": {"not in": [2] * 6}},
        ["a=1"] * 11,
        '{"a": {"in": [1,1,1,1,1,1,1,1,1,1,1]}}',
    ],
)
def test_filters_of_many_values_are_refused(filter):
    with pytest.raises(TooLarge, match="filter: needs at most 10"):
        limits.check_filter(filter, RequestLimits(values=10))
    limits.check_filter(filter, RequestLimits(values=12))


def test_only_processor_time_counts(monkeypatch):
    clock = {"thread": 0.0, "wall": 0.0}
    monkeypatch.setattr(limits.time, "thread_time", lambda: clock["thread"])
    monkeypatch.setattr(limits.time, "monotonic", lambda: clock["wall"])
    one, other = limits.TimeLimit(5.0), limits.TimeLimit(5.0)
    assert not one.passed()
    clock.update(wall=40.0, thread=4.0)
    assert not one.passed()  # it has waited for a core
    assert not other.passed()
    clock["thread"] = 8.0  # work for the other request in the same thread
    assert not other.passed()
    assert not one.passed()
    clock["thread"] = 9.5
    assert one.passed()
    assert not other.passed()
    clock["wall"] = 51.0
    assert other.passed()


def test_a_request_ends_with_its_client():
    limit = limits.TimeLimit(5.0)
    assert not limit.passed()
    limit.gone = True
    assert limit.passed()


def test_values_inside_of_lists_and_objects_are_found():
    nested = {"a": [1, {"b": (2, "x")}], "c": None}
    assert sorted(map(str, limits.leaves(nested))) == ["1", "2", "None", "x"]
    found = sorted(map(str, limits.leaves(nested, keys=True)))
    assert found == ["1", "2", "None", "a", "b", "c", "x"]
    assert list(limits.leaves("abc")) == ["abc"]
    few = RequestLimits(values=3)
    for fits in ({"a": ["in", [1, 2]]}, ['{"a": 1, "b": 2, "c": 3}'], ["a=1,2,3,4"], None):
        limits.check_filter(fits, few)
    for many in ({"a": ["in", [1, 2, 3]]}, ['{"a": 1, "b": 2, "c": 3, "d": 4}']):
        with pytest.raises(TooLarge, match="filter: needs at most 3, found 4"):
            limits.check_filter(many, few)


def test_the_limits_are_those_that_are_documented():
    """An operator plans the memory and the time of a server by them."""
    assert vars(RequestLimits()) == {
        "body": 16_777_216, "upload": 536_870_912, "rows": 2_000_000, "columns": 2_000,
        "unpacked": 16_777_216, "batch": 10_000, "cell": 100_000, "depth": 32, "k": 1_000,
        "pairs": 200_000, "queries": 100, "marks": 1_000, "values": 10_000, "measures": 50,
        "seconds": 60.0, "headers": 20.0, "wait": 2.0, "rate": 200.0, "burst": 400.0, "nodes": 200,
    }  # fmt: skip
    assert limits.AT_MOST == {
        "n_estimators": 20_000, "height": 32, "max_depth": 1_000, "max_samples": 100_000,
        "synthetic": 100_000, "max_retries": 1_000, "max_iter": 1_000, "n_neighbors": 1_000,
        "min_neighbors": 1_000, "n_candidates": 10_000, "sample": 100_000, "landmarks": 10_000,
        "n_jobs": 64, "n_clusters": 1_000, "folds": 50, "n": 1_000, "draws": 100,
    }  # fmt: skip


def test_a_question_to_a_verb_is_within_limits():
    few = RequestLimits(k=5, measures=2, marks=2, batch=3, values=4)
    for fits in (
        {"k": 5}, {"n": 1_000}, {"folds": 50, "seed": 10**9}, {"measures": "gower,ranked"},
        {"measures": ["gower", "ranked"]}, {"like": [1, 2], "unlike": [3, 4]}, {"like": "abc"},
        {"predict": [1, 2, 3]}, {"filter": {"a": [1, 2, 3, 4]}}, {"measure": "ratio:n_trees=20000"},
    ):  # fmt: skip
        limits.check_verb(fits, few)
    for wrong, said in (
        ({"k": 6}, "k=6: needs at most 5, found 6. Use k=5."),
        ({"n": 1_001}, "n=1001: needs at most 1,000, found 1,001. Use n=1000."),
        ({"n_clusters": "1001"}, "n_clusters='1001': needs at most 1,000, found 1,001."),
        ({"n_clusters": "9" * 5_000}, "n_clusters='999"),
        ({"measures": "gower,ranked,shi"}, "measures: needs at most 2, found 3."),
        ({"measures": ["gower", "ranked", "shi"]}, "measures: needs at most 2, found 3."),
        ({"like": [1, 2, 3]}, "like: needs at most 2, found 3."),
        ({"unlike": [1, 2, 3]}, "unlike: needs at most 2, found 3."),
        ({"predict": [1, 2, 3, 4]}, "predict: needs at most 3, found 4."),
        ({"decisions": [{}] * 4}, "decisions: needs at most 3, found 4."),
        ({"filter": {"a": [1, 2, 3, 4, 5]}}, "filter: needs at most 4, found 5."),
        ({"measure": "ratio:n_trees=20001"}, "measure: needs n_trees of at most 20,000, found"),
        ({"method": "x:n_clusters=1001"}, "method: needs n_clusters of at most 1,000, found"),
        ({"measures": ["shi:height=33"]}, "measures: needs height of at most 32, found 33."),
    ):
        with pytest.raises((InvalidInput, TooLarge)) as caught:
            limits.check_verb(wrong, few)
        assert str(caught.value).startswith(said)
    for asked, rows, most in (
        ({"other": "t", "k": 50}, 4_000, 50),
        ({"control": "t", "k": 7}, 4_000, 7),
        ({"control": "t", "k": 50, "replace": True}, 4_000, 50),
        ({"columns": None, "draws": 50}, 4_000, 50),
        ({"control": "t", "k": 1}, 10**6, 1),  # one of each is always allowed
    ):
        limits.check_verb(asked, RequestLimits(), rows)
        (name,) = asked.keys() & {"k", "draws"}
        with pytest.raises(InvalidInput, match=f"at most {most:,} for {rows:,} rows"):
            limits.check_verb(asked | {name: most + 1}, RequestLimits(), rows)
    given = {"a": [1, True, {"b": 2.5}], "c": "x:d=3,e=f"}
    assert list(limits._options(given)) == [("a", 1), ("b", 2.5), ("d", 3)]
