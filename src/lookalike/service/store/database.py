"""The database: SQLite in one file, or PostgreSQL by its address; its tables and their versions."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event, exc

from lookalike.errors import InvalidInput, LookalikeError, MissingExtra, UnreadableFile

METADATA = sa.MetaData()
WHOLE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _collection(**options: Any) -> sa.Column[int]:
    """Return the column that says which collection something belongs to, and goes with."""
    owner = sa.ForeignKey("lookalike_collections.key", ondelete="CASCADE")
    return sa.Column("collection", WHOLE, owner, **options)


version = sa.Table(
    "lookalike_version",
    METADATA,
    sa.Column("version", sa.Integer, nullable=False),
)

# The last key that a collection was given. None is given twice: another server that still holds a
# collection which was deleted would take a new one of the same key for it. (SQLite by itself gives
# the key of the last collection again.)
keys = sa.Table(
    "lookalike_keys",
    METADATA,
    sa.Column("last", WHOLE, nullable=False),
)

# ``generation`` is the number of the last change, ``fitted`` the one whose living rows the measure
# was fitted to; ``settings`` is what the collection was asked to be (a JSON text), ``schema`` how
# its rows are read (a saved ``Schema``).
collections = sa.Table(
    "lookalike_collections",
    METADATA,
    sa.Column("key", WHOLE, primary_key=True, autoincrement=True),
    sa.Column("name", sa.String(100), nullable=False, unique=True),
    sa.Column("created", sa.String(32), nullable=False),
    sa.Column("generation", WHOLE, nullable=False),
    sa.Column("fitted", WHOLE, nullable=False),
    sa.Column("next_row", WHOLE, nullable=False),
    sa.Column("settings", sa.Text, nullable=False),
    sa.Column("schema", sa.LargeBinary, nullable=False),
)

# A row lives from the change ``born`` until before the change ``died``. Dead rows stay until the
# measure is fitted without them: it can always be fitted again to the rows it was fitted to.
rows = sa.Table(
    "lookalike_rows",
    METADATA,
    _collection(primary_key=True),
    sa.Column("number", WHOLE, primary_key=True, autoincrement=False),
    sa.Column("id", sa.Text, nullable=False),
    sa.Column("record", sa.Text, nullable=False),
    sa.Column("born", WHOLE, nullable=False),
    sa.Column("died", WHOLE),
)
sa.Index(
    "lookalike_rows_by_id",
    rows.c.collection,
    rows.c.id,
    unique=True,
    sqlite_where=rows.c.died.is_(None),
    postgresql_where=rows.c.died.is_(None),
)
sa.Index("lookalike_rows_born", rows.c.collection, rows.c.born)
sa.Index("lookalike_rows_died", rows.c.collection, rows.c.died)

changes = sa.Table(
    "lookalike_changes",
    METADATA,
    _collection(primary_key=True),
    sa.Column("generation", WHOLE, primary_key=True, autoincrement=False),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("rows", WHOLE, nullable=False),
    sa.Column("at", sa.String(32), nullable=False),
)

# The fitted index as it stood at a generation: a cache, cut into parts, checked by its hash.
caches = sa.Table(
    "lookalike_caches",
    METADATA,
    _collection(primary_key=True),
    sa.Column("generation", WHOLE, nullable=False),
    sa.Column("fitted", WHOLE, nullable=False),
    sa.Column("version", sa.String(32), nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
)
cache_parts = sa.Table(
    "lookalike_cache_parts",
    METADATA,
    _collection(primary_key=True),
    sa.Column("part", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("bytes", sa.LargeBinary, nullable=False),
)

# What long work has found about the rows of a generation: a cache too.
results = sa.Table(
    "lookalike_results",
    METADATA,
    _collection(primary_key=True),
    sa.Column("kind", sa.String(32), primary_key=True),
    sa.Column("generation", WHOLE, nullable=False),
    sa.Column("version", sa.String(32), nullable=False),
    sa.Column("made", sa.String(32), nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
    sa.Column("bytes", sa.LargeBinary, nullable=False),
)

tokens = sa.Table(
    "lookalike_tokens",
    METADATA,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("name", sa.String(100), nullable=False),
    sa.Column("scope", sa.String(8), nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
    sa.Column("created", sa.String(32), nullable=False),
    sa.Column("revoked", sa.String(32)),
)

sessions = sa.Table(
    "lookalike_sessions",
    METADATA,
    sa.Column("id", sa.String(32), primary_key=True),
    _collection(nullable=False),
    sa.Column("document", sa.Text, nullable=False),
    sa.Column("touched", sa.String(32), nullable=False),
)
sa.Index("lookalike_sessions_touched", sessions.c.touched)


LOCK = 0x6C6F6F6B  # two servers that start at once on one PostgreSQL take turns


def _rows(connection: sa.Connection) -> None:
    """Make the tables of collections, their rows, their changes and the cache."""
    wanted = [
        collections,
        rows,
        changes,
        caches,
        cache_parts,
    ]
    METADATA.create_all(connection, tables=wanted)


def _people(connection: sa.Connection) -> None:
    """Make the tables of tokens and of feedback sessions."""
    METADATA.create_all(connection, tables=[tokens, sessions])


def _results(connection: sa.Connection) -> None:
    """Make the table of what long work has found."""
    METADATA.create_all(connection, tables=[results])


def _keys(connection: sa.Connection) -> None:
    """Make the table of the last key that was given."""
    METADATA.create_all(connection, tables=[keys])
    last = connection.execute(sa.text("SELECT max(key) FROM lookalike_collections")).scalar()
    connection.execute(keys.insert().values(last=last or 0))


# Step i leads from version i to version i + 1. A step that was released is never changed: a
# change of a table is a new step, written in plain SQL against the tables as they were.
MIGRATIONS: tuple[Callable[[sa.Connection], None], ...] = (_rows, _people, _results, _keys)


def version_of(connection: sa.Connection) -> int:
    """Return the version of the schema that a database has; 0 for an empty one."""
    if not sa.inspect(connection).has_table(version.name):
        return 0
    return connection.execute(sa.select(sa.func.max(version.c.version))).scalar() or 0


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
    METADATA.create_all(connection, tables=[version])
    for number in range(before, len(MIGRATIONS)):
        MIGRATIONS[number](connection)
        connection.execute(version.insert().values(version=number + 1))
    return before, len(MIGRATIONS)


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
