"""The benchmark harness notices wrong answers, absent rivals and missed targets."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lookalike.verbs import VERBS

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def from_the_root(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.fixture
def speed(monkeypatch):
    run = importlib.import_module("benchmarks.speed.run")
    monkeypatch.setattr(run, "extra_mb", lambda module, case, label, threads: len(label))
    return run


def make_case(**changes):
    case = importlib.import_module("benchmarks.speed.case")

    def not_there(problem):
        raise ImportError("no module", name="rival")

    parts = {
        "name": "sum",
        "problem": lambda small: np.arange(3 if small else 100),
        "ours": lambda problem: lambda: problem.sum(),
        "rivals": {
            "python": lambda problem: lambda: sum(problem.tolist()),
            "wrong": lambda problem: lambda: -1,
            "absent": not_there,
        },
        "agree": lambda ours, theirs: "" if ours == theirs else f"{ours} is not {theirs}",
        "targets": (case.Faster("python", 1e-9), case.Faster("absent", 1), case.Smaller(10)),
    }
    return case.Case(**parts | changes)


@pytest.mark.long
def test_answers_are_compared_and_targets_judged(speed):
    result = speed.run_case(make_case(), "none", repeats=3, threads=1)
    assert result.disagreements == {"wrong": "4950 is not -1"}
    assert result.absent == {"absent": "not installed (rival)"}
    assert {label: len(times) for label, times in result.seconds.items()} == {
        "lookalike": 3,
        "python": 3,
        "wrong": 3,
    }
    assert result.targets() == {
        "at least 1000000000x faster than python": False,
        "time <= 1x of absent": None,
        "extra memory < 10 MB": True,
    }
    assert json.loads(json.dumps(result.to_json()))["best"] == result.best


@pytest.mark.long
def test_contenders_take_turns_after_one_warm_up(speed):
    order = []
    rivals = {"rival": lambda problem: lambda: order.append("rival")}
    case = make_case(
        ours=lambda problem: lambda: order.append("ours"), rivals=rivals, agree=lambda a, b: ""
    )
    speed.run_case(case, "none", repeats=3, threads=None)
    assert order == "ours rival  ours rival  rival ours  ours rival".split()


def test_memory_of_a_call_is_seen(tmp_path):
    case = tmp_path / "big_answer.py"
    case.write_text(
        "import numpy as np\n"
        "from benchmarks.speed.case import Case\n"
        "ours = lambda n: lambda: np.ones(n)\n"
        "CASES = [Case('a', lambda small: 10 if small else 10_000_000, ours, {}, None)]\n"
    )
    code = "from benchmarks.speed.memory import extra_mb\n"
    code += "if __name__ == '__main__': print(extra_mb('big_answer', 'a', 'lookalike', 1))\n"
    script = tmp_path / "measure.py"
    script.write_text(code)
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert 75 < float(done.stdout) < 110


def test_knn_allows_ties_only():
    agree = importlib.import_module("benchmarks.speed.cases.knn").agree
    distances = np.arange(1.0, 11.0)[None]
    rows = np.arange(10)[None]
    swapped = rows[:, [1, 0, *range(2, 10)]]
    tied = distances.copy()
    tied[0, 1] = tied[0, 0] * (1 + 1e-7)
    assert agree((distances, rows), (distances, rows)) == ""
    assert agree((tied, rows), (tied, swapped)) == ""
    assert "without a tie" in agree((distances, rows), (distances, swapped))
    assert "distances differ" in agree((distances, rows), (distances * 1.001, rows))
    assert "twice" in agree((tied, rows * 0), (tied, rows))


def test_the_searchsorted_loop_follows_the_definition():
    ranked = importlib.import_module("benchmarks.speed.cases.ranked")
    fitted = np.array([[10.0], [20.0], [20.0], [40.0]])
    unseen = np.array([[20.0], [30.0], [5.0]])
    # Rank differences after really inserting the unseen value among the fitted ones.
    expected = [[2.0, 0.0, 0.0, 1.5 + 0.5], [3.0, 1.5, 1.5, 1.0], [1.0, 2.5, 2.5, 4.0]]
    assert ranked.loop((fitted, unseen))().tolist() == expected


def test_quality_tells_differences_from_noise():
    judge = importlib.import_module("benchmarks.quality.__main__").judge
    wrong = [1.0, 0.0] * 100
    assert judge(wrong, [0.0] * 200) == (0.5, 1.0, "better")
    assert judge([0.0] * 200, wrong) == (1.0, 0.5, "worse")
    assert judge(wrong, [0.0, *wrong[1:]]) == (0.5, 0.505, "")  # one row of 200
    assert judge(wrong, wrong) == (0.5, 0.5, "")
    assert judge(0.5, 0.4)[2] == "better"  # clusters
    assert judge(0.5, 0.49)[2] == ""
    assert judge(None, wrong) == (None, 0.5, "")


def test_quality_names_what_got_worse(capsys):
    quality = importlib.import_module("benchmarks.quality.__main__")
    row = {"seconds": 1.0, "error": None}
    before = {("iris", "kNN"): row | {"lost": [0.0] * 50}}
    after = {("iris", "kNN"): row | {"lost": [1.0] * 25 + [0.0] * 25}}
    after |= {("iris", "clusters"): row | {"lost": 0.2}}
    console = importlib.import_module("rich.console").Console(width=120)
    assert quality.show(before, after, console) == ["iris, kNN: 1.000 to 0.500"]
    assert "mean of 1 tables 1.000 before, 0.500 after" in capsys.readouterr().out


def test_exponents_are_measured_and_judged(monkeypatch):
    growth = importlib.import_module("benchmarks.speed.growth")
    assert growth.slope([1, 2, 4, 8], [9.0, 4.0, 16.0, 64.0]) == pytest.approx(2.0)
    taken = iter([n * n / 1e3 for n in (10, 20, 40, 80, 160) for _ in range(2)])
    monkeypatch.setattr(growth, "_processor_seconds", lambda call: next(taken))
    monkeypatch.setattr(growth, "_peak", lambda call: call())
    work = growth.Growth("pairs", lambda n: lambda: 8 * n, 2.0, 1.0, start=10)
    found = growth.measure(work, enough=1e9, repeats=2)
    assert found.sizes == [10, 20, 40, 80, 160]
    assert (found.time, found.memory) == (pytest.approx(2.0), pytest.approx(1.0))
    assert found.holds
    assert not growth.MeasuredGrowth(
        growth.Growth("linear", work.prepare), *list(vars(found).values())[1:]
    ).holds
    taken = iter([1.0] * 100)
    assert growth.measure(work, enough=0.1, repeats=2).sizes == [10, 20, 40]
    every = list(importlib.import_module("benchmarks.speed.cases.growth").GROWTHS())
    names = {one.name for one in every}
    assert len(names) == len(every) > 40
    assert {f"la.{verb}" for verb in VERBS} - names == set()  # every verb is measured


def test_the_default_is_compared_with_gower_as_published_table_by_table(capsys, monkeypatch):
    import numpy as np

    from lookalike.table import read_table

    quality = importlib.import_module("benchmarks.quality.defaults")
    rng = np.random.default_rng(0)
    kind = np.arange(60) % 2
    skewed = np.exp(4 * kind + rng.normal(size=60))
    skewed[0] = 1e9  # the range of one row leaves no difference between all others
    table = read_table({"a": skewed, "b": skewed**2, "c": rng.normal(size=60), "d": kind + skewed})
    task = quality.Task("made", table, kind)
    scores = quality.compare(task)
    (old, new), (before, after) = scores.values()
    assert list(scores) == ["hidden columns", "labels"]
    assert new > old + 0.1
    assert after > before
    assert list(quality.compare(quality.Task("made", table))) == ["hidden columns"]
    monkeypatch.setattr(quality, "tasks", lambda work, rows, limit: [task] * (limit or 3))
    assert quality.main(["--limit", "2"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("better") >= 4  # in two lines, and in the two counts
    assert "2 better and 0 worse by more than 0.02" in shown
    assert f"mean of 2 tables {before:.3f} before, {after:.3f} after" in shown


def test_memory_that_grows_under_load_is_noticed():
    from benchmarks.load.__main__ import MAX_GROWTH, growth

    warm = [100.0, 150.0, 190.0]
    assert growth(warm + [200.0, 210.0, 200.0] + [205.0, 200.0, 200.0]) == 1.0
    assert growth(warm + [200.0, 210.0, 220.0] + [230.0, 240.0, 250.0]) > MAX_GROWTH
