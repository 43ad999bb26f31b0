"""Why two rows are alike: contributions per column that add up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lookalike._runtime.frames import FrameMixin, make_frame
from lookalike._runtime.text import clean, short
from lookalike.measures.contract.rows import Rows, kept_beside
from lookalike.show.html.document import HtmlReport, sides
from lookalike.show.html.drawings import new_figure
from lookalike.show.html.markup import AGAINST, FOR, Html, table
from lookalike.show.reasons import Reason, Style, make_reason

if TYPE_CHECKING:
    from lookalike.measures.contract.base import Measure

ROUND_OFF = 1e-12  # contributions up to here are not reasons
BASELINE_ROWS = 128  # sampled rows that both rows of a pair are compared with; chosen by hand
BASELINE_PAIRS = 24  # sampled pairs explained in full: a forest takes some milliseconds for each


@dataclass(frozen=True, eq=False)
class Explanation(HtmlReport, FrameMixin):
    """What each column contributed to a similarity.

    Parameters
    ----------
    similarity, distance : float
        The two numbers that are explained.
    plus : mapping of column to float
        Contributions to the similarity, their sum. The key None holds what belongs to no column.
    minus : mapping of column to float
        Contributions against it; sums to 1 - similarity.
    factors : mapping of name to float
        Further numbers, such as the scales of the two neighborhoods.
    inner : mapping of name to Explanation
        Explanations of the measures this one is made of.
    cells : mapping of column to the pair of cells compared, for display
    baseline : mapping of column to a pair of floats
        Mean plus and minus of the column over random pairs of fitted rows; empty if unknown.
    surprisal : mapping of column to a pair of floats
        Information in the plus and the minus of the column, in bits: -log2 of the share of random
        pairs that are at least as near, and at least as far. 0: every pair is.
    reach : mapping of column to float
        The largest minus of the column between the two rows and random ones, where a measure has
        contributions against likeness only: the weight of the column.
    styles : mapping of column to Style
        How the cells of each column are written, so that reasons can be phrased.
    not_compared : tuple of str
        Columns with a weight that could not be compared in this pair: a missing cell, or a flag
        absent in both.
    """

    similarity: float
    distance: float
    plus: Mapping[str | None, float]
    minus: Mapping[str | None, float]
    factors: Mapping[str, float] = field(default_factory=dict)
    inner: Mapping[str, Explanation] = field(default_factory=dict)
    cells: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    baseline: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    surprisal: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    not_compared: tuple[str, ...] = ()
    reach: Mapping[str, float] = field(default_factory=dict)
    styles: Mapping[str, Style] = field(default_factory=dict)

    @property
    def columns(self) -> list[str | None]:
        """Columns in order of first mention, None last."""
        names = dict.fromkeys([*self.plus, *self.minus])
        return [name for name in names if name is not None] + [None] * (None in names)

    def reasons(self, n: int = 2) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
        """Return the n best reasons for and against, as (column, contribution).

        The best reason is the most surprising one among random pairs: ``surprisal`` times the
        weight of the column, so that a rare level in common comes before one that every row has.
        What every pair has is not a reason, and only what is nearer than it mostly is speaks for
        likeness. The largest difference, divided by the baseline of its column, is always among
        the reasons against, if it is larger than that baseline; no column is on both sides. Where
        nothing is known about random pairs, the largest contribution is the best reason. A measure
        that shares out only differences (``Vector``, ``Ranked``, shared leaves) has reasons for
        likeness too, of contribution 0.

        Parameters
        ----------
        n : int
            How many on each side, at most.
        """
        # The largest relative difference goes first, so that it cannot be taken as a reason for.
        largest = self._largest_difference()
        plus = [name for name in self._ranked(self.plus, 0) if name != largest][:n]
        taken = {name for name in plus if name in self.surprisal}
        minus = [name for name in self._ranked(self.minus, 1) if name not in taken][:n]
        if largest is not None and largest not in minus:
            minus = [*minus[: max(n - 1, 0)], largest][:n]
        if not minus and n > 0:
            plus, minus = self._with_largest_minus(plus)
        shares = [(name, self.plus.get(name, 0.0)) for name in plus]
        return shares, [(name, self.minus[name]) for name in minus]

    def phrases(self, n: int = 2) -> tuple[list[Reason], list[Reason]]:
        """Return the n best reasons for and against, each with a phrase that people can read.

        Parameters
        ----------
        n : int
            How many on each side, at most.
        """
        plus, minus = (
            [self._phrase(name, share, speaks_for) for name, share in side]
            for side, speaks_for in zip(self.reasons(n), (True, False), strict=True)
        )
        return plus, minus

    def _phrase(self, name: str, share: float, speaks_for: bool) -> Reason:
        plus, minus = self.plus.get(name, 0.0), self.minus.get(name, 0.0)
        bits = self.surprisal.get(name)
        known = name in self.cells and name in self.styles
        query, found = self.cells.get(name, (None, None))
        return make_reason(
            name, self.styles[name] if known else None, query, found, share, speaks_for=speaks_for,
            bits=None if bits is None else bits[0 if speaks_for else 1],
            closeness=ratio(plus, plus + minus),
        )  # fmt: skip

    def _ranked(self, contributions: Mapping[str | None, float], side: int) -> list[str]:
        """Return the columns that speak for likeness (side 0) or against it (1), best first."""
        values = {name: value for name, value in contributions.items() if value > ROUND_OFF}
        # Measures of differences have one plus under None: each column speaks for a part of it.
        if side == 0 and None in values:
            values |= {name: 0.0 for name in self.surprisal if name not in contributions}
        scores = {}
        for name, value in values.items():
            if name is None:
                continue
            near, far = self.surprisal.get(name, (1.0, 0.0))
            # More than what every random pair has.
            if near > far if side == 0 else name not in self.surprisal or far != 0:
                weight = self.plus.get(name, 0.0) + self.minus.get(name, 0.0)
                weight = max(weight, self.reach.get(name, 0.0))
                scores[name] = -weight * self.surprisal.get(name, (0.0, 0.0))[side], -value
        return sorted(scores, key=lambda name: scores[name])

    def _with_largest_minus(self, plus: list[str]) -> tuple[list[str], list[str]]:
        """Move the largest minus to the reasons against, where no column is unusually far."""
        values = {
            name: (self.surprisal.get(name) != (0, 0), value)  # first where random pairs differ
            for name, value in self.minus.items()
            if name is not None and value > ROUND_OFF
        }
        most = max(values, key=lambda name: values[name]) if values else None
        if most is None or plus == [most]:
            return plus, []
        return [name for name in plus if name != most], [most]

    def _largest_difference(self) -> str | None:
        """Return the column with the largest minus relative to its baseline.

        None where no minus is above its baseline and less usual than nearness: between two values
        in the tail of a skewed column even a large difference is a usual one.
        """
        ratios = {}
        for name, (_, baseline) in self.baseline.items():
            minus, (near, far) = self.minus.get(name, 0.0), self.surprisal.get(name, (0.0, 0.0))
            if minus > max(baseline, ROUND_OFF) and far >= near:
                ratios[name] = minus / baseline if baseline > 0 else float("inf")
        return max(ratios, key=lambda name: ratios[name]) if ratios else None

    def to_dict(self) -> dict[str, list[Any]]:
        """Return ``column``, ``plus`` and ``minus`` as lists, and the baseline if known."""
        names = self.columns
        table: dict[str, list[Any]] = {
            "column": names,
            "plus": [float(self.plus.get(name, 0.0)) for name in names],
            "minus": [float(self.minus.get(name, 0.0)) for name in names],
        }
        if self.baseline:
            pairs = [self.baseline.get(name or "", (0.0, 0.0)) for name in names]
            table["baseline_plus"], table["baseline_minus"] = map(list, zip(*pairs, strict=True))
        return table

    def to_frame(self, backend: str = "pandas") -> Any:
        """Return the contributions as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
        """
        return make_frame(self.to_dict(), backend)

    def plot(self, ax: Any = None) -> Any:
        """Draw what each column contributed: bars for and against, the strongest on top.

        Needs matplotlib (``pip install lookalike[report]``).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            To draw into; of a new figure by default.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> import lookalike as la
        >>> index = la.Index().fit({"size": [1.0, 2.5, 2.0], "color": ["red", "blue", "red"]})
        >>> axes = index.search(0, k=1)[0].explanation.plot()
        >>> [label.get_text() for label in axes.get_yticklabels()]
        ['color', 'size']
        """
        names = self.strongest
        if ax is None:
            ax = new_figure("Explanation.plot", 6, 1.2 + 0.3 * len(names)).subplots()
        sides = (("against", self.minus, AGAINST, -1), ("for", self.plus, FOR, 1))
        for label, shares, color, sign in sides:
            widths = [sign * shares.get(name, 0.0) for name in names]
            ax.barh(range(len(names)), widths, color=color, label=label)
        # Signs are drawn as text: a dollar in the name of a column would begin a formula.
        words = ["(other)" if name is None else clean(name).replace("$", r"\$") for name in names]
        ax.set_yticks(range(len(names)), words)
        ax.invert_yaxis()  # matplotlib counts from below
        ax.axvline(0, color="gray", linewidth=0.8)
        ax.set(title=f"similarity {self.similarity:.3f}", xlabel="against | for")
        ax.legend()
        return ax

    @property
    def strongest(self) -> list[str | None]:
        """Columns from the most to the least informative, None last.

        By ``surprisal`` times the weight of the column where it is known, else by the larger of the
        two contributions; columns that could not be compared come after the others.
        """

        def strength(name: str) -> tuple[float, float]:
            plus, minus = self.plus.get(name, 0.0), self.minus.get(name, 0.0)
            bits = max(self.surprisal.get(name, (0.0, 0.0)))
            return (plus + minus) * bits, max(plus, minus)

        names = [name for name in self.columns if name is not None]
        ordered: list[str | None] = [*sorted(names, key=strength, reverse=True)]
        return ordered + [None] * (None in self.columns)

    def _pair(self, name: str | None) -> tuple[str, str]:
        """Return the two cells of a column as text; empty where they are not known."""
        if name is None or name not in self.cells:
            return "", ""
        one, two = self.cells[name]
        write = self.styles[name].write if name in self.styles else short
        return write(one), write(two)

    def __str__(self) -> str:
        lines = [f"similarity {self.similarity:.3f}, distance {self.distance:.4g}"]
        width = max([len(str(name)) for name in self.columns if name is not None] + [7])
        for name in self.strongest:
            plus, minus = self.plus.get(name, 0.0), self.minus.get(name, 0.0)
            shown = "(other)" if name is None else clean(str(name))
            one, two = self._pair(name)
            cells = f"   {one} | {two}" if one or two else ""
            lines.append(f"  {shown:<{width}}  +{plus:.3f}  -{minus:.3f}{cells}")
        lines += [f"  {name} = {value:.4g}" for name, value in self.factors.items()]
        return "\n".join(lines)

    def html_title(self) -> str:
        """Return the heading of the page."""
        return f"similarity {self.similarity:.3f}, distance {self.distance:.4g}"

    def html_body(self) -> str:
        """Return a table with a bar for and a bar against per column, the strongest first."""
        # One scale for both sides, so that bars can be compared; never 0, which would divide by 0.
        top = max([*self.plus.values(), *self.minus.values(), 1e-12])
        rows = []
        for name in self.strongest:
            cells = ["(other)" if name is None else str(name)]
            cells += self._pair(name) if self.cells else ()
            minus, plus = self.minus.get(name, 0.0), self.plus.get(name, 0.0)
            rows.append([*cells, _bar(minus, top, AGAINST, "right"), _bar(plus, top, FOR, "left")])
        heads = ["column", "one", "other"] if self.cells else ["column"]
        heads += ["against", "for"]
        body = table(rows, heads, self.html_title(), text=range(len(heads)))
        reasons = self.phrases() if self.styles else ([], [])
        plus_, minus_ = ([reason.to_html() for reason in side] for side in reasons)
        return body + sides(plus_, minus_)


def _bar(value: float, top: float, color: str, side: str) -> Html:
    """Return a bar that grows toward one side; the largest contribution is 8 letters long."""
    return Html(
        f'<div style="width:8em"><div style="width:{100 * value / top:.1f}%;height:0.8em;'
        f'background:{color};float:{side}" title="{value:.4f}"></div></div>'
    )


def shared_out(total: float, parts: Mapping[str | None, float]) -> dict[str | None, float]:
    """Share a total out in the proportions of other contributions."""
    whole = sum(parts.values())
    if not whole > 0:  # no column has a contribution: the total belongs to none
        return {None: total}
    return {name: total * (part / whole) for name, part in parts.items()}


def rescaled(
    baseline: Mapping[str, tuple[float, float]], plus: float, minus: float
) -> dict[str, tuple[float, float]]:
    """Multiply the baseline by the factors that the contributions were multiplied by."""
    return {name: (plus * one, minus * other) for name, (one, other) in baseline.items()}


def ratio(part: float, whole: float) -> float:
    """Return part / whole, 0 of nothing."""
    return part / whole if whole > 0 else 0.0


# -- the baseline of random pairs ------------------------------------------------------------------
# A measure returns the differences of rows in each column (``Measure.column_differences``); the
# rest is here. The sample is drawn at the first explanation, with a fixed seed, and cached with the
# rows, so fitting takes no longer and a loaded measure draws the same one.


class ColumnDifferences(NamedTuple):
    """How much pairs of rows differ in each column, in a unit of the measure's own.

    Only the order within a column counts: what is nearer has less.

    Parameters
    ----------
    names : tuple of str
    values : float64 (pairs, columns); NaN where there is nothing to compare
    """

    names: tuple[str, ...]
    values: np.ndarray


def finish_explanation(measure: Measure, found: Explanation, a: Rows, b: Rows) -> Explanation:
    """Add the surprisal of each column and the baseline of random pairs, where not yet known.

    A pair with nothing to compare gets the similarity of ``undefined=``.

    Parameters
    ----------
    measure : Measure
    found : Explanation
    a, b : Rows of length one
    """
    if not np.isnan(found.similarity):
        return found if found.surprisal else _with_surprisal(measure, found, a, b)
    s = getattr(measure, "undefined", None)
    if s is None:
        return found
    d = measure.distance_at(s)
    return replace(found, similarity=s, distance=d, plus={None: s}, minus={None: 1 - s})


def _with_surprisal(measure: Measure, found: Explanation, a: Rows, b: Rows) -> Explanation:
    own = measure.column_differences(a, b)
    if own is None:
        return found
    sample, baseline = kept_beside(measure.rows_, "sample", lambda: _draw_baseline(measure))
    pair = [row.seen[0] for row in (a, b) if row.seen[0] >= 0]
    others = sample[~np.isin(sample.seen, pair)]  # the two rows are no random pair
    views = [measure.column_differences(row, others) for row in (a, b)] if len(others) else [own]
    differs = np.concatenate([view.values for view in views if view is not None])
    surprisal = as_bits(own.names, differs[None], own.values[:1])[0]
    # Measures with a plus for each column have weights in the contributions themselves.
    if any(name in found.plus for name in own.names):
        return replace(found, baseline=baseline, surprisal=surprisal)
    # From the unit of the differences to that of contributions: both have the same mean total.
    compared = differs[:, [name in surprisal for name in own.names]]
    total = sum(minus for _, minus in baseline.values())
    unit = ratio(total, float(compared.mean(0).sum()))
    reach = dict(zip(surprisal, unit * compared.max(0), strict=True))
    return replace(found, baseline=baseline, surprisal=surprisal, reach=reach)


def as_bits(
    names: tuple[str, ...], differs: np.ndarray, own: np.ndarray
) -> list[dict[str, tuple[float, float]]]:
    """Return the surprisal: -log2 of the shares of pairs at least as near, and at least as far.

    Columns with nothing to compare are left out.

    Parameters
    ----------
    names : tuple of str
    differs : float64 (questions or 1, pairs, columns), how much random pairs differ
    own : float64 (questions, columns), how much the two rows in question differ
    """
    # Comparisons with NaN are False, so pairs with nothing to compare are counted on neither side.
    count = (~np.isnan(differs)).sum(axis=1).astype(np.float64)
    count = np.where((count == 0) | np.isnan(own), np.nan, count)
    pair = own[:, None, :]
    # The pair itself counts as one more, so that no share is 0; ``abs`` turns -0.0 into 0.0.
    near, far = (
        np.abs(-np.log2((side.sum(axis=1) + 1) / (count + 1))).tolist()
        for side in (differs <= pair, differs >= pair)
    )
    sides = (zip(names, *bits, strict=True) for bits in zip(near, far, strict=True))
    return [{name: (f, a) for name, f, a in side if not math.isnan(f)} for side in sides]


def draw_pairs(n: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw some of n rows, always the same, and make pairs of them.

    Returns
    -------
    drawn : int64 array, positions in the order of the draw
    left, right : int64 arrays, the two rows of each pair, as positions in the draw: neighbors
    """
    # A fixed seed: reasons must be the same in every run, and after loading.
    drawn = np.random.default_rng(0).choice(n, size, replace=False)
    # Of two rows there is one pair, of one row none; otherwise the last goes with the first.
    left = np.arange(size if size > 2 else size - 1)
    return drawn, left, (left + 1) % size


def by_owner(owner: tuple[str, ...], values: np.ndarray) -> ColumnDifferences:
    """Add up the entries of each column, which are adjacent."""
    names = tuple(dict.fromkeys(owner))
    if len(names) < len(owner):
        starts = [j for j, name in enumerate(owner) if j == 0 or owner[j - 1] != name]
        values = np.add.reduceat(values, starts, axis=1)
    return ColumnDifferences(names, values)


def _draw_baseline(measure: Measure) -> tuple[Rows, dict[str, tuple[float, float]]]:
    """Draw rows, and explain some pairs of them for the mean contributions of each column."""
    rows = measure.rows_
    drawn, left, right = draw_pairs(len(rows), min(len(rows), BASELINE_ROWS))
    if hasattr(measure, "n_streamed_"):  # the rows that are left were drawn when it was fitted
        drawn = np.arange(len(rows))
    sample = rows[drawn]
    sums: dict[str, np.ndarray] = {}
    count = 0
    for i, j in zip(left[:BASELINE_PAIRS], right[:BASELINE_PAIRS], strict=True):
        pair = measure._explain(sample[i : i + 1], sample[j : j + 1])
        if np.isnan(pair.similarity):
            continue
        count += 1
        for side, contributions in enumerate((pair.plus, pair.minus)):
            for name, value in contributions.items():
                if name is not None:
                    sums.setdefault(name, np.zeros(2))[side] += value
    baseline = {name: (float(p) / count, float(m) / count) for name, (p, m) in sums.items()}
    return sample, baseline
