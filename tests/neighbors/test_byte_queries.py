"""Rows and queries as bytes, and what their differences are bounded by."""

import numpy as np

from lookalike.kernels.bounds import NUMBER, STEPS
from lookalike.neighbors.byte_queries import ByteCodes, ByteQueries


def test_bounds_are_bounds():
    """A bound times its unit is never above what it bounds, and often not far below."""
    rng = np.random.default_rng(1)
    x, q = rng.random((500, 6)), rng.random((4, 6))
    weights = rng.random(6)
    codes = ByteCodes.make(500, 6, lambda at: ((x[at] * STEPS).astype(np.uint8), None))
    own = (q * STEPS).astype(np.uint8)
    bounds = ByteQueries(own, weights, np.full(6, NUMBER), weights=weights).bounds(codes)
    asked = bounds.queries
    for i in range(4):
        steps = np.maximum(np.abs(asked.u[i].astype(int) - (x * STEPS).astype(int)) - 1, 0)
        found = (steps * asked.w[i]).sum(axis=1) * bounds.unit[i]
        true = (np.abs(x - q[i]) * weights).sum(axis=1) / weights.sum()
        assert (found <= true + 1e-12).all()
        assert (found > 0.9 * true - 0.05).all()
