"""Imports point one way: a folder uses what stands below it, never what stands above."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "lookalike"

# From the top down. Folders on one line are one layer: they may use each other, not in a circle.
LAYERS = [
    ("cli", "service", "testing"),
    ("scale",),
    ("predict", "cluster", "search", "leaderboard"),
    ("represent",),
    ("hubness",),
    ("evaluate",),
    ("measures",),
    ("neighbors",),
    ("forests",),
    ("columns",),
    ("datasets",),
    ("table",),
    ("kernels", "pages"),
]
HEIGHT = {room: len(LAYERS) - i for i, layer in enumerate(LAYERS) for room in layer}
COMMON = 0  # errors and the underscore modules: used by everyone, using only each other
TOP = len(LAYERS)


def lazy_names(source):
    """Public name -> room, read from the table in ``__init__.py`` without importing anything."""
    for node in ast.parse((source / "__init__.py").read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "_NAMES":
            table = ast.literal_eval(node.value)
            return {name: home.removeprefix("lookalike.") for name, home in table.items()}
    return {}


def height(room):
    """How high a room stands; None for one that has no place in the order."""
    if room == "errors" or room.startswith("_"):
        return COMMON
    return HEIGHT.get(room)


def imported_modules(tree, package, public):
    """Yield (line, dotted path below lookalike) for every import in a file, wherever it stands."""
    for node in ast.walk(tree):  # so TYPE_CHECKING blocks and functions are seen as well
        if isinstance(node, ast.Import):
            paths = [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = base + (node.module.split(".") if node.module else [])
            paths = [[*base, alias.name] for alias in node.names]
        else:
            continue
        for path in paths:
            if path[0] != "lookalike":
                continue
            rest = ".".join(path[1:])
            yield node.lineno, public.get(rest, rest)


def edges(source):
    """Yield (file, line, room, imported room) for every import from one room into another."""
    public = lazy_names(source)
    for file in sorted(source.rglob("*.py")):
        inside = file.relative_to(source)
        if inside == Path(
            "__init__.py"
        ):  # resolves its names lazily, so it stands above everything
            continue
        room = inside.parts[0].removesuffix(".py")
        package = ["lookalike", *inside.parts[:-1]]
        for line, target in imported_modules(ast.parse(file.read_text()), package, public):
            other = target.split(".")[0] if target else ""
            if other != room:
                yield inside.as_posix(), line, room, other


def wrong_imports(source):
    found = []
    for file, line, room, other in edges(source):
        where = f"{file}:{line}"
        here, there = height(room), height(other)
        if here is None:
            found.append(f"{where}: the folder {room!r} has no place in LAYERS")
        elif other == "":  # `import lookalike` hides which room is meant
            if here < TOP:
                found.append(f"{where}: import the module that is needed, not all of lookalike")
        elif there is None:
            found.append(f"{where}: {other!r} is neither a folder in LAYERS nor a public name")
        elif there > here or (here == COMMON < there):
            found.append(f"{where}: {room} (layer {here}) imports {other} (layer {there}) above it")
    return found


def circles(source):
    """Folders from which imports inside their own layer lead back to themselves."""
    uses = {}
    for _, _, room, other in edges(source):
        if height(room) == height(other) != COMMON:
            uses.setdefault(room, set()).add(other)

    def reachable(room):
        seen, todo = set(), [room]
        while todo:
            for other in uses.get(todo.pop(), set()) - seen:
                seen.add(other)
                todo.append(other)
        return seen

    return sorted(room for room in uses if room in reachable(room))


def test_imports_point_downward():
    wrong = wrong_imports(SOURCE)
    assert not wrong, "\n".join(["imports against the arrow:", *wrong])


def test_folders_of_one_layer_form_no_circle():
    assert not circles(SOURCE)


@pytest.mark.parametrize(
    ("file", "code", "complaint"),
    [
        ("table/read.py", "from lookalike.measures import Vector", "table/read.py:1: table"),
        ("table/read.py", "def f():\n    import lookalike.cli.main", "table/read.py:2: table"),
        ("kernels/a.py", "if TYPE_CHECKING:\n    from ..table import Table", "kernels/a.py:2"),
        ("table/read.py", "from lookalike import Vector", "table/read.py:1: table"),
        ("table/read.py", "import lookalike as la", "not all of lookalike"),
        ("_save.py", "from lookalike.table import Table", "_save.py:1: _save"),
        ("errors.py", "from .kernels import a", "errors.py:1: errors"),
        ("attic/a.py", "from lookalike.table import Table", "no place in LAYERS"),
        ("measures/a.py", "from lookalike.attic import a", "neither a folder"),
    ],
)
def test_an_import_against_the_arrow_is_named(tmp_path, file, code, complaint):
    (tmp_path / "__init__.py").write_text("_NAMES = {'Vector': 'lookalike.measures'}")
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(code)
    (wrong,) = wrong_imports(tmp_path)
    assert complaint in wrong


def test_imports_along_the_arrow_pass(tmp_path):
    (tmp_path / "__init__.py").write_text("_NAMES = {'read_table': 'lookalike.table'}")
    for file, code in {
        "measures/a.py": "import numpy\nfrom lookalike.table import Table\nfrom . import b",
        "predict/a.py": "from lookalike import errors, read_table\nfrom ..cluster.b import c",
        "cli/a.py": "import lookalike as la",
        "_save.py": "from lookalike._config import settings\nfrom .errors import message",
    }.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(code)
    assert wrong_imports(tmp_path) == []
    assert circles(tmp_path) == []


def test_a_circle_inside_a_layer_is_named(tmp_path):
    (tmp_path / "__init__.py").write_text("")
    for room, other in [("predict", "search"), ("search", "cluster"), ("cluster", "predict")]:
        (tmp_path / room).mkdir()
        (tmp_path / room / "a.py").write_text(f"from lookalike.{other} import a")
    assert circles(tmp_path) == ["cluster", "predict", "search"]
