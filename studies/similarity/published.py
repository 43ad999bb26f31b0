"""The printed values of Piernik, Brzezinski and Zawadzki (2022), Table I."""

from __future__ import annotations

from dataclasses import dataclass

METHODS = ("RF", "RSF", "SF")


@dataclass(frozen=True)
class Printed:
    """A row of Table I: mean area under the curve of RF, RSF and SF, and its marks.

    A mark is "*" for significantly better than both others, "o" than one of them, "" for neither.
    """

    areas: tuple[float, float, float]
    marks: tuple[str, str, str]
    rows: int
    columns: int


SCALAR = {
    "australian": Printed((0.92, 0.91, 0.92), ("o", "", "o"), 690, 8),
    "breast": Printed((0.99, 0.99, 0.99), ("", "", "*"), 683, 10),
    "diabetes": Printed((0.80, 0.80, 0.80), ("", "", ""), 768, 6),
    "german": Printed((0.73, 0.69, 0.72), ("o", "", "o"), 1000, 18),
    "heart": Printed((0.88, 0.88, 0.89), ("", "", ""), 270, 9),
    "ionosphere": Printed((0.84, 0.86, 0.84), ("", "*", ""), 351, 2),
    "liver": Printed((0.77, 0.76, 0.76), ("", "", ""), 145, 4),
    "sonar": Printed((0.89, 0.87, 0.91), ("", "", "o"), 208, 59),
    "splice": Printed((0.99, 0.98, 0.90), ("o", "o", ""), 1000, 60),
    "svmguide3": Printed((0.84, 0.84, 0.77), ("o", "o", ""), 1243, 21),
}
SEQUENCES = {
    "items": Printed((1.00, 0.91, 0.84), ("*", "o", ""), 400, 1),
    "lengths": Printed((0.86, 0.91, 0.91), ("", "o", "o"), 400, 1),
    "order": Printed((0.56, 0.79, 0.74), ("", "*", "o"), 400, 1),
}
MIXED = {"wgsovarian": Printed((0.69, 0.76, 0.61), ("o", "*", ""), 219, 44)}
# Matrices of edit distances that are not available; RF cannot be run on them.
ONLY_PRINTED = {"chickenpieces": (0.99, 0.99), "toolset": (0.96, 0.93)}
