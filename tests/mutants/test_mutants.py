"""The tool that draws faults: what it breaks, what it leaves alone, what it says of the tests."""

from pathlib import Path

import pytest

from mutants.__main__ import Project, run
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
    (tmp_path / "src" / "made" / "inner").mkdir(parents=True)
    (tmp_path / "tests" / "inner").mkdir(parents=True)
    (tmp_path / "src" / "made" / "__init__.py").touch()
    (tmp_path / "src" / "made" / "inner" / "__init__.py").touch()
    (tmp_path / "src" / "made" / "inner" / "count.py").write_bytes(MODULE)
    (tmp_path / "tests" / "inner" / "test_count.py").write_text(TESTS)
    made = Project(tmp_path, "made", workers=1)
    yield made
    made.close()
    assert not made.folder.exists()


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
    assert b"if (value <= low):" in faults[7].apply(MODULE)
    assert find_faults(b"MAX_ROWS = 7\nROWS_PER_TASK = 8 * 9\nfield = Integer(high=2**31)") == []
    for fault in faults:
        compile(fault.apply(MODULE), "module", "exec")
        assert fault.apply(MODULE).count(b"\n") == MODULE.count(b"\n")


def test_faults_are_killed_or_survive(project, capsys):
    (project.tests / "mutants").mkdir()
    (project.tests / "mutants" / "equivalent.txt").write_text(
        "# Says what the blocks are.\n\n"
        "inner/count.py\n    if value < low:\n    value < low -> value <= low\n    The same.\n"
    )
    survivors = project.root / "survivors.txt"
    faults = project.draw("inner/count", 100, seed=0)
    assert len(faults) == 13
    texts = ("value < low -> value <= low", "value < low -> False", "value + 1 -> value - 1")
    counts = run(project, [pair for pair in faults if pair[1].text in texts], survivors)
    assert counts["inner"] == {"killed": 1, "SURVIVED": 1, "equivalent": 1}
    said = capsys.readouterr().out
    assert "13: value < low -> value <= low: equivalent The same." in said
    assert "13: value < low -> False: killed tests/inner/test_count.py::test_clip" in said
    assert "17: value + 1 -> value - 1: SURVIVED" in said
    assert said.endswith(f"{'all':16}{3:12}{1:12}{1:12}{1:12}{0:12}{50.0:12.1f}\n")
    assert "    return value + 1\n    value + 1 -> value - 1\n" in survivors.read_text()
    assert run(project, faults, survivors, minutes=-1) == {}
    # The sources are never touched.
    assert (project.source / "inner" / "count.py").read_bytes() == MODULE


def test_tests_that_fail_without_a_fault_judge_nothing(project):
    (project.tests / "inner" / "test_count.py").write_text("def test_it():\n    assert False\n")
    ((module, fault),) = project.draw("inner", 1, seed=3)
    assert project.draw("inner", 1, seed=3) == [(module, fault)]
    assert project.draw("other", 1, seed=3) == []
    assert run(project, [(module, fault)], project.root / "survivors.txt")["inner"] == {
        "not judged": 1
    }


def test_tests_that_hang_by_a_fault_kill_it(project, monkeypatch):
    monkeypatch.setattr(Project._run, "__defaults__", (20,))
    (project.tests / "inner" / "test_count.py").write_text(
        "from made.inner.count import clip\ndef test_it():\n    while clip(1) != 3: pass\n"
    )
    faults = [pair for pair in project.draw("", 99, 0) if pair[1].text == "value < low -> False"]
    assert run(project, faults, project.root / "survivors.txt")["inner"] == {"killed": 1}


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
