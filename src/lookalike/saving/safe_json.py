"""Parse untrusted JSON: nothing nested so deeply that reading it ends the process."""

import json
import re
from typing import Any

import numpy as np

DEEPEST = 256  # brackets inside brackets; our own files have a few dozen
CHUNK_BYTES = 2**20
# Strings, also those that no quote ends in their line: one pass over any text.
STRINGS = re.compile(rb'"(?:[^"\\\n]++|\\[^\n])*+\\?"?')
OTHERS = bytes(set(range(256)) - set(b"[]{}\n"))
OPENS, CLOSES = np.frombuffer(b"[{", np.uint8), np.frombuffer(b"]}", np.uint8)


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
    brackets = STRINGS.sub(b"", text).translate(None, OTHERS)
    deepest = level = 0
    # Counted by numpy in pieces: json would recurse, a loop over bytes is slow.
    for start in range(0, len(brackets), CHUNK_BYTES):
        size = min(CHUNK_BYTES, len(brackets) - start)
        part = np.frombuffer(brackets, np.uint8, size, start)
        levels = level + np.cumsum(np.isin(part, OPENS) * 1 - np.isin(part, CLOSES))
        if lines:
            # Every line counts from the level at its beginning.
            last = np.maximum.accumulate(np.where(part == ord("\n"), np.arange(size), -1))
            levels -= np.where(last >= 0, levels[last], 0)
        deepest, level = max(deepest, int(levels.max())), int(levels[-1])
    return deepest


def parse_json(text: bytes, deepest: int = DEEPEST) -> Any:
    """Parse a JSON text; deep nesting, repeated keys and words such as NaN are a ``ValueError``."""
    depth = json_depth(text)
    if depth > deepest:
        raise ValueError(f"values nested {depth} deep, more than {deepest}")

    def no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a key that comes twice")
        return found

    def no_constant(word: str) -> Any:
        raise ValueError(f"{word}, which is not JSON")

    try:
        return json.loads(text, object_pairs_hook=no_repeats, parse_constant=no_constant)
    except RecursionError as error:
        raise ValueError("values nested too deeply") from error
