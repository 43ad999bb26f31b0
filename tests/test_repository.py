"""What stands around the code agrees with it: pinned versions, commands, the README's example."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import lookalike
from documented import doctest_of_page, run_saving

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def pins():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    kept = [line.partition("#")[0].strip() for line in lines]
    return {canonicalize_name(Requirement(line).name): Requirement(line) for line in kept if line}


def requirements():
    """Every requirement of the project and its extras, our own name left out."""
    lists = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    found = {Requirement(line) for lines in lists for line in lines}
    return sorted((r for r in found if r.name != "lookalike"), key=str)


@pytest.mark.parametrize("requirement", requirements(), ids=str)
def test_every_dependency_is_pinned_within_its_range(requirement):
    pin = pins().get(canonicalize_name(requirement.name))
    assert pin is not None, f"constraints.txt has no version of {requirement.name}"
    (exact,) = pin.specifier
    assert exact.operator == "=="
    assert SpecifierSet(str(requirement.specifier)).contains(exact.version, prereleases=True)


def test_constraints_are_names_and_versions_only():
    for name, pin in pins().items():
        assert re.fullmatch(r"==[\w.!+]+", str(pin.specifier)), name
        assert pin.url is None, name
    text = (ROOT / "constraints.txt").read_text()
    assert "://" not in text
    assert not re.search(r"^\s*-", text, flags=re.MULTILINE)  # no --index-url, no --find-links


@pytest.mark.parametrize("command", ["make demo", "make test"])
@pytest.mark.parametrize("file", ["README.md", "CHANGELOG.md"])
def test_the_two_commands_are_named(file, command):
    assert command in (ROOT / file).read_text()


@pytest.mark.parametrize("target", ["demo", "test", "check", "bench", "papers", "docs"])
def test_makefile_has_the_target(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)


def test_make_fuzz_tries_as_many_as_it_says():
    makefile = (ROOT / "Makefile").read_text()
    wanted = {"MUTANTS": 20_000, "FOLDERS": 1_000, "KILLS": 40, "EXAMPLES": 50, "LOAD": 600}
    recipe = re.search(r"^fuzz:.*\n((\t.*\n)+)", makefile, flags=re.MULTILINE)[1]
    for name, count in wanted.items():
        assert f"\n{name} ?= {count}\n" in makefile
        assert f"$({name})" in recipe


def test_ci_runs_what_a_person_runs():
    script = (ROOT / ".ci" / "run").read_text()
    assert "make check" in script
    assert "make test" in script


def test_citation_states_the_version():
    version = re.search(
        r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), flags=re.MULTILINE
    )
    assert version[1] == lookalike.__version__


def test_license_is_the_one_declared():
    assert PROJECT["license"] == "BSD-3-Clause"
    assert (ROOT / "LICENSE").read_text().startswith("BSD 3-Clause License")


def example(text):
    """The first block of Python in a page, and the block of text after it: what it prints."""
    found = re.search(r"```python\n(.*?)```.*?```text\n(.*?)```", text, flags=re.DOTALL)
    return (found[1], found[2]) if found else None


def trimmed(text):
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def test_readme_example_prints_what_it_says(tmp_path):
    found = example((ROOT / "README.md").read_text())
    assert found, "README.md has no ```python block followed by a ```text block"
    code, promised = found
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert trimmed(done.stdout) == trimmed(promised)


def test_example_pairs_code_with_its_output():
    assert example("a\n```python\nprint(1)\n```\ngives\n```text\n1\n```\n") == ("print(1)\n", "1\n")
    assert example("```python\nprint(1)\n```\n") is None


def pages_with_examples():
    pages = [page.relative_to(ROOT).as_posix() for page in sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in pages if "_build" not in page and ">>> " in (ROOT / page).read_text()]


@pytest.mark.parametrize("page", pages_with_examples())
def test_examples_in_the_documentation_run_and_what_they_make_can_be_saved(page, tmp_path):
    assert run_saving(doctest_of_page(ROOT / page), tmp_path / "x") == ""


def unsafe_loading(tree):
    """Lines that could run code out of a file: pickle and its kin, eval, exec."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call):
            names = [ast.unparse(node.func)]
            names += [
                "allow_pickle"
                for keyword in node.keywords
                if keyword.arg == "allow_pickle" and ast.unparse(keyword.value) != "False"
            ]
        else:
            continue
        for name in names:
            first = name.split(".")[0]
            if first in {"pickle", "cloudpickle", "dill", "marshal", "shelve", "allow_pickle"}:
                yield node.lineno, name
            elif name in {"eval", "exec", "joblib.load", "builtins.eval", "builtins.exec"}:
                yield node.lineno, name


def test_nothing_in_the_library_runs_code_from_a_file():
    for file in sorted((ROOT / "src").rglob("*.py")):
        found = list(unsafe_loading(ast.parse(file.read_text())))
        assert not found, f"{file.relative_to(ROOT)}: {found}"


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from joblib import load",
        "def f():\n    import cloudpickle as c",
        "joblib.load(path)",
        "eval('1')",
        "np.load(path, allow_pickle=True)",
    ],
)
def test_unsafe_loading_is_found(code):
    assert list(unsafe_loading(ast.parse(code)))
    assert not list(unsafe_loading(ast.parse("import json\nnp.load(path, allow_pickle=False)")))
