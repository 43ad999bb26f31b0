"""What the clusters are: size, typical and borderline rows, and the columns that set them apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lookalike._runtime.frames import frame_of_records
from lookalike._runtime.text import percent, plain, short
from lookalike._runtime.threads import blocks
from lookalike.clustering.scores import adjusted_rand, clustering_f_measure, purity
from lookalike.errors import InPython, InvalidInput, Param, Phrase
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.matrices import rectangle
from lookalike.measures.contract.rows import Rows
from lookalike.measures.default import default_measure
from lookalike.saving.fields import Integer
from lookalike.show.html.document import HtmlReport
from lookalike.show.html.markup import Html, bullets, paragraphs, table
from lookalike.show.reasons import Style, style_of
from lookalike.table import Column, Table, read_table
from lookalike.table.model.names import row_labels
from lookalike.table.model.targets import split_target

WORDS = 40  # characters of a level or an item
PURE = 0.95  # share of one level from which a cluster is said to have that level
MIXED = 0.8  # up to which it is said to have several
PART = 0.05  # share of all rows from which a cluster is looked at for that, and of it a level
ITEMS = ("set", "sequence", "text")  # cells that are taken apart


@dataclass(frozen=True)
class ColumnDifference:
    """How one column of a cluster differs from the rest of the table.

    Parameters
    ----------
    column, kind : str
    what : {"median", "mean", "share", "missing"}
        Whether medians are compared, means (of numbers whose medians are the same), shares of rows
        with ``value``, or shares of gaps.
    value : level, item or None
        The level that is more frequent inside, or the item of a set, sequence or text whose share
        differs most.
    inside, outside : number, level or share
        In the cluster, and in all other rows.
    size : float
        How large the difference is, from 0 to 1: for medians and means the rank-biserial
        correlation (Cliff's delta, without its sign), for levels half the sum of the differences of
        their shares (total variation), else the difference of the two shares. Where cells are
        missing, times the share of known cells, the smaller one of both sides.
    style : Style, optional
        How the column writes its numbers.
    """

    column: str
    kind: str
    what: str
    value: Any
    inside: Any
    outside: Any
    size: float
    style: Style | None = field(default=None, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as values that JSON can hold."""
        return {name: plain(value) for name, value in vars(self).items() if name != "style"}

    def __str__(self) -> str:
        if self.what in ("mean", "median"):
            inside, outside = (self._write(side) for side in (self.inside, self.outside))
            mean = "mean " if self.what == "mean" else ""
            return f"{self.column} {mean}{inside} (others {outside})"
        shares = f"{percent(self.inside)} (others {percent(self.outside)})"
        if self.what == "missing":
            return f"{self.column} missing {shares}"
        return f"{self.column} {short(self.value, WORDS)} {shares}"

    def _write(self, middle: Any) -> str:
        """Write a number as its column does, with one more digit where it lies between two."""
        if self.style is None:
            return short(middle)
        style = self.style
        if isinstance(middle, float) and 0 <= style.decimals < 2:
            sides = (self.inside, self.outside)
            between = max(map(abs, sides)) < 100 and any(
                round(m, style.decimals) != m for m in sides
            )
            style = replace(style, decimals=style.decimals + between)
        return style.write(middle)


def column_differences(column: Column, labels: np.ndarray, n_clusters: int) -> list[Any]:
    """Return for each cluster how the column differs from all other rows, or None.

    Parameters
    ----------
    column : Column
    labels : int array of n
        The cluster of each row, -1 for none.
    n_clusters : int

    Returns
    -------
    list of ColumnDifference or None, one per cluster
        None where nothing can be said: no rows on one side, or cells without medians and levels.
    """
    gaps = column.missing
    found: list[Any] = [None] * n_clusters
    if column.kind.name in ("number", "order"):
        found = _by_rank(column, labels, gaps, n_clusters)
    elif column.kind.name in ("category", "flag"):
        found = _by_level(column, labels, gaps, n_clusters)
    elif column.kind.name in ITEMS:
        found = _by_item(column, labels, gaps, n_clusters)
    for cluster in range(n_clusters):
        inside = labels == cluster
        if gaps.any() and inside.any() and not inside.all():
            shares = float(gaps[inside].mean()), float(gaps[~inside].mean())
            missing = ColumnDifference(
                column.name, column.kind.name, "missing", None, *shares, abs(shares[0] - shares[1])
            )
            values = found[cluster]
            if values is not None:  # a few known cells say little about all
                found[cluster] = replace(values, size=values.size * (1 - max(shares)))
            if missing.size > (0.0 if values is None else found[cluster].size):
                found[cluster] = missing
    return found


def divided_by(column: Column, labels: np.ndarray, n_clusters: int) -> dict[int, Any]:
    """Return the clusters that a column of levels divides, each with the level it has.

    Empty unless at least two clusters have a level each, not the same, while another cluster has
    several: then the column cut a part of the rows in two, and says nothing about the others.
    Very small clusters, and such that mostly have no cell here, are not looked at.
    """
    if column.kind.name not in ("category", "flag", "order"):
        return {}
    gaps = column.missing
    pure: dict[int, Any] = {}
    mixed = False
    for cluster in range(n_clusters):
        members = labels == cluster
        inside = np.flatnonzero(members & ~gaps)
        if members.sum() < PART * len(labels) or 2 * len(inside) < members.sum():
            continue
        _, first, counts = np.unique(column.values[inside], return_index=True, return_counts=True)
        share = counts.max() / len(inside)
        if share >= PURE:
            pure[cluster] = column.cell(int(inside[first[counts.argmax()]]))
        mixed = mixed or share <= MIXED
    return pure if mixed and len(set(pure.values())) > 1 else {}


def _by_rank(column: Column, labels: np.ndarray, gaps: np.ndarray, n_clusters: int) -> list[Any]:
    """Compare middles; sizes come from ranks, so no scale and no outlier matters."""
    from scipy.stats import rankdata

    known = np.flatnonzero(~gaps)
    ranks = rankdata(column.values[known])
    groups = labels[known]
    by_level: list[Any] = []  # made once, if it is needed
    style = style_of(column)
    found: list[Any] = []
    for cluster in range(n_clusters):
        inside = groups == cluster
        few = int(inside.sum())
        if few == 0 or few == len(known):
            found.append(None)
            continue
        gap = ranks[inside].mean() - ranks[~inside].mean()
        size = min(1.0, abs(float(2 * gap / len(known))))
        what, middles = _middles(column, known[inside], known[~inside])
        if middles[0] == middles[1] and column.kind.name == "order":
            by_level = by_level or _by_level(column, labels, gaps, n_clusters)
            found.append(by_level[cluster])
            continue
        found.append(
            ColumnDifference(
                column.name, column.kind.name, what, None, middles[0], middles[1], size, style
            )
        )
    return found


def _middles(column: Column, inside: np.ndarray, outside: np.ndarray) -> tuple[str, list[Any]]:
    """Return the medians of two groups of rows, or the means where these tell nothing."""
    if column.kind.name == "order" or column.kind.source:
        return "median", [_middle_cell(column, side) for side in (inside, outside)]
    medians = [float(np.median(column.values[side])) for side in (inside, outside)]
    if medians[0] != medians[1]:
        return "median", medians
    return "mean", [float(column.values[side].mean()) for side in (inside, outside)]


def _middle_cell(column: Column, at: np.ndarray) -> Any:
    """Return the cell in the middle, the lower one of two: levels and dates have no mean."""
    values = column.values[at]
    middle = (len(values) - 1) // 2
    return column.cell(int(at[np.argpartition(values, middle)[middle]]))


def _by_level(column: Column, labels: np.ndarray, gaps: np.ndarray, n_clusters: int) -> list[Any]:
    known = np.flatnonzero(~gaps)
    levels, first, codes = np.unique(column.values[known], return_index=True, return_inverse=True)
    whole = np.bincount(codes, minlength=len(levels))
    found: list[Any] = []
    for cluster in range(n_clusters):
        counts = np.bincount(codes[labels[known] == cluster], minlength=len(levels))
        few = int(counts.sum())
        if few == 0 or few == len(known):
            found.append(None)
            continue
        inside, outside = counts / few, (whole - counts) / (len(known) - few)
        top = int((inside - outside).argmax())
        if inside[top] < PART:  # codes of which everybody has another one set nothing apart
            found.append(None)
            continue
        found.append(
            ColumnDifference(
                column.name,
                column.kind.name,
                "share",
                column.cell(int(known[first[top]])),
                float(inside[top]),
                float(outside[top]),
                float(np.abs(inside - outside).sum() / 2),
            )
        )
    return found


def _by_item(column: Column, labels: np.ndarray, gaps: np.ndarray, n_clusters: int) -> list[Any]:
    """Compare how many rows have an item, or a word of a text."""
    counts: list[Counter[Any]] = [Counter() for _ in range(n_clusters + 1)]
    rows = np.zeros(n_clusters + 1, dtype=np.int64)  # the last place is noise
    for row in np.flatnonzero(~gaps):
        label = int(labels[row])
        counts[label].update(_items(column.values[row]))
        rows[label] += 1
    whole: Counter[Any] = sum(counts, Counter())
    found: list[Any] = []
    for cluster in range(n_clusters):
        few, rest = int(rows[cluster]), int(rows.sum() - rows[cluster])
        best = None
        if few and rest:
            own = counts[cluster]
            for item, many in whole.items():
                inside, outside = own[item] / few, (many - own[item]) / rest
                size = abs(inside - outside)
                # Ties go to the item that is more frequent inside, then by name.
                rank = (size, inside - outside)
                if best is None or rank > best[0] or (rank == best[0] and str(item) < best[1]):
                    best = rank, str(item), item, inside, outside
        if best is None:
            found.append(None)
            continue
        _, _, item, inside, outside = best
        found.append(
            ColumnDifference(
                column.name, column.kind.name, "share", item, inside, outside, best[0][0]
            )
        )
    return found


def _items(cell: Any) -> Iterable[Any]:
    """Return the different items of a cell; of a text, its words in lower case."""
    return set(cell.lower().split()) if isinstance(cell, str) else set(cell)


WHO = "profile_clusters"
SCORES = {"adjusted_rand": "adjusted Rand index", "f_measure": "F measure"}
SAMPLE = 500  # members that a typical row is chosen among, where only labels are given
TALL = 8192  # rows that are compared with the exemplars at once


@dataclass(frozen=True)
class ClusterProfile:
    """One cluster.

    Parameters
    ----------
    cluster : int
        Its number.
    rows : int
        How many rows belong to it.
    share : float
        The same as a share of all rows.
    typical : tuple
        The rows nearest to its exemplar, the exemplar itself first: positions, or the labels of a
        pandas frame (its index) where it has them.
    borderline : tuple
        The rows that are nearly as near to another exemplar, the least certain first, likewise.
    columns : tuple of ColumnDifference
        What sets it apart from all other rows, the largest difference first.
    majority : class that most of its rows have, or None without known classes
        The first on ties.
    majority_share : float or None
        Share of its rows that have this class.
    """

    cluster: int
    rows: int
    share: float
    typical: tuple[Any, ...]
    borderline: tuple[Any, ...]
    columns: tuple[ColumnDifference, ...]
    majority: Any = None
    majority_share: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the profile as values that JSON can hold."""
        plain_values = {name: plain(value) for name, value in vars(self).items()}
        return plain_values | {"columns": [one.to_dict() for one in self.columns]}

    def __str__(self) -> str:
        most = "" if self.majority is None else f", mostly {short(self.majority)}"
        lines = [f"cluster {self.cluster}: {self.rows:,} rows ({percent(self.share)}){most}"]
        lines += [f"  {difference}" for difference in self.columns]
        lines.append(f"  typical rows {_numbers(self.typical)}")
        if self.borderline:
            lines[-1] += f"; borderline {_numbers(self.borderline)}"
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class ClusteringProfile(HtmlReport):
    """All clusters of a table, what sets each apart, and how good they are.

    Made by ``profile_clusters``. It prints as text, shows itself in a notebook, and has
    ``to_html``, ``records`` and ``to_frame``.

    Parameters
    ----------
    n_rows : int
    clusters : tuple of ClusterProfile
    noise : int
        Rows that belong to no cluster.
    silhouette : float or None
        The mean silhouette, where it decided about the number of clusters.
    scores : dict
        Agreement with known classes: ``purity``, ``adjusted_rand`` and ``f_measure``; empty
        without them.
    exactness : str
        Which rows the clustering is exact on; empty where nothing is known about it.
    divided : dict
        Columns of levels that divide some clusters and not the others, with the level that each of
        these clusters has.
    """

    n_rows: int
    clusters: tuple[ClusterProfile, ...]
    noise: int
    silhouette: float | None
    scores: dict[str, float]
    exactness: str = ""
    divided: dict[str, dict[int, Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.clusters)

    def __iter__(self) -> Iterator[ClusterProfile]:
        return iter(self.clusters)

    def __getitem__(self, cluster: int) -> ClusterProfile:
        return self.clusters[cluster]

    @property
    def notes(self) -> list[str]:
        """What there is to say about the clustering as a whole, a sentence each."""
        notes = []
        if self.noise:
            belongs = "row belongs" if self.noise == 1 else "rows belong"
            notes.append(f"{self.noise:,} {belongs} to no cluster")
        if self.silhouette is not None:
            notes.append(f"mean silhouette {self.silhouette:.3f}")
        notes += [f"{SCORES.get(name, name)} {value:.3f}" for name, value in self.scores.items()]
        if self.exactness:
            notes.append(self.exactness)
        for column, levels in [*self.divided.items()][:2]:
            told = ", ".join(f"{cluster} is {short(level)}" for cluster, level in levels.items())
            notes.append(
                Phrase(
                    f"{column!r} divides only some clusters ({told}): if it is beside the "
                    "question, the method 'means'",
                    InPython(" (MixedKMeans)"),
                    " lets categories count half, and ",
                    Param("kinds", {column: "aside"}),
                    " leaves this one out",
                )
            )
        return notes

    def records(self) -> list[dict[str, Any]]:
        """Return one dictionary of plain values per cluster."""
        return [cluster.to_dict() for cluster in self.clusters]

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return a data frame with one row per cluster and column that sets it apart.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
        """
        records = [
            {"cluster": one.cluster, "rows": one.rows, "share": one.share, **difference.to_dict()}
            for one in self.clusters
            for difference in one.columns
        ]
        return frame_of_records(records, backend)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.clusters), *self.notes])

    def html_title(self) -> str:
        """Return the heading of the page, as plain text."""
        return f"{len(self.clusters)} clusters of {self.n_rows:,} rows"

    def html_body(self) -> str:
        """Return one table of all clusters and what sets each apart, as HTML."""
        with_classes = any(one.majority_share is not None for one in self.clusters)
        heads = ["cluster", "rows", "share", *["mostly"] * with_classes]
        heads += ["what sets it apart", "typical rows", "borderline rows"]
        lines: list[list[str]] = []
        for one in self.clusters:
            most = f"{short(one.majority)} {percent(one.majority_share or 0.0)}"
            lines.append(
                [
                    str(one.cluster),
                    f"{one.rows:,}",
                    percent(one.share),
                    *[most] * with_classes,
                    Html(bullets(map(str, one.columns))),
                    _numbers(one.typical),
                    _numbers(one.borderline),
                ]
            )
        return table(lines, heads) + paragraphs(self.notes)


def profile_clusters(
    model: Any, X: Any, y: Any = None, *, n_columns: int = 5, n_examples: int = 3
) -> ClusteringProfile:
    """Say what each cluster is: how large, which rows are typical, how it differs from the rest.

    For each column the cells inside the cluster are compared with those of all other rows: medians
    of numbers and ordered levels, shares of levels, items and words, and shares of gaps. Columns
    are sorted by the size of the difference (an effect size from 0 to 1, which no scale or outlier
    changes), not by significance: in a large table everything is significant.

    Parameters
    ----------
    model : fitted clustering, or array of n labels
        A clustering with ``labels_`` and ``exemplars_``, such as SimilarityClustering, or with
        ``best_estimator_``. With labels alone (-1 is noise), or a clustering without a measure
        such as MixedKMeans, typical and borderline rows are those by the default measure.
    X : table, frame, array, dict of columns or path
        The rows that were clustered. Its compared columns are described, whether or not the
        clustering looked at them.
    y : array of n known classes, or the name of a column, optional
        The clusters are scored against them; a named column is taken out of the table.
    n_columns : int
        The most columns that are given for a cluster.
    n_examples : int
        The most typical and borderline rows.

    Returns
    -------
    ClusteringProfile

    Examples
    --------
    >>> from lookalike.clustering import SimilarityClustering, profile_clusters
    >>> pets = {
    ...     "weight": [4.0, 5.0, 4.4, 30.0, 25.0, 28.0],
    ...     "sound": ["meow", "meow", "meow", "woof", "woof", "meow"],
    ... }
    >>> model = SimilarityClustering(n_clusters=2, method="medoids").fit(pets)
    >>> print(profile_clusters(model, pets, n_examples=1))
    cluster 0: 4 rows (67%)
      sound meow 100% (others 0%)
      weight 4.7 (others 27.5)
      typical rows 1; borderline 5
    cluster 1: 2 rows (33%)
      sound woof 100% (others 0%)
      weight 27.5 (others 4.7)
      typical rows 3; borderline 4
    exact on all 6 rows
    """
    for name, number in (("n_columns", n_columns), ("n_examples", n_examples)):
        Integer(1).check(WHO, name, number, "Raise it")
    rows, target = split_target(read_table(X), y, WHO)
    model = getattr(model, "best_estimator_", model)
    labels, found = _read_labels(model, rows)
    measure, encoded, exemplars = found
    differences = [column_differences(column, labels, len(exemplars)) for column in rows.columns]
    own, other = _two_nearest(measure, encoded, exemplars, labels)
    names = row_labels(X) or range(len(rows))
    clusters = []
    for number, exemplar in enumerate(exemplars):
        inside = np.flatnonzero(labels == number)
        majority, share = (None, None) if target is None else _majority(target[inside])
        told = [column[number] for column in differences if column[number] is not None]
        told = sorted((one for one in told if one.size > 0), key=lambda one: -one.size)
        typical = _typical(own[inside], inside, int(exemplar), n_examples)
        borderline = _borderline(own[inside], other[inside], inside, n_examples)
        clusters.append(
            ClusterProfile(
                number,
                len(inside),
                len(inside) / len(labels),
                tuple(names[at] for at in typical),
                tuple(names[at] for at in borderline),
                tuple(told[:n_columns]),
                majority,
                share,
            )
        )
    scores = {}
    if target is not None:
        scores = {
            "purity": purity(target, labels),
            "adjusted_rand": adjusted_rand(target, labels),
            "f_measure": clustering_f_measure(target, labels),
        }
    silhouette = getattr(model, "silhouettes_", {}).get(len(clusters))
    noise, exact = int((labels < 0).sum()), getattr(model, "exactness_", "")
    cuts = {column.name: divided_by(column, labels, len(clusters)) for column in rows.columns}
    divided = {name: levels for name, levels in cuts.items() if levels and not _is_means(model)}
    return ClusteringProfile(len(rows), tuple(clusters), noise, silhouette, scores, exact, divided)


def _is_means(model: Any) -> bool:
    """Whether categories count half already."""
    return hasattr(model, "category_weight")


def _read_labels(model: Any, rows: Table) -> tuple[np.ndarray, tuple[Measure, Rows, np.ndarray]]:
    """Return labels, and the measure, the encoded rows and the exemplars that belong to them."""
    if hasattr(model, "fit"):
        check_is_fitted(model, "labels_")
        labels = model.labels_
    else:
        labels = np.asarray(model)
        if labels.ndim != 1 or labels.dtype.kind not in "iu" or labels.min(initial=0) < -1:
            needed = "a fitted clustering, or one whole number of at least -1 per row"
            hint = "Number the clusters from 0, -1 for rows in none"
            raise InvalidInput(WHO, needed, f"{labels.dtype} {labels.shape}", hint)
    if len(labels) != len(rows):
        found, hint = f"{len(rows):,}", "Pass the table that was clustered"
        raise InvalidInput(WHO, f"the {len(labels):,} rows that have labels", found, hint)
    if hasattr(model, "measure_"):
        return labels, (model.measure_, model.rows_, model.exemplars_)
    measure = default_measure().set_params(undefined=0.0).fit(rows)
    rng = np.random.default_rng(0)
    exemplars = []
    for number in range(int(labels.max(initial=-1)) + 1):
        inside = np.flatnonzero(labels == number)
        if len(inside) == 0:
            hint = "Number the clusters from 0 without gaps"
            raise InvalidInput(WHO, "rows in every cluster", f"none in {number}", hint)
        some = inside
        if len(inside) > SAMPLE:
            some = np.sort(rng.choice(inside, SAMPLE, replace=False))
        sums = rectangle(measure, measure.rows_[some], measure.rows_[some]).sum(axis=0)
        exemplars.append(some[int(sums.argmin())])
    return labels, (measure, measure.rows_, np.asarray(exemplars, dtype=np.int64))


def _two_nearest(
    measure: Measure, rows: Rows, exemplars: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return each row's distance to its own exemplar and to the nearest other; inf if unknown."""
    own, other = np.full(len(rows), np.inf), np.full(len(rows), np.inf)
    known = rows[exemplars]
    for part in blocks(len(rows), TALL):
        near = rectangle(measure, rows[part], known, undefined="keep")
        near[np.isnan(near)] = np.inf
        at = np.flatnonzero(labels[part] >= 0)
        own[part][at] = near[at, labels[part][at]]
        near[at, labels[part][at]] = np.inf
        other[part] = near.min(axis=1, initial=np.inf)
    return own, other


def _typical(own: np.ndarray, inside: np.ndarray, exemplar: int, many: int) -> tuple[int, ...]:
    """Return the members nearest to the exemplar, itself first."""
    order = inside[np.argsort(own, kind="stable")[: many + 1]]
    return (exemplar, *(int(row) for row in order if row != exemplar))[:many]


def _borderline(
    own: np.ndarray, other: np.ndarray, inside: np.ndarray, many: int
) -> tuple[int, ...]:
    """Return the members whose own exemplar is hardly nearer than the next one, or farther."""
    with np.errstate(invalid="ignore"):
        margin = (other - own) / np.maximum(own, other)
    # Nothing to compare with, a single cluster, or both at distance 0: there is no border.
    margin = np.where(np.isnan(margin), np.inf, margin)
    order = np.argsort(margin, kind="stable")[:many]
    return tuple(int(inside[at]) for at in order if np.isfinite(margin[at]))


def _majority(classes: np.ndarray) -> tuple[Any, float]:
    """Return the class that occurs most (the first on ties) and its share."""
    names, counts = np.unique(classes, return_counts=True)
    top = int(counts.argmax())
    return names.tolist()[top], float(counts[top] / len(classes))


def _numbers(rows: tuple[Any, ...]) -> str:
    return ", ".join(map(short, rows))
