"""The files of the page, held in memory: put together, compressed once, never asked for twice.

The page names its parts below a folder that changes with their content (``/web/<version>/``), and
the modules name each other by relative paths, so that they stay in that folder. A browser may keep
what lies there for ever; only the page itself is looked at again. What the page opens on may come
with it, as data that is never run.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from lookalike.service.bundle import together

WEB = Path(__file__).parent / "web"
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
}
VERSION = re.compile(r"[0-9a-f]{16}/")
FOREVER = "public, max-age=31536000, immutable"
STYLES = re.compile(rb'(?: *<link rel="stylesheet" href="/web/([^"]+)">\n)+')
STYLE = re.compile(rb'href="/web/([^"]+)"')
SHEET = "main.css"


@dataclass(frozen=True)
class Part:
    """One file: what is sent, and by which name a browser knows whether it has it already."""

    plain: bytes
    small: bytes
    type: str
    tag: str


class Site:
    """The page and its parts.

    Parameters
    ----------
    folder : path
    """

    def __init__(self, folder: Path = WEB) -> None:
        self.folder = folder
        self._stamp: tuple[tuple[str, int], ...] = ()
        self.version, self._parts = "", dict[str, Part]()
        self._opened: tuple[Part, tuple[str, bytes], Part] | None = None
        self._refresh()

    def _refresh(self) -> None:
        """Read the files again if one has changed: whoever works on the page only reloads it."""
        files = sorted(path for path in self.folder.rglob("*") if path.suffix in TYPES)
        stamp = tuple((str(path), path.stat().st_mtime_ns) for path in files)
        if stamp == self._stamp:
            return
        content = {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in files}
        modules = {name: data.decode() for name, data in content.items() if name.endswith(".js")}
        content |= {name: text.encode() for name, text in together(modules).items()}
        content["index.html"], content[SHEET] = _one_sheet(content)
        whole = hashlib.sha256()
        for name, data in content.items():
            whole.update(f"{name} {len(data)} ".encode() + data)
        self.version = whole.hexdigest()[:16]
        page = content["index.html"].replace(b'"/web/', f'"/web/{self.version}/'.encode())
        content["index.html"] = page
        self._parts = {name: _part(name, data) for name, data in content.items()}
        self._stamp = stamp

    def page(self, request: Request, opening: tuple[str, bytes] | None = None) -> Response:
        """Answer with the page itself.

        Parameters
        ----------
        request : Request
        opening : (str, bytes), optional
            A collection and what the page opens on, as JSON: sent with the page.
        """
        self._refresh()
        page = self._parts["index.html"]
        if opening is None:
            return self._answer(request, page, "no-cache")
        known = self._opened
        if known is None or known[:2] != (page, opening):
            part = _part("index.html", _with_data(page.plain, *opening), quick=True)
            known = self._opened = page, opening, part
        return self._answer(request, known[2], "no-store")

    def part(self, request: Request, path: str) -> Response:
        """Answer with a part of it; there is nothing else in memory that a path could reach."""
        own = path.startswith(f"{self.version}/")
        # A tab that was opened before an update goes on with the parts that there are now.
        found = self._parts.get(VERSION.sub("", path, count=1) if VERSION.match(path) else path)
        if found is None:
            raise HTTPException(404)
        return self._answer(request, found, FOREVER if own else "no-cache")

    def _answer(self, request: Request, part: Part, cache: str) -> Response:
        headers = {"Cache-Control": cache, "ETag": part.tag, "Vary": "Accept-Encoding"}
        if part.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        body = part.plain
        if _takes_gzip(request.headers.get("accept-encoding", "")):
            headers["Content-Encoding"], body = "gzip", part.small
        return Response(body, media_type=part.type, headers=headers)


def _part(name: str, data: bytes, quick: bool = False) -> Part:
    tag = f'"{hashlib.sha256(data).hexdigest()[:24]}"'
    return Part(
        data, gzip.compress(data, 1 if quick else 9, mtime=0), TYPES[Path(name).suffix], tag
    )


def _one_sheet(content: dict[str, bytes]) -> tuple[bytes, bytes]:
    """Return the page with one style sheet in the place of the first ones, and that sheet."""
    page = content["index.html"]
    found = STYLES.search(page)
    if found is None:
        return page, b""
    names = [name.decode() for name in STYLE.findall(found[0])]
    link = f'    <link rel="stylesheet" href="/web/{SHEET}">\n'.encode()
    sheet = b"".join(content[name] for name in names)
    return page[: found.start()] + link + page[found.end() :], sheet


def _with_data(page: bytes, collection: str, data: bytes) -> bytes:
    r"""Return the page with JSON in it, which nothing in it can end or run.

    Examples
    --------
    >>> page = _with_data(b"<html></body>", "pets", b'"</script>"')
    >>> page.partition(b">")[2]
    b'<script type="application/json" id="opening">"\\u003c/script>"</script></body>'
    """
    safe = data.replace(b"<", b"\\u003c")  # in JSON it stands in texts alone
    block = b'<script type="application/json" id="opening">' + safe + b"</script>"
    page = page.replace(b"<html", f'<html data-opening="{collection}"'.encode(), 1)
    return page.replace(b"</body>", block + b"</body>", 1)


def _takes_gzip(accepted: str) -> bool:
    """Whether a browser takes what is compressed.

    Examples
    --------
    >>> [_takes_gzip(text) for text in ("gzip, br", "br, gzip;q=0", "")]
    [True, False, False]
    """
    for one in accepted.lower().split(","):
        name, _, weight = one.strip().partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
