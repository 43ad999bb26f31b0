"""Modules that are put off: run once, at the first name asked for, whole for every thread."""

import subprocess
import sys
import threading

import pytest

from lookalike.cli import later

BODY = """
import time
import {name}_log
{name}_log.runs.append(1)
early = 1
time.sleep(0.2)
late = early + 1
"""


@pytest.fixture
def put_off(tmp_path, monkeypatch):
    """Write a slow module, put it off, and return its name and a list of its runs."""
    name = "lookalike_slow_module"
    (tmp_path / f"{name}.py").write_text(BODY.format(name=name))
    (tmp_path / f"{name}_log.py").write_text("runs = []\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(later, "LATER", (name,))
    monkeypatch.setattr(sys, "meta_path", [later._Later(), *sys.meta_path])
    yield name, __import__(f"{name}_log").runs
    sys.modules.pop(name, None)
    sys.modules.pop(f"{name}_log", None)


def test_importing_does_not_run_it_and_a_name_does(put_off):
    name, runs = put_off
    module = __import__(name)
    assert __import__(name) is module
    assert not runs
    assert module.late == 2
    assert type(module) is type(sys)
    assert module.late == 2
    assert runs == [1]


def test_threads_that_meet_at_once_see_all_of_it(put_off):
    name, runs = put_off
    module = __import__(name)
    begin, seen = threading.Barrier(8), []

    def look():
        begin.wait()
        seen.append(module.late)

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [2] * 8
    assert runs == [1]


def test_a_name_may_be_set_from_outside(put_off):
    name, runs = put_off
    module = __import__(name)
    module.late = 5
    assert runs == [1]
    assert module.late == 5


def test_a_package_brings_its_submodules():
    code = (
        "import sys; from lookalike.cli.later import load_later; load_later()\n"
        "import scipy.stats, numpy\n"
        "assert 'scipy.stats._stats_py' not in sys.modules\n"
        "from scipy.stats import rankdata\n"
        "import scipy.stats.distributions\n"
        "assert rankdata([3, 1]).tolist() == [2, 1]\n"
        "numpy.testing.assert_equal(scipy.special.binom(4, 2), 6)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_reading_a_file_does_not_load_pandas(tmp_path):
    pytest.importorskip("pandas")
    (tmp_path / "t.csv").write_text("name,size\na,1\nb,NA\nc,3\n")
    code = (
        "import sys; sys.argv[1:] = ['inspect', 't.csv']\n"
        "from lookalike.cli import main\n"
        "try:\n    main()\n"
        "finally:\n"
        "    assert 'pandas.core' not in sys.modules\n"
        "    import pandas\n"
        "    assert len(pandas.DataFrame({'a': [1, 2]})) == 2\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "3 rows, 2 columns" in done.stdout
