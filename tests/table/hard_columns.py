"""Columns as they come from the world, written here, with what they should be read as.

Each case is (name of the column, cells as text, label, aside, and, where two readings are close,
the second one). A label is the kind, or its role where it has one.
"""

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    name: str
    cells: list
    label: str
    aside: bool = False
    close: str | None = None  # None: not looked at; "": nothing comes close
    values: list | None = None  # the first cells, where they are worth a look


def _many(pattern, n=24):
    return [pattern.format(i) for i in range(n)]


UUIDS = [f"123e4567-e89b-12d3-a456-4266141740{i:02d}" for i in range(24)]
PEOPLE = ["Ada Byron", "Alan Kay", "Grace Moe", "Edsger Vim", "Donald Ink", "Barbara Lis"]

CASES = [
    # -- digits that are names
    Case("zip", ["02139", "10001", "02139", "94103"], "code", values=["02139", "10001"]),
    Case("zip", ["10001", "94103", "10001", "60601"], "code", values=[10001, 94103]),
    Case("plz", ["01067", "80331", "01067"], "code"),
    Case("store_id", ["1", "2", "1", "3", "2"], "code", close="number", values=[1, 2]),
    Case("account_no", ["7001", "7002", "7001", "7003"], "code"),
    Case("jobAdId", ["55", "56", "55", "57"], "code"),
    Case("phone", ["5551234", "5559876", "5551234"], "code"),
    Case("phone_number", ["5551234", "5559876", "5551234"], "code"),
    Case("county_fips", ["6037", "6073", "6037"], "code"),
    Case("product code", ["1001", "1002", "1001"], "code"),
    Case("customer_id", [str(i * 7) for i in range(30)], "number", aside=True),
    Case("x", ["007", "008", "007", "123"], "code", close="number"),
    Case("ref", ["12345678901234567890123", "98765432109876543210987"] * 6, "code"),
    # -- digits that are amounts
    Case("atomic_number", ["1", "2", "2", "8"], "number"),
    Case("education_num", ["9", "13", "9", "10"], "number"),
    Case("paid", ["1", "2", "2", "3"], "number"),
    Case("month", ["01", "02", "12", "01"], "number", values=[1.0, 2.0, 12.0]),
    Case("flag01", ["0", "1", "1", "0"], "number"),
    Case("answer", ["1", "2", "n/a", "5"], "number", values=[1.0, 2.0, None, 5.0]),
    Case("temp", ["12.5", "-", "13", "?"], "number", values=[12.5, None, 13.0, None]),
    Case("depth", ["1.5", "unknown", "2.5", "4"], "number", values=[1.5, None]),
    Case("v", ["+5", "-3", "+0.5"], "number", values=[5.0, -3.0, 0.5]),
    Case("v", ["1e5", "2.5E-3", "7"], "number", values=[100000.0, 0.0025, 7.0]),
    Case("v", [".5", "5.", "0.25"], "number", values=[0.5, 5.0, 0.25]),
    Case("v", ["−5", "3", "−0,5"], "number", values=[-5.0, 3.0, -0.5]),
    # -- money, separators, percent, units
    Case("price", ["$5,321.68", "$1,335.97", "$12"], "number", values=[5321.68, 1335.97, 12.0]),
    Case("price", ["-$5", "$3.50", "($2)"], "number", values=[-5.0, 3.5, -2.0]),
    Case("price", ["USD 5", "USD 7.5", "USD 1,000"], "number", values=[5.0, 7.5, 1000.0]),
    Case("price", ["5 €", "7,50 €", "1.200,00 €"], "number", values=[5.0, 7.5, 1200.0]),
    Case("price", ["£12", "£1,250.99", "£8"], "number", values=[12.0, 1250.99]),
    Case("price", ["$10k", "$1.5M", "$700"], "number", values=[10000.0, 1500000.0, 700.0]),
    Case("price", ["CHF 1'250.50", "CHF 80", "CHF 1'000"], "number", values=[1250.5, 80.0]),
    Case("n", ["1,067", "12", "345"], "number", close="decimal_comma", values=[1067.0, 12.0]),
    Case("n", ["1,067", "2,500,000", "12"], "number", close="", values=[1067.0, 2500000.0]),
    Case("n", ["61,07", "3,5", "100"], "number", close="", values=[61.07, 3.5, 100.0]),
    Case("n", ["0,067", "0,125", "1,5"], "number", close="", values=[0.067, 0.125, 1.5]),
    Case("n", ["1.234,5", "12,3", "7"], "number", close="", values=[1234.5, 12.3, 7.0]),
    Case("n", ["1.234.567", "2.500", "7"], "number", values=[1234567.0, 2500.0, 7.0]),
    Case("n", ["1 234,50", "12,3", "7"], "number", values=[1234.5, 12.3, 7.0]),
    Case("n", ["1 234 567", "12", "7 000"], "number", values=[1234567.0, 12.0, 7000.0]),
    Case("n", ["1'234.50", "12.3", "7"], "number", values=[1234.5, 12.3, 7.0]),
    Case("n", ["12,34,567", "1,00,000", "999"], "number", values=[1234567.0, 100000.0]),
    Case("share", ["41%", "3.5 %", "100%"], "number", values=[41.0, 3.5, 100.0]),
    Case("share", ["41,5%", "3,25%", "n/a"], "number", values=[41.5, 3.25, None]),
    Case("mass", ["70.6 kg", "80 kg", "101kg"], "number", values=[70.6, 80.0, 101.0]),
    Case("engine", ["1248 CC", "1498 CC", "998 CC"], "number", values=[1248.0, 1498.0]),
    Case("term", [" 36 months", " 60 months", "36 months"], "number", values=[36.0, 60.0]),
    Case("rooms", ["1 room", "2 rooms", "3 rooms"], "number", values=[1.0, 2.0, 3.0]),
    Case("temperature", ["21°C", "-3°C", "4.5°C"], "number", values=[21.0, -3.0, 4.5]),
    # -- not numbers
    Case("size", ["10 kg", "20 lb", "3 kg"] * 2, "category"),
    Case("seat", ["1A", "2A", "1A", "3A"], "category"),
    Case("score", ["2-1", "0-0", "3-1", "2-1", "0-0", "3-1"], "category"),
    Case("version", ["1.2.3", "1.2.4", "1.2.3", "1.2.4"], "category"),
    Case("amount", ["$5", "€7", "$5", "€7"], "category"),
    # -- dates and times
    Case("when", ["2020-09-24", "2020-01-02", "2019-12-31"], "date"),
    Case("when", ["2020-09-24T12:30:00Z", "2020-01-02T00:00:00Z"], "date"),
    Case("when", ["2020-09-24 12:30:05", "2020-01-02 01:00:00"], "date"),
    Case("when", ["2020-09-24 12:30:05+02:00", "2020-01-02 01:00:00+02:00"], "date"),
    Case("when", ["2020/09/24", "2020/01/02"], "date"),
    Case("when", ["09/24/2020", "01/02/2020", "12/31/2019"], "date", close=""),
    Case("when", ["24/09/2020", "01/02/2020", "31/12/2019"], "date", close=""),
    Case("when", ["16.06.2020", "01.02.2020"], "date", close=""),
    Case("when", ["03/04/2020", "05/06/2020"], "date", close="mdy"),
    Case("when", ["03/04/2020 1:30 PM", "05/06/2020 2:00 AM"], "date", close="dmy"),
    Case("when", ["February 03, 2020", "March 1, 2021"], "date"),
    Case("when", ["3 Feb 2020", "24 December 2021"], "date"),
    Case("when", ["03-Feb-20", "24-Dec-21"], "date"),
    Case("when", ["Mon, 3 Feb 2020", "Fri, 24 Dec 2021"], "date"),
    Case("order_date", ["20200924", "20210101", "20191231"], "date", close="number"),
    Case("n", ["20200924", "20210101", "20191231"], "number"),
    Case("month", ["2020-01", "2020-12", "2021-03"], "date"),
    Case("month", ["Jan 2020", "Dec 2020", "Mar 2021"], "date"),
    Case("quarter", ["2020Q1", "2020Q4", "2021Q2"], "date"),
    Case("month", ["2002 Jan", "2003 Nov", "2004 Jul"], "date"),
    Case("week", ["1991 W06", "1997 W31", "2004 W01"], "date"),
    Case("pace", ["38:31:00", "113:42:00", "65:00:00"], "time"),
    Case("joined", ["2020-09-24", "n/a", "2019-12-31"], "date"),
    Case("clock", ["12:30", "08:15", "23:59"], "time"),
    Case("clock", ["12:30 PM", "8:15 am", "11:59 PM"], "time"),
    Case("year", ["1999", "2004", "2004"], "number"),
    # -- flags
    Case("member", ["yes", "no", "no", "yes"], "flag"),
    Case("member", ["Y", "N", "N", "Y"], "flag"),
    Case("member", ["TRUE", "FALSE", "FALSE"], "flag"),
    Case("member", ["on", "off", "off"], "flag"),
    Case("member", ["ja", "nein", "ja"], "flag"),
    Case("member", ["oui", "non", "?"], "flag"),
    Case("member", ["yes", "Yes", "no", "NO"], "flag"),
    Case("has", ["x", None, None, "x", None, "x"], "flag", close="category"),
    Case("sex", ["M", "F", "F", "M"], "category"),
    # -- ordered levels
    Case("cut", ["Ideal", "Premium", "Good", "Very Good", "Fair"], "order"),
    Case("clarity", ["SI2", "SI1", "VS1", "VS2", "VVS2", "IF", "I1"], "order"),
    Case("color", ["E", "I", "J", "H", "F", "G", "D"], "order"),
    Case("level", ["Low", "Very_High", "medium", "High"], "order"),
    Case("level", ["HIGH", "high", "low", "Low"], "order"),
    Case("risk", ["none", "low", "high", "none"], "order", values=["none", "low", "high"]),
    Case("KitchenQual", ["TA", "Gd", "Ex", "Fa"], "order"),
    Case("size", ["S", "XXL", "M", "L", "XL"], "order"),
    Case("size", ["small", "large", "medium"], "order"),
    Case("opinion", ["Strongly agree", "Disagree", "Neutral", "Agree"], "order"),
    Case("smokes", ["never", "sometimes", "always", "often"], "order"),
    Case("visits", ["daily", "weekly", "monthly", "yearly"], "order"),
    Case("education", ["HS-grad", "Bachelors", "Doctorate", "1st-4th"], "order"),
    Case("education", ["primary", "secondary", "tertiary", "unknown"], "order"),
    Case("day", ["Mon", "Fri", "Tue", "Sun"], "order"),
    Case("month", ["January", "March", "December"], "order"),
    Case("severity", ["mild", "severe", "moderate"], "order"),
    Case("class", ["First", "Second", "Third", "First"], "order"),
    Case("stage", ["Stage I", "Stage II", "Stage IV"], "order"),
    Case("grade", ["A", "B", "C", "A"], "order", close="category"),
    Case("grade", ["A-", "B+", "A", "C"], "order", close="category"),
    Case("sub_grade", ["A1", "B5", "C3", "G2"], "order"),
    Case("treatment", ["A", "B", "C", "A"], "category", close="order"),
    Case("block", ["I", "II", "III", "I"], "category", close="order"),
    Case("reliability", ["Much better", "average", "worse", "better"], "order"),
    Case("mood", ["good", "bad", "blue", "poor", "fair", "good"], "category", close="order"),
    Case("answer", ["1 - low", "2 - mid", "3 - high"], "order"),
    Case("answer", ["1. never", "3. often", "2. rarely"], "order"),
    Case("age", ["18-24", "25–34", "65+", "35-64"], "order", values=["18-24", "25–34", "65+"]),
    Case("emp_length", ["10+ years", "< 1 year", "2 years", "1 year"], "order"),
    Case("income", [">50K", "<=50K", ">50K"], "order"),
    Case("income", ["$10k-$20k", "under $10k", "$20k-$50k", "over $50k"], "order"),
    Case("age", ["(18, 24]", "(24, 30]", "(30, 65]"], "order"),
    Case("age", ["under 18", "18 to 64", "65 and over"], "order"),
    # -- sets
    Case("colors", ["red;green", "red", "green;blue"], "set"),
    Case("genres", ["Drama, Comedy", "Comedy", "Drama, Horror", "Horror"], "set"),
    Case("tags", ["a|b", "b|c", "a"], "set"),
    Case("place", ["Boston, MA", "Salem, MA", "Dover, NH", "Keene, NH"] * 2, "category"),
    # -- names, identifiers, text
    Case("mail", ["ann@x.org", "bo@y.com", "cy@z.net", "di@x.org"], "name", aside=True),
    Case("page", _many("https://example.org/p/{}"), "name", aside=True),
    Case("key", UUIDS, "text", aside=True),
    Case("token", UUIDS, "text", aside=True),
    Case("photo", _many("images/set/{}.jpg"), "name", aside=True),
    Case("name", PEOPLE, "name", aside=True),
    Case("name", ["Byron, Ada", "Kay, Alan", "Moe, Grace", "Vim, Ed", "Ink, Don"], "name", True),
    Case("code", _many("tt{:05d}"), "text", aside=True),
    Case("review", [f"It was the {i}th time that I came, and I loved it again." for i in range(24)],
         "text"),
    Case("dna", [a + b + c + "TTGACA" for a in "ACGT" for b in "ACGT" for c in "AC"], "text"),
    Case("player", [f"GT{1000 + i % 25}" for i in range(45)], "code", close="text"),
    Case("tweet", [str(2**55 + 3 * i) for i in range(24)], "text", aside=True),
    Case("city", ["Rome", "Oslo", "Rome", "Bonn"], "category"),
    Case("status", ["NA", "US", "US", "DE", "NA", "DE"], "category", values=["NA", "US"]),
    Case("sex", ["male", "NA", "male", "female", "NA", "female"], "category", close="code",
         values=["male", None]),
    Case("group", ["a", "null", "a", "b", "NaN", "b"], "category", values=["a", None]),
    Case("notes", ["NA", "NA", "NA"], "object", aside=True),
    Case("year2", ["2013"] * 12, "number", aside=True),
    Case("country", ["Peru"] * 11 + [None], "category", aside=True),
    Case("nothing", [None, "", " ", None], "object", aside=True),
]  # fmt: skip
