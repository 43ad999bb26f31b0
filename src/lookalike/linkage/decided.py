"""The answers of dedupe and link: pairs, groups, golden records, and what is left to decide."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

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
from lookalike.show.result import Console, Result, Spell, as_json
from lookalike.table import Kind, Table
from lookalike.table.model.display import record_columns
from lookalike.table.model.labels import label_of

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
    def expected(self) -> Expected:
        """The precision and recall that the probabilities imply."""
        return self.linking.expected

    @property
    def groups(self) -> list[list[Any]]:
        """The ids of rows that are the same record; of two tables, of each pair."""
        return [[pair.left, pair.right] for pair in self.pairs]

    @cached_property
    def pairs(self) -> list[Pair]:
        """The pairs that are matches, the surest first."""
        return [self._pair(number) for number in self._numbers().tolist()]

    def _numbers(self) -> np.ndarray:
        return self.linking.matches

    def _rows(self, number: Any) -> tuple[Any, Any]:
        """Return the positions of candidates in the first table, and in the last one."""
        found = self.linking.candidates
        return found.left[number], found.right[number] - (self.linking.n_left or 0)

    def _pair(self, number: int) -> Pair:
        i, j = self._rows(number)
        return Pair(self.ids[0][i], self.ids[-1][j], float(self.linking.probabilities[number]))

    # -- what is left to decide --------------------------------------------------------------------

    @cached_property
    def _doubtful(self) -> list[int]:
        link = self.linking
        doubt = np.minimum(link.probabilities, 1.0 - link.probabilities)
        # What was decided by hand is not asked again.
        open_ = np.flatnonzero((doubt >= CERTAIN) & np.isnan(link.decided))
        return open_[np.argsort(-doubt[open_], kind="stable")].tolist()

    def review(self, n: int | None = None) -> list[dict[str, Any]]:
        """Return doubtful pairs, the strongest doubt first, with reasons for and against.

        Parameters
        ----------
        n : int, optional
            How many at most; None: as many as the verb was asked for.
        """
        listed = []
        for number in self._doubtful[: n or self.n]:
            pair, (i, j), sides = self._pair(number), self._rows(number), self.reasons(number)
            one = {"pair": [pair.left, pair.right], "probability": pair.probability}
            one |= {"left": self.tables[0].record(i), "right": self.tables[-1].record(j)}
            both = [[reason.to_dict() for reason in side] for side in sides]
            listed.append(one | dict(zip(("for", "against"), both, strict=True)))
        return listed

    def reasons(self, number: int) -> tuple[list[Reason], list[Reason]]:
        """Return the strongest reasons for and against a candidate; their shares are in bits.

        Parameters
        ----------
        number : int, of the candidate
        """
        bits = self.linking.weights[number]
        order = np.argsort(-np.abs(bits), kind="stable").tolist()
        plus = [self._reason(number, j, bits[j]) for j in order if bits[j] >= MIN_BITS]
        minus = [self._reason(number, j, bits[j]) for j in order if bits[j] <= -MIN_BITS]
        return plus[:REASONS], minus[:REASONS]

    def _reason(self, number: int, column: int, bits: float) -> Reason:
        name, much, (i, j) = self.linking.columns[column].name, abs(float(bits)), self._rows(number)
        left, right = self.tables[0][name], self.tables[-1][name]
        style, cells = style_of(left), (left.cell(i), right.cell(j))
        if left.kind.name != right.kind.name:  # read differently: shown as written
            style, cells = Style(Kind("text", "")), (write(cells[0]), write(cells[1]))
        return make_reason(name, style, *cells, much, speaks_for=bits > 0, bits=much)

    # -- forms -------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return pairs, groups, the doubtful pairs, and how sure they are."""
        return as_json(
            rows=[len(table) for table in self.tables],
            columns=[column.name for column in self.linking.columns],
            threshold=self.linking.threshold,
            expected=self.expected._asdict(),
            apart=self.linking.apart,
            pairs=[{"pair": [a, b], "probability": chance} for a, b, chance in self.pairs],
            review=self.review(),
            groups=self.groups,
        )

    def cells(self) -> dict[str, list[Any]]:
        """Return the answer that ``show`` names, as columns."""
        if self.show == "pairs":
            return self._both(self._numbers().tolist())
        numbers = self._doubtful[: self.n]
        why = [sentence(*self.reasons(number)) for number in numbers]
        return self._both(numbers, same=[""] * len(numbers), because=why)

    def _both(self, numbers: list[int], **more: list[Any]) -> dict[str, list[Any]]:
        """Return pairs with the cells of both rows; those of the right one have a prefix."""
        pairs = [self._pair(number) for number in numbers]
        out = {name: [getattr(pair, name) for pair in pairs] for name in Pair._fields} | more
        i, j = self._rows(numbers)
        right = record_columns(self.tables[-1], j.tolist(), ())
        out |= record_columns(self.tables[0], i.tolist(), [*out])
        return out | {f"other.{name}": cells for name, cells in right.items()}

    @abstractmethod
    def _found(self) -> tuple[str, str, int, Any]:
        """Return the heading, what was found and how much, and the first of it as a table."""

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print how much was found and how sure that is, the first of it, and doubts."""
        text, word, n, grid = self._found()
        layout.headline(console, text)
        if n or self.linking.apart:
            at = f"at a probability of {self.linking.threshold:.2f} or more"
            layout.say(console, f"expected {self._sure}, {at}")
        names = ", ".join(column.name for column in self.linking.columns)
        layout.say(console, f"compared: {names}")
        if not self.linking.apart:
            layout.say(console, spell(NOTHING_APART), "yellow")
        if n:
            console.print(grid)
        if n > MAX_SHOWN:
            layout.say(console, f"{n - MAX_SHOWN:,} more {word} (csv, json and parquet have all)")
        if not (doubtful := self._doubtful):
            layout.say(console, "no doubtful pairs")
            return
        pairs = "pair" if len(doubtful) == 1 else "pairs, the strongest doubt first"
        layout.headline(console, f"{len(doubtful):,} doubtful {pairs}")
        for number in doubtful[: min(self.n, MAX_SHOWN)]:
            names = " and ".join(self._names(number))
            layout.say(console, f"{names}: {percent(self._pair(number).probability)}", "")
            layout.say(console, sentence(*self.reasons(number)), indent=2)

    @property
    def _sure(self) -> str:
        precision, recall = map(percent, self.expected)
        return f"precision {precision}, recall {recall}"

    @cached_property
    def _labels(self) -> list[Any]:
        return [label_of(table) for table in self.tables]

    def _names(self, number: int) -> list[str]:
        return [
            write_names(self.tables[side][[row]], [id], self._labels[side])[0]
            for side, row, id in zip((0, -1), self._rows(number), self._pair(number), strict=False)
        ]

    def html_body(self) -> str:
        """Return the doubtful pairs side by side, cells that differ marked."""
        parts, link = [], self.linking
        for number in self._doubtful[: self.n]:
            pair, (i, j), lines = self._pair(number), self._rows(number), []
            for column in link.columns:
                # Marked where what was compared differs: normalized texts, so not by case alone.
                left, right = link.candidates.left[number], link.candidates.right[number]
                mark = "<mark>{}</mark>" if column.codes[left] != column.codes[right] else "{}"
                both = self.tables[0][column.name].cell(i), self.tables[-1][column.name].cell(j)
                cells = (escape(short(write(cell), MAX_CELL_CHARACTERS)) for cell in both)
                lines.append([column.name, *(Html(mark.format(cell)) for cell in cells)])
            heads, chance = ["", str(pair.left), str(pair.right)], percent(pair.probability)
            why = sides(*([one.to_html() for one in side] for side in self.reasons(number)))
            parts.append(html_table(lines, heads, f"probability {chance}", text=(1, 2)) + why)
        body = "".join(parts) or "<p>No doubtful pairs.</p>"
        heading = "Doubtful pairs, the strongest doubt first"
        return f"<p>Expected {self._sure}.</p>" + section(heading, body)


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

    def cells(self) -> dict[str, list[Any]]:
        """Return the answer that ``show`` names, as columns."""
        if self.show not in ("golden", "groups"):
            return super().cells()
        table = self.tables[0]
        if self.show == "groups":
            out = {"id": [*self.ids[0]], "group": self.labels.tolist()}
            return out | record_columns(table, range(len(table)), [*out])
        first = np.unique(self.labels, return_index=True)[1].tolist()
        out = {"id": [self.ids[0][row] for row in first], "rows": np.bincount(self.labels).tolist()}
        for name, cells in record_columns(table, range(len(table)), [*out]).items():
            golden = [cells[row] for row in first]
            for rows in self._members:
                golden[int(self.labels[rows[0]])] = choose_cell([cells[r] for r in rows.tolist()])
            out[name] = golden
        return out

    def _found(self) -> tuple[str, str, int, Any]:
        n, groups = len(self.tables[0]), self._members
        doubles = sum(map(len, groups)) - len(groups)
        text = f"{self.names[0]}: {n:,} rows are {n - doubles:,} records, {len(groups):,} of them "
        lines = []
        for rows in sorted(groups, key=len, reverse=True)[:MAX_SHOWN]:
            ids = [self.ids[0][row] for row in rows.tolist()]
            names = write_names(self.tables[0][rows[:3]], ids[:3], self._labels[0])
            lines.append([str(len(rows)), "; ".join(names) + (" ..." if len(rows) > 3 else "")])
        grid = layout.grid([("rows", "right"), ("group", "fold")], lines)
        return f"{text}in several rows", "groups", len(groups), grid


@dataclass(eq=False)
class Linked(Decided):
    """Pairs of rows of two tables that are the same record; ``to_frame()`` has both records.

    Parameters
    ----------
    linking, tables, ids, names, show, n, backend : see ``Decided``
    """

    @property
    def unmatched(self) -> tuple[list[Any], list[Any]]:
        """The ids of the rows of each table that have no match."""
        gone = {pair.left for pair in self.pairs}, {pair.right for pair in self.pairs}
        left, right = ([id for id in self.ids[i] if id not in gone[i]] for i in (0, 1))
        return left, right

    def to_dict(self) -> dict[str, Any]:
        """Return pairs, rows without a match, the doubtful pairs, and how sure they are."""
        gone = dict(zip(("left", "right"), self.unmatched, strict=True))
        return super().to_dict() | {"unmatched": plain(gone)}

    def _found(self) -> tuple[str, str, int, Any]:
        n, (left, right), sizes = len(self.pairs), self.names, [len(table) for table in self.tables]
        text = f"{left}: {n:,} pairs of {sizes[0]:,} rows with {sizes[1]:,} of {right}"
        lines = [
            [*self._names(number), f"{self.linking.probabilities[number]:.3f}"]
            for number in self._numbers()[:MAX_SHOWN].tolist()
        ]
        heads = [("row", "left"), ("other", "left"), ("probability", "right")]
        return text, "pairs", n, layout.grid(heads, lines)


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
