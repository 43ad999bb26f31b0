"""Answers as data frames of whatever library the user has."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from lookalike.errors import MissingExtra
from lookalike.saving.fields import Choice

BACKEND = Choice("pandas", "polars", "pyarrow", "duckdb")


class FrameMixin:
    """Gives ``to_pandas`` and the Arrow C stream to what has ``to_frame``."""

    to_frame: Callable[..., Any]

    def to_pandas(self) -> Any:
        """Return the same as ``to_frame()``: a pandas frame."""
        return self.to_frame("pandas")

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Export the frame: ``polars.DataFrame(hits)``, ``duckdb.sql("FROM hits")``."""
        return self.to_frame("pyarrow").__arrow_c_stream__(requested_schema)


def make_frame(columns: Mapping[str, Sequence[Any]], backend: str = "pandas") -> Any:
    """Return columns as a data frame.

    Parameters
    ----------
    columns : mapping of name to values
    backend : {"pandas", "polars", "pyarrow", "duckdb"}
    """
    with _installed(backend):
        if backend == "pandas":
            import pandas as pd

            return pd.DataFrame(dict(columns))
        if backend == "polars":
            import polars as pl

            return pl.DataFrame(dict(columns))
    return frame_of_arrow(pa.table(dict(columns)), backend)


@contextmanager
def _installed(backend: str) -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        text = f"to_frame: {backend} is not installed. Install it, or choose another backend."
        raise MissingExtra(text) from error


def frame_of_records(records: Sequence[Mapping[str, Any]], backend: str = "pandas") -> Any:
    """Return records as a data frame; a mapping becomes JSON text, a missing entry None.

    Parameters
    ----------
    records : one mapping of name to value per row
    backend : {"pandas", "polars", "pyarrow", "duckdb"}
    """
    names = list(dict.fromkeys(name for record in records for name in record))
    columns = {name: _one_type([record.get(name) for record in records]) for name in names}
    return make_frame(columns, backend)


def _one_type(cells: list[Any]) -> list[Any]:
    """Return cells of one type: mappings as JSON, and words beside numbers make all of it words."""
    cells = [json.dumps(c, default=repr) if isinstance(c, dict) else c for c in cells]
    if any(isinstance(cell, str) for cell in cells):
        cells = [None if cell is None else str(cell) for cell in cells]
    return cells


def backend_of(given: Any) -> str:
    """Return the library that a frame is of; "pandas" for anything else.

    Examples
    --------
    >>> backend_of(pa.table({"size": [1]})), backend_of("films.csv")
    ('pyarrow', 'pandas')
    """
    library = type(given).__module__.partition(".")[0].lstrip("_")
    return library if library in BACKEND.values else "pandas"


def arrow_of(given: Any) -> Any:
    """Return a frame as an Arrow table; None for anything else, or for cells Arrow has no type for.

    Parameters
    ----------
    given : a frame of pandas, polars, pyarrow or DuckDB, or anything
    """
    import narwhals as nw

    frame: Any = nw.from_native(given, pass_through=True)
    if frame is given:
        return None
    frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    try:
        return frame.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return None  # a set in a column of pandas


def frame_of_arrow(table: Any, backend: Any = "pandas") -> Any:
    """Return an Arrow table as a data frame, or as a relation of DuckDB.

    Parameters
    ----------
    table : pyarrow.Table
    backend : {"pandas", "polars", "pyarrow", "duckdb"}
    """
    import narwhals as nw

    BACKEND.check("to_frame", "backend", backend)
    with _installed(backend):
        if backend == "duckdb":
            import duckdb

            return duckdb.from_arrow(table)
        return nw.from_arrow(table, backend=backend).to_native()


def is_frame(given: Any) -> bool:
    """Whether something is a data frame in memory, of pandas, polars or pyarrow."""
    import narwhals as nw

    return isinstance(nw.from_native(given, pass_through=True, eager_only=True), nw.DataFrame)


def replace_cells(frame: Any, cells: Mapping[str, tuple[Any, Sequence[Any]]]) -> Any:
    """Return a frame with other values in some of its cells; it keeps its index and its types.

    A column of which all cells are replaced has the type of the values.

    Parameters
    ----------
    frame : data frame of pandas, polars or pyarrow
    cells : mapping of column to the positions of cells and their values
    """
    import narwhals as nw

    read: Any = nw.from_native(frame, eager_only=True)
    columns = []
    for name, (rows, values) in cells.items():
        dtype = read[name].dtype
        if len(rows) < len(read) and not dtype.is_nested():
            if dtype.is_integer():
                values = [round(value) for value in values]
            native = read[name].to_native()
            if isinstance(native, pa.ChunkedArray):  # Arrow mixes no short with long strings
                exact = pa.chunked_array([pa.array(values, native.type)])
                values = nw.from_native(exact, series_only=True)
            columns.append(read[name].scatter(rows.tolist(), values))
            continue
        whole = read[name].to_list()  # narwhals replaces whole columns only
        for row, value in zip(rows.tolist(), values, strict=True):
            whole[row] = value
        kept = dtype if dtype.is_nested() and len(rows) < len(read) else None
        columns.append(nw.new_series(name, whole, kept, backend=read.implementation))
    return read.with_columns(*columns).to_native() if columns else frame


def stack_frames(frames: Sequence[Any], name: str) -> Any:
    """Return frames one below the other, with their numbers, from 1, in a first column.

    Parameters
    ----------
    frames : data frames of one library, with the same columns
    name : str, of the first column
    """
    import narwhals as nw

    read = [nw.from_native(frame, eager_only=True) for frame in frames]
    numbered = [frame.select(nw.lit(i).alias(name), nw.all()) for i, frame in enumerate(read, 1)]
    return nw.concat(numbered).to_native()
