"""Problem documents: in the words of a request, with the parameter of the hint as a field."""

import json
import re

import pytest

from lookalike.errors import InvalidInput, Param
from lookalike.service import ServiceError
from lookalike.service.api import models
from lookalike.service.problems import problem_of

PYTHON = re.compile(r"\w=['\"\[{(\w]|\w\(|None|Input should|read_table|Index\.|value_error")


SEARCH, ROWS = "/api/collections/pets/search", "/api/collections/pets/rows"


NEW, MEASURE = "/api/collections", "/api/collections/pets/measure"


SESSIONS = "/api/collections/pets/sessions"


NUMBERS = [{"x": 1}, {"x": 2}, {"x": "few"}]


WRONG = [
    (SEARCH, {"query": {"id": 0}, "k": 0}, models.SearchIn),
    (SEARCH, {"query": {"id": 0}, "k": "few"}, models.SearchIn),
    (SEARCH, {"query": {"id": 0}, "k": 10_000_000}, models.SearchIn),
    (SEARCH, {"query": {"id": 0}, "gamma": -1}, models.SearchIn),
    (SEARCH, {"query": {"id": 0}, "gamma": 1000}, models.SearchIn),
    (SEARCH, {"query": {"id": 0}, "space": "plane"}, models.SearchIn),
    (SEARCH, {"query": {"id": 0}, "weigths": {}}, models.SearchIn),
    (SEARCH, {"query": {"id": 0}, "weights": {"animl": 3}}, models.SearchIn),
    (SEARCH, {"query": {"id": 0}, "weights": {"animal": -3}}, models.SearchIn),
    (SEARCH, {"query": {"id": 0}, "weights": {"animal": 0, "weight": 0, "tags": 0}}, None),
    (SEARCH, {"query": {"id": 0}, "columns": ["animl"]}, models.SearchIn),
    (SEARCH, {"query": {"id": 0}, "columns": ["animal"], "weights": {"tags": 2}}, models.SearchIn),
    (SEARCH, {"query": {"id": 0}, "filter": {"animl": "cat"}}, models.SearchIn),
    (SEARCH, {"query": {"id": 0}, "filter": {"animal": {">": 3}}}, None),
    (SEARCH, {"query": {"id": 0}, "explain": -1}, models.SearchIn),
    (SEARCH, {"query": {"id": 0}, "space": "repaired"}, models.SearchIn),
    (SEARCH, {"query": {"id": 99}}, models.SearchIn),
    (SEARCH, {"query": {"idd": 0}}, models.SearchIn),
    (SEARCH, {"query": []}, models.SearchIn),
    (SEARCH, {"query": {"record": {"wight": 3}}}, models.SearchIn),
    (SEARCH, {"query": {"record": {"weight": "heavy"}}}, models.SearchIn),
    (SEARCH, {}, models.SearchIn),
    (SEARCH, [], models.SearchIn),
    (SESSIONS, {"query": {"id": 0}, "k": 0}, models.SessionIn),
    (ROWS, {"rows": []}, models.RowsIn),
    (ROWS, {"rows": {}}, models.RowsIn),
    (ROWS, {"rows": [{"wight": 3}]}, models.RowsIn),
    (NEW, {"name": "b", "rows": NUMBERS, "kinds": {"x": "number"}}, models.CreateIn),
    (NEW, {"name": "b", "rows": NUMBERS, "kinds": {"x": "numbr"}}, models.CreateIn),
    (NEW, {"name": "b", "rows": NUMBERS, "kinds": {"y": "number"}}, models.CreateIn),
    (NEW, {"name": "b", "rows": NUMBERS, "kinds": {"x": "order"}}, models.CreateIn),
    (NEW, {"name": "b", "rows": NUMBERS, "missing": 3}, models.CreateIn),
    (NEW, {"name": "b", "rows": NUMBERS, "id_column": "y"}, models.CreateIn),
    (NEW, {"name": "b", "rows": [*NUMBERS, *NUMBERS], "id_column": "x"}, models.CreateIn),
    (NEW, {"name": "b", "rows": NUMBERS, "label_column": "y"}, models.CreateIn),
    (NEW, {"name": "b", "rows": NUMBERS, "measure": "gowr"}, models.CreateIn),
    (NEW, {"name": "b", "rows": NUMBERS, "measure": "vector:metric=euclid"}, models.CreateIn),
    (NEW, {"name": "b", "rows": []}, models.CreateIn),
    (NEW, {"name": "b"}, models.CreateIn),
    (NEW, {"name": "a b", "rows": NUMBERS}, models.CreateIn),
    (MEASURE, {"measure": "gowr"}, models.MeasureIn),
    (MEASURE, {"measure": 3}, models.MeasureIn),
]


def ask(server, path, body):
    with pytest.raises(ServiceError) as error:
        server.post(path, body)
    return error.value.problem


@pytest.mark.parametrize(("path", "body", "model"), WRONG)
def test_a_problem_holds_no_python(server, path, body, model):
    problem = ask(server, path, body)
    assert 400 <= problem["status"] < 500, problem
    assert all(problem[part] for part in ("who", "needed", "found", "detail")), problem
    assert not PYTHON.search(problem["detail"]), problem["detail"]
    if "parameter" in problem and model is not None:
        assert problem["parameter"] in model.model_fields
        assert problem["parameter"] in problem["hint"]


@pytest.mark.parametrize(
    ("path", "body", "parameter", "value"),
    [
        (SEARCH, {"query": {"id": 0}, "k": 0}, "k", 1),
        (SEARCH, {"query": {"id": 0}, "space": "repaired"}, "space", "plain"),
        (NEW, {"name": "b", "rows": NUMBERS, "kinds": {"x": "number"}}, "missing", ["few"]),
    ],
)
def test_the_hint_is_data(server, path, body, parameter, value):
    problem = ask(server, path, body)
    assert (problem["parameter"], problem["value"]) == (parameter, value)
    assert f"{parameter}: {json.dumps(value)}" in problem["hint"]


def test_a_field_that_is_mistyped_is_recognized(server):
    problem = ask(server, SEARCH, {"query": {"id": 0}, "weigths": {}})
    assert (
        problem["detail"] == "body: needs a known field, found 'weigths'. Did you mean 'weights'?"
    )


def test_a_huge_value_is_not_sent_back():
    hint = ("Use ", Param("missing", ["x" * 10_000]))
    _, problem, _ = problem_of(InvalidInput("column", "numbers", "a text", hint))
    assert problem["parameter"] == "missing"
    assert "value" not in problem
    assert len(json.dumps(problem)) < 3_000
