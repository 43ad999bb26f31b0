"""Imports point one way: a package imports from lower layers, never from higher ones."""

import ast
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "lookalike"

# From the top down. Folders on one line are one layer: they may use each other, not in a circle.
LAYERS = [
    ("__main__",),
    ("cli", "service", "mcp", "exploring", "frames", "testing", "warming"),
    ("verbs",),
    ("show.report",),
    ("index.dask",),
    ("linkage",),
    ("prediction", "clustering", "index", "leaderboard"),
    ("represent",),
    ("hubness",),
    ("evaluate",),
    ("measures",),
    ("neighbors",),
    ("trees",),
    ("columns",),
    ("datasets",),
    ("show.reasons",),
    ("table",),
    ("kernels", "show.result"),
    ("show.html", "show.layout"),
]
HEIGHT = {package: len(LAYERS) - i for i, layer in enumerate(LAYERS) for package in layer}
COMMON = 0  # errors, saving and _runtime: used by every package, using only each other
TOP = HEIGHT["cli"]

IMPORTERS = ("import_module", "find_spec", "__import__")
# The only files that may import modules whose names the source does not show.
BY_TABLE = {
    "__init__.py": "resolves the public names lazily, from the table _NAMES",
    "saving/load.py": "imports the packages that define the classes in saved files",
}


def lazy_names(source):
    """Public name -> package, read from the table in ``__init__.py`` without importing anything."""
    for node in ast.parse((source / "__init__.py").read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "_NAMES":
            table = ast.literal_eval(node.value)
            verbs = {path.stem: "verbs" for path in (source / "verbs").glob("*.py")}
            modules = {path.parent.name: path.parent.name for path in source.glob("*/__init__.py")}
            named = {name: home.removeprefix("lookalike.") for name, home in table.items()}
            return modules | verbs | named
    return {}


def unit_of(path):
    """The package of a dotted path that has a layer: ``show.html``, else ``measures``."""
    unit = ".".join(path[:2])
    return unit if unit in HEIGHT else path[0]


def height(unit):
    """The layer of a package; None for one that has none."""
    common = unit in ("errors", "saving") or unit.startswith("_")
    return HEIGHT.get(unit, COMMON if common else None)


def statements(tree, package):
    """Yield (line, dotted path) for every import statement in a file, also in functions."""
    for node in ast.walk(tree):  # so TYPE_CHECKING blocks and functions are seen as well
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = base + (node.module.split(".") if node.module else [])
            yield from ((node.lineno, [*base, alias.name]) for alias in node.names)


def by_string(tree, package):
    """Yield (line, dotted path) for imports made by a call; None where the name is computed."""
    strings = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and re.fullmatch(r"lookalike(\.\w+)+", str(node.value))
    ]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name not in IMPORTERS:
            continue
        asked = node.args[0]
        if isinstance(asked, ast.Constant):
            names = [asked.value]
        elif isinstance(asked, ast.JoinedStr):  # an f-string may begin with a whole package
            start = getattr(asked.values[0], "value", "")
            names = [start + "*"] if isinstance(start, str) and start.count(".") > 1 else [None]
        elif isinstance(asked, ast.Name):  # any of the module names in the file
            names = strings or [None]
        else:
            names = [None]
        for one in names:
            if one is not None and one.startswith("."):
                level = len(one) - len(one.lstrip("."))
                one = ".".join([*package[: len(package) - level + 1], one.lstrip(".")])
            yield node.lineno, one if one is None else one.split(".")


@cache  # four tests ask about every file
def imports_of(text, package):
    """Return (line, dotted path) for everything that a file of a package imports."""
    tree = ast.parse(text)
    return [*statements(tree, list(package)), *by_string(tree, list(package))]


def imports(source):
    """Yield (file, line, package, path below lookalike); the path is None for a computed name."""
    for file in sorted(source.rglob("*.py")):
        inside = file.relative_to(source)
        unit = unit_of([part.removesuffix(".py") for part in inside.parts])
        package = ["lookalike", *inside.parts[:-1]]
        for line, path in imports_of(file.read_text(), tuple(package)):
            if path is None or path[0] == "lookalike":
                yield inside.as_posix(), line, unit, path if path is None else path[1:]


def edges(source):
    """Yield (file, line, package, imported package) for imports from one package into another."""
    public = lazy_names(source)
    for file, line, unit, path in imports(source):
        # The first file resolves its names lazily, so it is above all layers.
        if file == "__init__.py" or path is None:
            continue
        rest = ".".join(path)
        other = unit_of(public.get(rest, rest).split("."))
        if other != unit:
            yield file, line, unit, other


def computed_imports(source):
    return [
        f"{file}:{line}: imports a module whose name is computed"
        for file, line, _, path in imports(source)
        if path is None and file not in BY_TABLE
    ]


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def private_imports(source):
    """Names and modules with an underscore that one package takes from another."""
    found = []
    for file, line, unit, path in imports(source):
        # Modules beside the packages begin with an underscore, and every package may use them.
        if path and path[0] != unit.split(".")[0] and any(is_private(name) for name in path[1:]):
            found.append(f"{file}:{line}: lookalike.{'.'.join(path)} is private to {path[0]}")
    return found


def wrong_imports(source):
    found = []
    for file, line, unit, other in edges(source):
        where = f"{file}:{line}"
        here, there = height(unit), height(other)
        if here is None:
            found.append(f"{where}: the folder {unit!r} is not in LAYERS")
        elif other == "":  # `import lookalike` hides which package is meant
            if here < TOP:
                found.append(f"{where}: import the module that is needed, not all of lookalike")
        elif there is None:
            found.append(f"{where}: {other!r} is neither a folder in LAYERS nor a public name")
        elif there > here or (here == COMMON < there):
            found.append(f"{where}: {unit} (layer {here}) imports {other} (layer {there}) above it")
    return found


def circles(source):
    """Folders from which imports inside their own layer lead back to themselves."""
    uses = {}
    for _, _, unit, other in edges(source):
        if height(unit) == height(other) != COMMON:
            uses.setdefault(unit, set()).add(other)

    def reachable(unit):
        seen, todo = set(), [unit]
        while todo:
            for other in uses.get(todo.pop(), set()) - seen:
                seen.add(other)
                todo.append(other)
        return seen

    return sorted(unit for unit in uses if unit in reachable(unit))


def test_imports_point_downward():
    wrong = wrong_imports(SOURCE)
    assert not wrong, "\n".join(["imports against the arrow:", *wrong])


def test_no_module_is_imported_by_a_computed_name():
    assert not computed_imports(SOURCE)


@pytest.mark.parametrize("file", BY_TABLE)
def test_files_that_import_by_a_table_still_do(file):
    assert list(by_string(ast.parse((SOURCE / file).read_text()), ["lookalike"]))


def test_no_private_name_is_imported_across_packages():
    wrong = private_imports(SOURCE)
    assert not wrong, "\n".join(["private names of other packages:", *wrong])


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
        ("attic/a.py", "from lookalike.table import Table", "is not in LAYERS"),
        ("measures/a.py", "from lookalike.attic import a", "neither a folder"),
        ("table/a.py", "import_module('lookalike.measures.mixed.gower')", "table/a.py:1: table"),
        ("table/a.py", "importlib.import_module('..cli.main', __package__)", "table/a.py:1: table"),
        ("table/a.py", "find_spec(f'lookalike.measures.{name}')", "table/a.py:1: table"),
        ("table/a.py", "x = __import__('lookalike.cli')", "table/a.py:1: table"),
        ("table/a.py", "HOME = 'lookalike.cli'\nimport_module(HOME)", "table/a.py:2: table"),
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
        "prediction/a.py": "from lookalike import errors, read_table\nfrom ..clustering.b import c",
        "cli/a.py": "import lookalike as la",
        "_save.py": "from lookalike._runtime.config import settings\nfrom .errors import message",
    }.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(code)
    assert wrong_imports(tmp_path) == []
    assert circles(tmp_path) == []


def test_a_circle_inside_a_layer_is_named(tmp_path):
    (tmp_path / "__init__.py").write_text("")
    for one, other in pairwise(["prediction", "index", "clustering", "prediction"]):
        (tmp_path / one).mkdir()
        (tmp_path / one / "a.py").write_text(f"from lookalike.{other} import a")
    assert circles(tmp_path) == ["clustering", "index", "prediction"]


@pytest.mark.parametrize(
    "code",
    [
        "import_module(f'lookalike.{unit}')",
        "import_module(name)",
        "find_spec('lookalike.' + unit)",
        "__import__(f'{package}.table')",
    ],
)
def test_a_computed_name_is_named(tmp_path, code):
    (tmp_path / "cli").mkdir()
    (tmp_path / "cli" / "a.py").write_text(code)
    (tmp_path / "saving").mkdir()
    (tmp_path / "saving" / "load.py").write_text(code)
    (wrong,) = computed_imports(tmp_path)
    assert wrong.startswith("cli/a.py:1: ")


@pytest.mark.parametrize(
    "code",
    [
        "from lookalike.measures.contract.base import Measure, _hidden",
        "from lookalike.measures._base import Measure",
        "from lookalike.measures import _base",
        "def f():\n    import lookalike.measures._base",
        "from lookalike.saving.encode import _table",
        "import_module('lookalike.measures._base')",
        "from ..measures._base import Measure",
    ],
)
def test_a_private_name_of_another_package_is_named(tmp_path, code):
    for unit in ("cli", "measures"):
        (tmp_path / unit).mkdir()
    (tmp_path / "cli" / "a.py").write_text(code)
    assert len(private_imports(tmp_path)) == 1


def test_private_names_stay_usable_at_home(tmp_path):
    (tmp_path / "measures").mkdir()
    code = "from lookalike.measures._base import _hidden\nfrom lookalike.saving.encode import a\n"
    code += "from lookalike import __version__\nfrom . import _base\n"
    (tmp_path / "measures" / "a.py").write_text(code)
    assert private_imports(tmp_path) == []
