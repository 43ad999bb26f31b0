"""The database: SQLite in one file, or PostgreSQL by its address; its tables and their versions."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event, exc

from lookalike._runtime.files import check_writable, sync_folder
from lookalike.errors import InvalidInput, LookalikeError, MissingExtra, UnreadableFile

METADATA = sa.MetaData()
# SQLite numbers rows by itself only in a column that is called INTEGER; it has 64 bits there.
INTEGER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def _table(name: str, /, *columns: sa.Column[Any], **needed: Any) -> sa.Table:
    """Return a table of some columns, and of others without NULL by their types."""
    others = (sa.Column(key, kind, nullable=False) for key, kind in needed.items())
    return sa.Table(f"lookalike_{name}", METADATA, *columns, *others)


def _collection(primary_key: bool = True) -> sa.Column[int]:
    """Return the column with the collection that something belongs to, and is deleted with."""
    owner = sa.ForeignKey("lookalike_collections.key", ondelete="CASCADE")
    return sa.Column("collection", INTEGER, owner, primary_key=primary_key, nullable=False)


def _key(name: str, kind: Any = INTEGER) -> sa.Column[Any]:
    """Return a column of the primary key whose values are given by us."""
    return sa.Column(name, kind, primary_key=True, autoincrement=False)


# Times are written in ISO form, hashes in hexadecimal digits.
TIME, HASH, VERSION = sa.String(32), sa.String(64), sa.String(32)

version = _table("version", version=sa.Integer)

# The last key that a collection was given. None is given twice: another server that still holds a
# collection which was deleted would take a new one of the same key for it. (SQLite by itself gives
# the key of the last collection again.)
keys = _table("keys", last=INTEGER)

# ``generation`` is the number of the last change, ``fitted`` the one whose live rows the measure
# was fitted to; ``settings`` is what the collection was asked to be (a JSON text), ``schema`` how
# its rows are read (a saved ``Schema``).
collections = _table(
    "collections",
    sa.Column("key", INTEGER, primary_key=True, autoincrement=True),
    sa.Column("name", sa.String(100), nullable=False, unique=True),
    created=TIME,
    **dict.fromkeys(("generation", "fitted", "next_row"), INTEGER),
    settings=sa.Text,
    schema=sa.LargeBinary,
)

# A row is live from the change ``born`` until before the change ``died``. Deleted rows stay until
# the measure is fitted without them: it can always be fitted again to the rows it was fitted to.
rows = _table(
    "rows",
    _collection(),
    _key("number"),
    sa.Column("died", INTEGER),
    id=sa.Text,
    record=sa.Text,
    born=INTEGER,
)
# One live row per id, and any number of deleted ones: hence a partial index.
_live: Any = dict.fromkeys(("sqlite_where", "postgresql_where"), rows.c.died.is_(None))
sa.Index("lookalike_rows_by_id", rows.c.collection, rows.c.id, unique=True, **_live)
sa.Index("lookalike_rows_born", rows.c.collection, rows.c.born)
sa.Index("lookalike_rows_died", rows.c.collection, rows.c.died)

changes = _table(
    "changes", _collection(), _key("generation"), kind=sa.String(16), rows=INTEGER, at=TIME
)

# The fitted index at a generation: a cache, cut into parts (a cell of PostgreSQL holds at most one
# gigabyte, and is read into memory as a whole), checked by its hash.
_cached = {"generation": INTEGER, "version": VERSION, "hash": HASH}
caches = _table("caches", _collection(), **_cached, fitted=INTEGER)
cache_parts = _table("cache_parts", _collection(), _key("part", sa.Integer), bytes=sa.LargeBinary)

# Results of analyses of the rows of a generation: a cache too.
_kind = _key("kind", sa.String(32))
results = _table("results", _collection(), _kind, **_cached, made=TIME, bytes=sa.LargeBinary)

# Writes that a client may send again, by the hash of its key: what they were answered.
_request = _key("request", HASH)
requests = _table(
    "requests", _collection(), _request, hash=HASH, ids=sa.Text, at=TIME, generation=INTEGER
)

tokens = _table(
    "tokens",
    _key("id", sa.String(16)),
    sa.Column("revoked", TIME),
    name=sa.String(100),
    scope=sa.String(8),
    hash=HASH,
    created=TIME,
)

_owner = _collection(primary_key=False)
sessions = _table("sessions", _key("id", sa.String(32)), _owner, document=sa.Text, touched=TIME)
sa.Index("lookalike_sessions_touched", sessions.c.touched)


MIGRATION_LOCK = 0x6C6F6F6B  # "look": two servers that start together on one PostgreSQL take turns


def _create(*tables: sa.Table) -> Callable[[sa.Connection], None]:
    """Return the step that creates tables."""
    return lambda connection: METADATA.create_all(connection, tables=tables)


def _create_keys(connection: sa.Connection) -> None:
    """Create the table of the last key, which older collections have taken already."""
    METADATA.create_all(connection, tables=[keys])
    last = connection.execute(sa.text("SELECT max(key) FROM lookalike_collections")).scalar()
    connection.execute(keys.insert().values(last=last or 0))


# Step i leads from version i to version i + 1. A step that was released is never changed: a
# change of a table is a new step, written in plain SQL against the tables as they were.
MIGRATIONS: tuple[Callable[[sa.Connection], None], ...] = (
    _create(collections, rows, changes, caches, cache_parts),
    _create(tokens, sessions),
    _create(results),
    _create_keys,
    _create(requests),
)


def version_of(connection: sa.Connection) -> int:
    """Return the schema version of a database; 0 for an empty one."""
    if not sa.inspect(connection).has_table(version.name):
        return 0
    return connection.execute(sa.select(sa.func.max(version.c.version))).scalar() or 0


def migrate(connection: sa.Connection) -> tuple[int, int]:
    """Bring a database to the newest version; return the version before and after.

    All steps are one transaction: a database is never left between two versions.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MIGRATION_LOCK)))
    before = version_of(connection)
    if before > len(MIGRATIONS):
        needed = f"a schema of version {len(MIGRATIONS)} or older"
        found = f"version {before}, made by a newer lookalike"
        hint = "Install the newer version of lookalike; the store was left as it is"
        raise UnreadableFile("store", needed, found, hint)
    METADATA.create_all(connection, tables=[version])
    for number in range(before, len(MIGRATIONS)):
        MIGRATIONS[number](connection)
        connection.execute(version.insert().values(version=number + 1))
    return before, len(MIGRATIONS)


BUSY_SECONDS = 30.0  # to wait for another writer of the same SQLite file
# What SQLite and PostgreSQL say, neither of which has a type of error of its own for it.
DISK_FULL = ("disk is full", "disk i/o error", "no space left", "could not extend file")


class StoreUnavailable(LookalikeError, OSError):
    """The database does not answer; nothing was written."""

    status = 503


class StoreFull(LookalikeError, OSError):
    """The disk of the database is full; nothing was written."""

    status = 507


class Database:
    """A database that transactions are made on.

    Parameters
    ----------
    address : str or path
        A path (SQLite, created if it does not exist), or an address such as ``sqlite:///rows.db``
        or ``postgresql+psycopg://user@host/name``.
    """

    def __init__(self, address: str | os.PathLike[str]) -> None:
        self.path, url = parse_address(address)
        self.engine = _open_server(url) if self.path is None else _open_sqlite(self.path)
        self.dialect = self.engine.dialect.name

    @property
    def shown(self) -> str:
        """The address of the database, without a password."""
        return str(self.path) if self.path else self.engine.url.render_as_string(hide_password=True)

    def read(self) -> AbstractContextManager[sa.Connection]:
        """Yield a connection that sees one snapshot of the database, whatever is written."""
        # SQLite in WAL mode reads a snapshot anyway; the default of PostgreSQL would show rows that
        # were committed between two queries.
        is_server = self.dialect == "postgresql"
        return self._transaction({"isolation_level": "REPEATABLE READ"} if is_server else {})

    def write(self) -> AbstractContextManager[sa.Connection]:
        """Yield a connection whose changes are durable when the block has ended, all or none."""
        return self._transaction({"lookalike_write": True})

    @contextmanager
    def _transaction(self, options: dict[str, Any]) -> Iterator[sa.Connection]:
        with _translated(self.shown), self.engine.connect() as connection:
            with connection.execution_options(**options).begin():
                yield connection

    def fetch(self, query: sa.Select[Any]) -> Sequence[Any]:
        """Return the rows of one query."""
        with self.read() as connection:
            return connection.execute(query).all()

    def change(self, statement: sa.Executable) -> int:
        """Make one change, durable when this returns; return how many rows it has met."""
        with self.write() as connection:
            return connection.execute(statement).rowcount

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


@contextmanager
def _translated(where: str) -> Iterator[None]:
    """Translate errors of the database into our own."""
    who = f"store {where!r}"
    try:
        yield
    except exc.IntegrityError:
        raise  # two clients wrote the same id or name: only the caller knows what it means
    except exc.DBAPIError as error:
        text, kind = str(error.orig).lower(), type(error.orig).__name__
        if any(words in text for words in DISK_FULL):
            hint = "Free some space, then send the request again; nothing of it was written"
            full = "the disk is full"
            raise StoreFull(who, "space for the rows", "a full disk", hint, problem=full) from error
        if "malformed" in text or "not a database" in text:
            raise _damaged(where, text) from error
        hint, problem = "Try again; nothing was written", f"the database did not answer ({kind})"
        raise StoreUnavailable(who, "an answer", kind, hint, problem=problem) from error
    except exc.TimeoutError as error:
        parts = (who, "a free connection", "none", "Try again in a moment")
        raise StoreUnavailable(*parts, problem="all connections are in use") from error


def _damaged(where: str, text: str) -> UnreadableFile:
    found, problem = f"a damaged one ({text})", f"the database is damaged ({text})"
    hint = "Restore it from a copy, or name another --store; the file was left as it is"
    return UnreadableFile(
        f"store {where!r}", "a whole SQLite database", found, hint, problem=problem
    )


def _check_file(path: Path) -> None:
    """Look at a file read-only before anything is written: a damaged one is left as it is."""
    check_writable(path)  # and its folder: SQLite keeps a log beside the file
    if not path.exists() or path.stat().st_size == 0:
        return
    # Without a log beside it no process has the file open: then not even helper files are made.
    alone = "" if path.with_name(f"{path.name}-wal").exists() else "&immutable=1"
    try:
        address = f"{path.absolute().as_uri()}?mode=ro{alone}"
        with closing(sqlite3.connect(address, uri=True)) as connection:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.DatabaseError as error:
        raise _damaged(str(path), str(error)) from error
    if found != "ok":
        raise _damaged(str(path), str(found).splitlines()[0])


def _open_sqlite(path: Path) -> sa.Engine:
    _check_file(path)
    # Only its owner can read a new file, as rows may be personal. SQLite gives the files beside it,
    # its log among them, the same mode. A file that exists keeps its own, which may be chosen.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        sync_folder(path.parent)  # SQLite syncs the names of its logs, this one it finds there
    engine = sa.create_engine(
        # Absolute: SQLite takes some names, such as ":memory:", for something else than a file.
        sa.URL.create("sqlite", database=str(path.absolute())),
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def connect(connection: Any, record: Any) -> None:
        # Transactions begin below, not before the first statement that pysqlite takes for a write.
        connection.isolation_level = None
        # A commit is on the disk when it returns.
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}").close()

    @event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        # A writer takes its turn at the start: two that had read first would block each other.
        writes = connection.get_execution_options().get("lookalike_write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


ADDRESS_HINT = "Write postgresql+psycopg://user@host/name, sqlite:///rows.db, or the path of a file"


def parse_address(address: str | os.PathLike[str]) -> tuple[Path | None, Any]:
    """Return the path of a SQLite file, or None and the URL of a server.

    Examples
    --------
    >>> [str(parse_address(text)[0]) for text in ("a.db", "sqlite:///a.db", "sqlite:////tmp/a.db")]
    ['a.db', 'a.db', '/tmp/a.db']
    """
    text = os.fspath(address)
    if "://" not in text:
        return Path(text), None
    try:
        url = sa.make_url(text)
    except exc.ArgumentError as error:
        # The address is not quoted: it may hold a password.
        parts = ("--store", "an address of a database", "another", ADDRESS_HINT)
        raise InvalidInput(*parts) from error
    if url.drivername in ("sqlite", "sqlite+pysqlite"):
        # Without a path, or with options, SQLite takes it for something else than a file of rows.
        if not url.database or url.database == ":memory:" or url.query:
            found = "none, or options"
            raise InvalidInput("--store", "the path of a file", found, "Write sqlite:///rows.db")
        return Path(url.database), None
    if url.drivername in ("postgres", "postgresql"):
        url = url.set(drivername="postgresql+psycopg")
    if url.drivername != "postgresql+psycopg":
        raise InvalidInput("--store", "PostgreSQL or a file", repr(url.drivername), ADDRESS_HINT)
    return None, url


def _open_server(url: sa.URL) -> sa.Engine:
    try:
        # A connection that was lost with its server is replaced before it is used.
        return sa.create_engine(url, pool_pre_ping=True, pool_size=8, max_overflow=8)
    except ImportError as error:
        hint = "Install lookalike[postgres]"
        raise MissingExtra("--store", "the package psycopg", "none", hint) from error
