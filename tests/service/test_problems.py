"""Problem documents: in the words of a request, with the parameter of the hint as a field."""

import json
import re
import threading
import warnings

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from lookalike.errors import InvalidInput, Param, TooLarge
from lookalike.service import ServiceError, problems
from lookalike.service.api import models
from lookalike.service.problems import problem_of
from lookalike.service.store.store import Conflict, NotFound, TooFarBehind

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


def test_all_types_that_a_field_may_have_are_one_error(server):
    problem = ask(server, SEARCH, {"query": True})
    assert problem["needed"] == "an object or a string or an integer or a list"
    assert problem["hint"] == "See the examples in /openapi.json"
    problem = ask(server, SEARCH, {"query": {"id": 0}, "k": -1, "explain": -1})
    assert (problem["needed"], problem["found"]) == ("a number >= 1", "-1")
    assert problem["hint"] == "Use k: 1 (1 more to correct)"


def test_a_huge_value_is_not_sent_back():
    hint = ("Use ", Param("missing", ["x" * 10_000]))
    _, problem, _ = problem_of(InvalidInput("column", "numbers", "a text", hint))
    assert problem["parameter"] == "missing"
    assert "value" not in problem
    assert len(json.dumps(problem)) < 3_000


def test_what_the_library_says_is_spelled_for_a_request():
    hint = ("Ask for less, or raise ", Param("memory_limit", of="config"))
    status, problem, _ = problem_of(TooLarge("Gower.distance", "1 GB", Param("n_samples", 3), hint))
    assert status == 413
    result = "request: needs 1 GB, found 3 rows. Ask for less, or raise memory limit."
    assert problem["detail"] == result
    assert "parameter" not in problem  # no request can set it


def test_warnings_belong_to_the_thread_that_caused_them():
    """Each request has its own notes, once each; other warnings are left alone."""
    from lookalike.errors import LookalikeWarning
    from lookalike.service.problems import collected

    def warn(text):
        with collected() as notes:
            for _ in range(2):
                warnings.warn(LookalikeWarning(text), stacklevel=1)
            barrier.wait(300)
        found[text] = notes

    found, barrier = {}, threading.Barrier(2)
    threads = [threading.Thread(target=warn, args=(text,)) for text in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {"one": ["one"], "two": ["two"]}


def test_an_error_becomes_a_status_with_headers():
    one = ("a", "b", "c", "d")
    for error, status, headers in (
        (problems.Refused(418, *one, headers={"X": "1"}), 418, {"X": "1"}),
        (InvalidInput(*one), 422, {}),
        (NotFound(*one), 404, {}),
        (Conflict(*one), 409, {}),
        (TooFarBehind(*one), 503, {"Retry-After": "1"}),
        (TooLarge(*one), 413, {}),
        (ClientDisconnect(), 400, {}),
        (RuntimeError("a cell"), 500, {}),
        (HTTPException(404), 404, {}),
        (HTTPException(405, headers={"Allow": "GET"}), 405, {"Allow": "GET"}),
    ):
        found, document, sent = problems.problem_of(error)
        assert (found, document["status"], sent) == (status, status, headers)
        assert document["type"] == f"urn:lookalike:problem:{status}"
        assert "a cell" not in json.dumps(document)
    wrapped = HTTPException(400)
    wrapped.__cause__ = problems.Refused(413, *one)
    assert problems.problem_of(wrapped)[0] == 413
    assert problems._refused(HTTPException(404)).who == "address"
    assert problems._refused(HTTPException(405)).who == "method"
    assert problems._refused(HTTPException(406)).who == "request"
    response = problems.respond(problems.Refused(418, *one, headers={"X": "1"}))
    assert (response.status_code, response.headers["X"]) == (418, "1")
    assert response.media_type == "application/problem+json"
    again = problems.refused_again({**problems.problem_of(NotFound(*one))[1]})
    assert (again.status, again.who, again.hint) == (404, "a", "d")


def test_wrong_fields_in_words():
    def said(kind, loc, more=0, **rest):
        others = [{"type": "missing", "loc": ("body", str(i))} for i in range(more)]
        return str(problems.invalid([{"type": kind, "loc": loc, **rest}, *others]))

    bound = {"input": 0, "ctx": {"ge": 1}}
    first = said("greater_than_equal", ("body", "k"), **bound)
    assert first.startswith("k: needs ")
    assert "found 0. Use k" in first
    assert "(2 more to correct)" in said("greater_than_equal", ("body", "k"), 2, **bound)
    assert "more to correct" not in first
    assert "found none" in said("missing", ("body", "query"), input={})
    assert "Did you mean 'weights'" in said("extra_forbidden", ("body", "weigths"), input=1)
    mistyped = {"type": "extra_forbidden", "loc": ("body", "quer"), "input": 1}
    errors = [{"type": "missing", "loc": ("body", "query"), "input": {}}, mistyped]
    assert str(problems.invalid(errors)).startswith("body: needs a known field, found 'quer'.")
    assert said("unknown", ("body", "QueryIn"), input=[1]).startswith(
        "body: needs another value, found a list."
    )
    assert said("unknown", ("query", "odd"), input={}).startswith(
        "odd: needs another value, found an object."
    )
    assert said("unknown", ("k",), input="x").startswith('k: needs another value, found "x".')
