"""The files of the page, held in memory: bundled, compressed once, cached by browsers.

The page names its files below a folder that changes with their content (``/web/<version>/``), and
the modules name each other by relative paths, so that they stay in that folder. A browser may cache
them for ever; only the page itself is validated again. The first answer may be sent with the page,
as data that is never run.
"""

from __future__ import annotations

import gzip
import hashlib
import posixpath
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from lookalike.errors import InvalidInput

# Regular expressions instead of a parser: modules keep to these forms, and anything else is an
# error when the server starts, not in the browser.
FIRST = "main.js"  # whose imports are the first view
IMPORT = re.compile(r'^import \{ ([\w$, ]+) \} from "(\.[^"\n]+)";$', re.M)
EXPORT = re.compile(r"^export (?=(?:async function|function|const|class) (\w+))", re.M)
DYNAMIC = re.compile(r'(?:=>|await) import\("(\.[^"\n]+)"\)')  # not the types in comments
ADDRESS = re.compile(r'new URL\("(\.[^"\n]+)", import\.meta\.url\)')
OTHER = re.compile(r"^(?:import|export)\b(?! default function).*$", re.M)


def bundle(files: Mapping[str, str]) -> dict[str, str]:
    r"""Return the bundles that are sent instead of modules: two instead of thirty.

    The sources are plain modules that a browser could load as they are. They keep to the few
    forms that are read here: named imports on one line, exported functions, constants and classes,
    no cycles. Each module becomes a function that is called once, in the order of its imports, and
    returns what it exports; so names of different modules never meet.

    Parameters
    ----------
    files : mapping of path to text
        All modules of the page.

    Returns
    -------
    dict
        ``main.js`` with all that it imports, and each module that is imported dynamically with
        what only it imports. Other files are sent as they are.

    Examples
    --------
    >>> files = {
    ...     "draw/dom.js": "export const h = (tag) => tag;\n",
    ...     "main.js": 'import { h } from "./draw/dom.js";\nh("p");\n',
    ... }
    >>> print(bundle(files)["main.js"])
    export const $draw_dom = (() => {
    const h = (tag) => tag;
    return { h };
    })();
    const { h } = $draw_dom;
    h("p");
    <BLANKLINE>
    """
    imports = {name: _imports(name, text, files) for name, text in files.items()}
    first = _ordered(FIRST, imports)
    later = {_resolve(name, path) for name, text in files.items() for path in DYNAMIC.findall(text)}
    behind = {name: set(_ordered(name, imports)) - set(first) for name in sorted(later)}
    users = Counter(name for names in behind.values() for name in names)
    # A module that several dynamic ones import is a file of its own: it must run only once.
    inner = {FIRST: first} | {name: [name] for name in users if users[name] > 1}
    for entry, names in behind.items():
        order = _ordered(entry, imports)
        inner[entry] = [name for name in order if name in names and users[name] == 1]
    return {
        entry: _bundle(entry, names, files, imports, set(first)) for entry, names in inner.items()
    }


DEFAULT = re.compile(r"^export default function (\w+)", re.M)


def one_script(files: Mapping[str, str], entry: str = FIRST) -> str:
    r"""Return all modules as one script, also those that are imported dynamically.

    Examples
    --------
    >>> files = {
    ...     "a.js": "export default function a() {}\n",
    ...     "main.js": 'const later = () => import("./a.js");\nlater();\n',
    ... }
    >>> print(one_script(files))
    const $a = (() => {
    function a() {}
    return { default: a };
    })();
    const $main = (() => {
    const later = () => Promise.resolve($a);
    later();
    return {  };
    })();
    <BLANKLINE>
    """
    imports = {name: _imports(name, text, files) for name, text in files.items()}
    names = [entry]
    for name in names:  # which grows meanwhile
        brought = (_resolve(name, path) for path in DYNAMIC.findall(files[name]))
        names += dict.fromkeys(n for n in (*imports[name], *brought) if n not in names)
    # The entry runs last: whatever it calls is there by then.
    order = TopologicalSorter({name: imports[name] for name in names[1:]}).static_order()
    return lean("".join(_closed(name, files[name]) for name in [*order, entry]))


def _closed(name: str, text: str) -> str:
    """Return a module as a constant: what a function with its body returns."""
    names = [*EXPORT.findall(text), *(f"default: {found}" for found in DEFAULT.findall(text))]
    body = DEFAULT.sub(r"function \1", EXPORT.sub("", _body(name, text, name)))
    body = DYNAMIC.sub(lambda m: _resolved(name, m), body)
    return f"const {_id(name)} = (() => {{\n{body}return {{ {', '.join(names)} }};\n}})();\n"


def _resolved(name: str, match: re.Match[str]) -> str:
    """Return a dynamic import of a module that is there already."""
    return match[0].replace(
        f'import("{match[1]}")', f"Promise.resolve({_id(_resolve(name, match[1]))})"
    )


COMMENT = re.compile(r"^[ \t]*(?:/\*\*(?:(?!\*/)(?:.|\n))*\*/[ \t]*|//.*)\n", re.M)
# Without a quote behind it, the rest of a line is in no string; types are in none of ours.
REST = re.compile(r"(?<=[;{,)\]]) // [^\"'`\n]*$|/\*\* @type \{[^*\n\"'`]*\} \*/ ?", re.M)
INDENT = re.compile(r"^[ \t]+", re.M)


def lean(text: str) -> str:
    r"""Return a script without comments and indentation, which a browser need not load.

    Examples
    --------
    >>> lean("// Why.\nconst a = 1;\n/** What.\n * More. */\nif (a) {\n  b('//'); // how\n}\n")
    "const a = 1;\nif (a) {\nb('//');\n}\n"
    """
    return INDENT.sub("", REST.sub("", COMMENT.sub("", text)))


def _imports(name: str, text: str, files: Mapping[str, str]) -> list[str]:
    """Return the imports of a module; refuse forms that cannot be bundled."""
    paths = [_resolve(name, path) for _, path in IMPORT.findall(text)]
    rest = OTHER.findall(EXPORT.sub("", IMPORT.sub("", text)))
    bad = rest + [repr(path) for path in paths if path not in files]
    if bad:
        hint = "Write 'import { a, b } from \"./file.js\";' on one line, export by name"
        raise InvalidInput(name, "imports and exports in the plain form", bad[0][:80], hint)
    return paths


def _ordered(entry: str, imports: Mapping[str, list[str]]) -> list[str]:
    """Return a module and all that it imports, each behind its imports (topological order)."""
    names = [entry]
    for name in names:  # which grows meanwhile
        names += [imported for imported in imports[name] if imported not in names]
    try:
        return list(TopologicalSorter({name: imports[name] for name in names}).static_order())
    except CycleError as error:
        cycle = error.args[1][::-1]  # from a module to what it imports
        hint = "Move what both need to a third module"
        raise InvalidInput(cycle[0], "imports without a cycle", " -> ".join(cycle), hint) from error


def _bundle(
    entry: str,
    inner: list[str],
    files: Mapping[str, str],
    imports: Mapping[str, list[str]],
    first: set[str],
) -> str:
    """Return an entry with the modules before it; what is elsewhere is imported from there."""
    outside = {imported for name in inner for imported in imports[name] if imported not in inner}
    alone = sorted(outside - first)
    head = [f'import * as {_id(imported)} from "{_from(entry, imported)}";\n' for imported in alone]
    if shared := sorted(map(_id, outside & first)):
        head.append(f'import {{ {", ".join(shared)} }} from "{_from(entry, FIRST)}";\n')
    # Dynamic bundles import the shared modules from the first one, which exports all of its own.
    export = "export " if entry == FIRST else ""
    parts = []
    for name in inner:
        body = _body(name, files[name], entry)
        if name == entry:
            parts.append(body)
            continue
        names = ", ".join(EXPORT.findall(files[name]))
        body = EXPORT.sub("", body)
        parts.append(
            f"{export}const {_id(name)} = (() => {{\n{body}return {{ {names} }};\n}})();\n"
        )
    return "".join([*head, *parts])


def _body(name: str, text: str, entry: str) -> str:
    """Return a module that takes its imports from functions, with paths relative to a bundle."""

    def moved(match: re.Match[str]) -> str:
        path = _from(entry, _resolve(name, match[1]))
        return match[0].replace(f'"{match[1]}"', f'"{path}"')

    def taken(match: re.Match[str]) -> str:
        names = match[1].replace(" as ", ": ")
        return f"const {{ {names} }} = {_id(_resolve(name, match[2]))};"

    text = IMPORT.sub(taken, text)
    return ADDRESS.sub(moved, DYNAMIC.sub(moved, text))


def _id(name: str) -> str:
    return "$" + re.sub(r"\W", "_", name.removesuffix(".js"))


def _resolve(name: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def _from(name: str, other: str) -> str:
    path = posixpath.relpath(other, posixpath.dirname(name) or ".")
    return path if path.startswith(".") else f"./{path}"


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
        self.folder = folder
        self._stamp: tuple[tuple[str, int], ...] = ()
        self.version, self._parts = "", dict[str, SiteFile]()
        self._opened: tuple[SiteFile, tuple[str, bytes], SiteFile] | None = None
        self._refresh()

    def _refresh(self) -> None:
        """Read the files again if one has changed: developers only reload the page."""
        files = sorted(path for path in self.folder.rglob("*") if path.suffix in TYPES)
        stamp = tuple((str(path), path.stat().st_mtime_ns) for path in files)
        if stamp == self._stamp:
            return
        content = {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in files}
        modules = {name: data.decode() for name, data in content.items() if name.endswith(".js")}
        modules |= bundle(modules)
        content |= {name: lean(text).encode() for name, text in modules.items()}
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
            A collection and its first answer as JSON, sent with the page.
        """
        self._refresh()
        page = self._parts["index.html"]
        if opening is None:
            return self._answer(request, page, "no-cache")
        known = self._opened
        if known is None or known[:2] != (page, opening):
            # Compressed quickly: it changes with every write to the collection.
            part = _part("index.html", _with_data(page.plain, *opening), quick=True)
            known = self._opened = page, opening, part
        return self._answer(request, known[2], "no-store")

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
        if _takes_gzip(request.headers.get("accept-encoding", "")):
            headers["Content-Encoding"], body = "gzip", part.small
        return Response(body, media_type=part.type, headers=headers)


def _part(name: str, data: bytes, quick: bool = False) -> SiteFile:
    tag = f'"{hashlib.sha256(data).hexdigest()[:24]}"'
    return SiteFile(
        data, gzip.compress(data, 1 if quick else 9, mtime=0), TYPES[Path(name).suffix], tag
    )


def _one_sheet(content: dict[str, bytes]) -> tuple[bytes, bytes]:
    """Return the page with one style sheet instead of the first ones, and that sheet."""
    page = content["index.html"]
    links = STYLES.search(page)
    if links is None:
        return page, b""
    names = [name.decode() for name in STYLE.findall(links[0])]
    link = f'    <link rel="stylesheet" href="/web/{SHEET}">\n'.encode()
    sheet = b"".join(content[name] for name in names)
    return page[: links.start()] + link + page[links.end() :], sheet


def _with_data(page: bytes, collection: str, data: bytes) -> bytes:
    r"""Return the page with JSON inside, from which no cell can break out.

    Examples
    --------
    >>> page = _with_data(b"<html></body>", "pets", b'"</script>"')
    >>> page.partition(b">")[2]
    b'<script type="application/json" id="opening">"\\u003c/script>"</script></body>'
    """
    safe = data.replace(b"<", b"\\u003c")  # in JSON it occurs inside of strings only
    block = b'<script type="application/json" id="opening">' + safe + b"</script>"
    page = page.replace(b"<html", f'<html data-opening="{collection}"'.encode(), 1)
    return page.replace(b"</body>", block + b"</body>", 1)


def _takes_gzip(accepted: str) -> bool:
    """Whether a browser accepts gzip.

    Examples
    --------
    >>> [_takes_gzip(text) for text in ("gzip, br", "br, gzip;q=0", "")]
    [True, False, False]
    """
    names = (coding.partition(";") for coding in accepted.lower().replace(" ", "").split(","))
    weights = {name: weight for name, _, weight in names}
    # Weight 0 refuses it (RFC 9110, section 12.4.2), with up to three digits.
    return not re.fullmatch(r"q=0(\.0{0,3})?", weights.get("gzip", "q=0"))
