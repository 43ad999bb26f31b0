"""Mixed rows as bytes: how each group of columns bounds its differences from below.

Numbers become steps of their range (a curved similarity only makes their differences larger),
codes and flags their remainder (two that clash look equal), ordered levels their code, which a
query looks up in the table of its own level. Columns of objects become bytes where something is
known about them (see ``object_codes``); else their weight may or may not be there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from lookalike.columns.base import missing_rows
from lookalike.kernels.bounds import EQUAL, LOOKUP, MISSING, NUMBER, ROOT, STEPS
from lookalike.measures.contract.codes import byte_steps, without_nan
from lookalike.measures.mixed.object_codes import ObjectBytes, object_asking, object_bytes
from lookalike.measures.mixed.plan import COLUMN, SIMPLE, MixedPlan
from lookalike.neighbors.bounds import Bounds, ByteCodes, bound_queries


class _Layout(NamedTuple):
    """Where columns are: those of objects in the plan, with bytes and without, and all as bytes."""

    coded: list[int]
    uncoded: list[int]
    last: np.ndarray
    looked_up: np.ndarray
    levels: list[int]
    has_roots: bool


@dataclass(frozen=True, eq=False)
class MixedCodes:
    """The bytes of some rows, the plan they were made by, and what the columns of objects ask."""

    plan: MixedPlan
    codes: ByteCodes
    kind: np.ndarray
    objects: Mapping[str, ObjectBytes]

    def queries(
        self, a: Mapping[str, Any], weights: np.ndarray, midpoint: bool
    ) -> Callable[[slice], Bounds]:
        """Return a function from a slice of the queries to their bounds.

        Parameters
        ----------
        a : encoded rows, the queries
        weights : float64, one per column of the plan
        midpoint : bool
            Whether a missing cell counts as half a difference.
        """
        plan, n = self.plan, self.plan.n_simple
        layout = self._layout
        more = float(weights[layout.uncoded].sum())
        whole = np.zeros(len(self.kind))
        whole[:n] = weights[:n]
        whole[layout.last] = weights[layout.coded]

        def queries(at: slice) -> Bounds:
            simple = np.asarray(a[SIMPLE][at])
            own = np.zeros((len(simple), len(self.kind)), np.uint8)
            worth = np.zeros(own.shape)
            roots = np.zeros(own.shape) if layout.has_roots else None
            here = np.ones(own.shape, bool)
            own[:, :n], here[:, :n] = _bytes(plan, simple), simple == simple
            worth[:, :n] = weights[:n]
            worth[:, int(plan.ends[3]) : n] = 0.0  # levels are looked up, or too many to be bytes
            tables = np.zeros((len(simple), len(layout.looked_up), MISSING + 1))
            slot, first = 0, n
            for j in layout.levels:
                levels = _levels(plan, j)
                codes = np.where(here[:, j], simple[:, j], 0).astype(np.int64)
                tables[:, slot, : len(levels)] = levels[codes] * weights[j]
                slot += 1
            for place, (name, kept) in zip(layout.coded, self.objects.items(), strict=True):
                cells, weight = a[COLUMN + name][at], weights[place]
                columns = slice(first, first + kept.width)
                first = columns.stop
                own[:, columns], values = kept.ask(cells)
                here[:, columns] = ~missing_rows(cells)[:, None]
                if kept.kind == LOOKUP:
                    tables[:, slot] = values * weight
                    slot += 1
                elif roots is not None and kept.kind == ROOT:
                    worth[:, first - 1] = weight
                    roots[:, first - 1] = values[:, 0] * weight
                else:
                    worth[:, columns] = values * weight
            worth[:, layout.looked_up] = tables.max(axis=2)
            return bound_queries(
                self.codes, own, worth, self.kind, tables=tables, weights=whole, present=here,
                midpoint=midpoint, more_weight=more, roots=roots,
            )  # fmt: skip

        return queries

    @cached_property
    def _layout(self) -> _Layout:
        """Where the columns of the plan are among the bytes, worked out once."""
        n = self.plan.n_simple
        places = {name: n + i for i, name in enumerate(self.plan.objects)}
        return _Layout(
            coded=[places[name] for name in self.objects],
            uncoded=[at for name, at in places.items() if name not in self.objects],
            # The weight of a column of several bytes is counted with the last of them.
            last=n - 1 + np.cumsum([kept.width for kept in self.objects.values()], dtype=np.int64),
            looked_up=np.flatnonzero(self.kind == LOOKUP),
            levels=np.flatnonzero(self.kind[:n] == LOOKUP).tolist(),
            has_roots=bool((self.kind == ROOT).any()),
        )

    def to_arrays(self) -> dict[tuple[str, ...], np.ndarray]:
        """Return all that is needed to ask again beside the plan and the rows."""
        arrays = {**self.codes.to_arrays(), ("kind",): self.kind}
        for name, kept in self.objects.items():
            arrays["object", name, "form"] = np.array([kept.kind, kept.width])
            arrays |= {("object", name, "state", key): value for key, value in kept.state.items()}
        return arrays

    @classmethod
    def from_arrays(
        cls,
        plan: MixedPlan,
        rows: Mapping[str, Any],
        arrays: Mapping[tuple[str, ...], np.ndarray],
    ) -> MixedCodes:
        """Return what ``to_arrays`` has taken apart, for the same encoded rows."""
        objects = {}
        for name in plan.objects:
            if ("object", name, "form") not in arrays:
                continue
            kind, width = arrays["object", name, "form"].tolist()
            start = ("object", name, "state")
            state = {key[3]: array for key, array in arrays.items() if key[:3] == start}
            cells = rows[COLUMN + name]
            objects[name] = object_asking(plan.distances[name], cells, kind, width, state)
        return cls(plan, ByteCodes.from_arrays(len(rows[SIMPLE]), arrays), arrays["kind",], objects)


def mixed_codes(plan: MixedPlan, rows: Mapping[str, Any]) -> MixedCodes | None:
    """Return the bytes of encoded rows; None where there is nothing to make them of."""
    simple, n = np.asarray(rows[SIMPLE]), plan.n_simple
    kind = np.full(n, EQUAL)
    kind[: plan.ends[1]] = NUMBER
    for j in range(int(plan.ends[3]), n):
        kind[j] = LOOKUP if plan.starts[j, 1] <= MISSING else EQUAL
    objects = {}
    for name in plan.objects:
        kept = object_bytes(plan.distances[name], rows[COLUMN + name])
        if kept is not None:
            objects[name] = kept
    if not n and not objects:
        return None
    for kept in objects.values():
        kind = np.concatenate([kind, kept.kinds])

    def part_of(at: slice) -> tuple[np.ndarray, np.ndarray | None]:
        columns, missing = [_bytes(plan, simple[at])], [np.isnan(simple[at])]
        for kept in objects.values():
            columns.append(kept.columns[at])
            missing.append(np.repeat(kept.missing[at, None], kept.width, axis=1))
        gone = np.hstack(missing)
        return np.hstack(columns), gone if gone.any() else None

    # What the columns of objects have made is in the codes now, and not needed twice.
    codes = ByteCodes.make(len(simple), len(kind), part_of)
    return MixedCodes(
        plan, codes, kind, {name: kept.without_rows() for name, kept in objects.items()}
    )


def _bytes(plan: MixedPlan, simple: np.ndarray) -> np.ndarray:
    near, order = int(plan.ends[1]), int(plan.ends[3])
    out = np.empty(simple.shape, np.uint8)
    out[:, :near] = byte_steps(simple[:, :near], 0.0, 1.0)
    if near < simple.shape[1]:
        # Numbers that are equal have equal bits once -0.0 is 0.0, so they get equal bytes.
        bits = np.ascontiguousarray(without_nan(simple[:, near:]) + 0.0).view(np.uint64)
        out[:, near:] = (bits ^ (bits >> np.uint64(40))) % np.uint64(STEPS)
    for j in range(order, simple.shape[1]):
        if plan.starts[j, 1] <= MISSING:
            out[:, j] = without_nan(simple[:, j])
    return out


def _levels(plan: MixedPlan, column: int) -> np.ndarray:
    """Return by how much the levels of a column differ from each other."""
    start, width = (int(value) for value in plan.starts[column])
    table = plan.levels[start : start + width * width].reshape(width, width)
    return np.clip(np.nan_to_num(table), 0.0, 1.0)
