"""The command line: output on narrow terminals, and errors."""

import io

import pytest
from rich.console import Console

from lookalike.errors import InvalidInput, UnwritableFile
from studies import PAPERS, Sheet, Value, find_paper
from studies.__main__ import main
from studies.command import check_folder, read_efforts, show_sheet

SHEET = Sheet(
    "t",
    "Table 9",
    [{"set": name, **{f"measure {at}": Value(0.5, 0.4, 0.01) for at in range(6)}} for name in "ab"],
)


def printed(width):
    console = Console(file=io.StringIO(), width=width)
    show_sheet(console, SHEET)
    return console.file.getvalue()


def test_a_sheet_is_a_table_only_if_no_number_is_truncated():
    wide, narrow = printed(200), printed(80)
    assert wide.count("0.500 (0.400, +0.100) !") == 12
    assert "│" in wide
    assert "│" not in narrow
    assert max(map(len, narrow.splitlines())) <= 80
    assert " ".join(narrow.split()).count("0.500 (0.400, +0.100) !") == 12


def test_efforts_are_a_part_and_a_word():
    assert read_efforts(["tables=full", "ties=quick"]) == {"tables": "full", "ties": "quick"}
    for wrong in ("tables", "tables=much", "=full"):
        with pytest.raises(InvalidInput, match="PART=EFFORT"):
            read_efforts([wrong])


def test_pages_that_cannot_be_written_are_named_before_the_work(tmp_path):
    paper = find_paper("hubs")
    check_folder(tmp_path / "new" / "pages", [paper])
    assert (tmp_path / "new" / "pages").is_dir()
    (tmp_path / "file").write_text("kept")
    for wrong, message in (
        (tmp_path / "file", "the file"),
        (tmp_path / "file" / "pages", "directory"),
    ):
        with pytest.raises(UnwritableFile, match=f"--write: needs a folder, found .*{message}"):
            check_folder(wrong, [paper])
    (tmp_path / "hubs.md").mkdir()
    with pytest.raises(UnwritableFile, match="a folder"):
        check_folder(tmp_path, [paper])
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nope"], "needs the name of a paper, found 'nope'"),
        (["hubs", "--data", "nowhere"], "needs a folder with data sets, found none at 'nowhere'"),
        (["hubs", "--quick", "--full"], "exclude each other"),
    ],
)
def test_an_error_is_a_line_without_a_traceback(words, message, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["studies", *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 1
    printed = " ".join(capsys.readouterr().err.split())
    assert message in printed
    assert "Traceback" not in printed


def test_all_papers_are_all_but_the_board(monkeypatch, capsys):
    monkeypatch.setattr("studies.run_paper", lambda paper, *_: asked.append(paper.name) or ())
    monkeypatch.setattr("sys.argv", ["studies", "all", "--quick"])
    asked = []
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 0
    assert asked == [name for name in PAPERS if name != "board"]
    assert "ambiguous" in capsys.readouterr().out
