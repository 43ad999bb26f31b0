"""Which rows of a table belong together, and what sets each group apart."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from lookalike._runtime.text import percent, plural, short
from lookalike.errors import InvalidInput, Param
from lookalike.show import layout
from lookalike.show.result import Console, Result, Spell, as_json
from lookalike.verbs import annotations as args
from lookalike.verbs.measures import choose_measure, read_method, refuse_unused
from lookalike.verbs.source import NamedRows, as_source

if TYPE_CHECKING:
    from lookalike.clustering import ClusteringProfile, ClusterProfile

HEADING, RANK = "Learn from it", 50
EXAMPLES = (
    "lookalike cluster penguins.csv",
    "lookalike cluster penguins.csv -n 3 --label species",
    "lookalike cluster penguins.csv -n 3 --method means",
    "lookalike cluster penguins.csv --method density:eps=0.2",
    "lookalike cluster penguins.csv --output csv > clusters.csv",
)
OWN_COLUMNS = ("id", "cluster", "distance")  # the first columns of the frame
MAX_SHOWN_CLUSTERS = 40  # in the text form
INDENT = 2
MAX_DIGITS = 18  # of a number of clusters that is written as text
# Methods that take the number of clusters, and compare all rows with some (landmarks).
BY_NUMBER = ("components", "spectral", "affinity", "complete", "ward", "medoids")
METHODS = {
    **dict.fromkeys(BY_NUMBER, ("landmarks",)),
    "density": ("eps", "min_neighbors"),
    "hdbscan": ("min_neighbors",),
    "means": (),
}
Clusters = Annotated[int | str, args.Spelling(json=int | str, flags=("-n",), metavar="K|auto")]


@dataclass(frozen=True)
class Clustered(Result):
    """Rows with their clusters, and what sets each cluster apart.

    Parameters
    ----------
    model : the fitted clustering
    profile : ClusteringProfile
    rows : NamedRows
    method : str
    reason : str or None
        Why rows are compared as they are.
    """

    model: Any = field(repr=False)
    profile: "ClusteringProfile" = field(repr=False)
    rows: NamedRows = field(repr=False)
    method: str
    reason: str | None = None

    @property
    def labels(self) -> list[int]:
        """The cluster of each row, -1 for none."""
        return self.model.labels_.tolist()

    @property
    def measure(self) -> str | None:
        """The class of the measure; None for k-means, which has none."""
        fitted = getattr(self.model, "measure_", None)
        return None if fitted is None else type(fitted).__name__

    def to_dict(self) -> dict[str, Any]:
        """Return the clusters and the labels as plain values."""
        ids, table = self.rows.ids, self.rows.table
        clusters = []
        for record in self.profile.records():
            # Without a label there are no classes: the keys are then left out.
            majority, share = record.pop("majority"), record.pop("majority_share")
            if share is not None:
                record |= {"class": majority, "class_share": share}
            exemplar = record["typical"][0]  # the row nearest to all others of its cluster
            for some in ("typical", "borderline"):
                record[some] = [ids[row] for row in record[some]]
            clusters.append(record | {"exemplar": ids[exemplar], "row": table.record(exemplar)})
        return as_json(
            measure=self.measure,
            reason=self.reason,
            method=self.method,
            n_clusters=self.model.n_clusters_,
            noise=self.profile.noise,
            silhouette=self.profile.silhouette,
            exactness=self.profile.exactness,
            eps=getattr(self.model, "eps_", None),
            scores=self.profile.scores or None,
            clusters=clusters,
            ids=ids,
            labels=self.labels,
        )

    def cells(self) -> dict[str, list[Any]]:
        """Return one row per row: id, cluster, distance to its exemplar, and its cells."""
        from lookalike.table.model.display import record_columns

        far = self.model.exemplar_distances_.tolist()
        ours = dict(zip(OWN_COLUMNS, (self.rows.ids, self.labels, far), strict=True))
        table = self.rows.table
        return ours | record_columns(table, range(len(table)), OWN_COLUMNS)

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print the clusters, each with what sets it apart and its typical and borderline rows."""
        profile, clusters = self.profile, self.profile.clusters
        found = f"{plural(len(clusters), 'cluster')} of {plural(profile.n_rows)}"
        by = f"{self.measure} and {self.method}" if self.measure else "k-means of mixed columns"
        layout.headline(console, f"{self.rows.name}: {found}, by {by}")
        if self.reason is not None:
            layout.say(console, self.reason)
        for one in clusters[:MAX_SHOWN_CLUSTERS]:
            self._render_cluster(console, one)
        if len(clusters) > MAX_SHOWN_CLUSTERS:
            more = f"{len(clusters) - MAX_SHOWN_CLUSTERS} more clusters (csv and json have all)"
            layout.say(console, f"not shown: {more}")
        for note in profile.notes:
            layout.say(console, spell(note))
        if not clusters:
            layout.say(console, "no cluster: try a larger eps or fewer min_neighbors")

    def _render_cluster(self, console: Console, one: "ClusterProfile") -> None:
        line = f"cluster {one.cluster}: {one.rows:,} rows ({percent(one.share)})"
        if one.majority_share is not None:
            line += f", mostly {short(one.majority, 30)} ({percent(one.majority_share)})"
        layout.headline(console, line)
        layout.say(console, "; ".join(map(str, one.columns)) or "like all other rows", "", INDENT)
        rows = f"typical rows {self._names(one.typical)}"
        if one.borderline:
            rows += f"; borderline {self._names(one.borderline)}"
        layout.say(console, rows, indent=INDENT)

    def _names(self, rows: tuple[int, ...]) -> str:
        from lookalike.table.model.labels import label_of

        table, ids = self.rows.table, self.rows.ids
        label = label_of(table)
        return ", ".join(label.write(table.record(row), ids[row]) for row in rows)

    def html_title(self) -> str:
        """Return the heading of the page, as plain text."""
        return f"{self.rows.name}: {self.profile.html_title()}"

    def html_body(self) -> str:
        """Return one table of all clusters and what sets each apart, as HTML."""
        return self.profile.html_body()


def cluster(
    table: args.TableLike,
    n_clusters: Clusters = "auto",
    *,
    method: args.Method = "components",
    measure: args.MeasureLike = None,
    weights: args.Weights = None,
    columns: args.Columns = None,
    filter: args.Filter = None,
    label: args.Label = None,
    seed: args.Seed = 0,
) -> Clustered:
    """Say which rows belong together, and what sets each cluster apart from the others.

    Parameters
    ----------
    table : path, frame, dict of columns, Table or Index
    n_clusters : int or "auto"
        How many clusters; auto: as many as hold together best.
    method : str
        components, spectral, affinity, complete, ward, medoids, density, hdbscan or means. density
        and hdbscan find the number themselves and leave outliers out
        (density:eps=0.2,min_neighbors=5: how near rows must be, and how many of them make a core);
        means is k-means for mixed columns, for many rows, and has no measure. The others compare
        many rows with some of them, drawn at random (components:landmarks=500); components lets all
        columns differ alike on the mean.
    measure : str or Measure, optional
        How rows are compared. None: the measure of an index, "auto" for a table.
    weights : mapping of column to number, optional
        How much columns matter.
    columns : names, optional
        Compare by these columns only.
    filter : conditions, optional
        Which rows are clustered; see ``search``.
    label : name of a column, or n labels, optional
        Known classes: not compared, but the clusters are scored against them.
    seed : int

    Returns
    -------
    Clustered

    Examples
    --------
    >>> import lookalike as la
    >>> pets = {
    ...     "weight": [4.0, 5.0, 4.4, 30.0, 25.0, 28.0],
    ...     "sound": ["meow", "meow", "meow", "woof", "woof", "woof"],
    ... }
    >>> la.cluster(pets, 2, method="medoids").labels
    [0, 0, 0, 1, 1, 1]
    """
    # Checked before the table is read, which may take long.
    number = read_number(n_clusters)
    name, options = read_method(method, METHODS)
    refuse_unused(name, (*BY_NUMBER, "density", "hdbscan"), measure=measure, weights=weights)
    rows, truth = as_source(table).rows(filter).without_label(label)
    rows = rows.compared_by(columns)
    from lookalike.clustering import MixedKMeans, SimilarityClustering, profile_clusters
    from lookalike.measures import Gower

    reason: str | None = None
    if name == "means":
        model: Any = MixedKMeans(number, random_state=seed)
    else:
        chosen, reason = choose_measure(measure, rows, weights, seed)
        model = SimilarityClustering(chosen, number, method=name, random_state=seed, **options)
    model.fit(rows.table)
    if reason is not None and name == "components" and isinstance(model.measure_, Gower):
        reason += "; columns are weighted to contribute equally"
    return Clustered(model, profile_clusters(model, rows.table, truth), rows, name, reason)


def read_number(number: int | str) -> int | str:
    """Read how many clusters are wanted, which a shell writes as text."""
    text = str(number)
    if text == "auto":
        return text
    # True is an integer in Python, and "True" is not a number.
    decimal = text.isdecimal() and len(text) <= MAX_DIGITS
    if isinstance(number, bool) or not decimal or int(text) < 1:
        hint = ("Use ", Param("n_clusters", 3), " or ", Param("n_clusters", "auto"))
        needed = "a number of clusters or auto"
        raise InvalidInput(Param("n_clusters"), needed, repr(text), hint)
    return int(text)
