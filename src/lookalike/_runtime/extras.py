"""Optional packages: what to install where one is missing."""

from __future__ import annotations

from lookalike.errors import MissingExtra


def check_service(who: str) -> None:
    """Raise what to install if a package of the service is missing.

    Parameters
    ----------
    who : str
        What needs them.
    """
    try:
        import fastapi  # noqa: F401
        import prometheus_client  # noqa: F401
        import python_multipart  # noqa: F401
        import sqlalchemy  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        hint, found = "Install lookalike[service]", f"no {error.name}"
        raise MissingExtra(who, "its packages", found, hint) from error
