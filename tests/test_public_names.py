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
        if not inspect.ismodule(thing):
            assert thing is getattr(import_module(home), name)


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
