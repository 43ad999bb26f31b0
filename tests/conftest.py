"""What all tests share: how hypothesis searches, and where the published data sets may lie."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The first call of a kernel compiles it, so times say nothing about the code. Continuous
# integration tries the same examples every time; at a desk the search goes on.
settings.register_profile(
    "lookalike",
    deadline=None,
    max_examples=40,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("lookalike")


@pytest.fixture(scope="session")
def data_folder():
    """Return the folder of published data sets, or skip: users do not have it."""
    folder = os.environ.get("LOOKALIKE_DATA")
    path = Path(folder) if folder else Path(__file__).parents[2] / "shared" / "data"
    if not path.is_dir():
        pytest.skip("the published data sets are not here (set LOOKALIKE_DATA to their folder)")
    return path
