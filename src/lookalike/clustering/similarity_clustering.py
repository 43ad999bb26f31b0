"""Cluster the rows of any table by any measure."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from lookalike._runtime.random_state import make_generator
from lookalike.clustering import _clustering, density, partitions
from lookalike.clustering._clustering import AUTO, METHODS, Clustering, MeasureClusterer, Space
from lookalike.clustering.scores import silhouette_of
from lookalike.errors import InvalidInput, LookalikeWarning, Param, Phrase
from lookalike.measures.contract.matrices import rectangle
from lookalike.saving import fields
from lookalike.saving.fields import INT64, Fields

KNEE = "knee"


@dataclass(eq=False, repr=False)
class SimilarityClustering(TransformerMixin, MeasureClusterer):
    """Cluster the rows of a table by any measure.

    Takes mixed tables: numbers, categories, texts, sets and missing values. Every cluster has an
    exemplar, one of its rows, and every method can assign new rows.

    Which method: "components" finds clusters along the main directions in which rows differ, and
    is the best first choice; "spectral" finds connected sets of rows; "medoids" makes compact
    clusters around a typical row; "ward" and "complete" build a hierarchy; "affinity" elects
    exemplars and takes directed distances; "density" and "hdbscan" find the number of clusters
    themselves, leave outliers out as noise (-1), and never hold all pairs of rows in memory.

    Parameters
    ----------
    measure : Measure, optional
        How alike rows are; None: "auto", the default of the library (``choose_measure``). A
        clone is fitted. The frozen form of a fitted measure keeps what it has learned;
        ``Precomputed()`` takes a matrix of distances.
    n_clusters : int or "auto"
        "auto": the number from 2 to ``max_clusters`` with the highest mean silhouette in the
        measure's own distance (the smaller one on ties; one cluster if there are fewer than three
        rows, or all are identical). Density methods find it themselves: leave "auto".
    method : {"components", "spectral", "affinity", "complete", "ward", "medoids", "density", \
"hdbscan"}
        "components" compares columns of equal weight: those of a measure that weighs columns are
        first divided by the mean difference of random pairs of rows (``Gower.balanced``).
    affinity : {"similarity", "rbf"}
        What "spectral" cuts: the similarities, or exp(-d**2 / (2 sigma**2)) of the distances.
    sigma : float
        Width for "rbf".
    preference : "median", float or None
        For "affinity", which then finds the number of clusters itself: how much each row wants to
        be an exemplar, on the scale of minus a distance; the higher, the more clusters. "median":
        minus the median distance, as published. None: the preference that leads to ``n_clusters``
        is searched for.
    eps : float or "knee"
        How near neighbors are for "density". "knee": where the sorted distances to the nearest row
        number ``min_neighbors`` bend upward.
    min_neighbors : int
        For "density" and "hdbscan": the rows within reach, itself among them, that make a row
        dense.
    min_cluster_size : int or "auto"
        For "hdbscan": fewer rows are noise. "auto": half the square root of the number of rows, at
        least 5, so that a large table does not fall into hundreds of splinters.
    max_clusters : int
        The most clusters that "auto" tries.
    landmarks : "auto", int or None
        For many rows: compare with this many rows drawn at random. "components" and "spectral"
        then extend the landmarks' eigenvectors to all rows (Nystroem), which is exact for the
        landmarks and for landmarks = n; the other methods cluster the landmarks and assign the rest
        as new rows. Similarities to landmarks are never approximated, and ``n_clusters="auto"``
        judges by the landmarks. "auto": none while all pairs fit under ``dense_limit`` and the
        memory limit, else 2,000, or four times the square root of n if that is more ("affinity":
        500). None: never; too many rows are an error.
    dense_limit : int
        The most rows for which a matrix of all pairs is made.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    random_state : None, int, RandomState or Generator
        Starts of k-means, order of swaps, noise against ties, choice of landmarks. The measure has
        its own.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``. Answers do not depend on it.

    Attributes
    ----------
    labels_ : int64 array of n
        Numbered by first row ("density": by first core row); -1 is noise.
    n_clusters_ : int
        Clusters found, noise not counted. May differ from what was asked, with a warning.
    exemplars_ : int64 array of positions, one per cluster
        Medoids; "components" and "spectral": the row with the largest affinity to its cluster;
        density methods: the row in the densest place.
    exemplar_distances_ : float64 array of n
        The distance of each row to the exemplar of its cluster; NaN for noise.
    exactness_ : str
        Which rows the answer is exact on, such as "exact on 2,000 landmark rows, the other 48,000
        assigned to the nearest exemplar".
    eps_ : float, with "density" only
    min_cluster_size_ : int, with "hdbscan" only
    silhouettes_ : dict of number of clusters to mean silhouette, with "auto" only
    landmarks_ : int64 array of positions, where there are landmarks
    measure_ : the fitted measure
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns

    Notes
    -----
    New rows: "medoids" and "affinity" take the nearest exemplar; "complete" and "ward" the cluster
    of the nearest row; "components" and "spectral" extend their eigenvectors to the row and take
    the nearest center; "density" takes the lowest-numbered cluster with a core row within eps, else
    noise; "hdbscan" the cluster of the row that is reached most cheaply, if not beyond the longest
    step inside that cluster, else noise.

    References
    ----------
    .. [1] M. Bicego, F. Cicalese, A. Mensi (2023). RatioRF: a novel measure for random forest
       clustering based on the Tversky's ratio model. IEEE Transactions on Knowledge and Data
       Engineering 35(1), 830-841. doi:10.1109/TKDE.2021.3086147

    Examples
    --------
    >>> from lookalike.clustering import SimilarityClustering
    >>> pets = {
    ...     "weight": [4.0, 5.0, None, 30.0, 25.0, 28.0],
    ...     "sound": ["meow", "meow", "meow", "woof", "woof", "woof"],
    ... }
    >>> model = SimilarityClustering(n_clusters=2, method="medoids").fit(pets)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> model.predict({"weight": [27.0, None], "sound": [None, "meow"]})
    array([1, 0])
    >>> [pets["sound"][row] for row in model.exemplars_]
    ['meow', 'woof']
    """

    FIELDS: ClassVar[Fields] = {
        "n_clusters": fields.Either(fields.Integer(1), fields.Choice(AUTO)),
        "method": fields.Choice(*METHODS),
        "affinity": fields.Choice("similarity", "rbf"),
        "sigma": fields.Real(0.0, open_low=True),
        "preference": fields.Maybe(fields.Either(fields.Real(), fields.Choice("median"))),
        "eps": fields.Either(fields.Real(0.0), fields.Choice(KNEE)),
        "min_neighbors": fields.Integer(1),
        "min_cluster_size": fields.Either(fields.Integer(2), fields.Choice(AUTO)),
        "max_clusters": fields.Integer(2, INT64),
        "landmarks": fields.Either(fields.Choice(AUTO, None), fields.Integer(2)),
        "exemplar_distances_": fields.Array("float64", "rows"),
        "exactness_": fields.Text(),
        "min_cluster_size_": fields.Sometimes(fields.Integer(1)),
        "eps_": fields.Sometimes(fields.Real(0.0, nan=True)),
        "landmarks_": fields.Sometimes(fields.Array("int64", "landmarks", low=0, below="rows")),
        "silhouettes_": fields.Sometimes(
            fields.MapOf(fields.Integer(0), fields.Real(-1.0, 1.0, nan=True))
        ),
    }

    n_clusters: int | str = AUTO
    _: KW_ONLY
    method: str = "components"
    affinity: str = "similarity"
    sigma: float = 1.0
    preference: float | str | None = None
    eps: float | str = KNEE
    min_neighbors: int = 5
    min_cluster_size: int | str = AUTO
    max_clusters: int = 10
    landmarks: int | str | None = AUTO
    dense_limit: int = 20_000
    kinds: Mapping[str, Any] | None = None
    random_state: Any = None
    n_jobs: int | None = None

    # -- fitting -----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows of a table.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
            For a measure that takes distances: the square matrix of them.
        y : array of n, or the name of a column, optional
            Never needed. A named column is taken out of the table. Measures that learn from a
            target get it; nothing else looks at it.
        """
        source, target = self._read(X, y)
        fitted, rows = source.fit(target)
        who = Phrase(Param("method", self.method, of=type(self).__name__))
        self._cluster(Space(fitted, rows, who, self.dense_limit))
        self._remember_columns(X, source, fitted)
        return self

    def _cluster(self, space: Space) -> None:
        """Cluster a space that may have its matrix already."""
        for stale in ("eps_", "min_cluster_size_", "silhouettes_", "landmarks_"):
            self.__dict__.pop(stale, None)  # of an earlier fit
        given = self.landmarks, self.method, self.n_clusters
        n_landmarks = _clustering.count_landmarks(space, *given)
        who = Phrase(Param("method", self.method, of=type(self).__name__))
        if self.method == "components":
            if self.affinity != "similarity":  # the default before "components" took it
                where = Param("affinity", self.affinity, of=type(self).__name__)
                hint = ("Use ", Param("method", "spectral"))
                raise InvalidInput(where, Param("method", "spectral"), repr(self.method), hint)
            space = space.balanced()
        _clustering.check_request(space, who, self.method, self.n_clusters, n_landmarks)
        if self.preference is not None and (self.method, self.n_clusters) != ("affinity", AUTO):
            rule = Param("method", "affinity"), " and ", Param("n_clusters", AUTO)
            where = Param("preference", self.preference, of=type(self).__name__)
            other = f"{self.method!r} and {self.n_clusters!r}"
            raise InvalidInput(where, rule, other, ("Leave ", Param("preference"), " out"))
        self.measure_, self.rows_ = space.measure, space.rows
        if self.method in _clustering.BY_DENSITY:
            clustering = self._by_density(space)
        else:
            clustering = self._by_number(space, n_landmarks)
        self._adopt(clustering)
        basis = getattr(self, "landmarks_", None)
        self.exactness_ = _clustering.exactness(len(space), basis, self.method)
        asked, found = self.n_clusters, self.n_clusters_
        if self.method == "affinity" and found > 1 and asked not in (AUTO, found):
            # Some numbers have no preference that leads to them.
            needed = f"a preference that elects {asked} exemplars"
            _clustering.warn_other_number(self, needed, f"{found} exemplars at the nearest")
        elif asked not in (AUTO, found):
            _clustering.warn_other_number(self, f"rows of {asked} different kinds", f"{found}")
        self.exemplar_distances_ = self._own_distances()

    def _by_density(self, space: Space) -> Clustering:
        if self.method == "hdbscan":
            smallest = self.min_cluster_size
            if smallest == AUTO:
                smallest = density.default_cluster_size(len(space))
            self.min_cluster_size_ = int(smallest)
            return density.hierarchy_clusters(space, self.min_neighbors, self.min_cluster_size_)
        eps = None if self.eps == KNEE else float(self.eps)
        self.eps_, clustering = density.density_clusters(space, eps, self.min_neighbors)
        return clustering

    def _by_number(self, space: Space, n_landmarks: int | None) -> Clustering:
        rng = make_generator(self.random_state)
        # Drawn before the landmarks, so that the seed of k-means does not depend on their number.
        seed = int(rng.integers(2**31))
        known, basis = space, None
        if n_landmarks is not None:
            basis = self.landmarks_ = np.sort(rng.choice(len(space), n_landmarks, replace=False))
            known = space.take(basis)
        known.check_size()
        numbers = self._numbers(known) if self.preference is None else []
        if numbers in ([1], [len(known)]):  # trivial: all rows together, or each by itself
            labels = np.arange(len(known)) if numbers != [1] else np.zeros(len(known), np.int64)
            exemplars = _clustering.cluster_medoids(known.distances(), labels)
            clustering = Clustering(labels, exemplars, _clustering.NearestExemplar(exemplars))
        elif self.preference is not None:
            clustering = partitions.Affinity(known, seed).elect(self.preference)
        else:
            cut = self._prepare(space, known, basis, seed, max(numbers))
            clustering = self._best(cut, known, basis, numbers)
        # The model of eigenvectors compares with landmarks, and has labeled all rows.
        if basis is None or isinstance(clustering.model, partitions.Extension):
            return clustering
        model = clustering.model.moved(basis)
        # The rows that are no landmarks join the clusters as new rows do.
        labels = model.assign(space.measure, space.rows, space.rows)
        # A landmark may be as near to another exemplar: it keeps the label it was given.
        labels[basis] = clustering.labels
        return Clustering(labels, basis[clustering.exemplars], model)

    def _numbers(self, known: Space) -> list[int]:
        """Return the numbers of clusters to try."""
        n, asked = len(known), self.n_clusters
        # Of similarities where they are made anyway: it saves a second matrix.
        similar = self.method in _clustering.BY_VECTORS and self.affinity == "similarity"
        differ = known.similarities() < 1 if similar else known.distances()
        if asked == 1 or (asked == AUTO and n < 3) or not differ.any():
            return [1]
        return list(range(2, min(self.max_clusters, n - 1) + 1)) if asked == AUTO else [int(asked)]

    def _prepare(
        self, space: Space, known: Space, basis: np.ndarray | None, seed: int, most: int
    ) -> _clustering.Cut:
        if self.method in _clustering.BY_VECTORS:
            affinity = self.affinity if self.method == "spectral" else ""
            vectors = partitions.Eigenvectors(affinity, self.sigma, space, seed, most, basis, known)
            return vectors.cut
        if self.method == "affinity":
            return partitions.Affinity(known, seed).cut
        if self.method == "medoids":
            return partitions.medoids_cut(known.distances())
        return partitions.linkage_cut(known.distances(), self.method)

    def _best(
        self, cut: _clustering.Cut, known: Space, basis: np.ndarray | None, numbers: list[int]
    ) -> Clustering:
        """Return the clustering with the highest silhouette; the fewer clusters on ties."""
        if self.n_clusters != AUTO:
            return cut(numbers[0])

        def judge(found: Clustering) -> float:
            # Spectral clustering labels all rows; the silhouette is that of the landmarks, whose
            # matrix exists.
            every = basis is not None and len(found.labels) > len(basis)
            labels = found.labels[basis] if every else found.labels
            single = len(np.unique(labels)) < 2
            return -1.0 if single else silhouette_of(known.distances(), labels)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LookalikeWarning)  # no number was asked for
            best, self.silhouettes_ = _clustering.best_number(numbers, cut, judge)
        return best

    # -- what has been found -----------------------------------------------------------------------

    def _own_distances(self) -> np.ndarray:
        out = np.full(len(self.labels_), np.nan)
        for label, position in enumerate(self.exemplars_):
            members = np.flatnonzero(self.labels_ == label)
            exemplar = self.rows_[self.exemplars_[label : label + 1]]
            distances = rectangle(self.measure_, self.rows_[members], exemplar, undefined="keep")
            out[members] = distances[:, 0]
            out[position] = 0.0  # also where a row cannot be compared with itself
        return out

    def transform(self, X: Any) -> np.ndarray:
        """Return the distances of rows to all exemplars.

        Parameters
        ----------
        X : new rows, or None for the rows that were clustered

        Returns
        -------
        array of shape (n, n_clusters_)
        """
        check_is_fitted(self, "model_")
        new = self.rows_ if X is None else self.measure_.encode(X)
        return rectangle(self.measure_, new, self.rows_[self.exemplars_])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return names of the columns that ``transform`` makes: one per exemplar."""
        check_is_fitted(self, "model_")
        return np.asarray([f"exemplar{i}" for i in range(self.n_clusters_)], dtype=object)
