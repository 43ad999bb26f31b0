"""The measure contract as one function: fit a measure on your data and check every promise."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from lookalike._runtime.config import config
from lookalike._runtime.estimator import clone
from lookalike.errors import InvalidInput
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.rows import Rows, name_rows
from lookalike.neighbors.graph import NeighborGraph
from lookalike.saving.load import load


def check_measure(measure: Measure, X: Any, new: Any = None, y: Any = None) -> None:
    """Fit a copy of the measure and check that it keeps the contract; raise at the first breach.

    Checked are: shapes, bounds and the conversion between similarity and distance; _symmetry and
    exact values for a row with itself; that entries depend on their two rows alone; neighbor lists
    against the full matrix, ties included; that lists of parts merge; that threads, memory limits
    and saving change nothing; that rows encoded as fitted equal the fitted ones; explanations that
    add up; that column weights are taken after fitting, or refused, as the traits say.

    Parameters
    ----------
    measure : Measure
        Not fitted, or fitted: a clone is used.
    X : data for ``fit``, at least 3 rows for the neighbor checks
    new : rows that were not fitted, optional
        Default: X itself, read as new rows.
    y : target, optional

    Examples
    --------
    >>> from lookalike.measures import Ranked
    >>> from lookalike.testing import check_measure
    >>> check_measure(Ranked(), [[1.0, 5.0], [2.0, 5.0], [2.0, 7.0], [9.0, 1.0]])
    """
    fitted = clone(measure).fit(X, y)
    other = fitted.encode(X if new is None else new)
    for check in _CHECKS:
        try:
            check(fitted, fitted.rows_, other)
        except AssertionError as error:
            name = check.__name__[1:].replace("_", " ")
            raise AssertionError(f"{measure!r} breaks the contract ({name}):\n{error}") from error
    # So little memory that even small matrices are computed in several blocks.
    with config(n_jobs=1, memory_limit="1MB"):
        again = clone(measure).set_params(**_jobs(measure, 1)).fit(X, y)
        _same(again.block(again.rows_, again.rows_), fitted.block(fitted.rows_, fitted.rows_))


def _bounds_and_conversion(m: Measure, a: Rows, b: Rows) -> None:
    for left, right in _sides(m, a, b):
        s, d = m.block(left, right, "similarity"), m.block(left, right, "distance")
        assert s.shape == d.shape == (len(left), len(right))
        assert_array_equal(np.isnan(s), np.isnan(d))
        ok = ~np.isnan(s)
        assert (s[ok] >= 0).all(), "similarity below 0"
        assert (s[ok] <= 1).all(), "similarity above 1"
        assert (d[ok] >= 0).all(), "negative distance"
        # 1e-12: two similarities that are equal in theory may round differently.
        order = np.argsort(d[ok], kind="stable")
        assert (np.diff(s[ok][order]) <= 1e-12).all(), "similarity grows with distance"


def _a_row_with_itself(m: Measure, a: Rows, b: Rows) -> None:
    # Not of a forest, where an out-of-bag row need not meet itself in every tree.
    if m.traits.exact_self:
        assert_array_equal(np.diagonal(m.block(a, a, "similarity")), 1.0)
        assert_array_equal(np.diagonal(m.block(a, a, "distance")), 0.0)
        assert_array_equal(np.diagonal(m.block(b, b, "distance", same=True)), 0.0)


def _symmetry(m: Measure, a: Rows, b: Rows) -> None:
    if m.traits.symmetric:
        for left, right in _sides(m, a, b):
            _same(m.compare(left, right), m.compare(right, left).T)


def _entries_depend_on_their_rows_alone(m: Measure, a: Rows, b: Rows) -> None:
    rng = np.random.default_rng(0)
    for left, right in _sides(m, a, b):
        whole = m.compare(left, right)
        rows = rng.permutation(len(left))[: max(1, len(left) // 2)]
        columns = rng.permutation(len(right))[: max(1, len(right) // 2)]
        _same(m.compare(left[rows], right[columns]), whole[np.ix_(rows, columns)])
        # A block of one entry: no vectorized loop may sum in another order than the scalar rest.
        _same(m.compare(left[:1], right[-1:]), whole[:1, -1:])


def _neighbors_agree_with_the_matrix(m: Measure, a: Rows, b: Rows) -> None:
    n = len(a)
    for queries, own in ((a, True), (b, False)):
        d, order = m.block(queries, a), m.order_block(queries, a)
        # Distances may round differences of the order away, never turn it round.
        _same(d, order + m.order_shift)
        if own:
            np.fill_diagonal(d, np.nan)
        for k in sorted({1, (n - own + 1) // 2, n - own} - {0}):
            exclude = np.arange(len(queries)) if own else None
            found = m.nearest(queries, a, k, exclude=exclude)
            _same_lists(found, _by_sorting(d, order, k, n, own))
            # The search of the base class, without what the measure overrides for speed.
            named = name_rows(queries, a, exclude, None)
            _same_lists(found, Measure.find_nearest(m, queries, a, k, named))


def _lists_of_parts_merge(m: Measure, a: Rows, b: Rows) -> None:
    n = len(a)
    if n < 2:
        return
    k, cut = max(1, n // 2), n // 2 + n % 2
    whole = m.nearest(b, a, k)
    first = m.nearest(b, a[:cut], k, ids=np.arange(cut))
    second = m.nearest(b, a[cut:], k, ids=np.arange(cut, n))
    # In both orders: ties go to the lower position, not to the list that comes first.
    _same_lists(first.merge(second), whole)
    _same_lists(second.merge(first), whole)


def _threads_change_nothing(m: Measure, a: Rows, b: Rows) -> None:
    k = max(1, len(a) // 2)
    for jobs in (1, 3):
        same = clone(m)
        same.__dict__.update(m.__dict__)
        same.set_params(**_jobs(m, jobs))
        _same_lists(same.nearest(b, a, k), m.nearest(b, a, k))


def _fitted_rows_encode_alike(m: Measure, a: Rows, b: Rows) -> None:
    _same(m.block(a[::-1], a), m.block(a, a)[::-1])


def _saving_changes_nothing(m: Measure, a: Rows, b: Rows) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "measure.lookalike"
        m.save(path)
        back = load(path)
    assert type(back) is type(m)
    _same(back.block(back.rows_, back.rows_), m.block(a, a))
    _same(back.block(b, back.rows_), m.block(b, a))


def _explanations_add_up(m: Measure, a: Rows, b: Rows) -> None:
    pairs = [(a[:1], a[-1:])]
    if len(b):
        pairs.append((a[:1], b[:1]))
    for left, right in pairs:
        s = m.block(left, right, "similarity")[0, 0]
        if np.isnan(s):
            continue
        explanation = m.explain_rows(left, right)
        plus, minus = list(explanation.plus.values()), list(explanation.minus.values())
        # Contributions are summed in another order than the similarity: equal up to rounding.
        assert_allclose(explanation.similarity, s, rtol=1e-9, atol=1e-12)
        assert_allclose(sum(plus), s, rtol=1e-9, atol=1e-9)
        assert_allclose(sum(plus) + sum(minus), 1, atol=1e-9)
        assert all(part >= -1e-12 for part in plus + minus)


def _weights_are_taken_or_refused(m: Measure, a: Rows, b: Rows) -> None:
    if not m.traits.weighs_columns:
        try:
            m.reweighted({})
        except InvalidInput:
            return
        raise AssertionError("reweighted works, but the traits do not say weighs_columns")
    before = m.block(a, a)
    first = next(iter(m.schema_.kinds))
    _same(m.reweighted({first: 1}).block(a, a), before)
    changed = m.reweighted({first: 2})
    # An index answers with new weights per query: a copy of all rows each time would not do.
    assert changed.rows_ is m.rows_, "reweighted copies the rows"
    twice = m.reweighted(dict.fromkeys(m.schema_.kinds, 2))
    assert_allclose(twice.block(b, a), m.block(b, a), rtol=1e-12, atol=1e-12)
    _explanations_add_up(changed, a, b)
    _same(m.block(a, a), before)


_CHECKS: tuple[Callable[[Measure, Rows, Rows], None], ...] = (
    _bounds_and_conversion,
    _a_row_with_itself,
    _symmetry,
    _entries_depend_on_their_rows_alone,
    _neighbors_agree_with_the_matrix,
    _lists_of_parts_merge,
    _threads_change_nothing,
    _fitted_rows_encode_alike,
    _saving_changes_nothing,
    _explanations_add_up,
    _weights_are_taken_or_refused,
)


def _sides(m: Measure, a: Rows, b: Rows) -> list[tuple[Rows, Rows]]:
    sides = [(a, a), (b, a)]
    if m.traits.symmetric:
        sides.append((a, b))
    if m.traits.unseen_pairs:
        sides.append((b, b))
    return sides


def _jobs(m: Measure, n_jobs: int) -> dict[str, int]:
    return {"n_jobs": n_jobs} if "n_jobs" in m.get_params(deep=False) else {}


def _same(one: np.ndarray, other: np.ndarray) -> None:
    assert one.dtype == other.dtype
    assert_array_equal(one, other)


def _same_lists(one: NeighborGraph, other: NeighborGraph) -> None:
    assert_array_equal(one.indices, other.indices)
    assert_array_equal(one.distances, other.distances)


def _by_sorting(d: np.ndarray, order: np.ndarray, k: int, n: int, own: bool) -> NeighborGraph:
    """Return the lists the slow way: sort every row by (order, position), undefined last."""
    lists = NeighborGraph.empty(len(d), k, n)
    d, order = (np.where(np.isnan(values), np.inf, values) for values in (d, order))
    for i, row in enumerate(order):
        others = [j for j in range(len(row)) if not own or i != j]
        nearest = sorted(others, key=row.__getitem__)[:k]  # stable: ties to the lower position
        lists.indices[i, : len(nearest)] = nearest
        lists.distances[i, : len(nearest)] = d[i, nearest]
    return lists
