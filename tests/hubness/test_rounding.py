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
from numpy.testing import assert_allclose, assert_array_equal

import lookalike as la
from lookalike.hubness import CDM, CSLS, DisSimLocal, MutualProximity, rescale
from lookalike.kernels.hubness import correlations
from lookalike.measures import Precomputed, Vector
from lookalike.measures.contract.rows import concatenate
from lookalike.testing import check_measure


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


@given(
    st.integers(3, 7),
    st.integers(1, 3),
    st.sampled_from([5, 20, 60]),
    st.sampled_from([1e-6, 0.3, 3.0, 1e9]),
    st.data(),
)
def test_neither_the_order_of_rows_nor_the_unit_chooses_a_step(n, k, steps, unit, data):
    # Distances of 0 keep the means apart for ever: all steps have the same spread.
    cells = data.draw(
        st.lists(st.sampled_from([0.0, 0.0, 1.0, 2.0]), min_size=n * n, max_size=n * n)
    )
    d = np.triu(np.reshape(cells, (n, n)), 1)
    d += d.T
    order = data.draw(st.permutations(range(n)))
    mixed = d[np.ix_(order, order)]
    found = [CDM(Precomputed(), min(k, n - 1), max_iter=steps).fit(m) for m in (d, mixed, d * unit)]
    assert len({measure.n_iter_ for measure in found}) == 1
    plain, mixed, scaled = (measure.distance() for measure in found)
    assert_allclose(mixed, plain[np.ix_(order, order)], rtol=1e-6)
    assert_allclose(scaled, plain * unit, rtol=1e-6)


# -- one far row -----------------------------------------------------------------------------------


def exact_excess(d, k, squared):
    """2 d - r_x - r_y, or d**2 - |x - c_x|**2 - |y - c_y|**2, in fractions of whole distances."""
    n = len(d)
    d = [[Fraction(v) ** (2 if squared else 1) for v in row] for row in d.tolist()]
    near = [sorted(set(range(n)) - {i}, key=lambda j: (d[i][j], j))[:k] for i in range(n)]
    level = [sum(d[i][j] for j in near[i]) / k for i in range(n)]
    if squared:
        within = [sum(d[u][v] for u in near[i] for v in near[i]) for i in range(n)]
        level = [one - two / (2 * k * k) for one, two in zip(level, within, strict=True)]
    times = 1 if squared else 2
    return [[times * d[i][j] - level[i] - level[j] for j in range(n)] for i in range(n)]


@pytest.mark.parametrize("how", ["exact", "candidates", "rescale"])
@pytest.mark.parametrize(("cls", "squared"), [(CSLS, False), (DisSimLocal, True)])
@given(
    seed=st.integers(0, 2**32 - 1),
    sentinels=st.integers(1, 2),
    far=st.sampled_from([999999999.0, 1e15]),
)
def test_a_far_row_does_not_change_the_order_of_the_others(cls, squared, how, seed, sentinels, far):
    rng = np.random.default_rng(seed)
    n, k = 16, 3
    x = rng.normal(size=(n, 2))
    x[-sentinels:, 0] = far
    plain = Vector().fit(x)
    measure = cls(Vector(), k, n_candidates=n - 1 if how == "candidates" else None).fit(x)
    if how == "rescale":
        lists = rescale(plain.neighbors(k=n - 1), measure).indices
    else:
        lists = measure.neighbors(k=n - 1).indices
    excess = exact_excess(plain.distance(), k, squared)
    near = range(n - sentinels)
    for i in near:
        # A far row itself: two numbers of 18 digits are subtracted, and floats hold 16 of them.
        found = [j for j in lists[i].tolist() if j in near]
        assert found == sorted(set(near) - {i}, key=lambda j: excess[i][j])


@pytest.mark.parametrize("cls", [CSLS, DisSimLocal])
def test_parts_beside_a_far_row_merge(cls):
    rng = np.random.default_rng(0)
    x, new = rng.normal(size=(2, 24, 2))
    x[7, 0] = 1e15
    check_measure(cls(Vector(), 4), x, new)
    fitted = cls(Vector(), 4).fit(x)
    assert len(np.unique(fitted.distance()[0])) < len(x)  # distances are shown with the offset


@pytest.mark.parametrize("cls", [CSLS, DisSimLocal])
def test_an_index_ranks_beside_a_far_row(cls):
    rng = np.random.default_rng(1)
    x, new = rng.normal(size=(2, 24, 2))
    x[7, 0] = 1e15
    index = la.Index(cls(Vector(), 4)).fit(x)
    index.add(new)
    index.delete([2, 3, 30])
    measure = cls(Vector(), 4).fit(x)
    order = measure.order_block(measure.rows_, concatenate([measure.rows_, measure.encode(new)]))
    others = [j for j in range(48) if j not in (0, 2, 3, 30)]
    expected = sorted(others, key=lambda j: order[0, j])[:20]
    assert index.search(0, k=20).ids == expected


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
