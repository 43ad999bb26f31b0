"""Networks whose hidden units are similarities to prototypes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lookalike.prediction.mixins import TableClassifierMixin, TableRegressorMixin, class_words
from lookalike.prediction.network_base import SimilarityNetwork
from lookalike.saving.fields import Array, Either, Fields, Objects, Plain


class SimilarityNetworkClassifier(TableClassifierMixin, SimilarityNetwork):
    """Say what a row is by a weighted sum of how alike it is to a few prototypes.

    A network of one hidden layer: each unit compares the row with a prototype, by any measure, and
    sharpens the similarity (``similarity_activation``); the outputs are weighted sums of the units
    [1]_. It takes tables as they come, gaps and objects included, is fast once fitted, and is
    trained by solving one linear system.

    Where the boundary between classes is intricate, ``NeighborClassifier`` or a forest will follow
    it better.

    Parameters
    ----------
    measure : Measure, optional
        How alike rows are; None: ``Gower()``. A clone is fitted.
    prototypes : str
        How the centers of the units are chosen (see ``select_prototypes``).
    n_prototypes : int, float or "tune"
        How many, or a share of the rows. "tune": the best of 2 to 10 percent in cross-validation,
        the fewer on ties.
    p : float or "tune"
        Gentleness of the curve that all units share. "tune": the best of 0.01, 0.05, 0.1, 0.5, 1
        and 10 in cross-validation.
    alpha : float
        Ridge penalty on the weights of the standardized units; the constant is free.
    cv : int
        Folds of "tune"; each fits the measure and chooses its prototypes anew.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    max_rows : int
        Larger tables are sampled to choose prototypes (see ``select_prototypes``).
    random_state : None, int, RandomState or Generator
        For the folds, sampling and "random" prototypes.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    classes_ : the classes, sorted
    representation_ : the fitted SimilarityRepresentation; ``prototypes_`` in it are the centers
    p_ : float
    coef_, intercept_ : weights of the standardized units, of shape (units, classes)
    cv_results_ : dict of arrays, where something was tuned
        ``n_prototypes``, ``p`` and ``error`` (share of wrong rows).
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns

    References
    ----------
    .. [1] L. A. Belanche and J. Hernandez (2014). Similarity networks for classification: a case
       study in the Horse Colic problem. doi:10.48550/arXiv.1403.4540

    Examples
    --------
    >>> from lookalike.prediction import SimilarityNetworkClassifier
    >>> pets = {
    ...     "weight": [4.0, 5.0, None, 30.0, 25.0, 28.0],
    ...     "sound": ["meow", "meow", "meow", "woof", "woof", None],
    ... }
    >>> animals = ["cat", "cat", "cat", "dog", "dog", "dog"]
    >>> model = SimilarityNetworkClassifier(n_prototypes=2, p=0.5).fit(pets, animals)
    >>> print(*model.predict({"weight": [29.0, None], "sound": [None, "meow"]}))
    dog cat
    """

    FIELDS: ClassVar[Fields] = {
        "classes_": Either(
            Array("text int64 float64 bool", "outputs"), Objects("outputs", Plain())
        ),
    }

    TARGET_TYPE = "classes"
    REGRESSOR = "SimilarityNetworkRegressor"

    def _learn_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        codes = self._read_classes(y)
        n_classes = len(self.classes_)
        return np.eye(n_classes)[codes], class_words(codes, n_classes)

    def _losses(self, outputs: np.ndarray, target: np.ndarray) -> np.ndarray:
        return np.asarray(outputs.argmax(axis=1) != target.argmax(axis=1))

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the largest output.

        Parameters
        ----------
        X : table, frame, array, record or list of records

        Returns
        -------
        array of n classes
        """
        outputs = self._outputs(X)
        return np.asarray(self.classes_[outputs.argmax(axis=1)])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return a probability for each class: the outputs, negative ones as 0, of sum 1.

        Parameters
        ----------
        X : table, frame, array, record or list of records

        Returns
        -------
        array of shape (n, number of classes), columns in the order of ``classes_``
        """
        # Outputs sum to 1, because the targets do, so the largest is above 0 and stays the largest.
        found = np.maximum(self._outputs(X), 0.0)
        return np.asarray(found / found.sum(axis=1, keepdims=True))


class SimilarityNetworkRegressor(TableRegressorMixin, SimilarityNetwork):
    """Predict a number by a weighted sum of how alike a row is to a few prototypes.

    The network of ``SimilarityNetworkClassifier`` with one output [1]_: a weighted sum of hidden
    units, each of which compares the row with a prototype. It does not follow a trend beyond the
    fitted rows.

    Parameters
    ----------
    measure : Measure, optional
    prototypes : str
    n_prototypes : int, float or "tune"
    p : float or "tune"
    alpha : float
    cv : int
    kinds : mapping of column to kind, optional
    max_rows : int
    random_state : None, int, RandomState or Generator
    n_jobs : int, optional
        All as for ``SimilarityNetworkClassifier``.

    Attributes
    ----------
    representation_ : the fitted SimilarityRepresentation; ``prototypes_`` in it are the centers
    p_ : float
    coef_, intercept_ : weights of the standardized units, of shape (units, 1)
    cv_results_ : dict of arrays, where something was tuned
        ``n_prototypes``, ``p`` and ``error`` (mean squared error).
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns

    References
    ----------
    .. [1] L. A. Belanche and J. Hernandez (2014). Similarity networks for classification: a case
       study in the Horse Colic problem. doi:10.48550/arXiv.1403.4540

    Examples
    --------
    >>> from lookalike.prediction import SimilarityNetworkRegressor
    >>> rooms = {"area": [20.0, 30.0, 40.0, 50.0, 60.0], "sunny": ["no", "no", "no", "no", "no"]}
    >>> model = SimilarityNetworkRegressor(n_prototypes=5, p=10.0)
    >>> model.fit(rooms, [200.0, 300.0, 400.0, 500.0, 600.0])
    SimilarityNetworkRegressor(n_prototypes=5, p=10.0)
    >>> model.predict({"area": [35.0], "sunny": ["no"]}).round()
    array([350.])
    """

    TARGET_TYPE = "numbers"
    CLASSIFIER = "SimilarityNetworkClassifier"

    def _learn_target(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values = self._read_numbers(y)
        return values[:, None], values

    def _losses(self, outputs: np.ndarray, target: np.ndarray) -> np.ndarray:
        return np.asarray(((outputs - target) ** 2)[:, 0])

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted number of each row.

        Parameters
        ----------
        X : table, frame, array, record or list of records

        Returns
        -------
        array of n
        """
        return self._outputs(X)[:, 0]
