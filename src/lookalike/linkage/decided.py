"""The answers of dedupe and link: pairs, groups, golden records, and what is left to decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lookalike._runtime.frames import frame_of_arrow
from lookalike._runtime.text import percent, plain, short
from lookalike.errors import Param, Phrase
from lookalike.linkage.joined import write_names
from lookalike.linkage.linking import Expected, Linking
from lookalike.linkage.pooled import write
from lookalike.show import layout
from lookalike.show.html.document import sides
from lookalike.show.html.markup import Html, escape, section
from lookalike.show.html.markup import table as html_table
from lookalike.show.reasons import Reason, Style, make_reason, sentence, style_of
from lookalike.show.result import Result, Spell
from lookalike.table import Kind, Table
from lookalike.table.model.display import record_columns
from lookalike.table.model.labels import RowLabel, label_of

if TYPE_CHECKING:
    from rich.console import Console

MAX_SHOWN = 10  # pairs and groups in the text form
CERTAIN = 0.01  # pairs less likely than this, or likelier than 1 minus it, need no review
MIN_BITS = 1.0  # of a reason: the evidence is at least two to one
REASONS = 2
MAX_CELL_CHARACTERS = 40
NOTHING_APART = Phrase(
    "nothing is decided: no pairs stand out from rows that are merely alike. Compare by columns "
    "that say who a record is, such as names (",
    Param("on"),
    "), review some pairs (",
    Param("decisions"),
    "), or choose a ",
    Param("threshold"),
)


class Pair(NamedTuple):
    """Two rows that are the same record, by their ids.

    Parameters
    ----------
    left, right : ids
    probability : float
    """

    left: Any
    right: Any
    probability: float


@dataclass(eq=False)
class Decided(Result):
    """What ``Deduped`` and ``Linked`` share.

    Parameters
    ----------
    linking : Linking
    tables : one or two tables
    ids : a list for each table
    names : of the tables
    show : str
        Which of the answers ``to_frame`` and CSV hold.
    n : int
        How many doubtful pairs to list.
    backend : str
        The library of the frame that came in.
    """

    linking: Linking
    tables: Sequence[Table]
    ids: Sequence[Sequence[Any]]
    names: Sequence[str]
    show: str
    n: int = 20
    backend: str = "pandas"

    @property
    def threshold(self) -> float:
        """The probability from which on a pair is a match."""
        return self.linking.threshold

    @property
    def expected(self) -> Expected:
        """The precision and recall that the probabilities imply."""
        return self.linking.expected

    @cached_property
    def pairs(self) -> list[Pair]:
        """The pairs that are matches, the surest first."""
        return [self._pair(number) for number in self._numbers().tolist()]

    def _numbers(self) -> np.ndarray:
        return self.linking.matches

    def _pair(self, number: int) -> Pair:
        (left, i), (right, j) = self._rows_of(number)
        chance = float(self.linking.probabilities[number])
        return Pair(self.ids[left][i], self.ids[right][j], chance)

    def _rows_of(self, number: int) -> list[tuple[int, int]]:
        """Return for both rows of a candidate the number of its table and its position there."""
        found, shift = self.linking.candidates, self.linking.n_left
        rows = int(found.left[number]), int(found.right[number])
        return [(0, r) if shift is None or r < shift else (1, r - shift) for r in rows]

    # -- what is left to decide --------------------------------------------------------------------

    @cached_property
    def _doubtful(self) -> np.ndarray:
        link = self.linking
        probabilities = link.probabilities
        doubt = np.minimum(probabilities, 1.0 - probabilities)
        # What was decided by hand is not asked again.
        open_ = np.flatnonzero((doubt >= CERTAIN) & np.isnan(link.decided))
        return open_[np.argsort(-doubt[open_], kind="stable")]

    def review(self, n: int | None = None) -> list[dict[str, Any]]:
        """Return doubtful pairs, the strongest doubt first, with reasons for and against.

        Parameters
        ----------
        n : int, optional
            How many at most; None: as many as the verb was asked for.
        """
        return [self._doubt(number) for number in self._doubtful[: n or self.n].tolist()]

    def _doubt(self, number: int) -> dict[str, Any]:
        pair = self._pair(number)
        records = [self.tables[table].record(row) for table, row in self._rows_of(number)]
        for_, against = ([one.to_dict() for one in side] for side in self.reasons(number))
        return {
            "pair": [pair.left, pair.right],
            "probability": pair.probability,
            "left": records[0],
            "right": records[1],
            "for": for_,
            "against": against,
        }

    def reasons(self, number: int) -> tuple[list[Reason], list[Reason]]:
        """Return the strongest reasons for and against a candidate; their shares are in bits.

        Parameters
        ----------
        number : int, of the candidate
        """
        bits = self.linking.weights[number]
        order = np.argsort(-np.abs(bits), kind="stable").tolist()
        plus = [j for j in order if bits[j] >= MIN_BITS][:REASONS]
        minus = [j for j in order if bits[j] <= -MIN_BITS][:REASONS]
        plus, minus = ([self._reason(number, j, bits[j]) for j in side] for side in (plus, minus))
        return plus, minus

    def _reason(self, number: int, j: int, bits: float) -> Reason:
        name, speaks_for = self.linking.columns[j].name, bits > 0
        (left, i), (right, k) = self._rows_of(number)
        columns = self.tables[left][name], self.tables[right][name]
        cells: tuple[Any, Any] = (columns[0].cell(i), columns[1].cell(k))
        style = style_of(columns[0])
        if columns[0].kind.name != columns[1].kind.name:  # read differently: shown as written
            style, cells = Style(Kind("text", "")), (write(cells[0]), write(cells[1]))
        return make_reason(
            name, style, *cells, abs(float(bits)), speaks_for=speaks_for, bits=abs(float(bits))
        )

    # -- forms -------------------------------------------------------------------------------------

    def _about(self) -> dict[str, Any]:
        return {
            "rows": [len(table) for table in self.tables],
            "columns": [column.name for column in self.linking.columns],
            "threshold": self.threshold,
            "expected": self.expected._asdict(),
            "apart": self.linking.apart,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return pairs, groups, the doubtful pairs, and how sure they are."""
        pairs = [{"pair": [a, b], "probability": chance} for a, b, chance in self.pairs]
        answer = self._about() | {"pairs": pairs, "review": self.review()}
        return {name: plain(value) for name, value in answer.items()}

    def cells(self) -> dict[str, list[Any]]:
        """Return the answer that ``show`` names, as columns."""
        made: dict[str, list[Any]] = getattr(self, f"_{self.show}_cells")()
        return made

    def to_frame(self, backend: str | None = None) -> Any:
        """Return what ``show`` names, by default in the library that the first table is of.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", "duckdb"}, optional
        """
        wanted = backend or self.backend
        if wanted == "duckdb":
            return frame_of_arrow(super().to_frame("pyarrow"), wanted)
        return super().to_frame(wanted)

    def _pairs_cells(self) -> dict[str, list[Any]]:
        return self._both(self._numbers(), {})

    def _review_cells(self) -> dict[str, list[Any]]:
        numbers = self._doubtful[: self.n]
        why = [sentence(*self.reasons(number)) for number in numbers.tolist()]
        return self._both(numbers, {"same": [""] * len(numbers), "because": why})

    def _both(self, numbers: np.ndarray, more: dict[str, list[Any]]) -> dict[str, list[Any]]:
        """Return pairs with the cells of both rows; those of the right one have a prefix."""
        pairs = [self._pair(number) for number in numbers.tolist()]
        out: dict[str, list[Any]] = {
            name: [getattr(p, name) for p in pairs] for name in Pair._fields
        }
        out |= more
        rows = [self._rows_of(number) for number in numbers.tolist()]
        left = record_columns(self.tables[0], [one[1] for one, _ in rows], [*out])
        right = record_columns(self.tables[-1], [two[1] for _, two in rows], ())
        return out | left | {f"other.{name}": cells for name, cells in right.items()}

    def _render(
        self, console: Console, spell: Spell, text: str, grid: Any, n: int, word: str
    ) -> None:
        """Print a heading, how sure the answer is, the first of what was found, and doubts."""
        layout.headline(console, text)
        if n or self.linking.apart:
            precision, recall = (percent(value) for value in self.expected)
            text = f"expected precision {precision}, recall {recall}, "
            layout.say(console, f"{text}at a probability of {self.threshold:.2f} or more")
        names = ", ".join(column.name for column in self.linking.columns)
        layout.say(console, f"compared: {names}")
        if not self.linking.apart:
            layout.say(console, spell(NOTHING_APART), "yellow")
        if n:
            console.print(layout.grid(*grid))
        if n > MAX_SHOWN:
            more = f"{n - MAX_SHOWN:,} more {word} (csv, json and parquet have all)"
            layout.say(console, more)
        self._render_review(console)

    def _render_review(self, console: Console) -> None:
        doubtful = self._doubtful
        if not len(doubtful):
            layout.say(console, "no doubtful pairs")
            return
        pairs = "pair" if len(doubtful) == 1 else "pairs, the strongest doubt first"
        layout.headline(console, f"{len(doubtful):,} doubtful {pairs}")
        for number in doubtful[: min(self.n, MAX_SHOWN)].tolist():
            names = " and ".join(self._names(number))
            chance = percent(float(self.linking.probabilities[number]))
            layout.say(console, f"{names}: {chance}", "")
            layout.say(console, sentence(*self.reasons(number)), indent=2)

    @cached_property
    def _labels(self) -> list[RowLabel]:
        return [label_of(table) for table in self.tables]

    def _names(self, number: int) -> list[str]:
        rows, pair = self._rows_of(number), self._pair(number)
        return [
            write_names(self.tables[table][[row]], [id], self._labels[table])[0]
            for (table, row), id in zip(rows, pair[:2], strict=True)
        ]

    def html_body(self) -> str:
        """Return the doubtful pairs side by side, cells that differ marked."""
        precision, recall = (percent(value) for value in self.expected)
        about = f"<p>Expected precision {precision}, recall {recall}.</p>"
        parts = [self._html_pair(number) for number in self._doubtful[: self.n].tolist()]
        body = "".join(parts) or "<p>No doubtful pairs.</p>"
        return about + section("Doubtful pairs, the strongest doubt first", body)

    def _html_pair(self, number: int) -> str:
        pair, rows = self._pair(number), self._rows_of(number)
        lines = []
        for column in self.linking.columns:
            # Marked where what was compared differs: normalized texts, so not by case alone.
            written = [write(self.tables[table][column.name].cell(row)) for table, row in rows]
            differ = (
                column.codes[self.linking.candidates.left[number]]
                != (column.codes[self.linking.candidates.right[number]])
            )
            cells = [escape(short(text, MAX_CELL_CHARACTERS)) for text in written]
            marked = [Html(f"<mark>{cell}</mark>" if differ else cell) for cell in cells]
            lines.append([column.name, *marked])
        heads = ["", str(pair.left), str(pair.right)]
        why = sides(*([one.to_html() for one in side] for side in self.reasons(number)))
        chance = percent(pair.probability)
        return html_table(lines, heads, f"probability {chance}", text=(1, 2)) + why


@dataclass(eq=False)
class Deduped(Decided):
    """Groups of rows that are the same record; ``to_frame()`` has the group of each row.

    Parameters
    ----------
    linking, tables, ids, names, show, n, backend : see ``Decided``
    """

    @cached_property
    def labels(self) -> np.ndarray:
        """The number of the group of each row; a row that has no double is a group of its own."""
        return np.unique(self.linking.groups, return_inverse=True)[1]

    @cached_property
    def _members(self) -> list[np.ndarray]:
        """Positions of the rows of each group of at least two."""
        # Sorted once: a mask for each group would read all rows as often as there are groups.
        order = np.argsort(self.labels, kind="stable")
        starts = np.flatnonzero(np.diff(self.labels[order])) + 1
        return [rows for rows in np.split(order, starts) if len(rows) > 1]

    @property
    def groups(self) -> list[list[Any]]:
        """The ids of the rows of each group of at least two, in the order of the table."""
        return [[self.ids[0][row] for row in rows.tolist()] for rows in self._members]

    def _numbers(self) -> np.ndarray:
        link = self.linking
        # Also pairs below the threshold, whose rows are in one group by way of others.
        inside = link.groups[link.candidates.left] == link.groups[link.candidates.right]
        numbers = np.flatnonzero(inside)
        return numbers[np.argsort(-link.probabilities[numbers], kind="stable")]

    def golden(self, backend: str | None = None) -> Any:
        """Return one record for each group and each row without a double, as a data frame.

        Of each column the most frequent value in the group, of equally frequent ones the longest as
        it is written, then the first; missing only where all are.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", "duckdb"}, optional
            None: the library that the table is of.
        """
        return replace(self, show="golden").to_frame(backend)

    def _golden_cells(self) -> dict[str, list[Any]]:
        table = self.tables[0]
        first = np.unique(self.labels, return_index=True)[1]
        size = np.bincount(self.labels)
        out = {"id": [self.ids[0][row] for row in first.tolist()], "rows": size.tolist()}
        for name, cells in record_columns(table, range(len(table)), [*out]).items():
            golden = [cells[row] for row in first.tolist()]
            for rows in self._members:
                golden[int(self.labels[rows[0]])] = choose_cell([cells[r] for r in rows.tolist()])
            out[name] = golden
        return out

    def _groups_cells(self) -> dict[str, list[Any]]:
        ours = {"id": [*self.ids[0]], "group": self.labels.tolist()}
        return ours | record_columns(self.tables[0], range(len(self.tables[0])), [*ours])

    def to_dict(self) -> dict[str, Any]:
        """Return groups, pairs, the doubtful pairs, and how sure they are."""
        return super().to_dict() | {"groups": plain(self.groups)}

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print how many groups there are, the largest of them, and the doubtful pairs."""
        n, groups = len(self.tables[0]), self._members
        doubles = sum(map(len, groups)) - len(groups)
        text = f"{self.names[0]}: {n:,} rows are {n - doubles:,} records, {len(groups):,} of them "
        lines = []
        for rows in sorted(groups, key=len, reverse=True)[:MAX_SHOWN]:
            ids = [self.ids[0][row] for row in rows.tolist()]
            names = write_names(self.tables[0][rows[:3]], ids[:3], self._labels[0])
            lines.append([str(len(rows)), "; ".join(names) + (" ..." if len(rows) > 3 else "")])
        grid = [("rows", "right"), ("group", "fold")], lines
        self._render(console, spell, f"{text}in several rows", grid, len(groups), "groups")


@dataclass(eq=False)
class Linked(Decided):
    """Pairs of rows of two tables that are the same record; ``to_frame()`` has both records.

    Parameters
    ----------
    linking, tables, ids, names, show, n, backend : see ``Decided``
    """

    @property
    def groups(self) -> list[list[Any]]:
        """The two ids of each pair."""
        return [[pair.left, pair.right] for pair in self.pairs]

    @property
    def unmatched(self) -> tuple[list[Any], list[Any]]:
        """The ids of the rows of each table that have no match."""
        gone = [set(side) for side in zip(*self.groups, strict=True)] or [set(), set()]
        left, right = (
            [id for id in ids if id not in found] for ids, found in zip(self.ids, gone, strict=True)
        )
        return left, right

    def to_dict(self) -> dict[str, Any]:
        """Return pairs, rows without a match, the doubtful pairs, and how sure they are."""
        left, right = self.unmatched
        more = {"groups": self.groups, "unmatched": {"left": left, "right": right}}
        return super().to_dict() | {name: plain(value) for name, value in more.items()}

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print how many pairs there are, the surest of them, and the doubtful ones."""
        (left, right), sizes = self.names, [len(table) for table in self.tables]
        text = (
            f"{left}: {len(self.pairs):,} pairs of {sizes[0]:,} rows with {sizes[1]:,} of {right}"
        )
        lines = [
            [*self._names(number), f"{self.linking.probabilities[number]:.3f}"]
            for number in self._numbers()[:MAX_SHOWN].tolist()
        ]
        heads = [("row", "left"), ("other", "left"), ("probability", "right")]
        self._render(console, spell, text, (heads, lines), len(self.pairs), "pairs")


def choose_cell(cells: Sequence[Any]) -> Any:
    """Return the most frequent cell, of equally frequent ones the longest, then the first.

    Parameters
    ----------
    cells : sequence, None where missing

    Examples
    --------
    >>> choose_cell(["J. Smith", "John Smith", None]), choose_cell(["a", "b", "b"])
    ('John Smith', 'b')
    """
    known = [cell for cell in cells if cell is not None]
    # Cells without a hash cannot be counted: what they are written as is.
    keys = [cell if cell.__hash__ else repr(cell) for cell in known]
    counts = Counter(keys)
    order = range(len(known))
    best = max(order, key=lambda k: (counts[keys[k]], len(write(known[k])), -k), default=None)
    return None if best is None else known[best]
