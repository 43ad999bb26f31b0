"""What a user installs: the wheel has all files, unit and container file do what they say."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
import venv
import zipfile
from pathlib import Path

import pytest

from service.running import free_port

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"

if not (ROOT / "pyproject.toml").is_file():
    pytest.skip("the tests are not in a checkout", allow_module_level=True)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel without the network."""
    pytest.importorskip("hatchling", reason="install lookalike[dev] to build the wheel")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"]
    command += ["--no-build-isolation", "--wheel-dir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr
    (found,) = folder.glob("lookalike-*.whl")
    return found


@pytest.fixture(scope="module")
def fresh(wheel, tmp_path_factory):
    """Install the wheel into a new environment, whose other packages are those of this one."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    where = subprocess.check_output(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], text=True
    )
    # All of them: this environment may itself take packages from another one.
    others = [path for path in sys.path if Path(path).name == "site-packages"]
    Path(where.strip(), "others.pth").write_text("\n".join(others) + "\n")
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    command += ["--no-index", "--no-deps", "--ignore-installed", str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def ran(fresh, *command, **env):
    """Run a command of the new environment, away from the sources."""
    first, *rest = command
    clean = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(
        [str(fresh / "bin" / first), *rest],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
        cwd=fresh,
        env=clean | {"COLUMNS": "100"} | env,
    )


def test_the_wheel_has_every_file(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    source = ROOT / "src"
    files = [path for path in (source / "lookalike").rglob("*") if path.is_file()]
    wanted = {str(path.relative_to(source)) for path in files if "__pycache__" not in path.parts}
    assert wanted <= names
    for one in (
        "py.typed",
        "service/store/database.py",
        "table/data/scales.toml",
        "service/web/index.html",
    ):
        assert f"lookalike/{one}" in names
    web = [name for name in names if name.startswith("lookalike/service/web/")]
    assert {Path(name).suffix for name in web} >= {".html", ".js", ".css"}
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/", "docs/"))]


@pytest.mark.long
def test_a_new_environment_serves(fresh):
    where = ran(fresh, "python", "-c", "import lookalike; print(lookalike.__file__)")
    assert Path(where.stdout.strip()).is_relative_to(fresh), where
    helped = ran(fresh, "lookalike", "serve", "--help")
    assert helped.returncode == 0, helped.stderr
    assert "--allow-host" in helped.stdout


def instructions():
    """Return the instructions of the container file, each with its words."""
    text = re.sub(r"\\\n\s*", " ", (DEPLOY / "Containerfile").read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [tuple(line.split(" ", 1)) for line in lines]


def test_the_container_installs_what_there_is():
    found = instructions()
    words = [word for word, _ in found]
    assert words[0] == "FROM"
    assert set(words) <= {"FROM", "ARG", "RUN", "USER", "ENV", "VOLUME", "EXPOSE", "HEALTHCHECK",
                          "ENTRYPOINT"}  # fmt: skip
    assert words.index("USER") < words.index("ENTRYPOINT")  # not as root
    arguments = dict(found)
    name, extras = re.fullmatch(r'PACKAGE="(\w+)\[(.+)\]"', arguments["ARG"]).groups()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert name == project["name"]
    assert set(extras.split(",")) <= set(project["optional-dependencies"])
    version = re.search(r"python:3\.(\d+)", arguments["FROM"]).group(1)
    assert int(version) >= int(re.search(r"3\.(\d+)", project["requires-python"]).group(1))
    run = shlex.split(arguments["RUN"])
    assert run[:3] == ["pip", "install", "--no-cache-dir"]
    assert "$PACKAGE" in run


@pytest.mark.long
def test_the_container_starts_with_a_token_and_only_with_one(fresh, tmp_path):
    parts = dict(instructions())
    entry = json.loads(parts["ENTRYPOINT"])
    names = dict(pair.split("=") for pair in parts["ENV"].split())
    home = {name: path.replace("/data", str(tmp_path)) for name, path in names.items()}
    refused = ran(fresh, *entry, "--port", "0", **home)
    assert refused.returncode == 1
    assert "lookalike token create" in " ".join((refused.stdout + refused.stderr).split())
    made = ran(fresh, "lookalike", "token", "create", "me", "--scope", "write", **home)
    assert made.returncode == 0, made.stderr
    token = re.search(r"la_\S+", made.stdout).group()
    assert (tmp_path / "lookalike" / "store.sqlite").is_file()
    port = free_port()
    clean = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    server = subprocess.Popen(
        [str(fresh / "bin" / entry[0]), *entry[1:], "--port", str(port)],
        cwd=tmp_path,
        env=clean | home,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        line = server.stderr.readline()
        while "serving" not in line:
            assert line, "the server did not start"
            line = server.stderr.readline()
        check = json.loads(parts["HEALTHCHECK"].split(" CMD ")[1])
        assert int(re.search(r":(\d+)/", check[2]).group(1)) == int(parts["EXPOSE"])
        health = [str(fresh / "bin" / check[0]), *check[1:]]
        health[2] = health[2].replace(parts["EXPOSE"], str(port))
        subprocess.run(health, check=True, timeout=300)
        address = f"http://127.0.0.1:{port}/api/collections"
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(address, timeout=300)
        assert error.value.code == 401
        error.value.close()
        asked = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(asked, timeout=300) as answer:
            assert json.load(answer) == {"collections": []}
    finally:
        server.terminate()
        server.wait(300)
        server.stderr.close()


def unit_lines(name):
    text = (DEPLOY / "lookalike.service").read_text(encoding="utf-8")
    return re.findall(rf"^{name}=(.+)$", text, re.M)


def test_the_unit_is_one_that_systemd_takes(fresh, tmp_path):
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("no systemd here")
    text = (DEPLOY / "lookalike.service").read_text(encoding="utf-8")
    unit = tmp_path / "lookalike.service"
    unit.write_text(text.replace("/opt/lookalike/bin", str(fresh / "bin")), encoding="utf-8")
    command = [program, "verify", "--man=no", "--recursive-errors=no", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if "Failed to" in done.stderr and "lookalike.service" not in done.stderr:
        pytest.skip(f"systemd-analyze does not work here: {done.stderr.strip()[:200]}")
    assert "lookalike.service" not in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr


def test_the_unit_asks_for_what_the_command_has(fresh, tmp_path):
    (start,) = unit_lines("ExecStart")
    program, *words = shlex.split(start)
    assert program == "/opt/lookalike/bin/lookalike"
    (store,) = [one for one in unit_lines("Environment") if one.startswith("LOOKALIKE_STORE=")]
    assert store.split("=", 1)[1].startswith("postgresql+psycopg://")
    words = [str(tmp_path / "s.sqlite") if "LOOKALIKE_STORE" in word else word for word in words]
    refused = ran(fresh, "lookalike", *words)
    assert refused.returncode == 1  # every option was taken; a token is missing
    assert "a token in the store" in " ".join((refused.stdout + refused.stderr).split())
