"""Which distance a column gets."""

import numpy as np
import pytest

from columns.make import column
from lookalike.columns import (
    DISTANCES,
    CallableDistance,
    Edit,
    Jaccard,
    Levenshtein,
    MatrixDistance,
    distance_for,
    distances_of,
)
from lookalike.table.model.kind import KINDS

DEFAULTS = {
    "number": "absolute",
    "category": "equal",
    "order": "information",
    "flag": "presence",
    "text": "levenshtein",
    "set": "jaccard",
    "sequence": "edit",
    "series": "dtw",
    "histogram": "euclidean",
    "vector": "cosine",
    "graph": "graph_jaccard",
}


def test_every_kind_has_its_default():
    assert set(DEFAULTS) == set(KINDS) - {"object"}
    for kind, name in DEFAULTS.items():
        assert distance_for(None, kind, "thing").name == name
        assert distances_of(kind)[0] == name


@pytest.mark.parametrize("name", DISTANCES)
def test_every_name_serves_its_kinds(name):
    for kind in DISTANCES[name].kinds:
        assert type(distance_for(name, kind, "thing")) is DISTANCES[name]


def test_a_kind_without_a_default_asks_for_a_callable():
    with pytest.raises(
        ValueError, match=r"column 'blob': needs a distance.*kinds={'blob': 'aside'}"
    ):
        distance_for(None, "object", "blob")
    with pytest.raises(ValueError, match="function of two cells"):
        distance_for("jaccard", "object", "blob")


def test_a_mistyped_name_is_answered_with_the_right_one():
    with pytest.raises(ValueError, match=r"column 'tags'.*'jacard'.*Did you mean 'jaccard'"):
        distance_for("jacard", "set", "tags")
    with pytest.raises(ValueError, match=r"Known: 'jaccard', 'overlap'"):
        distance_for("qqq", "set", "tags")


@pytest.mark.parametrize("spec", ["levenshtein", Levenshtein()])
def test_a_distance_of_another_kind_is_answered_with_those_that_serve(spec):
    with pytest.raises(
        ValueError, match=r"set cells.*for text cells.*'jaccard' or 'overlap'.*kinds="
    ):
        distance_for(spec, "set", "tags")


def test_instances_classes_callables_and_matrices_are_taken():
    own = Levenshtein(normalized=False)
    assert distance_for(own, "text", "title") is own
    assert isinstance(distance_for(Jaccard, "set", "tags"), Jaccard)
    assert isinstance(distance_for(max, "object", "blob"), CallableDistance)
    assert isinstance(distance_for([[0, 1], [1, 0]], "number", "at"), MatrixDistance)
    assert isinstance(distance_for(np.zeros((2, 2)), "number", "at"), MatrixDistance)


@pytest.mark.parametrize("spec", [np.zeros((2, 3)), [1, 2], [["a"]], np.zeros(3)])
def test_a_matrix_that_is_not_square_is_refused(spec):
    with pytest.raises(ValueError, match="square matrix"):
        distance_for(spec, "number", "at")


def test_a_matrix_needs_positions():
    with pytest.raises(ValueError, match=r"kind text.*integers"):
        distance_for(np.zeros((2, 2)), "text", "at")


@pytest.mark.parametrize("spec", [5, 2.5, {"name": "jaccard"}])
def test_anything_else_is_refused(spec):
    with pytest.raises(ValueError, match=r"a name, a distance.*'jaccard', 'overlap'"):
        distance_for(spec, "set", "tags")


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="'number'"):
        distance_for(None, "numbr", "thing")


def test_a_column_of_another_kind_is_refused():
    with pytest.raises(ValueError, match=r"Jaccard, column 'thing'.*kind set, found kind text"):
        Jaccard().fit(column("text", ["a"]))
    own = Jaccard().fit(column("set", [frozenset()]))
    with pytest.raises(ValueError, match="kind set"):
        own.encode(column("text", ["a"]))


def test_a_bad_option_is_answered_with_the_right_one():
    with pytest.raises(ValueError, match=r"Edit\(relabel='jacard'\).*Did you mean 'jaccard'"):
        Edit(relabel="jacard").fit(column("sequence", [()]))


def test_distances_show_the_options_that_differ():
    assert repr(Levenshtein()) == "Levenshtein()"
    assert repr(Levenshtein(normalized=False, scale=3)) == "Levenshtein(normalized=False, scale=3)"
    assert Edit(normalized=True).get_params() == {
        "normalized": True,
        "relabel": "auto",
        "scale": None,
    }


def test_what_comes_round_is_compared_in_a_circle():
    assert distance_for(None, "number", "thing", "cycle:24").period == 24
    for role in ("month", "weekday", "cycle"):
        assert distance_for(None, "order", "thing", role).name == "cyclic"
    assert distance_for(None, "number", "thing", "time").name == "absolute"
