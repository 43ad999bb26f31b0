"""The part of an index that is about approximate search: graphs, their recall, a word of it."""

from __future__ import annotations

import warnings

from sklearn.base import BaseEstimator

from lookalike.errors import LookalikeWarning, Param
from lookalike.index.sketches import Sketches
from lookalike.index.snapshot import Snapshot
from lookalike.saving.fields import Dims


class MayMiss:
    """The part of an index that is about approximate search."""

    approximate: bool
    recall: float
    state_: Snapshot

    @property
    def _sketches(self) -> Sketches | None:
        """What proposes rows, where some may be missed."""
        return Sketches(self.recall) if self.approximate else None

    def _sketch(self, state: Snapshot, tell: bool = False) -> None:
        """Make ahead of the first question the graphs that approximate search walks."""
        if self.approximate:
            _, why = self._sketches_of(state)
            if why and tell:
                warnings.warn(
                    LookalikeWarning(
                        Param("approximate", True, of=type(self).__name__),
                        "rows that can be found by their sketches",
                        why,
                        (
                            "Rows are searched exactly; leave out ",
                            Param("approximate", True),
                            ", or see the guide to approximate search for measures "
                            "that have sketches",
                        ),
                    ),
                    stacklevel=3,
                )

    def _sketches_of(self, state: Snapshot) -> tuple[float, str]:
        """Return the recall over all segments, and why rows are searched exactly if they are."""
        sketches = self._sketches
        if sketches is None:
            return 1.0, ""
        segments = state.segments.segments
        tuned = [sketches.tuned(state.measure, segment.rows) for segment in segments]
        whole = sum(len(segment) for segment in segments)
        found = sum(part.recall * len(rows) for part, rows in zip(tuned, segments, strict=True))
        return found / max(1, whole), next((part.why for part in tuned if part.why), "")

    @property
    def recall_(self) -> float:
        """The share of the ten nearest rows that a search finds, measured on a sample of rows.

        1 for exact search. Rows as near as the tenth count as found. Segments of the index, of
        which later rows have their own, count by their rows.
        """
        return self._sketches_of(self.state_)[0]

    def check_loaded(self, dims: Dims) -> None:
        """Make the graphs of approximate search again: files hold none."""
        self._sketch(self.state_)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text = str(BaseEstimator.__repr__(self, N_CHAR_MAX))
        if not (self.approximate and hasattr(self, "state_")):
            return text
        return f"{text}  # finds {self.recall_:.1%} of the ten nearest rows of a sample"
