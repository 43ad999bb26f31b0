"""What was uploaded comes back from the service: by rows, by id and in hits, from every format."""

import datetime as dt
import itertools

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from table.test_as_written import (
    FLAT,
    FORMATS,
    NESTED,
    TYPED,
    WORDS,
    as_excel_keeps,
    means_missing,
    plain,
    rows_of,
    source_in,
)

NAMES = itertools.count()


def every_way_back(client, source, kinds=None):
    """The cells of column "c" as the service returns them."""
    name = f"written{next(NAMES)}"
    client.create(name, file=source, kinds=kinds or {})
    try:
        found = {row["id"]: row["row"].get("c") for row in client.rows(name)}
        yield "rows", list(found.values())
        yield "row", [client.row(name, id)["row"].get("c") for id in found]
        first, *others = found
        hits = client.search(name, first, k=len(found))["hits"]
        hit_cells = {hit["id"]: hit["row"].get("c") for hit in hits}
        yield "hits", [found[first], *(hit_cells[id] for id in others)]
        added = client.add(name, [{"c": found[id], "at": 1.5} for id in found])["ids"]
        yield "added", [client.row(name, id)["row"].get("c") for id in added]
    finally:
        client.drop(name)


@settings(max_examples=25)
@given(st.sampled_from(sorted(FORMATS)), st.sampled_from(sorted(WORDS)).flatmap(WORDS.get))
def test_words_come_back_letter_by_letter(server, tmp_path_factory, form, cells):
    assume(any(not means_missing(cell) for cell in cells))
    if form == "c.xlsx":  # a cell of blanks is an empty one there
        cells = [cell if cell is None or cell.strip() else None for cell in cells]
    source = source_in(form, rows_of(cells), tmp_path_factory.getbasetemp())
    for way, back in every_way_back(server, source):
        for cell, got in zip(cells, back, strict=True):
            if got is None or got == "":
                assert means_missing(cell), way
            elif isinstance(got, bool):
                assert cell.strip().casefold() == str(got).casefold(), way
            else:
                assert got == cell, way


def from_json(cell, kind):
    return dt.datetime.fromisoformat(cell) if kind == "date" and cell is not None else cell


@pytest.mark.parametrize("kind", ["number", "date", "flag", *sorted(NESTED)])
@settings(max_examples=8)
@given(st.data())
def test_typed_cells_come_back(server, tmp_path_factory, kind, data):
    forms = [form for form in FORMATS if not (kind in NESTED and form in FLAT)]
    form, cells = data.draw(st.sampled_from(forms)), data.draw(TYPED[kind])
    assume(not all(cell is None for cell in cells))
    if form == "c.xlsx":
        cells = list(map(as_excel_keeps, cells))
    wanted = [plain(cell, kind) for cell in cells]
    source = source_in(form, rows_of(cells), tmp_path_factory.getbasetemp())
    for way, back in every_way_back(server, source, {"c": kind}):
        assert [plain(from_json(cell, kind), kind) for cell in back] == wanted, (form, way)
