"""Optional packages: what to install where one is missing."""

from __future__ import annotations

from importlib.util import find_spec

from lookalike.errors import MissingExtra

SERVICE = ("fastapi", "prometheus_client", "python_multipart", "sqlalchemy", "uvicorn")


def check_service(who: str) -> None:
    """Raise what to install if a package of the service is missing.

    Parameters
    ----------
    who : str
        What needs them.
    """
    for name in SERVICE:
        if find_spec(name) is None:
            raise MissingExtra(who, "its packages", f"no {name}", "Install lookalike[service]")
