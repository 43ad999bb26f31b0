"""One cell as one text: the words of saved files, for cells that Arrow has no type for."""

from __future__ import annotations

import json
from typing import Any

from lookalike.saving.decode import decode_plain
from lookalike.saving.encode import encode_plain
from lookalike.saving.safe_json import parse_json


def encode_cell(cell: Any) -> str:
    """Return a cell as a JSON text.

    Examples
    --------
    >>> decode_cell(encode_cell(frozenset({1, "a"}))) == {1, "a"}
    True
    """
    return json.dumps(encode_plain(cell), allow_nan=False)


def decode_cell(text: str) -> Any:
    """Return the cell that ``encode_cell`` has written."""
    return decode_plain(parse_json(text.encode()))
