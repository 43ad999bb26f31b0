"""The table of `make fuzz`: every part is counted, and none passes by saying nothing."""

import re
import sys

import pytest

from fuzz import run


@pytest.mark.parametrize(
    ("says", "text", "status", "counted"),
    [
        (run.MUTANTS, "1000 {}\n500 mutants, 0 failed: {'ok': 500}, 3 s\n", 0, (500, 0)),
        (run.MUTANTS, "7 a: crash\n500 mutants, 2 failed: {}, 3 s\n", 1, (500, 2)),
        (run.MUTANTS, "Segmentation fault\n", -11, (0, 1)),
        (run.LOAD, "requests 1,234, errors 0, rows added but not found 0; 41\n", 0, (1234, 0)),
        (run.LOAD, "requests 1,234, errors 0, rows added but not found 0; 41\n", 1, (1234, 1)),
        (None, "3 failed, 20 passed, 1 error in 3.2s\n", 1, (24, 4)),
        (None, "20 passed, 2 skipped in 3.2s\n", 0, (20, 0)),
        (None, "2 skipped in 3.2s\n", 0, (0, 1)),
        (None, "", 2, (0, 1)),
    ],
)
def test_what_a_part_says_is_counted(says, text, status, counted):
    assert run.Part("a", [], "files", says).count(text, status) == counted


def test_every_part_is_in_the_table(monkeypatch, capsys):
    made = [
        run.Part("good", ["-c", "print('30 mutants, 0 failed: {}')"], "files", run.MUTANTS),
        run.Part("bad", ["-c", "print('4 mutants, 1 failed'); exit(1)"], "files", run.MUTANTS),
    ]
    monkeypatch.setattr(run, "parts", lambda given: made)
    assert run.main(["--seed", "7"]) is True
    table = capsys.readouterr().out.split("\npart ")[1]
    assert re.search(r"good +30 +0 .*files\nbad +4 +1 ", table)
    assert run.main(["--part", "good"]) is False
    with pytest.raises(SystemExit, match="good, bad"):
        run.main(["--part", "none"])


def test_sizes_reach_the_parts():
    given = run.read_arguments(
        ["--mutants", "5", "--folders", "2", "--kills", "3", "--examples", "4", "--load", "1"]
    )
    shown = {part.name: part.shown() for part in run.parts(given)}
    assert "-m fuzz 5 --tables" in shown["tables"]
    assert "-m fuzz 2 --folders" in shown["folders"]
    assert "LOOKALIKE_KILLS=3" in shown["kills"]
    assert "LOOKALIKE_EXAMPLES=4" in shown["requests"]
    assert "--seconds 1.0 --judge" in shown["load"]
    assert sys.executable not in shown["load"]
