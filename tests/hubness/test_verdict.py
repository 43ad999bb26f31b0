"""The verdict on hubs: three cases, their boundaries, and the trial of the reduction."""

import numpy as np
import pytest

from lookalike.hubness import MutualProximity, k_occurrence, skewness, verdict
from lookalike.hubness.verdict import HubVerdict, count_hubs, try_reduction
from lookalike.measures import Gower, Precomputed, Vector

ROWS = np.random.default_rng(0).normal(size=(150, 30))


def of(skew, largest, orphans=0.0):
    return {"skewness": skew, "largest": largest, "orphans": orphans}


@pytest.mark.parametrize(
    ("before", "after", "helps"),
    [
        (of(2.0, 100.0), of(1.5, 99.0), True),
        (of(2.0, 100.0), of(1.51, 99.0), False),  # less than a quarter of the skewness
        (of(2.0, 100.0), of(1.0, 100.0), False),  # the largest hub is as large as before
        (of(2.0, 36.0), of(1.0, 71.0), False),
        (of(2.0, 100.0), of(-0.5, 10.0), True),
    ],
)
def test_the_reduction_helps_if_hubs_get_clearly_smaller(before, after, helps):
    found = HubVerdict(before, before, after)
    assert found.problem
    assert found.reduction_helps is helps
    words = "and the reduction helps: " if helps else "that the reduction does not solve: "
    assert words in str(found)


def test_words_of_the_three_cases():
    assert str(HubVerdict(of(1.0, 1234.0, 16.0))) == (
        "No hub problem here: the largest hub is in 1,234 lists, skewness 1.00, rows in no list 16."
    )
    many = of(5.2, 1108.0, 2090.0)
    assert str(HubVerdict(many, many, of(0.9, 31.0, 5.0), "mutual proximity")) == (
        "Hubs are a problem, and the reduction helps: "
        "the largest hub is in 1,108 -> 31 lists, skewness 5.20 -> 0.90, rows in "
        "no list 2,090 -> 5 (mutual proximity)."
    )
    some = of(1.01, 36.0, 3.0)
    assert str(HubVerdict(some, some, of(1.08, 71.0, 2.0))) == (
        "Hubs are a problem that the reduction does not solve: "
        "the largest hub is in 36 -> 71 lists, skewness 1.01 -> 1.08, "
        "rows in no list 3 -> 2."
    )
    assert str(HubVerdict(some)) == (
        "Hubs are a problem: "
        "the largest hub is in 36 lists, skewness 1.01, rows in no list 3; "
        "the reduction cannot be tried "
        "without distances."
    )


def test_without_a_problem_nothing_is_offered():
    """However well a reduction would do: films whose largest hub went from 36 to 71 had none."""
    fine = of(1.0, 36.0)
    found = HubVerdict(fine, fine, of(0.1, 10.0))
    assert not found.problem
    assert not found.reduction_helps
    assert not HubVerdict(of(None, 36.0)).problem  # all rows in equally many lists
    assert not HubVerdict(of(3.0, 36.0), of(3.0, 36.0)).reduction_helps
    assert not HubVerdict(of(3.0, 36.0), after=of(0.1, 3.0)).reduction_helps


def test_tried_on_the_same_rows():
    space = Vector().fit(ROWS)
    before, after, how = try_reduction(space, 5)
    reduced = MutualProximity(Vector(), model="gauss_independent").fit(ROWS)
    for found, one in ((before, space), (after, reduced)):
        counts = k_occurrence(one, 5)
        assert found["largest"] == counts.max()
        assert found["orphans"] == (counts == 0).sum()
        assert found["skewness"] == pytest.approx(skewness(counts))
    assert how == "mutual proximity"
    assert after["skewness"] < before["skewness"]


def test_of_many_rows_a_sample_is_tried(monkeypatch):
    space = Vector().fit(ROWS)
    monkeypatch.setattr(verdict, "MAX_TRIED_ROWS", 150)
    assert try_reduction(space, 5)[2] == "mutual proximity"
    monkeypatch.setattr(verdict, "MAX_TRIED_ROWS", 149)
    before, after, how = try_reduction(space, 5)
    assert how == "mutual proximity, tried on a sample of 149 rows"
    chosen = np.sort(np.random.default_rng(0).choice(150, 149, replace=False))
    counts = k_occurrence(Vector().fit(ROWS[chosen]), 5)
    assert before == count_hubs(counts)
    assert after["largest"] < before["largest"]
    # Lists of a sample may have to be shorter.
    monkeypatch.setattr(verdict, "MAX_TRIED_ROWS", 4)
    assert try_reduction(space, 5)[0]["largest"] == 3.0


def test_pairs_with_nothing_to_compare_are_the_farthest():
    """Every other row of one column, the rest of the other: half of all pairs are undefined."""
    n = 40
    values = np.random.default_rng(0).random(n)
    even = np.arange(n) % 2 == 0
    rows = {"a": np.where(even, values, np.nan), "b": np.where(even, np.nan, values)}
    before, after, _ = try_reduction(Gower().fit(rows), 3)
    halves = [np.bincount(_nearest(values[half], 3), minlength=n // 2) for half in (even, ~even)]
    assert before["largest"] == max(half.max() for half in halves)
    assert after["largest"] >= 3


def _nearest(values, k):
    far = np.abs(values[:, None] - values)
    np.fill_diagonal(far, np.inf)
    return np.argsort(far, axis=1, kind="stable")[:, :k].ravel()


def test_spaces_of_other_kinds():
    space = Vector().fit(ROWS)
    assert try_reduction(space.neighbors(k=10), 5) is None
    distances = np.linalg.norm(ROWS[:, None] - ROWS, axis=2)
    known = try_reduction(Precomputed().fit(distances), 5)
    assert known[0] == try_reduction(space, 5)[0]
    # Not symmetric: the distance back may be another.
    distances[np.triu_indices(150, 1)] *= 2
    one_way = try_reduction(Precomputed(symmetric=False).fit(distances), 5)
    assert one_way[0]["largest"] != known[0]["largest"]


def test_counts():
    assert count_hubs(np.array([0, 0, 4, 0])) == {
        "skewness": pytest.approx(2 / np.sqrt(3)), "largest": 4.0, "orphans": 3.0,
    }  # fmt: skip
