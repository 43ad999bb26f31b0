"""Logs as lines of JSON: what happened, never what is in the rows."""

from __future__ import annotations

import datetime as dt
import json
import logging
import sys
import traceback
from typing import Any

OWN = frozenset(vars(logging.LogRecord("", 0, "", 0, "", (), None))) | {"message", "taskName"}


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON.

    Of an error it writes the type and where it was raised. Its message is left out, as it may quote
    a cell.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        at = dt.datetime.fromtimestamp(record.created, dt.UTC).isoformat(timespec="milliseconds")
        found: dict[str, Any] = {
            "at": at,
            "level": record.levelname.lower(),
            "event": record.msg if record.exc_info else record.getMessage(),
        }
        found |= {name: value for name, value in vars(record).items() if name not in OWN}
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            frames = traceback.extract_tb(error.__traceback__)
            found["error"] = type(error).__name__
            found["where"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        return json.dumps(found, default=str)


def set_up(requests: bool) -> None:
    """Write logs to standard error.

    Parameters
    ----------
    requests : bool
        Whether every request is a line; else only what went wrong.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("lookalike.service", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.WARNING)
    if requests:
        logging.getLogger("lookalike.service").setLevel(logging.INFO)
