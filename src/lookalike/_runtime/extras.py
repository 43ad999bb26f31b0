"""Optional packages: what to install where one is missing."""

from collections.abc import Iterator
from contextlib import contextmanager

from lookalike.errors import MissingExtra, Part, Phrase


@contextmanager
def needing(extra: str, who: Part, instead: Part = "") -> Iterator[None]:
    """Turn the failing import of an optional package into the advice what to install.

    Parameters
    ----------
    extra : str
        Of lookalike, such as ``"excel"``.
    who : text or parameter
        What needs the package.
    instead : the same, optional
        What else helps, after the advice to install it.
    """
    try:
        yield
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        hint = Phrase(f'Install it with: pip install "lookalike[{extra}]"', instead)
        raise MissingExtra(who, f"the package {package}", "it is not installed", hint) from error


def check_service(who: str) -> None:
    """Raise what to install if a package of the service is missing.

    Parameters
    ----------
    who : str
        What needs them.
    """
    with needing("service", who):
        import fastapi  # noqa: F401
        import prometheus_client  # noqa: F401
        import python_multipart  # noqa: F401
        import sqlalchemy  # noqa: F401
        import uvicorn  # noqa: F401
