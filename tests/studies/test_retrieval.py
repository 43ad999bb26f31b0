"""The retrieval protocol: simulated feedback, counted by hand and by an oracle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import lookalike as la
from lookalike.errors import InvalidInput, WrongType
from lookalike.index import ReFeat, rocchio
from lookalike.measures import (
    ForestProximity,
    Gower,
    Precomputed,
    Ranked,
    StochasticForest,
    Vector,
)
from lookalike.trees import SyntheticForest
from studies.marking import Protocol, precision_of
from studies.retrieval import retrieval_precision

LABELS = np.repeat([0, 1, 2], [30, 40, 12])


def ask(rank, relevant, rounds=0, top=50, seeds=(0,)):
    """Ask one query of a database whose rows are or are not of its class."""
    protocol = Protocol(n_queries=5, rounds=rounds, top=top, n_marks=2)
    found = protocol.ask(rank, np.asarray(relevant), [np.random.default_rng(s) for s in seeds])
    return found.tolist()


def same(scores):
    """Rank by the same scores whatever is marked."""
    return lambda new: [np.asarray(scores, float)] * len(new)


def test_worked_number():
    # A list of 60 with 30 members of the class left, 20 of them among the first 50.
    relevant = np.zeros(60, bool)
    relevant[:20] = relevant[50:] = True
    assert ask(same(np.arange(60)), relevant) == [[0.4]]
    assert precision_of(np.zeros(0, bool)) == 0.0


def test_a_list_shorter_than_fifty_is_counted_whole():
    assert ask(same(np.zeros(10)), np.arange(10) < 4) == [[0.4]]


def test_rounds_mark_two_of_each_kind_from_the_first_fifty_and_never_list_them():
    n, asked = 100, [([], [])]
    relevant = np.random.default_rng(3).random(n) < 0.3
    scores = np.random.default_rng(4).random(n)

    def rank(new):
        ((yes, no),) = new
        asked.append((asked[-1][0] + yes, asked[-1][1] + no))
        return [scores]

    (found,) = ask(rank, relevant, rounds=5)
    del asked[0]
    assert len(found) == len(asked) == 6
    for turn, (yes, no) in enumerate(asked):
        assert len(set(yes)) == len(yes) == 2 * turn
        assert len(set(no)) == len(no) == 2 * turn
        assert relevant[yes].all()
        assert not relevant[no].any()
        left = [i for i in np.argsort(scores) if i not in yes + no]
        assert len(left) == n - 4 * turn
        first = left[:50]
        assert found[turn] == sum(relevant[i] for i in first) / 50
        if turn < 5:
            new = set(asked[turn + 1][0] + asked[turn + 1][1]) - set(yes + no)
            assert new <= set(first)


def test_fewer_than_two_of_a_kind_are_taken_as_they_are():
    counts = []

    def rank(new):
        counts.append([len(some) for some in new[0]])
        return [np.arange(4.0)]

    ask(rank, np.array([1, 0, 0, 0], bool), rounds=3)
    assert counts == [[0, 0], [1, 2], [0, 1], [0, 0]]


def test_each_gamma_has_marks_of_its_own():
    given = []

    def rank(new):
        given.append([list(map(len, marks)) for marks in new])
        return [np.arange(4.0), -np.arange(4.0)]

    found = ask(rank, np.array([1, 0, 0, 0], bool), rounds=1, top=1, seeds=(0, 1))
    assert found == [[1.0, 0.0], [0.0, 0.0]]
    assert given == [[[0, 0], [0, 0]], [[1, 0], [0, 1]]]


def test_ties_go_to_the_lower_position():
    relevant = np.array([1, 1, 1, 0, 0, 0], bool)
    assert ask(same(np.zeros(6)), relevant, top=3) == [[1.0]]
    assert ask(same(np.zeros(6)), ~relevant, top=3) == [[0.0]]


@given(
    arrays(float, st.integers(1, 60), elements=st.sampled_from([0.0, 1.0, 2.0, -1.5, np.nan])),
    st.integers(1, 12),
    st.sets(st.integers(0, 59), max_size=8),
)
def test_the_first_are_those_of_the_whole_order(scores, top, marked):
    marked = sorted(at for at in marked if at < len(scores))
    order = [at for at in np.argsort(scores, kind="stable") if at not in marked]
    free = np.ones(len(scores), bool)
    free[marked] = False
    found = Protocol(5, 0, top, 2)._first(scores, free)
    assert found.tolist() == order[:top]


def test_a_perfect_measure_finds_all_that_is_left():
    points = LABELS[:, None] * 1000.0 + np.random.default_rng(0).random((82, 1))
    found = retrieval_precision(Vector(), points, LABELS, top=20, n_repetitions=2, random_state=0)
    # Five of each class are queries; two more leave the list with every round.
    for turn in range(6):
        left = [n - 5 - 2 * turn for n in (30, 40, 12)]
        assert np.allclose(
            found.precision[:, turn], np.mean([min(20, max(x, 0)) for x in left]) / 20
        )
    assert found.mean == found.rounds[-1]
    assert found.std == 0.0


def test_queries_and_their_labels_are_not_in_the_database():
    seen = []

    def method(database):
        seen.append(len(database))

        def rank(wanted, unwanted, gamma):
            seen.append((len(wanted), 0 if unwanted is None else len(unwanted), gamma))
            return np.zeros(len(database))

        return rank

    retrieval_precision(
        method, np.arange(82.0)[:, None], LABELS, rounds=1, top=10, gamma=0.25, n_repetitions=1
    )
    assert seen[0] == 82 - 15
    assert seen[1] == (1, 0, 0.25)
    assert len(seen) == 1 + 15 * 2
    assert all(1 <= yes <= 3 and no <= 2 for yes, no, _ in seen[2::2])


def test_a_class_keeps_one_row_in_the_database():
    drawn = Protocol(5, 0, 50, 2).draw(np.array([0, 0, 0, 1]), np.random.default_rng(0), "x")
    assert len(drawn) == 2
    assert set(drawn) < {0, 1, 2}
    with pytest.raises(InvalidInput, match="class of two rows"):
        retrieval_precision(Vector(), np.arange(4.0)[:, None], list("abcd"))


def test_measures_and_refeat_by_the_same_seed_get_the_same_queries():
    random = np.random.default_rng(0)
    rows = random.normal(size=(82, 4)) + 1.5 * LABELS[:, None]
    options = {"rounds": 2, "top": 10, "n_repetitions": 2, "random_state": 5}
    for method in (Ranked(), ReFeat(100), StochasticForest(100, 3)):
        found = retrieval_precision(method, rows, LABELS, **options)
        again = retrieval_precision(method, rows, LABELS, **options)
        assert found.precision.tolist() == again.precision.tolist()
        assert found.precision.shape == (2, 3)
        shuffled = random.permutation(LABELS)
        assert found.mean > retrieval_precision(method, rows, shuffled, **options).mean + 0.1
    assert str(found) == f"{found.mean:.3f} ± {found.std:.3f}"
    assert repr([found]) == f"[Retrieval({found})]"


def rank_by_vector(database):
    """A user-supplied method: Rocchio's score, distances computed again each time."""
    rows = np.array(database.to_frame())

    def rank(wanted, unwanted, gamma):
        near, far = (
            [np.abs(rows - row).sum(axis=1) for row in np.array(marks.to_frame())]
            for marks in (wanted, wanted[:0] if unwanted is None else unwanted)
        )
        return rocchio(near, far, gamma)

    return rank


@pytest.mark.parametrize(
    "method",
    [Vector("cityblock"), StochasticForest(60, 3), ReFeat(60), rank_by_vector, "auto"],
    ids=["vector", "forest", "refeat", "function", "auto"],
)
def test_several_gammas_answer_as_each_alone(method):
    rows = np.random.default_rng(0).normal(size=(82, 3)) + LABELS[:, None]
    options = {"rounds": 3, "top": 10, "n_repetitions": 2, "random_state": 0}
    gammas = (0.0, 0.25, 0.5, 1.0, 2.0)
    together = retrieval_precision(method, rows, LABELS, gamma=gammas, **options)
    alone = [retrieval_precision(method, rows, LABELS, gamma=g, **options) for g in gammas]
    assert [each.precision.tolist() for each in together] == [
        each.precision.tolist() for each in alone
    ]
    assert together[0].mean != together[2].mean
    (only,) = retrieval_precision(method, rows, LABELS, gamma=[0.5], **options)
    assert only.precision.tolist() == alone[2].precision.tolist()


def test_a_measure_that_holds_a_forest_is_seeded():
    """SimURF with uniform synthetic rows (addcl2), as the paper evaluates it."""
    rows = np.random.default_rng(0).normal(size=(82, 3)) + LABELS[:, None]
    measure = ForestProximity("shi", SyntheticForest(20, synthetic="uniform"))
    options = {"rounds": 2, "top": 10, "n_repetitions": 2}
    first, again, other = (
        retrieval_precision(measure, rows, LABELS, random_state=seed, **options).precision.tolist()
        for seed in (0, 0, 1)
    )
    assert first == again != other


@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_a_measure_answers_as_its_own_distances_do(gaps):
    random = np.random.default_rng(1)
    rows = random.normal(size=(82, 3)) + LABELS[:, None]
    rows[random.random(rows.shape) < gaps] = np.nan
    seen = []

    def by_hand(database):
        fitted = Gower().fit(database)

        def rank(*marks):
            near, far = (
                () if some is None else fitted.block(fitted.encode(some), fitted.rows_)
                for some in marks[:2]
            )
            seen.append(np.isnan(near).any())
            return rocchio(near, far, marks[2])

        return rank

    options = {"rounds": 3, "top": 10, "n_repetitions": 2, "random_state": 0}
    found, expected = (
        retrieval_precision(method, rows, LABELS, **options).precision.tolist()
        for method in (Gower(), by_hand)
    )
    assert found == expected
    assert any(seen) == (gaps > 0)  # pairs that nothing is known of


def test_distances_that_do_not_fit_into_memory_are_made_again():
    rows = np.random.default_rng(0).normal(size=(82, 3)) + LABELS[:, None]
    options = {"rounds": 3, "top": 10, "n_repetitions": 1, "random_state": 0}
    kept = retrieval_precision(Vector(), rows, LABELS, **options)
    with la.config(memory_limit=8 * 82 * 4 * 5):  # five rows
        again = retrieval_precision(Vector(), rows, LABELS, **options)
    assert again.precision.tolist() == kept.precision.tolist()


def test_increasing_scales_do_not_move_what_looks_at_order_alone():
    rows = np.random.default_rng(0).normal(size=(82, 3)) + LABELS[:, None]
    options = {"rounds": 2, "top": 10, "n_repetitions": 1, "random_state": 0}
    for method, moves in ((Ranked(), False), (StochasticForest(50, 3), False), (ReFeat(50), True)):
        plain, curved = (
            retrieval_precision(method, x, LABELS, **options).precision.tolist()
            for x in (rows, np.exp(rows))
        )
        assert (plain != curved) == moves


def test_a_column_may_hold_the_labels():
    rows = np.random.default_rng(0).random((30, 2))
    table = {"a": rows[:, 0], "b": rows[:, 1], "kind": ["x", "y", "z"] * 10}
    options = {"rounds": 1, "top": 5, "n_repetitions": 1, "random_state": 0}
    by_name = retrieval_precision(Vector(), table, "kind", **options)
    by_array = retrieval_precision(Vector(), rows, table["kind"], **options)
    assert by_name.precision.tolist() == by_array.precision.tolist()


@pytest.mark.parametrize(
    ("method", "y", "options", "error", "message"),
    [
        (Vector(), [0, None, 1, 1], {}, InvalidInput, "missing"),
        (Vector(), [0, 1], {}, InvalidInput, "one target value"),
        (Vector(), None, {}, InvalidInput, "labels"),
        (Vector(), [0, 0, 1, 1], {"top": 0}, InvalidInput, "top=0"),
        (Vector(), [0, 0, 1, 1], {"rounds": -1}, InvalidInput, "rounds=-1"),
        (Vector(), [0, 0, 1, 1], {"gamma": -1}, InvalidInput, "gamma"),
        (Vector(), [0, 0, 1, 1], {"gamma": [0.5, "x"]}, InvalidInput, "gamma='x'"),
        (Vector(), [0, 0, 1, 1], {"gamma": []}, InvalidInput, "at least one gamma"),
        (Precomputed(), [0, 0, 1, 1], {}, InvalidInput, "distances"),
        ("gowr", [0, 0, 1, 1], {}, InvalidInput, "Did you mean 'gower'"),
        (3, [0, 0, 1, 1], {}, WrongType, "found 3"),
        (lambda database: lambda *_: [1.0], [0, 0, 1, 1], {}, InvalidInput, "2 rows"),
    ],
)
def test_bad_input_is_named(method, y, options, error, message):
    with pytest.raises(error, match=message):
        retrieval_precision(method, np.eye(4), y, **options)


def test_kinds_change_what_is_compared():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    X = {"a": y + rng.normal(size=40) / 9, "b": rng.normal(size=40) * 100}
    options = {"top": 5, "n_repetitions": 2, "random_state": 0}
    both = retrieval_precision(Vector(), X, y, **options).mean
    only = retrieval_precision(Vector(), X, y, kinds={"b": "aside"}, **options).mean
    assert both < 0.9 < only


def test_auto_is_the_measure_chosen_for_the_database():
    y = np.arange(40) % 2
    X = np.random.default_rng(0).normal(size=(40, 2)) + y[:, None]
    options = {"top": 5, "n_repetitions": 2, "random_state": 0}
    auto = retrieval_precision("auto", X, y, **options)
    default = retrieval_precision(Gower(scale="rank", missing="midpoint"), X, y, **options)
    assert auto.precision.tolist() == default.precision.tolist()
