"""Stores on both databases, and servers on them."""

import itertools
import shutil
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="install lookalike[service] to test the service")
pytest.importorskip("sqlalchemy", reason="install lookalike[service] to test the service")

from lookalike.service.fitting import CollectionSettings
from lookalike.service.limits import RequestLimits
from lookalike.service.service import Catalog
from lookalike.service.store.store import Store
from service.running import PETS, Postgres, running

NUMBERS = itertools.count()


def programs():
    """Find the programs of PostgreSQL, where there are any."""
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return folders[-1].parent if folders else None


@pytest.fixture(scope="session")
def postgres():
    """Start a PostgreSQL server for these tests only, or skip."""
    where = programs()
    if where is None:
        pytest.skip("no PostgreSQL here: install the package postgresql")
    pytest.importorskip("psycopg", reason="install lookalike[postgres] to test PostgreSQL")
    folder = tempfile.mkdtemp(prefix="lookalike-pg-")
    server = Postgres(folder, where)
    yield server
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.long)])
def address(request, tmp_path):
    """Return where a new store may be made, on each kind of database."""
    if request.param == "sqlite":
        return str(tmp_path / "store.sqlite")
    return request.getfixturevalue("postgres").database(f"store{next(NUMBERS)}")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Serve some pets for all tests of a file that do not change them."""
    with running(tmp_path_factory.mktemp("server") / "store.sqlite") as (service, client):
        client.create("pets", rows=PETS)
        client.service = service
        yield client


@pytest.fixture
def pets(tmp_path):
    """Serve some pets that a test may change."""
    with running(tmp_path / "store.sqlite") as (service, client):
        client.create("pets", rows=PETS)
        client.service = service
        yield client


@pytest.fixture
def catalog(address):
    """Return the catalog of an empty store."""
    made = Catalog(Store(address))
    made.address = address
    yield made
    made.store.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A collection of rows with a group, a text label and a set, without a server."""
    store = Store(tmp_path_factory.mktemp("made") / "a.sqlite")
    rows = [
        {"name": f"row {i}", "x": float(i % 7), "y": float(i * i % 11), "group": "ab"[i % 2]}
        for i in range(12)
    ]
    settings = CollectionSettings("made", label_column="name")
    yield Catalog(store).create("made", rows, settings, RequestLimits())
    store.close()
