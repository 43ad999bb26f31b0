"""Who may talk to the server, from where, and how much they may send.

A page on another site must not be able to use the browser of somebody who runs a server on their
own machine. It cannot read answers, since nothing allows it to (no CORS); it cannot write, since
its origin is refused; and it cannot pretend to be us by letting its own name point to this machine
(DNS rebinding), since the host that the browser names is then its own.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import re
import secrets
import threading
import time
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lookalike._runtime.progress import Cancelled, watching
from lookalike.errors import InvalidInput, suggest
from lookalike.service.limits import RateLimiter, RequestLimits
from lookalike.service.problems import Refused, respond
from lookalike.service.store import database as t
from lookalike.service.store.database import Database
from lookalike.service.store.store import NotFound, now

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


class TokenStore:
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
            raise NotFound(
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


LOOPBACK = ("localhost", "127.0.0.1", "::1")
READS = ("GET", "HEAD", "OPTIONS")
# What only asks: who may read may send it.
ASKING = re.compile(
    r"POST /api/collections/[^/]+/(search|ask/[a-z]+|profile|repair|sessions(/[^/]+/(marks|undo))?)"
    r"|DELETE /api/collections/[^/]+/sessions/[^/]+"
)
OPEN = ("/healthz", "/readyz", "/")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
GUESSES = 5.0  # wrong tokens per second that one address may try


@dataclass(frozen=True)
class AccessPolicy:
    """Who may use the server.

    Parameters
    ----------
    hosts : names that the server may be called by, beside those of this machine
    numbers : bool
        Whether it may be called by any address in numbers, which no name can pretend to be.
    tokens : bool
        Whether a token is needed.
    """

    hosts: tuple[str, ...] = field(default=())
    numbers: bool = False
    tokens: bool = False

    def allows_host(self, host: str) -> bool:
        """Whether a request may name this host."""
        name = host_name(host)
        if name in LOOPBACK or name in {host.lower() for host in self.hosts}:
            return True
        return self.numbers and is_number(name)


def host_name(host: str) -> str:
    """Return a host without its port.

    Examples
    --------
    >>> host_name("localhost:8571"), host_name("[::1]:80"), host_name("a.example")
    ('localhost', '::1', 'a.example')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower().rstrip(".")


def is_number(host: str) -> bool:
    """Whether a host is an address in numbers."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


class Safety:
    """Lets through what is allowed, within the limits, and adds the headers of every answer.

    Parameters
    ----------
    app : ASGI application
    access : AccessPolicy
    limits : RequestLimits
    tokens : TokenStore
    """

    def __init__(
        self, app: ASGIApp, access: AccessPolicy, limits: RequestLimits, tokens: TokenStore
    ) -> None:
        self.app, self.access, self.limits, self.tokens = app, access, limits, tokens
        self._rates = RateLimiter(limits.rate, limits.burst)
        self._guesses = RateLimiter(GUESSES, 4 * GUESSES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":  # there is none
                await send({"type": "websocket.close", "code": 1008})
                return
            await self.app(scope, receive, send)
            return
        begun = False

        async def safe_send(event: Message) -> None:
            nonlocal begun
            if event["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=event)
                for name, value in HEADERS.items():
                    headers[name] = value
                if "cache-control" not in headers:
                    headers["Cache-Control"] = "no-store"
            await send(event)

        end = time.monotonic() + self.limits.seconds
        try:
            if any(name == b"authorization" for name, _ in scope["headers"]):
                await asyncio.to_thread(self._check, scope)  # may look into the store
            else:
                self._check(scope)
            body = _Body(scope, receive, self.limits, end)
            with watching(cancelled=lambda: time.monotonic() > end):
                await self.app(scope, body.receive, safe_send)
        except Refused as error:
            if not begun:
                await respond(error)(scope, receive, safe_send)
        except Cancelled:
            if not begun:
                needed = f"an answer within {self.limits.seconds:g} seconds"
                hint = "Ask for less, or by a job"
                took = f"no answer within {self.limits.seconds:g} seconds"
                refused = Refused(503, "request", needed, "none", hint, problem=took)
                await respond(refused)(scope, receive, safe_send)

    def _check(self, scope: Scope) -> None:
        """Refuse a request that must not be answered; name its token for the log."""
        headers, method, path = Headers(scope=scope), scope["method"], scope["path"]
        _check_host(self.access, headers)
        if method not in READS:
            _check_origin(headers)
        if method == "OPTIONS":
            hint = "Use the page of this server; other sites are not allowed"
            raise Refused(
                405, "method", "another one", "OPTIONS", hint, problem="OPTIONS is not allowed"
            )
        scope["lookalike_client"] = None
        if path in OPEN or path.startswith("/web/"):
            return
        token = self._token(headers, scope)
        if self.access.tokens and token is None:
            raise Refused(
                401,
                "request",
                "a token",
                "none or a wrong one",
                "Send 'Authorization: Bearer TOKEN'; lookalike token create makes one",
                problem="a valid token is required",
                headers={"WWW-Authenticate": "Bearer"},
            )
        if token is not None:
            scope["lookalike_client"] = token.id
            asks = method in READS or ASKING.fullmatch(f"{method} {path}") is not None
            if token.scope != "write" and not asks:
                hint = "Use a token of the scope 'write'"
                raise Refused(403, "request", "a token that may write", token.scope, hint)
            wait = self._rates.wait(token.id)
            if wait > 0:
                raise Refused(
                    429,
                    "token",
                    f"at most {self.limits.rate:g} requests per second",
                    "more",
                    "Wait a little",
                    problem=f"more than {self.limits.rate:g} requests per second",
                    headers={"Retry-After": str(max(1, round(wait)))},
                )

    def _token(self, headers: Headers, scope: Scope) -> Token | None:
        given = headers.get("authorization", "")
        kind, _, text = given.partition(" ")
        if kind.lower() != "bearer" or not text:
            return None
        found = self.tokens.find(text.strip()[:200])
        if found is None and self._guesses.wait((scope.get("client") or ("",))[0]) > 0:
            raise Refused(
                429,
                "token",
                "the right one",
                "many wrong ones",
                "Wait a little",
                problem="too many wrong tokens",
                headers={"Retry-After": "1"},
            )
        return found


def _check_host(access: AccessPolicy, headers: Headers) -> None:
    given = headers.getlist("host")
    if len(given) != 1 or not access.allows_host(given[0]):
        found = f"{', '.join(given)[:80]!r}"
        raise Refused(
            403,
            "header Host",
            "a name of this server",
            found,
            "Call it by localhost, or start it with --allow-host NAME",
            problem=f"{found} is not a name of this server",
        )


def _check_origin(headers: Headers) -> None:
    """Refuse writes that a page of another site has sent."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    foreign = site not in (None, "same-origin", "none")
    if origin is not None:
        own = urlsplit(f"//{headers['host']}").netloc.lower()
        foreign = foreign or urlsplit(origin).netloc.lower() != own
    if foreign:
        hint = "Use the page of this server, or a program"
        found = f"{(origin or site)!r:.80}"
        raise Refused(
            403,
            "header Origin",
            "a page of this server",
            found,
            hint,
            problem=f"{found} is another site",
        )


class _Body:
    """The body of a request: not longer than allowed, and not slower."""

    def __init__(self, scope: Scope, receive: Receive, limits: RequestLimits, end: float) -> None:
        self._receive, self._end = receive, end
        headers = Headers(scope=scope)
        upload = headers.get("content-type", "").lower().startswith("multipart/form-data")
        self._most = limits.upload + limits.body if upload else limits.body
        if upload and scope["path"] != "/api/collections":
            raise Refused(415, "body", "JSON", "a form", "Send application/json")
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length[:20]) > self._most:
            raise self._too_large(length[:20])
        self._size = 0

    async def receive(self) -> Message:
        """Receive the next part."""
        if self._size < 0:
            return await self._receive()  # all is there: what comes is the end
        left = self._end - time.monotonic()
        try:
            async with asyncio.timeout(max(0.001, left)):
                event = await self._receive()
        except TimeoutError:
            raise Refused(
                408,
                "body",
                "all of it within the time limit",
                "a part",
                "Send it faster, or in parts",
                problem="it did not arrive within the time limit",
            ) from None
        if event["type"] == "http.request":
            self._size += len(event.get("body", b""))
            if self._size > self._most:
                raise self._too_large(f"{self._size:,}")
            if not event.get("more_body", False):
                self._size = -1
        return event

    def _too_large(self, found: str) -> Refused:
        return Refused(413, "body", f"at most {self._most:,} bytes", found, "Send less at once")
