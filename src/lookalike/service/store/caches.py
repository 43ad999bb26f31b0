"""The fitted index as a blob beside the rows: a cache, believed only if its hash is right."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from lookalike._version import __version__
from lookalike.errors import LookalikeError
from lookalike.index import Index
from lookalike.saving.decode import read
from lookalike.saving.encode import write
from lookalike.saving.load import import_packages, load
from lookalike.service.store import tables as t
from lookalike.service.store.engine import Database
from lookalike.table import Schema

PART = 2**22  # bytes of one part


def dump(thing: Any) -> bytes:
    """Return the saved form of something that can be saved: arrays and JSON, never code."""
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
    """Keep an index as it stands at a generation, in the place of an older one."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        index.save(path)
        parts = max(1, -(-os.path.getsize(path) // PART))
        with database.write() as connection, path.open("rb") as file:
            c = t.caches.c
            query = sa.select(c.generation).where(c.collection == key)
            older = connection.execute(query).scalar()
            if older is not None and older > generation:
                return  # another server was quicker
            connection.execute(t.cache_parts.delete().where(t.cache_parts.c.collection == key))
            connection.execute(t.caches.delete().where(c.collection == key))
            alive = sa.select(t.collections.c.key).where(t.collections.c.key == key)
            if connection.execute(alive).scalar() is None:
                return  # deleted meanwhile
            digest = hashlib.sha256()
            for number in range(parts):
                data = file.read(PART)
                digest.update(data)
                connection.execute(
                    t.cache_parts.insert().values(collection=key, part=number, bytes=data)
                )
            connection.execute(
                t.caches.insert().values(
                    collection=key,
                    generation=generation,
                    fitted=fitted,
                    version=__version__,
                    hash=digest.hexdigest(),
                )
            )


def load_index(database: Database, key: int, fitted: int) -> tuple[int, Index] | str:
    """Return the cached index and its generation, or in words why there is none to use.

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
