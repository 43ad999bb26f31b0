"""Which rows belong together, and what sets some rows apart from the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from lookalike._runtime.text import plain
from lookalike.clustering import SimilarityClustering, profile_clusters
from lookalike.clustering.profile import column_differences
from lookalike.errors import InvalidInput, spelled
from lookalike.service.analysis.sample import Sample, take, take_again, with_rows
from lookalike.service.spelling import spell_field
from lookalike.service.store.results import Kept
from lookalike.service.view import View, missing_row

TYPICAL = 5
SOME = 500  # rows of a set among which typical ones are looked for
COLUMNS = 6


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters of a sample of rows."""

    sample: Sample
    labels: np.ndarray
    profiles: list[dict[str, Any]]
    note: str | None

    def by_id(self) -> dict[Any, int]:
        """Return the cluster of each row, -1 for none."""
        return dict(zip(self.sample.ids, self.labels.tolist(), strict=True))

    def kept(self) -> Kept:
        """Return what is worth keeping."""
        about = {"ids": self.sample.ids, "profiles": self.profiles, "note": self.note}
        return Kept(about, {"labels": self.labels})

    @classmethod
    def of(cls, view: View, kept: Kept) -> Clusters | None:
        """Return clusters that were kept; None where they are of other rows."""
        sample = take_again(view, kept.about["ids"])
        if sample is None:
            return None
        return cls(sample, kept.arrays["labels"], kept.about["profiles"], kept.about["note"])

    def document(self) -> dict[str, Any]:
        """Return what there is to say, as JSON holds it."""
        return {
            "clusters": self.profiles,
            "measure": repr(self.sample.view.index.measure_),
            "sampled": self.sample.sampled,
            "generation": self.sample.view.generation,
            "note": self.note,
        }


def find_clusters(view: View) -> Clusters:
    """Cluster the rows of a view by its measure."""
    if len(view.index) < 3:
        raise InvalidInput("clusters", "at least 3 rows", str(len(view.index)), "Add rows")
    sample = take(view)
    model = SimilarityClustering(clone(view.index.measure_), random_state=0).fit(sample.table)
    found = profile_clusters(model, sample.table, n_columns=COLUMNS, n_examples=TYPICAL)
    profiles = [
        {
            "cluster": one.cluster,
            "size": one.rows,
            "label_rows": [sample.name(row) for row in one.typical],
            "differs": [{"column": each.column, "text": str(each)} for each in one.columns],
        }
        for one in found.clusters
    ]
    note = "; ".join(spelled(note, spell_field) for note in found.notes) or None
    return Clusters(sample, np.asarray(model.labels_), profiles, note)


def profile(view: View, ids: Sequence[Any]) -> dict[str, Any]:
    """Say what makes some rows different from all others, the largest difference first."""
    for id in ids:
        if id not in view.index:
            raise missing_row(id)
    sample = with_rows(take(view, most=len(view.index)), ids)
    labels = np.full(len(sample.ids), -1)
    inside = np.unique([sample.places[id] for id in ids])
    labels[inside] = 0
    differs = []
    for column in sample.table.columns:
        (one,) = column_differences(column, labels, 1)
        if one is not None and one.size > 0:
            differs.append(one)
    differs.sort(key=lambda one: -one.size)
    return {
        "size": len(inside),
        "rest": len(labels) - len(inside),
        "sampled": sample.sampled,
        "differs": [
            {
                "column": one.column,
                "kind": one.kind,
                "what": one.what,
                "value": plain(one.value),
                "inside": plain(one.inside),
                "outside": plain(one.outside),
                "text": str(one),
                "score": float(one.size),
            }
            for one in differs
        ],
        "typical": [sample.name(int(inside[place])) for place in _typical(sample, inside)],
        "generation": view.generation,
    }


def _typical(sample: Sample, inside: np.ndarray) -> tuple[int, ...]:
    """Return which of some rows are most like the others of them."""
    if len(inside) <= 2:
        return tuple(range(len(inside)))
    some = np.arange(len(inside))
    if len(some) > SOME:
        some = np.sort(np.random.default_rng(0).choice(some, SOME, replace=False))
    together = np.zeros(len(some), dtype=np.int64)
    (one,) = profile_clusters(together, sample.table[inside[some]], n_examples=TYPICAL)
    return tuple(int(some[place]) for place in one.typical)
