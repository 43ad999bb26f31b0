"""Which tests stand nearest to a module: those by its name, its own doctest, its folder."""

import os
import resource
import runpy
import sys
from pathlib import Path


def named_tests(module, tests):
    """Return the test files that bear the name of a module or of the package it is in.

    Parameters
    ----------
    module : Path
        Below the package, such as ``a/b/c.py``: ``tests/a/b/test_c.py``, ``tests/a/test_b.py`` and
        ``tests/a/test_c.py`` are its tests, in this order.
    tests : Path
    """
    *folders, name = module.with_suffix("").parts
    if name == "__init__" and folders:
        name = folders.pop()
    candidates = [Path(*folders, f"test_{name.strip('_')}.py")]
    if folders:
        *above, package = folders
        candidates.append(Path(*above, f"test_{package.strip('_')}.py"))
        # Files directly in tests/ are about the whole, or about a package or a module at the root.
        if above:
            candidates.append(Path(*above, f"test_{name.strip('_')}.py"))
    return [tests / path for path in dict.fromkeys(candidates) if (tests / path).is_file()]


def nearest_tests(module, source, tests):
    """Return the tests of a module: by its name (with its doctest), then the rest of its folder.

    Parameters
    ----------
    module : Path
        Below the package.
    source : Path
        The folder of the package.
    tests : Path

    Returns
    -------
    near, rest : list of Path
        The rest begins with the files of the module's own subfolder.
    """
    near = named_tests(module, tests)
    own = tests / module.parent
    folders = [own, *own.parents][: len(module.parts) - 1]
    files = [file for folder in folders for file in sorted(folder.rglob("test_*.py"))]
    rest = [file for file in dict.fromkeys(files) if file not in near]
    return [*near, source / module], rest


def run_forked(arguments, paths, environment, folder, printed, seconds=None):
    """Run pytest in this forked process, which has imported nothing of the project yet.

    It is ended after so many ``seconds`` of processor time.
    """
    os.setsid()
    if seconds is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    os.environ.update(environment)
    os.chdir(folder)
    sys.path[:0] = paths
    output = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    runpy.run_path(str(Path(paths[0], "sitecustomize.py")))
    import pytest

    code = int(pytest.main(arguments))
    sys.stdout.flush()
    os._exit(code)  # threads that tests left behind are not waited for
