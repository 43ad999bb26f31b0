"""Limits of requests: buckets that refill, sizes that are refused."""

import pytest

from lookalike.service import limits
from lookalike.service.limits import RateLimiter


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
