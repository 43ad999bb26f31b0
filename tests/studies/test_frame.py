"""The framework of the studies: cached results, causes of differences, pages with findings."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from lookalike.errors import InvalidInput, MissingFile
from studies import (
    Finding,
    Paper,
    Plot,
    Result,
    Sheet,
    StudyPart,
    Value,
    Work,
    find_paper,
    run_paper,
)
from studies.command import show
from studies.data import data_folder
from studies.paper import Reading
from studies.write import as_markdown, write_page


def test_a_result_is_computed_once_and_survives_a_kill(tmp_path):
    made = []
    work = Work(tmp_path, "quick", tmp_path / "keep", "part", "text")
    assert work.once("a", lambda: made.append(1) or {"x": 1.5}) == {"x": 1.5}
    (file,) = (tmp_path / "keep").iterdir()
    with file.open("a") as out:
        out.write('["b", 0.')  # killed while it wrote
    again = Work(tmp_path, "full", tmp_path / "keep", "part", "text")
    assert again.once("a", lambda: made.append(1)) == {"x": 1.5}
    assert again.once("b", lambda: 2) == 2
    other = Work(tmp_path, "quick", tmp_path / "keep", "part", "another text")
    assert other.once("a", lambda: 7) == 7
    assert made == [1]


def test_a_difference_is_judged_beyond_rounding():
    assert not Value(0.9504, 0.95, within=0.0).beyond
    assert Value(0.96, 0.95, within=0.005).beyond
    assert not Value(0.96, 0.95).beyond
    assert not Value(None, 0.95, within=0.0).beyond
    assert str(Value(0.94, 0.95, within=0.001, chosen=True)) == "0.940 (0.950, −0.010) † !"
    assert str(Value(1, digits=0, spread=2)) == "1 ±2"


def test_the_most_particular_cause_is_given():
    rows = [
        {"set": "iris", "C1": Value(1, 0, 0.1), "C5": Value(1, 0, 0.1)},
        {"set": "wine", "C1": Value(1, 0, 0.1)},
    ]
    sheet = Sheet("t", "T", rows, causes={("iris", "C5"): "ties", ("iris", "*"): "small"})
    assert [(row, column, cause) for row, column, _, cause in sheet.differences()] == [
        ("iris", "C1", "small"),
        ("iris", "C5", "ties"),
        ("wine", "C1", None),
    ]


def test_a_cause_is_printed_once_for_all_its_differences():
    rows = [{"set": name, "C1": Value(0.5, 0.75, 0.1, digits=2)} for name in "abc"]
    sheet = Sheet("t", "T", rows, causes={("a", "*"): "ties", ("c", "C1"): "ties"})
    assert sheet.explained() == {
        "ties": ["a, C1 (−0.25)", "c, C1 (−0.25)"],
        "No cause is known yet.": ["b, C1 (−0.25)"],
    }
    said = io.StringIO()
    show(Console(file=said, width=200), "part", Result([sheet]))
    assert "! a, C1 (−0.25); c, C1 (−0.25): ties\n" in said.getvalue()


def toy():
    sheet = Sheet("t", "Table 1", [{"set": "a|b", "C1": Value(0.5, 0.9, 0.1)}])
    plot = Plot("p", "A line that rises", lambda figure: figure.add_subplot().plot([1, 2]))
    found = Finding("ours is lower", False, "0.5, 0.9", "Other data", headline=True)
    part = StudyPart("one", "First", lambda work: Result([sheet], [found], [plot]))
    return Paper("toy", "A toy", "A. Author (1900)", "It claims much.", [part])


def test_a_page_shows_values_findings_and_missing_causes(tmp_path):
    paper = toy()
    done = list(run_paper(paper, tmp_path, "quick"))
    page = write_page(paper, done, tmp_path / "pages")
    text = page.read_text()
    assert text == as_markdown(paper, done)
    assert "Made by `python -m studies toy --quick`, with fewer repetitions" in text
    assert "| a\\|b | 0.500 (0.900, −0.400) ! |" in text
    assert "No cause is known yet." in text
    assert "| **ours is lower** | no | 0.5, 0.9. Other data |" in text
    picture = (tmp_path / "pages" / "toy-p.png").read_bytes()
    write_page(paper, done, tmp_path / "pages")
    assert (tmp_path / "pages" / "toy-p.png").read_bytes() == picture


def test_a_page_says_what_its_paper_leaves_open(tmp_path):
    open_ = Reading("Table 1", "the height of trees", "5 | 2")
    paper = replace(toy(), readings=[open_])
    text = as_markdown(paper, list(run_paper(paper, tmp_path, "quick")))
    assert "| Table 1 | the height of trees | 5 \\| 2 |" in text
    assert text.index("## Ambiguities in the paper") < text.index("## First")
    assert "leaves open" not in as_markdown(toy(), [])


@pytest.mark.parametrize("name", ["order", "hubs", "forests", "similarity", "gower"])
def test_each_paper_leaves_something_open(name):
    readings = find_paper(name).readings
    assert len(readings) >= 8
    for one in readings:
        assert one.where
        assert one.left_open != one.used
    assert len({one.left_open for one in readings}) == len(readings)


def test_a_page_of_several_efforts_says_which_part_had_which(tmp_path):
    parts = [
        StudyPart(name, name.title(), lambda work: Result()) for name in ("one", "two", "three")
    ]
    paper = Paper("toy", "A toy", "A. Author (1900)", "", parts)
    done = list(run_paper(paper, tmp_path, "quick", parts=["one", "two"], efforts={"two": "full"}))
    text = as_markdown(paper, done)
    assert "`python -m studies toy --part one --part two --quick --effort two=full`" in text
    assert "quick: fewer repetitions than published; full: the published number" in text
    assert "## One\n\n*Effort of this part: quick.*" in text
    assert "## Two\n\n*Effort of this part: full.*" in text
    with pytest.raises(InvalidInput, match="'four'"):
        list(run_paper(paper, tmp_path, efforts={"four": "full"}))


def test_wrong_names_are_named(tmp_path, monkeypatch):
    with pytest.raises(InvalidInput, match="part"):
        list(run_paper(toy(), tmp_path, "quick", parts=["two"]))
    with pytest.raises(InvalidInput, match="effort"):
        Work(tmp_path, "fast")
    monkeypatch.setenv("LOOKALIKE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(MissingFile, match="LOOKALIKE_DATA"):
        data_folder()


def test_a_change_of_a_module_of_the_paper_invalidates_the_cache():
    from studies import scales
    from studies.forests import runs as forests
    from studies.hubs import models
    from studies.work import source_of

    text = source_of(models)
    for name in ("models", "sets", "spaces"):
        assert Path(models.__file__).with_name(f"{name}.py").read_text("utf-8") in text
    assert Path(models.__file__).with_name("published.py").read_text("utf-8") not in text
    assert "What came of it" not in source_of(forests)
    assert source_of(scales) == Path(scales.__file__).read_text("utf-8")
    assert source_of(None) == ""
