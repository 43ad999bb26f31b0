"""Reasons: two cells of a column as a phrase, for numbers, texts, sets, sequences and the like."""

import datetime as dt
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from typing import Any

from lookalike._runtime.text import clean, plain, short, spark
from lookalike.show.html.drawings import spark_svg
from lookalike.show.html.markup import Html, escape
from lookalike.show.reasons.style import Style
from lookalike.table.model.kind import EARTH_RADIUS, PLACE


@dataclass(frozen=True, eq=False)
class Reason:
    """Why two rows are alike, or are not, in one column.

    Parameters
    ----------
    column : str
    style : Style or None
        How the column is written (see ``style_of``); None where the cells are not known.
    query, found : cells of the column, as ``Column.cell`` gives them; None where missing
        The two cells that were compared.
    share : float
        What the column adds to the similarity, or to 1 minus it.
    speaks_for : bool
        Whether it is a reason for likeness, or one against it.
    bits : float, optional
        How much it says, as in ``Explanation.surprisal``: -log2 of the share of random pairs that
        are at least as near (for) or as far (against); decides what is called close.
    closeness : float
        From 0 to 1, how near the two cells are: how much of what the column could contribute
        speaks for likeness. Decides it where ``bits`` is not known.

    Examples
    --------
    >>> import lookalike as la
    >>> table = la.read_table({"length": [121.0, 93.0, 300.0], "mpaa": ["PG", "PG", "R"]})
    >>> from lookalike.show.reasons import style_of
    >>> style = style_of(table["length"])
    >>> Reason("length", style, 121.0, 300.0, 0.2, speaks_for=False, bits=5.0).text
    'length 121 against 300 (much higher)'
    """

    column: str
    style: Style | None
    query: Any
    found: Any
    share: float
    speaks_for: bool = True
    bits: float | None = None
    closeness: float = 0.5

    @property
    def kind(self) -> str:
        """What the column holds, one of ``KINDS``; "" where it is not known."""
        return "" if self.style is None else self.style.kind.name

    @property
    def form(self) -> Style:
        """The style of a column whose cells are known."""
        assert self.style is not None
        return self.style

    @cached_property
    def name(self) -> str:
        """The name of the column, safe to show."""
        return clean(self.column)

    @cached_property
    def text(self) -> str:
        """The phrase."""
        # Measures of whole rows know no cells; the share of the column is all there is.
        if self.style is None:
            return f"{self.name} {'alike' if self.speaks_for else 'differs'}"
        if self.query is None or self.found is None:
            both = self.query is None and self.found is None
            where = "in both" if both else "in the query" if self.query is None else "here"
            return f"{self.name} missing {where}"
        return PHRASES[self.kind](self)

    def degree(self, high: float, low: float, nearness: tuple[float, float]) -> int:
        """Return 2 where the pair is very informative, 1 where it is informative, else 0.

        Parameters
        ----------
        high, low : float
            Bits from which the degree is 2, and 1.
        nearness : pair of floats
            The same on the scale of ``closeness``, where bits are not known.
        """
        value = self.bits
        if value is None:
            value = self.closeness if self.speaks_for else 1 - self.closeness
            high, low = nearness
        return 2 if value >= high else int(value >= low)

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
            spark_svg(cell, f"{self.name} of {who}", bars=self.kind != "series")
            for cell, who in zip(cells, ("the query", "this row"), strict=True)
        )
        name = escape(self.column)
        if self.speaks_for:
            return Html(f"{name} alike: {one} and {other}")
        return Html(f"{name} {one} against {other}")

    def __str__(self) -> str:
        return self.text


make_reason = Reason  # of two cells of a column: all there is to make is the object


def sentence(plus: Iterable[Reason], minus: Iterable[Reason]) -> str:
    """Join reasons for and against into one line.

    Examples
    --------
    >>> for_ = [Reason(name, None, None, None, 0.5) for name in ("genres", "year")]
    >>> sentence(for_, [Reason("votes", None, None, None, 0.1, speaks_for=False)])
    'genres alike; year alike; but votes differs'
    """
    # Reasons for come first, also where those against are stronger.
    good, bad = ("; ".join(reason.text for reason in side) for side in (plus, minus))
    return "; but ".join(side for side in (good, bad) if side)


# -- one function per kind ------------------------------------------------------------------------


MAX_SHARED_WORDS = 4  # that are named
MAX_QUOTED_WORDS = 12  # of a text; longer ones are not quoted
LEVEL_COUNTS = ("", "one level", "two levels", "three levels")
YES = {"1", "1.0", "true", "yes", "y", "x"}
NO = {"0", "0.0", "false", "no", "n", ""}
_WORD = re.compile(r"\w+")
_STOP_WORDS = frozenset("a an and at by for from in is it of on or the to with".split())


def category_phrase(pair: Reason) -> str:
    """Compare two categories.

    Examples
    --------
    >>> from lookalike.show.reasons.style import Style
    >>> from lookalike.table import Kind
    >>> Reason("mpaa", Style(Kind("category")), "PG", "PG-13", 0.1, speaks_for=False).text
    'mpaa PG-13, not PG'
    """
    query, found = (pair.form.write(cell) for cell in (pair.query, pair.found))
    same = pair.query == pair.found
    return _compare(pair, query, found, same, "close", f"{found}, not {query}")


def _compare(pair: Reason, query: str, found: str, same: bool, near: str, far: str = "") -> str:
    """Return two cells in words as the same, as near in some way, or as far apart."""
    if same:
        return f"same {pair.name}: {found}"
    if pair.speaks_for:
        return f"{pair.name} {near}: {query} and {found}"
    return f"{pair.name} {far or f'{query} against {found}'}"


def order_phrase(pair: Reason) -> str:
    """Count the levels between two cells."""
    levels = [*pair.form.kind.levels]
    # New rows may have levels that the fitted column did not have.
    known = pair.query in levels and pair.found in levels
    if pair.query == pair.found or not known or pair.form.kind.role:
        return category_phrase(pair)
    apart = levels.index(pair.found) - levels.index(pair.query)
    # Counted in levels: an order has no other distance that a reader would know.
    levels_apart = dict(enumerate(LEVEL_COUNTS)).get(abs(apart), f"{abs(apart)} levels")
    query, found = (pair.form.write(cell) for cell in (pair.query, pair.found))
    if pair.speaks_for:
        return f"{pair.name} {levels_apart} apart: {query} and {found}"
    word = "higher" if apart > 0 else "lower"
    return f"{pair.name} {levels_apart} {word}: {found}, not {query}"


def flag_phrase(pair: Reason) -> str:
    """Compare two flags; levels other than yes and no are compared as categories."""
    levels = pair.form.kind.levels
    words = [str(level).strip().casefold() for level in levels]
    is_flag = len(levels) == 2 and words[0] in NO and words[1] in YES
    if pair.form.kind.role == "answer" or not is_flag:
        return category_phrase(pair)
    if pair.query == pair.found:
        return f"{pair.name} in {'both' if pair.found == levels[1] else 'neither'}"
    return f"{pair.name} only {'here' if pair.found == levels[1] else 'in the query'}"


def text_phrase(pair: Reason) -> str:
    """Name the words that two texts share, or quote both."""
    if pair.query == pair.found:
        return f"same {pair.name}: {_quote(pair.found)}"
    # Without case, but each word is shown as the second text spells it.
    ours, theirs = _words(pair.query), _words(pair.found)
    shared = [word for word in theirs if word in ours]
    # Stop words only where there are no others.
    shared = [word for word in shared if word not in _STOP_WORDS] or shared
    long = min(len(ours), len(theirs)) > MAX_QUOTED_WORDS
    if long:  # of many words the longest are usually the rarest
        shared.sort(key=len, reverse=True)
    if pair.speaks_for and shared:
        named = " ".join(theirs[word] for word in shared[:MAX_SHARED_WORDS])
        more = len(shared) - MAX_SHARED_WORDS
        return f"{pair.name} shares “{named}”" + (f" and {more} more words" if more > 0 else "")
    if pair.speaks_for:
        return f"{pair.name} spelled alike: {_quote(pair.query)} and {_quote(pair.found)}"
    if not long:
        return f"{pair.name} {_quote(pair.found)}, not {_quote(pair.query)}"
    few = f"{len(shared):,} of {len(ours):,} words shared"
    return f"{pair.name} differs: only {few}" if shared else f"{pair.name} shares no word"


def _words(text: str) -> dict[str, str]:
    """Return the words of a text without case, each with its spelling, in their order."""
    return {word.casefold(): clean(word) for word in _WORD.findall(str(text))}


def _quote(text: Any) -> str:
    return f"“{short(text, 40)}”"


# Chosen by hand.
MAX_ROUNDING = 0.05  # two numbers this near to a round one are both "about" it
MIN_GAP = 0.1  # of the range without its tails: farther apart, "high in both" says more than both
MIN_RATIO = 10  # from which a difference is not "a little"
CLOSE = ("similar", "close", "very close")
FAR = ("a little ", "", "much ")


def number_phrase(pair: Reason) -> str:
    """Compare two numbers: the same, close, or which is higher.

    Examples
    --------
    >>> from lookalike.show.reasons.style import Style
    >>> from lookalike.table import Kind
    >>> style = Style(Kind("number"), grouped=True)
    >>> Reason("votes", style, 134640.0, 58870.0, 0.1, speaks_for=False, bits=2.0).text
    '134,640 votes against 58,870 (lower)'
    >>> Reason("votes", style, 134640.0, 131002.0, 0.1, speaks_for=True, bits=6.0).text
    'both about 130,000 votes'
    >>> Reason("votes", style, 66030.0, 639.0, 0.1, speaks_for=False, bits=0.1).text
    '66,030 votes against 639 (lower)'
    """
    query, found = _amount(pair.query), _amount(pair.found)
    texts = [pair.form.write(cell) for cell in (pair.query, pair.found)]
    if texts[0] == texts[1]:
        same = f"same {pair.name}: {texts[1]}"
        plural = texts[1] != "1"  # "both 1 seats" reads badly
        return f"both {texts[1]} {pair.name}" if plural and _is_noun(pair) else same
    if period := pair.form.kind.period:
        # How far apart they are the shorter way round: 2 for the hours 23 and 1.
        straight = abs(query - found) % period
        apart = min(straight, period - straight)
        cell = dt.timedelta(seconds=apart) if pair.form.kind.source == "duration" else apart
        both = " and ".join(texts) if pair.speaks_for else ", not ".join(texts[::-1])
        return f"{pair.name} {pair.form.write(cell)} apart: {both}"
    return (_alike if pair.speaks_for else _against)(pair, query, found)


def _alike(pair: Reason, query: float, found: float) -> str:
    """Say how two numbers are near each other: about a round one, high in both, or close."""
    about = _round(pair, query, found)
    if about is not None and pair.degree(4, 2, (0.97, 0.9)):
        noun = _is_noun(pair)
        return f"both about {about} {pair.name}" if noun else f"{pair.name} about {about} in both"
    first, second = _both(pair)
    if tail := _tail(pair, query, found):
        return f"{pair.name} {tail} in both: {first} and {second}"
    word = CLOSE[pair.degree(5, 2, (0.97, 0.9))]
    # By ranks the double may be near: most rows are even farther.
    twice = 0 < 2 * min(query, found) <= max(query, found)
    if word == CLOSE[0] and twice and not pair.form.is_date:
        word = "nearer than most"
    return f"{pair.name} {word}: {first} and {second}"


def _against(pair: Reason, query: float, found: float) -> str:
    first, second = _both(pair)
    # 4 bits: one random pair in 16 is as far apart; half a bit: most pairs are.
    degree = pair.degree(4, 0.5, (0.6, 0.05))
    if not pair.form.is_date and 0 < MIN_RATIO * min(query, found) <= max(query, found):
        degree = max(degree, 1)  # not "a little", even where few rows lie between them
    words = "lower", "higher"
    if pair.form.is_date:
        words = "earlier", "later"
    elif pair.form.kind.source == "duration":
        words = "shorter", "longer"
    start = f"{first} {pair.name}" if _is_noun(pair) else f"{pair.name} {first}"
    return f"{start} against {second} ({FAR[degree]}{words[found > query]})"


def _both(pair: Reason) -> tuple[str, str]:
    """Format both cells; a unit follows only the second."""
    spaced = pair.form.unit not in ("", "%")
    return pair.form.write(pair.query, unit=not spaced), pair.form.write(pair.found)


def _round(pair: Reason, query: float, found: float) -> str | None:
    """Return the round number that both amounts are near to; None if none is."""
    style = pair.form
    if style.is_date or style.kind.source or style.kind.role == "time":
        return None
    # Two significant digits of the mean.
    middle = (query + found) / 2
    near = float(f"{middle:.1e}")
    # Numbers of one or two digits are round already: "about 30" would say less than 29 and 31.
    digits = max(len(f"{abs(v):.6g}".replace(".", "").strip("0")) for v in (query, found))
    apart = max(abs(near - query), abs(near - found))
    if digits < 3 or near == 0 or apart > MAX_ROUNDING * abs(near):
        return None
    text = style.write(near)
    zeros = "." + "0" * style.decimals
    return text.replace(zeros, "") if style.decimals > 0 and near == round(near) else text


def _tail(pair: Reason, query: float, found: float) -> str:
    """Return "high" or "low" where both numbers are in the same tail of the column."""
    style = pair.form
    if abs(query - found) < MIN_GAP * (style.high - style.low):
        return ""  # so near that both numbers say it
    if min(query, found) >= style.high:
        return "late" if style.is_date else "high"
    if max(query, found) <= style.low:
        return "early" if style.is_date else "low"
    return ""


def _is_noun(pair: Reason) -> bool:
    """Whether the name can follow the number, as in "134,640 votes"."""
    name, style = pair.name, pair.form
    # English plurals only: "134,640 votes" reads well, "1.85 height" does not.
    plain = name.isalpha() and name.islower() and len(name) > 3 and name.endswith("s")
    counts = style.decimals == 0 and not style.unit and not style.is_date and not style.kind.source
    is_money = style.kind.reading is not None and bool(style.kind.reading.currency)
    return plain and counts and not name.endswith(("ss", "us", "is")) and not is_money


def _amount(cell: Any) -> float:
    # As UTC: differences of local times would depend on the machine.
    if isinstance(cell, dt.datetime):
        return cell.replace(tzinfo=dt.UTC).timestamp()
    return cell.total_seconds() if isinstance(cell, dt.timedelta) else float(cell)


MAX_SET_ITEMS = 4  # that are named
MAX_SEQUENCE_ITEMS = 5  # that are shown
MAX_SEQUENCE_CHARACTERS = 40  # that they may take together
MAX_MATCHED_ITEMS = 200  # of a sequence: matching takes quadratic time
N_BARS = 12  # of a sparkline in text
DRAWN = ("series", "histogram", "vector")  # kinds that are drawn in HTML


def set_phrase(pair: Reason) -> str:
    """Name the items that two sets share, and those that only one has.

    Examples
    --------
    >>> from lookalike.show.reasons.style import Style
    >>> from lookalike.table import Kind
    >>> sets = {"Action", "Drama"}, {"Action", "Drama", "Romance"}
    >>> Reason("genres", Style(Kind("set")), *map(frozenset, sets), 0.1).text
    'genres: both Action, Drama (only here Romance)'
    """
    query, found = frozenset(pair.query), frozenset(pair.found)
    if query == found:
        return f"same {pair.name}: {_list(query)}" if query else f"{pair.name} empty in both"
    shared, differences = query & found, {"here": found - query, "in the query": query - found}
    only = [f"only {where} {_list(items)}" for where, items in differences.items() if items]
    if not shared:
        return f"{pair.name}: {_list(found)}, not {_list(query)}"
    if pair.speaks_for:
        return f"{pair.name}: both {_list(shared)} ({', '.join(only)})"
    return f"{pair.name}: {', '.join(only)} (both {_list(shared)})"


def sequence_phrase(pair: Reason) -> str:
    """Name the longest run of items that two sequences share (longest common block)."""
    query, found = tuple(pair.query), tuple(pair.found)
    if query == found:
        return f"same {pair.name}: {_run(query)}"
    if pair.speaks_for:
        ours, theirs = ([_item(x) for x in cell[:MAX_MATCHED_ITEMS]] for cell in (query, found))
        # autojunk would skip items that occur often in long sequences.
        block = SequenceMatcher(None, ours, theirs, autojunk=False).find_longest_match()
        if block.size:
            run = _run(found[block.b : block.b + block.size])
            sizes = f"{block.size:,} of {len(query):,} and {len(found):,} items"
            return f"{pair.name}: both {run} ({sizes})"
        return f"{pair.name} alike: {_run(query)} and {_run(found)}"
    return f"{pair.name}: {_run(found)}, not {_run(query)}"


def shape_phrase(pair: Reason) -> str:
    """Draw two vectors of numbers as small bars."""
    if pair.form.kind.role == PLACE:
        return _place_phrase(pair)
    query, found = (short_bars(cell) for cell in (pair.query, pair.found))
    same = _values(pair.query) == _values(pair.found)
    near = "very similar" if pair.degree(5, 2, (0.97, 0.9)) == 2 else "similar"
    return _compare(pair, query, found, same, near)


def _place_phrase(pair: Reason) -> str:
    """Say how many kilometers two places are apart, by the haversine formula.

    Examples
    --------
    >>> from lookalike.show.reasons.style import Style
    >>> from lookalike.table import Kind
    >>> place = Style(Kind("vector", role="place"))
    >>> Reason("lat, lon", place, [52.52, 13.4], [48.14, 11.58], 0.1).text
    'lat, lon 504 km apart'
    """
    one, other = ([math.radians(degrees) for degrees in cell] for cell in (pair.query, pair.found))
    across = math.cos(one[0]) * math.cos(other[0]) * math.sin((other[1] - one[1]) / 2) ** 2
    share = math.sin((other[0] - one[0]) / 2) ** 2 + across
    apart = 2 * EARTH_RADIUS * math.asin(min(1.0, math.sqrt(share)))
    if not apart:
        return f"same {pair.name}: ({', '.join(f'{value:g}' for value in pair.found)})"
    return f"{pair.name} {f'{apart:,.0f}' if apart >= 10 else f'{apart:.2g}'} km apart"


def graph_phrase(pair: Reason) -> str:
    """Compare the sizes of two graphs."""
    cells = pair.query, pair.found
    query, found = (f"{len(c.nodes):,} nodes with {len(c.edges):,} edges" for c in cells)
    return _compare(pair, query, found, pair.query == pair.found, "alike")


def object_phrase(pair: Reason) -> str:
    """Show two cells of an unknown kind."""
    query, found = (short(cell, 32) for cell in (pair.query, pair.found))
    if plain(pair.query) == plain(pair.found):
        return f"same {pair.name}: {found}"
    return f"{pair.name} {query} {'and' if pair.speaks_for else 'against'} {found}"


def short_bars(cell: Any) -> str:
    """Draw numbers as bars of text; up to three are written as numbers."""
    values = _values(cell)
    if len(values) <= 3:
        return "(" + ", ".join(f"{value:.3g}" for value in values) + ")"
    return spark(values, N_BARS)


def _values(cell: Any) -> list[float]:
    # Infinite and missing values have no height.
    values = [float(value) for value in (cell.tolist() if hasattr(cell, "tolist") else cell)]
    return [value if abs(value) < float("inf") else 0.0 for value in values]


def _list(items: Iterable[Any]) -> str:
    # plain sorts the items, so that a set is always listed in the same order.
    names = [clean(str(item)) for item in plain(frozenset(items))]
    more = len(names) - MAX_SET_ITEMS
    named = ", ".join(short(name, 24) for name in names[:MAX_SET_ITEMS])
    return (named or "none") + (f" and {more:,} more" if more > 0 else "")


def _run(items: Sequence[Any]) -> str:
    if not items:
        return "(empty)"
    steps = [short(_item(item), 16) for item in items[:MAX_SEQUENCE_ITEMS]]
    while len(steps) > 1 and sum(map(len, steps)) > MAX_SEQUENCE_CHARACTERS:
        steps.pop()
    return " → ".join([*steps, *(["…"] if len(steps) < len(items) else [])])


def _item(item: Any) -> str:
    if isinstance(item, frozenset | set):
        return "+".join(str(x) for x in plain(item)) or "∅"
    return str(plain(item))


# Kind of a column -> how two of its cells are compared.
PHRASES: Mapping[str, Callable[[Reason], str]] = {
    "number": number_phrase,
    "category": category_phrase,
    "order": order_phrase,
    "flag": flag_phrase,
    "text": text_phrase,
    "set": set_phrase,
    "sequence": sequence_phrase,
    **dict.fromkeys(DRAWN, shape_phrase),
    "graph": graph_phrase,
    "object": object_phrase,
}
