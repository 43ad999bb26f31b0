"""Colours that are distinguishable for colour-blind readers, and small helps for plots."""

from __future__ import annotations

from typing import Any

# Okabe and Ito (2008), Color Universal Design: without yellow, which is too light for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def tidy(axes: Any, x: str = "", y: str = "", title: str = "") -> None:
    """Label axes, and take away the frame that carries nothing."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if title:
        axes.set_title(title, fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", linewidth=0.4, alpha=0.5)
    axes.set_axisbelow(True)
