"""The tool that draws faults: what it breaks, what it leaves alone, what it says of the tests."""

from pathlib import Path

import pytest

from mutants.__main__ import CRASH, FORKS, TIMEOUT, Project, run
from mutants.faults import find_faults
from mutants.nearest import nearest_tests

MODULE = b'''"""Says how many."""
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import numpy
def clip(value: int | None, low: int = 3) -> int:
    """Return at least 3.

    >>> clip(7)
    7
    """
    if value is None:
        raise ValueError("needs 1 + 1")
    if value < low:
        return low
    return value
def untested(value):
    return value + 1
def __repr__(self):
    return 1
'''
TESTS = """
import pytest
from made.inner.count import clip
def test_clip():
    assert [clip(1), clip(5)] == [3, 5]
    with pytest.raises(ValueError):
        clip(None)
"""


@pytest.fixture
def project(tmp_path):
    FORKS.set_forkserver_preload(["pytest"])  # the package below imports nothing
    (tmp_path / "src" / "made" / "inner").mkdir(parents=True)
    (tmp_path / "tests" / "inner").mkdir(parents=True)
    (tmp_path / "src" / "made" / "__init__.py").touch()
    (tmp_path / "src" / "made" / "inner" / "__init__.py").touch()
    (tmp_path / "src" / "made" / "inner" / "count.py").write_bytes(MODULE)
    (tmp_path / "tests" / "inner" / "test_count.py").write_text(TESTS)
    return Project(tmp_path, "made")


def test_faults_are_in_the_logic_only():
    faults = find_faults(MODULE)
    assert [fault.text for fault in faults] == [
        "3 -> 4",
        "value is None -> True",
        "value is None -> False",
        "value is None -> value is not None",
        "raise ValueError('needs 1 + 1') -> dropped",
        "value < low -> True",
        "value < low -> False",
        "value < low -> value <= low",
        "return low -> return None",
        "return value -> return None",
        "return value + 1 -> return None",
        "value + 1 -> value - 1",
        "1 -> 2",
    ]
    assert b"if (value <= low):" in faults[7].mutant
    assert (faults[7].line, faults[7].source_line) == (13, "if value < low:")
    assert find_faults(b"MAX_ROWS = 7\nROWS_PER_TASK = 8 * 9\nfield = Integer(high=2**31)") == []
    assert find_faults(b"huge = 1e300") == []
    branch = find_faults(b"if COMPILED:\n    size = 1\nelse:\n    size = 2\nprint(3)")
    assert [fault.line for fault in branch if fault.compiled] == [2]
    for fault in faults:
        compile(fault.mutant, "module", "exec")
        assert fault.mutant.count(b"\n") == MODULE.count(b"\n")


def test_faults_are_killed_or_survive(project, capsys, monkeypatch, tmp_path):
    (project.tests / "mutants").mkdir()
    (project.tests / "mutants" / "equivalent.txt").write_text(
        "# Says what the blocks are.\n\n"
        "inner/count.py\n    if value < low:\n    value < low -> value <= low\n    The same.\n"
    )
    project = Project(project.root, "made")
    faults = project.draw("inner/count", 100, seed=0)
    assert len(faults) == 13
    texts = ("value < low -> value <= low", "value < low -> False", "value + 1 -> value - 1")
    few = [pair for pair in faults if pair[1].text in texts]
    counts = run(project, few, jobs=2)
    assert counts["inner"] == {"killed": 1, "survived": 1, "equivalent": 1}
    printed = capsys.readouterr().out
    assert "13: value < low -> value <= low: equivalent The same." in printed
    assert "13: value < low -> False: killed tests/inner/test_count.py::test_clip" in printed
    assert "17: value + 1 -> value - 1: survived" in printed
    assert "    return value + 1\n    value + 1 -> value - 1\n    line 17\n" in printed
    assert printed.endswith(f"{'all':16}{3:12}{1:12}{1:12}{1:12}{0:12}{50.0:12.1f}\n")
    assert run(project, faults, minutes=-1) == {}
    # What a log says was killed is not judged again; what survived is.
    log = tmp_path / "judged.txt"
    log.write_text(
        "\n".join(line.replace("survived", "killed by hand") for line in printed.split("\n"))
    )
    assert run(project, few, minutes=-1, log=log)["inner"] == {"killed": 2}
    killed = "inner/count.py:13: value < low -> False: killed tests/inner/test_count.py::test_clip"
    assert killed in log.read_text().splitlines()
    # The sources are never touched.
    assert (project.source / "inner" / "count.py").read_bytes() == MODULE
    # What survives the tests by the name of the module meets the others of its folder. A process
    # that they start has the fault as well.
    (project.tests / "inner" / "test_other.py").write_text(
        "import subprocess, sys\n"
        "def test_untested():\n"
        "    code = 'from made.inner.count import untested as u; assert u(1) == 2'\n"
        "    subprocess.run([sys.executable, '-c', code], check=True)\n"
    )
    ((module, fault),) = [pair for pair in few if pair[1].line == 17]
    killer = "tests/inner/test_other.py::test_untested"
    assert project.judge(module, fault) == ("killed", killer)
    # Of the many tests of a folder some may be slow without a fault.
    with (project.tests / "inner" / "test_other.py").open("a") as file:
        file.write("    while True: pass\n")
    monkeypatch.setattr("mutants.__main__.MAX_FOLDER_SECONDS", 2)
    project.equivalent.clear()
    ((module, fault),) = [pair for pair in faults if pair[1].text == texts[0]]
    assert project.judge(module, fault) == ("survived", "")


def test_tests_that_fail_without_a_fault_judge_nothing(project):
    test = project.tests / "inner" / "test_count.py"
    ((module, fault),) = project.draw("inner", 1, seed=3)
    assert project.draw("inner", 1, seed=3) == [(module, fault)]
    assert project.draw("other", 1, seed=3) == []
    for lines, failed in (
        ("def test_it():\n    assert False", "tests/inner/test_count.py::test_it"),
        ("import os\nos._exit(1)", CRASH),
    ):
        test.write_text(lines + "\n")
        assert project.judge(module, fault) == ("not judged", failed)


@pytest.mark.long
def test_tests_that_hang_by_a_fault_kill_it(project, monkeypatch):
    monkeypatch.setattr(Project._run, "__defaults__", (None, 20, None))
    (project.tests / "inner" / "test_count.py").write_text(
        "from made.inner.count import clip\ndef test_it():\n    while clip(1) != 3: pass\n"
    )
    faults = [pair for pair in project.draw("", 99, 0) if pair[1].text == "value < low -> False"]
    assert project.judge(*faults[0]) == ("killed", TIMEOUT)


def test_the_nearest_tests_bear_the_name_of_the_module(tmp_path):
    tests, source = tmp_path / "tests", tmp_path / "src"
    names = (
        "a/b/test_c.py",
        "a/test_b.py",
        "a/test_c.py",
        "a/b/test_x.py",
        "a/test_y.py",
        "test_c.py",
    )
    for name in names:
        (tests / name).parent.mkdir(parents=True, exist_ok=True)
        (tests / name).touch()
    near, rest = nearest_tests(Path("a/b/_c.py"), source, tests)
    assert near == [tests / name for name in names[:3]] + [source / "a/b/_c.py"]
    assert rest == [tests / name for name in names[3:5]]
    near, _ = nearest_tests(Path("a/b/__init__.py"), source, tests)
    assert near == [tests / "a/test_b.py", source / "a/b/__init__.py"]
    assert nearest_tests(Path("c.py"), source, tests) == (
        [tests / "test_c.py", source / "c.py"],
        [],
    )
