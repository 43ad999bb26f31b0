"""Similarities read from the place where the ways of two rows part (lowest common ancestor)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lookalike.measures.contract.explanation import Explanation
from lookalike.measures.contract.rows import Rows
from lookalike.measures.forest.explain import FittedForest, explain_ancestors
from lookalike.measures.forest.reading import ForestReading
from lookalike.saving.fields import Choice, Fields, Flag
from lookalike.trees.thresholds.ancestors import ancestor_block, node_values
from lookalike.trees.thresholds.flat import Forest


class AncestorReading(ForestReading, abstract=True):
    """What the lowest common ancestor of two leaves tells."""

    conversion: ClassVar[str] = "one_minus"

    @property
    def kind(self) -> str:
        """What of the common ancestor counts: see ``ancestor_block``."""
        return "value"

    def needs_counts(self, forest: Forest) -> bool:
        """Whether rows have to be counted: counts are what nodes are worth."""
        return True

    def node_values(self, forest: Forest, n_fitted: int) -> np.ndarray | None:
        """Return what each node is worth as a lowest common ancestor."""
        return node_values(forest, self.name, n_fitted)

    def compare(self, fitted: FittedForest, a: Rows, b: Rows) -> np.ndarray:
        """Return the mean over trees of what the lowest common ancestor is worth."""
        assert fitted.values is not None
        codes = a.arrays["codes"], b.arrays["codes"]
        return ancestor_block(fitted.forest, *codes, fitted.values, self.kind)

    def explain(
        self, fitted: FittedForest, numbers: tuple[float, float], a: Rows, b: Rows
    ) -> Explanation:
        """Explain by the columns at which the ways of two rows part, and what that costs."""
        return explain_ancestors(fitted, numbers, a, b, self.kind)


class Zhu2(AncestorReading):
    """Two rows are alike if their ways part late: shared steps over the longer way [1]_.

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

    @property
    def kind(self) -> str:
        """Depth, as a share of the depth of the deeper leaf."""
        return "depth"


class Zhu3(AncestorReading):
    """Two rows are alike if their ways part late, a step counting more the fewer rows take it [1]_.

    Parameters
    ----------
    denominator : {"longer", "max"}
        Divide by the weight of the longer way, or by the larger weight.

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

    FIELDS: ClassVar[Fields] = {
        "denominator": Choice("longer", "max"),
    }
    name: ClassVar[str] = "zhu3"

    def __init__(self, denominator: str = "longer") -> None:
        self.denominator = denominator

    @property
    def kind(self) -> str:
        """Weight of the shared steps, as a share."""
        return self.denominator


class Ting(AncestorReading):
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

    FIELDS: ClassVar[Fields] = {
        "raw": Flag(),
    }
    name: ClassVar[str] = "ting"
    forest: ClassVar[str] = "isolation"
    native: ClassVar[str] = "distance"

    def __init__(self, raw: bool = False) -> None:
        self.raw = raw

    @property
    def exact_self(self) -> bool:
        """Whether a row is at distance 0 from itself."""
        return not self.raw


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
    def needs_all(self) -> bool:
        """Whether the range of all pairs is needed for scaling."""
        return not self.raw

    def finish(self, block: np.ndarray, low: float | None, high: float | None) -> np.ndarray:
        """Return distances from mean logarithms."""
        if self.raw:
            return np.exp(block)
        assert low is not None
        assert high is not None
        span = high - low
        return np.clip((block - low) / span, 0, 1) if span > 0 else np.zeros(block.shape)
