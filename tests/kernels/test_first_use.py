"""Which calls are compiled, which are left to numpy; either can be forced."""

import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import lookalike as la
from lookalike.kernels import COMPILED, distances, fallback, first_use, lists, mixed, objects
from lookalike.measures import Gower, Ranked, Vector

QUESTION = """
import numpy as np
from lookalike.measures import Gower
from numba.core.event import install_recorder
rng = np.random.default_rng(0)
table = {"n": rng.normal(size=200), "c": rng.choice(["a", "b"], 200).tolist()}
table["s"] = [frozenset(rng.choice(list("xyz"), 2).tolist()) for _ in range(200)]
with install_recorder("numba:compile") as seen:
    Gower().fit(table).similarity()
print(sorted({event.data["dispatcher"].py_func.__name__ for _, event in seen.buffer}))
"""


@pytest.fixture
def not_forced(monkeypatch):
    """Undo what tests/conftest.py does for all other tests of this folder."""
    monkeypatch.setattr(first_use, "_forced", None)


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
@pytest.mark.long
def test_a_small_search_compiles_no_comparison(tmp_path):
    place = {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", QUESTION],
        capture_output=True,
        text=True,
        env={**os.environ, **place},
    )
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


class Loop:
    """A loop that is not compiled: only what the rule looks at."""

    overloads = ()

    def py_func(self):
        """What would be compiled."""


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_many_cells_are_worth_compiling(not_forced, monkeypatch, tmp_path):
    loop = Loop()
    monkeypatch.setattr(first_use, "_compared", {})
    monkeypatch.setattr(first_use, "cache_folder", lambda: str(tmp_path))
    first_use._is_on_disk.cache_clear()
    assert first_use.pick(loop, "fallback", first_use.MAX_CELLS_BEFORE_COMPILING) == "fallback"
    assert first_use.pick(loop, "fallback", 1) is loop
    monkeypatch.setattr(first_use, "_compared", {})
    name = f"{__name__.rpartition('.')[2]}.Loop.py_func"
    (tmp_path / "kernels_1").mkdir()
    (tmp_path / "kernels_1" / f"{name}-1.py3.nbi").write_bytes(b"")
    first_use._is_on_disk.cache_clear()
    # What lies on disk has to be loaded, too: not for little, unless others have been.
    for running in (False, True):
        monkeypatch.setattr(first_use, "sys", SimpleNamespace(modules={"numba"} if running else ()))
        assert first_use.worth_compiling(loop, 1) is running
    monkeypatch.setattr(first_use, "sys", SimpleNamespace(modules=()))
    first_use._compared["another"] = first_use.MAX_CELLS_BEFORE_LOADING
    assert first_use.worth_compiling(loop, 1)


def test_either_way_can_be_forced(not_forced):
    loop = Loop()
    with first_use.compile_at_once():
        assert first_use.pick(loop, "fallback", 1) is loop
        with first_use.compile_at_once(False):
            many = 2 * first_use.MAX_CELLS_BEFORE_COMPILING
            assert first_use.pick(loop, "fallback", many) == "fallback"
        assert first_use.worth_compiling(loop, 1)
    assert first_use._forced is None


def test_tests_of_loops_compile_them():
    """The fixture of tests/conftest.py holds for this folder: no test depends on numba's cache."""
    assert first_use._forced is True


PAIRED = {
    distances: ("distance_block", "ranked_block"),
    mixed: ("mixed_block", "mixed_pairs"),
    objects: ("shared_counts", "unshared_of_counts"),
    lists: ("keep_nearest", "merge_lists"),
}


def table(n=60):
    """Columns of every kind that has a numpy fallback, with missing cells."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    x[::7] = np.nan
    words = [frozenset(rng.choice(list("abcdef"), rng.integers(0, 5)).tolist()) for _ in range(n)]
    columns = {"x": x, "c": rng.choice(["u", "v", "w"], n).tolist(), "s": words}
    columns |= {"f": rng.random(n) < 0.5, "v": list(rng.normal(size=(n, 3)))}
    return la.read_table(columns, kinds={"f": "flag", "v": "vector"})


def test_measures_answer_alike_both_ways(monkeypatch):
    """Whole searches, forced either way: equal to the last bit, and every fallback is called."""
    called, everywhere = set(), set()

    def watch(name):
        plain = getattr(fallback, name)

        def watched(*arguments):
            called.add(name)
            return plain(*arguments)

        return watched

    names = [name for group in PAIRED.values() for name in group]
    for name in names:
        monkeypatch.setattr(fallback, name, watch(name))
    numbers = np.random.default_rng(1).normal(size=(60, 3))
    for measure, rows in (
        (Gower(), table()),
        (Gower(missing="midpoint"), table()),
        (Vector("euclidean"), numbers),
        (Vector("chebyshev"), numbers),
        (Ranked("cityblock"), numbers),
        (Ranked("euclidean"), numbers),
    ):
        answers = []
        for compiled in (True, False):
            called.clear()
            with first_use.compile_at_once(compiled):
                fitted = measure.fit(rows)
                graph = fitted.nearest(fitted.rows_, fitted.rows_, 5)
                answers.append([fitted.similarity(), graph.distances, graph.indices])
            assert bool(called) is not compiled, repr(measure)
        everywhere |= called
        for loop, numpy in zip(*answers, strict=True):
            np.testing.assert_array_equal(loop, numpy, repr(measure))
    assert everywhere >= set(names) - {"mixed_pairs", "merge_lists"}  # called by other verbs
