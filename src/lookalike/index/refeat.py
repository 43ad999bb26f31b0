"""Ranking by an isolation forest: relevance feature mapping (ReFeat)."""

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np

from lookalike._runtime.config import count_jobs, settings, show_bytes
from lookalike._runtime.estimator import Estimator, check_is_fitted
from lookalike._runtime.random_state import RANDOM_STATE
from lookalike._runtime.threads import blocks, run
from lookalike.errors import InvalidInput, Param, Phrase, TooFewRows, TooLarge
from lookalike.index.relevance import check_gamma, rocchio
from lookalike.measures.numeric import check_owners, numbers, plan
from lookalike.saving import fields
from lookalike.saving.encode import SaveMixin
from lookalike.table import Table, as_table, read_table
from lookalike.trees.growers import ExtraForest

ROWS_PER_BLOCK = 2048  # scored by one thread at a time (chosen by hand)


@dataclass(eq=False, repr=False)
class ReFeat(SaveMixin, Estimator):
    """Rank rows by an isolation forest, without a distance between two rows.

    Every tree is weighted by how deep the query lies in it: trees in which it is deep say that
    deep rows matter, trees that isolate it early say the opposite. A row scores high if it is deep
    where the query is [1]_. Feedback changes the weights of the trees.

    It needs complete numeric rows, and depends on their scale, since trees cut at random points of
    a range. It is a baseline; ``Index`` with ``StochasticForest`` ranks better as a rule.

    Parameters
    ----------
    n_estimators : int
        Trees.
    max_samples : int
        Rows that each tree is grown on, 3 or more: with two, all trees are alike. 4 to 128 have
        been tried in the literature.
    max_depth : {"log2", None}
        Grow to the logarithm of ``max_samples``, rounded up, or until every row is alone.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    random_state : None, int, numpy Generator or RandomState
        Seed of the trees.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``. Answers do not depend on it.

    Attributes
    ----------
    forest_ : the trees
    n_features_in_ : number of columns

    References
    ----------
    .. [1] G.-T. Zhou, K. M. Ting, F. T. Liu, Y. Yin (2012). Relevance feature mapping for
       content-based multimedia information retrieval. Pattern Recognition 45(4), 1707-1720.
       doi:10.1016/j.patcog.2011.09.016

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.index import ReFeat
    >>> rng = np.random.default_rng(0)
    >>> rows = np.vstack([rng.normal(0, 1, (30, 2)), rng.normal(9, 1, (5, 2))])
    >>> scores, positions = ReFeat(random_state=0).fit(rows).search(32, k=4)
    >>> sorted(positions.tolist())
    [30, 31, 33, 34]
    """

    FIELDS: ClassVar[fields.Fields] = {
        "n_estimators": fields.Integer(1),
        "max_samples": fields.Integer(3),
        "max_depth": fields.Choice("log2", None),
        "kinds": fields.KINDS,
        "random_state": RANDOM_STATE,
        "n_jobs": fields.N_JOBS,
        "layout_": fields.Saved("MatrixLayout"),
        "schema_": fields.Saved("Schema"),
        "n_features_in_": fields.Integer(0, high=2**31),
        "forest_": fields.Saved("Forest"),
        "psi_": fields.Integer(1),
        "leaves_": fields.Array("uint16 uint32", "rows", "trees"),
        "lengths_": fields.Array("float64", "leaves", finite=True),
    }

    n_estimators: int = 1000
    max_samples: int = 8
    _: KW_ONLY
    max_depth: str | None = "log2"
    kinds: Mapping[str, Any] | None = None
    random_state: Any = None
    n_jobs: int | None = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Grow trees on rows, and store these as the rows to be ranked.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
        y : ignored
        """
        fields.check_params(self)
        count_jobs(self.n_jobs)
        table = read_table(X, kinds=self.kinds)
        self.layout_, self.schema_ = plan(table, "ReFeat"), table.schema
        self.n_features_in_ = len(table.columns)
        values = self._values(table)
        n = len(values)
        if n < 3:
            raise TooFewRows("ReFeat", "at least 3 rows", Param("n_samples", n), "Add rows")
        # A leaf code of 2 bytes, and a byte for whether the row is in the sample of the tree.
        size, limit = 3 * n * self.n_estimators, settings().memory_limit
        if size > limit:
            found = f"{n:,} rows x {self.n_estimators:,} trees = {show_bytes(size)}"
            hint = Phrase("Use fewer trees, or raise ", Param("memory_limit", of="config"))
            raise TooLarge("ReFeat", f"less than {show_bytes(limit)}", found, hint)
        # The paper's psi: the number of rows that every tree is grown on.
        psi = min(self.max_samples, n)
        depth = math.ceil(math.log2(psi)) if self.max_depth == "log2" else psi
        grower = ExtraForest(
            self.n_estimators, max_samples=psi, max_depth=depth, random_state=self.random_state
        )
        grown = grower.grow(values, out_of_bag=True, n_jobs=self.n_jobs)
        self.forest_, self.psi_ = grown.forest, psi
        self.leaves_ = self.forest_.leaves(values, self.n_jobs)
        self.lengths_ = self._path_lengths(grown.in_bag)
        return self

    def _values(self, table: Table) -> np.ndarray:
        return numbers(table, self.layout_, "ReFeat").astype(np.float64, copy=False)

    def _path_lengths(self, in_bag: Any) -> np.ndarray:
        """Return for every leaf its depth, plus the mean depth of a tree on its sample rows.

        As in isolation forests, for trees that are not grown until every row is alone.
        """
        nodes = self.forest_.nodes
        starts = np.repeat(self.forest_.offsets[:-1], nodes.n_leaves)
        depth = nodes.depth[starts + nodes.leaf_node].astype(np.float64)
        extra = average_path(np.arange(self.psi_ + 1))
        for t, start in enumerate(nodes.leaf_offsets[:-1]):
            in_sample = self.leaves_[in_bag[:, t] > 0, t]
            held = np.bincount(in_sample, minlength=int(nodes.n_leaves[t]))
            depth[start : start + len(held)] += extra[held]
        return depth

    def relevance(
        self, query: Any, like: Any = (), unlike: Any = (), gamma: float = 0.5
    ) -> np.ndarray:
        """Return how relevant each fitted row is; larger is better.

        Parameters
        ----------
        query, like, unlike : positions of fitted rows, or new rows
            A position, a list of positions, a record, or a table of rows.
        gamma : float
            How much the rows that are not liked count.
        """
        check_is_fitted(self, "forest_")
        check_gamma(gamma, "ReFeat")
        positive, negative = self.paths(query), self.paths(unlike)
        positive = np.concatenate([positive, self.paths(like)])
        return self.relevance_by(tree_weights(positive, negative, self.psi_, gamma)[None])[0]

    def search(
        self, query: Any, k: int = 10, *, like: Any = (), unlike: Any = (), gamma: float = 0.5
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores and positions of the k best rows; ties go to the lower position.

        Fitted rows that are given by position are left out.

        Parameters
        ----------
        query, like, unlike, gamma
            See ``relevance``.
        k : int
        """
        fields.Integer(1).check("ReFeat.search", "k", k, "Ask for at least one row")
        scores = self.relevance(query, like, unlike, gamma)
        given = [row for rows in (query, like, unlike) for row in _positions(rows) or ()]
        order = np.argsort(-scores, kind="stable")
        order = order[~np.isin(order, given)][:k]
        return scores[order], order

    def relevance_by(self, weights: np.ndarray) -> np.ndarray:
        """Return the relevance of each fitted row, under each of several weights of the trees.

        Parameters
        ----------
        weights : array of shape (several, trees), from ``tree_weights``
        """
        check_is_fitted(self, "forest_")
        values = np.repeat(weights, self.forest_.nodes.n_leaves, axis=1) * self.lengths_
        sums = np.zeros((len(self.leaves_), len(weights)))
        offsets, table = self.forest_.nodes.leaf_offsets, np.ascontiguousarray(values.T)

        def add_up(part: slice) -> None:
            for start, leaves in zip(offsets, self.leaves_[part].T, strict=False):
                sums[part] += table[start:].take(leaves, axis=0)

        parts = [(part,) for part in blocks(len(sums), ROWS_PER_BLOCK)]
        run(add_up, parts, self.n_jobs, "scoring rows")
        return np.ascontiguousarray(sums.T) / self.forest_.n_trees

    def paths(self, given: Any) -> np.ndarray:
        """Return the path lengths of rows, one column per tree.

        Parameters
        ----------
        given : positions of fitted rows, or new rows
        """
        if (positions := _positions(given)) is None:
            values = self._values(as_table(given, self.schema_, who="ReFeat"))
            leaves = self.forest_.leaves(values, self.n_jobs)
        else:
            last = len(self.leaves_) - 1
            for position in (one for one in positions if not 0 <= one <= last):
                needed, hint = f"a position from 0 to {last}", "Count rows from 0"
                raise InvalidInput("ReFeat", needed, str(position), hint)
            leaves = self.leaves_[np.array(positions, np.int64)]
        return np.asarray(self.lengths_[self.forest_.nodes.leaf_offsets[:-1] + leaves])

    def check_loaded(self, dims: fields.Dims) -> None:
        """Check after loading that rows are in leaves of the trees."""
        check_owners(self.schema_, self.layout_.names, self.layout_.owner, "ReFeat.layout_")
        nodes = self.forest_.nodes
        fits = self.forest_.n_inputs == len(self.layout_.owner)
        fields.require(fits, "ReFeat.forest_", f"{len(self.layout_.owner)} inputs", "others")
        fits = dims["trees"] == self.forest_.n_trees and dims["leaves"] == nodes.leaf_offsets[-1]
        fields.require(fits and dims["rows"], "ReFeat.leaves_", "a leaf per row and tree", "others")
        fits = (self.leaves_.max(axis=0) < nodes.n_leaves).all()
        fields.require(fits, "ReFeat.leaves_", "leaves of the trees", "others")
        fields.require(self.psi_ <= dims["rows"], "ReFeat.psi_", f"at most {dims['rows']}", "more")


def tree_weights(positive: Any, negative: Any, psi: int, gamma: float) -> np.ndarray:
    """Return the weight of each tree: how much deeper than usual the wanted rows lie in it.

    Parameters
    ----------
    positive, negative : arrays of shape (rows, trees), path lengths
    psi : int, rows per tree
    gamma : float, how much unwanted rows count
    """
    # Path lengths over their mean in a random tree, minus 1: above 0 where rows are deeper.
    usual = float(average_path(np.array([psi]))[0])
    wanted = np.asarray(positive, dtype=np.float64) / usual - 1
    unwanted = np.asarray(negative, dtype=np.float64) / usual - 1 if len(negative) else ()
    return np.asarray(rocchio(wanted, unwanted, gamma))


def average_path(sizes: np.ndarray) -> np.ndarray:
    """Return the mean depth at which a random tree isolates one of m rows: 2 H(m-1) - 2(m-1)/m.

    Examples
    --------
    >>> import numpy as np
    >>> average_path(np.array([1, 2, 4, 8])).round(6).tolist()
    [0.0, 1.0, 2.166667, 3.435714]
    """
    m = np.maximum(np.asarray(sizes, dtype=np.int64), 1)
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, max(2, int(m.max()))))])
    return 2 * harmonic[m - 1] - 2 * (m - 1) / m


def _positions(given: Any) -> list[int] | None:
    """Return positions where integers were given, None for rows."""
    if given is None:
        return []
    if isinstance(given, np.ndarray):
        return given.tolist() if given.ndim == 1 and given.dtype.kind in "iu" else None
    items = list(given) if isinstance(given, list | tuple | set | frozenset) else [given]
    if all(isinstance(item, int | np.integer) and not isinstance(item, bool) for item in items):
        return [int(item) for item in items]
    return None
