"""Optional packages: what to install where one is missing."""

import importlib
from typing import Any

from lookalike.errors import MissingExtra, Part, Phrase


def load_extra(name: str, extra: str, who: Part, instead: Part = "") -> Any:
    """Import a module of an optional package; the error names the extra that brings it.

    Parameters
    ----------
    name : str
        Of the module.
    extra : str
        Of lookalike, such as ``"excel"``.
    who : text or parameter
        What needs it.
    instead : the same, optional
        What else helps, after the advice to install it.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        hint = Phrase(f'Install it with: pip install "lookalike[{extra}]"', instead)
        raise MissingExtra(who, f"the package {package}", "it is not installed", hint) from error


def check_service(who: str) -> None:
    """Raise what to install if a package of the service is missing.

    Parameters
    ----------
    who : str
        What needs them.
    """
    for name in ("fastapi", "prometheus_client", "python_multipart", "sqlalchemy", "uvicorn"):
        load_extra(name, "service", who)
