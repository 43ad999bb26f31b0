"""What a grower hands over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

Trees = TypeVar("Trees")


@dataclass(frozen=True, eq=False)
class Grown(Generic[Trees]):
    """A forest fresh from its grower.

    Parameters
    ----------
    forest : Forest or SimilarityTrees
    in_bag : uint8 array of shape (n, n_trees) or None
        1 where a tree was grown on the row; None if nobody asked for it.
    """

    forest: Trees
    in_bag: np.ndarray | None = None
