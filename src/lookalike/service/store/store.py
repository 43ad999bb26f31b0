"""Collections of rows on disk: the truth that every index in memory is made from.

Every write is one transaction and one numbered change (the generation). A row remembers the change
that brought it and the change that took it away, so the change log can be followed from any
generation, and the rows that a measure was fitted to can be read again.
"""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import exc

from lookalike.errors import InvalidInput, Param
from lookalike.service.store import database as t
from lookalike.service.store.database import Database, migrate

BATCH_ROWS = 5_000  # rows of one statement: what is held as parameters stays small


class NotFound(InvalidInput):
    """A collection, row, session, job or token does not exist."""


class Conflict(InvalidInput):
    """A collection or a row of this name exists already."""


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


@dataclass(frozen=True)
class StoredRow:
    """A row as it is stored: its id and its record, both as JSON texts."""

    id: str
    record: str


@dataclass(frozen=True)
class Changed:
    """Changes between two generations: ids of deleted rows, and added rows that still exist."""

    deleted: list[str]
    added: list[StoredRow]


def now() -> str:
    """Return the time as it is written in the store."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


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
        with self.database.read() as connection:
            found = connection.execute(sa.select(t.collections).order_by(t.collections.c.key))
            return [Head(**row._mapping) for row in found]

    def generations(self) -> dict[int, int]:
        """Return the generation of every collection, by its key."""
        with self.database.read() as connection:
            c = t.collections.c
            found = connection.execute(sa.select(c.key, c.generation))
            return {int(key): int(generation) for key, generation in found}

    def head(self, name: str, key: int | None = None) -> Head:
        """Return a collection by its name, or by its key: never a later one of the same name."""
        which = t.collections.c.name == name if key is None else t.collections.c.key == key
        with self.database.read() as connection:
            found = _head(connection, which)
        if found is None:
            raise missing_collection(name)
        return found

    def create(
        self,
        name: str,
        settings: str,
        schema: bytes,
        rows: Sequence[tuple[str, str]],
        *,
        replace_old: bool = False,
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
        values = {
            "name": name,
            "created": now(),
            "generation": 1,
            "fitted": 1,
            "next_row": len(rows),
            "settings": settings,
            "schema": schema,
        }
        try:
            with self.database.write() as connection:
                if replace_old:
                    _remove(connection, name)
                key = _next_key(connection)
                connection.execute(t.collections.insert().values(key=key, **values))
                _insert(connection, key, 1, 0, rows)
                _log(connection, key, 1, "create", len(rows))
        except exc.IntegrityError as error:
            raise taken_name(name) from error
        return Head(key=key, **values)  # type: ignore[arg-type]

    def delete(self, name: str) -> None:
        """Remove a collection with everything that belongs to it."""
        with self.database.write() as connection:
            if not _remove(connection, name):
                raise missing_collection(name)

    # -- rows --------------------------------------------------------------------------------------

    def rows_at(self, key: int, generation: int) -> list[StoredRow]:
        """Return the rows that were live at a generation, in the order of their numbers."""
        c = t.rows.c
        # Also rows that were deleted since: the measure was fitted to them.
        alive = sa.or_(c.died.is_(None), c.died > generation)
        query = sa.select(c.id, c.record).where(c.collection == key, c.born <= generation, alive)
        with self.database.read() as connection:
            return [StoredRow(*row) for row in connection.execute(query.order_by(c.number))]

    def count(self, key: int) -> int:
        """Return the number of live rows of a collection."""
        c = t.rows.c
        query = sa.select(sa.func.count()).where(c.collection == key, c.died.is_(None))
        with self.database.read() as connection:
            return int(connection.execute(query).scalar() or 0)

    def page(self, key: int, after: str | None, limit: int) -> list[StoredRow]:
        """Return some live rows behind the one of an id, in the order of their numbers."""
        c = t.rows.c
        with self.database.read() as connection:
            start = -1
            if after is not None:
                # The newest row of the id, deleted or not: paging goes on while rows are deleted.
                one = sa.select(sa.func.max(c.number)).where(c.collection == key, c.id == after)
                found = connection.execute(one).scalar()
                if found is None:
                    who, problem = Param("after", after[:100]), "no row has this id"
                    raise NotFound(who, "the id of a row", after, "Start again", problem=problem)
                start = int(found)
            query = (
                sa.select(c.id, c.record)
                .where(c.collection == key, c.number > start, c.died.is_(None))
                .order_by(c.number)
                .limit(limit)
            )
            return [StoredRow(*row) for row in connection.execute(query)]

    def moved(self, key: int, after: int, until: int) -> int:
        """Return how many rows were added or deleted behind a generation, up to another."""
        c = t.changes.c
        # A replaced row is one that was deleted and one that was added.
        both = sa.case((c.kind == "replace", 2), (c.kind == "fit", 0), else_=1)
        query = sa.select(sa.func.sum(c.rows * both)).where(
            c.collection == key, c.generation > after, c.generation <= until
        )
        with self.database.read() as connection:
            return int(connection.execute(query).scalar() or 0)

    def changed(self, key: int, after: int) -> tuple[Head | None, Changed]:
        """Return the newest head, and the changes behind a generation until then."""
        with self.database.read() as connection:
            head = _head(connection, t.collections.c.key == key)
            if head is None or head.generation <= after:
                return head, Changed([], [])
            return head, _changed(connection, key, after, head.generation)

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

    def add(self, rows: Sequence[tuple[str, str]]) -> None:
        """Add rows, each an id and a record as JSON texts."""
        _insert(self._connection, self.head.key, self.generation, self.head.next_row, rows)
        self._move(next_row=self.head.next_row + len(rows))

    def remove(self, ids: Sequence[str]) -> None:
        """Mark rows as deleted."""
        c = t.rows.c
        query = (
            t.rows.update()
            .where(c.collection == self.head.key, c.id == sa.bindparam("one"), c.died.is_(None))
            .values(died=self.generation)
        )
        for start in range(0, len(ids), BATCH_ROWS):
            part = [{"one": id} for id in ids[start : start + BATCH_ROWS]]
            self._connection.execute(query, part)

    def refit(self, at: int, settings: str, schema: bytes) -> None:
        """Record that the measure was fitted to the rows that were live at a generation."""
        self._move(fitted=at, settings=settings, schema=schema)
        # Rows deleted before the fit are never read again: no older generation can be asked for.
        c = t.rows.c
        dead = t.rows.delete().where(c.collection == self.head.key, c.died <= at)
        self._connection.execute(dead)

    def finish(self, kind: str, rows: int) -> None:
        """Write the entry of the change log."""
        self._move(generation=self.generation)
        _log(self._connection, self.head.key, self.generation, kind, rows)

    def _move(self, **values: Any) -> None:
        c = t.collections.c
        self._connection.execute(
            t.collections.update().where(c.key == self.head.key).values(**values)
        )


# -- parts -----------------------------------------------------------------------------------------


def _next_key(connection: sa.Connection) -> int:
    """Return a key that no collection has had."""
    # Updated before it is read: a transaction that does the same waits for this one to end.
    connection.execute(t.keys.update().values(last=t.keys.c.last + 1))
    return int(connection.execute(sa.select(t.keys.c.last)).scalar_one())


def _remove(connection: sa.Connection, name: str) -> bool:
    """Delete a collection with everything that belongs to it; return whether it existed."""
    c = t.collections.c
    found = connection.execute(sa.select(c.key).where(c.name == name)).scalar()
    if found is None:
        return False
    for table in (t.rows, t.changes, t.cache_parts, t.caches, t.results, t.sessions):
        connection.execute(table.delete().where(table.c.collection == found))
    connection.execute(t.collections.delete().where(c.key == found))
    return True


def taken_name(name: str) -> Conflict:
    """Return the error about a second collection of a name."""
    hint, problem = "Choose another name, or delete the old collection", "it exists already"
    return Conflict(f"collection {name!r}", "a new name", "one in use", hint, problem=problem)


def missing_collection(name: str) -> NotFound:
    """Return the error about a collection that does not exist."""
    hint, who = "GET /api/collections lists all collections", f"collection {name!r}"
    return NotFound(who, "the name of a collection", "none", hint, problem="not found")


def _head(connection: sa.Connection, which: Any, lock: bool = False) -> Head | None:
    query = sa.select(t.collections).where(which)
    found = connection.execute(query.with_for_update() if lock else query).first()
    return None if found is None else Head(**found._mapping)


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


def _insert(
    connection: sa.Connection,
    key: int,
    generation: int,
    start: int,
    rows: Sequence[tuple[str, str]],
) -> None:
    shared = {"collection": key, "born": generation}
    for first in range(0, len(rows), BATCH_ROWS):
        batch = enumerate(rows[first : first + BATCH_ROWS], start + first)
        values = [shared | {"number": n, "id": id, "record": text} for n, (id, text) in batch]
        connection.execute(t.rows.insert(), values)


def _log(connection: sa.Connection, key: int, generation: int, kind: str, rows: int) -> None:
    values = {"collection": key, "generation": generation, "kind": kind, "rows": rows, "at": now()}
    connection.execute(t.changes.insert().values(**values))
