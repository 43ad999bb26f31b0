"""Limits of requests: buckets that refill, sizes that are refused."""

import pytest

from lookalike.service.limits import RateLimiter


def test_a_bucket_refills():
    rates = RateLimiter(10, 2)
    assert [rates.wait("a", now=0) for _ in range(2)] == [0, 0]
    assert rates.wait("a", now=0) == pytest.approx(0.1)
    assert rates.wait("b", now=0) == 0
    assert rates.wait("a", now=0.1) == 0
    assert RateLimiter(0, 0).wait("a") == 0
