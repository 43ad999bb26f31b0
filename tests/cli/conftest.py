"""What the tests of the command line share: the first test to need a loop is not a special one."""

import pytest


@pytest.fixture(autouse=True)
def _no_compile_note(monkeypatch):
    """Keep the note about compiling, which comes once per machine, out of standard error."""
    monkeypatch.setattr("lookalike.kernels.when_compiling", [])
