"""Gradient boosters of three libraries, read from their dumps: leaves are those of the library.

Nothing is imported: a model brings its library. Which value goes left at a threshold, in which
precision, and where missing values and categories go differs between libraries; the tests compare
with the leaves that each library predicts.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, NoReturn

import numpy as np

from lookalike.errors import InvalidInput
from lookalike.trees.models import ReadTree, TreeModel, join

MISSING_CATEGORY = "nan"  # CatBoost refuses missing categories: what ``astype(str)`` makes of one


def find_reader(fitted: Any) -> Callable[[Any], TreeModel] | None:
    """Return the function that reads a booster's trees, by the library of its class."""
    for cls in type(fitted).__mro__:
        library = cls.__module__.partition(".")[0]
        if library in READERS:
            return READERS[library]
        if library == "sklearn" and cls.__name__.startswith("HistGradientBoosting"):
            # Staged predictions tell which rows share a leaf, but nothing public by which tests.
            hint = "Use LightGBM, whose trees are grown alike, GradientBoosting or a random forest"
            found = f"{cls.__name__}, whose trees scikit-learn does not show"
            raise InvalidInput("model", "a model whose trees can be read", found, hint)
    return None


# -- XGBoost: arrays of the JSON model ------------------------------------------------------------


def read_xgboost(fitted: Any) -> TreeModel:
    """Read an XGBoost model, native or of its scikit-learn interface."""
    wrapped = hasattr(fitted, "get_booster")
    booster = fitted.get_booster() if wrapped else fitted
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    machine = learner["gradient_booster"]
    model = machine.get("gbtree", machine).get("model", {})  # DART keeps its trees in one more box
    if "trees" not in model:
        _refuse("an XGBoost model of trees", f"the booster {machine['name']!r}")
    n_trees = len(model["trees"])
    best = booster.attributes().get("best_iteration") if wrapped else None
    if best is not None:  # after early stopping, as the scikit-learn interface predicts
        # A slice: an attribute of the model may be any text, and a number beyond the last tree.
        n_trees = model["iteration_indptr"][: int(best) + 2][-1]
    n_features = int(learner["learner_model_param"]["num_feature"])
    trees = [_xgboost_tree(tree) for tree in model["trees"][:n_trees]]
    levels: list[Sequence[Any]] = [()] * n_features
    if "c" in learner["feature_types"] and hasattr(booster, "get_categories"):
        columns = booster.get_categories(export_to_arrow=True).to_arrow() or ()
        for j, (_, categories) in enumerate(columns):
            levels[j] = () if categories is None else categories.to_pylist()
    return join(trees, learner["feature_names"], levels, single=True)


def _xgboost_tree(tree: Mapping[str, Any]) -> ReadTree:
    left, right = np.array(tree["left_children"]), np.array(tree["right_children"])
    default = np.array(tree["default_left"], np.int64)
    # Below the threshold goes left: at most the largest single-precision number below it.
    threshold = np.nextafter(np.array(tree["split_conditions"], np.float32), np.float32(-np.inf))
    members = {}
    for node, first, size in zip(
        tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
    ):
        members[node] = tuple(tree["categories"][first : first + size])
        # The listed categories go right.
        left[node], right[node], default[node] = right[node], left[node], 1 - default[node]
    feature = np.where(left < 0, -1, tree["split_indices"])
    gain = float(np.sum(tree["loss_changes"]))
    return ReadTree(feature, threshold, left, right, default, members, gain=gain)


# -- LightGBM: nested nodes of the JSON dump ------------------------------------------------------


def read_lightgbm(fitted: Any) -> TreeModel:
    """Read a LightGBM model, native or of its scikit-learn interface."""
    wrapped = hasattr(type(fitted), "booster_")
    dump = (fitted.booster_ if wrapped else fitted).dump_model()
    names, infos = dump["feature_names"], dump["feature_infos"]
    categorical = [j for j, name in enumerate(names) if infos.get(name, {}).get("values")]
    levels: list[Sequence[Any]] = [()] * len(names)
    stored = dump["pandas_categorical"] or ()
    if stored and len(stored) != len(categorical):
        found = f"{len(stored)} lists of categories for {len(categorical)} columns of categories"
        _refuse("a LightGBM model whose columns of categories have two or more", found)
    for j, categories in zip(categorical, stored, strict=False):
        levels[j] = categories
    trees = [_nested_tree(tree["tree_structure"], _lightgbm_node) for tree in dump["tree_info"]]
    made_up = [f"Column_{j}" for j in range(len(names))]
    return join(trees, () if names == made_up else names, levels)


def _lightgbm_node(node: Mapping[str, Any]) -> _Node:
    if "split_feature" not in node:
        return LEAF
    children = node["left_child"], node["right_child"]
    feature, gain = node["split_feature"], node["split_gain"]
    if node["decision_type"] == "==":
        # What is in no list of categories goes right, missing ones with it.
        members = tuple(map(int, str(node["threshold"]).split("||")))
        return _Node(feature, 0.5, *children, 0, gain, members)
    threshold, missing = float(node["threshold"]), node["missing_type"]
    # Without missing values in training, one is read as 0.
    default = 0.0 <= threshold if missing == "None" else node["default_left"]
    return _Node(feature, threshold, *children, int(default), gain, zero=missing == "Zero")


# -- CatBoost: the JSON model, or the leaf numbers of the model itself ----------------------------


def read_catboost(fitted: Any) -> TreeModel:
    """Read a CatBoost model: thresholds on numbers, or the bits of its own leaf numbers.

    Categories enter CatBoost's trees by statistics of the target, also of several columns together:
    no test on one column gives the answer. But the number of a leaf of a symmetric tree holds the
    answers of a row as bits.
    """
    model = _dump_catboost(fitted)
    info, names = model["features_info"], list(map(str, fitted.feature_names_))
    if names == list(map(str, range(len(names)))):  # what CatBoost calls columns without names
        names = []
    levels: list[Sequence[Any]] = [()] * len(fitted.feature_names_)
    categories = tuple(fitted.get_cat_feature_indices())
    dumped = model["oblivious_trees" if "oblivious_trees" in model else "trees"]
    splits = [split for tree in dumped for split in tree.get("splits", ())]
    floats = [
        (one["flat_feature_index"], one["nan_value_treatment"] != "AsTrue")
        for one in info.get("float_features", ())
    ]

    def read_node(node: Mapping[str, Any]) -> _Node:
        if "split" not in node:
            return LEAF
        split, children = node["split"], (node["left"], node["right"])
        if categories:  # every test is an input of its own, with the model's answers
            return _Node(split["number"], 0.5, *children, 1, 0.0)
        feature, default = floats[split["float_feature_index"]]
        return _Node(feature, split["border"], *children, default, 0.0)

    trees = [_nested_tree(_nest(tree), read_node, _gain_of(tree)) for tree in dumped]
    if not categories:
        return join(trees, names, levels, single=True)
    inner, owner = join(trees, (), [()] * len(splits)), _test_owners(info)
    tested = np.array([owner[split["split_index"]] for split in splits], np.int32)
    facts = vars(inner) | {"forest": replace(inner.forest, column=tested), "tested": tested}
    facts |= {"names": tuple(names), "levels": tuple(map(tuple, levels))}
    depths = tuple(len(tree["splits"]) for tree in dumped)
    return LeafNumbers(**facts, model=fitted, categories=categories, depths=depths)


def _dump_catboost(fitted: Any) -> dict[str, Any]:
    """Return a CatBoost model as its JSON, with a number for each split of symmetric trees."""
    if fitted.get_text_feature_indices() or fitted.get_embedding_feature_indices():
        _refuse("a CatBoost model of numbers and categories", "one with texts or embeddings")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        fitted.save_model(str(path), format="json")
        model: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if "oblivious_trees" not in model and fitted.get_cat_feature_indices():
        found = "other trees, in a model with categories"
        _refuse("symmetric trees, which are CatBoost's default", found)
    every = (split for tree in model.get("oblivious_trees", ()) for split in tree["splits"])
    for number, split in enumerate(every):
        split["number"] = number
    return model


def _nest(tree: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a tree by its root; in a symmetric one all nodes at one depth ask the same."""
    if "splits" not in tree:
        return tree
    root: Mapping[str, Any] = {}  # a leaf
    for split in reversed(tree["splits"]):
        root = {"split": split, "left": root, "right": root}
    return root


def _test_owners(info: Mapping[str, Any]) -> list[int]:
    """Return the column that each numbered test of a CatBoost model asks."""
    floats, words = info.get("float_features", ()), info["categorical_features"]
    # Tests are numbered over all borders of numbers, values of categories, borders of statistics.
    owner = [one["flat_feature_index"] for one in floats for _ in one["borders"]]
    owner += [one["flat_feature_index"] for one in words for _ in one.get("values", ())]
    for one in info.get("ctrs", ()):
        # Statistics of several columns count for the first of them.
        part = one["elements"][0]
        flat = (
            words[part["cat_feature_index"]]
            if "cat_feature_index" in part
            else floats[part["float_feature_index"]]
        )
        owner += [flat["flat_feature_index"]] * len(one["borders"])
    return owner


@dataclass(frozen=True, eq=False)
class LeafNumbers(TreeModel):
    """Symmetric trees whose tests are answered by the numbers of the leaves that rows reach."""

    model: Any = None
    categories: tuple[int, ...] = ()
    depths: tuple[int, ...] = ()

    asked: ClassVar[bool] = True

    def inputs(self, values: np.ndarray) -> np.ndarray:
        """Return the answers of rows to all tests, given numbers and words of categories."""
        rows = np.array(values, object)
        for j in self.categories:
            known = [isinstance(cell, str) or cell == cell for cell in rows[:, j]]
            rows[:, j] = np.where(known, [_word(cell) for cell in rows[:, j]], MISSING_CATEGORY)
        leaves = self.model.calc_leaf_indexes(rows).astype(np.int64).reshape(len(rows), -1)
        bits = [leaves[:, t] >> level & 1 for t, d in enumerate(self.depths) for level in range(d)]
        return np.stack(bits, axis=1).astype(np.float64)


def _word(cell: Any) -> str:
    """Return a category as CatBoost calls it: integers without a point."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _gain_of(tree: Mapping[str, Any]) -> float:
    """Return the weighted squared deviations of a tree's predictions from their mean.

    Dumps of CatBoost have no gains; for the squared error this is what a tree gains.
    """
    if "leaf_values" in tree:
        weights = np.array(tree.get("leaf_weights") or [1.0] * (1 << len(tree["splits"])))
        values = np.reshape(tree["leaf_values"], (len(weights), -1))
    else:
        leaves = _leaves_below(tree)
        weights = np.array([leaf.get("weight", 1.0) for leaf in leaves])
        values = np.array([np.atleast_1d(leaf["value"]) for leaf in leaves])
    total = weights.sum()
    mean = weights @ values / (total if total > 0 else 1.0)
    return float((weights @ (values - mean) ** 2).sum())


def _leaves_below(node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    if "split" not in node:
        return [node]
    return _leaves_below(node["left"]) + _leaves_below(node["right"])


# -- nested nodes ---------------------------------------------------------------------------------


class _Node(NamedTuple):
    """A test as LightGBM and CatBoost describe it, with its children."""

    feature: int
    threshold: float
    left: Mapping[str, Any]
    right: Mapping[str, Any]
    default: int
    gain: float
    members: tuple[int, ...] | None = None
    zero: bool = False


LEAF = _Node(-1, 0.0, {}, {}, 0, 0.0)  # asks nothing


def _nested_tree(
    root: Mapping[str, Any], read: Callable[[Mapping[str, Any]], _Node], gain: float | None = None
) -> ReadTree:
    """Return the tree of a nested description; ``read`` returns ``LEAF`` for a leaf.

    Its gain is the sum of those of its nodes, unless it is given.
    """
    nodes: list[_Node] = []
    children: list[list[int]] = []  # left and right child of each node
    # With the place where a parent keeps the number of this child: nowhere for the root.
    waiting: list[tuple[Mapping[str, Any], list[int], int]] = [(root, [-1], 0)]
    while waiting:
        described, place, side = waiting.pop()
        place[side] = len(nodes)
        node, own = read(described), [-1, -1]
        if node is not LEAF:
            waiting += [(node.right, own, 1), (node.left, own, 0)]
        nodes.append(node)
        children.append(own)
    left, right = np.transpose(children)
    return ReadTree(
        [node.feature for node in nodes],
        [node.threshold for node in nodes],
        left,
        right,
        [node.default for node in nodes],
        {i: node.members for i, node in enumerate(nodes) if node.members is not None},
        frozenset(i for i, node in enumerate(nodes) if node.zero),
        sum(node.gain for node in nodes) if gain is None else gain,
    )


def _refuse(needed: str, found: str) -> NoReturn:
    raise InvalidInput("model", needed, found, "Use another model, or another measure")


READERS: dict[str, Callable[[Any], TreeModel]] = {
    "xgboost": read_xgboost,
    "lightgbm": read_lightgbm,
    "catboost": read_catboost,
}
