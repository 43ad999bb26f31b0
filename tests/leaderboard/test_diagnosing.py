"""The diagnosis: each answer on a space where it is known."""

import json

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from lookalike.datasets import transforms
from lookalike.errors import InvalidInput, TooFewRows, WrongType
from lookalike.hubness import NICDM, SharedNeighbors, hubness_report
from lookalike.leaderboard import Agreement, diagnose, ranking_agreement
from lookalike.measures import (
    ForestProximity,
    Gower,
    Precomputed,
    Ranked,
    StochasticForest,
    Vector,
)
from lookalike.table import read_table
from lookalike.trees import SyntheticForest

RNG = np.random.default_rng(0)
ROWS = RNG.random((60, 3))
LABELS = np.repeat(["a", "b", "c"], 20)
RISING = ("exp", "square", "sqrt", "log")


def test_a_metric_of_its_own_rows():
    found = diagnose(Vector().fit(ROWS))
    f = found.values
    assert (f["symmetric"], f["violated_triangles"], f["zeros"], f["ties"]) == (True, 0, 0, 0)
    s = Vector().fit(ROWS).similarity()
    assert f["smallest_eigenvalue"] == pytest.approx(np.linalg.eigvalsh(s)[0])
    assert f["positive_semidefinite"] == (np.linalg.eigvalsh(s)[0] > 0)
    assert found.seeds is None
    assert found.scales == {}
    assert "without the table (X=...)" in found.notes[0]
    assert found.hubness.statistics == hubness_report(Vector().fit(ROWS)).statistics


def test_what_is_not_symmetric_and_not_a_metric():
    d = np.abs(np.subtract.outer(ROWS[:, 0], ROWS[:, 0])) ** 3
    found = diagnose(d, y=LABELS)
    assert found.values["symmetric"]
    assert found.values["violated_triangles"] > 0.5
    assert "for a bare matrix" in found.notes[0]
    assert "accuracy" in found.hubness.statistics["value"]
    reported = "\n".join(found.findings())
    assert "Not a metric" in reported
    assert "Not symmetric" not in reported
    d[0, 1] *= 2
    one_way = diagnose(Precomputed(symmetric=False).fit(d))
    assert not one_way.values["symmetric"]
    assert "Not symmetric" in one_way.findings()[0]


def test_gaps_break_the_kernel():
    # Similarities 11/12, 11/16 and 1 among three of the rows: a determinant of -121/2304.
    table = {
        "a": [1.0, 1.0, 1.0, 5.0],
        "b": [2.0, 3.0, 3.0, 6.0],
        "c": [3.0, 3.0, 3.0, 7.0],
        "d": [1.0, None, 5.0, 1.0],
    }
    found = diagnose(Gower(), table, k=2)
    assert found.values["smallest_eigenvalue"] < -1e-3
    assert not found.values["positive_semidefinite"]
    assert "Not a kernel" in " ".join(found.findings())
    filled = diagnose(Gower(), {**table, "d": [1.0, 2.0, 5.0, 1.0]}, k=2)
    assert filled.values["positive_semidefinite"]


def test_zeros_and_ties():
    table = {"color": ["red", "blue", "red", "green", "blue", "red"]}
    found = diagnose(Gower(), table, k=2)
    same = 3 * 2 + 2 * 1  # ordered pairs of one color
    assert found.values["zeros"] == pytest.approx(1 - same / 30)
    # Blue has one match and green none, so all but the two blue matches are tied.
    assert found.values["ties"] == pytest.approx(28 / 30)
    assert found.scales == {}
    assert "no number columns" in " ".join(found.notes)
    assert (
        found.hubness.statistics
        == hubness_report(Gower().fit(table), k=2, ties="expected").statistics
    )


def test_pairs_with_nothing_to_compare():
    table = {"a": [1.0, None, 3.0, 2.0, 2.5], "b": [None, 1.0, 5.0, 5.0, 4.0]}
    found = diagnose(Gower(), table, k=2)
    assert found.values["undefined"] == pytest.approx(2 / 20)


def test_scales_of_a_measure_of_ranks_and_of_plain_distance():
    ranked, plain = diagnose(Ranked(), ROWS), diagnose(Vector(), ROWS)
    assert list(ranked.scales) == [*RISING, "inverse", "exp_minus"]
    assert all(one.mean == pytest.approx(1) for one in ranked.scales.values())
    assert "does not matter." in " ".join(ranked.findings())
    for name, rows in transforms(ROWS).items():
        expected = ranking_agreement(-Vector().fit(ROWS).distance(), -Vector().fit(rows).distance())
        assert plain.scales[name].mean == pytest.approx(expected.mean)
        assert plain.scales[name].std == pytest.approx(expected.std)
    assert plain.scales["exp"].mean < 0.9
    assert "The scale of the numbers matters, most under" in " ".join(plain.findings())


def test_scales_leave_missing_cells_and_other_columns_alone():
    table = {"x": [1.0, 3.0, 5.0, None, 2.0, 4.0], "kind": ["u", "v", "u", "v", "u", "v"]}
    found = diagnose(Gower(), table, k=2)
    known = np.array([1.0, 3.0, 5.0, 2.0, 4.0])[:, None]
    squares = transforms(known)["square"].ravel().tolist()
    written = {**table, "x": [*squares[:3], None, *squares[3:]]}
    expected = ranking_agreement(Gower().fit(table), Gower().fit(written))
    assert found.scales["square"] == pytest.approx(expected)


def test_seeds():
    measure = StochasticForest(n_estimators=30, height=3)
    found = diagnose(measure, ROWS)
    one, two = (
        StochasticForest(n_estimators=30, height=3, random_state=seed).fit(ROWS) for seed in (0, 1)
    )
    assert found.seeds == pytest.approx(ranking_agreement(one, two))
    assert isinstance(found.seeds, Agreement)
    # Only the order of values counts for these trees, and the seed is the same on every scale.
    assert all(found.scales[name].mean == pytest.approx(1) for name in RISING)
    assert "as long as their order is kept" in " ".join(found.findings())
    assert diagnose(Vector(), ROWS).seeds is None
    few = diagnose(StochasticForest(n_estimators=3, height=3), ROWS)
    assert "Two seeds rank rows differently" in " ".join(few.findings())


def test_labels_are_not_held_against_what_has_learned_from_them():
    learned = Gower(weights="relieff")
    found = diagnose(learned, ROWS, LABELS)
    assert "accuracy" not in found.hubness.statistics["value"]
    assert "learned from them" in " ".join(found.notes)
    assert "accuracy" in diagnose(Gower(), ROWS, LABELS).hubness.statistics["value"]
    again = diagnose(NICDM(learned).fit(ROWS, LABELS), y=LABELS)
    assert "accuracy" not in again.hubness.statistics["after"]
    forest = RandomForestClassifier(5, random_state=0).fit(ROWS, LABELS)
    given = diagnose(ForestProximity("shi", model=forest), ROWS, LABELS)
    assert "accuracy" not in given.hubness.statistics["value"]
    assert "fitted elsewhere" in " ".join(given.notes)
    # A forest that is grown here is grown again, on every scale and with another seed.
    grown = diagnose(ForestProximity("shi", SyntheticForest(5, random_state=0)), ROWS)
    assert len(grown.scales) == 6
    assert grown.seeds.mean < 1


def test_a_named_column_of_labels():
    table = read_table({"x": ROWS[:, 0], "y": ROWS[:, 1], "who": LABELS.tolist()})
    found = diagnose(Vector(), table, "who")
    assert (
        found.hubness.statistics["value"]["accuracy"]
        == (hubness_report(Vector().fit(ROWS[:, :2]), LABELS).statistics["value"]["accuracy"])
    )


def test_hubs_before_and_after_a_repair():
    rows = np.random.default_rng(1).normal(size=(150, 40))
    found = diagnose(NICDM(Vector()), rows)
    assert list(found.hubness.statistics) == ["before", "after"]
    assert "Hubs" not in " ".join(found.findings())
    (hubs,) = (text for text in diagnose(Vector(), rows).findings() if text.startswith("Hubs"))
    assert hubs.startswith("Hubs are a problem, and the reduction helps: ")


def test_many_rows_are_sampled():
    rows = np.random.default_rng(2).random((2500, 2))
    found = diagnose(Vector(), rows)
    assert (found.n, found.n_all) == (2000, 2500)
    assert "2,000 of 2,500 rows" in found.title
    whole = diagnose(Vector().fit(rows), y=(rows[:, 0] > 0.5))
    assert (whole.n, whole.n_all) == (2000, 2500)
    assert "2,000 rows of the sample" in " ".join(whole.notes)
    assert whole.hubness.statistics["value"]["accuracy"] > 0.9


def test_same_every_time():
    one, two = (diagnose(SharedNeighbors(Vector(), 5), ROWS, random_state=7) for _ in range(2))
    assert str(one) == str(two)


def test_forms(tmp_path):
    found = diagnose(NICDM(Vector()), ROWS, LABELS)
    for backend in ("pandas", "polars", "pyarrow"):
        assert found.to_frame(backend).shape[1] == 3
    frame = found.to_frame().set_index("statistic")["value"]
    assert frame["scale_log"] == found.scales["log"].mean
    assert frame["skewness_after"] == found.hubness.statistics["after"]["skewness"]
    text = str(found)
    assert text.startswith("Diagnosis of NICDM, 60 rows")
    assert "agreement of the rankings after the transform log" in text
    assert "NICDM of Vector" in text
    page = found.to_html()
    found.to_html(tmp_path / "found.html")
    assert (tmp_path / "found.html").read_text(encoding="utf-8") == page
    assert "<script" not in page
    assert "http" not in page
    assert found.html_body() in page
    assert found.html_body() in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["values"]["symmetric"] is True


class _Claims(Vector):
    """Says that it is symmetric, and is not."""

    def compare(self, a, b):
        return super().compare(a, b) * (1 + (a.seen[:, None] > b.seen))


def test_a_claim_of_symmetry_is_looked_into():
    measure = _Claims().fit(ROWS)
    assert measure.traits.symmetric
    assert diagnose(measure).values["symmetric"] is False
    assert diagnose(Vector().fit(ROWS)).values["symmetric"] is True


def test_kinds_are_handed_to_the_table():
    table = {"wheels": np.arange(60) % 3, "x": ROWS[:, 0]}
    reported = diagnose(Gower(), table, kinds={"wheels": "category"})
    own = diagnose(Gower(), read_table(table, kinds={"wheels": "category"}))
    assert reported.to_dict() == own.to_dict()
    assert reported.values != diagnose(Gower(), table).values


def test_labels_never_come_back_by_kinds():
    table = {"x": ROWS[:, 0], "who": LABELS.tolist()}
    with pytest.raises(InvalidInput, match="who"):
        diagnose(Gower(kinds={"x": "number", "who": "category"}), table, "who")


@pytest.mark.parametrize("seed", [np.random.RandomState(1), np.random.default_rng(1), None])
def test_seeds_come_as_everywhere(seed):
    found = diagnose(StochasticForest(n_estimators=5), ROWS, random_state=seed)
    assert -1 <= found.seeds.mean <= 1


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((Vector(), ROWS[:2]), TooFewRows, "n_samples=2"),
        ((Vector(), ROWS[:2]), TooFewRows, "Add rows"),
        ((Vector(), ROWS[:3], None, 3), TooFewRows, "Use k=2"),
        ((Vector(), ROWS, None, 60), TooFewRows, "Use k=59"),
        ((Vector(), ROWS, None, 0), InvalidInput, "an integer >= 1"),
        ((Vector(), ROWS, LABELS[:5]), InvalidInput, "one label for each of the 60 rows, found 5"),
        (
            (Vector(), ROWS, [None, *LABELS[1:]]),
            InvalidInput,
            "1 missing.*, the first in row 0",
        ),
        ((Vector(), ROWS, "who"), InvalidInput, "the name of a column, found 'who'"),
        ((Gower(weights="relieff"), ROWS), InvalidInput, "a target to learn from"),
        ((np.eye(3), ROWS), InvalidInput, "Leave X out"),
        ((Vector().fit(ROWS).frozen(), ROWS), InvalidInput, "Leave X out"),
        ((Vector().fit(ROWS).neighbors(None, 5),), InvalidInput, "distances between all rows"),
        (("gower",), WrongType, "a fitted measure"),
        ((Vector().fit(ROWS), None, "who"), InvalidInput, "a list of 60 labels"),
    ],
)
def test_wrong_questions(arguments, error, words):
    with pytest.raises(error, match=words):
        diagnose(*arguments)
