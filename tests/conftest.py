"""What all tests share: how hypothesis searches, and where the published data sets may lie."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

# The first call of a kernel compiles it, so times say nothing about the code. Everybody tries the
# same examples every time; the search for new ones is `make fuzz`.
RULES = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("lookalike", max_examples=40, derandomize=True, **RULES)
settings.register_profile("fuzz", max_examples=1000, print_blob=True, **RULES)
FUZZ = os.environ.get("LOOKALIKE_FUZZ", "0") not in ("", "0")
settings.load_profile("fuzz" if FUZZ else "lookalike")


def pytest_collection_modifyitems(items):
    """Leave the fuzzer what it can vary: tests of random examples."""
    if FUZZ:
        items[:] = [item for item in items if is_hypothesis_test(getattr(item, "obj", None))]


@pytest.fixture(scope="session")
def data_folder():
    """Return the folder of published data sets, or skip: users do not have it."""
    folder = os.environ.get("LOOKALIKE_DATA")
    path = Path(folder) if folder else Path(__file__).parents[2] / "shared" / "data"
    if not path.is_dir():
        pytest.skip("the published data sets are not here (set LOOKALIKE_DATA to their folder)")
    return path
