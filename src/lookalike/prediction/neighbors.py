"""Predict a class or a number from the rows that are most alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from lookalike._runtime.folds import assign_folds
from lookalike.errors import InvalidInput, Param, Phrase, TooFewRows
from lookalike.evaluate.vote import WEIGHTS, class_totals, list_weights, means, vote
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.explanation import Explanation
from lookalike.measures.contract.rows import Rows, check_k
from lookalike.measures.task import MeasureTask, TaskSource, check_task_rows
from lookalike.neighbors.graph import NeighborGraph
from lookalike.prediction import mixins
from lookalike.saving import fields
from lookalike.table import Table, as_table
from lookalike.table.model.targets import check_sample_weight

TUNE = "tune"
N_FOLDS = 5
# Chosen with the votes by a study on public tables, studies/neighbors.py: neither tuning them nor
# learning weights of columns is ahead beyond noise on both halves.
N_NEIGHBORS, VOTES = 10, "kernel"
# Chosen by hand: every k up to 15, where one neighbor more matters, then steps of about a quarter.
TRIED_K = (*range(1, 16), 20, 25, 30, 40, 50, 65, 80, 100, 125, 160, 200)
MIN_LARGEST_K = 50  # tried on small tables, too


def candidate_k(n: int, most: int) -> list[int]:
    """Return the numbers of neighbors to try.

    Every k from 1 to 15, then 20, 25, 30, 40, 50, and in steps of about a quarter up to twice the
    square root of n, at most 200: where a vote is noisy, the best k grows with the table.

    Parameters
    ----------
    n : int
        Rows of the table.
    most : int
        The fewest rows that any fold has to learn from; no more are asked for.

    Examples
    --------
    >>> candidate_k(1000, 800)[-4:], candidate_k(10_000, 8000)[-1], candidate_k(12, 9)[-1]
    ([25, 30, 40, 50], 200, 9)
    """
    # The best k grows with the table where votes are noisy; the root is the usual rule of thumb.
    largest = min(most, max(MIN_LARGEST_K, int(np.ceil(2 * np.sqrt(n)))))
    return [k for k in TRIED_K if k <= largest]


def default_k(n: int) -> int:
    """Return how many rows of n vote unless it is said: 10, at most four fifths of them.

    Examples
    --------
    >>> default_k(13), default_k(12), default_k(5), default_k(1)
    (10, 9, 4, 1)
    """
    # A fifth is held out where votes are tuned, and each row is left out of its own list.
    return min(N_NEIGHBORS, max(1, n - -(-n // N_FOLDS)))


def _mean(losses: np.ndarray, weight: np.ndarray) -> np.ndarray:
    # A fold whose rows have no weight has no error; the mean over all rows is not affected.
    if not weight.any():
        return np.full(losses.shape[1], np.nan)
    if (weight == weight[0]).all():  # the same bits as without weights
        return np.asarray(losses.mean(axis=0))
    return np.asarray(weight @ losses / weight.sum())


@dataclass(eq=False, repr=False)
class NeighborPredictor(mixins.NamedTargetMixin, MeasureTask, ABC, abstract=True):
    """Base of the predictors that ask the nearest fitted rows."""

    FIELDS: ClassVar[fields.Fields] = {
        "n_neighbors": fields.Maybe(fields.Either(fields.Integer(1), fields.Choice(TUNE))),
        "weights": fields.Choice(*WEIGHTS, TUNE),
        "measure_": fields.Saved("Measure"),
        "rows_": fields.Saved("Rows"),
        "n_neighbors_": fields.Integer(1),
        "weights_": fields.Choice(*WEIGHTS),
        "sample_weight_": fields.Array("float64", "rows", finite=True, low=0),
        "cv_results_": fields.Sometimes(fields.Anything()),
    }

    REQUIRES_TARGET = True

    n_neighbors: int | str | None = None
    _: KW_ONLY
    weights: str = VOTES
    kinds: Mapping[str, Any] | None = None
    random_state: Any = None
    n_jobs: int | None = None

    # -- what classifier and regressor write -------------------------------------------------------

    @abstractmethod
    def _learn_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what the rows vote with, and the target as measures see it (``mixins``)."""

    @abstractmethod
    def _answers(self, votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the predictions from the votes of neighbors and what each counts for."""

    @abstractmethod
    def _losses(self, answers: np.ndarray, votes: np.ndarray) -> np.ndarray:
        """Return what is lost by n predictions where the n votes are true."""

    # -- fitting -----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Keep rows with a known target.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
            For a measure that takes distances: the square matrix of them.
        y : array of n, or the name of a column
            A named column is taken out of the table. Missing values are an error.
        sample_weight : array of n, or one number, optional
            What the vote of each row counts, and its error where something is tuned. A row of
            weight 0 stays among the neighbors, without a vote; where no neighbor has a vote, all
            count alike.
        """
        source, target = self._read(X, y)
        votes, y_measure = self._learn_target(np.asarray(target))
        self._remember_target(X, source.table, y)
        who = type(self).__name__
        self.sample_weight_ = check_sample_weight(sample_weight, len(source), who)
        asked = default_k(len(source)) if self.n_neighbors is None else self.n_neighbors
        if asked != TUNE:
            check_k(asked, len(source), who, False)
        # scikit-learn wants fit to forget everything of an earlier fit.
        self.__dict__.pop("cv_results_", None)
        tune = TUNE in (asked, self.weights)
        chosen = self._tune(source, votes, y_measure, asked) if tune else (asked, self.weights)
        self.n_neighbors_, self.weights_ = int(chosen[0]), chosen[1]
        self.measure_, self.rows_ = source.fit(y_measure)
        self.votes_ = votes
        self._remember_columns(X, source, self.measure_)
        return self

    def _tune(
        self, source: TaskSource, votes: np.ndarray, y_measure: np.ndarray, asked: int | str
    ) -> tuple[int, str]:
        """Return the k and the weights with the smallest error on held-out rows.

        Every row is predicted from the rows of the other folds, with every choice of k and
        weights. Each fold fits the measure to its known part and searches neighbors once, as many
        as the largest k; all choices are answered from these lists.
        """
        names = [name for name in ("n_neighbors", "weights") if getattr(self, name) == TUNE]
        who = f"{type(self).__name__}({', '.join(f'{name}={TUNE!r}' for name in names)})"

        strata = votes if is_classifier(self) else None  # every fold has all classes
        folds = assign_folds(strata, len(source), N_FOLDS, self.random_state, who)
        fewest = len(folds) - int(np.bincount(folds).max())  # rows that the largest fold leaves
        ks = candidate_k(len(source), fewest) if asked == TUNE else [int(asked)]
        if ks[-1] > fewest:
            hint = Phrase("Use ", Param("n_neighbors", fewest), ", or set ", Param("weights"))
            raise TooFewRows(who, f"folds with at least {ks[-1]} known rows", f"{fewest}", hint)
        # In this order ties of the error go to the smaller k, then to plain votes.
        choices = list(product(ks, WEIGHTS if self.weights == TUNE else (self.weights,)))
        # A loss for every row and choice, not a mean per fold: sample weights are applied later.
        losses = np.empty((len(source), len(choices)))
        for fold in range(int(folds.max()) + 1):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            # Fitted without the fold: ranges and learned weights must not see the rows that are
            # scored.
            measure, rows = source.fit(y_measure, train)
            lists = measure.nearest(source.ask(measure, train, test), rows, ks[-1]).finish("last")
            for column, (k, word) in enumerate(choices):
                near = train[lists.indices[:, :k]]
                counted = self._count(measure, lists[:, :k], word, self.sample_weight_[near])
                answers = self._answers(votes[near], counted)
                losses[test, column] = self._losses(answers, votes[test])
        tried_k, words = zip(*choices, strict=True)
        members, weight = [folds == fold for fold in np.unique(folds)], self.sample_weight_
        self.cv_results_ = {
            "n_neighbors": np.array(tried_k),
            "weights": np.array(words),
            "error": _mean(losses, weight),
            "fold_errors": np.array([_mean(losses[fold], weight[fold]) for fold in members]),
        }
        return choices[int(self.cv_results_["error"].argmin())]

    @staticmethod
    def _count(
        measure: Measure, lists: NeighborGraph, word: str, sample_weight: np.ndarray
    ) -> np.ndarray:
        """Return what each neighbor counts for: by its distance, times its own weight."""
        # Where weights depend on the distance, a pair that cannot be compared is as far as
        # possible.
        farthest = np.inf if measure.traits.conversion == "ratio" else 1.0
        counted = list_weights(lists.distances, word, farthest) * sample_weight
        counted[~counted.any(axis=1)] = 1.0  # all weights are 0: a vote of none would be 0 / 0
        return counted

    # -- neighbors ---------------------------------------------------------------------------------

    def _graph(self, X: Any, k: int | None = None) -> NeighborGraph:
        check_is_fitted(self, "measure_")
        if X is None:
            # By position, not by distance 0: duplicates of a row stay among its neighbors.
            return self._nearest(self.rows_, k, np.arange(len(self.rows_)))
        return self._nearest(self._encode(X), k, None)

    def _nearest(self, queries: Rows, k: int | None, exclude: np.ndarray | None) -> NeighborGraph:
        """Return the nearest fitted rows; those to exclude are the queries' own positions."""
        own = exclude is not None
        k = self.n_neighbors_ if k is None else k
        check_k(k, len(self.rows_) - own, type(self).__name__, own)
        return self.measure_.nearest(queries, self.rows_, int(k), exclude=exclude).finish("last")

    def _encode(self, X: Any) -> Rows:
        """Return new rows encoded; a column with the target may be there, and is left out."""
        schema, name = self.measure_.schema_, self.target_
        # A measure that was fitted here has set the target aside, and ignores the column.
        if name is None or name in schema.aside:
            return self.measure_.encode(X)
        # A frozen measure was fitted without the target, and would refuse the column.
        wider = replace(schema, aside={**schema.aside, name: "the target"})
        table = as_table(X, wider, who=type(self).__name__)
        aside = [column for column in table.aside if column.name != name]
        return self.measure_.encode(Table(table.columns, aside, len(table), table.missing))

    def _ask(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the votes of the neighbors of each row, and what each counts for."""
        graph = self._graph(X)
        own = self.sample_weight_[graph.indices]
        return self.votes_[graph.indices], self._count(self.measure_, graph, self.weights_, own)

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Return the nearest fitted rows, as scikit-learn does: (distances, indices).

        Parameters
        ----------
        X : new rows, optional
            None: the fitted rows; each is then left out of its own list, by its position.
        n_neighbors : int, optional
            None: as many as vote.
        return_distance : bool
            False: indices only. Pairs with nothing to compare come last, at distance inf.
        """
        graph = self._graph(X, n_neighbors)
        return (graph.distances, graph.indices) if return_distance else graph.indices

    def explain(self, x: Any, n_neighbors: int | None = None) -> list[tuple[int, Explanation]]:
        """Return the neighbors that decide about one row, nearest first, each with the reasons.

        Parameters
        ----------
        x : int or one row
            A position in the fitted rows, a record (dict), or a table of one row.
        n_neighbors : int, optional
            None: as many as vote.

        Returns
        -------
        list of (position in the fitted rows, Explanation)
        """
        check_is_fitted(self, "measure_")
        row, exclude = self._one_row(x)
        positions = self._nearest(row, n_neighbors, exclude).indices[0].tolist()
        return [(i, self.measure_.explain_rows(row, self.rows_[i : i + 1])) for i in positions]

    def _one_row(self, x: Any) -> tuple[Rows, np.ndarray | None]:
        """Return one row encoded, and its position as an array, None where it is new."""
        who = f"{type(self).__name__}.explain"
        if isinstance(x, int | np.integer) and not isinstance(x, bool):
            last = len(self.rows_) - 1
            if not 0 <= x <= last:
                raise InvalidInput(who, f"a position from 0 to {last}", str(x), "Count rows from 0")
            return self.rows_[int(x) : int(x) + 1], np.array([x])
        row = self._encode(x)
        if len(row) != 1:
            hint = "Pass a position, a record, or a table of one row"
            raise InvalidInput(who, "one row", f"{len(row)} rows", hint)
        return row, None

    def check_loaded(self, dims: fields.Dims) -> None:
        """Check after loading that rows fit the measure and every row has a vote."""
        check_task_rows(self, dims["rows"])
        n, who = dims["rows"], type(self).__name__
        fields.require(self.n_neighbors_ <= n, f"{who}.n_neighbors_", f"at most {n}", "more")


@dataclass(eq=False, repr=False, kw_only=True)
class NeighborClassifier(mixins.TableClassifierMixin, NeighborPredictor):
    """Classify rows by the classes of the most similar rows (k nearest neighbors).

    Takes mixed tables: numbers, categories, texts, sets and missing values. It works wherever
    scikit-learn expects a classifier: pipelines, cross-validation, grid search over the parameters
    of the measure (``measure__missing``).

    With many columns that have nothing to do with the class, learn weights for them
    (``measure="auto:weights=relieff"``); where classes are far from even, look at
    ``predict_proba`` rather than at the vote.

    Parameters
    ----------
    measure : Measure, optional
        How alike rows are; None: "auto", the default of the library (``choose_measure``). A
        clone is fitted. The frozen form of a fitted measure (``measure.frozen()``) keeps what it
        has learned, and the rows given to ``fit`` are then read as new rows. ``Precomputed()``
        takes a matrix of distances as X.
    n_neighbors : int, "tune" or None
        How many rows vote. None: 10, at most four fifths of the rows; a number that is given is
        never shrunk. "tune": the k with the fewest errors in 5-fold
        cross-validation, the smaller one on ties. Tried are 1 to 15, then 20, 25, 30, 40, 50 and
        further up to twice the square root of n, at most 200.
    weights : {"kernel", "uniform", "distance", "tune"}
        Votes count by a bell curve of the distance, two deviations wide at the last neighbor
        (Gaussian kernel); all alike; or in proportion to 1 / distance, where rows at distance 0
        decide alone. "tune": the one of the three with the fewest errors, chosen together
        with ``n_neighbors="tune"`` or for the k that is given.
    tie : {"first", "nearest"}
        Among classes with equal votes the one whose member comes first in the list, or the class
        of the very nearest row even if it is not among them.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    random_state : None, int, RandomState or Generator
        How rows are split into the folds of "tune". None: the same every time.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    classes_ : the classes, sorted
    measure_ : the fitted measure
    n_neighbors_ : int
        How many rows vote.
    weights_ : str
        How their votes are weighted.
    cv_results_ : dict of arrays, with "tune" only
        ``n_neighbors`` and ``weights`` (one entry for each choice), ``error`` (its share of wrong
        rows) and ``fold_errors`` (the same in each fold).
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns

    Notes
    -----
    Neighbors are ordered by (distance, position). Rows that share nothing comparable have
    similarity 0 and come last.

    References
    ----------
    .. [1] T. Cover and P. Hart (1967). Nearest neighbor pattern classification. IEEE Transactions
       on Information Theory 13(1), 21-27. doi:10.1109/TIT.1967.1053964

    Examples
    --------
    >>> from lookalike.prediction import NeighborClassifier
    >>> pets = {
    ...     "weight": [4.0, 5.0, None, 30.0, 25.0, 0.03],
    ...     "sound": ["meow", "meow", "meow", "woof", "woof", None],
    ...     "animal": ["cat", "cat", "cat", "dog", "dog", "mouse"],
    ... }
    >>> model = NeighborClassifier(n_neighbors=2).fit(pets, "animal")
    >>> print(*model.predict({"weight": [28.0, None], "sound": [None, "meow"]}))
    dog cat
    >>> position, why = model.explain({"weight": 28.0, "sound": "woof"})[0]
    >>> pets["animal"][position], round(why.similarity, 3)
    ('dog', 0.95)
    """

    FIELDS: ClassVar[fields.Fields] = {
        "tie": fields.Choice("first", "nearest"),
        "classes_": mixins.classes_field("classes"),
        "votes_": fields.Array("int64", "rows", low=0, below="classes"),
    }

    REGRESSOR = "NeighborRegressor"
    MIN_CLASSES = 1  # with neighbors of one class the answer is that class

    tie: str = "first"

    def _answers(self, votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return vote(votes, weights, len(self.classes_), self.tie)

    def _losses(self, answers: np.ndarray, votes: np.ndarray) -> np.ndarray:
        return answers != votes

    def predict(self, X: Any = None) -> np.ndarray:
        """Return the class that most of the nearest rows have.

        Parameters
        ----------
        X : new rows, optional
            None: each fitted row is predicted from the others (leave-one-out). A measure that has
            learned from y has seen these classes; score it by cross-validation instead.

        Returns
        -------
        array of n classes
        """
        codes = self._answers(*self._ask(X))  # first: it checks that the model is fitted
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any = None) -> np.ndarray:
        """Return each class's share of the votes.

        ``predict`` takes the largest share; where shares tie it looks at who is nearest.

        Parameters
        ----------
        X : new rows, optional
            None: each fitted row is predicted from the others (leave-one-out).

        Returns
        -------
        array of shape (n, number of classes), columns in the order of ``classes_``
        """
        codes, weights = self._ask(X)
        # The same totals that predict counts: the largest share is the predicted class.
        totals = class_totals(codes, weights, len(self.classes_))
        return totals / totals.sum(axis=1, keepdims=True)


class NeighborRegressor(mixins.TableRegressorMixin, NeighborPredictor):
    """Predict a number as the mean over the most similar rows (k nearest neighbors).

    Takes mixed tables, as ``NeighborClassifier`` does, and works wherever scikit-learn
    expects a regressor. It never predicts beyond the values it has seen; for trends that go on
    outside the data use a model of the trend.

    Parameters
    ----------
    measure : Measure, optional
        As for ``NeighborClassifier``.
    n_neighbors : int, "tune" or None
        How many rows are averaged, as for ``NeighborClassifier``. "tune": the k with the smallest
        mean squared error in 5-fold cross-validation, of the same numbers.
    weights : {"kernel", "uniform", "distance", "tune"}
        A mean weighted by distance, or a plain one, as for ``NeighborClassifier``.
    kinds : mapping of column to kind, optional
    random_state : None, int, RandomState or Generator
    n_jobs : int, optional
        As for ``NeighborClassifier``.

    Attributes
    ----------
    measure_ : the fitted measure
    n_neighbors_ : int
        How many rows are averaged.
    weights_ : str
        How they are weighted.
    cv_results_ : dict of arrays, with "tune" only
        ``n_neighbors`` and ``weights`` (one entry for each choice), ``error`` (its mean squared
        error) and ``fold_errors`` (the same in each fold).
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns

    References
    ----------
    .. [1] T. Cover (1968). Estimation by the nearest neighbor rule. IEEE Transactions on
       Information Theory 14(1), 50-55. doi:10.1109/TIT.1968.1054098

    Examples
    --------
    >>> from lookalike.prediction import NeighborRegressor
    >>> flats = {
    ...     "area": [30.0, 32.0, 80.0, 85.0, None],
    ...     "district": ["center", "harbor", "center", "harbor", "harbor"],
    ...     "rent": [600.0, 500.0, 1400.0, 1100.0, 900.0],
    ... }
    >>> model = NeighborRegressor(n_neighbors=2).fit(flats, "rent")
    >>> model.predict({"area": [84.0], "district": ["harbor"]}).round()
    array([1013.])
    """

    FIELDS: ClassVar[fields.Fields] = {"votes_": fields.Array("float64", "rows")}

    CLASSIFIER = "NeighborClassifier"

    def _answers(self, votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return means(votes, weights)

    def _losses(self, answers: np.ndarray, votes: np.ndarray) -> np.ndarray:
        return np.square(answers - votes)

    def predict(self, X: Any = None) -> np.ndarray:
        """Return the mean target of the nearest rows.

        Parameters
        ----------
        X : new rows, optional
            None: each fitted row is predicted from the others (leave-one-out).

        Returns
        -------
        array of n numbers
        """
        return self._answers(*self._ask(X))
