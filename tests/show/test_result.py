"""Results of verbs: one result as a frame, plain values, text and HTML."""

from lookalike.show import layout
from lookalike.show.result import Result


class Pair(Result):
    def __init__(self, rows):
        self.rows = rows

    def cells(self):
        return {"id": self.rows, "tags": [frozenset("ba") for _ in self.rows]}

    def to_dict(self):
        return {"rows": self.rows}

    def render(self, console, spell=str):
        layout.headline(console, "A <pair>")
        layout.say(console, "word " * 20, "")


def test_frames_hold_sets_as_lists_and_keep_columns_without_rows():
    frame = Pair([1, 2]).to_frame()
    assert frame["tags"].tolist() == [["a", "b"], ["a", "b"]]
    assert Pair([]).to_frame().columns.tolist() == ["id", "tags"]


def test_text_has_the_width_that_was_asked_for_and_html_escapes_it():
    pair = Pair([1])
    assert str(pair) == pair.text(100)
    assert max(map(len, pair.text(30).splitlines())) <= 30
    assert pair.html_title() == "A <pair>"
    assert "A &lt;pair&gt;" in pair.html_body()
