"""A reason: one column, its two cells, and a phrase about them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lookalike._runtime.text import clean
from lookalike.show.html.drawings import spark_svg
from lookalike.show.html.markup import Html, escape
from lookalike.show.reasons.cells import DRAWN, PHRASES, Pair
from lookalike.show.reasons.style import Style


@dataclass(frozen=True)
class Reason:
    """Why two rows are alike, or are not, in one column.

    Parameters
    ----------
    column : str
    kind : str
        What the column holds, one of ``KINDS``; "" where it is not known.
    share : float
        What the column adds to the similarity, or to 1 minus it.
    query, found
        The two cells that were compared; None where missing.
    text : str
        The phrase.
    speaks_for : bool
        Whether it is a reason for likeness, or one against it.
    """

    column: str
    kind: str
    share: float
    query: Any
    found: Any
    text: str
    speaks_for: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return column, kind, share, query, found and text."""
        names = ("column", "kind", "share", "query", "found", "text")
        return {name: getattr(self, name) for name in names}

    def to_html(self) -> Html:
        """Return the phrase as HTML; series, histograms and vectors as a small drawing."""
        cells = self.query, self.found
        # Up to three numbers are written, not drawn (see ``short_bars``).
        if self.kind not in DRAWN or any(cell is None or len(cell) < 4 for cell in cells):
            return Html(escape(self.text))
        one, other = (
            spark_svg(cell, f"{clean(self.column)} of {who}", bars=self.kind != "series")
            for cell, who in zip(cells, ("the query", "this row"), strict=True)
        )
        name = escape(self.column)
        if self.speaks_for:
            return Html(f"{name} alike: {one} and {other}")
        return Html(f"{name} {one} against {other}")

    def __str__(self) -> str:
        return self.text


def make_reason(
    column: str,
    style: Style | None,
    query: Any,
    found: Any,
    share: float,
    *,
    speaks_for: bool,
    bits: float | None = None,
    closeness: float = 0.5,
) -> Reason:
    """Return why two cells of a column make their rows alike, or not.

    Parameters
    ----------
    column : str
    style : Style or None
        How the column is written (see ``style_of``); None where the cells are not known.
    query, found : cells of the column, as ``Column.cell`` gives them; None where missing
    share : float
        What the column contributes.
    speaks_for : bool
        Whether the column is a reason for likeness, or one against it.
    bits : float, optional
        How much it says, as in ``Explanation.surprisal``; decides what is called close.
    closeness : float
        From 0 to 1, how near the two cells are: decides it where ``bits`` is not known.

    Examples
    --------
    >>> import lookalike as la
    >>> table = la.read_table({"length": [121.0, 93.0, 300.0], "mpaa": ["PG", "PG", "R"]})
    >>> from lookalike.show.reasons import style_of
    >>> style = style_of(table["length"])
    >>> make_reason("length", style, 121.0, 300.0, 0.2, speaks_for=False, bits=5.0).text
    'length 121 against 300 (much higher)'
    """
    kind = "" if style is None else style.kind.name
    # Measures of whole rows know no cells; the share of the column is all there is.
    if style is None:
        text = f"{clean(column)} {'alike' if speaks_for else 'differs'}"
    elif query is None or found is None:
        both = query is None and found is None
        where = "in both" if both else "in the query" if query is None else "here"
        text = f"{clean(column)} missing {where}"
    else:
        text = PHRASES[kind](Pair(column, style, query, found, speaks_for, bits, closeness))
    return Reason(column, kind, share, query, found, text, speaks_for)


def sentence(plus: Iterable[Reason], minus: Iterable[Reason]) -> str:
    """Join reasons for and against into one line.

    Examples
    --------
    >>> for_ = [Reason("genres", "set", 0.5, None, None, "same genres: Action")]
    >>> against = [Reason("votes", "number", 0.1, 1, 2, "1 votes against 2 (higher)", False)]
    >>> sentence(for_, against)
    'same genres: Action; but 1 votes against 2 (higher)'
    """
    # Reasons for come first, also where those against are stronger.
    good, bad = ("; ".join(reason.text for reason in side) for side in (plus, minus))
    return "; but ".join(side for side in (good, bad) if side)
