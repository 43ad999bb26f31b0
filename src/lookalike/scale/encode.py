"""From files to an index in a folder, its shards written by many workers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lookalike._lock import locked
from lookalike._version import __version__
from lookalike.scale.clients import connect
from lookalike.scale.parts import Part, run_parts
from lookalike.scale.summary import Summary
from lookalike.scale.tasks import encode_part
from lookalike.search import Index
from lookalike.search.shard_build import SHARD_ROWS, WHO, finish
from lookalike.search.shard_index import begin_build
from lookalike.table import LazyTable
from lookalike.table.parquet_parts import find_files

__all__ = ["fit_encode"]


def fit_encode(
    paths: Any,
    folder: str | os.PathLike[str],
    measure: Any = "auto",
    client: Any = None,
    *,
    id_column: str | None = None,
    kinds: Mapping[str, Any] | None = None,
    shard_rows: int = SHARD_ROWS,
    tell: Callable[[Summary], None] = lambda summary: None,
) -> Index:
    """Build an index in a folder from Parquet files, its shards written by many workers.

    What is learned is learned here, in one pass over the files; encoding, which is most of the
    work, is done by the workers. A build that was stopped goes on where it was, and the folder is
    the one that ``lookalike.search.build_index`` makes, byte for byte.

    Parameters
    ----------
    paths : paths of Parquet files, as ``read_table(paths, lazy=True)`` takes them, or its table
        Every worker must see them, and the folder, under the same paths.
    folder : path
        Made if it is not there.
    measure : Measure, name of one, or "auto"
    client : distributed.Client, address of a scheduler, or None
        Who does the work (see ``connect``).
    id_column, kinds, shard_rows : as in ``lookalike.search.build_index``
    tell : callable
        Told a ``Summary`` when it is done.

    Examples
    --------
    >>> from lookalike.scale import fit_encode
    >>> index = fit_encode(
    ...     "rows/*.parquet", "rows.index", client="tcp://scheduler:8786", tell=print
    ... )  # doctest: +SKIP
    """
    place = Path(folder).absolute()
    table = paths if isinstance(paths, LazyTable) else find_files(paths)
    listed = table.files if isinstance(table, LazyTable) else table
    files = tuple(str(path.absolute()) for path in listed)
    place.mkdir(parents=True, exist_ok=True)
    with connect(client) as workers, locked(place, WHO):
        build = begin_build(
            table, place, measure, id_column=id_column, kinds=kinds, shard_rows=shard_rows
        )
        args = (str(place), __version__, files)
        parts = [
            Part((*args, number), build.finished(number) is not None)
            for number in range(build.n_shards)
        ]
        summary = run_parts(workers, encode_part, parts, "encoded")
        finish(build)
    tell(summary)
    return Index.open(place)
