"""Small tables of every kind, made up so that loops are compiled for them; see ``warming``."""

from __future__ import annotations

from typing import Any

import numpy as np

FEW = 60  # rows of a table that is only there to be compiled for
MANY = 4200  # rows from which on bytes propose neighbors, and a value takes two bytes


def numbers(n: int = FEW, columns: int = 9, dtype: Any = np.float64) -> np.ndarray:
    """Return rows of numbers."""
    return np.random.default_rng(0).normal(size=(n, columns)).astype(dtype)


def mixed(n: int = FEW, gaps: float = 0.1) -> dict[str, Any]:
    """Return columns of numbers with a share of gaps, categories, levels and flags."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=n)
    size[rng.random(n) < gaps] = np.nan
    return {
        "size": size,
        "weight": rng.normal(size=n),
        "color": rng.choice(["red", "green", "blue"], n).tolist(),
        "grade": rng.choice(["low", "middle", "high"], n).tolist(),
        "new": (rng.random(n) < 0.5).tolist(),
    }


KINDS: dict[str, Any] = {"grade": ["low", "middle", "high"]}


def kinds_of(table: Any) -> dict[str, Any] | None:
    """Return the kinds that a table of these has to be read with."""
    return KINDS if isinstance(table, dict) else None


def cells(kind: str) -> list[Any]:
    """Return cells of one kind of object."""
    rng = np.random.default_rng(0)
    letters = list("abcdefgh")
    words = [rng.choice(letters, rng.integers(1, 6)).tolist() for _ in range(FEW)]
    if kind == "text":
        return [" ".join(word) for word in words]
    if kind == "set":
        return [frozenset(word) for word in words]
    if kind == "sequence":
        return [tuple(word) for word in words]
    if kind == "sets in sequence":
        return [tuple(frozenset(letter) for letter in word) for word in words]
    if kind == "series":
        return [rng.normal(size=6) for _ in words]
    if kind == "graph":
        return [
            {"nodes": dict(enumerate(word)), "edges": [(at, at + 1) for at in range(len(word) - 1)]}
            for word in words
        ]
    return [rng.random(4) for _ in words]
