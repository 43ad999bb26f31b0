"""The eight published proximities of rows in a forest: shared tests, leaves or ancestors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.estimator import Estimator
from lookalike.errors import InvalidInput, Param
from lookalike.measures.contract.base import Traits
from lookalike.measures.contract.explanation import Explanation
from lookalike.measures.contract.rows import Rows
from lookalike.measures.forest import explain as reasons
from lookalike.measures.forest.explain import FittedForest, Numbers
from lookalike.measures.forest.neighbors import draw_shares
from lookalike.saving.encode import SaveMixin
from lookalike.saving.fields import Choice, Fields, Flag, Real
from lookalike.trees.thresholds import attribution, proximity
from lookalike.trees.thresholds.flat import Forest, unknown_bin


class ProximityMethod(SaveMixin, Estimator, ABC, abstract=True):
    """Base of the proximity methods: how the similarity of two rows follows from a forest.

    Attributes
    ----------
    name : the shorthand for the published setting
    forest : the forest that it was published with, by name
    traits : facts about the measure; a property in the methods whose options change them
    out_of_bag : whether it asks which rows each tree was grown on
    shares_leaves : whether rows with missing cells belong to several leaves, each with a share
    keeps_bins : whether rows are tested at the nodes on each other's path
    """

    name: ClassVar[str]
    forest: ClassVar[str] = "synthetic"
    traits = Traits(conversion="sqrt", missing=True)
    out_of_bag: ClassVar[bool] = False
    shares_leaves: ClassVar[bool] = False
    keeps_bins: ClassVar[bool] = False

    def needs_counts(self, forest: Forest) -> bool:
        """Whether fitted rows have to be counted in every node: missing cells follow most rows."""
        return forest.soft  # fitted models have a side for them

    @property
    def needs_gain(self) -> bool:
        """Whether it asks what the tests of each tree gain."""
        return getattr(self, "weights", "") == "gain"

    @property
    def needs_shares(self) -> bool:
        """Whether it asks how many of all fitted rows answer each test as a row does."""
        return getattr(self, "weights", "") == "information"

    def node_values(self, forest: Forest, n_fitted: int, gain: Any) -> np.ndarray | None:
        """Return the value of each node, for methods that use it.

        Parameters
        ----------
        forest : Forest
        n_fitted : int
            Rows of the table.
        gain : array, one per tree, or None
            What the tests of a tree gain, where the forest knows it.
        """
        return None

    @abstractmethod
    def compare(self, fitted: FittedForest, a: Rows, b: Rows) -> np.ndarray:
        """Return a block of native values, before ``finish``."""

    def finish(self, block: np.ndarray, low: float | None, high: float | None) -> np.ndarray:
        """Return native values, given the range of what ``compare`` gives for the fitted rows."""
        return block

    @abstractmethod
    def explain(self, fitted: FittedForest, numbers: Numbers, a: Rows, b: Rows) -> Explanation:
        """Explain one row against one, given their similarity and distance."""


@dataclass(eq=False, repr=False)
class Ratio(ProximityMethod):
    """Two rows are alike if they answer alike the tests that either meets on its path [1]_.

    Tversky's ratio model: agreed tests over agreed tests plus those only on one of the two paths,
    wherever in the tree these sit.

    Parameters
    ----------
    alpha, beta : float
        Weights of what is only on the path of the first row and only on that of the second. Unequal
        weights give a similarity that is not symmetric, which tasks that need symmetry refuse.
    parting : {"twice", "once"}
        Whether a test on both paths that is answered differently counts in both differences.
    weights : {"count", "information"}
        What an answer counts: 1, or its information content, -log of the share of fitted rows that
        answer so [2]_ (half a row is added to both answers). To agree on a rare answer counts more.
        With weights of 1/2 the ratio is Lin's similarity. (The joint information of all answers
        of a path is infinite as soon as two paths part; added test by test it is not.)

    References
    ----------
    .. [1] M. Bicego, F. Cicalese, A. Mensi (2023). RatioRF: a novel measure for random forest
       clustering based on the Tversky's ratio model. IEEE Transactions on Knowledge and Data
       Engineering 35(1). doi:10.1109/TKDE.2021.3086147
    .. [2] D. Lin (1998). An information-theoretic definition of similarity. International
       Conference on Machine Learning 15, 296-304.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.measures import ForestProximity, Ratio
    >>> rows = np.random.default_rng(0).normal(size=(30, 2))
    >>> directed = ForestProximity(Ratio(alpha=1.0, beta=0.2), random_state=0).fit(rows)
    >>> directed.traits.symmetric
    False
    """

    FIELDS: ClassVar[Fields] = {
        "alpha": Real(0.0, 1e6),
        "beta": Real(0.0, 1e6),
        "parting": Choice("twice", "once"),
        "weights": Choice("count", "information"),
    }
    name: ClassVar[str] = "ratio"
    keeps_bins: ClassVar[bool] = True

    alpha: float = 1.0
    beta: float = 1.0
    _: KW_ONLY
    parting: str = "twice"
    weights: str = "count"

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """Facts about the measure: with unequal weights the order of two rows matters."""
        symmetric = self.alpha == self.beta
        return Traits(conversion="sqrt", symmetric=symmetric, missing=True, undefined_last=True)

    @property
    def is_plain(self) -> bool:
        """Whether both differences count fully, as published."""
        # Only then the fast kernel of squares applies.
        return self.alpha == self.beta == 1.0 and not self.needs_shares

    def compare(self, fitted: FittedForest, a: Rows, b: Rows) -> np.ndarray:
        """Return similarities; NaN where no test can be answered by both rows."""
        sides = [rows.arrays[name] for rows in (a, b) for name in ("codes", "bins")]
        return proximity.ratio_block(
            fitted.forest, *sides, parting=self.parting, alpha=self.alpha, beta=self.beta,
            shares=fitted.values,
        )  # fmt: skip

    def explain(self, fitted: FittedForest, numbers: Numbers, a: Rows, b: Rows) -> Explanation:
        """Explain by the tests that two rows answer alike and those they do not."""
        similarity, distance = numbers
        if np.isnan(similarity):
            return Explanation(similarity, distance, {None: 0.5}, {None: 0.5})
        forest, values, owner = fitted
        sides = [rows.arrays[name][0] for rows in (a, b) for name in ("codes", "bins")]
        # Tests that one of the rows cannot answer count on neither side, as in the ratio itself.
        agreed, apart, _ = attribution.ratio_parts(
            forest, *sides, unknown=unknown_bin(a.arrays["bins"]), once=self.parting == "once",
            shares=values, alpha=self.alpha, beta=self.beta,
        )  # fmt: skip
        # Several inputs may belong to one column: entries of a vector, pairs of cells.
        # Trees of one leaf belong to no column, nor does the likeness of an empty row with itself.
        plus, minus = (
            reasons.by_column(owner, np.bincount(forest.column, shares, len(owner)), whole)
            for shares, whole in ((agreed, similarity), (apart, 1.0 - similarity))
        )
        return Explanation(similarity, distance, plus, minus)


class Shi(ProximityMethod):
    """Two rows are alike if they share a leaf, in many trees [1]_.

    Parameters
    ----------
    missing : {"half", "by_mass"}
        At a test on a missing cell a row goes both ways, with weights of one half each or by the
        share of fitted rows. Fitted models send missing cells where they were fitted to.
    weights : {"equal", "gain"}
        What a shared leaf counts: the same in every tree, or as much as the tests of its tree gain
        together (``model=`` only). The first trees of a booster gain most; later ones correct
        them. The gain is the one that the model's library reports: the reduction of impurity
        (scikit-learn), of the loss (XGBoost, LightGBM); for CatBoost, which reports none, the
        weighted squared deviations of the tree's predictions.

    References
    ----------
    .. [1] T. Shi, S. Horvath (2006). Unsupervised learning with random forest predictors. Journal
       of Computational and Graphical Statistics 15(1). doi:10.1198/106186006X94072

    Examples
    --------
    >>> from lookalike.measures import ForestProximity, Shi
    >>> table = {"x": [1.0, 2.0, None, 8.0, 9.0], "y": [1.0, 2.0, 3.0, 8.0, 7.0]}
    >>> measure = ForestProximity(Shi(missing="by_mass"), random_state=0).fit(table)
    >>> measure.similarity().shape
    (5, 5)
    """

    FIELDS: ClassVar[Fields] = {
        "missing": Choice("half", "by_mass"),
        "weights": Choice("equal", "gain"),
    }
    name: ClassVar[str] = "shi"
    shares_leaves: ClassVar[bool] = True

    def __init__(self, missing: str = "half", weights: str = "equal") -> None:
        self.missing = missing
        self.weights = weights

    def node_values(self, forest: Forest, n_fitted: int, gain: Any) -> np.ndarray | None:
        """Return the weight of each node: that of its tree."""
        if not self.needs_gain:
            return None
        if gain is None:
            needed, hint = "a fitted model whose trees have gains", ("Give one as ", Param("model"))
            raise InvalidInput(Param("weights", "gain"), needed, "none", hint)
        # Trees that gain nothing at all, such as single leaves, count alike.
        share = gain / gain.sum() if gain.sum() > 0 else np.full(len(gain), 1.0 / len(gain))
        return np.repeat(share, np.diff(forest.offsets))

    def needs_counts(self, forest: Forest) -> bool:
        """Whether missing cells are split by counts; leaf sharing alone needs none."""
        return self.missing == "by_mass"

    def compare(self, fitted: FittedForest, a: Rows, b: Rows) -> np.ndarray:
        """Return the share of trees in which two rows share a leaf, by their weights."""
        codes, forest = [rows.arrays["codes"] for rows in (a, b)], fitted.forest
        if fitted.values is None:
            return proximity.share_block(
                *codes, *reasons.soft_parts(a, b, forest.nodes.leaf_offsets)
            )
        weights = np.broadcast_to(fitted.values[forest.offsets[:-1]], codes[0].shape)
        of_a = proximity.leaf_matrix(codes[0], forest.nodes.leaf_offsets, weights)
        of_b = proximity.leaf_matrix(codes[1], forest.nodes.leaf_offsets)
        # The sum of all weights may round to more than 1.
        return np.minimum(proximity.sum_products(of_a, of_b), 1.0)

    def explain(self, fitted: FittedForest, numbers: Numbers, a: Rows, b: Rows) -> Explanation:
        """Explain by the columns at which the paths of two rows part."""
        return reasons.explain_leaves(fitted, numbers, a, b)


class OutOfBag(Shi):
    """Two rows are alike if they share a leaf, over the trees that were grown on neither [1]_.

    Parameters
    ----------
    missing : {"half", "by_mass"}
        At a test on a missing cell a row goes both ways, with weights of one half each or by the
        share of fitted rows. Fitted models send missing cells where they were fitted to.

    References
    ----------
    .. [1] T. L. Fernando, G. I. Webb (2017). SimUSF: an efficient and effective similarity measure
       that is invariant to violations of the interval scale assumption. Data Mining and Knowledge
       Discovery 31. doi:10.1007/s10618-016-0463-0

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.measures import ForestProximity, OutOfBag
    >>> rows = np.random.default_rng(0).normal(size=(30, 2))
    >>> ForestProximity(OutOfBag(), n_estimators=200, random_state=0).fit(rows).n_fallback_pairs_
    0
    """

    FIELDS: ClassVar[Fields] = {"missing": Choice("half", "by_mass")}
    name: ClassVar[str] = "oob"
    out_of_bag: ClassVar[bool] = True

    def __init__(self, missing: str = "half") -> None:
        super().__init__(missing)

    def compare(self, fitted: FittedForest, a: Rows, b: Rows) -> np.ndarray:
        """Return the share of the trees grown on neither row in which they share a leaf."""
        # Pairs without such a tree use all trees; ``fit`` counts them and warns.
        sides = [rows.arrays[name] for rows in (a, b) for name in ("codes", "bag")]
        soft = reasons.soft_parts(a, b, fitted.forest.nodes.leaf_offsets)
        return proximity.out_of_bag_block(*sides, *soft)


class Gap(ProximityMethod):
    """Two rows are alike if trees not grown on the first predict it by the second [1]_.

    The similarity of x to y is the mean, over the trees that were not grown on x, of the share that
    y has in the draws that fell into the leaf of x. So the similarities of x to all rows sum to 1,
    and their weighted vote or mean is the out-of-bag prediction of the forest for x; for a new row,
    its prediction. (Not where rows have weights, nor where a leaf votes for its largest class
    alone, as ``RandomSimilarityForestClassifier`` does by default.) A leaf of few draws counts
    more than one of many. It is not symmetric.

    Trees whose leaf holds no draw of a row of the table (a leaf of synthetic rows alone) are left
    out; a row that all trees were grown on uses all of them. Rows that no tree was grown on are no
    one's neighbors: they can ask, but not be found.

    References
    ----------
    .. [1] J. S. Rhodes, A. Cutler, K. R. Moon (2023). Geometry- and accuracy-preserving random
       forest proximities. IEEE Transactions on Pattern Analysis and Machine Intelligence 45(9).
       doi:10.1109/TPAMI.2023.3263774

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from lookalike.measures import ForestProximity
    >>> rows = np.random.default_rng(0).normal(size=(60, 3))
    >>> target = rows.sum(axis=1)
    >>> forest = RandomForestRegressor(60, oob_score=True, random_state=0).fit(rows, target)
    >>> similarities = ForestProximity("gap", model=forest).fit(rows).similarity()
    >>> np.fill_diagonal(similarities, 0.0)
    >>> bool(np.allclose(similarities @ target, forest.oob_prediction_))
    True
    """

    name: ClassVar[str] = "gap"
    traits = Traits(symmetric=False, unseen_pairs=False, missing=True)
    out_of_bag: ClassVar[bool] = True

    def compare(self, fitted: FittedForest, a: Rows, b: Rows) -> np.ndarray:
        """Return the share of each row of b in the draws that predict each row of a."""
        (shares, n_trees), offsets = draw_shares(fitted, a), fitted.forest.nodes.leaf_offsets
        of_a = proximity.leaf_matrix(a.arrays["codes"], offsets, shares)
        of_b = proximity.leaf_matrix(b.arrays["codes"], offsets, b.arrays["bag"])
        return proximity.sum_products(of_a, of_b) / np.maximum(n_trees, 1)[:, None]

    def explain(self, fitted: FittedForest, numbers: Numbers, a: Rows, b: Rows) -> Explanation:
        """Explain by the columns at which the paths of two rows part, in the trees that count."""
        # The leaves they share hold draws of other rows as well, which belongs to no column.
        usable = draw_shares(fitted, a)[0][0] > 0
        return reasons.explain_parting(fitted, numbers, a, b, usable, whole=numbers[1])


class AncestorMethod(ProximityMethod, abstract=True):
    """Base of the methods that use the lowest common ancestor of two leaves."""

    traits = Traits(missing=True)
    kind: str = "value"  # of the common ancestor that counts: see ``ancestor_block``

    def needs_counts(self, forest: Forest) -> bool:
        """Whether rows have to be counted: counts are the values of nodes."""
        return True

    def node_values(self, forest: Forest, n_fitted: int, gain: Any) -> np.ndarray | None:
        """Return the value of each node as a lowest common ancestor."""
        return proximity.node_values(forest, self.name, n_fitted)

    def compare(self, fitted: FittedForest, a: Rows, b: Rows) -> np.ndarray:
        """Return the mean over trees of the value of the lowest common ancestor."""
        assert fitted.values is not None
        codes = a.arrays["codes"], b.arrays["codes"]
        return proximity.ancestor_block(fitted.forest, *codes, fitted.values, self.kind)

    def explain(self, fitted: FittedForest, numbers: Numbers, a: Rows, b: Rows) -> Explanation:
        """Explain by the columns at which the paths of two rows part, and what that costs."""
        forest, values, owner = fitted
        assert values is not None
        parted, tree = reasons.parting(forest, a, b)
        similarity, distance = numbers
        x, y = (rows.arrays["codes"][0] for rows in (a, b))
        # In each tree the loss of similarity belongs to the one column at which the paths part.
        loss = attribution.ancestor_dissimilarities(forest, x, y, values, self.kind)
        nodes = np.flatnonzero(parted > 0)
        columns = np.bincount(forest.column[forest.feature[nodes]], loss[tree[nodes]], len(owner))
        total = max(float(loss.sum()), float(columns.sum()))
        # Scaled to what the similarity is short of 1, which for some methods is no mean over trees.
        scale = (1.0 - similarity) / total if total > 0 else 0.0
        # Rows that share a leaf still differ by the value of the leaf.
        minus = reasons.by_column(owner, columns * scale, 1.0 - similarity)
        return Explanation(similarity, distance, {None: similarity}, minus)


class Zhu2(AncestorMethod):
    """Two rows are alike if their paths part late: shared steps over the longer path [1]_.

    References
    ----------
    .. [1] X. Zhu, C. C. Loy, S. Gong (2014). Constructing robust affinity graphs for spectral
       clustering. IEEE Conference on Computer Vision and Pattern Recognition.
       doi:10.1109/CVPR.2014.188

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.measures import ForestProximity, Zhu2
    >>> rows = np.random.default_rng(0).normal(size=(30, 2))
    >>> measure = ForestProximity(Zhu2(), random_state=0).fit(rows)
    >>> same = ForestProximity("zhu2", random_state=0).fit(rows)
    >>> bool((measure.distance() == same.distance()).all())
    True
    """

    name: ClassVar[str] = "zhu2"
    kind: str = "max"  # as a share of the depth of the deeper leaf


class Zhu3(AncestorMethod):
    """Two rows are alike if their paths part late; a step counts more the fewer rows take it [1]_.

    Parameters
    ----------
    denominator : {"longer", "max"}
        Divide by the weight of the longer path, or by the larger weight.

    References
    ----------
    .. [1] X. Zhu, C. C. Loy, S. Gong (2014). Constructing robust affinity graphs for spectral
       clustering. IEEE Conference on Computer Vision and Pattern Recognition.
       doi:10.1109/CVPR.2014.188

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.measures import ForestProximity, Zhu3
    >>> rows = np.random.default_rng(0).normal(size=(30, 2))
    >>> ForestProximity(Zhu3(denominator="max"), random_state=0).fit(rows).distance().shape
    (30, 30)
    """

    FIELDS: ClassVar[Fields] = {"denominator": Choice("longer", "max")}
    name: ClassVar[str] = "zhu3"

    def __init__(self, denominator: str = "longer") -> None:
        self.denominator = denominator

    @property
    def kind(self) -> str:  # type: ignore[override]
        """Weight of the shared steps, as a share."""
        return self.denominator


class Ting(AncestorMethod):
    """Two rows are near if few rows fall into the smallest region that holds both [1]_.

    Parameters
    ----------
    raw : bool
        Leave a row's distance to itself as the formula has it: the share of rows in its leaves.

    References
    ----------
    .. [1] K. M. Ting, Y. Zhu, M. Carman, Y. Zhu, Z.-H. Zhou (2016). Overcoming key weaknesses of
       distance-based neighbourhood methods using a data dependent dissimilarity measure. ACM
       SIGKDD. doi:10.1145/2939672.2939779

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.measures import ForestProximity, Ting
    >>> rows = np.random.default_rng(0).normal(size=(30, 2))
    >>> bool(ForestProximity(Ting(raw=True), random_state=0).fit(rows).distance()[0, 0] > 0)
    True
    """

    FIELDS: ClassVar[Fields] = {"raw": Flag()}
    name: ClassVar[str] = "ting"
    forest: ClassVar[str] = "isolation"

    def __init__(self, raw: bool = False) -> None:
        self.raw = raw

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """Facts about the measure: raw distances are not 0 from a row to itself."""
        return Traits(native="distance", exact_self=not self.raw, missing=True)


class Aryal(Ting):
    """Two rows are near if few rows fall between them, as a geometric mean over trees [1]_.

    Parameters
    ----------
    raw : bool
        Leave distances, also of a row to itself, as the formula has them, instead of scaling the
        logarithms of the fitted rows to 0..1.

    References
    ----------
    .. [1] S. Aryal, K. M. Ting, T. Washio, G. Haffari (2017). Data-dependent dissimilarity measure:
       an effective alternative to geometric distance measures. Knowledge and Information Systems
       53. doi:10.1007/s10115-017-1046-0

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.measures import Aryal, ForestProximity
    >>> rows = np.random.default_rng(0).normal(size=(30, 2))
    >>> d = ForestProximity(Aryal(), random_state=0).fit(rows).distance()
    >>> float(d.max()), float(d[0, 0])
    (1.0, 0.0)
    """

    name: ClassVar[str] = "aryal"

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """Facts about the measure: scaling needs the range of all pairs."""
        return replace(super().traits, needs_all=not self.raw)

    def finish(self, block: np.ndarray, low: float | None, high: float | None) -> np.ndarray:
        """Return distances from mean logarithms."""
        if self.raw:
            return np.exp(block)
        assert low is not None
        assert high is not None
        # New rows may lie outside the fitted range, hence the clip.
        span = high - low
        return np.clip((block - low) / span, 0, 1) if span > 0 else np.zeros(block.shape)


# The names of the published settings, as the command line and ``ForestProximity`` take them.
METHODS: dict[str, type[ProximityMethod]] = {
    method.name: method for method in (Ratio, Shi, Zhu2, Zhu3, Ting, Aryal, OutOfBag, Gap)
}


def find_method(method: str | ProximityMethod) -> ProximityMethod:
    """Return the proximity method of a name, with every option as published.

    Examples
    --------
    >>> find_method("zhu3")
    Zhu3()
    """
    if isinstance(method, ProximityMethod):
        return method
    Choice(*METHODS).check("ForestProximity", "method", method)
    return METHODS[method]()
