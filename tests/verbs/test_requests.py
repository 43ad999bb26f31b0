"""Requests are checked against the signatures of verbs."""

import pytest
from pydantic import ValidationError

from lookalike.verbs import VERBS, get_verb
from lookalike.verbs.requests import request_model


@pytest.mark.parametrize("verb", VERBS)
def test_a_request_has_no_table(verb):
    assert "table" not in request_model(get_verb(verb)).model_fields


def test_types_are_strict_and_names_are_known():
    search = request_model(get_verb("search"))
    assert search(row=3).k == 10
    for wrong in ({"k": "5"}, {"k": True}, {"k": 0}, {"weight": {}}, {"weights": {"size": "2"}}):
        with pytest.raises(ValidationError):
            search(row=3, **wrong)


def test_a_parameter_without_a_default_is_required():
    with pytest.raises(ValidationError):
        request_model(get_verb("explain"))(row=1)
