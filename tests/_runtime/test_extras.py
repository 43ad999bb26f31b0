import sys

import pytest

from lookalike._runtime.extras import check_service
from lookalike.errors import MissingExtra


def test_a_missing_package_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(MissingExtra, match=r"explore.*sqlalchemy.*lookalike\[service\]"):
        check_service("explore")


def test_nothing_is_raised_where_all_are_there():
    pytest.importorskip("fastapi", reason="the service is not installed")
    check_service("lookalike serve")
