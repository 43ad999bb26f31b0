"""What must hold of the rows of a shard: looked at when a folder is checked, not when it is opened.

A hash says that a file is as it was written, not who wrote it. What the loops of a search trust is
therefore checked as in a saved file, so that no offset and no code leads out of an array.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lookalike._decode import check_object
from lookalike._ragged import Ragged
from lookalike._shapes import Array, Shape, check_fields, require
from lookalike.errors import UnreadableFile, message
from lookalike.measures.base import Measure
from lookalike.measures.rows import Rows
from lookalike.search.shard_rows import codes_of
from lookalike.search.shard_segment import ShardSegment

__all__ = ["check_segment", "read_places"]

PLACES: dict[str, Shape] = {"places": Array("int64", "n", low=0, ascending=True)}
IDS: dict[str, Shape] = {"hash": Array("uint64", "n"), "row": Array("int64", "n", low=0, below="n")}


def check_segment(measure: Measure, segment: ShardSegment, name: str) -> None:
    """Refuse the rows of a shard that the measure would not have encoded.

    Parameters
    ----------
    measure : Measure, fitted
    segment : ShardSegment, open
    name : str, of the shard
    """
    where, rows, shard = f"Shard {name!r}", segment.rows, segment.shard
    _check_objects(rows)
    measure.check_rows(rows, where)
    check_fields({"places": segment.places}, PLACES, where, {"n": len(rows)})
    if any(key[0] == "ids" for key in shard.members):
        ids = {part: shard.array("ids", part) for part in IDS}
        check_fields(ids, IDS, f"{where}.ids", {"n": len(rows)})
    # Codes follow from the rows: to make them again is the shortest way to say what they must be.
    kept = codes_of(shard)
    expected = measure.codes_to_arrays(Rows(rows.seen, rows.arrays, rows.parts)) if kept else {}
    same = set(kept) == set(expected) and all(
        kept[key].dtype == array.dtype and np.array_equal(kept[key], array)
        for key, array in expected.items()
    )
    require(same, f"{where}.codes", "the codes of its rows", "others")


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
        found, do = f"{type(error).__name__}: {error}"[:200], "Build the folder again"
        raise UnreadableFile(
            message(f"Index folder {str(path.parent)!r}", "numbers of deleted rows", found, do)
        ) from error
    return np.asarray(found)
