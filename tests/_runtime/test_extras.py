import pytest

from lookalike._runtime import extras
from lookalike.errors import MissingExtra


def test_a_missing_package_says_what_to_install(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "uvicorn" else True)
    with pytest.raises(MissingExtra, match=r"explore.*no uvicorn.*lookalike\[service\]"):
        extras.check_service("explore")


def test_nothing_is_raised_where_all_are_there(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: True)
    extras.check_service("explore")
