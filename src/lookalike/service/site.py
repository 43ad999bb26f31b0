"""The files of the page, held in memory: without comments, compressed once, cached by browsers.

The page names its files below a folder that changes with their content (``/web/<version>/``), and
the modules name each other by relative paths, so that they stay in that folder. A browser may cache
them for ever; only the page itself is validated again.
"""

from __future__ import annotations

import gzip
import hashlib
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

WEB = Path(__file__).parent / "web"
FIRST = "main.js"  # whose imports are the first view
# A regular expression instead of a parser: the modules keep to this form, which a test checks.
IMPORT = re.compile(r'^import \{ ([\w$, ]+) \} from "(\.[^"\n]+)";$', re.M)
COMMENT = re.compile(r"^[ \t]*(?:/\*\*(?:(?!\*/)(?:.|\n))*\*/[ \t]*|//.*)\n", re.M)
# Without a quote behind it, the rest of a line is in no string; types are in none of ours.
REST = re.compile(r"(?<=[;{,)\]]) // [^\"'`\n]*$|/\*\* @type \{[^*\n\"'`]*\} \*/ ?", re.M)
INDENT = re.compile(r"^[ \t]+", re.M)
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
}
VERSION = re.compile(r"[0-9a-f]{16}/")
FOREVER = "public, max-age=31536000, immutable"


def lean(text: str) -> str:
    r"""Return a script without comments and indentation, which a browser need not load.

    Examples
    --------
    >>> lean("// Why.\nconst a = 1;\n/** What.\n * More. */\nif (a) {\n  b('//'); // how\n}\n")
    "const a = 1;\nif (a) {\nb('//');\n}\n"
    """
    return INDENT.sub("", REST.sub("", COMMENT.sub("", text)))


def resolve(name: str, path: str) -> str:
    """Return the name of a module that another one imports by a relative path."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def first_modules(files: Mapping[str, str]) -> list[str]:
    """Return the modules that the first view imports, directly or not."""
    names = [FIRST]
    for name in names:  # which grows meanwhile
        paths = (resolve(name, path) for _, path in IMPORT.findall(files[name]))
        names += dict.fromkeys(path for path in paths if path not in names)
    return names[1:]


@dataclass(frozen=True)
class SiteFile:
    """One file: its content, the same compressed, its type and its ETag."""

    plain: bytes
    small: bytes
    type: str
    tag: str


class Site:
    """The page and its files.

    Parameters
    ----------
    folder : path
    """

    def __init__(self, folder: Path = WEB) -> None:
        paths = sorted(path for path in folder.rglob("*") if path.suffix in TYPES)
        files = {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in paths}
        for name in [name for name in files if name.endswith(".js")]:
            files[name] = lean(files[name])
        self.version = hashlib.sha256("\0".join(files.values()).encode()).hexdigest()[:16]
        # Named beforehand: else the browser finds them one after another, a round trip for each.
        links = "".join(
            f'<link rel="modulepreload" href="/web/{name}">\n' for name in first_modules(files)
        )
        page = files["index.html"].replace("</head>", f"{links}</head>")
        files["index.html"] = page.replace('"/web/', f'"/web/{self.version}/')
        self._parts = {name: _part(name, text.encode()) for name, text in files.items()}

    def page(self, request: Request) -> Response:
        """Answer with the page itself."""
        return self._answer(request, self._parts["index.html"], "no-cache")

    def part(self, request: Request, path: str) -> Response:
        """Answer with one of its files."""
        # Looked up in memory: a path such as ../../etc/passwd reaches nothing.
        own = path.startswith(f"{self.version}/")
        # A tab that was opened before an update goes on with the files of now.
        content = self._parts.get(VERSION.sub("", path, count=1) if VERSION.match(path) else path)
        if content is None:
            raise HTTPException(404)
        return self._answer(request, content, FOREVER if own else "no-cache")

    def _answer(self, request: Request, part: SiteFile, cache: str) -> Response:
        headers = {"Cache-Control": cache, "ETag": part.tag, "Vary": "Accept-Encoding"}
        if part.tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        body = part.plain
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["Content-Encoding"], body = "gzip", part.small
        return Response(body, media_type=part.type, headers=headers)


def _part(name: str, data: bytes) -> SiteFile:
    tag = f'"{hashlib.sha256(data).hexdigest()[:24]}"'
    return SiteFile(data, gzip.compress(data, mtime=0), TYPES[Path(name).suffix], tag)
