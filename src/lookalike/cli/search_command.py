"""``lookalike search``: the rows nearest to a row of the table, or to a record given as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike.cli import output as out
from lookalike.cli.compiling import compile_note
from lookalike.cli.folders import asked_by
from lookalike.cli.hits import show_hits, to_json, to_rows
from lookalike.cli.measure import AUTO, in_words, read_measure, set_seed
from lookalike.cli.options import (
    Columns,
    Form,
    MeasureOrAuto,
    Scheduler,
    Seed,
    Weight,
    read_json,
    read_weights,
    select_columns,
)
from lookalike.cli.source import Source, parse_conditions, takes_table
from lookalike.errors import InvalidInput, suggest

if TYPE_CHECKING:
    from lookalike.index import Hits, Index

EXAMPLES = (
    "lookalike search films.csv --row 17 -k 5 --why",
    """lookalike search films.csv --like '{"title": "Alien", "year": 1979}'""",
    "lookalike search films.csv --row 17 --weight length=3 --filter 'year>=1990'",
    "lookalike search films.csv --like 17 --like 20 --unlike 3",
)


@takes_table
def search(
    source: Source,
    row: Annotated[
        str | None,
        typer.Option(
            "--row",
            metavar="ROW",
            help="Which row to start from, counted from 0; of a saved index its id.",
            show_default=False,
        ),
    ] = None,
    like: Annotated[
        list[str] | None,
        typer.Option(
            "--like",
            metavar="JSON|ROW",
            help="A record to start from, such as '{\"year\": 1977}' (columns it does not name "
            "are missing); or a row that answers should be like. May be repeated.",
            show_default=False,
        ),
    ] = None,
    unlike: Annotated[
        list[str] | None,
        typer.Option(
            "--unlike",
            metavar="ROW",
            help="A row that answers should not be like. May be repeated.",
            show_default=False,
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", metavar="N", min=1, help="How many rows to find.")] = 10,
    measure: MeasureOrAuto = None,
    weight: Weight = None,
    columns: Columns = None,
    why: Annotated[
        bool,
        typer.Option("--why", help="Show the two strongest reasons for and against each row."),
    ] = False,
    seed: Seed = 0,
    scheduler: Scheduler = None,
    output: Form = out.Output.table,
) -> None:
    """Find the rows most like a row of the table, or like a record."""
    start, liked = read_start(row, like or [])
    if not source.is_saved:  # said before any work; the ids of a saved index may be words
        typed = ([] if isinstance(start, dict) else [start], liked, unlike or [])
        first = "--like" if row is None else "--row"
        for option, words in zip((first, "--like", "--unlike"), typed, strict=True):
            for word in words:
                as_number(word, option)
    weights = read_weights(weight)
    given = AUTO if measure is None else read_measure(measure)
    with compile_note(), asked_by(scheduler, source.file) as workers:
        index, reason, names = get_index(source, measure, given, weights, columns, seed)
        ids = Ids(index)
        option = "--like" if row is None else "--row"
        query = start if isinstance(start, dict) else ids.find(start, option)
        table = index.sample
        hits: Hits = (workers or index).search(  # type: ignore[assignment]
            query,
            k,
            like=[ids.find(word, "--like") for word in liked],
            unlike=[ids.find(word, "--unlike") for word in unlike or ()],
            filter=parse_conditions(source.filter, table) if source.filter else None,
            weights=weights,
            columns=names,
        )
    name = type(index.measure_).__name__
    asked = None if isinstance(query, dict) else query
    if output is out.Output.table and not hits:
        why_none = "no row meets the filter: take a condition out"
        out.note(why_none if source.filter else "there is no other row to find")
        return
    if output is out.Output.table:
        what = "the record" if asked is None else f"row {asked}"
        rows = f"{len(hits)} rows" if len(hits) != 1 else "row"
        title = f"{source.name}: the {rows} most like {what}, by {in_words(index.measure_)}"
        show_hits(hits, table, asked, title, why=why, reason=reason)
    else:
        about = {"measure": name, "reason": reason}
        out.write(output, *to_rows(hits, table, why), lambda: about | to_json(hits, asked, why))
    if len(hits) < k:
        rows = "1 row" if len(hits) == 1 else f"{len(hits):,} rows"
        out.note(f"only {rows} can be found; {k:,} were asked for")
    undefined = sum(hit.distance is None for hit in hits)
    if undefined:
        out.note(
            f"{undefined} of the {len(hits)} rows found have nothing to compare: "
            "no column is filled in both"
        )


def read_start(row: str | None, like: list[str]) -> tuple[dict[str, Any] | str, list[str]]:
    """Return what to start from, a record or the name of a row, and the rows that are liked."""
    records = [word for word in like if word.lstrip().startswith(("{", "["))]
    liked = [word for word in like if word not in records]
    if row is None and not records and liked:
        row, *liked = liked
    if (row is None) == (not records) or len(records) > 1:  # typer has no word for "one of the two"
        raise typer.BadParameter(
            "say what to look for: a row of the table (--row 17) or a record "
            """(--like '{"year": 1977}'), one of the two""",
            param_hint="--row/--like",
        )
    if row is None:
        return read_json(records[0], "--like"), liked
    return row, liked


def get_index(
    source: Source,
    measure: str | None,
    given: Any,
    weights: dict[str, float] | None,
    columns: str | None,
    seed: int,
) -> tuple[Index, str | None, list[str] | None]:
    """Return the index to ask, why it compares as it does, and the columns still to be chosen."""
    from lookalike.index import Index, choose_measure

    if source.is_saved:
        if measure is not None:
            hint = "Leave it out, or build another index"
            found = "a saved index, which has its own"
            raise InvalidInput("--measure", "a table to fit it to", found, hint)
        index = source.load_index()
        chosen = None if columns is None else list(select_columns(index.sample, columns).names)
        reason = None if index.reason_ == "given" else index.reason_
        return index, reason, chosen
    table = select_columns(source.read(), columns)
    reason = None
    if given == AUTO and weights:
        given, reason = choose_measure(table, weighs_columns=True)
    if not isinstance(given, str):
        set_seed(given, seed)
    index = Index(given).fit(table)
    return index, index.reason_ if isinstance(given, str) else reason, None


def as_number(word: str, option: str) -> int:
    """Return the number of a row that was typed."""
    try:
        return int(word)
    except ValueError:
        what = f"{word!r} is not the number of a row"
        raise typer.BadParameter(what, param_hint=option) from None


class Ids:
    """The ids of an index, as people type them."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.counted = index.id_column is None and not index.state_.id_column
        self.last = index.state_.segments.next_place - 1

    def find(self, word: str, option: str) -> Any:
        """Return the id that was typed.

        Parameters
        ----------
        word : str
        option : str, where it was typed
        """
        if self.counted:
            number = as_number(word, option)
            if 0 <= number <= self.last:
                return number  # one that was deleted is named by the index
            hint = "Count rows from 0, without the line of headings"
            raise InvalidInput(option, f"a row from 0 to {self.last}", word, hint)
        if word in self.index:
            return word
        names = self.index.state_.names.of(self.index.state_.segments.places[:1000])
        ids = self.index.ids if self.index.folder is None else names
        for id in ids:
            if str(id) == word:
                return id
        if word.lstrip("-").isdigit() and int(word) in self.index:
            return int(word)
        hint = suggest(word, map(str, ids[:1000]))
        raise InvalidInput(option, "the id of a row", repr(word), hint)
