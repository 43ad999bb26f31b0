"""What is asked of Arrow types and arrays again and again."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Most columns fail a pattern in their first strings, so a regular expression over millions of
# strings is hardly ever run in vain.
# Distinct strings that a pattern must fit before all of them are tried.
MAX_SAMPLE_STRINGS = 200


def to_numpy(cells: Any) -> np.ndarray:
    """Return an Arrow array as numpy has it, copied where the two cannot share memory."""
    return np.asarray(cells.to_numpy(zero_copy_only=False))


def is_number(kind: Any) -> bool:
    """Whether an Arrow type is that of integers or floats."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def is_numeric(kind: Any) -> bool:
    """Whether cells of an Arrow type can be taken for numbers: also true and false."""
    return is_number(kind) or bool(pa.types.is_boolean(kind))


def is_list(kind: Any) -> bool:
    """Whether an Arrow type is that of lists; None is the type of Python objects."""
    return kind is not None and pa.types.is_nested(kind) and not pa.types.is_struct(kind)


def map_distinct(strings: Any, value: Callable[[str], float], missing: float) -> np.ndarray:
    """Apply a function to every string of an Arrow array, once for each distinct one."""
    encoded = strings.dictionary_encode()
    values = np.array([*map(value, encoded.dictionary.to_pylist()), missing])
    return np.asarray(values[to_numpy(pc.fill_null(encoded.indices.cast(pa.int64()), -1))])


def matches(strings: Any, pattern: str) -> np.ndarray:
    """Return which strings have a pattern."""
    return to_numpy(pc.match_substring_regex(strings, pattern))


def all_match(strings: Any, pattern: str) -> bool:
    """Whether every string has a pattern; a sample is asked first, as most columns fail there."""
    samples = strings[:MAX_SAMPLE_STRINGS], strings
    return all(bool(matches(some, pattern).all()) for some in samples)
