"""Importing lookalike and asking for help stay light."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

import lookalike

SOURCE = Path(lookalike.__file__).parent
HEAVY = {
    *("numpy", "scipy", "sklearn", "numba", "pandas", "polars", "pyarrow", "narwhals"),
    *("matplotlib", "fastapi", "dask", "rich", "typer"),
}
HEAVY_FOR_HELP = {"scipy", "sklearn", "numba", "pandas", "polars", "matplotlib", "fastapi", "dask"}

needs_cli = pytest.mark.skipif(
    not (SOURCE / "cli" / "__init__.py").exists(), reason="there is no command line yet"
)

HELP = """
import sys
from lookalike.cli import main
sys.argv = ["lookalike", "--help"]
try:
    main()
except SystemExit as done:
    assert not done.code, done.code
"""
LOADED = "\nprint('loaded:', *sorted({name.split('.')[0] for name in sys.modules}))"


def run(code):
    """Run code in a fresh interpreter; return what it printed and the processor seconds it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def loaded(code):
    printed, _ = run("import sys\n" + code + LOADED)
    return set(printed.splitlines()[-1].split()[1:])


def test_import_loads_nothing_heavy():
    assert not loaded("import lookalike") & HEAVY


def test_a_lazy_name_loads_its_module():
    # The two sides of the test above: the names are really there, and the check does see modules.
    assert "numpy" in loaded("import lookalike as la; la.Table")


def test_import_is_quick():
    code = "import time; t = time.perf_counter(); import lookalike; print(time.perf_counter() - t)"
    assert min(float(run(code)[0]) for _ in range(3)) < 0.2


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'Gowwer'"):
        lookalike.Gowwer  # noqa: B018
    assert not hasattr(lookalike, "nothing")


def test_dir_lists_the_public_names():
    assert dir(lookalike) == sorted(lookalike.__all__)


@needs_cli
def test_help_loads_nothing_heavy():
    assert not loaded(HELP) & HEAVY_FOR_HELP


@needs_cli
def test_help_is_quick():
    # A ratio of processor times, taken in turns: other tests run beside this one.
    bare = "import typer, rich.console, rich.markdown, rich.panel, rich.table"
    turns = [(run(HELP)[1], run(bare)[1]) for _ in range(3)]
    ours, theirs = (min(times) for times in zip(*turns, strict=True))
    assert ours < 4 * theirs


SEARCH = """
import sys
from lookalike.cli import main
sys.argv = ["lookalike", "search", {file!r}, "--row", "1"]
try:
    main()
except SystemExit as done:
    assert not done.code, done.code
print("\\nmodules:", *sys.modules)
"""
# What a question to a table of numbers and words does not need; scikit-learn brings scipy.stats.
NOT_FOR_A_QUESTION = {
    *("sklearn.metrics", "sklearn.neighbors", "numba", "llvmlite"),
    *("rapidfuzz", "matplotlib", "polars", "dask", "faiss", "fastapi", "sqlalchemy", "openpyxl"),
    *(
        "lookalike.prediction",
        "lookalike.clustering",
        "lookalike.leaderboard",
        "lookalike.show.report",
    ),
    *("studies", "lookalike.service", "lookalike.index.dask", "lookalike.testing"),
}


@needs_cli
def test_a_question_loads_what_it_needs(tmp_path):
    file = tmp_path / "pets.csv"
    rows = [f"{i % 7},{'cat' if i % 3 else 'dog'}" for i in range(50)]
    file.write_text("\n".join(["weight,animal", *rows]) + "\n")
    printed, _ = run(SEARCH.format(file=str(file)))
    known = set(printed.splitlines()[-1].split()[1:])
    assert "lookalike.index" in known
    assert not known & NOT_FOR_A_QUESTION
