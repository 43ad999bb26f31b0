"""Who is in everybody's list, and who in nobody's, before and after the repair."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lookalike.errors import InvalidInput
from lookalike.hubness import hubs_and_orphans, k_occurrence, skewness
from lookalike.index import Index
from lookalike.service.analysis.sample import Sample, fit_plain, take, take_again
from lookalike.service.store.results import Kept
from lookalike.service.view import View, missing_row

TOP, ORPHANS = 20, 50
BINS = 30


@dataclass(frozen=True, eq=False)
class Lists:
    """The neighbor lists of one space, and how often each row stands in them."""

    indices: np.ndarray
    occurrence: np.ndarray


@dataclass(frozen=True, eq=False)
class Hubs:
    """The lists of a sample of rows in the plain and in the repaired space."""

    sample: Sample
    k: int
    plain: Lists
    repaired: Lists | None

    def space(self, name: str) -> Lists:
        """Return the lists of a space."""
        if name == "plain" or self.repaired is None:
            return self.plain
        return self.repaired

    def kept(self) -> Kept:
        """Return what is worth keeping."""
        arrays = {"plain": self.plain.indices, "plain_counts": self.plain.occurrence}
        if self.repaired is not None:
            after = self.repaired
            arrays |= {"repaired": after.indices, "repaired_counts": after.occurrence}
        smaller = {name: values.astype(np.int32) for name, values in arrays.items()}
        return Kept({"ids": self.sample.ids, "k": self.k}, smaller)

    @classmethod
    def of(cls, view: View, kept: Kept) -> Hubs | None:
        """Return hubs that were kept; None where they are of other rows."""
        sample = take_again(view, kept.about["ids"])
        if sample is None:
            return None
        spaces = [
            Lists(
                kept.arrays[name].astype(np.int64), kept.arrays[f"{name}_counts"].astype(np.int64)
            )
            for name in ("plain", "repaired")
            if name in kept.arrays
        ]
        return cls(sample, kept.about["k"], spaces[0], spaces[1] if len(spaces) > 1 else None)

    def document(self) -> dict[str, Any]:
        """Return what there is to say, as JSON holds it."""
        repaired = None if self.repaired is None else self._about(self.repaired)
        plain = self._about(self.plain)
        return {
            "k": self.k,
            "rows": len(self.sample.ids),
            "sampled": self.sample.sampled,
            "generation": self.sample.view.generation,
            "plain": plain,
            "repaired": repaired,
            "sentence": self._sentence(plain, repaired),
        }

    def shown_by(self, id: Any, space: str, limit: int) -> dict[str, Any]:
        """Return in whose lists a row stands, those where it comes first before the others."""
        place = self.sample.places.get(id)
        if place is None:
            raise missing_row(id)
        lists = self.space(space)
        rows, ranks = np.nonzero(lists.indices == place)
        order = np.lexsort((rows, ranks))[:limit]
        shown = [
            self.sample.name(int(rows[at])) | {"rank": int(ranks[at]) + 1} for at in order.tolist()
        ]
        return {"id": id, "occurrence": int(lists.occurrence[place]), "shown_by": shown}

    def _about(self, lists: Lists) -> dict[str, Any]:
        counts = lists.occurrence
        found = hubs_and_orphans(counts, self.k)
        top = np.argsort(-counts, kind="stable")[:TOP]
        orphans = found.orphans
        return {
            "skewness": float(skewness(counts)),
            "largest": int(found.largest),
            "hubs": len(found.hubs),
            "unreachable": len(orphans),
            "unreachable_share": len(orphans) / len(counts),
            "histogram": self._histogram(counts),
            "top": [
                self.sample.row(int(at)) | {"occurrence": int(counts[at])} for at in top.tolist()
            ],
            "orphans": [self.sample.row(int(at)) for at in orphans[:ORPHANS].tolist()],
        }

    def _histogram(self, counts: np.ndarray) -> dict[str, Any]:
        """Count rows by occurrence, in bins that are the same for both spaces."""
        both = [self.plain, *([] if self.repaired is None else [self.repaired])]
        largest = max(int(lists.occurrence.max(initial=0)) for lists in both)
        # Nobody's neighbors have a bin of their own; the others grow like the counts do.
        steps = np.unique(np.geomspace(1, max(2, largest + 1), BINS).round().astype(int))
        edges = np.concatenate([[0], steps])
        sizes, _ = np.histogram(counts, np.append(edges[:-1], edges[-1] + 1))
        return {"edges": edges.tolist(), "counts": sizes.tolist()}

    def _sentence(self, plain: dict[str, Any], repaired: dict[str, Any] | None) -> str:
        n = len(self.sample.ids)
        text = (
            f"{plain['unreachable']:,} of {n:,} rows are among the {self.k} nearest of no other "
            f"row: browsing never shows them. The most frequent row, {plain['top'][0]['label']}, "
            f"stands in {plain['largest']:,} lists."
        )
        if repaired is not None:
            text += (
                f" In the repaired space {repaired['unreachable']:,} rows are never shown, and the "
                f"most frequent one stands in {repaired['largest']:,} lists."
            )
        return text


def can_be_repaired(view: View) -> bool:
    """Whether the measure of a view can be wrapped: not one that is a repair itself."""
    traits = view.index.measure_.traits
    return not traits.pairwise and not hasattr(view.index.measure_, "measure_")


def find_hubs(view: View, repaired: Index | None, k: int) -> Hubs:
    """Count in how many lists each row stands.

    Parameters
    ----------
    view : View
    repaired : Index or None
        The same rows in the repaired space.
    k : int
        Length of the lists.
    """
    if len(view.index) < 3:
        raise InvalidInput("hubs", "at least 3 rows", str(len(view.index)), "Add rows")
    sample = take(view)
    k = min(k, len(sample.ids) - 1)
    plain = _lists(fit_plain(sample), k)
    after = None
    if repaired is not None:
        index = take(replace(view, index=repaired))
        after = _lists(fit_plain(index), k)
    return Hubs(sample, k, plain, after)


def _lists(space: Any, k: int) -> Lists:
    graph = space.neighbors(None, k)
    return Lists(graph.indices, np.asarray(k_occurrence(graph, k)))
