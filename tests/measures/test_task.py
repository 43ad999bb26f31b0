"""What all tasks read once: the table, its target, the measure with its kinds and n_jobs."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lookalike.errors import InvalidInput
from lookalike.hubness import NICDM
from lookalike.measures import Combined, ForestProximity, Gower, Precomputed, Vector
from lookalike.measures.task import accept_mixed, check_task_rows, read_source, same_settings
from lookalike.prediction import NeighborClassifier
from lookalike.saving.fields import Misfit

PETS = {
    "weight": [4.0, 30.0, 5.0, 28.0],
    "code": [1, 2, 1, 3],
    "animal": ["cat", "dog", "cat", "wolf"],
}


def test_the_target_is_taken_out_of_the_table():
    source, target = read_source(None, PETS, "animal", "task")
    assert type(source.measure) is Gower
    assert list(target) == PETS["animal"]
    assert source.table.names == ("weight", "code")
    assert len(source) == 4
    source, target = read_source("gower", PETS, None, "task")
    assert target is None
    assert len(source.table.names) == 3


def test_kinds_are_given_once_and_forgotten_for_the_folds():
    own = Gower(kinds={"weight": "number", "animal": "category"})
    source, _ = read_source(own, PETS, "animal", "task", {"code": "category"})
    assert source.table["code"].kind.name == "category"
    assert source.measure.kinds is None
    assert own.kinds == {"weight": "number", "animal": "category"}
    # A measure without kinds of its own is given a table that was read with them.
    source, _ = read_source(Vector(), PETS, "animal", "task", {"weight": "number"})
    assert source.table.names == ("weight", "code")
    inner = NICDM(Gower(kinds={"weight": "number", "animal": "category"}), 2)
    source, _ = read_source(inner, PETS, "animal", "task")
    assert source.measure.measure.kinds == {"weight": "number"}
    assert source.measure.fit(source.table).measure_.n_features_in_ == 2


def test_parts_are_fitted_with_their_part_of_the_target():
    source, _ = read_source(Gower(weights="relieff"), PETS, "animal", "task")
    at = np.array([0, 1, 2])
    measure, rows = source.fit(np.array([0, 1, 0, 1]), at)
    assert len(rows) == 3
    assert measure is not source.measure
    assert not hasattr(source.measure, "rows_")
    assert len(read_source(Gower(), PETS, None, "task")[0].fit()[1]) == 4
    asked = source.ask(measure, at, np.array([3, 0]))
    assert_array_equal(asked.seen, [-1, -1])
    assert measure.block(asked, measure.rows_)[1, 0] == 0


def test_parts_of_a_matrix_are_cut_both_ways():
    d = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    source, _ = read_source(Precomputed(), d, None, "task")
    fitted = np.array([0, 2, 4])
    measure, rows = source.fit(at=fitted)
    assert_array_equal(measure.block(rows, rows), d[np.ix_(fitted, fitted)])
    asked = source.ask(measure, fitted, np.array([1, 3]))
    assert_array_equal(measure.block(asked, rows), d[np.ix_([1, 3], fitted)])


def test_a_frozen_measure_chooses_rows_and_is_not_fitted():
    measure = Gower().fit({name: PETS[name] for name in ("weight", "code")}).frozen()
    source, target = read_source(measure, PETS, "animal", "task", n_jobs=2)
    assert list(target) == PETS["animal"]
    assert (source.measure.n_jobs, measure.n_jobs) == (2, None)
    assert source.measure.rows_ is measure.rows_
    same, rows = source.fit(at=np.array([1, 3]))
    assert same is source.measure
    assert_array_equal(same.block(rows, rows), measure.distance()[np.ix_([1, 3], [1, 3])])
    assert len(source.fit()[1]) == 4
    assert len(source.ask(same, np.array([0]), np.array([2, 3]))) == 2
    source, _ = read_source(measure, {"weight": [1.0, 2.0], "code": [1, 2]}, [0, 1], "task")
    assert source.measure is measure


def test_frozen_measures_that_cannot_serve_are_refused():
    d = 1.0 - np.eye(4)
    with pytest.raises(InvalidInput, match="can compare rows it was not fitted to"):
        read_source(Precomputed().fit(d).frozen(), d, None, "task")
    with pytest.raises(InvalidInput, match="a measure that is not fitted yet"):
        read_source(Gower().fit(PETS).frozen(), PETS, None, "task", {"code": "category"})
    with pytest.raises(InvalidInput, match="needs a lookalike measure"):
        read_source(3, PETS, None, "task")


def test_n_jobs_reach_all_that_have_none():
    measure = Combined([(1, NICDM(Vector(), 2, n_jobs=1)), (1, Gower())])
    assert same_settings(measure, None).n_jobs is None
    params = same_settings(measure, 3).get_params()
    assert sorted(v for name, v in params.items() if name.rpartition("__")[2] == "n_jobs") == [
        1, 3, 3, 3,
    ]  # fmt: skip
    mine = Gower()
    assert read_source(mine, PETS, None, "task", n_jobs=3)[0].measure.n_jobs == 3
    assert mine.n_jobs is None


def test_tags_are_those_of_the_measure():
    def tags(measure):
        return NeighborClassifier(measure=measure).__sklearn_tags__().input_tags

    assert (tags(None).string, tags(None).allow_nan, tags(None).pairwise) == (True, True, False)
    assert tags(Precomputed()).pairwise
    assert tags("precomputed").pairwise
    assert not tags(Vector()).string
    assert tags("no such measure").string  # tags never raise
    assert not accept_mixed(NeighborClassifier().__sklearn_tags__(), False).input_tags.allow_nan
    assert NeighborClassifier().__sklearn_tags__().target_tags.required


def test_loaded_rows_are_those_of_the_measure():
    model = NeighborClassifier(n_neighbors=1).fit(PETS, "animal")
    check_task_rows(model, 4)
    with pytest.raises(Misfit, match="3 rows"):
        check_task_rows(model, 3)
    model.rows_ = ForestProximity(random_state=0).fit(np.eye(4)).rows_
    with pytest.raises(Misfit):
        check_task_rows(model)
