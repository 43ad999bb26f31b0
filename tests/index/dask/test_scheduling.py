"""Scheduling: lost workers, retries and the summary."""

from lookalike.errors import LookalikeError
from lookalike.index.dask.scheduling import Failure, Summary, _Workers


def test_tasks_of_a_lost_worker_count_as_submitted_again():
    class Client:
        def processing(self):
            return states.pop(0)

    states = [{"a": ("x", "y"), "b": ("z",)}, {"b": ("z", "x")}, {"a": (), "b": ()}]
    workers = _Workers()
    workers.update(Client(), {"x", "y", "z"})
    workers.update(Client(), {"x", "z"})  # y was finished meanwhile
    assert (workers.retries, workers.lost) == (1, 1)
    workers.update(Client(), {})  # it was only away for a moment
    assert (workers.retries, workers.lost) == (1, 0)


def test_a_summary_counts_in_words():
    assert str(Summary("checked", 1)) == "checked 0 rows in 0.0 s (0 rows/s), 0 B; 1 task"
    text = str(Summary("found", 2, 1, 10, 100, 2.0, 0, 2))
    assert "10 rows in 2.0 s (5 rows/s)" in text
    assert "(10 bytes/row); 2 tasks, 1 of them done before; 0 submitted again, 2 workers" in text


def test_an_unknown_class_of_error_is_still_an_error_of_lookalike():
    error = Failure("NoSuchError", "what happened").error()
    assert type(error) is LookalikeError
    assert "what happened" in str(error)
