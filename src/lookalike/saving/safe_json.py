"""Parse untrusted JSON: nothing nested so deeply that reading it ends the process."""

import json
from typing import Any

import numpy as np

DEEPEST = 256  # brackets inside brackets; our own files have a few dozen
CHUNK_BYTES = 2**20


def json_depth(text: bytes, lines: bool = False) -> int:
    """Return how deeply the brackets of a JSON text are nested, without parsing it.

    Parameters
    ----------
    text : bytes
    lines : bool
        Every line is a text of its own (JSON lines).

    Examples
    --------
    >>> json_depth(b'{"a": [1, "[[["]}')
    2
    """
    # Escaped quotes do not end a string; escaped backslashes first, or \\" would lose its quote.
    if b"\\" in text:
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    deepest, level, inside = 0, 0, 0
    # Counted by numpy in pieces: json would recurse, a loop over bytes is slow.
    for start in range(0, len(text), CHUNK_BYTES):
        part = np.frombuffer(text, np.uint8, min(CHUNK_BYTES, len(text) - start), start)
        quotes = np.cumsum(part == ord('"'), dtype=np.int64) + inside
        if lines:
            quotes -= _at_last(part == ord("\n"), quotes)
        outside = quotes % 2 == 0
        opens, closes = np.isin(part, OPENS), np.isin(part, CLOSES)
        levels = np.cumsum((opens & outside) * 1 - (closes & outside)) + level
        if lines:
            levels -= _at_last(part == ord("\n"), levels)
        deepest, level = max(deepest, int(levels.max())), int(levels[-1])
        inside = int(quotes[-1]) % 2
    return deepest


def _at_last(marks: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return for every position the count at the last mark up to it, 0 before the first mark."""
    last = np.maximum.accumulate(np.where(marks, np.arange(len(marks)), -1))
    return np.where(last >= 0, counts[last], 0)


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
