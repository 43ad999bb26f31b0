"""What long work has found, beside the rows: a cache, believed only if its hash is right.

A result belongs to one generation of a collection: when rows have changed it is of no use any more,
and goes when the next one is kept. It is a text and some arrays; nothing in it is ever run.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa

from lookalike._version import __version__
from lookalike.service.cells import dumps
from lookalike.service.store import tables as t
from lookalike.service.store.engine import Database
from lookalike.service.store.store import now

MOST = 2**26  # bytes of one result
MANY = 8  # results of one collection; the oldest go
TEXT = "about"  # the name of the text among the arrays


class Kept(NamedTuple):
    """What is kept of a result: what JSON can hold, and arrays by name."""

    about: dict[str, Any]
    arrays: Mapping[str, np.ndarray]


def save_result(database: Database, key: int, kind: str, generation: int, kept: Kept) -> bool:
    """Keep a result, in the place of older ones; return whether it is small enough to be kept.

    Parameters
    ----------
    database : Database
    key : int, the collection
    kind : str, what was asked, with its parameters
    generation : int
        Of the rows that were looked at.
    kept : Kept
    """
    data = _pack(kept)
    if len(data) > MOST:
        return False
    c = t.results.c
    with database.write() as connection:
        alive = sa.select(t.collections.c.key).where(t.collections.c.key == key)
        if connection.execute(alive).scalar() is None:
            return False  # deleted meanwhile
        stale = sa.or_(c.generation < generation, c.kind == kind, c.version != __version__)
        connection.execute(t.results.delete().where(c.collection == key, stale))
        newest = sa.select(c.kind).where(c.collection == key).order_by(c.made.desc(), c.kind)
        for (old,) in connection.execute(newest.offset(MANY - 1)).all():
            connection.execute(t.results.delete().where(c.collection == key, c.kind == old))
        connection.execute(
            t.results.insert().values(
                collection=key,
                kind=kind,
                generation=generation,
                version=__version__,
                made=now(),
                hash=hashlib.sha256(data).hexdigest(),
                bytes=data,
            )
        )
    return True


def load_result(database: Database, key: int, kind: str, generation: int) -> Kept | None:
    """Return a result that was kept for this generation; None where none is whole."""
    c = t.results.c
    query = sa.select(c.hash, c.bytes).where(
        c.collection == key,
        c.kind == kind,
        c.generation == generation,
        c.version == __version__,
    )
    with database.read() as connection:
        row = connection.execute(query).first()
    if row is None or hashlib.sha256(row.bytes).hexdigest() != row.hash:
        return None
    return _unpack(bytes(row.bytes))


def _pack(kept: Kept) -> bytes:
    text = np.frombuffer(dumps(kept.about).encode("ascii"), dtype=np.uint8)
    out = io.BytesIO()
    np.savez_compressed(out, **{TEXT: text}, **kept.arrays)  # type: ignore[arg-type]
    return out.getvalue()


def _unpack(data: bytes) -> Kept | None:
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
        about = json.loads(arrays.pop(TEXT).tobytes())
    except (ValueError, KeyError, OSError, zipfile.BadZipFile):
        return None
    return Kept(about, arrays) if isinstance(about, dict) else None
