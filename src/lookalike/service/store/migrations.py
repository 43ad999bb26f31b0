"""The version of the schema, and the steps from each version to the next."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa

from lookalike.errors import UnreadableFile
from lookalike.service.store import tables

LOCK = 0x6C6F6F6B  # two servers that start at once on one PostgreSQL take turns


def _rows(connection: sa.Connection) -> None:
    """Make the tables of collections, their rows, their changes and the cache."""
    wanted = [
        tables.collections,
        tables.rows,
        tables.changes,
        tables.caches,
        tables.cache_parts,
    ]
    tables.METADATA.create_all(connection, tables=wanted)


def _people(connection: sa.Connection) -> None:
    """Make the tables of tokens and of feedback sessions."""
    tables.METADATA.create_all(connection, tables=[tables.tokens, tables.sessions])


def _results(connection: sa.Connection) -> None:
    """Make the table of what long work has found."""
    tables.METADATA.create_all(connection, tables=[tables.results])


def _keys(connection: sa.Connection) -> None:
    """Make the table of the last key that was given."""
    tables.METADATA.create_all(connection, tables=[tables.keys])
    last = connection.execute(sa.text("SELECT max(key) FROM lookalike_collections")).scalar()
    connection.execute(tables.keys.insert().values(last=last or 0))


# Step i leads from version i to version i + 1. A step that was released is never changed: a
# change of a table is a new step, written in plain SQL against the tables as they were.
MIGRATIONS: tuple[Callable[[sa.Connection], None], ...] = (_rows, _people, _results, _keys)


def version_of(connection: sa.Connection) -> int:
    """Return the version of the schema that a database has; 0 for an empty one."""
    if not sa.inspect(connection).has_table(tables.version.name):
        return 0
    return connection.execute(sa.select(sa.func.max(tables.version.c.version))).scalar() or 0


def migrate(connection: sa.Connection) -> tuple[int, int]:
    """Bring a database to the newest version; return the version before and after.

    All steps are one transaction: a database is never left between two versions.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(LOCK)))
    before = version_of(connection)
    if before > len(MIGRATIONS):
        raise UnreadableFile(
            "store",
            f"a schema of version {len(MIGRATIONS)} or older",
            f"version {before}, made by a newer lookalike",
            "Install the newer version of lookalike; the store was left as it is",
        )
    tables.METADATA.create_all(connection, tables=[tables.version])
    for number in range(before, len(MIGRATIONS)):
        MIGRATIONS[number](connection)
        connection.execute(tables.version.insert().values(version=number + 1))
    return before, len(MIGRATIONS)
