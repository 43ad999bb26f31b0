"""What must hold of the rows of a shard: looked at when a folder is checked, not when it is opened.

A hash says that a file is as it was written, not who wrote it. What the loops of a search trust is
therefore checked as in a saved file, so that no offset and no code leads out of an array.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lookalike.columns.ragged import Ragged
from lookalike.errors import UnreadableFile
from lookalike.index.shards.cells import ShardTable
from lookalike.index.shards.rows import check_codes
from lookalike.index.shards.segment import ShardSegment
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows
from lookalike.saving.decode import check_object
from lookalike.saving.fields import Array, Field, check_fields, require

PLACES: dict[str, Field] = {"places": Array("int64", "n", low=0, ascending=True)}


def check_segment(measure: Measure, segment: ShardSegment, id_column: str | None) -> None:
    """Look at all that a shard holds, as at a saved file: nothing may lead out of an array.

    Parameters
    ----------
    measure : Measure, fitted
    segment : ShardSegment
    id_column : str or None
    """
    where, shard = f"Shard {segment.shard.folder.name!r}", segment.shard
    _check_objects(segment.rows)
    measure.check_rows(segment.rows, where)
    check_codes(measure, shard, segment.rows.seen)
    check_fields({"places": segment.places}, PLACES, where)
    if id_column is not None:
        hashes, rows = segment.ids
        n = len(segment)
        fits = hashes.shape == rows.shape == (n,) and rows.dtype.kind == "i"
        fits = fits and bool((hashes[1:] >= hashes[:-1]).all())
        fits = fits and np.array_equal(np.sort(rows), np.arange(n))
        require(fits, f"{where}.ids", "every row once, by the hash of its id", "others")
    assert isinstance(segment.table, ShardTable)
    segment.table.check()


def _check_objects(rows: Rows) -> None:
    """Check rows against what their classes declare, inner ones first."""
    for part in rows.parts.values():
        _check_objects(part)
    for cells in rows.arrays.values():
        if isinstance(cells, Ragged):
            check_object(cells)
    check_object(rows)


def read_places(path: Path) -> np.ndarray:
    """Return the numbers of deleted rows."""
    try:
        found = np.load(path, allow_pickle=False)
        check_fields({"places": found}, PLACES, path.name)
    except Exception as error:  # whatever a damaged file makes of the reader
        found, hint = f"{type(error).__name__}: {error}"[:200], "Take the folder from a copy"
        raise UnreadableFile(
            f"Index folder {str(path.parent)!r}", "numbers of deleted rows", found, hint
        ) from error
    return np.asarray(found)
