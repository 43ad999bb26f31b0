"""JSON from strangers: nothing nested so deeply that reading it ends the process."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

__all__ = ["DEEPEST", "json_depth", "parse_json"]

DEEPEST = 256  # brackets inside brackets; our own files have a few dozen
CHUNK = 2**20


def json_depth(text: bytes) -> int:
    """Return how deeply the brackets of a JSON text are nested, without parsing it.

    Examples
    --------
    >>> json_depth(b'{"a": [1, "[[["]}')
    2
    """
    if b"\\" in text:
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    deepest, level, inside = 0, 0, 0
    for start in range(0, len(text), CHUNK):
        part = np.frombuffer(text, np.uint8, min(CHUNK, len(text) - start), start)
        quotes = np.cumsum(part == ord('"'), dtype=np.int32) + inside
        opens, closes = np.isin(part, OPENS), np.isin(part, CLOSES)
        step = np.where(quotes % 2 == 0, opens.astype(np.int32) - closes, 0)
        levels = np.cumsum(step, dtype=np.int64) + level
        deepest, level = max(deepest, int(levels.max())), int(levels[-1])
        inside = int(quotes[-1]) % 2
    return deepest


OPENS = np.frombuffer(b"[{", np.uint8)
CLOSES = np.frombuffer(b"]}", np.uint8)


def parse_json(text: bytes, deepest: int = DEEPEST) -> Any:
    """Parse a JSON text; deep nesting, repeated keys and words such as NaN are a ``ValueError``."""
    depth = json_depth(text)
    if depth > deepest:
        raise ValueError(f"values nested {depth} deep, more than {deepest}")
    try:
        return json.loads(text, object_pairs_hook=_no_repeats, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("values nested too deeply") from error


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key that comes twice")
    return found


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word}, which is not JSON")
