"""Six ways to read a similarity out of a forest, grown here or elsewhere."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from lookalike._config import settings
from lookalike._params import AnyOf, AtLeast, Between, Is, OneOf, Rule
from lookalike._save import write
from lookalike._threads import blocks, run
from lookalike.errors import LookalikeWarning, TooFewRows, message
from lookalike.forests.ancestors import ancestor_block, node_values
from lookalike.forests.ratio import ratio_block, ratio_square
from lookalike.forests.rows import count_rows, find_leaves, has_gaps, share_leaves
from lookalike.forests.sharing import count_unusable, out_of_bag_block, share_block
from lookalike.measures.base import Measure, Traits
from lookalike.measures.cell_inputs import CellInputs, schema_of, tests_cells
from lookalike.measures.explanation import Explanation
from lookalike.measures.forest_explain import explain_parting, explain_ratio, soft_part
from lookalike.measures.forest_settings import check_forest, grow_cells_for, grow_for
from lookalike.measures.rows import Rows, concatenate
from lookalike.measures.stochastic_forest import nearest_by_codes
from lookalike.measures.tree_inputs import ORDERED, TreeInputs, plan_inputs, read_inputs
from lookalike.neighbors.graph import NeighborGraph
from lookalike.table import Table, as_table

__all__ = ["ForestProximity"]

METHODS = ("ratio", "shi", "zhu2", "zhu3", "ting", "aryal", "oob")
SHARING = ("shi", "oob")
ANCESTOR = ("zhu2", "zhu3", "ting", "aryal")
TILE = 256


class ForestProximity(Measure):
    """Compare rows by where they fall in the trees of a forest, in one of six graded ways.

    Without labels the forest is grown to tell the rows of the table from rows whose columns were
    shuffled independently; the trees then follow how columns hang together. A fitted forest can be
    given instead, which makes the similarity a supervised one.

    =========== ==================================================================================
    method      two rows are alike if ...
    =========== ==================================================================================
    ``ratio``   they answer alike the tests that either meets on its way, wherever these sit [1]_
    ``shi``     they share a leaf, in many trees [2]_
    ``oob``     the same, over the trees that were grown on neither of them [3]_
    ``zhu2``    their ways part late: shared steps over the longer way [4]_
    ``zhu3``    the same, a step counting more the fewer rows take it [4]_
    ``ting``    few rows fall into the smallest region that holds both [5]_
    ``aryal``   the same, as a geometric mean over trees [6]_
    =========== ==================================================================================

    Start with ``ratio``: it is graded where leaf sharing is zero for almost all pairs of a deep
    forest. Distances are sqrt(1 - s) for ``ratio``, ``shi`` and ``oob``, 1 - s for ``zhu2`` and
    ``zhu3``; ``ting`` and ``aryal`` are distances themselves. Numbers, ordered levels, flags and
    categories (one against the rest) are tested; gaps are allowed. Only the order of numbers
    matters for the forests grown on shuffled rows (``synthetic="addcl1"``).

    ``forest="similarity"`` takes every kind of column: sets, texts, sequences, series, graphs. Its
    tests ask whether a cell is nearer to one cell of the column or to another [7]_.

    Parameters
    ----------
    method : {"ratio", "shi", "zhu2", "zhu3", "ting", "aryal", "oob"}
    forest : None, "synthetic", "extra", "isolation", "similarity", or a fitted forest
        How to grow the forest: against synthetic rows, by random cuts, by random cuts on small
        samples, or against synthetic rows with tests that compare cells. A fitted random forest,
        extra-trees, isolation or gradient boosting forest of scikit-learn is used as it is; so is a
        fitted random similarity forest of lookalike, whose table then says how rows are read.
        None: as published, "isolation" for ``ting`` and ``aryal``, else "synthetic".
    n_estimators : int, optional
        Trees. None: 100, and 1000 for ``oob``.
    max_samples : float or int, optional
        Rows per tree: a share in (0, 1] or a number above 1. None: 0.8 of the real and synthetic
        rows; all, drawn with replacement, for ``oob``; 256 for "isolation".
    max_features : float, int, "sqrt" or "all", optional
        Columns tried per node of "synthetic" and "similarity". None: one half; the square root for
        ``oob``.
    feature_sampling : {"node", "tree"}
        Draw these columns at every node, or once per tree ("synthetic" only).
    bootstrap : bool, optional
        Draw the rows of a tree of "synthetic" or "similarity" with replacement. None: only for
        ``oob``.
    synthetic : {"addcl1", "addcl2"}
        Synthetic rows: columns shuffled, or uniform between the smallest and largest values
        ("synthetic" only).
    resample : bool, optional
        Shuffle by drawing with replacement. None: yes, but not for ``oob`` and "similarity".
    max_depth : int, optional
        None: until leaves are pure, or log2 of the rows per tree for "extra" and "isolation".
    threshold : {"observed", "midpoint"}
        Cut at the largest value that goes left, or halfway to the next ("synthetic" and
        "similarity").
    parting : {"twice", "once"}
        Whether a test on both ways that is answered differently counts in both differences
        (``ratio``).
    alpha, beta : float
        Weights of what is only on the way of the first row and only on that of the second
        (``ratio``). Unequal weights give a similarity that is not symmetric, which tasks that need
        symmetry refuse.
    denominator : {"longer", "max"}
        Divide by the weight of the longer way, or by the larger weight (``zhu3``).
    raw : bool
        Leave a row's distance to itself as the formula has it, and ``aryal`` unscaled.
    missing : {"half", "by_mass"}
        At a test on a gap a row goes both ways, with weights of one half each or by the share of
        fitted rows (``shi``, ``oob``). The other methods follow the side of more fitted rows, and
        ``ratio`` leaves out tests that one of the rows cannot answer. Forests of scikit-learn send
        gaps where they were fitted to.
    undefined : float, optional
        Similarity of two rows without any test that both can answer (``ratio``). None: matrices
        raise UndefinedMeasure. In neighbor lists such pairs come last.
    distances : mapping of column name to distance, optional
        How the cells of a column are compared, where the default is not wanted ("similarity" only):
        a name ("jaccard", "levenshtein", "dtw", ...), a function of two cells, or whatever else
        ``RandomSimilarityForestClassifier`` takes.
    numeric : {"projection", "value"}
        Whether numbers are compared with two others like every other cell, or tested as they are,
        which makes trees of numbers those of "synthetic" ("similarity" only).
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    random_state : None, int or numpy Generator
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``. Answers do not depend on it.

    Attributes
    ----------
    forest_ : the trees in flat arrays, with the fitted rows counted in every node where needed
    trees_ : SimilarityTrees, the trees with the cells that their tests compare ("similarity")
    in_bag_ : which fitted rows each tree was grown on (``oob``)
    n_fallback_pairs_ : pairs of fitted rows without a tree grown on neither; all trees are used
    low_, high_ : the range of the mean logarithms that ``aryal`` is scaled by
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns

    Notes
    -----
    The distance sqrt(1 - ratio) is not a metric, and the matrix of ratio similarities need not be
    positive semi-definite: a row may be at distance 0 from another (the same leaf) and yet farther
    from a third.

    Trees of "similarity" have a test for nearly every pair of cells they draw: the answers of n
    rows to all of them, which ``ratio`` keeps, take about 40 n**2 bytes with 100 trees and several
    columns of objects. ``max_samples=256`` makes that 7,000 n.

    References
    ----------
    .. [1] M. Bicego, F. Cicalese, A. Mensi (2023). RatioRF: a novel measure for random forest
       clustering based on the Tversky's ratio model. IEEE Transactions on Knowledge and Data
       Engineering 35(1). doi:10.1109/TKDE.2021.3086147
    .. [2] T. Shi, S. Horvath (2006). Unsupervised learning with random forest predictors. Journal
       of Computational and Graphical Statistics 15(1). doi:10.1198/106186006X94072
    .. [3] T. L. Fernando, G. I. Webb (2017). SimUSF: an efficient and effective similarity measure
       that is invariant to violations of the interval scale assumption. Data Mining and Knowledge
       Discovery 31. doi:10.1007/s10618-016-0463-0
    .. [4] X. Zhu, C. C. Loy, S. Gong (2014). Constructing robust affinity graphs for spectral
       clustering. IEEE Conference on Computer Vision and Pattern Recognition.
       doi:10.1109/CVPR.2014.188
    .. [5] K. M. Ting, Y. Zhu, M. Carman, Y. Zhu, Z.-H. Zhou (2016). Overcoming key weaknesses of
       distance-based neighbourhood methods using a data dependent dissimilarity measure. ACM
       SIGKDD. doi:10.1145/2939672.2939779
    .. [6] S. Aryal, K. M. Ting, T. Washio, G. Haffari (2017). Data-dependent dissimilarity measure:
       an effective alternative to geometric distance measures. Knowledge and Information Systems
       53. doi:10.1007/s10115-017-1046-0
    .. [7] M. Piernik, D. Brzezinski, P. Zawadzki (2022). Random similarity forests. European
       Conference on Machine Learning and Knowledge Discovery in Databases.
       doi:10.48550/arXiv.2204.05389

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.measures import ForestProximity
    >>> rng = np.random.default_rng(0)
    >>> table = {"height": rng.normal(size=60), "group": rng.choice(["a", "b"], 60).tolist()}
    >>> measure = ForestProximity(random_state=0).fit(table)
    >>> bool((measure.similarity() == measure.similarity().T).all())
    True

    A forest that was fitted to labels:

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.datasets import load_iris
    >>> flowers, species = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(flowers, species)
    >>> near = ForestProximity("shi", forest=forest).fit(flowers).kneighbors(n_neighbors=5)[1]
    >>> bool((species[near[0]] == species[0]).all())
    True

    Columns of any kind:

    >>> recipes = {
    ...     "needs": [{"egg", "flour"}, {"egg", "milk", "flour"}, {"flour", "milk"}]
    ...     + [{"rice", "soy"}, {"soy", "fish"}, {"rice", "fish"}],
    ...     "minutes": [50, 40, None, 20, 10, 25],
    ... }
    >>> measure = ForestProximity(forest="similarity", random_state=0).fit(recipes)
    >>> _, nearest = measure.kneighbors({"needs": [{"rice", "soy", "fish"}], "minutes": [20]}, 3)
    >>> print(*sorted(nearest[0]))
    3 4 5
    """

    PARAMS: ClassVar[dict[str, Rule]] = {
        "method": OneOf(*METHODS),
        "n_estimators": AnyOf(OneOf(None), AtLeast(1)),
        "feature_sampling": OneOf("node", "tree"),
        "bootstrap": OneOf(None, True, False),
        "synthetic": OneOf("addcl1", "addcl2"),
        "resample": OneOf(None, True, False),
        "max_depth": AnyOf(OneOf(None), AtLeast(1)),
        "threshold": OneOf("observed", "midpoint"),
        "parting": OneOf("twice", "once"),
        "alpha": Between(0.0, 1e6),
        "beta": Between(0.0, 1e6),
        "denominator": OneOf("longer", "max"),
        "raw": Is(bool, np.bool_),
        "missing": OneOf("half", "by_mass"),
        "undefined": AnyOf(OneOf(None), Between(0.0, 1.0)),
        "distances": AnyOf(OneOf(None), Is(Mapping, named="a mapping of column to distance")),
        "numeric": OneOf("projection", "value"),
    }

    def __init__(
        self,
        method: str = "ratio",
        forest: Any = None,
        *,
        n_estimators: int | None = None,
        max_samples: float | int | None = None,
        max_features: float | int | str | None = None,
        feature_sampling: str = "node",
        bootstrap: bool | None = None,
        synthetic: str = "addcl1",
        resample: bool | None = None,
        max_depth: int | None = None,
        threshold: str = "observed",
        parting: str = "twice",
        alpha: float = 1.0,
        beta: float = 1.0,
        denominator: str = "longer",
        raw: bool = False,
        missing: str = "half",
        undefined: float | None = None,
        distances: Mapping[str, Any] | None = None,
        numeric: str = "projection",
        kinds: Mapping[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.forest = forest
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.feature_sampling = feature_sampling
        self.bootstrap = bootstrap
        self.synthetic = synthetic
        self.resample = resample
        self.max_depth = max_depth
        self.threshold = threshold
        self.parting = parting
        self.alpha = alpha
        self.beta = beta
        self.denominator = denominator
        self.raw = raw
        self.missing = missing
        self.undefined = undefined
        self.distances = distances
        self.numeric = numeric
        self.kinds = kinds
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """Facts about this measure."""
        mass = self.method in ("ting", "aryal")
        return Traits(
            native="distance" if mass else "similarity",
            conversion="one_minus" if self.method in ANCESTOR else "sqrt",
            symmetric=self.method != "ratio" or self.alpha == self.beta,
            exact_self=not (mass and self.raw),
            missing=True,
            kinds=() if tests_cells(self.forest) else (*ORDERED, "category"),
            needs_all=self.method == "aryal" and not self.raw,
            undefined_last=self.method == "ratio",
        )

    @classmethod
    def examples(cls) -> list[Measure]:
        """Return every method with a small forest, and the options that change the formula."""
        small: dict[str, Any] = {"n_estimators": 6, "random_state": 0}
        return [
            *(cls(method, **small) for method in METHODS if method != "oob"),
            cls("oob", n_estimators=60, max_samples=0.2, random_state=0),
            cls("ratio", "extra", alpha=0.5, beta=0.25, **small),
            cls("ratio", parting="once", alpha=0.5, beta=0.5, **small),
            cls("zhu3", "isolation", denominator="max", **small),
            cls("aryal", "extra", raw=True, **small),
            cls("shi", missing="by_mass", max_features="all", **small),
            cls("ratio", "similarity", **small),
        ]

    def __sklearn_clone__(self) -> Any:
        if getattr(self, "frozen_", False):
            return self
        params = self.get_params(deep=False)
        # Cloning a fitted forest would forget its trees, which are what was asked for.
        kept = {name: v if name == "forest" else clone(v, safe=False) for name, v in params.items()}
        return type(self)(**kept)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the measure to one file; a forest given is written as flat arrays.

        Parameters
        ----------
        path : str or path
        """
        kept = copy.copy(self)
        foreign = not (self.forest is None or isinstance(self.forest, str))
        if hasattr(self, "forest_") and foreign and not tests_cells(self.forest):
            kept.forest = self.forest_
        write(path, kept)

    # -- fitting -----------------------------------------------------------------------------------

    def read(self, X: Any) -> Table:
        """Read data to be fitted; for a fitted similarity forest, as its own table was read."""
        schema = schema_of(self.forest)
        if schema is None:
            return super().read(X)
        return as_table(X, schema, who=f"{type(self).__name__}.fit")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Grow the forest or take the given one, and keep the rows to be searched.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
        y : array of n, or the name of a column, optional
            Not learned from. A named column is taken out of the table.
        """
        schema = schema_of(self.forest)
        if schema is not None and isinstance(y, str) and y not in schema.kinds:
            y = None  # reading for this forest has left the column out already
        return super().fit(X, y)

    def _fit(self, table: Table, y: np.ndarray | None) -> None:
        who = f"{type(self).__name__}(method={self.method!r})"
        check_forest(self)
        self.inputs_: TreeInputs | CellInputs
        self.in_bag_: Any
        if tests_cells(self.forest):
            self.inputs_, self.forest_, self.in_bag_ = grow_cells_for(self, table, who)
            self.trees_ = self.inputs_.trees
        else:
            self.inputs_ = plan_inputs(table, who, categories=True)
            values = read_inputs(table, self.inputs_)
            if len(values) < 2:
                raise TooFewRows(
                    message(who, "at least 2 rows", f"n_samples={len(values)}", "Add rows")
                )
            grown = grow_for(self, self.inputs_, values, who)
            self.forest_, self.in_bag_ = grown.forest, grown.in_bag
        # Leaf sharing alone needs no counts; the sides of gaps in ratio do.
        counts = self.method in ANCESTOR or (self.method == "ratio" and self.forest_.soft)
        if counts or self.missing == "by_mass":
            bins = self._bins(table)
            self.forest_ = self.forest_.counted(*count_rows(self.forest_, bins, self.n_jobs))
            if self.method not in SHARING:
                self._counted = table, bins  # the same rows are encoded next
        self.values_: Any = None
        if self.method in ANCESTOR:
            self.values_ = node_values(self.forest_, self.method, len(table))

    def _bins(self, table: Table) -> np.ndarray:
        counted, bins = self.__dict__.pop("_counted", (None, None))
        if counted is table:
            return np.asarray(bins)
        if isinstance(self.inputs_, CellInputs):
            cells = self.inputs_.trees.encode(table)
            return self.inputs_.bins(self.forest_, cells, None, self.n_jobs)
        return self.forest_.bins(read_inputs(table, self.inputs_), self.n_jobs)

    def _encode(self, table: Table, seen: np.ndarray) -> Rows:
        if not isinstance(self.inputs_, CellInputs) or self.method not in SHARING:
            return self._place(self._bins(table), seen)
        # Only leaves are kept, so the bins need never be there all at once.
        forest, cells = self.forest_, self.inputs_.trees.encode(table)
        return concatenate(
            [
                self._place(self.inputs_.bins(forest, cells, part, self.n_jobs), seen[part])
                for part in self.inputs_.parts(forest, len(table))
            ]
        )

    def _place(self, bins: np.ndarray, seen: np.ndarray) -> Rows:
        """Return rows by the leaves they reach."""
        arrays: dict[str, Any] = {"codes": find_leaves(self.forest_, bins, self.n_jobs)}
        if self.method == "ratio":
            arrays["bins"] = bins
        if self.method in SHARING:
            by_mass = self.missing == "by_mass"
            spread = share_leaves(self.forest_, bins, by_mass, self.n_jobs)
            arrays["leaves"], arrays["weights"] = spread
        if self.method == "oob":
            arrays["bag"] = np.zeros(arrays["codes"].shape, np.uint8)
            arrays["bag"][seen >= 0] = self.in_bag_[seen[seen >= 0]]
        return Rows(seen, arrays)

    def _fit_rows(self, rows: Rows) -> None:
        if self.method == "aryal" and not self.raw:

            def ends(a: Rows, b: Rows) -> tuple[float, float]:
                logs = self._logs(a, b)
                return float(logs.min()), float(logs.max())

            found = self._over_pairs(rows, ends)
            self.low_, self.high_ = min(low for low, _ in found), max(high for _, high in found)
        if self.method == "oob":
            self._count_fallbacks(rows)

    def _over_pairs(self, rows: Rows, task: Any) -> list[Any]:
        """Call a task for tiles that cover every pair of fitted rows, each row with itself too."""
        parts = list(blocks(len(rows), TILE))
        tiles = [(rows[p], rows[q]) for i, p in enumerate(parts) for q in parts[i:]]
        return run(task, tiles, self.n_jobs, "looking at all pairs")

    def _count_fallbacks(self, rows: Rows) -> None:
        def count(a: Rows, b: Rows) -> int:
            lost = count_unusable(a.arrays["bag"], b.arrays["bag"])
            return int((lost & (a.seen[:, None] < b.seen)).sum())

        self.n_fallback_pairs_ = sum(self._over_pairs(rows, count))
        if self.n_fallback_pairs_:
            warnings.warn(
                f"{type(self).__name__}(method='oob'): {self.n_fallback_pairs_:,} pairs of rows "
                "have no tree that was grown on neither of them and use all trees; more trees or "
                "smaller samples leave fewer such pairs.",
                LookalikeWarning,
                stacklevel=4,
            )

    # -- comparing ---------------------------------------------------------------------------------

    def compare(self, a: Rows, b: Rows) -> np.ndarray:
        """Return similarities, or for ``ting`` and ``aryal`` distances, of every row of a to b."""
        x, y = a.arrays["codes"], b.arrays["codes"]
        if self.method == "ratio":
            return ratio_block(
                self.forest_,
                x,
                a.arrays["bins"],
                y,
                b.arrays["bins"],
                parting=self.parting,
                alpha=self.alpha,
                beta=self.beta,
            )
        if self.method in SHARING:
            return self._share(a, b)
        if self.method == "aryal":
            logs = self._logs(a, b)
            if self.raw:
                return np.exp(logs)
            span = self.high_ - self.low_
            return np.clip((logs - self.low_) / span, 0, 1) if span > 0 else np.zeros(logs.shape)
        return ancestor_block(self.forest_, x, y, self.values_, self._share_of())

    def _share_of(self) -> str:
        return {"zhu2": "depth", "zhu3": self.denominator}.get(self.method, "value")

    def _logs(self, a: Rows, b: Rows) -> np.ndarray:
        codes = a.arrays["codes"], b.arrays["codes"]
        return ancestor_block(self.forest_, *codes, self.values_, "value")

    def _share(self, a: Rows, b: Rows) -> np.ndarray:
        soft: tuple[Any, ...] = ()
        if any(len(rows.arrays["leaves"].values) for rows in (a, b)):
            soft = (soft_part(a), soft_part(b), self.forest_.nodes.leaf_offsets)
        x, y = a.arrays["codes"], b.arrays["codes"]
        if self.method == "shi":
            return share_block(x, y, *soft)
        return out_of_bag_block(x, a.arrays["bag"], y, b.arrays["bag"], *soft)

    def nearest(
        self,
        a: Rows,
        b: Rows,
        k: int,
        *,
        exclude: np.ndarray | None = None,
        ids: np.ndarray | None = None,
    ) -> NeighborGraph:
        """Return unfinished lists of the nearest rows; shared leaves are counted on the way."""
        hard = self.method == "shi" and not any(len(r.arrays["leaves"].values) for r in (a, b))
        if hard:
            return nearest_by_codes(self, a, b, k, exclude, ids)
        return super().nearest(a, b, k, exclude=exclude, ids=ids)

    def _matrix(self, X: Any, Y: Any, to: str) -> np.ndarray:
        check_is_fitted(self, "rows_")
        plain = self.method == "ratio" and self.alpha == self.beta == 1.0
        fits = 8 * len(self.rows_) ** 2 <= settings().memory_limit
        if X is not None or Y is not None or not plain or not fits:
            return super()._matrix(X, Y, to)
        bins = self.rows_.arrays["bins"]
        if has_gaps(bins).any():
            return super()._matrix(X, Y, to)
        codes, once = self.rows_.arrays["codes"], self.parting == "once"
        values = ratio_square(self.forest_, codes, bins, once, self.n_jobs)
        np.fill_diagonal(values, 1.0)
        if to == "similarity":
            return values
        np.subtract(1.0, values, out=values)
        np.maximum(values, 0.0, out=values)
        return np.sqrt(values, out=values)

    def _explain(self, a: Rows, b: Rows) -> Explanation:
        if self.method == "ratio":
            return explain_ratio(self, a, b)
        return explain_parting(self, a, b, self._share_of())
