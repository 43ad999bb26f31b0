"""Messages of the library in the terms of a request."""

from lookalike.errors import Param, TooLarge
from lookalike.service.problems import problem_of


def test_what_the_library_says_is_spelled_for_a_request():
    hint = ("Ask for less, or raise ", Param("memory_limit", of="config"))
    status, problem, _ = problem_of(TooLarge("Gower.distance", "1 GB", Param("n_samples", 3), hint))
    assert status == 413
    told = "request: needs 1 GB, found 3 rows. Ask for less, or raise memory limit."
    assert problem["detail"] == told
    assert "parameter" not in problem  # no request can set it
