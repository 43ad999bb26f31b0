"""Every public name exists, explains itself with an example, and has its place in the reference."""

import ast
import dataclasses
import inspect
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import lookalike
from docs._generate import fill_in_names
from lookalike.verbs import VERBS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "lookalike"
REFERENCE = ROOT / "docs" / "reference"


def offered(file):
    """What a file lists in ``__all__``, read without importing it; None if it lists nothing."""
    if file.name == "errors.py":  # all of its classes and functions are public
        tree = ast.parse(file.read_text()).body
        return [node.name for node in tree if isinstance(node, ast.ClassDef | ast.FunctionDef)]
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return ast.literal_eval(node.value)
    return None


def public_modules():
    """Module -> its public names: lookalike, its errors, every folder that says what it offers."""
    found = {"lookalike.errors": offered(SOURCE / "errors.py")}
    for file in sorted(SOURCE.glob("*/**/__init__.py")):
        found[".".join(["lookalike", *file.parent.relative_to(SOURCE).parts])] = offered(file)
    return {"lookalike": list(lookalike._NAMES)} | {m: names for m, names in found.items() if names}


PUBLIC = public_modules()
NAMES = [
    pytest.param(module, name, id=f"{module}.{name}")
    for module, names in PUBLIC.items()
    for name in names
]


def listed(module, text):
    """The names that the reference pages list under ``currentmodule`` of a module."""
    parts = re.split(r"^\.\. currentmodule:: (\S+)$", text, flags=re.MULTILINE)
    return {
        name
        for home, part in zip(parts[1::2], parts[2::2], strict=True)
        if home == module
        for name in re.findall(r"^(?:   |\.\. data:: )(\w+)$", part, flags=re.MULTILINE)
    }


@cache
def reference_pages():
    """The pages of the reference as the documentation is built from them."""
    return fill_in_names("\n".join(page.read_text() for page in sorted(REFERENCE.glob("*.md"))))


def example_is_due(module, thing):
    """Functions and classes show how they are used; errors, records and base classes need not."""
    if not inspect.isclass(thing):
        return inspect.isroutine(thing)
    others = [getattr(import_module(module), name) for name in PUBLIC[module]]
    is_base = any(inspect.isclass(o) and o is not thing and issubclass(o, thing) for o in others)
    return not (is_base or issubclass(thing, BaseException) or dataclasses.is_dataclass(thing))


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_name_exists_and_explains_itself(module, name):
    thing = getattr(import_module(module), name)
    if not (inspect.isclass(thing) or inspect.isroutine(thing) or inspect.ismodule(thing)):
        return  # a constant; the reference is checked below
    text = thing.__doc__ or ""
    assert text.strip(), f"{module}.{name} has no docstring"
    # A dataclass without a docstring is given its signature as one.
    assert not text.startswith(f"{name}("), f"{module}.{name} has no docstring of its own"
    if example_is_due(module, thing):
        assert ">>> " in text, f"{module}.{name} has no example in its docstring"


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_name_is_in_the_reference(module, name):
    pages = reference_pages()
    if inspect.ismodule(getattr(import_module(module), name)):
        assert f"`{module}.{name}`" in pages, f"no reference page has a heading for {module}.{name}"
    else:
        assert name in listed(module, pages), f"{module}.{name} is not in docs/reference/*.md"


def test_the_reference_lists_nothing_that_is_gone():
    pages = reference_pages()
    for module in set(re.findall(r"^\.\. currentmodule:: (\S+)$", pages, flags=re.MULTILINE)):
        assert module in PUBLIC, f"the reference describes {module}, which offers no names"
        gone = listed(module, pages) - set(PUBLIC[module])
        assert not gone, f"the reference of {module} lists {sorted(gone)}, which is not there"


def test_lazy_names_resolve_to_the_things_themselves():
    for name, home in lookalike._NAMES.items():
        thing = getattr(lookalike, name)
        if not inspect.ismodule(thing):  # verbs forgive keywords that callers guess
            assert inspect.unwrap(thing) is inspect.unwrap(getattr(import_module(home), name))


def test_listed_reads_autosummary_blocks():
    text = ".. currentmodule:: a.b\n.. autosummary::\n   :toctree: x\n\n   One\n   two\n"
    text += "\n.. data:: ALL\n\n   Some words.\n"
    text += ".. currentmodule:: a.c\n.. autosummary::\n\n   Three\n"
    assert listed("a.b", text) == {"One", "two", "ALL"}
    assert listed("a.c", text) == {"Three"}


def test_pages_get_the_names_that_a_package_offers():
    text = (
        ".. currentmodule:: lookalike.columns\n.. autosummary::\n   :nosignatures:\n\n   __all__\n"
    )
    names = listed("lookalike.columns", fill_in_names(text))
    assert names == set(PUBLIC["lookalike.columns"]) - {"DISTANCES"}  # a constant
    verbs = fill_in_names("   VERBS\n\n.. autofunction:: VERBS\n").split()
    assert verbs == [*VERBS, *(word for verb in VERBS for word in ("..", "autofunction::", verb))]


# -- a measure that is passed in stays as it is ---------------------------------------------------

SIZES = [float(i % 7) + 10.0 * (i % 2) for i in range(24)]
ROWS = {"size": SIZES, "color": ["red", "blue", "blue"] * 8}
LABELS = ["small" if size < 9 else "large" for size in SIZES]
LABELED = {**ROWS, "label": LABELS}
TAKES_MEASURE = ("measure", "measures")
# How functions are called, and estimators that ``fit(ROWS, LABELS)`` of the measure is not for.
CALLS = {
    "build_index": lambda f, m, path: f(lookalike.read_table(ROWS), path / "index", m),
    "classify": lambda f, m, path: f(LABELED, "label", method="neighbors", measure=m),
    "regress": lambda f, m, path: f(LABELED, "size", method="neighbors", measure=m),
    "search": lambda f, m, path: f(ROWS, row=0, measure=m),
    "explain": lambda f, m, path: f(ROWS, 0, 1, measure=m),
    "join": lambda f, m, path: f(ROWS, ROWS, measure=m),
    "match": lambda f, m, path: f(ROWS, ROWS, measure=m),
    "read_two": lambda f, m, path: f(*[lookalike.read_table(ROWS)] * 2, m).nearest(),
    "compare": lambda f, m, path: f(ROWS, measures={"own": m}),
    "find_outliers": lambda f, m, path: f(ROWS, "neighbors", measure=m, n_neighbors=3),
    "outliers": lambda f, m, path: f(ROWS, method="neighbors", measure=m),
    "select_prototypes": lambda f, m, path: f(m, ROWS, LABELS),
    "check_measure": lambda f, m, path: f(m, ROWS),
    "AutoClustering": lambda f, m, path: f([m], ("medoids",), n_clusters=2).fit(ROWS),
    "NeighborRegressor": lambda f, m, path: f(m).fit(ROWS, SIZES).predict(ROWS),
    "SimilarityNetworkRegressor": lambda f, m, path: f(m).fit(ROWS, SIZES).predict(ROWS),
}
# A cluster of machines starts from the same function as build_index.
ELSEWHERE = {"fit_encode"}


def takers():
    """Public functions and classes with a measure among their parameters; no records."""
    found = {}
    for module, name in ((module, name) for module, names in PUBLIC.items() for name in names):
        thing = getattr(import_module(module), name)
        if not callable(thing) or dataclasses.is_dataclass(thing) or name in ELSEWHERE:
            continue
        try:
            parameters = inspect.signature(thing).parameters
        except (TypeError, ValueError):
            continue
        if set(TAKES_MEASURE) & set(parameters):
            found.setdefault(id(thing), pytest.param(thing, name, id=f"{module}.{name}"))
    return list(found.values())


def pass_in(thing, name, measure, path):
    if name in CALLS:
        return CALLS[name](thing, measure, path)
    if inspect.isclass(thing):
        return thing(measure=measure).fit(ROWS, LABELS)
    return thing(ROWS, measure=measure)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize(("thing", "name"), takers())
def test_a_measure_that_is_passed_in_is_not_fitted_again(thing, name, fitted, tmp_path):
    measure = lookalike.measures.Gower()
    if fitted:
        measure.fit({"size": [1.0, 2.0, 4.0], "color": ["red", "blue", "red"]})
    before = dict(vars(measure))
    pass_in(thing, name, measure, tmp_path)
    after = vars(measure)
    assert after.keys() == before.keys()
    assert all(after[key] is value for key, value in before.items())
