"""Words that mean something in tables everywhere: gaps, yes and no, calendars, units, money.

Data only; the scales are in ``scales.py``. Words stand in the form that ``fold`` gives them: lower
case, one space between words, no dots or apostrophes.
"""

from __future__ import annotations

import re

# Read as missing where everything else in the column is a number, a date, a level, a flag.
GAPS = frozenset(
    [
        "",
        "na",
        "n/a",
        "n.a.",
        "n.a",
        "#n/a",
        "#na",
        "<na>",
        "nan",
        "nat",
        "null",
        "(null)",
        "none",
        "nil",
        "-",
        "--",
        "---",
        "–",
        "—",
        "?",
        "??",
        ".",
        "..",
        "...",
        "*",
        "missing",
        "unknown",
        "unk",
        "undefined",
        "not available",
        "not applicable",
        "not reported",
        "not specified",
        "unspecified",
        "no data",
        "tbd",
        "tba",
        "blank",
        "dont know",
        "don't know",
        "don’t know",
        "do not know",
        "no answer",
        "no response",
        "not stated",
        "not asked",
        "refused",
        "declined",
        "decline to state",
        "prefer not to say",
        "prefer not to answer",
    ]
)
# Read as missing among words too, in exactly this spelling: R and pandas write gaps so.
MISSING = ("NA", "NaN", "nan", "NULL", "null")

FLAGS = (  # (no, yes)
    ("no", "yes"),
    ("n", "y"),
    ("false", "true"),
    ("f", "t"),
    ("off", "on"),
    ("nein", "ja"),
    ("nee", "ja"),
    ("nej", "ja"),
    ("non", "oui"),
    ("no", "si"),
    ("no", "sí"),
    ("não", "sim"),
    ("nie", "tak"),
    ("нет", "да"),
)
MARKS = frozenset(["x", "✓", "✔", "☑", "yes", "y", "true", "t", "ja", "oui"])

MONTHS = (
    ("january", "jan"),
    ("february", "feb"),
    ("march", "mar"),
    ("april", "apr"),
    ("may",),
    ("june", "jun"),
    ("july", "jul"),
    ("august", "aug"),
    ("september", "sep", "sept"),
    ("october", "oct"),
    ("november", "nov"),
    ("december", "dec"),
)
WEEKDAYS = (
    ("monday", "mon"),
    ("tuesday", "tue", "tues"),
    ("wednesday", "wed", "weds"),
    ("thursday", "thu", "thur", "thurs"),
    ("friday", "fri"),
    ("saturday", "sat"),
    ("sunday", "sun"),
)

CURRENCY = (
    r"(?:US\$|C\$|CA\$|A\$|AU\$|R\$|HK\$|NZ\$|S\$|[$€£¥₹₩₽₺₫₱฿₪₴₦]|Rs\.?|kr\.?|zł|Kč|Ft|"
    r"USD|EUR|GBP|JPY|CHF|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RUB|TRY|INR|CNY|HKD|SGD|KRW|BRL|MXN|"
    r"ZAR|ILS|THB|AED|SAR|UAH|IDR|PHP|VND|BTC|ETH)"
)
MULTIPLES = {"k": 1e3, "m": 1e6, "mn": 1e6, "mio": 1e6, "b": 1e9, "bn": 1e9}
UNITS = frozenset(
    """% ‰ ° °c °f c f k kg g mg µg ug t lb lbs oz st m km cm mm µm um nm mi mile ft in yd m2 m² km2
    km² cm2 cm² m3 m³ cm3 sqft sqm ha l dl cl ml gal s sec secs min mins h hr hrs d day days wk week
    weeks mo month months y yr yrs year years ms us ns hz khz mhz ghz b kb mb gb tb bit bits w kw mw
    kwh wh v mv a ma ah mah j kj cal kcal n pa kpa hpa mpa bar psi mph kmh km/h km/hr m/s kn mpg
    kmpl km/kg l/100km cc hp bhp ps nm rpm px pt dpi db ppm ppb mol mmol/l mg/dl g/dl bpm pp pct
    percent x cwt""".split()
)


def fold(word: str) -> str:
    """Bring the spellings of a word together (case folding): "Very_High" is "very high"."""
    plain = re.sub(r"[.'’]", "", word.casefold())
    return re.sub(r"[\s_/]+|(?<=\w)-(?=\w)", " ", plain).strip()
