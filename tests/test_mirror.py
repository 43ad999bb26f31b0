"""tests/ mirrors src/: a reader of a module finds its tests, and of a test its module."""

import ast
from pathlib import Path

from mutants.nearest import named_tests

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "lookalike"
# Modules without a test file by their name, each with the reason.
ELSEWHERE = {
    "__init__.py": "tests/test_import.py and tests/test_public_names.py are about it",
}
# Packages whose tests are not yet sorted by module.
UNSORTED: set[str] = set()
# Folders of tests that belong to no package of the library.
OTHER_FOLDERS = {
    "fuzz": "damages files of every class",
    "mutants": "draws faults in every module",
    "service/page": "the explorer page in service/web",
    "studies": "the published experiments in studies/",
}


def has_logic(path):
    """Tell whether a module defines functions or classes, not names and data only."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return any(isinstance(node, kinds) for node in ast.parse(path.read_bytes()).body)


def test_every_module_has_tests_by_its_name():
    modules = [path.relative_to(SOURCE) for path in sorted(SOURCE.rglob("*.py")) if has_logic(path)]
    missing = {str(module) for module in modules if not named_tests(module, TESTS)}
    missing = {name for name in missing if Path(name).parts[0] not in UNSORTED}
    assert sorted(missing - ELSEWHERE.keys()) == []
    assert sorted(ELSEWHERE.keys() - missing) == []  # those have tests by now


def test_every_test_file_is_in_the_folder_of_a_package():
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    outside = {str(folder) for folder in folders if not (SOURCE / folder).is_dir()}
    assert sorted(outside) == sorted(OTHER_FOLDERS)


def test_a_module_has_one_test_file():
    """Only files about a whole package have names of their own: tests of a module stay together."""
    second = []
    for path in TESTS.rglob("test_*.py"):
        folder, name = path.parent.relative_to(TESTS), path.stem.removeprefix("test_")
        modules = {module.stem.strip("_") for module in (SOURCE / folder).rglob("*.py")}
        if name not in modules and any(name.startswith(f"{module}_") for module in modules):
            second.append(str(path.relative_to(TESTS)))
    assert second == []
