"""What the thesis prints: its sets (Table 1), the means of Tables 2 and 3, the worked example."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Printed:
    """One line of Table 1: the file it is in here, and what is printed of it."""

    file: str
    rows: int
    learn: int
    test: int
    largest: float  # share of the largest class, percent
    missing: float  # percent of the cells
    inputs: int
    classes: int
    numbers: int
    nominal: int
    ordinal: int


SETS = {
    "Pima": Printed("pima_missing", 768, 500, 268, 65.1, 10.6, 8, 2, 8, 0, 0),
    "Colic 23": Printed("horse_colic_outcome", 363, 295, 68, 61.4, 25.6, 22, 3, 7, 7, 8),
    "Colic 24": Printed("horse_colic_lesion", 364, 296, 68, 63.5, 25.6, 22, 2, 7, 7, 8),
    "Credit": Printed("credit_approval", 690, 400, 290, 55.5, 0.65, 15, 2, 6, 9, 0),
    "Audiology": Printed("audiology", 226, 200, 26, 66.3, 2.1, 31, 4, 0, 24, 7),
    "Heart": Printed("heart_statlog", 270, 200, 70, 55.56, 0.0, 13, 2, 6, 6, 1),
    "Hepatitis": Printed("hepatitis", 155, 100, 55, 79.35, 5.6, 19, 2, 6, 13, 0),
}

# Mean test error over the seven sets, percent; the first two rows are Table 2.
TABLE3 = {
    "raw": 22.2,
    "Gower": 22.1,
    "medoids_similarity": 23.3,
    "medoids": 23.9,
    "relieff": 25.9,
    "cfs": 23.3,
}

# Three rows of four numbers, each column of range 4; None is a gap.
EXAMPLE = ((1, 2, 3, 1), (1, 3, 3, None), (1, 3, 3, 5))
