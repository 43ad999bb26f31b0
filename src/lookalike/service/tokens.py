"""Tokens: who may read, who may write. Only their hashes are kept."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from lookalike.errors import InvalidInput, suggest
from lookalike.service.store import tables as t
from lookalike.service.store.engine import Database
from lookalike.service.store.store import NotThere, now

SCOPES = ("read", "write")
PREFIX = "la"
REMEMBERED = 5.0  # seconds until a token that was revoked elsewhere is noticed


@dataclass(frozen=True)
class Token:
    """What is known about a token, its secret apart."""

    id: str
    name: str
    scope: str
    created: str
    revoked: str | None
    hash: str

    def to_dict(self) -> dict[str, Any]:
        """Return it without its hash."""
        return {name: value for name, value in vars(self).items() if name != "hash"}


class Tokens:
    """The tokens of a store.

    A token reads ``la_<id>_<secret>``. The secret has 256 random bits, so a plain SHA-256 of it
    cannot be guessed; it is compared in constant time.

    Parameters
    ----------
    database : Database
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._known: dict[str, Token] = {}
        self._read = float("-inf")

    def create(self, name: str, scope: str) -> tuple[Token, str]:
        """Make a token; return it and its text, which is shown this once."""
        if scope not in SCOPES:
            raise InvalidInput("token", "a scope", repr(scope), suggest(scope, SCOPES))
        id, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
        token = Token(id, name[:100], scope, now(), None, _hash(secret))
        with self._database.write() as connection:
            connection.execute(t.tokens.insert().values(**vars(token)))
        self._forget()
        return token, f"{PREFIX}_{id}_{secret}"

    def list(self) -> list[Token]:
        """Return all tokens, those that were revoked too."""
        with self._database.read() as connection:
            found = connection.execute(sa.select(t.tokens).order_by(t.tokens.c.created))
            return [Token(**row._mapping) for row in found]

    def revoke(self, id: str) -> None:
        """Let a token no longer be used."""
        c = t.tokens.c
        query = t.tokens.update().where(c.id == id, c.revoked.is_(None)).values(revoked=now())
        with self._database.write() as connection:
            done = connection.execute(query)
        if done.rowcount == 0:
            raise NotThere(
                f"token {id!r}",
                "a token that is in use",
                "none",
                "lookalike token list shows them",
                problem="not found, or revoked already",
            )
        self._forget()

    def any(self) -> bool:
        """Whether there is a token that can be used."""
        return any(token.revoked is None for token in self.list())

    def find(self, text: str) -> Token | None:
        """Return the token that a text is, None if it is none."""
        prefix, _, rest = text.partition("_")
        id, _, secret = rest.partition("_")
        token = self._all().get(id)
        # A token that is not there is compared too: the time taken tells nothing.
        same = hmac.compare_digest(_hash(secret), token.hash if token else _hash(""))
        usable = token is not None and token.revoked is None and prefix == PREFIX and secret != ""
        return token if same and usable else None

    def _all(self) -> dict[str, Token]:
        with self._lock:
            if time.monotonic() - self._read > REMEMBERED:
                self._known = {token.id: token for token in self.list()}
                self._read = time.monotonic()
            return self._known

    def _forget(self) -> None:
        with self._lock:
            self._read = float("-inf")


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
