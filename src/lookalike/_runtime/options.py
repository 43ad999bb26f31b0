"""Options written as text, such as ``metric=cosine,scale=minmax``."""

import json
from typing import Any

CONSTANTS = {"None": None, "True": True, "False": False}


def read_option(word: str) -> Any:
    """Read a value as JSON, or in Python's spelling of the three constants, else as a word.

    Examples
    --------
    >>> read_option("3"), read_option("None"), read_option("cosine")
    (3, None, 'cosine')
    """
    if word in CONSTANTS:
        return CONSTANTS[word]
    try:
        return json.loads(word)
    except (json.JSONDecodeError, RecursionError):
        return word


def split_options(text: str) -> list[str]:
    """Split at the commas outside of brackets and quotes.

    Examples
    --------
    >>> split_options('weights={"a": 1, "b": 2},missing=midpoint')
    ['weights={"a": 1, "b": 2}', 'missing=midpoint']
    """
    parts, depth, quoted = [""], 0, False
    for letter in text:
        if letter == '"':
            quoted = not quoted
        elif not quoted:
            depth += (letter in "[{") - (letter in "]}")
        # Below zero as well: a bracket that closes too much must not join the rest.
        if letter == "," and depth <= 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part.strip()]
