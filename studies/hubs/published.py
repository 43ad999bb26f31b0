"""Printed values of Schnitzer, Flexer, Schedl and Widmer (2012): Tables 1 to 5, Figure 2."""

from __future__ import annotations

from typing import NamedTuple

SPACES = ("original", "NICDM", "MP")

# Name, classes, n, d, intrinsic dimension; then for each space C1 and C5 in percent (a star where
# the paper marks a significant difference from the original), S5, Goodman-Kruskal index.
TABLES_1_AND_2 = """
fourclass 2 862 2 2|100 100 0.15 0.22|100 100 0.06 0.21|100 100 0.04 0.23
arcene 2 100 10000 399|82.0 75.0 0.25 0.07|81.0 77.0 -0.27 0.06|80.0 81.0 0.15 0.10
liver-disorders 2 345 6 6|62.6 60.6 0.39 0.00|63.2 65.8* -0.04 0.03|62.9 65.5* -0.03 0.01
australian 2 690 14 3|65.5 68.8 0.44 0.13|65.7 69.4 -0.09 0.14|65.4 68.4 0.08 0.14
diabetes 2 768 8 6|70.6 74.1 0.49 0.20|69.8 74.1 0.04 0.15|70.3 73.2 -0.02 0.19
heart 2 270 13 7|75.6 80.0 0.50 0.35|75.9 79.3 -0.00 0.27|75.6 80.4 0.08 0.39
ovarian-61902 2 253 15154 10|95.3 93.7 0.66 0.20|95.7 93.3 -0.10 0.19|94.1 94.1 -0.28 0.19
breast-cancer 2 683 10 5|95.6 97.4 0.71 0.89|95.8 97.1 0.19 0.42|96.0 97.1 0.22 0.91
mfeat-factors 10 2000 216 7|95.0 94.7 0.79 0.71|94.8 94.7 0.15 0.76|94.5 94.9 0.01 0.77
colon-cancer 2 62 2000 11|72.6 77.4 0.81 0.19|69.4 82.3 0.08 0.18|67.7 82.3 -0.11 0.19
ger.num 2 1000 24 8|67.5 71.7 0.81 0.07|66.8 72.0 0.32 0.03|67.6 71.4 0.11 0.07
amlall 2 72 7129 32|91.7 93.1 0.83 0.31|93.1 97.2 0.56 0.33|88.9 91.7 -0.01 0.34
mfeat-karhunen 10 2000 64 15|97.4 97.4 0.84 0.76|97.2 97.6 0.27 0.74|97.0 97.5 0.08 0.79
lungcancer 2 181 12533 60|98.9 100 1.07 0.56|99.4 98.9 0.31 0.50|98.3 97.8 0.01 0.56
c224a-web 14 224 1244 41|86.2 89.3 1.09 0.79|87.9 92.4* 0.42 0.89|88.4 92.4 0.22 0.89
mfeat-pixels 10 2000 240 12|97.6 97.7 1.25 0.75|97.2 97.8 0.28 0.75|97.2 97.5 0.13 0.79
duke 2 38 7129 16|73.7 68.4 1.37 0.02|81.6 68.4 0.43 0.06|76.3 68.4 0.21 0.03
corel1000 10 1000 192 9|70.7 65.2 1.45 0.33|72.9* 72.0* 0.39 0.47|71.6 70.3* 0.31 0.50
sonar 2 208 60 11|87.5 82.2 1.54 0.07|87.0 87.0 0.47 0.08|87.5 84.1 0.32 0.08
ionosphere 2 351 34 13|86.9 85.5 1.55 0.31|92.3* 94.3* 0.28 0.07|91.7* 89.7* 0.50 0.27
reuters-transcribed 10 201 2730 70|44.3 49.3 1.61 0.38|45.3 52.7 0.63 0.32|42.3 55.2* 0.18 0.43
ballroom 8 698 820 12|54.3 48.1 2.98 0.15|57.2 51.6* 1.09 0.20|56.6 54.3* 0.30 0.18
ismir2004 6 729 820 25|80.4 74.1 3.20 0.37|83.8* 79.0* 0.77 0.21|83.4* 77.0* 0.46 0.45
movie-reviews 2 2000 10382 28|71.1 75.7 4.07 0.05|72.0 76.0 1.22 0.07|71.8 76.7 0.36 0.07
dexter 2 300 20000 161|80.3 80.3 4.22 0.10|84.3 86.0* 2.02 0.13|83.0 90.0* 0.58 0.13
gisette 2 6000 5000 149|96.0 96.3 4.48 0.16|97.2* 98.1* 0.78 0.20|97.4* 97.9* 0.34 0.20
splice 2 1000 60 27|69.6 69.4 4.55 0.07|73.3* 79.3* 1.51 0.11|72.4 77.2* 0.48 0.10
mini-newsgroups 20 2000 8811 188|64.4 65.6 5.14 0.47|67.2* 68.5* 1.32 0.52|67.7* 68.4* 0.60 0.57
dorothea 2 800 100000 201|90.6 90.2 12.91 0.21|92.2 93.0* 11.72 0.21|91.5 93.1* 1.66 0.20
c1ka-twitter 17 969 49820 46|31.9 26.6 14.63 0.08|47.8* 53.0* 2.94 0.33|49.0* 50.8* 1.79 0.16
"""


class Row(NamedTuple):
    """One printed line: accuracies in percent, hubness, Goodman-Kruskal index, starred k."""

    c1: float
    c5: float
    s5: float
    gk: float
    starred: tuple[int, ...]


class Printed(NamedTuple):
    """One set: its number, classes, n, d, intrinsic dimension, and a line for each space."""

    number: int
    classes: int
    n: int
    d: int
    dimension: int
    rows: tuple[Row, ...]


def _read(number: int, line: str) -> tuple[str, Printed]:
    about, *spaces = line.split("|")
    name, *counts = about.split()
    rows = []
    for space in spaces:
        cells = space.split()
        statistics = [float(cell.rstrip("*")) for cell in cells]
        starred = tuple(k for k, cell in zip((1, 5), cells, strict=False) if cell.endswith("*"))
        rows.append(Row(statistics[0], statistics[1], statistics[2], statistics[3], starred))
    classes, n, d, dimension = map(int, counts)
    return name, Printed(number, classes, n, d, dimension, tuple(rows))


SETS = dict(_read(at, line) for at, line in enumerate(TABLES_1_AND_2.split("\n")[1:-1], 1))

# Means over the thirty sets, as the text states them.
AVERAGES = {
    "S5": (2.5, 0.94, 0.29),
    "symmetric, k = 5": (46.0, 70.8, 69.0),
    "symmetric, k = 10 % of n": (53.0, 71.1, 73.7),
}

# Table 3: for hubs, orphans and others their number and the badness in each space, in percent.
BADNESS: dict[str, dict[str, tuple[int, float | None, float, float]]] = {
    "c1ka-twitter": {
        "hubs": (13, 83.5, 54.0, 55.7),
        "orphans": (540, None, 59.3, 59.2),
        "others": (416, 46.2, 47.9, 50.1),
    },
    "dorothea": {
        "hubs": (19, 10.2, 9.7, 6.8),
        "orphans": (730, None, 10.4, 10.6),
        "others": (51, 8.6, 7.1, 4.9),
    },
    "mini-newsgroups": {
        "hubs": (38, 67.2, 62.2, 60.7),
        "orphans": (304, None, 45.6, 43.5),
        "others": (1658, 42.2, 41.5, 41.6),
    },
    "splice": {
        "hubs": (28, 36.5, 29.3, 28.6),
        "orphans": (289, None, 31.8, 30.9),
        "others": (683, 35.0, 31.5, 31.7),
    },
    "gisette": {
        "hubs": (49, 18.9, 10.9, 9.8),
        "orphans": (635, None, 7.9, 8.1),
        "others": (5316, 4.7, 4.0, 3.9),
    },
    "dexter": {
        "hubs": (11, 44.3, 27.9, 28.4),
        "orphans": (80, None, 33.5, 30.5),
        "others": (209, 18.2, 18.1, 17.7),
    },
    "movie-reviews": {
        "hubs": (50, 37.5, 35.4, 36.2),
        "orphans": (293, None, 36.0, 36.3),
        "others": (1657, 31.5, 32.0, 32.3),
    },
    "ismir2004": {
        "hubs": (10, 50.3, 27.8, 27.3),
        "orphans": (120, None, 44.2, 38.0),
        "others": (599, 25.7, 24.4, 25.0),
    },
    "ballroom": {
        "hubs": (12, 67.9, 62.8, 63.8),
        "orphans": (148, None, 59.5, 58.6),
        "others": (538, 51.6, 49.0, 48.3),
    },
}

# The averages printed below Table 3: original, NICDM, MP.
BADNESS_AVERAGES: dict[str, tuple[float | None, float, float]] = {
    "hubs": (46.3, 35.6, 35.3),
    "orphans": (None, 36.5, 35.1),
    "others": (29.3, 28.4, 28.4),
}

# Figure 2: accuracy of one and of five neighbors in the plane.
TOY = {
    ("original", 1): 96.4,
    ("original", 5): 95.2,
    ("MP", 1): 100.0,
    ("MP", 5): 98.8,
}

# Table 4: shares of the songs of Table 5 in percent; a song may have several genres.
GENRES = {
    "Pop": 37.6,
    "Rock": 46.3,
    "Electronica": 44.0,
    "Hip-Hop": 14.3,
    "Funk": 19.7,
    "Reggae": 5.3,
}

# Table 5: songs of a radio station; standard distances, sampled mutual proximity, lots.
MUSIC = {
    "R1 %": (51.9, 54.5, 29.0),
    "R5 %": (48.2, 50.1, 28.5),
    "R10 %": (47.1, 48.6, 28.4),
    "S5": (5.65, 2.31, 0.46),
    "largest N5": (242.0, 70.0, 17.0),
    "reachable, k = 5, %": (72.6, 86.2, 99.4),
    "S10": (5.01, 2.14, 0.36),
    "largest N10": (416.0, 130.0, 25.0),
    "reachable, k = 10, %": (81.9, 93.7, 99.9),
}
