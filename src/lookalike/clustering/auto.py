"""Search the measure and the method of a clustering by the silhouette."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClusterMixin, clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import check_is_fitted

from lookalike._runtime.frames import frame_of_records
from lookalike._runtime.progress import Progress
from lookalike._runtime.random_state import make_generator
from lookalike.clustering._clustering import AUTO, BY_DENSITY, METHODS, Space, default_landmarks
from lookalike.clustering.scores import among, silhouette_of
from lookalike.clustering.similarity_clustering import SimilarityClustering
from lookalike.errors import (
    InPython,
    InvalidInput,
    LookalikeError,
    LookalikeWarning,
    Param,
    Phrase,
    suggest,
)
from lookalike.measures.contract.base import Measure
from lookalike.measures.default import is_auto
from lookalike.measures.forest.proximity import ForestProximity
from lookalike.measures.names import DEFAULT, as_measure, named_entries
from lookalike.measures.task import TableTask, TaskSource, accept_mixed, read_source
from lookalike.saving import fields
from lookalike.saving.fields import Fields, check_params
from lookalike.table import read_table

ANY = fields.Anything()


def _sequence_of(alone: Any, one: Any) -> fields.Either:
    return fields.Either(alone, fields.ListOf(one), fields.TupleOf(one))


@dataclass(eq=False, repr=False)
class AutoClustering(ClusterMixin, TableTask):
    """Find the measure and the method whose clusters have the highest silhouette.

    Every measure is fitted with every combination of its parameters, clustered by every method,
    and judged by the mean silhouette in that measure's own distance; the highest wins [1]_. The
    table of all runs is kept.

    A silhouette speaks about compactness, so it favors round clusters and few of them, and numbers
    of different measures are on different scales. Look at the whole table, not at the winner alone.

    Parameters
    ----------
    measures : sequence or mapping of name to measure, optional
        Each entry a Measure, or a pair of a Measure and a mapping of parameter to values to try.
        None: "auto", the default comparison, and ``ForestProximity(method="ratio")``.
    methods : sequence of method names
        See ``SimilarityClustering``.
    n_clusters : int, "auto" or sequence of int
        A sequence tries each number; "auto" lets each run find its own.
    n_repeats : int
        Runs with other seeds, where the measure is random (it has a ``random_state``).
    max_seconds : float, optional
        Begin no further run after this time; what has been found by then counts.
    options : mapping, optional
        Further parameters for ``SimilarityClustering``. Where there are landmarks, chosen by it or
        given here, these are judged.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    random_state : None, int, RandomState or Generator
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    results_ : list of dicts, one per run, in the order of running
        ``measure``, ``parameters``, ``method``, ``n_clusters`` (asked), ``repeat``, ``silhouette``,
        ``found`` (number of clusters), ``noise`` (share of rows), ``seconds``, and ``error`` where
        a run was not possible, about which ``fit`` warns. Rows that are noise count as 0 in the
        silhouette.
    best_index_ : position of the winner in ``results_``; the first on ties
    best_score_ : its silhouette
    best_estimator_ : the fitted ``SimilarityClustering`` of the winner
    labels_ : its labels
    n_clusters_ : its number of clusters
    finished_ : bool
        False if ``max_seconds`` ended the search early.
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns

    References
    ----------
    .. [1] M. Bicego, F. Cicalese, A. Mensi (2023). RatioRF: a novel measure for random forest
       clustering based on the Tversky's ratio model. IEEE Transactions on Knowledge and Data
       Engineering 35(1), 830-841. doi:10.1109/TKDE.2021.3086147

    Examples
    --------
    >>> from lookalike.clustering import AutoClustering
    >>> from lookalike.measures import Gower, Vector
    >>> points = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]]
    >>> search = AutoClustering(
    ...     [Gower(), (Vector(), {"metric": ["cityblock", "euclidean"]})],
    ...     methods=["complete", "medoids"],
    ...     n_clusters=[2, 3],
    ... ).fit(points)
    >>> len(search.results_), search.labels_
    (12, array([0, 0, 0, 1, 1, 1]))
    >>> round(search.best_score_, 6)
    0.865657
    """

    FIELDS: ClassVar[Fields] = {
        "n_repeats": fields.Integer(1),
        "max_seconds": fields.Maybe(fields.Real(0.0)),
        "options": fields.Maybe(fields.Instance(Mapping, named="a mapping of parameter to value")),
        "measures": fields.AtLoad(fields.Maybe(_sequence_of(fields.MapOf(ANY, ANY), ANY))),
        "methods": fields.AtLoad(_sequence_of(fields.Text(), fields.Text())),
        "n_clusters": ANY,
        "results_": ANY,
        "best_score_": fields.Real(nan=True),
        "best_index_": fields.Integer(-1),
        "finished_": fields.Flag(),
        "best_estimator_": fields.Saved("SimilarityClustering"),
        "labels_": fields.Array("int64", "rows", low=-1),
        "n_clusters_": fields.Integer(0),
    }

    measures: Any = None
    methods: Sequence[str] = ("spectral", "medoids", "complete", "ward")
    n_clusters: Any = AUTO
    _: KW_ONLY
    n_repeats: int = 1
    max_seconds: float | None = None
    options: Mapping[str, Any] | None = None
    kinds: Mapping[str, Any] | None = None
    random_state: Any = None
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Run everything on the rows of a table.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
        y : the name of a column, optional
            Taken out of the table. Arrays are ignored: nothing learns from labels here.
        """
        self._check_params()
        asked, configurations = self._asked(), list(self._configurations())
        # A matrix of distances cannot be read as a table: such measures read X themselves. Else it
        # is read once, so that all measures see columns of the same kinds.
        measures = [c.measure for c in configurations if isinstance(c.measure, Measure)]
        given = any(measure.traits.pairwise for measure in measures)
        data, kinds = (X, self.kinds) if given else (read_table(X, kinds=self.kinds), None)
        deadline = time.monotonic() + (np.inf if self.max_seconds is None else self.max_seconds)
        self.results_: list[dict[str, Any]] = []
        best: SimilarityClustering | None = None
        self.best_score_, self.best_index_, self.finished_ = -np.inf, -1, True
        with Progress("trying clusterings", len(configurations) * len(asked)) as bar:
            for configuration in configurations:
                fitted = None  # once for all methods and numbers, then forgotten
                for method, number in asked:
                    # Even without any time left there is an answer: the first that works.
                    if best is not None and time.monotonic() > deadline:
                        self.finished_ = False
                        break
                    fitted = fitted or self._fit_measure(configuration, data, y, kinds)
                    run, model = self._try(fitted, configuration, method, number, X)
                    self.results_.append(run)
                    if model is not None and run["silhouette"] > self.best_score_:
                        best, self.best_score_ = model, run["silhouette"]
                        self.best_index_ = len(self.results_) - 1
                    bar.advance()
        self._adopt(best)
        return self

    def _adopt(self, best: SimilarityClustering | None) -> None:
        """Take over what the best run has found, and say which runs failed."""
        errors = [run["error"] for run in self.results_ if run["error"] is not None]
        who, n = type(self).__name__, len(self.results_)
        if best is None:
            needed = "a measure and a method that give at least two clusters"
            found = f"none in {n} runs; the first: {self.results_[0]['error']}"
            raise InvalidInput(who, needed, found, "Try other measures or fewer clusters")
        if errors:
            first, reasons = errors[0].removesuffix("."), len(set(errors))
            found = f"{len(errors)} of {n} that failed for {reasons} reasons, the first: {first}"
            hint = Phrase("Leave out what cannot be used", InPython("; results_ has the reasons"))
            # Two frames up is the line that called fit.
            warnings.warn(LookalikeWarning(who, "runs that work", found, hint), stacklevel=3)
        self.best_estimator_ = best
        self.__dict__.pop("feature_names_in_", None)  # of an earlier table that had names
        for attribute in ("labels_", "n_clusters_", "n_features_in_", "feature_names_in_"):
            if hasattr(best, attribute):
                setattr(self, attribute, getattr(best, attribute))

    # -- what is tried -----------------------------------------------------------------------------

    def _asked(self) -> list[tuple[str, int | str]]:
        """Return every method with every number of clusters."""
        given, who = self.n_clusters, type(self).__name__
        single = isinstance(given, str) or not isinstance(given, Iterable)
        numbers = [given] if single else list(given)
        methods = [self.methods] if isinstance(self.methods, str) else list(self.methods)
        for method in methods or [""]:
            fields.Choice(*METHODS).check(who, "methods", method)
        for number in numbers or [None]:
            rule = fields.Either(fields.Integer(2), fields.Choice(AUTO))
            rule.check(who, "n_clusters", number, "Use 2 or more")
        # Density methods find the number of clusters themselves.
        return [(m, k) for m in methods for k in ([AUTO] if m in BY_DENSITY else numbers)]

    def _configurations(self) -> Iterator[Configuration]:
        """Yield every measure with every choice of its parameters, repeated where it is random."""
        default = [DEFAULT, ForestProximity(method="ratio")]
        rng = make_generator(self.random_state)
        for name, entry in named_entries(default if self.measures is None else self.measures):
            measure, grid = self._read_entry(entry)
            # Seeds of the measure, and of what it is made of.
            seeded = [p for p in measure.get_params() if p.rpartition("__")[2] == "random_state"]
            repeats = range(self.n_repeats if seeded else 1)
            for choice, repeat in product(ParameterGrid(grid), repeats):
                candidate = clone(measure).set_params(**choice)
                if self.n_repeats > 1 or self.random_state is not None:
                    # Each run has seeds of its own, so it can be repeated by itself.
                    candidate.set_params(**{p: int(rng.integers(2**31)) for p in seeded})
                # Drawn for every configuration, used or not: adding a method changes no seed.
                label, seed = name or type(measure).__name__, int(rng.integers(2**31))
                # What "auto" means is known with the table.
                used = DEFAULT if is_auto(entry) else candidate
                yield Configuration(label, used, dict(choice), repeat, seed)

    def _read_entry(self, entry: Any) -> tuple[Measure, Mapping[str, Any]]:
        """Return a measure and the grid of its parameters, as one entry of ``measures`` has it."""
        who = Param("measures", of=type(self).__name__)
        measure, grid = entry if isinstance(entry, tuple) else (entry, {})
        if isinstance(measure, str):
            measure = as_measure(measure, Phrase(who))
        if not isinstance(measure, Measure):
            hint = Phrase(InPython("Pass instances, for example [Gower(), Vector()]"))
            raise InvalidInput(who, "lookalike measures", repr(measure), hint)
        known = measure.get_params()
        for wrong in set(grid) - set(known):
            needed = f"parameters of {type(measure).__name__}"
            raise InvalidInput(who, needed, repr(wrong), suggest(wrong, known))
        return measure, grid

    def _fit_measure(self, configuration: Configuration, data: Any, y: Any, kinds: Any) -> Fitted:
        """Fit a measure, or return the reason why it cannot be."""
        who, name = type(self).__name__, y if isinstance(y, str) else None
        try:
            source, _ = read_source(configuration.measure, data, name, who, kinds, self.n_jobs)
            measure, rows = source.fit()
        except LookalikeError as error:
            return error
        # The space is shared by all methods, so it needs the limit before any of them is made.
        limit = (self.options or {}).get("dense_limit", SimilarityClustering().dense_limit)
        return source, Space(measure, rows, who, limit)

    def _try(
        self,
        fitted: Fitted,
        configuration: Configuration,
        method: str,
        n_clusters: int | str,
        X: Any,
    ) -> tuple[dict[str, Any], SimilarityClustering | None]:
        name, parameters = configuration.name, configuration.parameters
        run: dict[str, Any] = {"measure": name, "parameters": parameters, "method": method}
        run |= {"n_clusters": n_clusters, "repeat": configuration.repeat}
        run |= dict.fromkeys(("silhouette", "found", "noise")) | {"seconds": 0.0, "error": None}
        model = SimilarityClustering(configuration.measure, n_clusters, method=method)
        model.set_params(random_state=configuration.seed, kinds=self.kinds, n_jobs=self.n_jobs)
        model.set_params(**(self.options or {}))
        began = time.monotonic()
        try:
            if isinstance(fitted, LookalikeError):
                raise fitted
            source, space = fitted
            check_params(model)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LookalikeWarning)  # see ``found`` in the results
                model._cluster(space)
            run["found"], run["noise"] = model.n_clusters_, float((model.labels_ < 0).mean())
            run["silhouette"] = _judge(space, model)
            model._remember_columns(X, source, space.measure)
        except LookalikeError as error:
            run["error"] = str(error)
        run["seconds"] = time.monotonic() - began
        return run, model if run["error"] is None else None

    # -- what has been found -----------------------------------------------------------------------

    def predict(self, X: Any) -> np.ndarray:
        """Return the clusters of new rows, by the rule of the winner's method.

        Parameters
        ----------
        X : new rows
        """
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the table of all runs as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
        """
        check_is_fitted(self, "best_estimator_")
        return frame_of_records(self.results_, backend)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Names of measures are not looked up: tags are read before parameters are checked.
        entries = self.measures.values() if isinstance(self.measures, Mapping) else self.measures
        measures = [e[0] if isinstance(e, tuple) else e for e in entries or ()]
        known = [m.traits for m in measures if getattr(m, "traits", None) is not None]
        return accept_mixed(tags, all(traits.missing for traits in known))


@dataclass(frozen=True)
class Configuration:
    """A measure to be fitted, and how it came about."""

    name: str
    measure: Measure | str
    parameters: dict[str, Any]
    repeat: int
    seed: int


# A fitted measure and its rows, or the reason why there are none.
Fitted = tuple[TaskSource, Space] | LookalikeError


def _judge(space: Space, model: SimilarityClustering) -> float:
    """Return the mean silhouette, noise counting as 0; of landmarks where rows are too many."""
    labels, sample = model.labels_, getattr(model, "landmarks_", None)
    if sample is None and not space.fits():
        # Density methods have no landmarks: the same rows are drawn for all of them.
        size = default_landmarks(len(space), model.method, space.limit)
        sample = np.sort(np.random.default_rng(0).choice(len(space), size, replace=False))
    if sample is not None:
        space, labels = space.take(sample), labels[sample]
    members = np.flatnonzero(labels >= 0)
    if sample is not None and model.n_clusters_ > 1 and len(np.unique(labels[members])) < 2:
        return 0.0  # the drawn rows are noise, or all in one of the clusters
    inside = among(space.distances(), members)
    return silhouette_of(inside, labels[members]) * len(members) / len(labels)
