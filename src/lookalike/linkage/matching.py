"""Pairs without replacement: each row of the right table is matched once, at the least total cost.

Only lists of the nearest rows are looked at, not all pairs. Where a list that was cut off might
have mattered, it is made longer and the pairs are found again, so that the answer is that of
complete lists.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lookalike.linkage.two_tables import TwoTables, check_matches
from lookalike.measures.contract.matrices import check_pairs
from lookalike.neighbors.graph import NeighborGraph

# Neighbors of the first lists, and how much longer the next ones are; chosen by hand: with a few
# controls for each treated row most lists need no second look.
FIRST_LISTS, GROWTH = 32, 4
# Places and costs as they are gathered, joined, and copied by scipy.
BYTES_PER_PAIR = 64


class Candidates(NamedTuple):
    """Rows that may be matched, each with a list of controls, nearest first.

    Parameters
    ----------
    controls : int64 arrays, one per row
    distances : float64 arrays, one per row
    bounds : float64
        What a control that is not listed is at least away: the last distance of a list that was
        cut off, inf where the list has all that may be matched.
    """

    controls: list[np.ndarray]
    distances: list[np.ndarray]
    bounds: np.ndarray


# The pairs (row, control, distance), and the rows whose lists were too short to tell.
Assigned = tuple[list[tuple[int, int, float]], np.ndarray]


def match_once(tables: TwoTables, k: int) -> NeighborGraph:
    """Match each row of the left table to k of the right one, each of which is used once.

    As many matches as can be, at the least sum of distances.

    Parameters
    ----------
    tables : TwoTables
        Its exact-match columns, calipers and largest distance say which pairs are allowed.
    k : int
        Matches per row; a row that finds fewer has as many as there are.
    """
    n, size = len(tables.left), len(tables.right.segments)
    check_matches(k, size, "match")
    found = Candidates([np.empty(0, int)] * n, [np.empty(0)] * n, np.full(n, np.inf))
    short, length = np.arange(n), min(max(FIRST_LISTS, 2 * k), size)
    while len(short):
        near = replace(tables, left=tables.left[short]).nearest(length)
        for number, row in enumerate(short.tolist()):
            listed = near.indices[number] >= 0
            found.controls[row] = near.indices[number][listed]
            found.distances[row] = near.distances[number][listed]
            cut_off = length < size and listed.all()
            found.bounds[row] = near.distances[number, -1] if cut_off else np.inf
        pairs, short = assign(found, k)
        length = min(length * GROWTH, size)
    lists = NeighborGraph.empty(n, k, tables.right.segments.next_position)
    taken = np.zeros(n, dtype=np.int64)
    for row, control, distance in sorted(pairs, key=lambda pair: (pair[0], pair[2], pair[1])):
        lists.indices[row, taken[row]], lists.distances[row, taken[row]] = control, distance
        taken[row] += 1
    return lists


def assign(found: Candidates, k: int) -> Assigned:
    """Find the most pairs at the least sum of distances (a minimum weight matching).

    Every row also has k partners of its own, for controls that it does not list. They cost
    what such a control costs at least, so the matching never costs more than that of complete
    lists; if it uses none of them, it is that of complete lists. A row with a complete list
    has partners that cost more than all pairs together: it stays unmatched only if it must.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    n, listed = len(found.controls), sum(map(len, found.controls))
    hint = "Allow a control several times (replace=True), or ask for fewer matches of each row"
    check_pairs(
        "match", k, listed, hint, bytes_per_pair=BYTES_PER_PAIR, what="pairs to choose from"
    )
    known, places = np.unique(np.concatenate(found.controls), return_inverse=True)
    # Without a finite bound: more than any sum of distances, so that the number of pairs decides.
    too_much = 1.0 + n * k * max(float(far.max(initial=0.0)) for far in found.distances)
    own = np.where(np.isfinite(found.bounds), found.bounds, too_much)
    ends = np.cumsum([0, *map(len, found.controls)])
    copies = [(row, row * k + copy) for row in range(n) for copy in range(k)]
    columns = [np.append(places[ends[row] : ends[row + 1]], len(known) + c) for row, c in copies]
    weights = [np.append(found.distances[row], own[row]) for row, _ in copies]
    starts = np.cumsum([0, *map(len, columns)])
    # One is added to all weights, which changes no matching: scipy takes 0 for no edge.
    graph = csr_matrix(
        (np.concatenate(weights) + 1.0, np.concatenate(columns), starts),
        shape=(n * k, len(known) + n * k),
    )
    left, right = min_weight_full_bipartite_matching(graph)
    pairs, short = [], set()
    for copy, place in zip(left.tolist(), right.tolist(), strict=True):
        row = copy // k
        if place >= len(known):
            short |= {row} if np.isfinite(found.bounds[row]) else set()
            continue
        at = int(np.flatnonzero(found.controls[row] == known[place])[0])
        pairs.append((row, int(known[place]), float(found.distances[row][at])))
    return pairs, np.array(sorted(short), dtype=np.int64)
