"""A list of records as a data frame."""

from __future__ import annotations

import json
from typing import Any

from lookalike.errors import MissingExtra

__all__ = ["to_frame"]


def to_frame(records: list[dict[str, Any]], backend: str) -> Any:
    """Return records as a data frame; a mapping becomes JSON text, a lacking entry a gap."""
    import narwhals as nw

    names = list(dict.fromkeys(name for record in records for name in record))
    data = {name: _column([record.get(name) for record in records]) for name in names}
    try:
        return nw.from_dict(data, backend=backend).to_native()  # type: ignore[arg-type]
    except ImportError as error:
        raise MissingExtra(
            f"to_frame: needs {backend}, found none. Install it or choose another backend."
        ) from error


def _column(cells: list[Any]) -> list[Any]:
    """Return cells of one type: mappings as JSON, and words beside numbers make all of it words."""
    cells = [json.dumps(c, default=repr) if isinstance(c, dict) else c for c in cells]
    if any(isinstance(cell, str) for cell in cells):
        cells = [None if cell is None else str(cell) for cell in cells]
    return cells
