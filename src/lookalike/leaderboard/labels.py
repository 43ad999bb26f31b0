"""Labels that measures are judged by: read, taken out of the table, never amounts."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.errors import InvalidInput, Param
from lookalike.table import Table
from lookalike.table.model.targets import code_labels, split_target


def split_labels(table: Table, y: Any, who: str) -> tuple[Table, Any]:
    """Return the table without its labels, and the labels, checked, as they were given."""
    if isinstance(y, str):
        table, labels = split_target(table, y, who)
        # Not even set aside: a measure whose kinds name the column would compare by it.
        table = table.drop(y)
        if not table.columns:
            hint = "Give the table more columns than its labels"
            raise InvalidInput(who, "columns to compare", "none", hint)
        return table, labels
    if y is not None:
        code_labels(y, len(table), who)
    return table, y


def read_codes(y: Any, n: int, who: str) -> np.ndarray:
    """Return labels as whole numbers; gaps and amounts are refused."""
    codes, labels = code_labels(y, n, who)
    for label in labels:
        if isinstance(label, float | np.floating) and label != round(label):
            raise InvalidInput(
                who,
                "labels: words, whole numbers or flags",
                f"{label:g}, an amount",
                ("Cut amounts into classes, or leave ", Param("y"), " out"),
            )
    return codes
