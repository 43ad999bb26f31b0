"""Candidates: what they must find, and that their number grows with the rows only."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from linkage.people import pairs_of, people
from lookalike.linkage.candidates import MAX_ROWS_OF_KEY, PER_ROW, find_candidates
from lookalike.linkage.pooled import pool


def columns_of(frame, *more):
    tables = [la.read_table(one, kinds=dict.fromkeys(one, "text")) for one in (frame, *more)]
    return [pool(name, [table[name] for table in tables]) for name in frame]


def found_in(candidates):
    return set(zip(candidates.left.tolist(), candidates.right.tolist(), strict=True))


@given(st.text("abcdefgh", min_size=4, max_size=12), st.integers(0, 11), st.integers(0, 2))
def test_texts_that_differ_by_one_letter_are_found(word, place, edit):
    place %= len(word)
    other = word[:place] + ("", "x", f"{word[place]}x")[edit] + word[place + 1 :]
    candidates = find_candidates(columns_of({"word": [word, other, "zzzz", "yyyyyy"]}))
    assert (0, 1) in found_in(candidates)


def test_rows_that_share_a_key_are_found_and_others_are_not():
    """By force: with few rows, exactly the pairs that share a cell, a half or a word."""
    words = ["ann lee", "lee ann", "bob", "bobby", "x", None, "ann"]
    column = columns_of({"word": words})
    keys = []
    for text in words:
        half = {len(text) // 2, (len(text) - 1) // 2} - {0} if text else ()
        ends = {x for h in half for x in (f"{text[:h]}*", f"*{text[-h:]}")}
        keys.append({text, *text.split(), *ends} if text else set())
    n = len(words)
    expected = {(a, b) for a in range(n) for b in range(a + 1, n) if keys[a] & keys[b]}
    assert found_in(find_candidates(column)) == expected


def test_doubles_are_found_and_their_columns_are_counted():
    frame, entities = people(400, 80)
    candidates = find_candidates(columns_of(frame))
    assert pairs_of(entities) <= found_in(candidates)
    assert (candidates.left < candidates.right).all()
    assert candidates.n_columns.min() >= 1
    assert candidates.n_columns.max() <= 4
    clean = find_candidates(columns_of(frame[["name"]]))
    assert clean.n_columns.max() == 1


def test_pairs_of_two_tables_have_a_row_of_each():
    frame, entities = people(100, 30)
    candidates = find_candidates(columns_of(frame[:100], frame[100:]), 100)
    assert (candidates.left < 100).all()
    assert (candidates.right >= 100).all()
    assert pairs_of(entities) <= found_in(candidates)


def test_pairs_are_within_a_group():
    frame, entities = people(60, 20)
    groups = np.where(np.arange(80) % 2, 1, -1)
    candidates = find_candidates(columns_of(frame), groups=groups)
    assert (candidates.left % 2 == 1).all()
    assert (candidates.right % 2 == 1).all()
    assert any(a % 2 and b % 2 for a, b in pairs_of(entities)) == bool(len(candidates))


@pytest.mark.parametrize("copies", [2, 50])
def test_copies_of_a_row_hang_together(copies):
    """More copies than a window holds: each is paired with the next."""
    frame, _ = people(40)
    rows = frame.iloc[[*range(40), *[7] * (copies - 1)]]
    found = found_in(find_candidates(columns_of(rows)))
    reached = {7}
    for a, b in sorted(found, key=max):
        if a in reached or b in reached:
            reached |= {a, b} & {7, *range(40, 39 + copies)}
    assert reached == {7, *range(40, 39 + copies)}


def test_the_number_of_pairs_grows_with_the_rows():
    for n in (500, 2_000):
        frame, _ = people(n, n // 10)
        assert len(find_candidates(columns_of(frame))) <= 2 * PER_ROW * len(frame)
    common = {"word": ["same"] * 5_000}
    assert len(find_candidates(columns_of(common))) < MAX_ROWS_OF_KEY * 5_000


def test_rows_without_cells_have_no_pairs():
    assert len(find_candidates(columns_of({"a": ["x", None, None]}))) == 0
