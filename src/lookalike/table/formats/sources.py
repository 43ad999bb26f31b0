"""Frames, arrays, dictionaries and lists, taken apart into columns as they arrive.

The only module that knows dataframe libraries, and it knows them through narwhals alone: pandas,
polars and duckdb are never imported.
"""

import itertools
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from lookalike.errors import InPython, InvalidInput, WrongType
from lookalike.table.formats.delimited import CsvOptions
from lookalike.table.formats.files import read_file
from lookalike.table.formats.raw import Raw, of_array, of_arrow, of_values, records_to_raw
from lookalike.table.model.cells import convert
from lookalike.table.model.kind import Kind
from lookalike.table.model.table import Table, check_columns

UNNAMED = "unnamed"
# Words that scikit-learn's checks look for.
TWO_AXES = InPython(" (Expected 2D array)")


def numeric_array(source: Any) -> np.ndarray | None:
    """Return an array of numbers as a matrix of floats, checked for its shape; else None."""
    if hasattr(source, "tocsr") and hasattr(source, "toarray"):
        found = f"sparse data ({type(source).__name__})"
        hint = "Sparse input is not supported: call .toarray() if it fits in memory"
        raise WrongType("read_table", "a dense table", found, InPython(hint))
    if isinstance(source, list | tuple) and source:
        source = _array_of_rows(source)
    if not isinstance(source, np.ndarray) or source.dtype.names is not None:
        return None
    _check_axes(source)
    single = source.dtype in (np.float16, np.float32)
    is_number = source.dtype.kind in "fiub"
    return source.astype(np.float32 if single else np.float64, copy=False) if is_number else None


def _array_of_rows(rows: Sequence[Any]) -> np.ndarray | None:
    """Return rows of numbers as one array; None where they are something else."""
    if not isinstance(rows[0], list | tuple | np.ndarray):
        return None
    try:
        array = np.asarray(rows)
    except ValueError:  # rows of unequal length: named later
        return None
    return array if array.dtype.kind in "fiubc" else None


def _check_axes(array: np.ndarray) -> None:
    if array.ndim == 2:
        check_shape(*array.shape)
        return
    found = f"a {array.ndim}D array of shape {array.shape}"
    hint = "Reshape your data: X.reshape(-1, 1) makes one column of it, X.reshape(1, -1) one row"
    raise InvalidInput("read_table", ("rows and columns", TWO_AXES), found, InPython(hint))


def check_shape(n_rows: int, n_columns: int) -> None:
    """Refuse a table without rows or without columns."""
    for count, what, hint in (
        (n_columns, "feature(s)", "Give the table at least one column"),
        (n_rows, "sample(s)", "Give the table at least one row"),
    ):
        if count == 0:
            # The wording is scikit-learn's, which tools look for.
            words = f": Found array with 0 {what} (shape=({n_rows}, {n_columns})) "
            words += "while a minimum of 1 is required"
            found = ("an empty table", InPython(words))
            raise InvalidInput("read_table", "rows and columns", found, hint)


def raw_columns(source: Any, options: CsvOptions) -> list[Raw]:
    """Take any source apart into columns; names are checked, and so is that there are rows."""
    if isinstance(source, str | os.PathLike):
        raws = read_file(Path(source).expanduser(), options)
    elif isinstance(source, np.ndarray):
        raws = _array_columns(source)
    elif isinstance(source, Mapping):
        raws = [_column(str(name), cells) for name, cells in source.items()]
    elif isinstance(source, nw.DataFrame):
        raws = _frame_columns(source)
    elif isinstance(source, list | tuple):
        raws = _row_columns(source)
    elif hasattr(source, "__arrow_c_stream__"):  # readers of batches, Ibis, results of verbs
        raws = _frame_columns(nw.from_native(pa.table(source), eager_only=True))
    else:
        needed = "a file, a frame, an array, a dictionary of columns or a list of records"
        raise WrongType("read_table", needed, type(source).__name__, "Turn it into one of these")
    raws = _name_unnamed(raws)
    check_columns("read_table", raws)
    check_shape(len(raws[0]) if raws else 0, len(raws))
    return raws


def _name_unnamed(raws: list[Raw]) -> list[Raw]:
    """Tell columns without a name apart: "unnamed", "unnamed_2", ..."""
    # Two columns without a name would be one; names that are there keep their columns.
    taken = {raw.name for raw in raws}
    numbered = (f"{UNNAMED}_{number}" for number in itertools.count(2))
    free = itertools.chain([UNNAMED], (name for name in numbered if name not in taken))
    return [r if r.name.strip() not in ("", UNNAMED) else replace(r, name=next(free)) for r in raws]


def _array_columns(array: np.ndarray) -> list[Raw]:
    if array.dtype.names is not None:
        return [of_array(name, array[name]) for name in array.dtype.names]
    _check_axes(array)
    raws = [of_array(f"x{j}", array[:, j]) for j in range(array.shape[1])]
    for raw in raws:
        # A dictionary among numbers is a mistake, not a new kind of column.
        types = () if raw.is_arrow else {type(cell) for cell in raw.cells}
        if not {int, float}.isdisjoint(types) and not {dict, list, tuple, set}.isdisjoint(types):
            convert(raw, Kind("number"))  # says which cell it is
    return raws


def _column(name: str, cells: Any) -> Raw:
    if isinstance(cells, pa.Array | pa.ChunkedArray):
        return of_arrow(name, cells)
    if isinstance(cells, np.ndarray) and cells.ndim > 0:
        return of_array(name, cells)
    series = nw.from_native(cells, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return _series_column(name, series)
    if hasattr(cells, "dtype") and hasattr(cells, "__array__"):
        # The bare arrays of pandas, whose categories Arrow knows.
        try:
            known = pa.array(cells, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError):
            return of_array(name, np.asarray(cells))
        if not isinstance(known.type, pa.BaseExtensionType):
            return of_arrow(name, known)
    if isinstance(cells, str | bytes | Mapping) or not isinstance(cells, Iterable):
        found = f"{type(cells).__name__} {cells!r:.40} in column {name!r}"
        hint = "Give one row as a list with one record: [{...}]"
        needed = "a dictionary of columns, each a list of cells"
        raise InvalidInput("read_table", needed, found, hint)
    return of_values(name, cells)


def unwrap(source: Any) -> Any:
    """Return frames as narwhals frames and whatever else has an array inside as that array."""
    if isinstance(source, np.ma.MaskedArray) and source.dtype.kind in "fiub":
        return np.ma.filled(source.astype(np.float64), np.nan)
    if isinstance(source, np.ndarray):
        # A np.matrix would keep two axes when it is cut.
        return np.asarray(source)
    if isinstance(source, str | os.PathLike | Table | Mapping | list | tuple):
        return source
    try:
        frame = nw.from_native(source, pass_through=True)
    except ValueError as error:  # two columns of one name; a DuplicateError in newer versions
        found = " ".join(str(error).split())
        needed, hint = "column names that differ", "Rename one of them"
        raise InvalidInput("read_table", needed, found, hint) from error
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, nw.DataFrame) or not hasattr(source, "__array__"):
        return frame
    return np.asarray(source)


def has_no_names(source: Any) -> bool:
    """Whether the columns of the source are known by their position only."""
    if isinstance(source, np.ndarray):
        return source.dtype.names is None
    return isinstance(source, list | tuple) and not isinstance(source[0], Mapping)


def _frame_columns(frame: Any) -> list[Raw]:
    check_shape(len(frame), len(frame.columns))
    # A name of several levels, as pandas makes in a pivot, is joined.
    flat = ["_".join(map(str, n)) if isinstance(n, tuple) else str(n) for n in frame.columns]
    named = zip(flat, frame.columns, strict=True)
    return [_series_column(name, frame.get_column(column)) for name, column in named]


def _series_column(name: str, series: Any) -> Raw:
    if series.dtype == nw.Object:
        return of_values(name, series.to_list())
    try:
        cells = series.to_arrow()
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError):
        return of_values(name, series.to_list())
    levels = cells.type.value_type if pa.types.is_dictionary(cells.type) else None
    if isinstance(levels, pa.BaseExtensionType) and hasattr(levels, "closed"):
        # What pandas.cut makes: categories that are intervals, written as "(18, 24]".
        written = series.to_native().cat.rename_categories(str)
        return _series_column(name, nw.from_native(written, series_only=True))
    if isinstance(cells.type, pa.BaseExtensionType) or isinstance(levels, pa.BaseExtensionType):
        return of_values(name, series.to_list())
    # A polars Enum is ordered by definition, which says little about its meaning.
    enum = series.dtype == nw.Enum and series.implementation.is_polars()
    return replace(of_arrow(name, cells, declared="enum" if enum else None), typed=True)


def _row_columns(rows: Sequence[Any]) -> list[Raw]:
    if not rows:
        check_shape(0, 0)
    if isinstance(rows[0], Mapping):
        return records_to_raw(rows)
    if isinstance(rows[0], list | tuple | np.ndarray):
        width = len(rows[0])
        for number, row in enumerate(rows):
            if not isinstance(row, list | tuple | np.ndarray) or len(row) != width:
                found = f"{row!r:.40} in row {number}"
                hint = "Give every row one cell per column"
                raise InvalidInput("read_table", f"{width} cells in every row", found, hint)
        check_shape(len(rows), width)
        return [of_values(f"x{j}", cells) for j, cells in enumerate(zip(*rows, strict=True))]
    found = f"a list of {type(rows[0]).__name__}, which has one axis"
    hint = "ive a dictionary of columns, a list of records or a list of rows"
    reshape = InPython("Reshape your data: g")
    raise InvalidInput("read_table", ("records or rows", TWO_AXES), found, (reshape, hint))
