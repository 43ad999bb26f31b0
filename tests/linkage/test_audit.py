"""The forms of an audit: scores, rows that leak with reasons, columns that give them away."""

import numpy as np
import pytest

import lookalike as la
from lookalike.linkage.privacy import LEAKED_SHARE


@pytest.fixture(scope="module")
def audit():
    penguins = la.datasets.load_penguins()
    order = np.random.default_rng(0).permutation(len(penguins))
    real, held = penguins[order[:150]], penguins[order[150:300]]
    made = penguins[np.concatenate([order[300:], order[:20]])]
    return la.audit(real, made, held, n=5)


def test_copies_come_first_with_the_cells_they_share(audit):
    leaks = audit.leaks
    assert len(leaks) == 5
    assert [one["distance"] for one in leaks] == [0.0] * 5
    assert all(one["row"] >= 44 and one["record"] == one["row"] - 44 for one in leaks)
    assert all("same" in one["because"] for one in leaks)
    assert len(audit.found.leaked) >= 20


def test_columns_that_give_away_are_those_that_real_rows_differ_in(audit):
    columns = audit.columns
    assert columns[0]["column"] == "bill_length_mm"
    assert columns[0]["equal"] > 0.9 > 0.1 > columns[0]["equal_in_real_rows"]
    gains = [one["equal"] - one["equal_in_real_rows"] for one in columns]
    assert gains == sorted(gains, reverse=True)


def test_forms(audit):
    answer = audit.to_dict()
    assert answer["leaked"] == len(audit.found.leaked)
    assert answer["expected_by_chance"] == pytest.approx(64 * LEAKED_SHARE)
    assert answer["scores"] == audit.scores
    assert set(audit.scores) >= {"overfitting_protection", "baseline_protection", "median_ratio"}
    assert list(audit.to_frame().columns) == [
        "row",
        "record",
        "distance",
        "ratio",
        "share",
        "because",
    ]
    text = audit.text()
    assert f"{len(audit.found.leaked)} of 64 rows are nearer to a real record" in text
    assert "overfitting protection 0." in text
    assert "bill_length_mm" in text


def test_without_a_holdout_the_text_says_what_that_means():
    penguins = la.datasets.load_penguins()
    found = la.audit(penguins[0:100], penguins[200:230])
    assert found.scores["overfitting_protection"] is None
    assert found.scores["median_distance_to_holdout"] is None
    assert "real rows among each other" in found.text()
    assert "without a holdout" in found.text()


def test_no_leak_has_forms_too():
    real = {"age": [float(i) for i in range(30)], "sex": list("mf") * 15}
    made = {"age": [-4.5, 37.5], "sex": ["f", "f"]}
    found = la.audit(real, made)
    assert len(found.found.leaked) == 0
    assert found.to_dict()["leaks"] == []
    assert len(found.to_frame()) == 0
    assert "0 of 2 rows" in found.text()
