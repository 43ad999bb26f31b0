"""From cells as they arrive to the arrays that each kind keeps, at fitting and for new rows alike.

Every reader takes the raw column, its kind and ``fitted``: False while levels and widths are still
learned, True when the kind comes from a fitted table and new values must fit it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lookalike.table.formats.raw import Raw, is_number, missing_words, neutralise, of_values
from lookalike.table.infer import codes, lists, nested, numbers
from lookalike.table.model.kind import Kind, Reading
from lookalike.table.model.table import Column

# Kinds whose cells hold several things; a sequence may be a string as it is.
LISTS = ("set", "sequence", "series", "histogram", "vector")


def convert(raw: Raw, kind: Kind, *, fitted: bool = False) -> Column:
    """Read a column as a kind.

    Parameters
    ----------
    raw : Raw
    kind : Kind
    fitted : bool
        Whether the kind was fitted on other rows: then its levels are final, and an unknown
        category is marked instead of learned.

    Returns
    -------
    Column
    """
    reading = kind.reading or Reading()
    raw = neutralise(raw).without(reading.missing_words)
    # Numbers find their own words for missing; a code given by the caller keeps all its words.
    if raw.is_text and kind.name != "number" and (fitted or kind.role != "code"):
        raw = raw.without(_missing_words(raw, kind))
    if raw.is_text and (reading.what == "list" or kind.name in LISTS):
        raw, kind = lists.read_lists_as(raw, kind)
    return _READERS[kind.name](raw, kind, fitted)


def _missing_words(raw: Raw, kind: Kind) -> list[str]:
    """Return the words of a text column that mean "missing" beside its other words and levels."""
    words = pc.utf8_trim_whitespace(raw.words)
    levels = [level.strip() for level in kind.levels if isinstance(level, str)]
    if levels:
        words = pa.concat_arrays([words, pa.array(levels, words.type)])
    return [word for word in missing_words(words) if word not in levels]


def raw_of_column(column: Column) -> Raw:
    """Turn a typed column back into cells, so that it can be read as another kind."""
    name, kind = column.name, column.kind
    if kind.name == "number" and kind.source == "":
        return Raw(name, pa.array(np.ascontiguousarray(column.values), from_pandas=True))
    if kind.name in ("category", "order") and not column.unknown:
        levels = of_values(name, kind.levels)
        if levels.is_arrow:
            if levels.is_text:
                levels = replace(levels, cells=levels.cells.dictionary_decode())
            indices = pa.array(column.values, mask=column.values < 0)
            return Raw(name, pa.DictionaryArray.from_arrays(indices, levels.cells), kind.name)
    return of_values(name, [column.cell(row) for row in range(len(column))])


_READERS: dict[str, Callable[[Raw, Kind, bool], Column]] = {
    "number": numbers.read_number,
    "category": codes.read_category,
    "order": codes.read_order,
    "flag": codes.read_flag,
    "text": nested.read_text,
    "set": nested.read_set,
    "sequence": nested.read_sequence,
    "series": nested.read_series,
    "histogram": nested.read_matrix,
    "vector": nested.read_matrix,
    "graph": nested.read_graph,
    "object": nested.read_object,
}


def set_aside(raw: Raw, reason: str) -> Column:
    """Keep a column for display only, with the reason for not comparing it."""
    name = "text" if raw.is_text else "object"
    if raw.is_arrow and is_number(raw.type):
        name = "number"
    return convert(raw, Kind(name, reason))
