"""The tables of the store, one definition for SQLite and PostgreSQL."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

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
