"""Every public class, in every form that is documented, is saved, loaded and answers as before."""

import doctest
import inspect

import numpy as np
import pytest

import lookalike as la
from documented import reload, run_saving, same
from fuzz import corpus
from lookalike.columns import DISTANCES, CallableDistance, MatrixDistance, RankShare
from lookalike.errors import WrongType
from lookalike.measures import ForestProximity, Gower
from lookalike.prediction import (
    RandomSimilarityForestClassifier,
    RandomSimilarityForestRegressor,
    RandomSimilarityIsolationForest,
)
from lookalike.saving.encode import SAVEABLE
from lookalike.saving.load import import_packages
from lookalike.trees import CellSimilarityForest
from test_public_names import NAMES

SMALL = {"n_estimators": 3, "random_state": 0}


def ask(value, rows):
    """Return what a fitted object answers about rows, whatever sort of object it is."""
    name = type(value).__name__
    if name == "Index":
        ids = value.ids
        return [str(value.search(i, k=3)) for i in ids], value.records(), str(value.drift())
    if name == "ReFeat":
        return value.search(0, 3, like=[1]), value.relevance({"a": 0.1, "b": 0.2, "c": 0.3})
    if rows is None:
        return repr(value)
    verbs = ("predict", "predict_proba", "transform", "score_samples", "decision_path")
    found = [getattr(value, verb)(rows) for verb in verbs if hasattr(value, verb)]
    if hasattr(value, "similarity"):
        found += [value.similarity(), value.distance(rows), value.kneighbors(rows, n_neighbors=2)]
        found += [value.explain(0, 1)]
    return found


@pytest.mark.filterwarnings("ignore::lookalike.errors.LookalikeWarning")  # ties, small tables
def test_every_class_answers_as_before(tmp_path):
    for name, value, rows in corpus.build():
        table = corpus.ROWS[rows]()
        if rows == "mixed":
            table = table.compare_by(list(getattr(value, "schema_", table.schema).kinds))
        before = ask(value, table)
        after = ask(reload(value, tmp_path / "x"), table)
        assert same(before, after), name


# -- distances of cells ----------------------------------------------------------------------------


ESTIMATORS = {
    "Gower": lambda given: Gower(distances=given, undefined=0.5),
    "CellSimilarityForest": lambda given: ForestProximity(
        "shi", CellSimilarityForest(3, distances=given), random_state=0
    ),
    "RandomSimilarityForestClassifier": lambda given: RandomSimilarityForestClassifier(
        distances=given, **SMALL
    ),
    "RandomSimilarityForestRegressor": lambda given: RandomSimilarityForestRegressor(
        distances=given, **SMALL
    ),
    "RandomSimilarityIsolationForest": lambda given: RandomSimilarityIsolationForest(
        distances=given, **SMALL
    ),
}


def test_every_estimator_with_distances_is_tried():
    import_packages()
    takes = {
        name for name, cls in SAVEABLE.items() if "distances" in inspect.signature(cls).parameters
    }
    ours = {name for name in takes if SAVEABLE[name].__module__.startswith("lookalike.")}
    assert ours == {*ESTIMATORS, "MixedPlan", "NeighborGraph"}  # the last two are records


def forms():
    """Yield (name of the column, table, its distance) for every distance, by name and instance."""
    table = corpus.mixed()
    columns = {"edit_sets": "carts", "earth_mover": "bins", "normalized": "bins"}
    of_kind = {column.kind.name: column.name for column in reversed(list(table))}
    for name, distance in DISTANCES.items():
        column = columns.get(name, of_kind[distance.kinds[0]])
        few = table.compare_by([column])
        yield from ((column, few, given) for given in (name, distance()))
    yield "at", la.read_table(corpus.at_places()), MatrixDistance(corpus.matrix())
    yield "at", la.read_table(corpus.at_places()), corpus.matrix()
    yield "size", table.compare_by(["size"]), CallableDistance(apart)
    yield "size", table.compare_by(["size"]), apart


def apart(a, b):
    return abs(a - b)


@pytest.mark.filterwarnings("ignore::lookalike.errors.LookalikeWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_distance_answers_as_before(estimator, tmp_path):
    for column, table, given in forms():
        made = ESTIMATORS[estimator]({column: given})
        reload(made, tmp_path / "x")
        y = corpus.TARGET if estimator.endswith("Regressor") else corpus.LABELS
        fitted = made.fit(table, y)
        before = ask(fitted, table)
        assert same(before, ask(reload(fitted, tmp_path / "x"), table)), given


def test_a_list_of_distances_and_known_distances_answer_as_before(tmp_path):
    rows = {"size": [1.0, 2.0, 4.0, 8.0, 9.0, 9.5], "far": list(1.0 - np.eye(6))}
    given = {"size": ["absolute", RankShare(alpha=2.0), apart], "far": "precomputed"}
    model = RandomSimilarityForestClassifier(distances=given, kinds={"far": "vector"}, **SMALL)
    model.fit(rows, list("aaabbb"))
    assert same(model.predict_proba(rows), reload(model, tmp_path / "x").predict_proba(rows))


def test_two_functions_of_one_name_are_refused(tmp_path):
    given = {"a": lambda a, b: abs(a - b), "b": lambda a, b: abs(a - b) ** 2}
    with pytest.raises(WrongType, match=r"distances\['b'\]\): needs functions of different names"):
        Gower(distances=given).save(tmp_path / "x")
    once = given["a"]
    reload(Gower(distances={"a": once, "b": once}), tmp_path / "x")


# -- docstrings; pages are in test_repository.py ---------------------------------------------------


@pytest.mark.long  # doctests run these examples anyway, and the tests above save every class
@pytest.mark.parametrize(
    ("module", "name"), [case for case in NAMES if case.values[0] != "lookalike"]
)
def test_what_a_docstring_makes_answers_as_before(module, name, tmp_path, monkeypatch):
    thing = getattr(pytest.importorskip(module), name)
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):
        return
    monkeypatch.chdir(tmp_path)
    home = inspect.getmodule(thing)
    for test in doctest.DocTestFinder(recurse=True).find(thing, name, home, vars(home).copy()):
        assert run_saving(test, tmp_path / "x") == ""
