"""The table of measures, best first, and which one to take."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lookalike._runtime.config import show_bytes
from lookalike._runtime.text import plain
from lookalike.errors import InvalidInput, Phrase, message
from lookalike.evaluate import mcnemar
from lookalike.leaderboard.trial import Entry
from lookalike.measures.contract.base import Measure
from lookalike.show import layout
from lookalike.show.result import Result, Spell

if TYPE_CHECKING:
    from rich.console import Console

# Headings that make room on a narrow terminal, the first to go first.
OPTIONAL = ("peak", "kept", "fit", "ties", "search", "silhouette", "hubness", "same label")
NAME = 48  # characters of a measure's name before it takes a second line

# Figure -> heading, and how it is written.
FIGURES: dict[str, tuple[str, Any]] = {
    "accuracy": ("right label", "{:.1%}".format),
    "precision": ("same label", "{:.1%}".format),
    "stability": ("stability", "{:.3f}".format),
    "silhouette": ("silhouette", "{:.3f}".format),
    "hubness": ("hubness", "{:.2f}".format),
    "ties": ("ties", "{:.1%}".format),
    "fit_seconds": ("fit", lambda x: show_time(x)),
    "search_seconds": ("search", lambda x: show_time(x)),
    "kept_bytes": ("kept", show_bytes),
    "peak_bytes": ("peak", show_bytes),
}


def show_time(seconds: float) -> str:
    """Write a time as a person would: ``12 ms``."""
    return f"{1000 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


@dataclass(frozen=True, eq=False)
class Leaderboard(Result):
    """What ``compare`` found; print it, or show it in a notebook.

    ================== =========================================================================
    figure             meaning
    ================== =========================================================================
    ``accuracy``       rows whose k nearest others vote for their label (with labels only)
    ``precision``      places in the lists of k that are held by a row of the same label
    ``stability``      agreement of the rankings of two seeds, 1 where nothing is random (without
                       labels only)
    ``silhouette``     best mean silhouette of two to six clusters around medoids (without labels)
    ``hubness``        skewness of the k-occurrence, ties shared out; above about 1.4 few rows rule
    ``ties``           distances that equal another one of the same row
    ``fit_seconds``    time to fit
    ``search_seconds`` time to find the k nearest others of every row
    ``kept_bytes``     size of the arrays that the fitted measure keeps
    ``peak_bytes``     most memory that Python and numpy held at once while fitting; scratch space
                       of compiled loops is not seen
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
        Of the table, for headings.

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
    name: str = "table"

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
            raise InvalidInput(
                "Leaderboard.best",
                "a measure that could be used",
                f"none of {len(self)}",
                "Read their errors",
            )
        return self.chosen.measure

    @property
    def chosen(self) -> Entry:
        """The line of the measure to take, of which there is at least one."""
        whole = [entry for entry in self.usable if not entry.partial]
        # Labels judge a measure whatever it looks at. Without them, one that leaves out a column
        # is judged by an easier table than the others.
        return whole[0] if whole and self.chance is None else self.usable[0]

    @property
    def reason(self) -> str:
        """Which measure to take, in words."""
        if not self.usable:
            return "None of the measures could be used; their lines say why."
        return _by_labels(self) if self.chance is not None else _by_themselves(self)

    # -- forms -------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """What was compared, in words."""
        rows = f"{self.n:,} rows" if self.n == self.n_all else f"{self.n:,} of {self.n_all:,} rows"
        judge = "no labels" if self.chance is None else "labels"
        many = "1 measure" if len(self) == 1 else f"{len(self)} measures"
        if len(self.usable) < len(self):
            many = f"{len(self.usable)} of {many}"
        return f"{many} on {rows}, {self.k} neighbors, {judge}"

    @property
    def columns(self) -> list[str]:
        """The figures that at least one measure has."""
        return [name for name in FIGURES if any(name in e.figures for e in self.entries)]

    def rows(self) -> list[list[str]]:
        """Return the table for people: name, score without labels, figures."""
        lines = []
        for entry in self.usable:
            mark = "*" if entry.scored_by == "cross-validation" else ""
            cells = [FIGURES[name][1](entry.figures[name]) for name in self.columns]
            score = [f"{entry.score:.3f}"] if self.chance is None else []
            lines.append([entry.name + mark, *score, *cells])
        return lines

    def heads(self) -> list[str]:
        """Return the headings of ``rows``."""
        score = ["score"] if self.chance is None else []
        return ["measure", *score, *(FIGURES[name][0] for name in self.columns)]

    def remarks(self) -> list[str]:
        """Return what stands under the table: the choice, the notes, what could not be used."""
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

    def __str__(self) -> str:
        table = [self.heads(), *self.rows()]
        wide = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [
            "  ".join(
                [
                    row[0].ljust(wide[0]),
                    *(c.rjust(w) for c, w in zip(row[1:], wide[1:], strict=True)),
                ]
            ).rstrip()
            for row in table
        ]
        return "\n".join([self.title, *lines, *self.remarks()])

    def records(self) -> list[dict[str, Any]]:
        """Return one dictionary per measure, for JSON and frames; None where there is no figure."""
        return [
            {
                "measure": entry.name,
                "score": None if entry.error else entry.score,
                **{name: entry.figures.get(name) for name in self.columns},
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
        layout.headline(console, f"{self.name}: {self.title}")
        choice, *remarks = self.remarks()
        layout.say(console, choice, "")
        heads, rows = self.heads(), self.rows()
        if rows:
            brief = [[row[0][:NAME], *row[1:]] for row in rows]
            shown = layout.fitting(heads, brief, console.width, OPTIONAL)
            # Numbers stay whole; a very long name takes several lines.
            table = layout.grid([(heads[at], "right" if at else "fold") for at in shown])
            for row in rows:
                table.add_row(*layout.cells([row[at] for at in shown]))
            console.print(table)
            left = [head for at, head in enumerate(heads) if at not in shown]
            if left:
                names = ", ".join(left)
                layout.say(console, f"not shown at this width: {names} (csv and json have all)")
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
        """Return what stands on the page, as HTML."""
        from lookalike.leaderboard.page import board_fragment

        return board_fragment(self)


def _cut(entry: Entry, text: str) -> str:
    """Return a message without the name of the measure, which stands before it already."""
    name = type(entry.measure).__name__
    if isinstance(text, Phrase) and str(text.parts[0]) == name:
        return Phrase(*text.parts[2:])
    return text.removeprefix(f"{name}: ").removeprefix(f"{name} ")


def _together(said: list[tuple[str, str]]) -> list[str]:
    """Say once what several measures have to say, with their names before it."""
    names: dict[str, list[str]] = {}
    for name, text in said:
        names.setdefault(text, []).append(name)
    return [Phrase(f"{', '.join(dict.fromkeys(who))}: ", text) for text, who in names.items()]


# -- the choice in words ---------------------------------------------------------------------------


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
        f"{first.score:.1%} of the rows ({guess}), and {first.figures['precision']:.1%} of them "
        "share it."
    )
    if not others:
        return text
    equal = [entry for entry in others if not _worse(entry, first)]
    if not equal:
        second = others[0]
        return (
            f"{text} It is significantly better than the next, {second.name} ({second.score:.1%})."
        )
    text += f" Not significantly worse: {_listed([e.name for e in equal])}."
    fastest = min(equal, key=_effort)
    if _effort(first) > 3 * _effort(fastest):
        times = _effort(first) / _effort(fastest)
        text += f" {fastest.name} among them is {times:.0f} times as fast."
    return text


def _worse(entry: Entry, first: Entry) -> bool:
    """Whether a measure is right on significantly fewer rows than the first (McNemar)."""
    if entry.right is None or first.right is None:
        return True
    return mcnemar(first.right, entry.right).significant


def _effort(entry: Entry) -> float:
    return entry.figures["fit_seconds"] + entry.figures["search_seconds"]


def _by_themselves(board: Leaderboard) -> str:
    first = board.chosen
    f = first.figures
    text = (
        f"Take {first.name}: its score of {first.score:.3f} is the mean of stability "
        f"({f['stability']:.2f}), few hubs ({1 / (1 + max(f['hubness'], 0.0)):.2f}), clusters that "
        f"hold together ({(1 + f['silhouette']) / 2:.2f}) and few ties ({1 - f['ties']:.2f})."
    )
    above = [e.name for e in board.usable if e.score > first.score and e is not first]
    if above:
        text += f" Higher, but with columns left out: {_listed(above)}."
    like = [e for e in board.usable if e.partial == first.partial and e is not first]
    close = [e.name for e in like if first.score - e.score < 0.02]
    text += f" Hardly behind: {_listed(close)}." if close else ""
    return text + " None of this says what a measure is good for: labels would."


def _listed(names: list[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
