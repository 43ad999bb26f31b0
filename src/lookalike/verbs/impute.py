"""Missing cells, filled from the rows that are most alike, and where each value came from."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any

from lookalike._runtime.frames import arrow_of, backend_of, frame_of_arrow, stack_frames
from lookalike._runtime.text import percent, plural, short
from lookalike.show import layout
from lookalike.show.result import Console, Result, Spell, as_json
from lookalike.verbs import annotations as args
from lookalike.verbs.source import NamedRows, as_source, split_names

if TYPE_CHECKING:
    from lookalike.prediction import FilledColumn, NeighborImputer

HEADING, RANK = "Look at a table", 35
EXAMPLES = (
    "lookalike impute penguins.csv",
    "lookalike impute penguins.csv --columns sex --why",
    "lookalike impute penguins.csv --output csv > complete.csv",
)
MAX_SHOWN_CELLS = 20  # in the text form
MAX_NAMED_DONORS = 5  # of a cell, the strongest; ``filled`` has all
MAX_SHOWN_WEIGHTS = 3  # columns beside a column, in the text form
DRAW = "draw"  # the first column of the frame where cells are drawn
MaybeCount = Annotated[
    int | None, args.Spelling(json=int | None, metavar="N", least=1, flags=("-k",))
]


@dataclass(frozen=True)
class FilledCell:
    """A cell that was missing, its value, and the rows that it came from.

    Parameters
    ----------
    id, column : of the cell
    value : what was filled in
    agreement : float, from 0 to 1
        How much the donors agree; see ``FilledColumn``.
    donors : list of dict
        The strongest: ``id``, ``share`` of the vote and ``value``. Empty where the row has no other
        cell to find donors by: the value is then the mean of the column, or its commonest one.
    because : str
        Why the nearest donor is like the row; "" unless reasons were asked for.
    """

    id: Any
    column: str
    value: Any
    agreement: float
    donors: list[dict[str, Any]]
    because: str = ""


@dataclass(frozen=True, eq=False)
class Imputed(Result):
    """A table with its missing cells filled; ``to_frame()`` is a frame of the kind that came in.

    Parameters
    ----------
    model : NeighborImputer, fitted
    rows : NamedRows
    given : the table as it was given
    filled : list of FilledColumn
    draws : list of lists of FilledColumn
        The cells drawn at random from their donors, several times; empty unless asked for.
    why : bool
    backend : str, the library of the frame that came in
    """

    model: "NeighborImputer"
    rows: NamedRows
    given: Any
    filled: "Sequence[FilledColumn]"
    draws: "Sequence[Sequence[FilledColumn]]" = ()
    why: bool = False
    backend: str = "pandas"

    def _versions(self, given: Any) -> list[Any]:
        from lookalike.prediction.imputation import complete

        return [complete(given, self.rows.table, one) for one in self.draws or [self.filled]]

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the completed table; draws one below the other, numbered in a column ``draw``.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", "duckdb"}, optional
            None: a frame of the library that came in, with its index and its types.
        """
        made = self._versions(self.given if backend is None else self.rows.table)
        wanted = backend or self.backend
        arrow = "pyarrow" if wanted == "duckdb" else wanted
        frames = [t.to_frame(arrow) if hasattr(t, "to_frame") else t for t in made]
        frame = stack_frames(frames, DRAW) if self.draws else frames[0]
        return frame_of_arrow(frame, wanted) if wanted == "duckdb" else frame

    def cells(self) -> dict[str, list[Any]]:
        """Return the completed table as columns."""
        tables = self._versions(self.rows.table)
        cells = [(table, row) for table in tables for row in range(len(table))]
        columns = {c.name: [t[c.name].cell(row) for t, row in cells] for c in tables[0].every}
        numbers = [i + 1 for i, table in enumerate(tables) for _ in range(len(table))]
        return {DRAW: numbers, **columns} if self.draws else columns

    @cached_property
    def filled_cells(self) -> list[FilledCell]:
        """The cells that were missing, column by column, each with its donors."""
        cells, ids = [], self.rows.ids
        for one in self.filled:
            name, known = one.column.name, self.model.table_[one.column.name]
            for i, row in enumerate(one.rows.tolist()):
                donors = zip(one.donors[i].tolist(), one.weights[i].tolist(), strict=True)
                named = [
                    {"id": ids[donor], "share": share, "value": known.cell(donor)}
                    for donor, share in donors
                    if donor >= 0
                ]
                why = self._explain(name, row, one.donors[i, 0]) if self.why and named else ""
                cell = ids[row], name, one.column.cell(row), float(one.agreement[i])
                cells.append(FilledCell(*cell, named[:MAX_NAMED_DONORS], why))
        return cells

    def _explain(self, name: str, row: int, donor: int) -> str:
        from lookalike.index.hits import Reasons

        table, rows = self.rows.table, self.model.measure_.rows_
        found, cells = partial(rows.__getitem__, slice(donor, donor + 1)), [(table, donor)]
        reasons = Reasons(
            self.model.weighed(name), rows[row : row + 1], (table, row), found, cells, self._styles
        )
        # What speaks against the donor is mostly what the row has no cell in.
        from lookalike.show.reasons import sentence  # loads the tables: not for the help

        return sentence(reasons.of(0).phrases(2)[0], [])

    @property
    def columns(self) -> list[dict[str, Any]]:
        """What was filled in each column, how well that does on known cells, and by which columns.

        ``error`` is the root mean squared error of numbers in standard deviations, or the share of
        wrong levels; None where it cannot be measured. ``weights`` has the five columns that count
        most.
        """
        lines = []
        for one in self.filled:
            name, kind = one.column.name, one.column.kind.label
            line = {"column": name, "kind": kind, "filled": len(one.rows)}
            line |= {"donors": one.donors.shape[1], "error": self.model.errors_.get(name)}
            weights = sorted(self.model.weights_[name].items(), key=lambda x: -x[1])
            lines.append(line | {"weights": dict(weights[:MAX_NAMED_DONORS])})
        return lines

    @property
    def not_filled(self) -> dict[str, int]:
        """How many cells are still missing, by column: without any value, set aside, or unasked."""
        table = self._versions(self.rows.table)[0]
        missing = {c.name: int(c.blank.sum()) for c in table.every}
        return {name: count for name, count in missing.items() if count}

    def to_dict(self) -> dict[str, Any]:
        """Return the cells that were filled, with their donors, and how well each column does."""
        cells = [vars(cell) for cell in self.filled_cells]
        # Of each draw the values, in the order of ``cells``.
        drawn = [[cell for one in each for cell in one.cells] for each in self.draws]
        more = {"draws": drawn} if drawn else {}
        rows, gone = len(self.rows.table), self.not_filled
        return as_json(rows=rows, columns=self.columns, cells=cells, not_filled=gone, **more)

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print how well each column can be filled, and the first cells with their donors."""
        cells, of = self.filled_cells, f"of {len(self.rows.table):,} rows"
        missing = plural(len(cells), "missing cell")
        layout.headline(console, f"{self.rows.name}: {missing} {of} filled")
        if cells:
            heads = [("column", "left"), ("filled", "right"), ("error on known cells", "right")]
            lines = [
                [short(one["column"]), f"{one['filled']:,}", _write_error(one), ", ".join(names)]
                for one in self.columns
                for names in [[*one["weights"]][:MAX_SHOWN_WEIGHTS]]
            ]
            console.print(layout.grid([*heads, ("most by", "fold")], lines))
        for cell in cells[:MAX_SHOWN_CELLS]:
            self._render_cell(console, cell)
        if (more := len(cells) - MAX_SHOWN_CELLS) > 0:
            rest = "more cells (json has all; csv and parquet the completed table)"
            layout.say(console, f"{more:,} {rest}")
        if self.not_filled:
            rest = ", ".join(f"{name} ({count:,})" for name, count in self.not_filled.items())
            layout.say(console, f"still missing: {rest}", "yellow")

    def _render_cell(self, console: Console, cell: FilledCell) -> None:
        number = self.rows.table[cell.column].kind.name == "number"
        value = self._styles[cell.column].write(cell.value) if number else short(cell.value)
        layout.headline(console, f"row {short(cell.id)}, {cell.column}: {value}")
        donors = ", ".join(str(short(donor["id"])) for donor in cell.donors)
        agree = f"most from rows {donors}; donors agree by {percent(cell.agreement)}"
        text = agree if donors else "the row has no other cell: what is usual in the column"
        layout.say(console, text, indent=2)
        if cell.because:
            layout.say(console, cell.because, indent=2)

    # Made once: how a number is written depends on all cells of its column.
    @cached_property
    def _styles(self) -> Any:
        from lookalike.show.reasons import Styles

        return Styles(self.rows.table)


def _write_error(line: dict[str, Any]) -> str:
    error, number = line["error"], line["kind"] in ("number", "date", "time")
    if error is None:
        return ""
    return f"{error:.2f} std" if number else f"{percent(error)} wrong"


def impute(
    table: args.TableLike,
    k: MaybeCount = None,
    *,
    columns: args.Columns = None,
    equal_weights: bool = False,
    draws: args.Folds = 0,
    why: bool = False,
    filter: args.Filter = None,
    seed: args.Seed = 0,
) -> Imputed:
    """Fill missing cells from the rows that are most alike, and say which rows these are.

    For each column the others are weighed by how well they predict it. A number becomes the
    weighted mean of its donors, a category the one with most votes, a text or set that of the
    nearest donor; columns that name rows stay as they are.

    Parameters
    ----------
    table : path, frame, dict of columns, Table or Index
    k : int, optional
        Donors of a cell. None: for each column the number that does best on known cells.
    columns : names, optional
        Fill these columns only; the others still say which rows are alike.
    equal_weights : bool
        Whether all columns count alike, instead of by how well they predict the one that is filled.
    draws : int
        Fill the cells so many times, each with the cell of one donor drawn at random: what differs
        between the completed tables is what is uncertain. 0: once, with the best values.
    why : bool
        Say for each cell why the nearest donor is like the row.
    filter : conditions, optional
        Only these rows are filled, and are donors; see ``search``.
    seed : int

    Returns
    -------
    Imputed

    Examples
    --------
    >>> import lookalike as la
    >>> penguins = la.datasets.load_penguins()
    >>> found = la.impute(penguins, columns="sex")
    >>> cell = found.filled_cells[0]
    >>> cell.id, cell.value, [donor["id"] for donor in cell.donors][:2]
    (3, 'female', [0, 1])
    """
    from lookalike.prediction import NeighborImputer
    from lookalike.prediction.imputation import MAX_DRAWS
    from lookalike.saving.fields import Integer, Maybe

    Integer(0, MAX_DRAWS).check("impute", "draws", draws)
    Maybe(Integer(1)).check("impute", "k", k)
    source = as_source(table)
    source.whole = True
    rows = source.rows(filter)
    wanted = split_names(columns)
    if wanted is None:  # only these need weights
        wanted = [c.name for c in rows.table if c.blank.any()] or None
    model = NeighborImputer(
        k, weights="equal" if equal_weights else "learned", columns=wanted, random_state=seed
    ).fit(rows.table)
    filled = model.impute(rows.table)
    drawn = model.vary(filled, draws) if draws else []
    # Some of the rows, or those of a file, are in no frame that could be filled in.
    given, backend = source.given, backend_of(source.given)
    if filter or source.is_path or source.is_index:
        given = rows.table
    elif backend == "duckdb":
        given = arrow_of(given)
    return Imputed(model, rows, given, filled, drawn, why, backend)
