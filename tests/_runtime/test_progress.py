"""A bar on long work, and work that is watched and cancelled."""

import io
import sys
import time

import pytest

import lookalike as la
from lookalike._runtime import progress as _progress
from lookalike._runtime.progress import Cancelled, check_cancelled, watching
from lookalike._runtime.threads import run


def test_a_bar_appears_only_on_long_work(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with la.config(progress=True):
        run(lambda i: None, [(i,) for i in range(5)], 1, "quick work")
        assert stream.getvalue() == ""
        monkeypatch.setattr(_progress, "SECONDS_BEFORE_BAR", 0.0)
        run(lambda i: time.sleep(0.01), [(i,) for i in range(5)], 1, "long work")
    assert "long work" in stream.getvalue()
    length = len(stream.getvalue())
    with la.config(progress=False):
        run(lambda i: time.sleep(0.01), [(i,) for i in range(5)], 1, "silent work")
    assert len(stream.getvalue()) == length


def test_a_watcher_hears_of_every_part_and_may_end_the_work():
    heard, done = [], []
    with watching(lambda *said: heard.append(said)):
        run(done.append, [(i,) for i in range(3)], 1, "parts")
    assert heard == [("parts", 1, 3), ("parts", 2, 3), ("parts", 3, 3)]
    assert done == [0, 1, 2]
    with watching(cancelled=lambda: len(done) >= 5):
        for jobs in (1, 2):
            with pytest.raises(Cancelled):
                run(done.append, [(i,) for i in range(1000)], jobs)
    assert 5 <= len(done) < 1000
    check_cancelled()  # outside of the block there is no watcher
    run(done.append, [(0,)], 1)
    assert len(heard) == 3


def test_one_part_and_quiet_work_have_no_bar(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(_progress, "SECONDS_BEFORE_BAR", 0.0)
    heard = []
    with la.config(progress=True), watching(lambda *said: heard.append(said)):
        for total, quiet in ((1, False), (3, True)):
            with _progress.Progress("work", total, quiet=quiet) as bar:
                for _ in range(total):
                    bar.advance()
    assert stream.getvalue() == ""
    assert heard == [("work", 1, 1)]
    with la.config(progress=None), _progress.Progress("work", 3) as bar:  # not a terminal
        bar.advance()
    assert stream.getvalue() == ""
