"""Opening the database: SQLite in one file, or PostgreSQL by its address."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event, exc

from lookalike.errors import InvalidInput, LookalikeError, MissingExtra, UnreadableFile

BUSY = 30.0  # seconds to wait for another writer of the same SQLite file
WRITE = {"lookalike_write": True}
FULL = ("disk is full", "disk i/o error", "no space left", "could not extend file")


class StoreUnavailable(LookalikeError, OSError):
    """The database does not answer; nothing was written."""


class StoreFull(LookalikeError, OSError):
    """The disk of the database is full; nothing was written."""


class Database:
    """A database that transactions are made on.

    Parameters
    ----------
    address : str or path
        A path (SQLite, made if it is not there), or an address such as
        ``postgresql+psycopg://user@host/name``.
    """

    def __init__(self, address: str | os.PathLike[str]) -> None:
        self.path: Path | None = None
        text = os.fspath(address)
        if "://" not in text:
            self.path = Path(text)
            _check_file(self.path)
            self.engine = _open_sqlite(self.path)
        else:
            self.engine = _open_server(text)
        self.dialect = self.engine.dialect.name

    @property
    def shown(self) -> str:
        """Where the data lie, without a password."""
        return str(self.path) if self.path else self.engine.url.render_as_string(hide_password=True)

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Give a connection that sees the database as it stands now, whatever is written."""
        with _translated(self.shown), self.engine.connect() as connection:
            if self.dialect == "postgresql":
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """Give a connection whose changes are all durable when the block has ended, or none is."""
        with _translated(self.shown), self.engine.connect() as connection:
            connection = connection.execution_options(**WRITE)
            with connection.begin():
                yield connection

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


@contextmanager
def _translated(where: str) -> Iterator[None]:
    """Turn what the database raises into errors of ours."""
    who = f"store {where!r}"
    try:
        yield
    except exc.IntegrityError:
        raise  # two clients wrote the same: whoever asked knows what it means
    except exc.DBAPIError as error:
        text = str(error.orig).lower()
        if any(words in text for words in FULL):
            hint = "Make room on the disk, then send the request again; nothing of it was written"
            raise StoreFull(
                who, "room for the rows", "a full disk", hint, problem="the disk is full"
            ) from error
        if "malformed" in text or "not a database" in text:
            raise _damaged(where, text) from error
        raise StoreUnavailable(
            who,
            "an answer",
            type(error.orig).__name__,
            "Try again; nothing of the request was written",
            problem=f"the database did not answer ({type(error.orig).__name__})",
        ) from error
    except exc.TimeoutError as error:
        hint = "Try again in a moment"
        raise StoreUnavailable(
            who, "a free connection", "none", hint, problem="all connections are in use"
        ) from error


def _damaged(where: str, text: str) -> UnreadableFile:
    return UnreadableFile(
        f"store {where!r}",
        "a whole SQLite database",
        f"a damaged one ({text})",
        "Restore it from a copy, or name another --store; the file was left as it is",
        problem=f"the database is damaged ({text})",
    )


def _check_file(path: Path) -> None:
    """Look at a file read-only before anything is written: a damaged one is left as it is."""
    if path.is_dir():
        hint = "Add a file name"
        raise InvalidInput(f"store {str(path)!r}", "the name of a file", "a folder", hint)
    if not path.parent.is_dir():
        found, hint = f"no folder {str(path.parent)!r}", "Make the folder first"
        raise InvalidInput(f"store {str(path)!r}", "a folder that exists", found, hint)
    if not path.exists() or path.stat().st_size == 0:
        return
    # Without a log beside it nobody has the file open: then not even helper files are made.
    alone = "" if path.with_name(f"{path.name}-wal").exists() else "&immutable=1"
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{alone}", uri=True)
        try:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        finally:
            connection.close()
    except sqlite3.DatabaseError as error:
        raise _damaged(str(path), str(error)) from error
    if found != "ok":
        raise _damaged(str(path), str(found).splitlines()[0])


def _open_sqlite(path: Path) -> sa.Engine:
    engine = sa.create_engine(
        sa.URL.create("sqlite", database=str(path)),
        connect_args={"timeout": BUSY, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def connect(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # transactions begin where we say, not where it guesses
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=FULL")  # a commit is on the disk when it returns
        cursor.execute("PRAGMA foreign_keys=ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        # A writer takes its turn at the start: two that had read first would block each other.
        writes = connection.get_execution_options().get("lookalike_write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _open_server(address: str) -> sa.Engine:
    try:
        url = sa.make_url(address)
    except exc.ArgumentError as error:
        hint = "Write postgresql+psycopg://user@host/name, or the path of a file"
        raise InvalidInput("--store", "an address of a database", "another", hint) from error
    if url.drivername in ("postgres", "postgresql"):
        url = url.set(drivername="postgresql+psycopg")
    if url.drivername != "postgresql+psycopg":
        hint = "Write postgresql+psycopg://user@host/name, or the path of a file"
        raise InvalidInput("--store", "PostgreSQL or a file", repr(url.drivername), hint)
    try:
        # A connection that died with the server is replaced before it is used.
        return sa.create_engine(url, pool_pre_ping=True, pool_size=8, max_overflow=8)
    except ImportError as error:
        hint = "Install lookalike[postgres]"
        raise MissingExtra("--store", "the package psycopg", "none", hint) from error
