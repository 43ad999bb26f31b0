"""How the text of a column was read, kept so that new rows are read alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lookalike.saving.encode import saveable
from lookalike.saving.fields import Choice, Fields, Text, TupleOf

DATE_FORMS = (
    "ymd",
    "dmy",
    "mdy",
    "month day year",
    "day month year",
    "year month day",
    "year-month",
    "month/year",
    "month year",
    "year month",
    "week",
    "quarter",
    "quarter year",
    "compact",
    "clock",
)
"""Names of the ways to write dates; ``dates_text.date_forms`` has a pattern for each."""


@saveable
@dataclass(frozen=True)
class Reading:
    """How written cells become values (the parser's settings, decided once from all cells).

    Parameters
    ----------
    what : str
        "number", "date", "time", "mark" (an x or nothing), "set", "list" (in brackets), "level" (an
        order that the caller did not declare), or "" where cells stay words.
    decimal : str
        The decimal separator of numbers.
    thousands : str
        What groups the digits of large numbers; "" for nothing.
    currency : str
        Symbol or code beside the amounts.
    unit : str
        What follows every number, such as "kg" or "%".
    form : str
        How dates are written: "ymd", "dmy", "mdy", or another of ``DATE_FORMS``.
    separator : str
        What stands between the items of a set.
    gaps : tuple of str
        Words that were read as missing.
    """

    FIELDS: ClassVar[Fields] = {
        "what": Choice("", "number", "date", "time", "mark", "set", "list", "level"),
        "decimal": Choice(".", ","),
        "thousands": Text(),
        "currency": Text(),
        "unit": Text(),
        "form": Choice("", *DATE_FORMS),
        "separator": Text(),
        "gaps": TupleOf(Text()),
    }

    what: str = ""
    decimal: str = "."
    thousands: str = ""
    currency: str = ""
    unit: str = ""
    form: str = ""
    separator: str = ""
    gaps: tuple[str, ...] = ()
