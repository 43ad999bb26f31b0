"""What must hold to the last bits: order of rows, units, tight clusters with a far row."""

import math
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from lookalike.hubness import MutualProximity
from lookalike.kernels.hubness import correlations
from lookalike.measures import Vector


def exact_correlation(u, v, known):
    """Pearson's correlation in whole fractions; 0 without spread or with fewer than two columns."""
    pairs = [(Fraction(a), Fraction(b)) for a, b, k in zip(u, v, known, strict=True) if k]
    if len(pairs) < 2:
        return 0.0
    n = len(pairs)
    mean_u, mean_v = sum(a for a, _ in pairs) / n, sum(b for _, b in pairs) / n
    uu = sum((a - mean_u) ** 2 for a, _ in pairs)
    vv = sum((b - mean_v) ** 2 for _, b in pairs)
    uv = sum((a - mean_u) * (b - mean_v) for a, b in pairs)
    if uu == 0 or vv == 0:
        return 0.0
    return math.copysign(math.sqrt(uv * uv / (uu * vv)), uv)


def lost_digits(values):
    """The rounding of values as a share of their spread: 1e-3 at the spread that counts as none."""
    if len(values) < 2:
        return 0.0
    spread = np.square(values - values[0] - (values - values[0]).mean()).sum()
    return 1e-16 * math.sqrt(np.square(values).sum() / spread) if spread > 0 else 1.0


def test_a_far_row_does_not_hide_the_correlation_within_a_tight_cluster():
    """Two rows of the cluster share two others, near and far: their distances rise together."""
    rows = np.array([[0.0], [1e-5], [3e-5], [100.0]])
    found = MutualProximity(Vector(), "gauss").fit(rows).similarity()
    assert found[0, 3] == pytest.approx(0, abs=1e-9)
    assert found[1, 3] == pytest.approx(0, abs=1e-9)


@given(st.integers(0, 2**32 - 1), st.integers(3, 9), st.floats(-9, 0), st.booleans())
def test_correlations_are_those_of_exact_arithmetic(seed, n, tight, gaps):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n) * 10.0**tight
    x[-1] = 100.0
    d = np.abs(x[:, None] - x)
    known = np.ones((n, n)) - np.eye(n)
    if gaps:
        known[rng.random((n, n)) < 0.2] = 0.0
    counts = np.maximum(known.sum(axis=1), 1)
    deviations = (d - ((d * known).sum(axis=1) / counts)[:, None]) * known
    found = np.empty((n, n))
    correlations(deviations, known, deviations, known, found)
    for i in range(n):
        for j in range(n):
            common = known[i] * known[j]
            expected = exact_correlation(deviations[i], deviations[j], common)
            # Deviations are rounded: thirteen digits below them a spread is round-off, and the
            # nearer it is to that, the fewer digits the correlation has.
            lost = max(lost_digits(deviations[row][common > 0]) for row in (i, j))
            if lost > 0.5e-3:
                assert found[i, j] == 0 or lost < 2e-3
            else:
                assert found[i, j] == pytest.approx(expected, abs=1e-6 + 10 * lost)
    assert_array_equal(found, found.T)


# -- steps that are equal but for round-off --------------------------------------------------------


# -- one far row -----------------------------------------------------------------------------------


# -- compiled or not -------------------------------------------------------------------------------

HASH = """
import hashlib, numpy as np
from lookalike.hubness import LocalScaling, MutualProximity
from lookalike.measures import Vector
x = np.random.default_rng(0).normal(size=(12, 3))
for measure in (LocalScaling(Vector(), 3), MutualProximity(Vector(), "gauss_independent")):
    print(hashlib.sha256(measure.fit(x).similarity().tobytes()).hexdigest())
"""


@pytest.mark.long
def test_uncompiled_kernels_give_the_same_bits():
    found = [
        subprocess.run(
            [sys.executable, "-c", HASH],
            env={**os.environ, "LOOKALIKE_COMPILE": compiled},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for compiled in ("1", "0")
    ]
    assert found[0] == found[1]
    assert len(set(found[0].split())) == 2
