"""Access control: tokens, hosts, origins, rates, and the size and time of a request.

A page on another site must not be able to use the browser of a user who runs a server on their
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
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lookalike._runtime.progress import Cancelled, watching
from lookalike.errors import InvalidInput, suggest
from lookalike.service.limits import RateLimiter, RequestLimits, TimeLimit
from lookalike.service.problems import Refused, respond
from lookalike.service.store import database as t
from lookalike.service.store.database import Database
from lookalike.service.store.store import NotFound, now

SCOPES = ("read", "write")
PREFIX = "la"


@dataclass(frozen=True)
class Token:
    """A token, with the hash of its secret."""

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

    def create(self, name: str, scope: str) -> tuple[Token, str]:
        """Create a token; return it and its text, which is shown only once."""
        if scope not in SCOPES:
            raise InvalidInput("token", "a scope", repr(scope), suggest(scope, SCOPES))
        id, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
        token = Token(id, name[:100], scope, now(), None, _hash(secret))
        self._database.change(t.tokens.insert().values(**vars(token)))
        return token, f"{PREFIX}_{id}_{secret}"

    def list(self) -> list[Token]:
        """Return all tokens, those that were revoked too."""
        found = self._database.fetch(sa.select(t.tokens).order_by(t.tokens.c.created))
        return [Token(**row._mapping) for row in found]

    def revoke(self, id: str) -> None:
        """Revoke a token."""
        c = t.tokens.c
        query = t.tokens.update().where(c.id == id, c.revoked.is_(None)).values(revoked=now())
        if self._database.change(query) == 0:
            hint, problem = "lookalike token list shows them", "not found, or revoked already"
            raise NotFound(f"token {id!r}", "a valid token", "none", hint, problem=problem)

    def any(self) -> bool:
        """Whether there is a valid token."""
        return any(token.revoked is None for token in self.list())

    def find(self, text: str) -> Token | None:
        """Return the token of a text; None if it is not valid."""
        prefix, id, secret = (*text.split("_", 2), "", "")[:3]
        # Read each time: a token that another process has revoked is refused at once.
        rows = self._database.fetch(sa.select(t.tokens).where(t.tokens.c.id == id))
        token = next((Token(**row._mapping) for row in rows), None)
        # An unknown token is compared too: the time taken does not show whether its id exists.
        same = hmac.compare_digest(_hash(secret), token.hash if token else _hash(""))
        usable = token is not None and token.revoked is None and prefix == PREFIX and secret != ""
        return token if same and usable else None


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


LOOPBACK = ("localhost", "127.0.0.1", "::1")
READS = ("GET", "HEAD", "OPTIONS")
# Requests that change no rows: a token that may read may send them.
QUESTIONS = re.compile(
    r"POST /api/collections/[^/]+/(search|ask/[a-z]+|profile|repair|sessions(/[^/]+/(marks|undo))?)"
    r"|DELETE /api/collections/[^/]+/sessions/[^/]+"
)
# Probes, the page that asks for a token, and what the API is, which is no secret.
PUBLIC_PATHS = ("/healthz", "/readyz", "/", "/docs", "/api")
VERSION, UNVERSIONED = "/api/v1", "/api"
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
MAX_WRONG_TOKENS = 5.0  # per second and address; 256 random bits are safe at any rate


@dataclass(frozen=True)
class AccessPolicy:
    """Who may use the server.

    Parameters
    ----------
    hosts : tuple of str
        Host names of the server, beside those of loopback.
    numbers : bool
        Whether any IP address is accepted as host; DNS rebinding needs a name.
    tokens : bool
        Whether a token is needed.
    framed : bool
        Whether other pages may show the page in a frame, as notebooks do; only with tokens.
    """

    hosts: tuple[str, ...] = ()
    numbers: bool = False
    tokens: bool = False
    framed: bool = False

    @property
    def headers(self) -> dict[str, str]:
        """The headers of every answer."""
        if not (self.framed and self.tokens):
            return HEADERS
        # A page that frames it has no token, so that there is nothing to be clicked on unseen. The
        # notebook asks first whether its browser reaches the kernel.
        policy = POLICY.replace("frame-ancestors 'none'", "frame-ancestors *")
        own = {"Content-Security-Policy": policy, "Cross-Origin-Resource-Policy": "cross-origin"}
        return {n: own.get(n, value) for n, value in HEADERS.items() if n != "X-Frame-Options"}

    def allows_host(self, host: str) -> bool:
        """Whether a request may name this host."""
        name = host_name(host)
        if name in LOOPBACK or name in {host.lower() for host in self.hosts}:
            return True
        try:
            return self.numbers and bool(ipaddress.ip_address(name))
        except ValueError:
            return False


def host_name(host: str) -> str:
    """Return a host without its port.

    Examples
    --------
    >>> host_name("localhost:8571"), host_name("[::1]:80"), host_name("a.example")
    ('localhost', '::1', 'a.example')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower().rstrip(".")  # "localhost." is localhost, too


class Safety:
    """Middleware that refuses what is not allowed, and adds the headers of every answer.

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
        self._guesses = RateLimiter(MAX_WRONG_TOKENS, 4 * MAX_WRONG_TOKENS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "websocket":  # not served: 1008 is a violation of the policy
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        # Before any check looks at the path: the version that there is has two names.
        if f"{scope['path']}/".startswith(f"{VERSION}/"):
            scope["path"] = UNVERSIONED + scope["path"].removeprefix(VERSION)
        begun = False

        async def safe_send(event: Message) -> None:
            nonlocal begun
            if event["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=event)
                headers.update(self.access.headers)
                # Rows may be personal: no proxy keeps them. The files of the page set their own.
                headers.setdefault("Cache-Control", "no-store")
            await send(event)

        limit = TimeLimit(self.limits.seconds)
        body: _Body | None = None
        try:
            # A token may be looked up in the store, which would block all other requests.
            if any(name == b"authorization" for name, _ in scope["headers"]):
                await asyncio.to_thread(self._check, scope)
            else:
                self._check(scope)
            body = _Body(scope, receive, self.limits, limit)
            scope["lookalike_limit"] = limit
            with watching(cancelled=limit.passed):
                await self.app(scope, body.receive, safe_send)
        except (Refused, Cancelled) as error:
            if isinstance(error, Cancelled):
                within = f"within {self.limits.seconds:g} seconds of processor time"
                parts = ("request", f"an answer {within}", "none", "Ask for less, or use a job")
                error = Refused(503, *parts, problem=f"no answer {within}")
            if not begun:  # a status that was sent cannot be taken back
                await respond(error)(scope, receive, safe_send)
        finally:
            if body is not None:
                body.close()

    def _check(self, scope: Scope) -> None:
        """Refuse a request that must not be answered; name its token for the log."""
        # In this order: a foreign page learns nothing, not even whether a token is needed.
        headers, method, path = Headers(scope=scope), scope["method"], scope["path"]
        # Exactly one: two headers could be read one way here and another way by a proxy.
        given = headers.getlist("host")
        if len(given) != 1 or not self.access.allows_host(given[0]):
            found = f"{', '.join(given)[:80]!r}"
            hint = "Call it by localhost, or start it with --allow-host NAME"
            problem = f"{found} is not a name of this server"
            raise Refused(403, "header Host", "a name of this server", found, hint, problem=problem)
        if method not in READS:
            _check_origin(headers)
        if method == "OPTIONS":  # a preflight of CORS, which is not served
            hint = "Use the page of this server; other sites are not allowed"
            problem = "OPTIONS is not allowed"
            raise Refused(405, "method", "another one", "OPTIONS", hint, problem=problem)
        scope["lookalike_client"] = None
        if path in PUBLIC_PATHS or path.startswith("/web/"):
            return
        token = self._token(headers, scope)
        if token is not None:
            scope["lookalike_client"] = token.id
            self._check_token(token, method, path)
        elif self.access.tokens:
            problem, who = "a valid token is required", {"WWW-Authenticate": "Bearer"}
            hint = "Send 'Authorization: Bearer TOKEN'; lookalike token create makes one"
            parts = ("request", "a token", "none or a wrong one", hint)
            raise Refused(401, *parts, problem=problem, headers=who)

    def _check_token(self, token: Token, method: str, path: str) -> None:
        asks = method in READS or QUESTIONS.fullmatch(f"{method} {path}")
        if token.scope != "write" and not asks:
            hint = "Use a token of the scope 'write'"
            raise Refused(403, "request", "a token that may write", token.scope, hint)
        wait = self._rates.wait(token.id)
        if wait > 0:
            many = f"{self.limits.rate:g} requests per second"
            raise _too_many(f"at most {many}", "more", f"more than {many}", max(1, round(wait)))

    def _token(self, headers: Headers, scope: Scope) -> Token | None:
        given = headers.get("authorization", "")
        kind, _, text = given.partition(" ")
        if kind.lower() != "bearer" or not text:
            return None
        found = self.tokens.find(text.strip()[:200])
        if found is None and self._guesses.wait((scope.get("client") or ("",))[0]) > 0:
            raise _too_many("the right one", "many wrong ones", "too many wrong tokens", 1)
        return found


def _too_many(needed: str, found: str, problem: str, seconds: int) -> Refused:
    headers = {"Retry-After": str(seconds)}
    return Refused(429, "token", needed, found, "Wait a little", problem=problem, headers=headers)


def _check_origin(headers: Headers) -> None:
    """Refuse writes that a page of another site has sent."""
    # Programs send neither header, browsers at least one.
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    foreign = site not in (None, "same-origin", "none")
    if origin is not None:
        own = urlsplit(f"//{headers['host']}").netloc.lower()
        foreign = foreign or urlsplit(origin).netloc.lower() != own
    if foreign:
        found, hint = f"{(origin or site)!r:.80}", "Use the page of this server, or a program"
        parts = ("header Origin", "a page of this server", found, hint)
        raise Refused(403, *parts, problem=f"{found} is another site")


class _Body:
    """The body of a request, with a limit of its size and of the time until it is complete.

    When it is complete, the connection is watched: work for a client that is gone is ended.
    """

    def __init__(
        self, scope: Scope, receive: Receive, limits: RequestLimits, limit: TimeLimit
    ) -> None:
        self._receive, self._limit = receive, limit
        self._end = time.monotonic() + limits.seconds
        self._watcher: asyncio.Task[Message] | None = None
        headers = Headers(scope=scope)
        upload = headers.get("content-type", "").lower().startswith("multipart/form-data")
        if upload and scope["path"] != "/api/collections":
            raise Refused(415, "body", "JSON", "a form", "Send application/json")
        # A form has the table and the options, which are JSON.
        self._most = limits.upload + limits.body if upload else limits.body
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length[:20]) > self._most:
            raise self._too_large(length[:20])
        self._size = 0
        self._first: Message | None = None
        # A request without a body is not read by its route, so it is watched immediately.
        if length == "0" and "transfer-encoding" not in headers:
            self._first = {"type": "http.request", "body": b"", "more_body": False}
            self._watch()

    def _watch(self) -> None:
        self._watcher = asyncio.create_task(self._disconnected())

    async def _disconnected(self) -> Message:
        """Wait for the end of the connection."""
        while (event := await self._receive())["type"] != "http.disconnect":
            pass
        self._limit.gone = True
        return event

    def close(self) -> None:
        """Stop watching: the request is answered."""
        if self._watcher is not None:
            self._watcher.cancel()

    async def receive(self) -> Message:
        """Receive the next part."""
        if self._first is not None:
            first, self._first = self._first, None
            return first
        if self._watcher is not None:
            # Shielded: a caller that stops waiting must not cancel the watcher.
            return await asyncio.shield(self._watcher)
        left = self._end - time.monotonic()
        try:
            async with asyncio.timeout(max(0.001, left)):
                event = await self._receive()
        except TimeoutError:
            hint, problem = "Send it faster, or in parts", "it did not arrive within the time limit"
            parts = ("body", "all of it within the time limit", "a part", hint)
            raise Refused(408, *parts, problem=problem) from None
        if event["type"] == "http.request":
            # Counted as well: a chunked body has no Content-Length.
            self._size += len(event.get("body", b""))
            if self._size > self._most:
                raise self._too_large(f"{self._size:,}")
            if not event.get("more_body", False):
                self._watch()
        return event

    def _too_large(self, found: str) -> Refused:
        needed, hint = f"at most {self._most:,} bytes", "Send less in one request"
        return Refused(413, "body", needed, found, hint)
