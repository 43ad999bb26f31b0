"""What classify and regress share: methods by name, validation, importances, predictions."""

from dataclasses import replace

import numpy as np
import pytest

import lookalike as la
from lookalike.errors import InvalidInput, LookalikeWarning
from lookalike.verbs.learning import make_model
from lookalike.verbs.regress import Regressed
from lookalike.verbs.source import as_source

N = 40
RANDOM = np.random.default_rng(0)
PETS = {
    "size": (10 + 10 * (np.arange(N) % 2) + RANDOM.normal(size=N)).round(2).tolist(),
    "noise": RANDOM.normal(size=N).round(2).tolist(),
    "kind": ["cat", "dog"] * (N // 2),
}


def test_options_are_those_of_the_estimator():
    rows = as_source(PETS).rows()
    name, model = make_model("Classifier", "forest:trees=7", rows, None, None, 3)
    assert (name, model.n_estimators, model.random_state) == ("forest", 7, 3)
    name, model = make_model("Regressor", "neighbors", rows, None, {"size": 2.0}, 3)
    assert (name, model.n_neighbors) == ("neighbors", None)
    assert model.measure.weights == {"size": 2.0}
    with pytest.raises(InvalidInput, match="an option of 'forest'"):
        make_model("Classifier", "forest:oob_score=1", rows, None, None, 3)
    with pytest.raises(InvalidInput, match="method='neighbors'"):
        make_model("Classifier", "forest", rows, "gower", None, 3)


def test_importances_are_sorted_and_of_a_forest_only():
    found = la.classify(PETS, "kind", method="forest:trees=20", folds=0)
    assert [one["column"] for one in found.importances] == ["size", "noise"]
    assert found.importances[0]["share"] > 0.7
    assert sum(one["share"] for one in found.importances) == pytest.approx(1)
    assert found.cross_validation is None
    assert found.out_of_bag["accuracy"] > 0.8
    assert la.classify(PETS, "kind", method="neighbors:k=3", folds=0).importances == []


def test_predictions_are_part_of_the_answer_only_if_asked_for():
    new = {"size": [10.0, 20.0], "noise": [0.0, 0.0]}
    found = la.classify(PETS, "kind", predict=new, method="neighbors:k=3", folds=0)
    assert [one["predicted"] for one in found.predictions] == ["cat", "dog"]
    assert list(found.cells()) == ["row", "predicted", "share"]
    assert "predictions" in found.to_dict()
    alone = la.regress(PETS, "size", method="forest:trees=50", folds=0)
    assert "predictions" not in alone.to_dict()
    assert list(alone.cells()) == ["column", "share"]
    assert alone.baseline is None
    again = la.regress(PETS, "size", predict=new | {"kind": ["cat", "dog"]}, folds=0)
    low, high = (one["predicted"] for one in again.predictions)
    assert low < 13 < 17 < high


def test_rows_without_a_label_are_left_out_and_counted():
    with_gap = PETS | {"kind": [None, *PETS["kind"][1:]]}
    with pytest.warns(LookalikeWarning, match="1 row without 'kind' left out"):
        found = la.classify(with_gap, "kind", method="neighbors:k=3", folds=2)
    assert (found.rows, found.rows_left_out) == (N - 1, 1)
    assert found.cross_validation["folds"] == 2


def test_guessing_as_well_is_said():
    shuffled = PETS | {"kind": np.random.default_rng(1).permutation(PETS["kind"]).tolist()}
    found = la.classify(shuffled, "kind", method="neighbors:k=1", columns="noise", folds=4)
    assert found.baseline == {"class": shuffled["kind"][0], "accuracy": 0.5}
    better = found.cross_validation["accuracy"] > 0.5
    assert ("No better than guessing" in found.text()) != better
    sure = la.classify(PETS, "kind", method="neighbors:k=3", folds=4)
    assert sure.cross_validation["accuracy"] > 0.9
    assert "No better than guessing" not in sure.text()


def test_a_result_in_text_shows_the_first_twenty_lines():
    """And says how many it leaves out; its model is not part of how it is written."""
    facts = {"name": "pets", "label": "kind", "rows": 9, "rows_left_out": 1, "baseline": None}
    shares = [{"column": f"c{i}", "share": 1 / 21} for i in range(21)]
    rows = [{"row": i, "predicted": 1.5} for i in range(22)]
    made = Regressed(
        **facts,
        method="forest",
        cross_validation=None,
        out_of_bag=None,
        importances=shares,
        predictions=rows,
        model=object(),
    )
    text = made.text()
    assert "c19" in text
    assert "c20" not in text
    assert "not shown: 1 less important columns (csv and json have all)" in text
    assert "\n2 more rows (csv and json have all)" in text
    assert "model" not in repr(made)
    few = replace(made, importances=shares[:20], predictions=rows[:20])
    assert "csv and json" not in few.text()
    names = "label method rows rows_left_out median baseline cross_validation out_of_bag"
    assert list(few.to_dict()) == [*names.split(), "importances", "predictions"]
    assert list(replace(few, predictions=None).cells()) == ["column", "share"]
    classes = "label method classes rows rows_left_out baseline cross_validation out_of_bag"
    found = la.classify(PETS, "kind", method="neighbors:k=3", folds=0).to_dict()
    assert list(found) == [*classes.split(), "importances"]
