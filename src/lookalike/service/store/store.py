"""Collections of rows on disk: the truth that every index in memory is made from.

Every write is one transaction and one numbered change (the generation). A row remembers the change
that brought it and the change that took it away, so the change log can be followed from any
generation, and the rows that a measure was fitted to can be read again.

Beside the rows are caches, used only if their hash is right: the fitted index, and results. A
result of an analysis belongs to one generation of a collection: when rows have changed it is stale,
and is deleted when the next one is kept. It is a text and some arrays, never code.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy import exc

from lookalike._version import __version__
from lookalike.errors import InvalidInput, LookalikeError
from lookalike.index import Index
from lookalike.saving.decode import read
from lookalike.saving.encode import write
from lookalike.saving.load import import_packages
from lookalike.service.cells import dumps
from lookalike.service.store import database as t
from lookalike.service.store.database import Database, migrate

# Bytes of one part: small beside the memory of a server, large beside the cost of a query.
PART_BYTES = 2**22
MAX_RESULT_BYTES = 2**26  # a map of 100,000 rows has about 2**21; chosen by hand
MAX_RESULTS = 8  # of one collection; the oldest are deleted
REMEMBERED = dt.timedelta(days=1)  # in which a client may send a write again
FORGET_EVERY = 256  # writes; chosen by hand
BATCH_ROWS = 5_000  # rows of one statement: what is held as parameters stays small


T = TypeVar("T")


class NotFound(InvalidInput):
    """A collection, row, session, job or token does not exist."""

    status = 404  # of an answer by HTTP, as of the errors below


class Conflict(InvalidInput):
    """A collection or a row of this name exists already."""

    status = 409


class TooFarBehind(InvalidInput):
    """The generation that was asked for has not been read by this server yet."""

    status = 503


@dataclass(frozen=True)
class Head:
    """A collection in the store, without its rows."""

    key: int
    name: str
    created: str
    generation: int
    fitted: int
    next_row: int
    settings: str
    schema: bytes


class StoredRow(NamedTuple):
    """A row as it is stored: its id and its record, both as JSON texts."""

    id: str
    record: str


Rows = Sequence[tuple[str, str]]  # each as in ``StoredRow``


@dataclass(frozen=True)
class Changed:
    """Changes between two generations: ids of deleted rows, and added rows that still exist."""

    deleted: list[str]
    added: list[StoredRow]


class SentOnce(NamedTuple):
    """A write that may arrive twice and is made once: hashes of its key and of its rows."""

    key: str
    hash: str

    @classmethod
    def of(cls, key: str, *parts: Any) -> SentOnce:
        """Return the hashes of a key and of what was sent with it."""
        return cls(*(hashlib.sha256(dumps(one).encode()).hexdigest() for one in (key, parts)))


def now(ago: dt.timedelta = dt.timedelta()) -> str:
    """Return the time, or one some time ago, as it is written in the store."""
    return (dt.datetime.now(dt.UTC) - ago).isoformat(timespec="seconds")


class Store:
    """Collections of rows in a database.

    Parameters
    ----------
    address : str or path
        A file (SQLite), or the address of a PostgreSQL database.
    """

    def __init__(self, address: str | os.PathLike[str]) -> None:
        self.database = Database(address)
        try:
            with self.database.write() as connection:
                self.migrated = migrate(connection)
        except BaseException:
            self.database.close()
            raise

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    # -- collections -------------------------------------------------------------------------------

    def heads(self) -> list[Head]:
        """Return all collections, in the order in which they were made."""
        rows = self.database.fetch(sa.select(t.collections).order_by(t.collections.c.key))
        return [Head(**row._mapping) for row in rows]

    def generations(self) -> dict[int, int]:
        """Return the generation of every collection, by its key."""
        query = sa.select(t.collections.c.key, t.collections.c.generation)
        return {row.key: row.generation for row in self.database.fetch(query)}

    def head(self, name: str, key: int | None = None) -> Head:
        """Return a collection by its name, or by its key: never a later one of the same name."""
        which = t.collections.c.name == name if key is None else t.collections.c.key == key
        with self.database.read() as connection:
            head = _head(connection, which)
        if head is None:
            raise missing_collection(name)
        return head

    def create(
        self, name: str, settings: str, schema: bytes, rows: Rows, *, replace_old: bool = False
    ) -> Head:
        """Create a collection with its first rows, numbered from 0.

        Parameters
        ----------
        name : str
        settings : str, a JSON text
        schema : bytes, how rows are read
        rows : pairs of id and record, as JSON texts
        replace_old : bool
            Whether it replaces the collection of this name, in the same transaction.
        """
        try:
            with self.database.write() as connection:
                if replace_old:
                    connection.execute(t.collections.delete().where(t.collections.c.name == name))
                # A key that no collection has had. Updated before it is read: a transaction that
                # does the same waits for this one to end.
                connection.execute(t.keys.update().values(last=t.keys.c.last + 1))
                key = connection.execute(sa.select(t.keys.c.last)).scalar_one()
                head = Head(key, name, now(), 0, 1, 0, settings, schema)
                connection.execute(t.collections.insert(), vars(head))
                turn = WriteTransaction(connection, head)
                turn.add(rows)
                turn.finish("create", len(rows))
        except exc.IntegrityError as error:
            raise _taken_name(name) from error
        return replace(head, generation=1, next_row=len(rows))

    def check_free(self, name: str) -> None:
        """Refuse the name of a collection that exists."""
        if name in {head.name for head in self.heads()}:
            raise _taken_name(name)

    def delete(self, name: str) -> None:
        """Remove a collection with everything that belongs to it."""
        if not self.database.change(t.collections.delete().where(t.collections.c.name == name)):
            raise missing_collection(name)

    # -- rows --------------------------------------------------------------------------------------

    def rows_at(self, key: int, generation: int) -> list[StoredRow]:
        """Return the rows that were live at a generation, in the order of their numbers."""
        c = t.rows.c
        # Also rows that were deleted since: the measure was fitted to them.
        alive = sa.or_(c.died.is_(None), c.died > generation)
        query = sa.select(c.id, c.record).where(c.collection == key, c.born <= generation, alive)
        return [StoredRow(*row) for row in self.database.fetch(query.order_by(c.number))]

    def count(self, key: int) -> int:
        """Return the number of live rows of a collection."""
        c = t.rows.c
        query = sa.select(sa.func.count()).where(c.collection == key, c.died.is_(None))
        return int(self.database.fetch(query)[0][0])

    def moved(self, key: int, after: int, until: int) -> int:
        """Return how many rows were added or deleted behind a generation, up to another."""
        c = t.changes.c
        # A replaced row is one that was deleted and one that was added.
        both = sa.case((c.kind == "replace", 2), (c.kind == "fit", 0), else_=1)
        query = sa.select(sa.func.sum(c.rows * both)).where(
            c.collection == key, c.generation > after, c.generation <= until
        )
        return int(self.database.fetch(query)[0][0] or 0)  # the sum of no entries is null

    def changed(
        self, key: int, after: int, until: int | None = None
    ) -> tuple[Head | None, Changed]:
        """Return the newest head, and the changes behind a generation until another, or then."""
        with self.database.read() as connection:
            head = _head(connection, t.collections.c.key == key)
            if head is None or head.generation <= after:
                return head, Changed([], [])
            return head, _changed(connection, key, after, until or head.generation)

    @contextmanager
    def turn(self, key: int, name: str) -> Iterator[WriteTransaction]:
        """Yield a write to a collection: one transaction, durable when the block ends."""
        with self.database.write() as connection:
            # SQLite has one writer at a time; PostgreSQL locks the row of the collection.
            lock = connection.dialect.name != "sqlite"
            head = _head(connection, t.collections.c.key == key, lock)
            if head is None:
                raise missing_collection(name)
            yield WriteTransaction(connection, head)

    # -- caches ------------------------------------------------------------------------------------

    def save_index(self, key: int, generation: int, fitted: int, index: Index) -> None:
        """Store an index at a generation, in place of an older one."""
        c, part = t.caches.c, t.cache_parts
        with tempfile.TemporaryDirectory() as folder:
            path, digest = Path(folder) / "index", hashlib.sha256()
            index.save(path)
            with self.database.write() as connection, path.open("rb") as file:
                query = sa.select(c.generation).where(c.collection == key)
                if (connection.execute(query).scalar() or 0) > generation:
                    return  # another server has stored a newer one
                _drop_index(connection, key)
                if _head(connection, t.collections.c.key == key) is None:
                    return  # deleted meanwhile
                for number, data in enumerate(iter(lambda: file.read(PART_BYTES), b"")):
                    digest.update(data)
                    values = {"collection": key, "part": number, "bytes": data}
                    connection.execute(part.insert(), values)
                cached = _cached(key, generation, digest)
                connection.execute(t.caches.insert(), cached | {"fitted": fitted})

    def load_index(self, key: int, fitted: int) -> tuple[int, Index] | None:
        """Return the cached index and its generation; None where it cannot be used.

        Parameters
        ----------
        key : int, the collection
        fitted : int
            The fit that the index must come from.
        """
        which, c = sa.select(t.caches).where(t.caches.c.collection == key), t.cache_parts.c
        with self.database.read() as connection, tempfile.TemporaryDirectory() as folder:
            row = connection.execute(which).first()
            # Another version may code rows differently: fitting again is safe, and happens once.
            if row is None or (row.fitted, row.version) != (fitted, __version__):
                return None
            path, digest = Path(folder) / "index", hashlib.sha256()
            query = sa.select(c.bytes).where(c.collection == key).order_by(c.part)
            with path.open("wb") as file:
                for (data,) in connection.execute(query):
                    digest.update(data)
                    file.write(data)
            import_packages()
            if digest.hexdigest() == row.hash:
                with suppress(LookalikeError):
                    return int(row.generation), read(path, root=Index)
        return None

    def save_result(self, key: int, kind: str, generation: int, kept: Mapping[str, Any]) -> bool:
        """Store a result, in place of older ones; return whether it is small enough.

        Parameters
        ----------
        key : int, the collection
        kind : str, what was asked, with its parameters
        generation : int
            Of the rows that were looked at.
        kept : mapping of a name to what JSON can hold, or to arrays
        """
        data = dump(dict(kept))
        if len(data) > MAX_RESULT_BYTES:
            return False
        c = t.results.c
        with self.database.write() as connection:
            if _head(connection, t.collections.c.key == key) is None:
                return False  # deleted meanwhile
            # A generation has its own results; those of older ones are never asked for again.
            stale = sa.or_(c.generation < generation, c.kind == kind, c.version != __version__)
            connection.execute(t.results.delete().where(c.collection == key, stale))
            newest = sa.select(c.kind).where(c.collection == key).order_by(c.made.desc(), c.kind)
            old = c.kind.not_in(newest.limit(MAX_RESULTS - 1))
            connection.execute(t.results.delete().where(c.collection == key, old))
            cached = _cached(key, generation, hashlib.sha256(data))
            values = cached | {"kind": kind, "made": now(), "bytes": data}
            connection.execute(t.results.insert(), values)
        return True

    def load_result(self, key: int, kind: str, generation: int) -> dict[str, Any] | None:
        """Return a result that was kept for this generation; None where none is whole."""
        c = t.results.c
        same = (c.collection == key, c.kind == kind, c.generation == generation)
        query = sa.select(c.hash, c.bytes).where(*same, c.version == __version__)
        for row in self.database.fetch(query):  # at most one
            # A damaged result is computed again, like one that is missing.
            if hashlib.sha256(row.bytes).hexdigest() == row.hash:
                return parse(row.bytes, dict)
        return None


class WriteTransaction:
    """One change of a collection that is being made.

    Parameters
    ----------
    connection : Connection, in a transaction
    head : Head, at the start of the transaction
    """

    def __init__(self, connection: sa.Connection, head: Head) -> None:
        self._connection, self.head = connection, head
        self.generation = head.generation + 1

    def changed(self, after: int) -> Changed:
        """Return the changes behind a generation until this transaction began."""
        return _changed(self._connection, self.head.key, after, self.head.generation)

    def answered(self, request: SentOnce) -> tuple[list[Any], int] | None:
        """Return ids and generation of a write that was made before; None for a new one."""
        c = t.requests.c
        query = t.requests.select().where(c.collection == self.head.key, c.request == request.key)
        row = self._connection.execute(query).first()
        if row is None or row.at < now(REMEMBERED):
            return None
        if row.hash != request.hash:
            who, hint = "header Idempotency-Key", "Use a new key for every write"
            raise InvalidInput(who, "the rows that were sent with it", "others", hint)
        return json.loads(row.ids), row.generation

    def remember(self, request: SentOnce, ids: list[Any]) -> None:
        """Keep the ids of new rows for a day, in which their client may send them again."""
        c = t.requests.c
        same = sa.and_(c.collection == self.head.key, c.request == request.key)
        # All old ones now and then: there may be a million, and no index by time.
        old = sa.or_(same, c.at < now(REMEMBERED)) if self.generation % FORGET_EVERY == 0 else same
        self._connection.execute(t.requests.delete().where(old))
        about = {"collection": self.head.key, "generation": self.generation, "at": now()}
        sent = {"request": request.key, "hash": request.hash, "ids": dumps(ids)}
        self._connection.execute(t.requests.insert(), about | sent)

    def add(self, rows: Rows, first: int = 0) -> None:
        """Add rows, each an id and a record as JSON texts.

        Parameters
        ----------
        rows : pairs of id and record
        first : int
            The least number that they are given.
        """
        if not rows:
            return
        first = max(first, self.head.next_row)
        shared = {"collection": self.head.key, "born": self.generation}
        for start in range(0, len(rows), BATCH_ROWS):
            batch = enumerate(rows[start : start + BATCH_ROWS], first + start)
            values = [shared | {"number": n, "id": id, "record": text} for n, (id, text) in batch]
            self._connection.execute(t.rows.insert(), values)
        self._move(next_row=first + len(rows))

    def remove(self, ids: Sequence[str]) -> None:
        """Mark rows as deleted."""
        c = t.rows.c
        query = t.rows.update().where(c.collection == self.head.key, c.id.in_(ids))
        if ids:
            self._connection.execute(query.where(c.died.is_(None)).values(died=self.generation))

    def refit(self, at: int, settings: str, schema: bytes) -> None:
        """Record that the measure was fitted to the rows that were live at a generation."""
        self._move(fitted=at, settings=settings, schema=schema)
        # The cached index may be of the same rows, but it is not of this fit.
        _drop_index(self._connection, self.head.key)
        # Rows deleted before the fit are never read again: no older generation can be asked for.
        c = t.rows.c
        dead = t.rows.delete().where(c.collection == self.head.key, c.died <= at)
        self._connection.execute(dead)

    def finish(self, kind: str, rows: int) -> None:
        """Write the entry of the change log."""
        self._move(generation=self.generation)
        entry = {"collection": self.head.key, "generation": self.generation, "kind": kind}
        self._connection.execute(t.changes.insert(), entry | {"rows": rows, "at": now()})

    def _move(self, **values: Any) -> None:
        c = t.collections.c
        self._connection.execute(
            t.collections.update().where(c.key == self.head.key).values(**values)
        )


# -- parts -----------------------------------------------------------------------------------------


def _taken_name(name: str) -> Conflict:
    """Return the error about a second collection of a name."""
    hint, problem = "Choose another name, or delete the old collection", "it exists already"
    return Conflict(f"collection {name!r}", "a new name", "one in use", hint, problem=problem)


def missing_collection(name: str) -> NotFound:
    """Return the error about a collection that does not exist."""
    hint, who = "GET /api/collections lists all collections", f"collection {name!r}"
    return NotFound(who, "the name of a collection", "none", hint, problem="not found")


def _head(connection: sa.Connection, which: Any, lock: bool = False) -> Head | None:
    query = sa.select(t.collections).where(which)
    row = connection.execute(query.with_for_update() if lock else query).first()
    return None if row is None else Head(**row._mapping)


def _changed(connection: sa.Connection, key: int, after: int, until: int) -> Changed:
    c = t.rows.c
    # Rows that were added and deleted in between are in neither list.
    gone = sa.select(c.id).where(
        c.collection == key, c.born <= after, c.died > after, c.died <= until
    )
    alive = sa.or_(c.died.is_(None), c.died > until)
    came = sa.select(c.id, c.record).where(
        c.collection == key, c.born > after, c.born <= until, alive
    )
    return Changed(
        [row[0] for row in connection.execute(gone.order_by(c.number))],
        [StoredRow(*row) for row in connection.execute(came.order_by(c.number))],
    )


def dump(thing: Any) -> bytes:
    """Return the saved form of an object: arrays and JSON, never code."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "saved"
        write(path, thing)
        return path.read_bytes()


def parse(saved: bytes, root: type[T]) -> T:
    """Read what ``dump`` wrote, which must be of this type."""
    import_packages()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "saved"
        path.write_bytes(saved)
        found: T = read(path, root=root)
    return found


def _drop_index(connection: sa.Connection, key: int) -> None:
    """Delete the cached index of a collection."""
    for table in (t.cache_parts, t.caches):
        connection.execute(table.delete().where(table.c.collection == key))


def _cached(key: int, generation: int, digest: Any) -> dict[str, Any]:
    """Return what is stored with every cache: what it belongs to, and how it is checked."""
    known = {"collection": key, "generation": generation, "version": __version__}
    return known | {"hash": digest.hexdigest()}
