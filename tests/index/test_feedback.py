"""Sessions: rounds, marks that add up, and going back."""

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import InvalidInput
from lookalike.index import FeedbackSession
from lookalike.measures import Vector


@pytest.fixture
def index():
    return la.Index(Vector()).fit(np.random.default_rng(0).random((60, 3)))


def test_every_round_is_the_search_with_all_marks_so_far(index):
    session = FeedbackSession(index, 5, k=8, gamma=0.75, filter={"x0": (">", 0.1)})
    where = {"filter": {"x0": (">", 0.1)}, "gamma": 0.75}
    assert session.hits.ids == index.search(5, 8, **where).ids
    first = session.hits.ids
    session.mark(like=first[:2], unlike=first[2])
    assert session.hits.ids == index.search(5, 8, like=first[:2], unlike=first[2], **where).ids
    assert not set(session.hits.ids) & {5, *first[:3]}
    second = session.hits.ids
    session.like(np.array(second[:1]))
    session.unlike({second[1]})
    assert session.liked == (*first[:2], second[0])
    assert session.unliked == (first[2], second[1])
    expected = index.search(5, 8, like=session.liked, unlike=session.unliked, **where)
    assert session.hits.ids == expected.ids
    assert session.round == 3


def test_undo_goes_back_round_by_round(index):
    session = FeedbackSession(index, {"x0": 0.5, "x1": 0.5, "x2": 0.1}, k=5)
    shown = [session.hits.ids]
    for _ in range(3):
        session.mark(like=session.hits.ids[0], unlike=session.hits.ids[-1])
        shown.append(session.hits.ids)
    assert [each.hits.ids for each in session.history] == shown
    assert [len(each.like) for each in session.history] == [0, 1, 1, 1]
    for before in reversed(shown[:-1]):
        assert session.undo().ids == before
    assert session.round == 0
    assert session.liked == session.unliked == ()
    with pytest.raises(InvalidInput, match="a round to take back"):
        session.undo()


def test_marking_again_changes_nothing_but_changing_sides_is_refused(index):
    session = FeedbackSession(index, 0, k=5)
    liked = session.hits.ids[0]
    session.like(liked)
    before = session.hits.ids
    assert session.like([liked, liked]).ids == before
    assert session.liked == (liked,)
    with pytest.raises(InvalidInput, match=rf"id {liked}, which is marked as liked.*undo"):
        session.unlike(liked)
    assert session.hits.ids == before
    assert session.round == 2


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ({"like": 999}, "999"),
        ({"unlike": [1, -1]}, "-1"),
        ({"like": 3, "unlike": 3}, "id 3"),
        ({"unlike": 0}, "id 0"),
        ({}, "ids to mark"),
    ],
)
def test_bad_marks_leave_the_session_as_it_was(index, mark, message):
    session = FeedbackSession(index, 0, k=5)
    before = session.hits.ids
    with pytest.raises(InvalidInput, match=message):
        session.mark(**mark)
    assert session.round == 0
    assert session.hits.ids == before


def test_a_session_has_one_query(index):
    with pytest.raises(InvalidInput, match="one query"):
        FeedbackSession(index, [1, 2])
