"""Scheduling: lost workers, retries and the summary."""

import sys
from types import SimpleNamespace

import pytest

from lookalike._version import __version__
from lookalike.errors import InvalidInput, LookalikeError, MissingExtra, NoAnswer, WrongType
from lookalike.index.dask import connect
from lookalike.index.dask.scheduling import (
    MAX_RETRIES,
    TASKS_PER_THREAD,
    Failure,
    Summary,
    run_items,
)


def test_a_summary_counts_in_words():
    assert str(Summary("checked", 1)) == "checked 0 rows in 0.0 s (0 rows/s), 0 B; 1 task"
    text = str(Summary("found", 2, 1, 10, 100, 2.0, 3))
    assert "10 rows in 2.0 s (5 rows/s)" in text
    assert "(10 bytes/row); 2 tasks, 1 of them done before; 3 submitted again" in text


class Client:
    """Runs a task when it is submitted; no scheduler, no worker."""

    loop = None

    def __init__(self, threads=1):
        self.threads, self.keys, self.cancelled = threads, [], []

    def nthreads(self):
        return {"worker": self.threads} if self.threads else {}

    def submit(self, task, *args, key, pure):
        assert not pure
        self.keys.append(key)
        try:
            answer, status = task(*args), "finished"
        except Exception as error:
            answer, status = error, "error"
        return SimpleNamespace(
            key=key, status=status, result=lambda: answer, exception=lambda: answer
        )

    def cancel(self, futures, force):
        assert force
        self.cancelled = list(futures)


class Completed:
    """What ``distributed.as_completed`` returns: futures in their order, and those added."""

    submitted = []  # futures so far, when each is taken

    def __init__(self, futures, loop):
        self.futures, self.count = list(futures), len(futures)

    def add(self, future):
        self.futures.append(future)
        self.count += 1

    def __iter__(self):
        while self.futures:
            self.submitted.append(self.count)
            yield self.futures.pop(0)


@pytest.fixture
def without_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(as_completed=Completed))


def double(folder, version, number):
    assert (folder, version) == ("here", __version__)
    return 10, 7 * number, 2 * number


@pytest.mark.usefixtures("without_dask")
def test_every_item_that_is_not_done_is_run_once():
    client = Client()
    items = [(number,) for number in (0, 1, 3, 4, 5, 6, 7)]
    answers, summary = run_items(client, double, "here", items, "doubled", 1)
    assert answers == [0, 2, 6, 8, 10, 12, 14]
    assert (summary.what, summary.tasks, summary.found) == ("doubled", 8, 1)
    assert (summary.rows, summary.bytes) == (70, 7 * 26)
    assert summary.retries == 0
    assert summary.seconds >= 0
    assert len(set(client.keys)) == 7
    assert all(key.startswith("double-") for key in client.keys)
    # Some at first, then one more for each that is finished.
    for threads, first in ((0, TASKS_PER_THREAD), (2, 2 * TASKS_PER_THREAD)):
        Completed.submitted.clear()
        run_items(Client(threads), double, "here", [(n,) for n in range(20)], "doubled")
        assert Completed.submitted == [min(20, first + i) for i in range(20)]
    assert run_items(Client(), double, "here", [], "doubled")[1].tasks == 0


@pytest.mark.usefixtures("without_dask")
def test_a_task_that_fails_is_tried_again_until_it_is_itself_at_fault():
    fails = [ValueError(), ValueError()]

    def sometimes(*args):
        if fails:
            raise fails.pop()
        return double(*args)

    answers, summary = run_items(Client(), sometimes, "here", [(3,)], "doubled")
    assert (answers, summary.retries) == ([6], 2)
    fails += [ValueError()] * MAX_RETRIES
    assert run_items(Client(), sometimes, "here", [(3,)], "doubled")[1].retries == MAX_RETRIES
    fails += [ValueError()] * (MAX_RETRIES + 1)
    found = r"a result for the task \(3,\), found ValueError in 6 tries"
    with pytest.raises(LookalikeError, match=found):
        run_items(Client(), sometimes, "here", [(3,)], "doubled")


@pytest.mark.usefixtures("without_dask")
def test_an_error_of_lookalike_ends_the_run_and_cancels_the_rest():
    def wrong(folder, version, number):
        parts = ("index", "a row", "no such row", "Count from 0", None)
        return (
            (0, 0, Failure(InvalidInput, parts)) if number == 1 else double(folder, version, number)
        )

    client = Client()
    with pytest.raises(InvalidInput, match="no such row"):
        run_items(client, wrong, "here", [(n,) for n in range(4)], "doubled")
    assert [future.key for future in client.cancelled] == client.keys[2:]


@pytest.mark.usefixtures("without_dask")
def test_a_lost_scheduler_is_no_answer(monkeypatch):
    def stop(error):
        def result():
            raise error

        client = Client()
        client.submit = lambda *args, key, pure: SimpleNamespace(
            key=key, status="finished", result=result
        )
        run_items(client, double, "here", [(n,) for n in range(3)], "doubled")

    cancelled = []
    monkeypatch.setattr(Client, "cancel", lambda _, futures, force: cancelled.extend(futures))
    with pytest.raises(NoAnswer, match=r"none any more \(OSError\).*run the same"):
        stop(OSError("connection closed"))
    assert len(cancelled) == 2
    with pytest.raises(KeyboardInterrupt):
        stop(KeyboardInterrupt())


def test_a_scheduler_that_does_not_answer_is_named_with_advice():
    pytest.importorskip("distributed")
    for address in ("tcp://127.0.0.1:1", "no address"):
        with (
            pytest.raises(NoAnswer, match=r"dask scheduler") as error,
            connect(address, timeout=0.5),
        ):
            pass
        assert address in str(error.value)


@pytest.mark.parametrize(
    "address", ["junk", "", "ftp://scheduler:8786", "tcp://scheduler", "a b:1"]
)
def test_what_is_not_an_address_is_refused_immediately(address):
    pytest.importorskip("distributed")
    with pytest.raises(NoAnswer, match="this is not an address") as error, connect(address):
        pass
    assert "tcp://scheduler:8786" in str(error.value)


def test_something_else_than_a_client_is_refused():
    pytest.importorskip("distributed")
    with pytest.raises(WrongType, match=r"distributed\.Client"), connect(7):
        pass


def test_without_dask_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtra, match=r"lookalike\[dask\]"), connect():
        pass
