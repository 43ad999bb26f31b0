"""The wheel and the sdist, installed into an empty environment, run the README's example."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from test_repository import example, trimmed

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
# Only what is installed may be found: not the sources, not the packages of the tests.
CLEAN = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def run(*command, cwd, **options):
    return subprocess.run(
        list(map(str, command)), cwd=cwd, env=CLEAN, capture_output=True, text=True, **options
    )


def pip(python, *words, cwd):
    done = run(python, "-m", "pip", "--disable-pip-version-check", *words, cwd=cwd, timeout=1800)
    if "No matching distribution" in done.stderr or "Could not fetch" in done.stderr:
        pytest.skip(f"pip finds no packages here: {done.stderr.strip().splitlines()[-1][:200]}")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """Return the wheel and the sdist of the sources."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    done = run(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def test_the_wheel_holds_the_package_and_nothing_else(dist):
    names = zipfile.ZipFile(dist[0]).namelist()
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"lookalike"}
    source = ROOT / "src"
    ours = {
        str(path.relative_to(source))
        for path in (source / "lookalike").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if name.startswith("lookalike/")} == ours


def contents(wheel):
    with zipfile.ZipFile(wheel) as file:
        return {name: file.read(name) for name in file.namelist()}


def test_the_sdist_gives_the_same_wheel(dist, tmp_path):
    wheel, sdist = dist
    with tarfile.open(sdist) as file:
        file.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    assert {"README.md", "LICENSE", "pyproject.toml"} <= {path.name for path in folder.iterdir()}
    again = tmp_path / "again"
    done = run(
        sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", again, cwd=folder
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (other,) = again.glob("*.whl")
    assert contents(other) == contents(wheel)


@pytest.mark.long
@pytest.mark.parametrize("number", [0, 1], ids=["wheel", "sdist"])
def test_an_empty_environment_runs_the_readme(dist, number, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "empty"], check=True)
    python = tmp_path / "empty" / ("Scripts" if os.name == "nt" else "bin") / "python"
    pinned = ["-c", ROOT / "constraints.txt"]
    pip(python, "install", "--quiet", *pinned, f"{dist[number]}[demo]", cwd=tmp_path)
    code, promised = example(README)
    done = run(python, "-W", "error", "-c", code, cwd=tmp_path, timeout=1800)
    assert done.returncode == 0, done.stderr
    assert trimmed(done.stdout) == trimmed(promised)
    (tmp_path / "rows.csv").write_text("size,kind\n1,a\n2,a\n5,b\n6,b\n")
    command = (
        python.with_name("lookalike"),
        "search",
        "rows.csv",
        "--row",
        "0",
        "--output",
        "json",
    )
    done = run(*command, cwd=tmp_path, timeout=1800)
    assert done.returncode == 0, done.stderr
    assert '"hits"' in done.stdout
