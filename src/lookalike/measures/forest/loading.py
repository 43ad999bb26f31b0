"""What must hold of a forest measure that comes from a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.columns.ragged import RaggedOf
from lookalike.measures.contract.rows import Rows
from lookalike.measures.forest.ancestors import AncestorReading
from lookalike.measures.forest.cell_inputs import CellInputs, tests_cells
from lookalike.measures.forest.explain import check_soft
from lookalike.measures.forest.reading import ForestReading, Shi
from lookalike.measures.numeric import check_owners
from lookalike.saving.fields import Array, Dims, Field, Fields, require
from lookalike.trees.thresholds.flat import Forest
from lookalike.trees.thresholds.rows import bin_type, leaf_type, unknown_bin

WHO = "ForestProximity"


def check_forest(measure: Any, reading: ForestReading, dims: Dims) -> None:
    """Refuse a loaded measure whose forest, inputs and bag do not belong together."""
    forest, inputs = measure.forest_, measure.inputs_
    cells = isinstance(inputs, CellInputs)
    require(cells == tests_cells(measure.forest), f"{WHO}.inputs_", "inputs of the forest")
    if isinstance(inputs, CellInputs):
        require(measure.__dict__.get("trees_") is inputs.trees, f"{WHO}.trees_", "the same trees")
        known = all(name in measure.schema_.kinds for name in inputs.owner)
        require(known, f"{WHO}.inputs_", "columns of the table", "others")
        same = inputs.owner == tuple(measure.schema_.kinds)
        require(same, f"{WHO}.inputs_", "the columns of the table in their order", "others")
        n_inputs = max(1, len(inputs.trees.different_tests))
    else:
        check_owners(measure.schema_, inputs.names, inputs.owner, f"{WHO}.inputs_")
        n_inputs = len(inputs.owner)
    require(forest.n_inputs == n_inputs, f"{WHO}.forest_", f"{n_inputs} inputs", "others")
    known = forest.column.max(initial=-1) < len(inputs.owner)
    require(known, f"{WHO}.forest_", f"columns below {len(inputs.owner)}", "others")
    if measure.values_ is not None:
        nodes = len(forest.feature)
        require(dims["nodes"] == nodes, f"{WHO}.values_", f"{nodes} nodes", str(dims["nodes"]))
    needs = isinstance(reading, AncestorReading)
    require(needs == (measure.values_ is not None), f"{WHO}.values_", "values for this method")
    if reading.needs_all:
        ends = measure.low_ is not None and measure.high_ is not None
        require(ends, f"{WHO}.low_", "a range for this method", "none")
    require(reading.out_of_bag == (measure.in_bag_ is not None), f"{WHO}.in_bag_", "a bag for oob")
    if measure.in_bag_ is not None:
        fits = measure.in_bag_.shape == (len(measure.rows_), forest.n_trees)
        require(fits, f"{WHO}.in_bag_", "an entry per row and tree", str(measure.in_bag_.shape))


def forest_rows(forest: Forest, reading: ForestReading, bag: bool) -> Fields:
    """Return what encoded rows look like."""
    most = int(forest.nodes.n_leaves.max(initial=0))
    trees = forest.n_trees
    shapes: dict[str, Field] = {"codes": Array(leaf_type(most).__name__, "n", trees)}
    if reading.keeps_bins:
        shapes["bins"] = Array(bin_type(forest).__name__, "n", forest.n_inputs)
    if isinstance(reading, Shi):
        total = int(forest.nodes.leaf_offsets[-1])
        shapes["leaves"] = RaggedOf("int32", low=0, below=total)
        shapes["weights"] = RaggedOf("float64", finite=True)
    if bag:
        shapes["bag"] = Array("uint8", "n", trees)
    return shapes


def check_forest_rows(forest: Forest, rows: Rows, where: str) -> None:
    """Refuse loaded rows in leaves that a tree does not have, or beyond its thresholds."""
    codes = rows.arrays["codes"]
    if len(codes):
        fits = (codes.max(axis=0) < forest.nodes.n_leaves).all()
        require(fits, f"{where}.codes", "leaves of the trees", "others")
    if "bins" in rows.arrays and len(codes):
        bins = rows.arrays["bins"]
        most = np.diff(forest.tests.cut_offsets)
        known = (bins <= most) | (bins == unknown_bin(bins))
        require(known.all(), f"{where}.bins", "places among the thresholds", "others")
    if "leaves" in rows.arrays:
        check_soft(rows, where)
