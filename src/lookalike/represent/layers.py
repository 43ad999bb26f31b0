"""Similarities of similarities: one representation on top of another."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from lookalike._runtime.random_state import make_generator
from lookalike.errors import LookalikeWarning, Param
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.matrices import block_or_half
from lookalike.measures.contract.rows import Rows
from lookalike.measures.mixed.gower import Gower
from lookalike.measures.task import TaskSource
from lookalike.measures.vector import Vector
from lookalike.represent import prototypes as selection
from lookalike.represent.base import Representation
from lookalike.saving import fields
from lookalike.saving.fields import Dims, Fields, require

SCHEDULES = ("constant", "decreasing", "geometric")
CONSTANT_RANGE = 1e300  # for constant columns: any difference divided by it is 0


@dataclass(eq=False, repr=False)
class LayeredRepresentation(Representation):
    """Turn rows into similarities to prototypes, and these into similarities again, and so on.

    The first layer compares rows with medoids, as ``SimilarityRepresentation`` does. Each further
    layer reads the columns of the one before as numbers, chooses medoids by their cityblock
    distance, and compares by the mean difference as a share of the fitted range of each column
    [1]_ (Gower's similarity of numbers).

    One layer is usually best; more of them blur the rows together. They can help where classes hang
    together in chains.

    Parameters
    ----------
    measure : Measure, optional
        How alike rows are in the first layer; None: "auto" (``choose_measure``).
        A clone is fitted.
    n_layers : int
    schedule : {"constant", "decreasing", "geometric"}
        How many prototypes the layers have: all the same, w, or with the last one having w, by
        equal steps (3w, 2w, w) or halving (4w, 2w, w). Never more than there are rows.
    n_prototypes : int or float
        The w above: a number, or a share of the fitted rows; at least 2.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    max_rows : int
        Larger tables are sampled to choose prototypes (see ``select_prototypes``).
    random_state : None, int, RandomState or Generator
        For sampling.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``.

    Attributes
    ----------
    n_layers_ : int
        Fewer than asked for if all columns of a layer were constant, which is warned about.
    prototypes_ : list of int64 arrays
        Positions of each layer's prototypes in the fitted rows.
    measures_ : list of the fitted measures, one per layer
    feature_names_in_ : names of the columns, where the data had names
    n_features_in_ : number of columns

    Notes
    -----
    New values outside the fitted range of a column are as unlike as the range is wide. A column
    that is constant in a layer finds all rows alike.

    References
    ----------
    .. [1] J. C. Gower (1971). A general coefficient of similarity and some of its properties.
       Biometrics 27(4), 857-871. doi:10.2307/2528823

    Examples
    --------
    >>> from lookalike.measures import Gower
    >>> from lookalike.represent import LayeredRepresentation
    >>> points = [[0.0], [1.0], [3.0], [7.0]]
    >>> layers = LayeredRepresentation(Gower(), n_layers=2, n_prototypes=2)
    >>> layers.fit_transform(points).round(3)
    array([[1.   , 0.083],
           [0.845, 0.071],
           [0.702, 0.381],
           [0.083, 1.   ]])
    >>> [at.tolist() for at in layers.prototypes_]
    [[1, 3], [0, 3]]
    """

    FIELDS: ClassVar[Fields] = {
        "n_layers": fields.Integer(1),
        "schedule": fields.Choice(*SCHEDULES),
        "n_prototypes": fields.Real(),
        "measures_": fields.ListOf(fields.Saved("Measure"), "layers"),
        "prototypes_": fields.ListOf(fields.Instance(np.ndarray, named="an array"), "layers"),
        "prototype_rows_": fields.ListOf(fields.Saved("Rows"), "layers"),
        "n_layers_": fields.Integer(1, size="layers"),
    }

    n_layers: int = 2
    _: KW_ONLY
    schedule: str = "constant"
    n_prototypes: int | float = 0.05
    kinds: Mapping[str, Any] | None = None
    max_rows: int = selection.MAX_ROWS
    random_state: Any = None
    n_jobs: int | None = None

    def _fit_source(self, source: TaskSource, y: np.ndarray | None) -> Rows:
        who = type(self).__name__
        last = selection.count_prototypes(self.n_prototypes, len(source), who)
        widths = layer_widths(self.schedule, self.n_layers, max(2, last), len(source))
        rng = make_generator(self.random_state)
        options: dict[str, Any] = {"max_rows": self.max_rows, "n_jobs": self.n_jobs, "who": who}
        self.measure_, rows = source.fit(y)
        self.measures_: list[Measure] = []
        self.prototypes_: list[np.ndarray] = []
        self.prototype_rows_: list[Rows] = []
        chooser, measure, encoded = self.measure_, self.measure_, rows
        for depth, width in enumerate(widths):
            if depth:
                prototypes = self.prototype_rows_[-1]
                columns = selection.compare_with_prototypes(
                    measure, encoded, prototypes, self.n_jobs
                )
                constant = (columns == columns[:1]).all(axis=0)
                if constant.all():  # all rows would be alike from here on
                    needed = f"columns that differ in layer {depth} to build the next one"
                    kept = f"{depth} of {self.n_layers} layers are kept; use "
                    hint = kept, Param("n_layers", depth)
                    warning = LookalikeWarning(who, needed, "all of them constant", hint)
                    warnings.warn(warning, stacklevel=3)
                    break
                # Medoids by plain sums: the range of each column matters only for the similarity.
                chooser = Vector("cityblock", n_jobs=self.n_jobs).fit(columns)
                ranges = {f"x{j}": CONSTANT_RANGE for j in np.flatnonzero(constant)}
                measure = Gower(ranges=ranges or None, n_jobs=self.n_jobs).fit(columns)
                encoded = measure.rows_
            candidates = chooser.rows_ if depth else rows
            selector = selection.PrototypeSelector(
                chooser, candidates, None, "medoids", rng, **options
            )
            positions = selector.select(width)
            self.measures_.append(measure)
            self.prototypes_.append(positions)
            self.prototype_rows_.append(encoded[positions])
        self.n_layers_ = len(self.measures_)
        return rows

    def _represent(self, rows: Rows) -> np.ndarray:
        columns = block_or_half(self.measure_, rows, self.prototype_rows_[0])
        for measure, prototypes in zip(self.measures_[1:], self.prototype_rows_[1:], strict=True):
            encoded = measure.encode(columns)
            if rows.seen.min(initial=0) >= 0:  # fitted rows stay fitted rows in every layer
                # Without the positions a prototype would be compared with itself as with an equal
                # new row.
                encoded = Rows(rows.seen, encoded.arrays, encoded.parts)
            columns = block_or_half(measure, encoded, prototypes)
        return columns

    def _names_out(self) -> list[str]:
        return [f"like row {position}" for position in self.prototypes_[-1]]

    def check_loaded(self, dims: Dims) -> None:
        """Check after loading that every layer reads what the one before gives."""
        who = "LayeredRepresentation"
        width = None
        layers = zip(self.measures_, self.prototypes_, self.prototype_rows_, strict=True)
        for depth, (measure, positions, rows) in enumerate(layers):
            measure.check_rows(rows, f"{who}.prototype_rows_[{depth}]")
            fields.Array("int64", "width", low=0).form(positions, {}, f"{who}.prototypes_")
            n = len(rows)
            require(n == len(positions), f"{who}.prototypes_", f"{n} prototypes", "others")
            fits = width is None or measure.n_features_in_ == len(measure.schema_.kinds) == width
            require(fits, f"{who}.measures_", f"a measure of {width} columns", "another")
            width = n
        # Saved twice, it would be two objects that may differ.
        require(self.measures_[0] is self.measure_, f"{who}.measures_", "the measure first")


def layer_widths(schedule: str, n_layers: int, last: int, n_rows: int) -> Sequence[int]:
    """Return how many prototypes each layer has.

    Examples
    --------
    >>> layer_widths("decreasing", 3, 3, 100), layer_widths("geometric", 3, 3, 100)
    ([9, 6, 3], [12, 6, 3])
    """
    factors = {
        "constant": [1] * n_layers,
        "decreasing": range(n_layers, 0, -1),
        "geometric": [2**above for above in range(n_layers - 1, -1, -1)],
    }
    return [min(n_rows, factor * last) for factor in factors[schedule]]
