"""Messages of the library in the terms of a request."""

import threading
import warnings

from lookalike.errors import Param, TooLarge
from lookalike.service.problems import problem_of


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
    from lookalike.service.notes import collected

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
