"""Proximities in a forest, by seven published methods, with trees grown here or elsewhere."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from lookalike._runtime.config import settings
from lookalike._runtime.estimator import check_is_fitted, copy_value
from lookalike._runtime.random_state import RANDOM_STATE
from lookalike.columns.ragged import RaggedOf
from lookalike.errors import InvalidInput, LookalikeWarning, Param, TooFewRows, WrongType
from lookalike.measures.contract.base import Measure, Traits
from lookalike.measures.contract.explanation import ColumnDifferences, Explanation
from lookalike.measures.contract.rows import Named, Rows, concatenate
from lookalike.measures.forest import explain, growing, methods
from lookalike.measures.forest import neighbors as near
from lookalike.measures.numeric import ORDERED, MatrixLayout, check_owners, plan_inputs, read_inputs
from lookalike.neighbors.graph import NeighborGraph
from lookalike.neighbors.sketch import Sketch, bit_sketch
from lookalike.saving import fields
from lookalike.saving.fields import Dims, Field, Fields, check_params, require
from lookalike.table import Table, as_table
from lookalike.trees.adapters import adapt_model, check_fitted, read_samples
from lookalike.trees.growers import Grower, SyntheticForest, find_grower
from lookalike.trees.growing import GrownForest
from lookalike.trees.models import TreeModel
from lookalike.trees.thresholds import flat
from lookalike.trees.thresholds import proximity as pairs

# Queries from which on the members of all leaves are listed first, which takes as long as comparing
# some hundred rows with all others.
MIN_QUERIES_FOR_MEMBERS = 256
GROWERS = fields.Choice("synthetic", "extra", "isolation", "similarity")


@dataclass(eq=False, repr=False)
class ForestProximity(Measure):
    """Compare rows by their leaves and paths in the trees of a forest, by one of eight proximities.

    Without labels the forest is grown to separate the rows of the table from rows whose columns
    were shuffled independently; the trees then follow the dependence of columns. A fitted model
    of trees can be given instead, which makes the similarity a supervised one: two rows are alike
    if the model treats them alike.

    =============== ===============================================================================
    method          two rows are alike if ...
    =============== ===============================================================================
    ``ratio``       they answer alike the tests that either meets on its way (``Ratio``)
    ``shi``         they share a leaf, in many trees (``Shi``)
    ``oob``         the same, over the trees that were grown on neither of them (``OutOfBag``)
    ``gap``         trees that were not grown on the first predict it by the second (``Gap``)
    ``zhu2``        their ways part late: shared steps over the longer way (``Zhu2``)
    ``zhu3``        the same, a step counting more the fewer rows take it (``Zhu3``)
    ``ting``        few rows fall into the smallest region that holds both (``Ting``)
    ``aryal``       the same, as a geometric mean over trees (``Aryal``)
    =============== ===============================================================================

    Start with ``ratio``: it is graded where leaf sharing is zero for almost all pairs of a deep
    forest. Distances are sqrt(1 - s) for ``ratio``, ``shi`` and ``oob``, 1 - s for ``gap``,
    ``zhu2`` and ``zhu3``; ``ting`` and ``aryal`` are distances themselves. Numbers, ordered levels,
    flags and categories (one against the rest) are tested; missing values are allowed. Only the
    order of numbers matters for forests grown on shuffled rows. At a missing value ``shi`` and
    ``oob`` send a row both ways, ``ratio`` leaves out the tests that one of the rows cannot answer,
    and the other methods follow the side of more fitted rows.

    ``forest="similarity"`` takes every kind of column: sets, texts, sequences, series, graphs. Its
    tests ask whether a cell is nearer to one cell of the column or to another.

    Parameters
    ----------
    method : {"ratio", "shi", "oob", "gap", "zhu2", "zhu3", "ting", "aryal"} or an object
        How a proximity is computed. A name is the published setting; the objects ``Ratio``,
        ``Shi``, ``Zhu2``, ``Zhu3``, ``Ting``, ``Aryal``, ``OutOfBag`` and ``Gap`` have the options.
    forest : None, "synthetic", "extra", "isolation", "similarity", or a grower
        How the forest is grown: against synthetic rows, by random cuts, by random cuts on small
        samples, or against synthetic rows with tests that compare cells. A name is the published
        setting; the objects ``SyntheticForest``, ``ExtraForest``, ``IsolatingForest`` and
        ``CellSimilarityForest`` of ``lookalike.trees`` have the options. None: as published,
        "isolation" for ``ting`` and ``aryal``, else "synthetic".
    model : a fitted model, optional
        Whose trees are used as they are, in place of a forest that is grown here: a forest, a
        gradient booster (not the histogram-based one) or a decision tree of scikit-learn, a model
        of XGBoost, LightGBM or CatBoost, or a random similarity forest of lookalike. Of a table
        only the columns are compared that the model was fitted on, by their names where it knows
        them.
        Rows reach the leaves that the model itself sends them to, with missing values and
        categories. The measure is saved with the trees, not the model; CatBoost models with
        categories have to be asked themselves and cannot be saved.
    n_estimators : int, optional
        Trees, where the forest is grown here. None: what the grower says, or as published: 100, and
        1000 for ``oob`` and ``gap``.
    random_state : None, int, RandomState or Generator
        Seed of the forest that is grown here, where the grower has none.
    undefined : float, optional
        Similarity of two rows without any test that both can answer (``ratio``). None: matrices
        raise UndefinedMeasure. In neighbor lists such pairs come last.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``. Answers do not depend on it.

    Attributes
    ----------
    forest_ : the trees in flat arrays, with the fitted rows counted in every node where needed
    trees_ : SimilarityTrees, the trees with the cells that their tests compare ("similarity")
    in_bag_ : how often each tree was grown on each fitted row (``oob``, ``gap``)
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
    columns of objects. ``CellSimilarityForest(max_samples=256)`` makes that 7,000 n.

    Examples
    --------
    >>> import numpy as np
    >>> from lookalike.measures import ForestProximity
    >>> rng = np.random.default_rng(0)
    >>> table = {"height": rng.normal(size=60), "group": rng.choice(["a", "b"], 60).tolist()}
    >>> measure = ForestProximity(random_state=0).fit(table)
    >>> bool((measure.similarity() == measure.similarity().T).all())
    True

    Options of the forest, and of the method:

    >>> from lookalike.trees import SyntheticForest
    >>> from lookalike.measures import Ratio
    >>> measure = ForestProximity(Ratio(parting="once"), SyntheticForest(max_depth=5))
    >>> measure.set_params(forest__max_samples=0.5, n_estimators=20).fit(table).forest_.n_trees
    20

    A forest that was fitted to labels:

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.datasets import load_iris
    >>> flowers, species = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(50, random_state=0).fit(flowers, species)
    >>> near = ForestProximity("shi", model=forest).fit(flowers).kneighbors(n_neighbors=5)[1]
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

    FIELDS: ClassVar[Fields] = {
        "method": fields.Either(
            fields.Choice(*methods.METHODS),
            fields.Instance(methods.ProximityMethod, named="a proximity method"),
        ),
        "n_estimators": fields.Maybe(fields.Integer(1)),
        "random_state": RANDOM_STATE,
        "undefined": fields.Maybe(fields.Real(0.0, 1.0)),
        # A wrong type is refused with a hint at ``model=``, when the forest is looked for.
        "forest": fields.AtLoad(
            fields.Maybe(fields.Either(GROWERS, fields.Saved("Grower", fitted=False)))
        ),
        # A fitted estimator of another library is a valid parameter, but not a part of a file.
        "model": fields.AtLoad(
            fields.Maybe(fields.Saved("TreeModel", "Forest", "TreeForest", fitted=False))
        ),
        "inputs_": fields.Saved("MatrixLayout", "CellInputs", "ModelInputs"),
        "forest_": fields.Saved("Forest"),
        "in_bag_": fields.Maybe(fields.Array("uint8", "rows", "trees")),
        "values_": fields.Maybe(fields.Array("float64", "nodes")),
        "low_": fields.Maybe(fields.Real(nan=True)),
        "high_": fields.Maybe(fields.Real(nan=True)),
        "n_fallback_pairs_": fields.Sometimes(fields.Integer(0)),
        "trees_": fields.Sometimes(fields.Saved("SimilarityTrees")),
    }

    method: str | methods.ProximityMethod = "ratio"
    forest: Any = None
    _: KW_ONLY
    model: Any = None
    n_estimators: int | None = None
    random_state: Any = None
    undefined: float | None = None
    kinds: Mapping[str, Any] | None = None
    n_jobs: int | None = None
    # The given model and the trees that were read from it.
    _known_model: tuple[Any, TreeModel | None] | None = field(init=False, default=None)

    @property
    def _method(self) -> methods.ProximityMethod:
        return methods.find_method(self.method)

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """Facts about this measure."""
        kinds = () if growing.tests_cells(self._source) else (*ORDERED, "category")
        return replace(self._method.traits, kinds=kinds)

    @classmethod
    def examples(cls) -> list[Measure]:
        """Return every method with a small forest, and the options that change the formula."""
        small: dict[str, Any] = {"n_estimators": 6, "random_state": 0}
        return [
            *(
                cls(method, **small)
                for method, own in methods.METHODS.items()
                if not own.out_of_bag
            ),
            cls("oob", SyntheticForest(60, max_samples=0.2), random_state=0),
            cls(methods.Ratio(alpha=0.5, beta=0.25), "extra", **small),
            cls(methods.Ratio(alpha=0.5, beta=0.5, parting="once"), **small),
            cls(methods.Zhu3(denominator="max"), "isolation", **small),
            cls(methods.Aryal(raw=True), "extra", **small),
            cls(methods.Shi(missing="by_mass"), SyntheticForest(max_features="all"), **small),
            cls("ratio", "similarity", **small),
            cls(methods.Gap(), SyntheticForest(12, max_samples=0.5), random_state=0),
        ]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; ``deep`` adds those of the grower and the method."""
        # Not those of a fitted model, which is the caller's: tasks that draw seeds would change it.
        params = super().get_params(deep)
        return {name: value for name, value in params.items() if not name.startswith("model__")}

    def __sklearn_clone__(self) -> Any:
        if getattr(self, "frozen_", False):
            return self
        params = self.get_params(deep=False)
        # Cloning a fitted model would forget its trees, which are what was asked for.
        return type(self)(**{k: v if k == "model" else copy_value(v) for k, v in params.items()})

    @property
    def _source(self) -> Any:
        return self.forest if self.model is None else self.model

    def _read_model(self) -> TreeModel | None:
        """Return the trees of the given model that test numbers and categories, read once."""
        known = self._known_model
        if known is None or known[0] is not self.model:
            tests_values = self.model is not None and not growing.has_cell_trees(self.model)
            known = self._known_model = (
                self.model,
                adapt_model(self.model) if tests_values else None,
            )
        return known[1]

    def to_saved(self) -> ForestProximity:
        """Return the measure as it is written to a file: a model as the arrays of its trees."""
        model = None if self.model is None else self._read_model()
        if model is None:
            return self
        if model.asked:
            found = (
                f"a {type(self.model).__name__} with categories, which is asked for leaves itself"
            )
            hint = "Save the model with its own library and fit the measure again"
            raise WrongType("ForestProximity.save", "trees that can be written", found, hint)
        kept = copy.copy(self)
        kept.model = model
        return kept

    # -- fitting: read the table, grow the forest, encode the rows ---------------------------------

    def read(self, X: Any) -> Table:
        """Read data to be fitted; for a fitted model, the columns that it was fitted on."""
        schema, model = growing.schema_of(self.model), self._read_model()
        if schema is None:
            table = super().read(X)
            return table if model is None else growing.choose_columns(model, table)
        return as_table(X, schema, who=f"{type(self).__name__}.fit")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Grow the forest or take the given one, and keep the rows to be searched.

        Parameters
        ----------
        X : table, frame, array, dict of columns or path
        y : array of n, or the name of a column, optional
            Not learned from. A named column is taken out of the table.
        """
        # A fitted similarity forest reads X by the schema of its own table, without the target.
        schema = growing.schema_of(self.model)
        if schema is not None and isinstance(y, str) and y not in schema.kinds:
            y = None  # the schema of the fitted forest has left the column out already
        return super().fit(X, y)

    def _fit(self, table: Table, y: np.ndarray | None) -> Rows | None:
        method = self._method
        check_params(method)
        source = self._find_source(method)
        who, bag = f"{type(self).__name__} ({method.name})", method.out_of_bag
        model = self._read_model()
        self.inputs_: MatrixLayout | growing.CellInputs | growing.ModelInputs
        if growing.tests_cells(source):
            trees = growing.grow_cells(source, table, bag, who, self.n_jobs)
            self.trees_ = trees.forest
            self.inputs_ = growing.CellInputs(self.trees_, tuple(table.names))
            # Votes of the forest are those of the leaves that it sends rows to itself.
            as_forest = self.trees_.to_forest(soft=not isinstance(method, methods.Gap))
            grown = GrownForest(as_forest, trees.in_bag)
        elif len(table) < 2:
            raise TooFewRows(who, "at least 2 rows", Param("n_samples", len(table)), "Add rows")
        elif model is not None:
            self.inputs_ = growing.plan_model(model, table, who)
            trees_drawn = (self.model, model.forest.n_trees, len(table))
            grown = GrownForest(model.forest, read_samples(*trees_drawn) if bag else None)
        else:
            self.inputs_ = plan_inputs(table, who, categories=True)
            values = read_inputs(table, self.inputs_)
            category = np.array([table[c].kind.name == "category" for c in self.inputs_.owner])
            grown = source.grow(values, category, out_of_bag=bag, n_jobs=self.n_jobs)
        self.forest_, self.in_bag_ = grown.forest, grown.in_bag
        rows = None
        if method.needs_counts(self.forest_):
            # Bins are made for the counts anyway, so the rows are encoded from them, not again.
            bins = self._bins(table)
            self.forest_ = self.forest_.count_rows(bins, self.n_jobs)
            rows = self._to_leaves(bins, np.arange(len(table)))
        gain = None if model is None else model.gain
        self.values_ = method.node_values(self.forest_, len(table), gain)
        self.low_: float | None = None
        self.high_: float | None = None
        return rows

    def _find_source(self, method: methods.ProximityMethod) -> Any:
        """Return the grower that ``forest=`` asks for, or the fitted model."""
        if self.model is None:
            source = method.forest if self.forest is None else self.forest
            source = find_grower(source) if isinstance(source, str) else source
            if not isinstance(source, Grower):
                needed = "how a forest is grown: a name or a grower of lookalike.trees"
                hint = ("Give a fitted model as ", Param("model"))
                raise WrongType("forest", needed, f"a {type(source).__name__}", hint)
            return source.with_shorthands(self.n_estimators, self.random_state)
        for name in ("forest", "n_estimators"):
            if (value := getattr(self, name)) is not None:
                given = Param(name, value, of="ForestProximity")
                found = f"a fitted {type(self.model).__name__}, which has its trees already"
                leave_out = ("Leave ", Param(name), " out")
                raise InvalidInput(given, "a forest that is grown here", found, leave_out)
        if growing.has_cell_trees(self.model):
            check_fitted(self.model)
        return self.model

    def _bins(self, table: Table) -> np.ndarray:
        if isinstance(self.inputs_, growing.Projected):
            cells, every = self.inputs_.encode(table), slice(0, len(table))
            return self.inputs_.bins(self.forest_, cells, every, self.n_jobs)
        return self.forest_.bins(read_inputs(table, self.inputs_), self.n_jobs)

    def _encode(self, table: Table, seen: np.ndarray) -> Rows:
        if not isinstance(self.inputs_, growing.Projected) or self._method.keeps_bins:
            return self._to_leaves(self._bins(table), seen)
        # Only leaves are stored, so the bins are made a part of the rows at a time.
        forest, cells = self.forest_, self.inputs_.encode(table)
        return concatenate(
            [
                self._to_leaves(self.inputs_.bins(forest, cells, part, self.n_jobs), seen[part])
                for part in self.inputs_.parts(forest, len(table))
            ]
        )

    def _to_leaves(self, bins: np.ndarray, seen: np.ndarray) -> Rows:
        """Return rows by the leaves they reach."""
        method = self._method
        arrays: dict[str, Any] = {"codes": self.forest_.leaves_of(bins, self.n_jobs)}
        if method.keeps_bins:
            arrays["bins"] = bins
        if isinstance(method, methods.Shi):
            spread = self.forest_.share_leaves(bins, method.missing == "by_mass", self.n_jobs)
            arrays["leaves"], arrays["weights"] = spread
        if self.in_bag_ is not None:
            # No tree was grown on a new row: its entries stay 0.
            arrays["bag"] = np.zeros(arrays["codes"].shape, np.uint8)
            arrays["bag"][seen >= 0] = self.in_bag_[seen[seen >= 0]]
        return Rows(seen, arrays)

    def _fit_rows(self, rows: Rows) -> None:
        method, fitted = self._method, self._fitted()
        if method.traits.needs_all:

            def ends(a: Rows, b: Rows) -> tuple[float, float]:
                block = method.compare(fitted, a, b)  # before ``finish``, which needs the range
                return float(block.min()), float(block.max())

            lows, highs = zip(*near.over_pairs(ends, rows, self.n_jobs), strict=True)
            self.low_, self.high_ = min(lows), max(highs)
        if isinstance(method, methods.Gap):
            self.values_ = near.count_draws(self.forest_, rows)
        elif method.needs_shares:
            self.values_ = pairs.answer_shares(self.forest_, rows.arrays["bins"])
        elif method.out_of_bag:

            def count(a: Rows, b: Rows) -> int:
                # Each pair once: only where the first row comes before the second.
                lost = pairs.count_usable(a.arrays["bag"], b.arrays["bag"]) == 0
                return int((lost & (a.seen[:, None] < b.seen)).sum())

            self.n_fallback_pairs_ = sum(near.over_pairs(count, rows, self.n_jobs))
            if self.n_fallback_pairs_:
                warnings.warn(
                    f"{type(self).__name__} (oob): {self.n_fallback_pairs_:,} pairs of "
                    "rows have no tree that was grown on neither of them and use all trees; more "
                    "trees or smaller samples leave fewer such pairs.",
                    LookalikeWarning,
                    stacklevel=3,
                )

    # -- comparing ---------------------------------------------------------------------------------

    def _fitted(self) -> explain.FittedForest:
        return explain.FittedForest(self.forest_, self.values_, self.inputs_.owner)

    def compare(self, a: Rows, b: Rows) -> np.ndarray:
        """Return similarities, or for ``ting`` and ``aryal`` distances, of every row of a to b."""
        method = self._method
        return method.finish(method.compare(self._fitted(), a, b), self.low_, self.high_)

    def find_nearest(self, a: Rows, b: Rows, k: int, named: Named) -> NeighborGraph:
        """Return unfinished lists of the nearest rows; shared leaves are counted on the way."""
        method = self._method
        # A row is no member of the leaves it is predicted by: itself is found in a block only.
        others_only = bool((np.where(a.seen < 0, 0, named[0]) >= 0).all())
        if isinstance(method, methods.Gap) and len(a) >= MIN_QUERIES_FOR_MEMBERS and others_only:
            return near.nearest_by_draws(self, self._fitted(), a, b, k, named)
        # Out-of-bag pairs have different numbers of trees: equal codes alone do not give the share.
        shares = method.shares_leaves and not (method.out_of_bag or method.needs_gain)
        if shares and explain.are_complete(a, b):
            return near.nearest_by_leaves(self, a, b, k, named)
        if not isinstance(method, methods.Ratio | methods.AncestorMethod):
            return super().find_nearest(a, b, k, named)
        # The published ratio is symmetric to the last bit: one tile serves both of its sides.
        mirrored = isinstance(method, methods.Ratio) and method.is_plain and a is b
        # Rows with missing values share no work: of small tiles fewer lie on the diagonal.
        small = mirrored and flat.has_missing(a.arrays["bins"]).any()
        tallest = near.ROWS_PER_TILE if small else pairs.MAX_TILE_ROWS
        return near.nearest_in_tiles(self, a, b, k, named, mirrored, tallest)

    def sketch(self, rows: Rows) -> Sketch | None:
        """Return random bits for every leaf, for the methods that count shared leaves."""
        method = self._method
        # Bits of a sketch count every tree alike.
        sketched = method.shares_leaves and not method.needs_gain
        return bit_sketch(self.forest_.n_trees) if sketched else None

    def _matrix(self, X: Any, Y: Any, to: str) -> np.ndarray:
        check_is_fitted(self, "rows_")
        method = self._method
        # The whole square of the published ratio has a kernel of its own: rows of one leaf share
        # their paths, and half of the symmetric matrix is enough.
        whole = X is None and Y is None and 8 * len(self.rows_) ** 2 <= settings().memory_limit
        if not (whole and isinstance(method, methods.Ratio) and method.is_plain):
            return super()._matrix(X, Y, to)
        codes, bins = (self.rows_.arrays[name] for name in ("codes", "bins"))
        if flat.has_missing(bins).any():
            return super()._matrix(X, Y, to)
        values = pairs.ratio_square(
            self.forest_, codes, bins, method.parting == "once", self.n_jobs
        )
        np.fill_diagonal(values, 1.0)
        return values if to == "similarity" else self.to_distance(values)

    def column_differences(self, a: Rows, b: Rows) -> ColumnDifferences:
        """Return in how many trees a row parts from each of some at every column."""
        return explain.parting_columns(self._fitted(), a, b)

    def _explain(self, a: Rows, b: Rows) -> Explanation:
        return self._method.explain(self._fitted(), self._both_numbers(a, b), a, b)

    # -- loading -----------------------------------------------------------------------------------

    def _check_parts(self, dims: Dims) -> None:
        """Refuse a loaded measure whose forest, inputs and bag do not belong together."""
        forest, method, who = self.forest_, self._method, type(self).__name__
        n_inputs = self._check_inputs(f"{who}.inputs_")
        require(forest.n_inputs == n_inputs, f"{who}.forest_", f"{n_inputs} inputs", "others")
        n_columns = len(self.inputs_.owner)
        known = forest.column.max(initial=-1) < n_columns
        require(known, f"{who}.forest_", f"columns below {n_columns}", "others")
        # Kernels index nodes and trees without checks, so all sizes must agree.
        needs = isinstance(method, methods.AncestorMethod | methods.Gap)
        needs = needs or method.needs_gain or method.needs_shares
        require(needs == (self.values_ is not None), f"{who}.values_", "values for this method")
        if self.values_ is not None:
            nodes = len(forest.feature)
            require(dims["nodes"] == nodes, f"{who}.values_", f"{nodes} nodes", str(dims["nodes"]))
        ends = self.low_ is not None and self.high_ is not None
        ends = ends or not method.traits.needs_all
        require(ends, f"{who}.low_", "a range for this method", "none")
        bag = self.in_bag_
        require(method.out_of_bag == (bag is not None), f"{who}.in_bag_", "a bag for oob and gap")
        if bag is not None:
            fits = bag.shape == (len(self.rows_), forest.n_trees)
            require(fits, f"{who}.in_bag_", "an entry per row and tree", str(bag.shape))

    def _check_inputs(self, where: str) -> int:
        """Refuse loaded inputs of another forest or table; return how many there are."""
        inputs, kinds = self.inputs_, self.schema_.kinds
        cells = isinstance(inputs, growing.CellInputs)
        require(cells == growing.tests_cells(self._source), where, "inputs of the forest")
        if isinstance(inputs, growing.CellInputs):
            same = getattr(self, "trees_", None) is inputs.trees
            require(same, "ForestProximity.trees_", "the same trees")
            ordered = inputs.owner == tuple(kinds)
            require(ordered, where, "the columns of the table in their order", "others")
            return max(1, len(inputs.trees.different_tests))
        check_owners(self.schema_, inputs.names, inputs.owner, where)
        if isinstance(inputs, growing.ModelInputs):
            require(inputs.model is self.model, where, "inputs of the model", "others")
            return len(inputs.model.tested)
        return len(inputs.owner)

    def rows_shape(self) -> tuple[Fields, Dims]:
        """Return what encoded rows look like."""
        forest, method = self.forest_, self._method
        trees, leaves = forest.n_trees, int(forest.nodes.n_leaves.max(initial=0))
        shapes: dict[str, Field] = {
            "codes": fields.Array(flat.leaf_type(leaves).__name__, "n", trees)
        }
        if method.keeps_bins:
            shapes["bins"] = fields.Array(flat.bin_type(forest).__name__, "n", forest.n_inputs)
        if isinstance(method, methods.Shi):
            total = int(forest.nodes.leaf_offsets[-1])
            shapes["leaves"] = RaggedOf("int32", low=0, below=total)
            shapes["weights"] = RaggedOf("float64", finite=True)
        if self.in_bag_ is not None:
            shapes["bag"] = fields.Array("uint8", "n", trees)
        return shapes, {}

    def check_rows(self, rows: Rows, where: str) -> None:
        """Refuse loaded rows in leaves that a tree does not have, or beyond its thresholds."""
        super().check_rows(rows, where)
        codes, forest = rows.arrays["codes"], self.forest_
        if len(codes):
            fits = (codes.max(axis=0) < forest.nodes.n_leaves).all()
            require(fits, f"{where}.codes", "leaves of the trees", "others")
        if "bins" in rows.arrays and len(codes):
            bins = rows.arrays["bins"]
            known = (bins <= np.diff(forest.tests.cut_offsets)) | (bins == flat.unknown_bin(bins))
            require(known.all(), f"{where}.bins", "positions among the thresholds", "others")
        if "leaves" in rows.arrays:
            explain.check_soft(rows, where)
