"""k medoids: the worked numbers, a slow reference, no exchange left that improves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.measures import Gower, Vector
from lookalike.measures.medoids import fasterpam, k_medoids
from lookalike.represent import select_prototypes
from represent import reference

POINTS = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 30.0])
LINE = np.abs(POINTS[:, None] - POINTS)


@pytest.mark.parametrize(("k", "medoids", "cost"), [(2, [2, 5], 20), (3, [1, 3, 5], 3)])
def test_worked_numbers(k, medoids, cost):
    found = k_medoids(LINE, k)
    assert found.tolist() == medoids == reference.pam(LINE, k)
    assert reference.cost(LINE, found) == cost
    assert select_prototypes(Vector("cityblock"), POINTS[:, None], n=k).tolist() == medoids
    assert select_prototypes(Gower(), POINTS[:, None], n=k).tolist() == medoids


@st.composite
def distances(draw, whole):
    n = draw(st.integers(3, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    x = rng.integers(0, 5, (n, 2)).astype(float) if whole else rng.random((n, 3))
    return np.abs(x[:, None] - x).sum(axis=2), draw(st.integers(1, n - 1))


@given(distances(whole=False))
def test_no_swap_improves(problem):
    d, k = problem
    found = k_medoids(d, k).tolist()
    assert len(set(found)) == k
    assert found == sorted(found)
    assert reference.no_swap_improves(d, found)


# Fixed seeds: the two rows of a pair tie for its medoid even in continuous data, and from a tie two
# right answers can part; breaking ties otherwise can also lead to a better one.
@pytest.mark.parametrize("seed", range(40))
def test_cost_is_not_above_that_of_the_slow_reference(seed):
    rng = np.random.default_rng(seed)
    x = rng.random((12, 3))
    d, k = np.abs(x[:, None] - x).sum(axis=2), 2 + seed % 5
    found = k_medoids(d, k)
    assert reference.cost(d, found) <= reference.cost(d, reference.pam(d, k)) + 1e-12


@given(distances(whole=True))
def test_ties_and_repeats_leave_no_better_swap(problem):
    d, k = problem
    found = k_medoids(d, k).tolist()
    assert len(set(found)) == k
    assert reference.no_swap_improves(d, found)
    # Nor does an earlier row of the same place stand idle while a later one is a medoid.
    for m in found:
        assert all(j in found for j in range(m) if d[j][m] == 0)


def test_as_many_as_rows_or_all_rows_alike():
    assert k_medoids(LINE, 6).tolist() == k_medoids(LINE, 9).tolist() == list(range(6))
    assert k_medoids(np.zeros((5, 5)), 3).tolist() == [0, 1, 2]


def test_similarity_space_is_cityblock_between_rows_of_the_matrix():
    rng = np.random.default_rng(3)
    x = rng.random((14, 3))
    s = Gower().fit(x).similarity()
    d = np.abs(s[:, None] - s).sum(axis=2)
    found = select_prototypes(Gower(), x, method="medoids_similarity", n=4)
    assert found.tolist() == reference.pam(d, 4)
    assert found.tolist() != select_prototypes(Gower(), x, n=4).tolist()


@pytest.mark.parametrize("method", ["medoids", "medoids_similarity"])
def test_samples_of_a_large_table_do_nearly_as_well(method):
    rng = np.random.default_rng(0)
    centers = rng.random((6, 4)) * 10
    x = centers[rng.integers(0, 6, 900)] + rng.normal(0, 0.2, (900, 4))
    measure = Vector("cityblock")
    whole = select_prototypes(measure, x, n=6, method=method)
    parts = select_prototypes(measure, x, n=6, method=method, max_rows=200, random_state=1)
    again = select_prototypes(measure, x, n=6, method=method, max_rows=200, random_state=1)
    other = select_prototypes(measure, x, n=6, method=method, max_rows=200, random_state=2)
    assert parts.tolist() == again.tolist() != other.tolist()
    d = np.abs(x[:, None] - x).sum(axis=2)
    cost = [d[:, at].min(axis=1).sum() for at in (whole, parts)]
    assert cost[1] <= 1.1 * cost[0]
    worst = d[:, [0, 1, 2, 3, 4, 5]].min(axis=1).sum()
    assert cost[1] < 0.5 * worst


@given(distances(whole=False), st.booleans())
def test_fasterpam_shares_rows_out_among_medoids_that_no_swap_improves(problem, started):
    d, k = problem
    start = np.arange(k) if started else k
    found = fasterpam(d, start)
    assert len(set(found.medoids.tolist())) == k
    assert (d[np.arange(len(d)), found.medoids[found.labels]] == d[:, found.medoids].min(1)).all()
    assert reference.no_swap_improves(d, found.medoids.tolist())
    assert found.cost == pytest.approx(reference.cost(d, found.medoids.tolist()))
