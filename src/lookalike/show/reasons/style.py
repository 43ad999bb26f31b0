"""How the cells of a column are formatted: unit, decimals, dates, tails."""

import datetime as dt
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike._runtime.text import clean, short
from lookalike.table.model.kind import Kind
from lookalike.table.model.table import Column, Table

MAX_SAMPLE_CELLS = 1024  # that the style is read from
MIN_COMPUTED_DECIMALS = 6  # from here on a number was computed, not typed
MAX_PADDED_DECIMALS = 2  # up to which all cells of a column have the same number of decimals
MIN_GROUPED = 10_000  # a column that reaches it has thousands separators: years do not
MIN_CELLS_FOR_TAILS = 20  # with fewer, none is called high or low
HIGH_QUANTILE = 0.9  # above it a cell is high for the column, below 1 minus it low
MONTHS = ("year-month", "month/year", "month year", "year month")
QUARTERS = ("quarter", "quarter year")
YEAR = re.compile(r"(^|[^a-z])(year|yr|jahr|annee|año)s?([^a-z]|$)|Year", re.IGNORECASE)
DAY = 86_400  # seconds
MAX_CELL_CHARACTERS = 32  # inside a phrase


@dataclass(frozen=True)
class Style:
    """The format of a column, so that a phrase reads like the column.

    Parameters
    ----------
    kind : Kind
    decimals : int
        Digits after the point that the column has; -1 where numbers were computed.
    grouped : bool
        Whether there are thousands separators.
    is_year : bool
        Whether the numbers are years.
    whole_days : bool
        Whether no date of the column has a time of day.
    time_of_day : bool
        Whether the times are points of a day, not durations: below 24 hours, some in the afternoon.
    low, high : float
        Numbers at or beyond which a cell is low or high for the column; NaN where not known.
    """

    kind: Kind
    decimals: int = 0
    grouped: bool = False
    is_year: bool = False
    whole_days: bool = True
    time_of_day: bool = False
    low: float = float("nan")
    high: float = float("nan")

    @property
    def is_date(self) -> bool:
        """Whether the cells are points in time."""
        return self.kind.source == "datetime" or self.is_year or self.time_of_day

    @property
    def unit(self) -> str:
        """The unit after every number of the column, such as "kg"; "" for none."""
        reading = self.kind.reading
        return "" if reading is None else reading.unit

    def write(self, cell: Any, *, unit: bool = True) -> str:
        """Format a cell as the column does.

        Parameters
        ----------
        cell : value of the column, None where it is missing
        unit : bool
            Whether to write the unit as well.

        Examples
        --------
        >>> Style(Kind("number"), decimals=1, grouped=True).write(134640.0)
        '134,640.0'
        """
        if isinstance(cell, dt.datetime):
            return self._write_date(cell)
        if isinstance(cell, dt.timedelta):
            return _write_duration(cell.total_seconds())
        if isinstance(cell, bool) or not isinstance(cell, int | float):
            return short(cell, MAX_CELL_CHARACTERS)
        if self.kind.role == "time":
            hours, rest = divmod(float(cell), 3600)
            minutes, left = divmod(rest, 60)
            return f"{hours:02.0f}:{minutes:02.0f}" + (f":{left:02.0f}" if left else "")
        return self._write_number(float(cell), unit)

    def _write_number(self, value: float, unit: bool) -> str:
        text = self._digits(value)
        reading = self.kind.reading
        if reading is None or not np.isfinite(value):
            return text
        # Both separators change places, so one of them is parked as a NUL.
        if reading.decimal == ",":
            text = text.replace(",", "\0").replace(".", ",").replace("\0", reading.thousands or ".")
        elif reading.thousands not in ("", ","):
            text = text.replace(",", reading.thousands)
        if reading.currency:
            # Codes follow the number (5 EUR), symbols precede it ($5).
            money = clean(reading.currency)
            text = f"{text} {money}" if money.isalpha() else f"{money}{text}"
        if unit and reading.unit:
            text += ("" if reading.unit == "%" else " ") + clean(reading.unit)
        return text

    def _digits(self, value: float) -> str:
        if not np.isfinite(value):
            return "infinite" if value > 0 else "minus infinite"
        if abs(value) >= 1e9 and not self.is_year:
            return f"{value / 1e9:.4g}G"
        millions = f"{value / 1e6:.4g}"
        # Only where four digits are exact.
        if abs(value) >= 1e6 and float(millions) * 1e6 == value and not self.is_year:
            return millions + "M"
        if self.decimals < 0:
            return f"{value:.4g}"
        text = f"{value:{',' if self.grouped else ''}.{self.decimals}f}"
        # Prices and rates keep their zeros (2.50); those of more decimals would only be padding.
        return text.rstrip("0").rstrip(".") if self.decimals > MAX_PADDED_DECIMALS else text

    def _write_date(self, cell: dt.datetime) -> str:
        form = "" if self.kind.reading is None else self.kind.reading.form
        if form in MONTHS:
            return f"{cell:%Y-%m}"
        if form in QUARTERS:
            return f"{cell.year} Q{(cell.month + 2) // 3}"
        return f"{cell:%Y-%m-%d}" if self.whole_days else f"{cell:%Y-%m-%d %H:%M}"


class Styles(Mapping[str, Style]):
    """The styles of the compared columns of a table, each computed on first use.

    Parameters
    ----------
    table : Table

    Examples
    --------
    >>> import lookalike as la
    >>> Styles(la.read_table({"price": [2.5, 3.25]}))["price"].decimals
    2
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self._known: dict[str, Style] = {}

    def __getitem__(self, name: str) -> Style:
        if name not in self._known:
            self._known[name] = style_of(self._table[name])
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._table or name in self._table.joined

    def write(self, column: Column, cell: Any, longest: int) -> str:
        """Format a cell: numbers as their column does, if it is compared, and others shortened."""
        styled = column.kind.name == "number" and cell is not None and column.name in self
        return self[column.name].write(cell) if styled else short(cell, longest)

    def __iter__(self) -> Iterator[str]:
        return iter(self._table.names)

    def __len__(self) -> int:
        return len(self._table.columns)


def style_of(column: Column) -> Style:
    """Infer the format of a column from some of its cells, evenly spread.

    Examples
    --------
    >>> import lookalike as la
    >>> table = la.read_table({"year": [1977.0, 1980.0], "votes": [134640.0, 970.0]})
    >>> style_of(table["year"]).write(1977.0), style_of(table["votes"]).write(134640.0)
    ('1977', '134,640')
    """
    if column.kind.name != "number":
        return Style(column.kind)
    # Evenly spread, not the first cells: tables are often sorted.
    step = max(1, len(column) // MAX_SAMPLE_CELLS)
    values = np.asarray(column.values[::step], dtype=np.float64)
    # 4-byte numbers are formatted with their own digits, not with those of the nearest double.
    written = values if column.values.dtype == np.float64 else column.values[::step]
    finite = np.isfinite(values)
    values, written = values[finite], written[finite]
    if not len(values):
        return Style(column.kind)
    # Deciles, which outliers do not move.
    low, high = np.quantile(values, [1 - HIGH_QUANTILE, HIGH_QUANTILE])
    tails = high > low and len(values) >= MIN_CELLS_FOR_TAILS
    whole = bool((values == np.round(values)).all())
    ends = float(values.min()), float(values.max())
    return Style(
        column.kind,
        decimals=0 if whole else _decimals(written),
        grouped=bool(np.abs(values).max() >= MIN_GROUPED),
        is_year=whole and column.kind.source == "" and _are_years(column.name, *ends),
        whole_days=bool((values % DAY == 0).all()),
        time_of_day=column.kind.role == "time" and bool(DAY > values.max() >= high >= DAY / 2),
        **({"low": float(low), "high": float(high)} if tails else {}),
    )


def _are_years(name: str, first: float, last: float) -> bool:
    # A column called year may hold any year; without the name only plausible ones are years.
    named = bool(YEAR.search(name)) and last < 3000
    return first >= 1000 and (named or first >= 1800 > last - 300)


def _decimals(values: np.ndarray) -> int:
    """Return the digits after the point; -1 where there are too many to have been typed."""
    texts = [np.format_float_positional(value, trim="-") for value in values]
    most = max(len(text.partition(".")[2]) for text in texts)
    return most if most < MIN_COMPUTED_DECIMALS else -1


def _write_duration(seconds: float) -> str:
    # Whole hours of several days are written as days, not as 72:00:00.
    if abs(seconds) >= DAY and seconds % 3600 == 0:
        days, hours = divmod(seconds / 3600, 24)
        return f"{days:g} d" + (f" {hours:g} h" if hours else "")
    sign, seconds = ("-" if seconds < 0 else ""), abs(seconds)
    hours, rest = divmod(seconds, 3600)
    minutes, left = divmod(rest, 60)
    return f"{sign}{hours:.0f}:{minutes:02.0f}:{left:02.0f}"
