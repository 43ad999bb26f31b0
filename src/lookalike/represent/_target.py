"""Whether a target holds classes or numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.errors import InvalidInput, message, suggest

__all__ = ["TARGETS", "as_classes"]

TARGETS = ("auto", "classes", "numbers")


def as_classes(
    y: Any, n: int, who: str, target: str = "auto"
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return (int64 codes, classes) of classes, or (float64 values, None) of numbers."""
    if target not in TARGETS:
        wants = "target one of " + ", ".join(map(repr, TARGETS))
        raise InvalidInput(message(who, wants, repr(target), suggest(str(target), TARGETS)))
    values = np.asarray(y)
    if values.ndim != 1 or len(values) != n:
        raise InvalidInput(
            message(
                who,
                f"one target value for each of the {n} rows",
                f"an array of shape {values.shape}",
                "Pass y as an array of n values",
            )
        )
    numeric = values.dtype.kind in "iuf"
    if numeric and not np.isfinite(values.astype(np.float64)).all():
        raise InvalidInput(
            message(who, "a target without gaps", "NaN or infinity in y", "Drop these rows")
        )
    if target == "auto":
        whole = numeric and np.array_equal(values, np.floor(values))
        # Whole numbers that hardly repeat are no classes; relieff_weights has the same rule.
        few = whole and len(np.unique(values)) <= max(2, n / 2)
        target = "classes" if few or not numeric else "numbers"
    if target == "numbers":
        if not numeric:
            found = f"values of type {values.dtype}"
            raise InvalidInput(message(who, "a target of numbers", found, "Use target='classes'"))
        return values.astype(np.float64), None
    classes, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int64), classes
