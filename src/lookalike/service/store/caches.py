"""Caches beside the rows, used only if their hash is right: the fitted index, and results.

A result of an analysis belongs to one generation of a collection: when rows have changed it is
stale, and is deleted when the next one is kept. It is a text and some arrays, never code.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa

from lookalike._version import __version__
from lookalike.errors import LookalikeError
from lookalike.index import Index
from lookalike.saving.decode import read
from lookalike.saving.encode import write
from lookalike.saving.load import import_packages, load
from lookalike.service.cells import dumps
from lookalike.service.store import database as t
from lookalike.service.store.database import Database
from lookalike.service.store.store import now
from lookalike.table import Schema

# Bytes of one part: small beside the memory of a server, large beside the cost of a query.
PART_BYTES = 2**22


def dump(thing: Any) -> bytes:
    """Return the saved form of an object: arrays and JSON, never code."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "saved"
        write(path, thing)
        return path.read_bytes()


def parse_schema(saved: bytes) -> Schema:
    """Read a saved schema."""
    import_packages()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "schema"
        path.write_bytes(saved)
        found: Schema = read(path, root=Schema)
    return found


def save_index(database: Database, key: int, generation: int, fitted: int, index: Index) -> None:
    """Store an index at a generation, in place of an older one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        index.save(path)
        parts = max(1, -(-os.path.getsize(path) // PART_BYTES))
        with database.write() as connection, path.open("rb") as file:
            c = t.caches.c
            query = sa.select(c.generation).where(c.collection == key)
            older = connection.execute(query).scalar()
            if older is not None and older > generation:
                return  # another server has stored a newer one
            connection.execute(t.cache_parts.delete().where(t.cache_parts.c.collection == key))
            connection.execute(t.caches.delete().where(c.collection == key))
            if not exists(connection, key):
                return  # deleted meanwhile
            digest = hashlib.sha256()
            for number in range(parts):
                data = file.read(PART_BYTES)
                digest.update(data)
                connection.execute(
                    t.cache_parts.insert().values(collection=key, part=number, bytes=data)
                )
            values = {"generation": generation, "fitted": fitted, "version": __version__}
            values |= {"collection": key, "hash": digest.hexdigest()}
            connection.execute(t.caches.insert().values(**values))


def exists(connection: sa.Connection, key: int) -> bool:
    """Whether there is still a collection of this key."""
    query = sa.select(t.collections.c.key).where(t.collections.c.key == key)
    return connection.execute(query).scalar() is not None


def load_index(database: Database, key: int, fitted: int) -> tuple[int, Index] | str:
    """Return the cached index and its generation, or the reason why it cannot be used.

    Parameters
    ----------
    database : Database
    key : int, the collection
    fitted : int
        The fit that the index must come from.
    """
    with database.read() as connection:
        row = connection.execute(sa.select(t.caches).where(t.caches.c.collection == key)).first()
        if row is None:
            return "no cache"
        # Another version may code rows differently: fitting again is safe, and happens once.
        if row.fitted != fitted or row.version != __version__:
            return "a cache of another fit or version"
        with tempfile.TemporaryDirectory() as folder:
            path, digest = Path(folder) / "index", hashlib.sha256()
            c = t.cache_parts.c
            query = sa.select(c.bytes).where(c.collection == key).order_by(c.part)
            with path.open("wb") as file:
                for (data,) in connection.execute(query):
                    digest.update(data)
                    file.write(data)
            if digest.hexdigest() != row.hash:
                return "a damaged cache (its hash is wrong)"
            try:
                index = load(path)
            except LookalikeError:
                return "a cache that cannot be read"
    return (int(row.generation), index) if isinstance(index, Index) else "a cache of something else"


MAX_RESULT_BYTES = 2**26  # a map of 100,000 rows has about 2**21; chosen by hand
MAX_RESULTS = 8  # of one collection; the oldest are deleted
TEXT = "about"  # the name of the text among the arrays


class Kept(NamedTuple):
    """The stored form of a result: what JSON can hold, and arrays by name."""

    about: dict[str, Any]
    arrays: Mapping[str, np.ndarray]


def save_result(database: Database, key: int, kind: str, generation: int, kept: Kept) -> bool:
    """Store a result, in place of older ones; return whether it is small enough.

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
    if len(data) > MAX_RESULT_BYTES:
        return False
    c = t.results.c
    with database.write() as connection:
        if not exists(connection, key):
            return False  # deleted meanwhile
        # A generation has its own results; those of older ones are never asked for again.
        stale = sa.or_(c.generation < generation, c.kind == kind, c.version != __version__)
        connection.execute(t.results.delete().where(c.collection == key, stale))
        newest = sa.select(c.kind).where(c.collection == key).order_by(c.made.desc(), c.kind)
        for (old,) in connection.execute(newest.offset(MAX_RESULTS - 1)).all():
            connection.execute(t.results.delete().where(c.collection == key, c.kind == old))
        values = {"collection": key, "kind": kind, "generation": generation, "made": now()}
        values |= {"version": __version__, "hash": hashlib.sha256(data).hexdigest(), "bytes": data}
        connection.execute(t.results.insert().values(**values))
    return True


def load_result(database: Database, key: int, kind: str, generation: int) -> Kept | None:
    """Return a result that was kept for this generation; None where none is whole."""
    c = t.results.c
    same = (c.collection == key, c.kind == kind, c.generation == generation)
    query = sa.select(c.hash, c.bytes).where(*same, c.version == __version__)
    with database.read() as connection:
        row = connection.execute(query).first()
    # A damaged result is computed again, like one that is missing.
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
        # Without pickle: an array of objects would run code that is stored in it.
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
        about = json.loads(arrays.pop(TEXT).tobytes())
    except (ValueError, KeyError, OSError, zipfile.BadZipFile):
        return None
    return Kept(about, arrays) if isinstance(about, dict) else None
