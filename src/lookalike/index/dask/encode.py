"""From files to an index in a folder, and more files into it, written by many workers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lookalike._runtime.files import make_folder
from lookalike._runtime.locks import locked
from lookalike._version import __version__
from lookalike.errors import InPython, InvalidInput, Phrase
from lookalike.index import Index
from lookalike.index.dask.clients import connect
from lookalike.index.dask.learning import ManyLearn, learning_in
from lookalike.index.dask.parts import Part, run_parts
from lookalike.index.dask.summary import Summary
from lookalike.index.dask.tasks import add_part, encode_part
from lookalike.index.shards.build import (
    SHARD_ROWS,
    WHO,
    begin_adding,
    finish,
    finish_adding,
    read_plan,
)
from lookalike.index.shards.from_files import begin_build, read_source
from lookalike.table import LazyTable
from lookalike.table.formats.lazy import read_lazy
from lookalike.table.infer.learning import Learner
from lookalike.table.read import missing_tokens


def read_table(
    paths: Any,
    client: Any = None,
    *,
    kinds: Mapping[Any, Any] | None = None,
    missing: Any = None,
) -> LazyTable:
    """Say what the columns of Parquet files hold, the files looked through by many workers.

    The table that ``lookalike.read_table(paths, lazy=True)`` returns.

    Parameters
    ----------
    paths : paths of Parquet files, a folder of them, or a pattern
        Every worker must see them under the same paths.
    client : distributed.Client, address of a scheduler, or None
        Who does the work (see ``connect``).
    kinds, missing : as in ``lookalike.read_table``

    Examples
    --------
    >>> from lookalike.index.dask import read_table
    >>> table = read_table("rows/*.parquet", "tcp://scheduler:8786")  # doctest: +SKIP
    """
    with connect(client) as workers:
        table = read_lazy(paths, kinds, missing_tokens(missing), ManyLearn(workers))
    return table.learned_by(Learner())


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

    The workers look through the files, count the values of their columns and encode the rows; what
    they have counted is put together here. (``Vector`` and ``StochasticForest`` also read the rows
    here, in one pass.) A build that was stopped goes on where it was, and the folder is the one
    that ``lookalike.index.build_index`` makes, byte for byte.

    Parameters
    ----------
    paths : paths of Parquet files, as ``read_table(paths, lazy=True)`` takes them, or its table
        Every worker must see them, and the folder, under the same paths.
    folder : path
        Made if it is not there.
    measure : Measure, name of one, or "auto"
    client : distributed.Client, address of a scheduler, or None
        Who does the work (see ``connect``).
    id_column, kinds, shard_rows : as in ``lookalike.index.build_index``
    tell : callable
        Told a ``Summary`` when it is done.

    Examples
    --------
    >>> from lookalike.index.dask import fit_encode
    >>> index = fit_encode(
    ...     "rows/*.parquet", "rows.index", client="tcp://scheduler:8786", tell=print
    ... )  # doctest: +SKIP
    """
    path = make_folder(Path(folder).absolute())
    read_plan(path)  # a folder of something else is refused before anything is written there
    with connect(client) as workers, locked(path, WHO), learning_in(workers, path) as learner:
        table = read_source(paths, id_column, kinds, learner)
        if not isinstance(table, LazyTable):
            hint = Phrase(
                "Write the table as Parquet", InPython(", or use lookalike.index.build_index")
            )
            needed = "Parquet files, which workers can read"
            raise InvalidInput(WHO, needed, "a table in memory", hint)
        build = begin_build(
            table, path, measure, id_column=id_column, kinds=kinds, shard_rows=shard_rows
        )
        files = tuple(str(path.absolute()) for path in table.files)
        args = (str(path), __version__, files)
        parts = [
            Part((*args, number), build.finished(number) is not None) for number in build.numbers
        ]
        summary = run_parts(workers, encode_part, parts, "encoded")
        finish(build)
    tell(summary)
    return Index.open(path)


def add(
    folder: str | os.PathLike[str],
    paths: Any,
    client: Any = None,
    *,
    tell: Callable[[Summary], None] = lambda summary: None,
) -> int:
    """Add the rows of Parquet files to an index in a folder by many workers; return how many.

    As ``Index.add_files``: all rows are in the index when it returns, or none of them.

    Parameters
    ----------
    folder : path of an index
    paths : paths of Parquet files, a folder of them, or a pattern
        Every worker must see them, and the folder, under the same paths.
    client : distributed.Client, address of a scheduler, or None
        Who does the work (see ``connect``).
    tell : callable
        Told a ``Summary`` when it is done.

    Examples
    --------
    >>> from lookalike.index.dask import add
    >>> add("rows.index", "more/*.parquet", "tcp://scheduler:8786")  # doctest: +SKIP
    """
    path = Path(folder).absolute()
    with connect(client) as workers, locked(path, "scale.add"):
        addition = begin_adding(path, paths)
        files = tuple(str(path.absolute()) for path in addition.files.files)
        args = (str(path), __version__, addition.folder.manifest.mark, files)
        parts = [Part((*args, number)) for number in range(len(addition.parts))]
        summary = run_parts(workers, add_part, parts, "added")
        finish_adding(addition)
    tell(summary)
    return len(addition.files)
