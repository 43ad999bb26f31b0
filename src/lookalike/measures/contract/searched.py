"""What an index asks of a measure beside lists of neighbors; a faster measure writes its own."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from lookalike.measures.contract.explanation import Explanation
from lookalike.measures.contract.lists import Ids, name_rows
from lookalike.measures.contract.rows import Rows
from lookalike.measures.contract.telling import finish_explanation
from lookalike.measures.contract.traits import Traits
from lookalike.neighbors.graph import NeighborGraph
from lookalike.neighbors.sketch import Sketch

Codes = Mapping[tuple[str, ...], np.ndarray]  # arrays by keys, words in a row


class SearchedRows:
    """Rows that are kept to be searched, all of them or some."""

    nearest: Callable[..., NeighborGraph]
    block: Callable[..., np.ndarray]
    traits: Traits
    _explain: Callable[[Rows, Rows], Explanation]
    scale_: float
    to_distance: Callable[[np.ndarray], np.ndarray]

    def prepare(self, rows: Rows) -> None:
        """Make ahead of the first question what searching these rows needs, if anything."""

    def sketch(self, rows: Rows) -> Sketch | None:
        """Return how rows become sketches that a graph can link; None: this measure has none.

        Parameters
        ----------
        rows : Rows, those that are going to be searched
        """
        return None

    def codes_to_arrays(self, rows: Rows) -> Codes:
        """Return what ``prepare`` makes of rows as arrays, to be kept beside them, if anything."""
        return {}

    def codes_from_arrays(self, rows: Rows, arrays: Codes) -> None:
        """Give rows what was kept beside them, so that it is not made again."""

    def convert(self, values: np.ndarray) -> np.ndarray:
        """Turn similarities into distances, or distances into similarities; may overwrite them."""
        if self.traits.conversion == "ratio":
            return np.asarray(self.scale_ / (self.scale_ + values))
        return self.to_distance(values)

    def both_blocks(self, a: Rows, b: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and similarities of every row of a to every row of b, compared once."""
        values = self.block(a, b, self.traits.native)
        other = self.convert(values.copy())
        return (values, other) if self.traits.native == "distance" else (other, values)

    def similarity_at(self, distances: np.ndarray) -> np.ndarray | None:
        """Return the similarities of pairs at these distances; None: they have to be compared.

        The same bits as ``both_blocks`` gives. Where similarities come first, 1 - s loses nothing
        for s from 1/2 to 1, so 1 - d is s again. Elsewhere, and at 0, which may have been cut off,
        distances do not say.

        Parameters
        ----------
        distances : float64 array, as lists of neighbors hold them
        """
        if not np.isfinite(distances).all():
            return None
        if self.traits.native == "distance":
            return self.convert(distances.copy())
        if self.traits.conversion != "one_minus":
            return None
        return 1.0 - distances if ((distances > 0.0) & (distances < 0.5)).all() else None

    def explain_many(self, a: Rows, b: Rows) -> list[Explanation]:
        """Explain one encoded row against each of some, all together.

        Parameters
        ----------
        a : Rows of length one
        b : Rows
        """
        each = self._explain_each(a, b)
        measure: Any = self
        return [
            found  # finished as it is
            if found.telling and not math.isnan(found.similarity)
            else finish_explanation(measure, found, a, b[at : at + 1])
            for at, found in enumerate(each)
        ]

    def _explain_each(self, a: Rows, b: Rows) -> list[Explanation]:
        return [self._explain(a, b[at : at + 1]) for at in range(len(b))]

    def steps_over(self, rows: Rows, k: int) -> bool:
        """Whether ``nearest_among`` steps over rows, instead of copying the others at each call."""
        return False

    def nearest_among(
        self,
        a: Rows,
        b: Rows,
        k: int,
        allowed: np.ndarray,
        *,
        exclude: Ids = None,
        ids: Ids = None,
    ) -> NeighborGraph:
        """Return unfinished lists of the nearest rows of b that are allowed.

        Parameters
        ----------
        a, b, k, exclude, ids : as for ``nearest``
        allowed : bool per row of b
        """
        at = np.flatnonzero(allowed)
        names: Any = at if ids is None else ids[at]
        found = self.nearest(a, b[at], k, exclude=exclude, ids=names)
        return replace(found, n_indexed=name_rows(a, b, exclude, ids)[2])
