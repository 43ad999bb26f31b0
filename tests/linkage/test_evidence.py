"""Weights of evidence: worked numbers, a slow reference, and what is learned without labels."""

import numpy as np
import pytest
from scipy.special import expit

import lookalike as la
from linkage.people import pairs_of, people
from linkage.test_candidates import columns_of
from lookalike.linkage.candidates import Candidates, find_candidates
from lookalike.linkage.evidence import (
    EQUAL,
    LEVELS,
    Evidence,
    PairLevels,
    compare_pairs,
    learn_evidence,
)
from lookalike.linkage.pooled import pool

PAIRS = Candidates(np.array([0, 0, 1]), np.array([2, 3, 3]), np.ones(3, np.int64))


def test_levels_and_rarity_of_pairs():
    names = ["ann", "ann", "anne", "bob", None]
    column = pool("x", [la.read_table({"x": names}, kinds={"x": "text"})["x"]])
    pairs = compare_pairs([column], np.array([0, 0, 0, 0]), np.array([1, 2, 3, 4]))
    assert pairs.levels.ravel().tolist() == [EQUAL, 3, 0, -1]
    # Two of four rows with a name are called ann; one of the two is left out.
    assert pairs.rarity.ravel()[0] == pytest.approx(np.log(4))
    assert np.isnan(pairs.rarity.ravel()[1:]).all()


def test_weights_are_log_ratios_and_a_rare_value_says_more():
    matches = np.array([[0.02, 0.02, 0.02, 0.04, 0.1, 0.8]])
    others = np.array([[0.6, 0.3, 0.06, 0.02, 0.01, 0.01]])
    evidence = Evidence(matches, others, prior=-5.0)
    levels = np.array([[0], [4], [-1], [EQUAL], [EQUAL]])
    rarity = np.array([[np.nan], [np.nan], [np.nan], [np.log(1000)], [np.log(2)]])
    found = evidence.weights(PairLevels(levels, rarity)).ravel()
    near = np.log(0.1 / 0.01)
    expected = [np.log(0.02 / 0.6), near, 0.0, np.log(0.8 * 1000), near]
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(evidence.log_odds(PairLevels(levels, rarity)), found - 5.0)


def test_alike_pairs_are_a_class_of_their_own():
    """By Bayes' rule over the three classes, pair by pair."""
    random = np.random.default_rng(0)
    matches, alike, others = random.dirichlet(np.ones(len(LEVELS)), (3, 4)).cumsum(axis=2) / 3.0
    levels = random.integers(-1, EQUAL, (50, 4))
    pairs = PairLevels(levels, np.full(levels.shape, np.nan))
    shares = (matches / matches.sum(1, keepdims=True), others / others.sum(1, keepdims=True))
    evidence = Evidence(*shares, np.log(0.01), alike, np.log(0.1))
    ratios = np.exp(evidence.weights(pairs).sum(axis=1))
    for k, line in enumerate(levels):
        near = 0.1 * np.prod([alike[j, i] / shares[1][j, i] for j, i in enumerate(line) if i >= 0])
        expected = np.log(0.01 * ratios[k] / (1.0 + near))
        assert evidence.log_odds(pairs)[k] == pytest.approx(expected)


def test_neighbors_are_no_matches_where_columns_go_together():
    """Households share name, street and town: with two classes alone they would be the matches."""
    frame, entities = people(300, 60)
    homes = np.random.default_rng(0).integers(0, 60, len(frame))
    homes[300:] = homes[entities[300:]]
    for name in ("road", "town", "family"):
        frame[name] = [f"{name} {home * 37 % 101}{home}" for home in homes]
    columns = columns_of(frame)
    found = find_candidates(columns)
    pairs = compare_pairs(columns, found.left, found.right)
    evidence = learn_evidence(columns, found, pairs)
    probabilities = found.probabilities(evidence.log_odds(pairs))
    truth = pairs_of(entities)
    right = np.array([pair in truth for pair in zip(found.left, found.right, strict=True)])
    assert (probabilities[right] > 0.9).mean() > 0.95
    assert (probabilities[~right] > 0.5).sum() <= 3
    # As learned: nearly all that are merely alike share a home.
    assert (evidence.alike[4:, EQUAL] > 0.5).all()


def test_weights_never_fall_with_the_similarity():
    random = np.random.default_rng(0)
    shares = random.dirichlet(np.ones(len(LEVELS)), (2, 9))
    levels = np.repeat(np.arange(EQUAL)[:, None], 9, axis=1)
    evidence = Evidence(*shares, prior=0.0)
    weights = evidence.weights(PairLevels(levels, np.full(levels.shape, np.nan)))
    assert (np.diff(weights, axis=0) >= -1e-12).all()


def test_rivals_share_the_odds_where_a_row_has_one_match():
    """By force: exactly one of the pairs of a row, or none, is the match."""
    odds = np.array([4.0, 1.0, 2.0])
    alone = PAIRS.probabilities(np.log(odds))
    np.testing.assert_allclose(alone, odds / (1 + odds))
    sums = [4 + 1, 4 + 1 + 2, 2 + 1]  # the pairs that share a row with each one
    found = PAIRS.probabilities(np.log(odds), one_to_one=True)
    np.testing.assert_allclose(found, odds / (1 + np.array(sums)))
    decided = np.array([np.nan, 1.0, 0.0])
    found = PAIRS.probabilities(np.log(odds), decided=decided)
    np.testing.assert_allclose(found, [0.8, 1.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("one_to_one", [False, True])
def test_matches_are_learned_without_labels(one_to_one):
    frame, entities = people(300, 80)
    columns = columns_of(frame)
    candidates = find_candidates(columns)
    pairs = compare_pairs(columns, candidates.left, candidates.right)
    evidence = learn_evidence(columns, candidates, pairs, one_to_one=one_to_one)
    probabilities = candidates.probabilities(evidence.log_odds(pairs), one_to_one)
    truth = pairs_of(entities)
    ends = zip(candidates.left.tolist(), candidates.right.tolist(), strict=True)
    right = np.array([pair in truth for pair in ends])
    assert (probabilities[right] > 0.9).mean() > 0.97
    assert (probabilities[~right] < 0.1).mean() > 0.99
    assert probabilities.sum() == pytest.approx(80, abs=2)
    # Half of the cells of a double have a slip: their share of equal cells is learned.
    assert evidence.matches[:, EQUAL].mean() == pytest.approx(0.5, abs=0.12)
    np.testing.assert_allclose(evidence.matches.sum(axis=1), 1.0)
    # Of random pairs, those that are matches are taken out.
    assert (evidence.others[:, EQUAL] < 0.02).all()


def test_decided_pairs_move_the_odds_and_few_move_them_little():
    levels = np.tile(np.arange(EQUAL)[:, None], (8, 1))
    pairs = PairLevels(levels, np.full(levels.shape, np.nan))
    shares = (
        np.array([[0.1, 0.1, 0.1, 0.2, 0.3, 0.2]]),
        np.array([[0.6, 0.2, 0.1, 0.05, 0.03, 0.02]]),
    )
    evidence = Evidence(*shares, prior=-1.0)
    unknown = np.full(len(levels), np.nan)
    assert evidence.calibrated(pairs, unknown) is evidence
    one = unknown.copy()
    one[0] = 1.0
    some = evidence.calibrated(pairs, np.ones(len(levels)))
    before, few, many = (
        expit(e.log_odds(pairs)).mean() for e in (evidence, evidence.calibrated(pairs, one), some)
    )
    assert before < few < many
    assert (evidence.calibrated(pairs, np.zeros(len(levels))).log_odds(pairs) < 0).all()
