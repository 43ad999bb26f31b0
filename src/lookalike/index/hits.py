"""Results of a search: rows, nearest first, each with its reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, overload

from lookalike._runtime.text import plain, short
from lookalike._runtime.threads import cached_property
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.explanation import Explanation
from lookalike.measures.contract.rows import Rows
from lookalike.show import layout
from lookalike.show.html.document import sides
from lookalike.show.html.markup import escape
from lookalike.show.html.markup import table as html_table
from lookalike.show.reasons import Reason, Styles, sentence
from lookalike.show.result import Result, Spell
from lookalike.table import Column, Table
from lookalike.table.model.labels import RowLabel, label_first, label_of

if TYPE_CHECKING:
    from rich.console import Console

Cell = tuple[Table, int]  # a table and the position of a row in it

# All chosen by hand.
MIN_COMPARED_SHARE = 4  # pairs compared in at most one of so many columns are noted
MIN_NAME_WIDTH, MAX_NAME_WIDTH = 12, 40  # characters of the name of the query in a heading
MAX_NAMED_COLUMNS = 6  # columns that do not fit on a line, named below the table
MAX_HTML_COLUMNS, MAX_HTML_HITS = 6, 20
OURS = ("id", "score", "distance", "similarity")
COMPARED = ("compared", "compared_of")
SIDES = ("for", "against")


@dataclass(eq=False, repr=False)
class Reasons:
    """Explanations of a query against the rows found for it, computed on demand.

    The first one is computed alone. A second request is usually followed by the rest, and
    explaining rows together takes less time than each by itself.

    Parameters
    ----------
    measure : Measure
    query : Rows of length one
    cell : the query as it was read
    find : callable that returns the rows found, as Rows
    cells : these rows as they were read
    styles : how cells are formatted
    """

    measure: Measure
    query: Rows
    cell: Cell
    find: Callable[[], Rows]
    cells: Sequence[Cell]
    styles: Styles
    # By number. Two threads may explain a row at the same time: setdefault keeps one of them, so
    # that all callers share it.
    _known: dict[int, Explanation] = field(default_factory=dict, init=False)

    @cached_property
    def rows(self) -> Rows:
        """The rows found, encoded; selected when first needed."""
        return self.find()

    def of(self, number: int) -> Explanation:
        """Return the explanation of one of the rows, by its number among those found."""
        if number not in self._known:
            # After the first all rows are explained: selecting the others is not worth it.
            numbers = range(len(self.cells)) if self._known else range(number, number + 1)
            rows = self.rows[numbers.start : numbers.stop]
            explained = self.measure.explain_many(self.query, rows)
            for i, explanation in zip(numbers, explained, strict=True):
                self._known.setdefault(i, self._with_cells(explanation, self.cells[i]))
        return self._known[number]

    def _with_cells(self, explanation: Explanation, other: Cell) -> Explanation:
        """Return an explanation with the two cells of each column beside the reasons."""
        if explanation.cells:
            return explanation
        (left, i), (right, j) = self.cell, other
        cells: dict[str, Any]
        cells = {name: (left[name].cell(i), right[name].cell(j)) for name in right.names}
        for name, parts in right.joined.items():
            pair = zip(*(cells[part] for part in parts), strict=True)
            cells[name] = tuple(None if None in cell else list(cell) for cell in pair)
        return replace(explanation, cells=cells, styles=self.styles)


@dataclass(eq=False, repr=False)
class Hit:
    """One row that a search found.

    Parameters
    ----------
    id : int or value of the id column
    score : float
        What the row was ranked by; smaller is better. Without feedback it is the distance.
    distance, similarity : float or None
        To the query, whatever the feedback; None where the two rows have nothing to compare.

    Attributes
    ----------
    row : dict, the row as a record
    compared : int, columns that are filled in both rows
    compared_of : int, columns that count in the question
    explanation : Explanation, computed on first access

    Examples
    --------
    >>> import lookalike as la
    >>> index = la.Index().fit({"size": [1.0, 2.5, 2.0], "color": ["red", "blue", "red"]})
    >>> hit = index.search(0, k=1)[0]
    >>> hit.id, hit.row["size"]
    (2, 2.0)
    """

    id: Any
    score: float | None
    distance: float | None
    similarity: float | None
    # Of the snapshot that was searched: a row deleted since can still be shown and explained.
    _cell: Cell
    _why: Callable[[], Explanation]
    _asked: Callable[[], Mapping[str, Any]] = dict

    @property
    def table(self) -> Table:
        """The table of the row."""
        return self._cell[0]

    @cached_property
    def row(self) -> dict[str, Any]:
        """The row as a record."""
        table, row = self._cell
        return table.record(row)

    @cached_property
    def compared(self) -> int:
        """The number of columns that are filled in both rows, of those that count."""
        row = self.row
        return sum(
            cell is not None and row.get(name) is not None for name, cell in self._asked().items()
        )

    @property
    def compared_of(self) -> int:
        """The number of columns that count in the question."""
        return len(self._asked())

    def texts(self, form: str) -> dict[str, str]:
        """Return score, distance and similarity in a form, and in how many columns of all."""
        named = {name: shown(getattr(self, name), form) for name in OURS[1:]}
        n, total = self.compared, self.compared_of
        return named | {"compared": "" if n == total else f"{n} of {total}"}

    @cached_property
    def explanation(self) -> Explanation:
        """Why the row is like the query, column by column."""
        return self._why()

    def reasons(self, n: int = 2) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Return the best reasons for and against, with the two cells that were compared.

        Best are those that say most against what two random rows have in the column, where the
        measure knows it (see ``Explanation.reasons``).

        Parameters
        ----------
        n : int
            How many on each side, at most.

        Returns
        -------
        for, against : lists of dict
            Each with ``column``, its ``kind``, its ``share`` of the similarity (for) or of one
            minus the similarity (against), the cells ``query`` and ``found``, and a phrase,
            ``text``.

        Examples
        --------
        >>> import lookalike as la
        >>> index = la.Index().fit({"size": [1.0, 2.5, 2.0], "color": ["red", "blue", "red"]})
        >>> index.search(0, k=1)[0].reasons(1)[0][0]["text"]
        'same color: red'
        """
        plus, minus = self.phrases(n)
        return [reason.to_dict() for reason in plus], [reason.to_dict() for reason in minus]

    def phrases(self, n: int = 2) -> tuple[list[Reason], list[Reason]]:
        """Return the reasons for and against as objects with a text and an HTML form.

        Parameters
        ----------
        n : int
            How many on each side, at most.
        """
        return self.explanation.phrases(n)

    def because(self, n: int = 2) -> str:
        """Say in one line why the row is like the query, and what speaks against it.

        Parameters
        ----------
        n : int
            How many reasons on each side, at most.

        Examples
        --------
        >>> import lookalike as la
        >>> index = la.Index().fit({"size": [1.0, 2.5, 2.0], "color": ["red", "blue", "red"]})
        >>> index.search(0, k=1)[0].because()
        'same color: red; but size 1.0 against 2.0 (a little higher)'
        """
        return sentence(*self.phrases(n))

    def to_dict(self) -> dict[str, Any]:
        """Return the hit as plain values, without the explanation."""
        return {name: getattr(self, name) for name in (*OURS, *COMPARED, "row")}

    def __str__(self) -> str:
        return f"{short(self.id)} ({shown(self.similarity)}): {self.because()}"

    def __repr__(self) -> str:
        numbers = f"score={shown(self.score)}, similarity={shown(self.similarity)}"
        return f"Hit(id={self.id!r}, {numbers})"


@dataclass(frozen=True)
class SearchInfo:
    """How the rows were searched, as shown with the hits.

    Parameters
    ----------
    name : str
        Of the table.
    id : id of the query row, None for a record
    k : int or None
        The number of rows requested.
    measure, by, reason : str or None
        How rows were compared: class of the measure, the same in words, and why so.
    filtered : bool
        Whether only rows that meet a filter could be found.
    asked : names of columns
        That the question names, in a record, weights or a filter: shown before the others.
    why : bool
        Whether the reasons of each hit belong to the answer.
    sample : Table, optional
        Rows that show how cells are written; None: the table of the first hit.
    """

    name: str = "table"
    id: Any = None
    k: int | None = None
    measure: str | None = None
    by: str | None = None
    reason: str | None = None
    filtered: bool = False
    asked: tuple[str, ...] = ()
    why: bool = False
    sample: Table | None = None


class Hits(Sequence[Hit], Result):
    """What a search found, best first; behaves like a list.

    Parameters
    ----------
    hits : sequence of Hit
    query : function that returns the query as a record
    info : SearchInfo, optional

    Examples
    --------
    >>> import lookalike as la
    >>> index = la.Index().fit({"size": [1.0, 2.5, 2.0], "color": ["red", "blue", "red"]})
    >>> hits = index.search(0, k=2)
    >>> hits.ids, len(hits)
    ([2, 1], 2)
    >>> print(hits)
    table: the 2 rows most like row 0 (red)
     row  distance  similarity  color  size
       0                        red     1.0
     ──────────────────────────────────────
       2    0.1667       0.833  red     2.0
       1    0.8333       0.167  blue    2.5
    """

    def __init__(
        self,
        hits: Sequence[Hit],
        query: Callable[[], dict[str, Any]],
        info: SearchInfo | None = None,
    ) -> None:
        self._hits = tuple(hits)
        self._query = query
        self.info = info or SearchInfo()

    @cached_property
    def query(self) -> dict[str, Any]:
        """The query, as a record."""
        return self._query()

    @overload
    def __getitem__(self, key: int) -> Hit: ...
    @overload
    def __getitem__(self, key: slice) -> Hits: ...
    def __getitem__(self, key: int | slice) -> Hit | Hits:
        if isinstance(key, slice):
            return Hits(self._hits[key], self._query, self.info)
        return self._hits[key]

    def head(self, n: int = 5) -> Hits:
        """Return the n best hits."""
        return self[:n]

    def __len__(self) -> int:
        return len(self._hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self._hits)

    @property
    def table(self) -> Table | None:
        """Rows that show how cells are written; None where nothing was found."""
        if self.info.sample is not None:
            return self.info.sample
        return self._hits[0].table if self._hits else None

    @cached_property
    def label(self) -> RowLabel:
        """The columns that name a row."""
        return RowLabel() if self.table is None else label_of(self.table)

    @cached_property
    def has_gaps(self) -> bool:
        """Whether a row could not be compared in all columns that count."""
        return any(hit.compared < hit.compared_of for hit in self._hits)

    @cached_property
    def by_score(self) -> bool:
        """Whether rows are ranked by something else than the distance: feedback."""
        return any(hit.score != hit.distance for hit in self._hits)

    @property
    def ids(self) -> list[Any]:
        """The ids of the rows found, best first."""
        return [hit.id for hit in self._hits]

    @cached_property
    def note(self) -> str | None:
        """A caveat about the order, if any: all rows tied, or few columns compared."""
        notes = []
        if len(self) > 1 and len({hit.score for hit in self}) == 1:
            every = "both" if len(self) == 2 else f"all {len(self)}"
            notes.append(f"{every} rows are equally near; their order is that of the table")
        counts = [(hit.compared, hit.compared_of) for hit in self]
        few = [(n, total) for n, total in counts if MIN_COMPARED_SHARE * n <= total and n < total]
        if few:
            n, total = min(few)
            notes.append(
                f"{len(few)} of {len(self)} rows can be compared in few columns, "
                f"one in {n} of {total}"
            )
        return "; ".join(notes) or None

    def with_info(self, info: SearchInfo) -> Hits:
        """Return the same rows with the search that they are shown as the result of."""
        return Hits(self._hits, self._query, info)

    def to_dict(self) -> dict[str, Any]:
        """Return the query, the hits and the note as plain values."""
        hits = [self.label.added_to(hit.to_dict()) for hit in self._hits]
        if self.info.why:
            for hit, values in zip(self._hits, hits, strict=True):
                values["reasons"] = dict(zip(SIDES, hit.reasons(), strict=True))
        answer = {
            "measure": self.info.measure,
            "reason": self.info.reason,
            "query": self.label.added_to({"id": self.info.id, "row": self.query}),
            "hits": hits,
            "note": self.note,
        }
        return {name: plain(value) for name, value in answer.items()}

    def cells(self) -> dict[str, list[Any]]:
        """Return one row per hit; a column named like one of ours gets the prefix "table."."""
        names = (*OURS, *COMPARED)
        columns: dict[str, list[Any]] = {name: [getattr(h, name) for h in self] for name in names}
        for i, side in enumerate(SIDES if self.info.why else ()):
            columns[side] = ["; ".join(reason.text for reason in hit.phrases()[i]) for hit in self]
        ours = tuple(columns)
        for name in self._hits[0].row if self._hits else ():
            head = f"table.{name}" if name in ours else name
            columns[head] = [hit.row.get(name) for hit in self]
        return columns

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print the query, then the rows found, nearest first, a line for each."""
        info, n = self.info, len(self)
        if not n:
            why = "no row meets the filter: take a condition out"
            layout.say(console, why if info.filtered else "there is no other row to find")
            return
        layout.headline(console, self._heading(console.width))
        if info.reason is not None:
            layout.say(console, info.reason)
        self.render_lines(console)
        if info.k is not None and n < info.k:
            rows = "1 row" if n == 1 else f"{n:,} rows"
            layout.say(console, f"only {rows} can be found; {info.k:,} were asked for")
        if undefined := sum(hit.distance is None for hit in self):
            of = f"{undefined} of the {n} rows found have nothing to compare"
            layout.say(console, f"{of}: no column is filled in both")

    def _heading(self, width: int) -> str:
        info, n = self.info, len(self)
        by = "" if info.by is None else f", by {info.by}"
        start = f"{info.name}: the {'row' if n == 1 else f'{n} rows'} most like "
        # The name of the row is cut so that the heading fits on one line.
        free = width - len(f"{start}row {by}")
        what = "the record" if info.id is None else f"row {self._named(free)}"
        return f"{start}{what}{by}"

    def render_lines(self, console: Console, only: Sequence[str] = ()) -> None:
        """Print the rows without a heading.

        Parameters
        ----------
        console : Console
        only : names of the columns to show, instead of as many as fit
        """
        from lookalike.index.hit_lines import HitLines

        assert self.table is not None
        lines = HitLines(self, self.table, console.width, why=self.info.why, only=only)
        for line in lines.lines(self.info.id):
            console.print(line, no_wrap=True, overflow="ellipsis", crop=True)
        if self.note is not None:
            layout.say(console, f"note: {self.note}")
        if lines.left:
            names, more = ", ".join(lines.left[:MAX_NAMED_COLUMNS]), len(lines.left)
            names += f" and {more - MAX_NAMED_COLUMNS} more" if more > MAX_NAMED_COLUMNS else ""
            layout.say(console, f"not shown: {names} (csv and json have every column)")

    def __repr__(self) -> str:
        return f"Hits(ids={self.ids!r})" if len(self) <= 10 else f"Hits({len(self)} rows)"

    def _named(self, width: int) -> str:
        """Return the id of the query, with its name where it has one."""
        name = None if self.label.with_id else self.label.of(self.query)
        if name in (None, str(self.info.id)):
            return str(self.info.id)
        width = min(MAX_NAME_WIDTH, width - len(f"{self.info.id} ()"))
        return f"{self.info.id} ({short(name, max(MIN_NAME_WIDTH, width))})"

    def html_body(self) -> str:
        """Return the query and the rows found, each with its reasons, as HTML."""
        if not len(self):
            return "<p>no rows found</p>"
        table = self.table or self[0].table
        columns = self.shown_columns(table)[:MAX_HTML_COLUMNS]
        styles, shown_hits = Styles(table), self[:MAX_HTML_HITS]
        # Without feedback the score is the distance, which the similarity shows already.
        ours = ["id", *["score"] * self.by_score, "similarity", *["compared"] * self.has_gaps]

        def line(name: str, values: Mapping[str, str], row: dict[str, Any]) -> list[str]:
            cells = (styles.write(c, row.get(c.name), 48) for c in columns)
            return [name, *(values.get(head, "") for head in ours[1:]), *cells]

        rows = [line("query", {}, self.query)]
        rows += [line(short(hit.id), hit.texts(".3f"), hit.row) for hit in shown_hits]
        reasons = [
            sides(*([reason.to_html() for reason in side] for side in hit.phrases()))
            for hit in shown_hits
        ]
        heads = [*ours, *(short(column.name, 40) for column in columns)]
        text = [i for i, column in enumerate(columns, len(ours)) if column.kind.name != "number"]
        body = html_table(rows, heads, first=True, text=text, below=["", *reasons])
        more = len(self) - MAX_HTML_HITS
        notes = [f"{more:,} more rows" if more > 0 else None, self.note]
        return body + "".join(f'<div class="quiet">{escape(note)}</div>' for note in notes if note)

    def shown_columns(self, table: Table) -> list[Column]:
        """Return the columns that a list shows: the label, those asked about, the others."""

        def repeats_id(name: str) -> bool:
            # As the column of the index of a pandas frame does.
            cells = [(hit.row.get(name), hit.id) for hit in self]
            return all(type(cell) is type(id) and cell == id for cell, id in cells)

        first = [*self.label.columns, *self.info.asked]
        columns = [column for column in label_first(table) if not repeats_id(column.name)]
        # Sorting is stable: the others stay in their order.
        return sorted(columns, key=lambda c: [*first, c.name].index(c.name))


def shown(value: float | None, form: str = ".3g") -> str:
    """Write a number; what is undefined is a dash."""
    return "–" if value is None else f"{value:{form}}"


@dataclass(frozen=True, eq=False)
class PairExplanation(Result):
    """How alike two rows are, and what each column contributes.

    Parameters
    ----------
    name : str, of the table
    rows : pair of id or record
    measure : str, how they were compared
    explanation : Explanation
        The contributions, which add up to the similarity.
    """

    name: str
    rows: tuple[Any, Any]
    measure: str
    explanation: Explanation

    def cells(self) -> dict[str, list[Any]]:
        """Return a line per column, the strongest contribution first."""
        explanation = self.explanation
        names = explanation.strongest
        pairs = [explanation.cells.get(name or "", (None, None)) for name in names]
        return {
            "column": names,
            "row": [plain(pair[0]) for pair in pairs],
            "other": [plain(pair[1]) for pair in pairs],
            "for": [float(explanation.plus.get(name, 0.0)) for name in names],
            "against": [float(explanation.minus.get(name, 0.0)) for name in names],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the two rows, their similarity and the contributions of the columns."""
        columns = self.cells()
        explanation = self.explanation
        return {
            "row": plain(self.rows[0]),
            "other": plain(self.rows[1]),
            "measure": self.measure,
            "similarity": float(explanation.similarity),
            "distance": float(explanation.distance),
            "not_compared": list(explanation.not_compared),
            "columns": [
                dict(zip(columns, line, strict=True))
                for line in zip(*columns.values(), strict=True)
            ],
        }

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print the similarity, then a line per column."""
        ids = ("a record" if isinstance(one, Mapping) else short(one) for one in self.rows)
        text = f"{self.name}: why {' and '.join(ids)} are alike, by {self.measure}"
        layout.headline(console, text)
        for line in str(self.explanation).splitlines():
            console.print(layout.cut(line, console.width), markup=False)
        if self.explanation.not_compared:
            layout.say(console, f"not compared: {', '.join(self.explanation.not_compared)}")

    def html_body(self) -> str:
        """Return the table of contributions, with bars."""
        return self.explanation.html_body()
