"""The text that figures depend on: when it changes, kept figures are made again."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType

# What is only said about figures, or drawn from them, changes none of them.
WORDS = ("__init__", "notes", "summary", "left_open", "published", "plots", "drawing")
OF_A_PAPER = "studies."


def source_of(module: ModuleType | None) -> str:
    """Return the text of a module, and of those beside it where a paper has several."""
    if module is None:
        return ""
    try:
        text = inspect.getsource(module)
    except (OSError, TypeError):
        return ""
    if not (module.__package__ or "").startswith(OF_A_PAPER):
        return text
    beside = sorted(Path(str(module.__file__)).parent.glob("*.py"))
    return text + "".join(path.read_text("utf-8") for path in beside if path.stem not in WORDS)
