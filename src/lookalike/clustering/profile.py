"""What the clusters are: size, typical and borderline rows, and the columns that set them apart."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.validation import check_is_fitted

from lookalike._runtime.frames import FrameMixin, frame_of_records
from lookalike._runtime.text import percent, plain, short
from lookalike._runtime.threads import blocks
from lookalike.clustering.scores import clustering_f_measure, purity
from lookalike.errors import InvalidInput
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.matrices import rectangle
from lookalike.measures.contract.rows import Rows
from lookalike.measures.default import default_measure
from lookalike.saving.fields import Integer
from lookalike.show.html.document import HtmlReport
from lookalike.show.html.markup import Html, bullets, paragraphs, table
from lookalike.show.reasons import Style, style_of
from lookalike.table import Column, Table, read_table
from lookalike.table.model.display import filled_rows
from lookalike.table.model.names import row_labels
from lookalike.table.model.targets import split_target

MAX_LEVEL_CHARACTERS = 40
MIN_SHARE = 0.05  # of a cluster that a level has, to be described; chosen by hand


@dataclass(frozen=True)
class ColumnDifference:
    """How one column of a cluster differs from the rest of the table.

    Parameters
    ----------
    column, kind : str
    what : {"median", "mean", "share", "missing"}
        Whether medians are compared, means (of numbers whose medians are the same), shares of rows
        with ``value``, or shares of missing cells.
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
        return f"{self.column} {short(self.value, MAX_LEVEL_CHARACTERS)} {shares}"

    def _write(self, middle: Any) -> str:
        """Format a number as its column does, with one more digit where it lies between two."""
        if self.style is None:
            return short(middle)
        decimals, sides = self.style.decimals, (self.inside, self.outside)
        if isinstance(middle, float) and 0 <= decimals < 2 and max(map(abs, sides)) < 100:
            # Both sides get the digit, so that 4.5 is not compared with a rounded 5.
            decimals += any(round(side, decimals) != side for side in sides)
        return replace(self.style, decimals=decimals).write(middle)


Compare = Callable[[int], ColumnDifference | None]  # a cluster with all other rows


def column_differences(
    column: Column, labels: np.ndarray, n_clusters: int
) -> list[ColumnDifference | None]:
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
    missing = column.missing
    known = np.flatnonzero(~missing)
    method = BY_KIND.get(column.kind.name)
    # Between clusters, None for a cluster that has all known cells or none of them.
    compare = None if method is None else method(column, known, labels[known])
    differences: list[ColumnDifference | None] = []
    for cluster in range(n_clusters):
        members = labels == cluster
        n_known = int((members & ~missing).sum())
        values = compare(cluster) if compare and 0 < n_known < len(known) else None
        if missing.any() and members.any() and not members.all():
            inside, outside = float(missing[members].mean()), float(missing[~members].mean())
            if values is not None:  # a few known cells say little about all
                values = replace(values, size=values.size * (1 - max(inside, outside)))
            gap = abs(inside - outside)
            if gap > (0.0 if values is None else values.size):
                values = _difference(column, "missing", None, inside, outside, gap)
        differences.append(values)
    return differences


def _difference(column: Column, *values: Any) -> ColumnDifference:
    return ColumnDifference(column.name, column.kind.name, *values)


def _by_rank(column: Column, known: np.ndarray, groups: np.ndarray) -> Compare:
    """Compare medians; sizes come from ranks, so scale and outliers do not matter."""
    from scipy.stats import rankdata

    # Mean ranks of ties, as the rank-biserial correlation has them.
    ranks, style = rankdata(column.values[known]), style_of(column)
    # Where medians of levels are equal.
    by_level = _by_level(column, known, groups) if column.kind.name == "order" else None

    def compare(cluster: int) -> ColumnDifference | None:
        inside = groups == cluster
        shift = ranks[inside].mean() - ranks[~inside].mean()
        size = min(1.0, abs(float(2 * shift / len(known))))  # the rank-biserial correlation
        what, (own, others) = _middles(column, known[inside], known[~inside])
        if by_level is not None and own == others:
            return by_level(cluster)
        return _difference(column, what, None, own, others, size, style)

    return compare


def _middles(column: Column, inside: np.ndarray, outside: np.ndarray) -> tuple[str, list[Any]]:
    """Return the medians of two groups of rows, or the means where medians are equal."""
    sides = inside, outside
    if column.kind.name == "order" or column.kind.source:
        # Levels and dates have no mean: the cell in the middle, the lower one of two.
        middles = [side[column.values[side].argsort()[(len(side) - 1) // 2]] for side in sides]
        return "median", [column.cell(int(row)) for row in middles]
    medians = [float(np.median(column.values[side])) for side in sides]
    if medians[0] != medians[1]:
        return "median", medians
    return "mean", [float(column.values[side].mean()) for side in sides]


def _by_level(column: Column, known: np.ndarray, groups: np.ndarray) -> Compare:
    """Compare the shares of levels."""
    levels, first, codes = np.unique(column.values[known], return_index=True, return_inverse=True)
    whole = np.bincount(codes, minlength=len(levels))

    def compare(cluster: int) -> ColumnDifference | None:
        counts = np.bincount(codes[groups == cluster], minlength=len(levels))
        n_inside = int(counts.sum())
        inside, outside = counts / n_inside, (whole - counts) / (len(known) - n_inside)
        top = int((inside - outside).argmax())
        if inside[top] < MIN_SHARE:  # identifiers: each row has another level
            return None
        value = column.cell(int(known[first[top]]))
        size = float(np.abs(inside - outside).sum() / 2)  # total variation distance
        return _difference(column, "share", value, float(inside[top]), float(outside[top]), size)

    return compare


def _by_item(column: Column, known: np.ndarray, groups: np.ndarray) -> Compare:
    """Compare how many rows have an item, or a word of a text."""
    # Counted once for all clusters: the rest of the table is the whole minus the cluster.
    counts: defaultdict[int, Counter[Any]] = defaultdict(Counter)
    for position, group in zip(known, groups, strict=True):
        cell = column.values[position]
        # The different items of a cell; of a text, its words in lower case.
        counts[group].update(set(cell.lower().split() if isinstance(cell, str) else cell))
    whole: Counter[Any] = sum(counts.values(), Counter())

    def compare(cluster: int) -> ColumnDifference | None:
        own, n_inside = counts[cluster], int((groups == cluster).sum())
        n_outside = len(groups) - n_inside
        shares = [
            (item, own[item] / n_inside, (total - own[item]) / n_outside)
            for item, total in whole.items()
        ]
        if not shares:  # all cells are empty
            return None
        # Ties go to the item that is more frequent inside, then by name.
        order = [(-abs(own - rest), rest - own, str(item)) for item, own, rest in shares]
        item, inside, outside = shares[order.index(min(order))]
        return _difference(column, "share", item, inside, outside, abs(inside - outside))

    return compare


BY_KIND: dict[str, Callable[[Column, np.ndarray, np.ndarray], Compare]] = {
    **dict.fromkeys(("number", "order"), _by_rank),
    **dict.fromkeys(("category", "flag"), _by_level),
    **dict.fromkeys(("set", "sequence", "text"), _by_item),
}
WHO = "profile_clusters"
SCORES: dict[str, tuple[str, Callable[[Any, Any], float]]] = {
    "purity": ("purity", purity),
    "adjusted_rand": ("adjusted Rand index", adjusted_rand_score),
    "f_measure": ("F measure", clustering_f_measure),
}
MAX_SAMPLE_ROWS = 500  # members that an exemplar is chosen among, where only labels are given
BLOCK_ROWS = 8192  # rows that are compared with the exemplars in one call


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
        return plain_values | {"columns": [difference.to_dict() for difference in self.columns]}

    def __str__(self) -> str:
        most = "" if self.majority is None else f", mostly {short(self.majority)}"
        lines = [f"cluster {self.cluster}: {self.rows:,} rows ({percent(self.share)}){most}"]
        lines += [f"  {difference}" for difference in self.columns]
        lines.append(f"  typical rows {_numbers(self.typical)}")
        if self.borderline:
            lines[-1] += f"; borderline {_numbers(self.borderline)}"
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class ClusteringProfile(HtmlReport, FrameMixin):
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
    """

    n_rows: int
    clusters: tuple[ClusterProfile, ...]
    noise: int
    silhouette: float | None
    scores: dict[str, float]
    exactness: str = ""

    def __len__(self) -> int:
        return len(self.clusters)

    def __iter__(self) -> Iterator[ClusterProfile]:
        return iter(self.clusters)

    def __getitem__(self, cluster: int) -> ClusterProfile:
        return self.clusters[cluster]

    @property
    def notes(self) -> list[str]:
        """Remarks about the clustering as a whole, a sentence each."""
        notes = []
        if self.noise:
            belongs = "row belongs" if self.noise == 1 else "rows belong"
            notes.append(f"{self.noise:,} {belongs} to no cluster")
        if self.silhouette is not None:
            notes.append(f"mean silhouette {self.silhouette:.3f}")
        notes += [f"{SCORES[name][0]} {value:.3f}" for name, value in self.scores.items()]
        if self.exactness:
            notes.append(self.exactness)
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
            {"cluster": c.cluster, "rows": c.rows, "share": c.share, **difference.to_dict()}
            for c in self.clusters
            for difference in c.columns
        ]
        return frame_of_records(records, backend)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.clusters), *self.notes])

    def html_title(self) -> str:
        """Return the heading of the page, as plain text."""
        return f"{len(self.clusters)} clusters of {self.n_rows:,} rows"

    def html_body(self) -> str:
        """Return one table of all clusters and what sets each apart, as HTML."""
        with_classes = any(profile.majority_share is not None for profile in self.clusters)
        heads = ["cluster", "rows", "share", *["mostly"] * with_classes]
        heads += ["what sets it apart", "typical rows", "borderline rows"]
        lines: list[list[str]] = []
        for one in self.clusters:
            most = f"{short(one.majority)} {percent(one.majority_share or 0.0)}"
            line = [str(one.cluster), f"{one.rows:,}", percent(one.share), *[most] * with_classes]
            apart = Html(bullets(map(str, one.columns)))
            lines.append([*line, apart, _numbers(one.typical), _numbers(one.borderline)])
        return table(lines, heads) + paragraphs(self.notes)


def profile_clusters(
    model: Any, X: Any, y: Any = None, *, n_columns: int = 5, n_examples: int = 3
) -> ClusteringProfile:
    """Describe each cluster: its size, typical rows, and the columns that set it apart.

    For each column the cells inside the cluster are compared with those of all other rows: medians
    of numbers and ordered levels, shares of levels, items and words, and shares of missing cells.
    Columns are sorted by an effect size from 0 to 1, which does not depend on scale or outliers,
    rather than by significance: in a large table every difference is significant.

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
    Integer(1).check(WHO, "n_columns", n_columns, "Raise it")
    Integer(1).check(WHO, "n_examples", n_examples, "Raise it")
    rows, target = split_target(read_table(X), y, WHO)
    model = getattr(model, "best_estimator_", model)
    labels, (measure, encoded, exemplars) = _read_labels(model, rows)
    differences = [column_differences(c, labels, len(exemplars)) for c in rows.columns]
    own, other = _two_nearest(measure, encoded, exemplars, labels)
    names = row_labels(X) or range(len(rows))
    filled = filled_rows(rows)
    clusters = []
    for number, exemplar in enumerate(exemplars):
        inside = np.flatnonzero(labels == number)
        majority, share = _majority(target, inside)
        own_columns = [of_column[number] for of_column in differences]
        apart = [one for one in own_columns if one is not None and one.size > 0]
        top = tuple(sorted(apart, key=lambda one: -one.size)[:n_columns])
        # Rows of mostly missing cells show nothing, so they are examples only of each other.
        shown = inside[filled[inside]] if filled[inside].any() else inside
        typical = _typical(own[shown], shown, int(exemplar), n_examples)
        borderline = _borderline(own[shown], other[shown], shown, n_examples)
        near, far = (tuple(names[position] for position in side) for side in (typical, borderline))
        n = len(inside)
        profile = ClusterProfile(number, n, n / len(labels), near, far, top, majority, share)
        clusters.append(profile)
    scored = SCORES if target is not None else {}
    scores = {name: score(target, labels) for name, (_, score) in scored.items()}
    silhouette = getattr(model, "silhouettes_", {}).get(len(clusters))
    noise, exact = int((labels < 0).sum()), getattr(model, "exactness_", "")
    return ClusteringProfile(len(rows), tuple(clusters), noise, silhouette, scores, exact)


def _read_labels(model: Any, rows: Table) -> tuple[np.ndarray, tuple[Measure, Rows, np.ndarray]]:
    """Return labels, and the measure, the encoded rows and the exemplars that belong to them."""
    if hasattr(model, "fit"):
        check_is_fitted(model, "labels_")
        # The labels of the fit, not those that predict would give to the same rows.
        labels = model.labels_
    else:
        labels = np.asarray(model)
        if labels.ndim != 1 or labels.dtype.kind not in "iu" or labels.min(initial=0) < -1:
            needed = "a fitted clustering, or one integer >= -1 per row"
            hint = "Number the clusters from 0, -1 for rows in none"
            raise InvalidInput(WHO, needed, f"{labels.dtype} {labels.shape}", hint)
    if len(labels) != len(rows):
        found, hint = f"{len(rows):,}", "Pass the table that was clustered"
        raise InvalidInput(WHO, f"the {len(labels):,} rows that have labels", found, hint)
    if hasattr(model, "measure_"):
        return labels, (model.measure_, model.rows_, model.exemplars_)
    # Without a measure of its own a clustering is described by the default, which compares any
    # columns.
    measure = default_measure().set_params(undefined=0.0).fit(rows)
    rng = np.random.default_rng(0)
    exemplars = []
    for number in range(int(labels.max(initial=-1)) + 1):
        inside = np.flatnonzero(labels == number)
        if len(inside) == 0:
            hint = "Number the clusters from 0 without gaps"
            raise InvalidInput(WHO, "rows in every cluster", f"none in {number}", hint)
        if len(inside) > MAX_SAMPLE_ROWS:
            inside = np.sort(rng.choice(inside, MAX_SAMPLE_ROWS, replace=False))
        sums = rectangle(measure, measure.rows_[inside], measure.rows_[inside]).sum(axis=0)
        exemplars.append(inside[int(sums.argmin())])
    return labels, (measure, measure.rows_, np.asarray(exemplars, dtype=np.int64))


def _two_nearest(
    measure: Measure, rows: Rows, exemplars: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return each row's distance to its own exemplar and to the nearest other; inf if unknown."""
    own, other = np.full(len(rows), np.inf), np.full(len(rows), np.inf)
    known = rows[exemplars]
    for part in blocks(len(rows), BLOCK_ROWS):
        near = rectangle(measure, rows[part], known, undefined="keep")
        near[np.isnan(near)] = np.inf
        members = np.flatnonzero(labels[part] >= 0)
        in_own = members, labels[part][members]
        own[part][members] = near[in_own]
        near[in_own] = np.inf  # what is left is the distance to other exemplars
        other[part] = near.min(axis=1, initial=np.inf)
    return own, other


def _typical(own: np.ndarray, inside: np.ndarray, exemplar: int, n: int) -> tuple[int, ...]:
    """Return the members nearest to the exemplar, itself first if it is one of them."""
    order = inside[np.argsort(own, kind="stable")[: n + 1]].tolist()
    first = [exemplar] if exemplar in inside else []
    return tuple([*first, *(row for row in order if row != exemplar)][:n])


def _borderline(own: np.ndarray, other: np.ndarray, inside: np.ndarray, n: int) -> tuple[int, ...]:
    """Return the members whose own exemplar is hardly nearer than the next one, or farther."""
    # inf - inf where neither exemplar can be compared.
    with np.errstate(invalid="ignore"):
        margin = (other - own) / np.maximum(own, other)
    # Nothing to compare with, a single cluster, or both at distance 0: no row is borderline.
    margin = np.where(np.isnan(margin), np.inf, margin)
    order = np.argsort(margin, kind="stable")[:n]
    return tuple(int(row) for row in inside[order[np.isfinite(margin[order])]])


def _majority(
    classes: np.ndarray | None, inside: np.ndarray
) -> tuple[Any, float] | tuple[None, None]:
    """Return the class that most members have (the first on ties) and its share, if known."""
    if classes is None:
        return None, None
    names, counts = np.unique(classes[inside], return_counts=True)
    top = int(counts.argmax())
    return names.tolist()[top], float(counts[top] / len(inside))


def _numbers(rows: tuple[Any, ...]) -> str:
    return ", ".join(map(short, rows))
