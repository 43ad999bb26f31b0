"""The table of measures, best first, and which one to choose."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike._runtime.config import show_bytes
from lookalike._runtime.text import plain
from lookalike.errors import InvalidInput, Phrase, message
from lookalike.evaluate import mcnemar
from lookalike.measures.contract.base import Measure
from lookalike.show import layout
from lookalike.show.html.markup import paragraphs, share_bar, table
from lookalike.show.result import Result, Spell

if TYPE_CHECKING:
    from rich.console import Console


def show_time(seconds: float) -> str:
    """Format a time: ``12 ms``."""
    return f"{1000 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


# Columns that are dropped on a narrow terminal, in this order.
OPTIONAL_HEADS = ("peak", "fit", "ties", "search", "silhouette", "hubness", "same label")
MAX_NAME_CHARACTERS = 48  # of a measure, before its name takes a second line
# Statistic -> heading, and its format.
FORMATS: dict[str, tuple[str, Any]] = {
    "accuracy": ("right label", "{:.1%}".format),
    "precision": ("same label", "{:.1%}".format),
    "stability": ("stability", "{:.3f}".format),
    "silhouette": ("silhouette", "{:.3f}".format),
    "hubness": ("hubness", "{:.2f}".format),
    "ties": ("ties", "{:.1%}".format),
    "fit_seconds": ("fit", show_time),
    "search_seconds": ("search", show_time),
    "peak_bytes": ("peak", show_bytes),
}


@dataclass(frozen=True, eq=False)
class Entry:
    """A line of a leaderboard.

    Parameters
    ----------
    name : str
    measure : Measure
        Not fitted, with the seed it was tried with.
    score : float
        What the leaderboard is sorted by; NaN where the measure could not be used.
    values : mapping of statistic to number
        See ``Leaderboard``.
    scored_by : {"leave-one-out", "cross-validation", "no labels", ""}
        Empty if nothing could be scored.
    notes : tuple of str
        What the measure warned about, such as columns it leaves out.
    partial : bool
        Whether it leaves out columns.
    error : str
        Why the measure could not be used; empty if it could.
    right : bool array of n, optional
        On which rows the vote of the neighbors was right.
    """

    name: str
    measure: Measure
    score: float = float("nan")
    values: dict[str, float] = field(default_factory=dict)
    scored_by: str = ""
    notes: tuple[str, ...] = ()
    partial: bool = False
    error: str = ""
    right: np.ndarray | None = field(default=None, repr=False)


@dataclass(frozen=True, eq=False)
class Leaderboard(Result):
    """What ``compare`` found; print it, or show it in a notebook.

    ================== =========================================================================
    statistic          meaning
    ================== =========================================================================
    ``accuracy``       rows whose k nearest others vote for their label (with labels only)
    ``precision``      share of the neighbors in all lists that have the label of the row
    ``stability``      agreement of the rankings of two seeds, 1 where nothing is random (without
                       labels only)
    ``silhouette``     best mean silhouette of two to six clusters around medoids (without labels)
    ``hubness``        skewness of the k-occurrence, ties shared out; above about 1.4 there are hubs
    ``ties``           distances that equal another one of the same row
    ``fit_seconds``    time to fit
    ``search_seconds`` time to find the k nearest others of every row
    ``peak_bytes``     peak memory of Python and numpy while fitting; scratch space of compiled
                       loops is not included
    ================== =========================================================================

    Parameters
    ----------
    entries : tuple of Entry, best first; those that could not be used come last
    n : int
        Rows that were tried.
    n_all : int
        Rows of the table.
    k : int
    chance : float or None
        With labels, the share of the commonest one: what guessing it always would score.
    notes : tuple of str
    name : str
        Of the table, for headings; empty: none.

    Attributes
    ----------
    best : the measure to take, not fitted
        The first; without labels the first of those that compare every column, if there is one.
    reason : which one to take, and why, in words
    """

    entries: tuple[Entry, ...]
    n: int
    n_all: int
    k: int
    chance: float | None = None
    notes: tuple[str, ...] = field(default_factory=tuple)
    name: str = ""

    def __len__(self) -> int:
        return len(self.entries)

    def __getitem__(self, name: str) -> Entry:
        """Return the line of a measure by its name."""
        for entry in self.entries:
            if entry.name == name:
                return entry
        known = [entry.name for entry in self.entries]
        raise KeyError(message("Leaderboard", "a name on it", repr(name), f"Known: {known}"))

    @property
    def usable(self) -> tuple[Entry, ...]:
        """The lines of the measures that could be used."""
        return tuple(entry for entry in self.entries if not entry.error)

    @property
    def best(self) -> Measure:
        """The measure to take, not fitted."""
        if not self.usable:
            needed, found = "a measure that could be used", f"none of {len(self)}"
            raise InvalidInput("Leaderboard.best", needed, found, "Read their errors")
        return self.chosen.measure

    @property
    def chosen(self) -> Entry:
        """The line of the measure to take, of which there is at least one."""
        # Partial entries leave out columns they cannot read.
        whole = [entry for entry in self.usable if not entry.partial]
        # With labels all measures have the same task. Without them, one that leaves out a column
        # is scored on an easier table than the others.
        return whole[0] if whole and self.chance is None else self.usable[0]

    @property
    def reason(self) -> str:
        """Which measure to choose, and why."""
        if not self.usable:
            return "None of the measures could be used; their lines say why."
        return _by_labels(self) if self.chance is not None else _by_themselves(self)

    # -- forms -------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """What was compared."""
        rows = f"{self.n:,} rows" if self.n == self.n_all else f"{self.n:,} of {self.n_all:,} rows"
        labels = "no labels" if self.chance is None else "labels"
        count = "1 measure" if len(self) == 1 else f"{len(self)} measures"
        if len(self.usable) < len(self):
            count = f"{len(self.usable)} of {count}"
        return f"{count} on {rows}, {self.k} neighbors, {labels}"

    @property
    def columns(self) -> list[str]:
        """The statistics that at least one measure has."""
        return [name for name in FORMATS if any(name in e.values for e in self.entries)]

    def rows(self) -> list[list[str]]:
        """Return the formatted table: name, score without labels, statistics."""
        lines = []
        for entry in self.usable:
            # Scores of different protocols are side by side, so they are marked.
            mark = "*" if entry.scored_by == "cross-validation" else ""
            cells = [FORMATS[name][1](entry.values[name]) for name in self.columns]
            score = [f"{entry.score:.3f}"] if self.chance is None else []
            lines.append([entry.name + mark, *score, *cells])
        return lines

    def heads(self) -> list[str]:
        """Return the headings of ``rows``."""
        score = ["score"] if self.chance is None else []
        return ["measure", *score, *(FORMATS[name][0] for name in self.columns)]

    def remarks(self) -> list[str]:
        """Return the remarks below the table: the choice, notes, measures that failed."""
        remarks = [self.reason]
        if any(entry.scored_by == "cross-validation" for entry in self.entries):
            remarks.append(
                "* learned from the labels, so scored by 5-fold cross-validation: its neighbors "
                "come from four fifths of the rows."
            )
        remarks += [Phrase("note: ", note) for note in self.notes]
        noted = [(e.name, _cut(e, note)) for e in self.usable for note in e.notes]
        remarks += [Phrase("note: ", text) for text in _together(noted)]
        failed = [(e.name, _cut(e, e.error)) for e in self.entries if e.error]
        remarks += [Phrase("not used: ", text) for text in _together(failed)]
        return remarks

    def records(self) -> list[dict[str, Any]]:
        """Return one dictionary per measure, for JSON and frames; None where there is no value."""
        return [
            {
                "measure": entry.name,
                "score": None if entry.error else entry.score,
                **{name: entry.values.get(name) for name in self.columns},
                "scored_by": entry.scored_by or None,
                "notes": "; ".join(entry.notes) or None,
                "error": entry.error or None,
            }
            for entry in self.entries
        ]

    def cells(self) -> dict[str, list[Any]]:
        """Return one row per measure."""
        records = self.records()
        return {head: [record[head] for record in records] for head in records[0]}

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print the choice, the statistics that fit, then the notes."""
        layout.headline(console, f"{self.name}: {self.title}" if self.name else self.title)
        choice, *remarks = self.remarks()
        layout.say(console, choice, "")
        heads, rows = self.heads(), self.rows()
        if rows:
            brief = [[row[0][:MAX_NAME_CHARACTERS], *row[1:]] for row in rows]
            shown = layout.fitting(heads, brief, console.width, OPTIONAL_HEADS)
            # Numbers are never folded; a very long name takes several lines.
            columns = [(heads[i], "right" if i else "fold") for i in shown]
            console.print(layout.grid(columns, ([row[i] for i in shown] for row in rows)))
            if hidden := ", ".join(head for i, head in enumerate(heads) if i not in shown):
                layout.say(console, f"not shown at this width: {hidden} (csv and json have all)")
        for remark in remarks:
            layout.say(console, spell(remark), "")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {
            "rows": self.n,
            "rows_in_table": self.n_all,
            "k": self.k,
            "chance": self.chance,
            "reason": self.reason,
            "notes": list(self.notes),
            "measures": plain(self.records()),
        }

    def html_title(self) -> str:
        """Return the heading of the page."""
        return f"Leaderboard: {self.title}"

    def html_body(self) -> str:
        """Return the body of the page, as HTML."""
        pairs = zip(self.usable, self.rows(), strict=True)
        rows = [[*row, share_bar(entry.score)] for entry, row in pairs]
        heads = ["", *self.heads()[1:], ""]
        return table(rows, heads, self.title, first=True) + paragraphs(self.remarks())


def _cut(entry: Entry, text: str) -> str:
    """Return a message without the name of the measure, which precedes it already."""
    name = type(entry.measure).__name__
    # Messages begin with the class; the line of the table begins with the name of the entry.
    if isinstance(text, Phrase) and str(text.parts[0]) == name:
        return Phrase(*text.parts[2:])
    return text.removeprefix(f"{name}: ").removeprefix(f"{name} ")


def _together(messages: list[tuple[str, str]]) -> list[str]:
    """Return each message once, after the names of all measures that have it."""
    names: dict[str, list[str]] = {}
    for name, text in messages:
        names.setdefault(text, []).append(name)
    return [Phrase(f"{', '.join(dict.fromkeys(who))}: ", text) for text, who in names.items()]


# -- the choice as text ----------------------------------------------------------------------------


def shares_of_score(values: dict[str, float]) -> dict[str, float]:
    """Return what the score of a measure that there are no labels for is the mean of."""
    return {
        "stability": max(values["stability"], 0.0),
        "few hubs": 1 / (1 + max(values["hubness"], 0.0)),
        "compact clusters": (1 + values["silhouette"]) / 2,
        "few ties": 1 - values["ties"],
    }


def _by_labels(board: Leaderboard) -> str:
    first, *others = board.usable
    chance = board.chance or 0.0
    guess = f"always guessing the commonest label is right for {chance:.1%}"
    if first.score <= chance:
        return (
            f"No measure is better than guessing: {first.name} is right for {first.score:.1%} of "
            f"the rows, and {guess}. These columns may say little about these labels."
        )
    text = (
        f"Take {first.name}: the {board.k} nearest rows give the right label for "
        f"{first.score:.1%} of the rows ({guess}), and {first.values['precision']:.1%} of them "
        "share it."
    )
    if not others:
        return text
    # Those that are not right on significantly fewer rows than the first (McNemar).
    known = [(entry, entry.right) for entry in others if entry.right is not None]
    equal = [entry for entry, right in known if not mcnemar(first.right, right).significant]
    if not equal:
        second = f"{others[0].name} ({others[0].score:.1%})"
        return f"{text} It is significantly better than the next, {second}."
    text += f" Not significantly worse: {_listed([e.name for e in equal])}."
    # Of measures that no test can distinguish, speed is what is left to choose by.
    fastest = min(equal, key=_effort)
    if _effort(first) > 3 * _effort(fastest):
        times = _effort(first) / _effort(fastest)
        text += f" {fastest.name} among them is {times:.0f} times as fast."
    return text


def _effort(entry: Entry) -> float:
    return entry.values["fit_seconds"] + entry.values["search_seconds"]


def _by_themselves(board: Leaderboard) -> str:
    first = board.chosen
    *parts, last = (f"{name} ({x:.2f})" for name, x in shares_of_score(first.values).items())
    mean = f"the mean of {', '.join(parts)} and {last}"
    text = f"Take {first.name}: its score of {first.score:.3f} is {mean}."
    above = [e.name for e in board.usable if e.score > first.score and e is not first]
    if above:
        text += f" Higher, but with columns left out: {_listed(above)}."
    like = [e for e in board.usable if e.partial == first.partial and e is not first]
    # 0.02 is chosen by hand: there is no test without labels.
    close = [e.name for e in like if first.score - e.score < 0.02]
    text += f" Close behind: {_listed(close)}." if close else ""
    return text + " Only labels can show what a measure is good for."


def _listed(names: list[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
