"""Printed values of Fernando and Webb (2017): Tables 1, 2, 3 and 5; the figures show none."""

from __future__ import annotations

# Trees -> mean and standard deviation of the agreement of two forests.
TABLE_1: dict[str, dict[int, tuple[float, float]]] = {
    "SimUSF": {100: (0.951, 0.016), 1000: (0.994, 0.002), 10000: (0.999, 0.000)},
    "SimURF": {100: (0.418, 0.078), 1000: (0.694, 0.035), 10000: (0.867, 0.018)},
}

# Share of pairs with similarity 0 in percent, from the text.
ZEROS: dict[str, dict[int, float]] = {
    "SimUSF": {100: 0.0},
    "SimURF": {100: 96.0, 1000: 85.5, 10000: 71.0},
}

# Table 2: name in the paper -> file, n, d, classes; Table 3 likewise. Corel is not available.
DENSITY_SETS = {
    "Iris": ("iris", 150, 4, 3),
    "Wine": ("wine", 178, 13, 3),
    "Seeds": ("seeds", 210, 7, 3),
    "Libras Movement": ("libras_movement", 360, 91, 15),
    "Image Segmentation": ("image_segmentation", 2310, 19, 7),
    "S-set S2": ("s_set_s2", 5000, 2, 15),
}
RETRIEVAL_SETS = {
    "GTZAN Music": ("gtzan_features", 1000, 230, 10),
    "Steel Plates Faults": ("steel_plates_faults", 1941, 27, 7),
    "Cardiotocography": ("cardiotocography", 2126, 21, 10),
    "ISOLET": ("isolet_1560", 7797, 617, 26),
    "Letter Recognition": ("letter_recognition", 20000, 16, 26),
}

# (n, d) -> seconds for one similarity between two unseen rows.
TABLE_5: dict[tuple[int, int], dict[str, float]] = {
    (1000, 10): {"cityblock": 1.11e-4, "ranked cityblock": 3.17e-2, "SimUSF": 2.01e-2},
    (1000, 100): {"cityblock": 1.12e-4, "ranked cityblock": 3.07e-1, "SimUSF": 2.01e-2},
    (1000, 1000): {"cityblock": 1.36e-4, "ranked cityblock": 3.06, "SimUSF": 2.01e-2},
    (10000, 10): {"cityblock": 1.11e-4, "ranked cityblock": 3.28e-1, "SimUSF": 2.02e-2},
    (10000, 100): {"cityblock": 1.12e-4, "ranked cityblock": 3.01, "SimUSF": 2.02e-2},
    (10000, 1000): {"cityblock": 1.38e-4, "ranked cityblock": 32.0, "SimUSF": 2.01e-2},
}

# (n, d) -> seconds of preprocessing. The three of cityblock at n = 10000 do not grow with d, which
# cannot be: digits are lost in print or in our copy, so they are not given.
TABLE_5_BEFORE: dict[tuple[int, int], dict[str, float]] = {
    (1000, 10): {"cityblock": 1.76e-3, "ranked cityblock": 1.76, "SimUSF": 2.90},
    (1000, 100): {"cityblock": 1.58e-2, "ranked cityblock": 16.7, "SimUSF": 2.90},
    (1000, 1000): {"cityblock": 1.53e-1, "ranked cityblock": 201.0, "SimUSF": 2.90},
    (10000, 10): {"ranked cityblock": 17.0, "SimUSF": 2.91},
    (10000, 100): {"ranked cityblock": 176.0, "SimUSF": 2.90},
    (10000, 1000): {"ranked cityblock": 2090.0, "SimUSF": 3.10},
}
