"""What all tests share: how hypothesis searches, what is left out, where the data sets are."""

import os
import pkgutil
import shutil
from contextlib import nullcontext, suppress
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

# The first call of a kernel compiles it, so times say nothing about the code. The same examples
# are tried every time; the search for new ones is `make fuzz`.
RULES = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("lookalike", max_examples=10, derandomize=True, **RULES)
settings.register_profile("thorough", max_examples=30, derandomize=True, **RULES)
settings.register_profile("fuzz", max_examples=1000, print_blob=True, **RULES)
FUZZ = os.environ.get("LOOKALIKE_FUZZ", "0") not in ("", "0")
# Tests that take long and find little that the others do not: killed servers, processes that are
# interrupted from outside. Continuous integration runs them, and LOOKALIKE_LONG=1.
LONG = any(os.environ.get(name, "0") not in ("", "0") for name in ("CI", "LOOKALIKE_LONG"))
settings.load_profile("fuzz" if FUZZ else "thorough" if LONG else "lookalike")
# Folders of tests that call loops with a numpy fallback: see ``compiled_loops``.
CALL_LOOPS = {"kernels", "columns", "measures", "neighbors", "trees", "hubness"}
# scikit-learn's own checks: forty for each estimator, thousands for all settings of all estimators.
CHECKS = ("test_scikit_learn_checks", "test_scikit_learns_own_checks", "test_sklearn_checks")
DATA = Path(os.environ.get("LOOKALIKE_DATA") or Path(__file__).parents[2] / "shared" / "data")
POSTPONED = pytest.StashKey[int]()
HERE = Path(__file__).parent
# Only one process compiles at a time (``kernels/_cache.py``). Each begins with as many tests as the
# others, in this order: of three, one compiles, one reads tables, one waits for servers and a
# browser, instead of all waiting for the compiler. "." is the files in no folder.
ORDER = """
kernels trees columns neighbors measures hubness index
table testing mutants datasets . _runtime evaluate leaderboard clustering cli fuzz show
service prediction represent saving verbs studies src
""".split()


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    """Import a share of the test files first, where several processes collect all of them.

    pytest rewrites every file it reads first and keeps what it made. All processes would otherwise
    rewrite the same file at the same time.
    """
    given = getattr(session.config, "workerinput", None)
    if given and session.config.args == session.config.getini("testpaths"):
        files = sorted(HERE.rglob("test_*.py"))[int(given["workerid"][2:]) :: given["workercount"]]
        for path in files:
            name = ".".join(path.relative_to(HERE.parent).with_suffix("").parts)
            with suppress(Exception, pytest.skip.Exception):  # reported when it is collected
                import_module(name)


def pytest_collection_modifyitems(config, items):
    """Leave the fuzzer what it can vary, tests of random examples; leave out what takes long."""
    if FUZZ:
        items[:] = [item for item in items if is_hypothesis_test(getattr(item, "obj", None))]
    if any(is_hypothesis_test(getattr(item, "obj", None)) for item in items):
        load_everything()
    postponed = set() if LONG else {item for item in items if item.get_closest_marker("long")}
    if not LONG:
        postponed.update(find_variants(items))
    config.stash[POSTPONED] = len(postponed)
    postponed.update(find_repeated_skips(items))
    config.hook.pytest_deselected(items=list(postponed))
    items[:] = [item for item in items if item not in postponed]
    if hasattr(config, "workerinput"):
        places = {folder: place for place, folder in enumerate(ORDER)}
        items.sort(key=lambda item: places.get(folder_of(item.path), len(places)))


def folder_of(path):
    """Return the folder of the tests that a file is in, or the one beside it."""
    first, *inner = path.relative_to(HERE.parent).parts
    return first if first != HERE.name else inner[0] if len(inner) > 1 else "."


def find_variants(items):
    """Yield the checks by scikit-learn of all but the first setting of each estimator of a file."""
    first = {}
    for item in items:
        if getattr(item, "originalname", None) in CHECKS:
            estimator = item.callspec.params["estimator"]
            if first.setdefault((item.path, type(estimator)), estimator) is not estimator:
                yield item


def find_repeated_skips(items):
    """Yield what would be skipped for want of the data sets, but for the first test of a file."""
    files = set()
    for item in items:
        if not DATA.is_dir() and "data_folder" in getattr(item, "fixturenames", ()):
            if item.path in files:
                yield item
            files.add(item.path)


def pytest_sessionfinish(session):
    """Tell the process that prints the summary how many tests this one has left out."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["postponed"] = session.config.stash.get(POSTPONED, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Take the number from a worker: all of them collect the same tests."""
    node.config.stash[POSTPONED] = getattr(node, "workeroutput", {}).get("postponed", 0)


def pytest_terminal_summary(terminalreporter, config):
    """Say what the long run adds."""
    if postponed := config.stash.get(POSTPONED, 0):
        terminalreporter.write_line(
            f"{postponed:,} tests were left out (killed servers, interrupted processes, "
            "scikit-learn's checks of further settings): LOOKALIKE_LONG=1 adds them"
        )


def load_everything():
    """Import all modules: hypothesis takes numbers and words for examples from those it finds.

    Otherwise the first test of a process would decide about the examples of all that follow.
    """
    import benchmarks
    import lookalike

    for package in (lookalike, benchmarks):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                import_module(module.name)


@pytest.fixture(scope="module", autouse=True)
def compiled_loops(request):
    """Run compiled loops, however small the call, in the tests of what calls them.

    Else a cold cache of numba would leave small calls to the numpy fallbacks, and what a test
    covers would depend on the runs before it. tests/kernels/test_fallback.py tests the fallbacks.
    With ``LOOKALIKE_COMPILE=0`` loops are as silent about overflow as they are when compiled.
    """
    from lookalike.kernels._jit import COMPILED
    from lookalike.kernels.first_use import compile_at_once

    loops = folder_of(request.path) in CALL_LOOPS
    with (
        compile_at_once() if loops else nullcontext(),
        nullcontext() if COMPILED or not loops else np.errstate(all="ignore"),
    ):
        yield


@pytest.fixture(scope="session")
def browser():
    """Return one browser for all tests of a process: playwright starts no second one in it."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if path is None:
        pytest.skip("no chromium on this machine (Debian: apt install chromium)")
    with playwright.sync_playwright() as started:
        # Newer versions of playwright draw WebGL in software without asking.
        options = ["--no-sandbox", "--enable-unsafe-swiftshader"]
        chromium = started.chromium.launch(executable_path=path, args=options)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def data_folder():
    """Return the folder of published data sets, or skip: users do not have it."""
    if not DATA.is_dir():
        pytest.skip("the published data sets are not here (set LOOKALIKE_DATA to their folder)")
    return DATA
