"""Pairs without replacement, and whether the two groups are alike before and after.

Each control is used once, at the least total cost. Only lists of the nearest rows are looked at,
not all pairs. Where a list that was cut off might have mattered, all lists are made longer and the
pairs are found again, so that the answer is that of complete lists.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from lookalike._runtime.text import plain
from lookalike.index.hits import shown
from lookalike.linkage.joined import Joined
from lookalike.linkage.two_tables import TwoTables, check_matches, drop_pairs
from lookalike.measures.contract.matrices import check_pairs
from lookalike.neighbors.graph import NeighborGraph
from lookalike.show import layout
from lookalike.show.html.drawings import mark, words
from lookalike.show.html.markup import COLORS, Html, color_key, figure, svg, table
from lookalike.show.result import Console, Spell
from lookalike.table import Column

# Neighbors of the first lists, and how much longer the next ones are; chosen by hand: with a few
# controls for each treated row no list needs a second look.
FIRST_LISTS, GROWTH = 32, 4
BYTES_PER_PAIR = 64  # of a pair in the lists, as it is gathered, joined, and copied by scipy
WELL_BALANCED = 0.1  # largest standardized difference that is usually accepted (Austin 2009)
MAX_LEVELS = 20  # levels of a category that are lines of the balance table, the commonest
HEADS = ("column", "treated", "control", "matched", "before", "after")
# Of the plot, in pixels.
LINE_HEIGHT, NAME_WIDTH, PLOT_WIDTH = 20, 180, 360


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
    hint = "Allow a control several times (replace=True), or ask for fewer matches of each row"
    length, what, short = min(max(FIRST_LISTS, 2 * k), size), "pairs to choose from", True
    while short:
        check_pairs("match", n * k, length, hint, bytes_per_pair=BYTES_PER_PAIR, what=what)
        near = tables.nearest(length)
        used, short = assign(near, k, complete=length == size)
        length = min(length * GROWTH, size)
    kept = drop_pairs(near, ~used)
    return NeighborGraph(kept.indices[:, :k], kept.distances[:, :k], near.n_indexed)


def assign(near: NeighborGraph, k: int, complete: bool) -> tuple[np.ndarray, bool]:
    """Find the most pairs at the least sum of distances (a minimum weight matching).

    Every row also has k partners of its own, for controls that it does not list. They cost
    what such a control costs at least, so the matching never costs more than that of complete
    lists; if it uses none of them, it is that of complete lists. A row with a complete list
    has partners that cost more than all pairs together: it stays unmatched only if it must.

    Parameters
    ----------
    near : NeighborGraph
    k : int
    complete : bool
        Whether no list was cut off; a list that is not full has all that may be matched.

    Returns
    -------
    Which neighbors are matched, and whether a list was too short to tell.
    """
    from scipy import sparse

    listed = near.indices >= 0
    cut_off = np.logical_and(listed.all(axis=1), not complete)
    known, places = np.unique(near.indices[listed], return_inverse=True)
    # More than any sum of distances, so that the number of pairs decides.
    too_much = 1.0 + len(near) * k * near.distances[listed].max(initial=0.0)
    own = np.where(cut_off, near.distances[:, -1], too_much)
    # One is added to all weights, which changes no matching: scipy takes 0 for no edge.
    ends, shape = (np.nonzero(listed)[0], places), (len(near), len(known))
    pairs = sparse.coo_array((near.distances[listed] + 1.0, ends), shape=shape)
    partners = sparse.diags_array(np.tile(own + 1.0, k))
    graph = sparse.hstack([sparse.vstack([pairs] * k), partners], format="csr")
    copies, matched = sparse.csgraph.min_weight_full_bipartite_matching(graph)
    rows, found = copies % len(near), matched < len(known)
    used, i = np.zeros(near.indices.shape, bool), rows[found]
    used[i, (near.indices[i] == known[matched[found], None]).argmax(axis=1)] = True
    return used, bool(cut_off[rows[~found]].any())


class Balance(NamedTuple):
    """How alike two groups are in a column, or in a level of one.

    Standardized mean differences: the difference of the means (for a level, of the shares) divided
    by the standard deviation of all treated rows, before and after matching alike [1]_.

    References
    ----------
    .. [1] P. C. Austin (2009). Balance diagnostics for comparing the distribution of baseline
       covariates between treatment groups in propensity-score matched samples. Statistics in
       Medicine 28(25), 3083-3107. doi:10.1002/sim.3697

    Examples
    --------
    >>> import lookalike as la
    >>> found = la.match({"age": [30.0, 40.0]}, {"age": [41.0, 65.0, 31.0]}, measure="gower")
    >>> found.balance[0].treated, round(found.balance[0].before, 2)
    (35.0, -1.51)
    """

    name: str
    treated: float
    control: float
    matched: float
    before: float | None
    after: float | None


@dataclass(eq=False)
class Matched(Joined):
    """Treated rows with the control rows they are matched to; a ``Joined`` with the balance.

    Parameters
    ----------
    tables, lists, ids, names, measure, k, why, backend, frames : see ``Joined``
    replace : bool
        Whether a control row may be matched several times.
    """

    replace: bool = False

    @cached_property
    def balance(self) -> list[Balance]:
        """Each compared column, or level, before and after; means leave missing cells out."""
        two = self.tables
        treated, control = two.read_left(two.left[:]), two.right.table
        # Controls count as often as they are matched, as weights for the effect on the treated: of
        # several matches of one row each has its share.
        per_row = np.bincount(self.rows, minlength=len(self.lists))
        position = np.searchsorted(two.right.segments.positions, self.matches)
        weights = np.bincount(position, 1.0 / per_row[self.rows], minlength=len(control))
        return [
            _balance(*line, (per_row > 0).astype(float), weights)
            for name in dict.fromkeys((*two.on, *two.by))
            for line in _numbers_of(treated[name], control[name])
        ]

    @property
    def sizes(self) -> dict[str, float]:
        """Numbers of rows, of those matched, and what the weighted controls are worth."""
        uses = np.unique(self.matches, return_counts=True)[1]
        return {
            "treated": len(self.lists),
            "treated_matched": len(np.unique(self.rows)),
            "control": len(self.tables.right.segments),
            "control_matched": len(uses),
            "effective_control": float(uses.sum() ** 2 / max(1, (uses**2).sum())),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the pairs, the balance and the numbers of rows."""
        lines = [plain(one._asdict()) for one in self.balance]
        return super().to_dict() | {"sizes": self.sizes, "balance": lines}

    def _lines(self) -> list[list[str]]:
        return [
            [one.name, *map("{:.4g}".format, one[1:4]), *(shown(x, ".2f") for x in one[4:])]
            for one in self.balance
        ]

    def render(self, console: Console, spell: Spell = str) -> None:
        """Print how many rows are matched, and the balance before and after."""
        sizes, (treated, control) = self.sizes, self.names
        text = f"{treated}: {sizes['treated_matched']:,} of {sizes['treated']:,} rows matched to "
        text += f"{sizes['control_matched']:,} of {sizes['control']:,} rows of {control}"
        way = "with replacement" if self.replace else "optimal"
        self._render_head(console, f"{text}, by {self.measure}, {way}")
        heads = [(head, "right" if i else "left") for i, head in enumerate(HEADS)]
        console.print(layout.grid(heads, self._lines()))
        layout.say(console, "before, after: standardized mean differences")
        poor = [one.name for one in self.balance if abs(one.after or 0.0) > WELL_BALANCED]
        if poor:
            names = ", ".join(poor[:6]) + (f" and {len(poor) - 6} more" if len(poor) > 6 else "")
            layout.say(console, f"above {WELL_BALANCED:g} after matching: {names}", "yellow")
        self._render_unmatched(console)

    def html_body(self) -> str:
        """Return the plot of the balance (a Love plot), and its table."""
        return love_plot(self.balance) + table(self._lines(), HEADS)


def love_plot(balance: list[Balance]) -> Html:
    """Return absolute standardized differences as dots, a line per column: before and after.

    Parameters
    ----------
    balance : list of Balance
    """
    known = [one for one in balance if one.before is not None]
    most = max([2 * WELL_BALANCED, *(abs(value or 0.0) for one in known for value in one[4:])])
    bottom = LINE_HEIGHT * len(known)

    def across(value: float) -> float:
        return NAME_WIDTH + PLOT_WIDTH * abs(value) / most

    parts = [
        f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{bottom}" stroke="#888"{dash}/>'
        for x, dash in ((NAME_WIDTH, ""), (across(WELL_BALANCED), ' stroke-dasharray="3 3"'))
    ]
    for number, one in enumerate(known):
        y = LINE_HEIGHT * (number + 0.5)
        parts.append(words((NAME_WIDTH - 8, y + 4), one.name, "end"))
        for word, color in (("before", COLORS[1]), ("after", COLORS[0])):
            value = getattr(one, word)
            if value is not None:
                parts.append(mark((across(value), y), 5, color, f"{one.name} {word}: {value:.2f}"))
    for value in (0.0, WELL_BALANCED, most):
        parts.append(words((across(value), bottom + 16), f"{value:.2g}"))
    label = "absolute standardized mean differences before and after matching"
    drawing = svg(NAME_WIDTH + PLOT_WIDTH + 20, bottom + LINE_HEIGHT, label, parts)
    key = color_key(((COLORS[1], "before matching"), (COLORS[0], "after matching")))
    return figure(drawing + key, "Absolute standardized mean differences")


def _numbers_of(left: Column, right: Column) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield a column of numbers as it is, of levels an indicator for each, of others none."""
    if left.kind.name == "number":
        yield left.name, left.values, right.values
    elif left.kind.name in ("category", "order", "flag"):
        every = np.concatenate([left.values, right.values])
        codes, counts = np.unique(every[every != -1], return_counts=True)
        # The commonest, in the order of the levels, which may be ordered.
        for code in codes[np.sort(np.argsort(-counts, kind="stable")[:MAX_LEVELS])].tolist():
            found = next(column for column in (left, right) if (column.values == code).any())
            level = found.cell(int(np.argmax(found.values == code)))
            x, y = (np.where(c.values == -1, np.nan, c.values == code) for c in (left, right))
            yield f"{left.name}: {level}", x, y


def _balance(name: str, x: np.ndarray, y: np.ndarray, *matched: np.ndarray) -> Balance:
    spread = float(np.nanstd(x, ddof=1)) if np.count_nonzero(~np.isnan(x)) > 1 else 0.0
    ones = np.ones(len(x)), np.ones(len(y))
    means = [_mean(*pair) for pair in zip((x, y, x, y), (*ones, *matched), strict=True)]
    # NaN is unequal to itself: nothing of this column was matched.
    gaps = [a - b for a, b in (means[:2], means[2:])]
    before, after = (gap / spread if spread > 0 and gap == gap else None for gap in gaps)
    return Balance(name, means[0], means[1], means[3], before, after)


def _mean(values: np.ndarray, weights: np.ndarray) -> float:
    known = ~np.isnan(values) & (weights > 0)
    return float(np.average(values[known], weights=weights[known])) if known.any() else np.nan
