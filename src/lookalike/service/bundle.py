r"""The modules of the page put together, so that a browser asks for two files instead of thirty.

What is written stays plain modules that a browser could load as they are. They keep to the few
forms that are read here: named imports on one line, exported functions, constants and classes, no
circles. Each module becomes a function that is called once, in the order of its imports, and hands
out what it exports; so names of different modules never meet.

>>> files = {
...     "draw/dom.js": "export const h = (tag) => tag;\n",
...     "main.js": 'import { h } from "./draw/dom.js";\nh("p");\n',
... }
>>> print(together(files)["main.js"])
export const $draw_dom = (() => {
const h = (tag) => tag;
return { h };
})();
const { h } = $draw_dom;
h("p");
<BLANKLINE>
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Mapping

from lookalike.errors import InvalidInput

FIRST = "main.js"  # whose imports are the first view
IMPORT = re.compile(r'^import \{ ([\w$, ]+) \} from "(\.[^"\n]+)";$', re.M)
EXPORT = re.compile(r"^export (?=(?:async function|function|const|class) (\w+))", re.M)
DYNAMIC = re.compile(r'(?:=>|await) import\("(\.[^"\n]+)"\)')  # not the types in comments
ADDRESS = re.compile(r'new URL\("(\.[^"\n]+)", import\.meta\.url\)')
OTHER = re.compile(r"^(?:import|export)\b(?! default function).*$", re.M)


def together(files: Mapping[str, str]) -> dict[str, str]:
    """Return the files that are to be sent in the place of modules.

    Parameters
    ----------
    files : mapping of path to text
        All modules of the page.

    Returns
    -------
    dict
        ``main.js`` with all that it imports, and each module that is brought later with what it
        alone imports. What is not in it is sent as it is.
    """
    imports = {name: _imports(name, text, files) for name, text in files.items()}
    first = _ordered([FIRST], imports)
    later = {name for text in files.items() for name in _brought(*text)}
    behind = {name: set(_ordered([name], imports)) - set(first) for name in sorted(later)}
    users = Counter(name for names in behind.values() for name in names)
    sent = {FIRST: _bundle(FIRST, first, files, imports, set(first))}
    for entry, names in behind.items():
        inner = [n for n in _ordered([entry], imports) if n in names and users[n] == 1]
        sent[entry] = _bundle(entry, inner, files, imports, set(first))
    for name in set(users) - set(sent):
        if users[name] > 1:  # of several that come later: a file of its own
            sent[name] = _bundle(name, [name], files, imports, set(first))
    return sent


def _imports(name: str, text: str, files: Mapping[str, str]) -> list[str]:
    """Return what a module imports; refuse forms that could not be put together."""
    found = [_resolve(name, path) for _, path in IMPORT.findall(text)]
    rest = OTHER.findall(EXPORT.sub("", IMPORT.sub("", text)))
    unknown = [repr(path) for path in found if path not in files]
    if rest or unknown:
        hint = "Write 'import { a, b } from \"./file.js\";' on one line, export by name"
        raise InvalidInput(name, "imports and exports in the plain form",
                                   (rest + unknown)[0][:80], hint)  # fmt: skip
    return found


def _brought(name: str, text: str) -> list[str]:
    """Return the modules that a module brings when they are first needed."""
    return [_resolve(name, path) for path in DYNAMIC.findall(text)]


def _ordered(entries: Iterable[str], imports: Mapping[str, list[str]]) -> list[str]:
    """Return modules and all that they import, each behind its imports."""
    order: list[str] = []
    under_way: list[str] = []

    def visit(name: str) -> None:
        if name in order:
            return
        if name in under_way:
            circle = " -> ".join([*under_way[under_way.index(name) :], name])
            hint = "Move what both need to a third module"
            raise InvalidInput(name, "imports without a circle", circle, hint)
        under_way.append(name)
        for one in imports[name]:
            visit(one)
        under_way.pop()
        order.append(name)

    for entry in entries:
        visit(entry)
    return order


def _bundle(
    entry: str,
    inner: list[str],
    files: Mapping[str, str],
    imports: Mapping[str, list[str]],
    first: set[str],
) -> str:
    """Return an entry with the modules before it; what is elsewhere is imported from there."""
    outside = {one for name in inner for one in imports[name] if one not in inner}
    alone = sorted(outside - first)
    head = [f'import * as {_id(one)} from "{_from(entry, one)}";\n' for one in alone]
    if shared := sorted(map(_id, outside & first)):
        head.append(f'import {{ {", ".join(shared)} }} from "{_from(entry, FIRST)}";\n')
    hand_out = "export " if entry == FIRST else ""
    parts = []
    for name in inner:
        body = _body(name, files[name], entry)
        if name == entry:
            parts.append(body)
            continue
        names = ", ".join(EXPORT.findall(files[name]))
        body = EXPORT.sub("", body)
        parts.append(
            f"{hand_out}const {_id(name)} = (() => {{\n{body}return {{ {names} }};\n}})();\n"
        )
    return "".join([*head, *parts])


def _body(name: str, text: str, entry: str) -> str:
    """Return a module that takes its imports from functions, its paths as seen from a bundle."""

    def moved(found: re.Match[str]) -> str:
        path = _from(entry, _resolve(name, found[1]))
        return found[0].replace(f'"{found[1]}"', f'"{path}"')

    def taken(found: re.Match[str]) -> str:
        names = found[1].replace(" as ", ": ")
        return f"const {{ {names} }} = {_id(_resolve(name, found[2]))};"

    text = IMPORT.sub(taken, text)
    return ADDRESS.sub(moved, DYNAMIC.sub(moved, text))


def _id(name: str) -> str:
    return "$" + re.sub(r"\W", "_", name.removesuffix(".js"))


def _resolve(name: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def _from(name: str, other: str) -> str:
    path = posixpath.relpath(other, posixpath.dirname(name) or ".")
    return path if path.startswith(".") else f"./{path}"
