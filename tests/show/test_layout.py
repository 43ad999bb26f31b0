"""Lines and tables laid out for the width of a console."""

import io

from rich.console import Console

from lookalike.show import layout


def test_optional_columns_are_dropped_in_order_until_the_rest_fits():
    heads, rows = ["name", "aa", "bb"], [["x", "1234", "12"]]
    # Widths with two spaces each: 6, 6 and 4, and one character free at either end.
    assert layout.fitting(heads, rows, 18, ["aa", "bb"]) == [0, 1, 2]
    assert layout.fitting(heads, rows, 17, ["aa", "bb"]) == [0, 2]
    assert layout.fitting(heads, rows, 12, ["bb", "none", "aa"]) == [0]
    assert layout.fitting(heads, [], 14, ["bb"]) == [0, 1]


def test_an_indented_text_keeps_its_indent_in_every_line():
    out = io.StringIO()
    layout.say(Console(file=out, width=30), "one two three four five six seven", indent=4)
    lines = out.getvalue().splitlines()
    assert len(lines) == 2
    assert all(line.startswith("    ") and line == line.rstrip() for line in lines)


def test_brackets_in_cells_are_text():
    assert [str(cell) for cell in layout.cells(["[red]x", ["a", "b\nc"]])] == ["[red]x", "a\nb c"]


def test_a_table_is_laid_out_with_its_lines():
    console = Console(file=io.StringIO(), width=40, color_system=None)
    heads = [("name", "left"), ("n", "right"), ("why", "fold")]
    console.print(layout.grid(heads, [["a", "5", ["one", "two"]], ["b\nc", "12", ""]]))
    lines = [line.rstrip() for line in console.file.getvalue().splitlines()]
    assert [line for line in lines if line and "─" not in line] == [
        " name   n  why",
        " a      5  one",
        "           two",
        " b c   12",
    ]
    assert layout.grid(heads).row_count == 0


def test_a_headline_is_one_clean_line():
    console = Console(file=io.StringIO(), width=40, color_system=None)
    layout.headline(console, "5 rows [bold]\x1b")
    layout.say(console, "said", "")
    first, second = console.file.getvalue().splitlines()
    assert first.startswith("5 rows [bold]")
    assert "\x1b" not in first
    assert second == "said"


def test_indented_lines_break_inside_the_width_and_others_go_on():
    console = Console(file=io.StringIO(), width=40, color_system=None)
    layout.say(console, "word " * 20, "", indent=4)
    lines = console.file.getvalue().splitlines()
    assert len(lines) > 2
    assert all(line.startswith("    word") and len(line) <= 40 for line in lines)
    marked = Console(file=io.StringIO(), width=40, color_system=None)
    layout.say(marked, "[bold] is no markup", "")
    assert marked.file.getvalue() == "[bold] is no markup\n"
