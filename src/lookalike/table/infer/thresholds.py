"""The thresholds of inference, in one place: how many rows, which share, how long.

None was fitted to data: each was chosen by hand, for the reason beside it, unless the comment says
that it follows from something. All of them are held by the 200 columns of known kind in
``tests/table/hard_columns.py``, and by R's data sets, two thousand tables that were not prepared
for us (``tests/table/test_public_tables.py``). A change here changes kinds, and so distances: run
both. What was measured is that integers of few values stay numbers (``docs/explanation/kinds.md``),
which is why no threshold makes categories of them.
"""

from typing import NamedTuple

# -- how many rows make a pattern ------------------------------------------------------------------

# Rows from which chance no longer explains a copy, or strings without a repeat: two random yes/no
# columns agree in 20 rows once in a million (2**-20).
MIN_ROWS_FOR_PATTERN = 20
# Rows from which a single value is believed to stay the only one. Chosen by hand, decision 10.
MIN_ROWS_FOR_CONSTANT = 10
# Cells from which an outlying number may be a sentinel; below, any number may be far from the rest.
# Chosen by hand.
MIN_CELLS_FOR_SENTINEL = 10
# Rows that show how much a column varies; more would only cost time. Chosen by hand.
ROWS_TO_SHOW_VARIETY = 10_000

# -- numbers ---------------------------------------------------------------------------------------

# Integers beyond are not all floats, so a column of them loses digits as numbers: a float64 has 53
# bits of them.
MAX_EXACT_INTEGER = 2**53
# Cells up to which distinct numbers are counted for the reason; sorting more would be noticed.
# Chosen by hand.
MAX_CELLS_TO_COUNT_DISTINCT = 200_000
# Seconds beyond which no column means a duration. Python has none beyond 8.6e13.
MAX_DURATION_SECONDS = 1e12
# Hardly ever a quantity where nothing else is negative: one such cell is enough to warn. Both lists
# are what statistics packages write, chosen by hand.
SURE_SENTINELS = (-999, -9999, -99999, -999999)
SENTINELS = (-1, -9, -99, *SURE_SENTINELS, 99, 999, 9999, 99999, 999999, 9999999)
# A column of little else is a column of codes, not of numbers with missing cells. Chosen by hand.
MAX_SENTINEL_SHARE = 0.95
# Integers within are dates such as 20200924 where the name of the column says date. Two centuries,
# chosen by hand.
COMPACT_DATES = (19000101, 21001231)

# -- strings, all chosen by hand ------------------------------------------------------------------

# So many distinct short strings are a category even if none repeats.
FEW_STRINGS = 20
# Mean characters: longer strings that hardly repeat are text (a name or a label is shorter) ...
MAX_MEAN_LABEL_LENGTH = 20
# ... and up to here they may name the rows; beyond, they are text to be compared.
MAX_MEAN_NAME_LENGTH = 40
# ... and from here on a document, compared by its words (docs/explanation/kinds.md has the study).
MIN_MEAN_DOCUMENT_LENGTH = 100
# Mean characters of the words of prose, at most; what has longer ones is a code.
MAX_WORD_LENGTH = 20
# Mean spaces of a name; a string with more of them is a sentence.
MAX_MEAN_NAME_SPACES = 6
# Distinct strings per cell up to which single words are a category, not text.
MAX_CATEGORY_SHARE = 0.9
# Distinct strings per cell from which they name the rows, where the column's name says so or not.
MIN_SHARE_OF_NAMES = {"named": 0.6, "unnamed": 0.9}
# Share of the strings that have the shape of a person's name ...
MIN_SHARE_OF_PERSONS = 0.9
# ... and that begin with a known first name, from which all are names of persons.
MIN_SHARE_OF_FIRST_NAMES = 0.2
# Share of strings that may fail where the others are said to be numbers or dates.
MAX_MISFIT_SHARE = 0.2
# Distinct strings beyond which nothing is an ordered scale; the longest known one (in
# ``data/scales.toml``) has 35 levels.
MAX_LEVELS = 60
# Share of the words that a scale or a list of bands must hold to be named as the second reading.
MIN_SHARE_OF_SCALE = 0.6

# -- lists -----------------------------------------------------------------------------------------

# Lists of one length whose sums differ by no more than this factor are histograms: shares that were
# rounded to two digits add up to 0.99 or 1.01. Chosen by hand.
MAX_RATIO_OF_SUMS = 1.01

# -- sets written as text, all chosen by hand -----------------------------------------------------

# Distinct strings that are split to decide about a separator.
MAX_STRINGS_TO_SPLIT = 20_000
# Mean characters of an item; more is prose that happens to hold the separator.
MAX_MEAN_ITEM_LENGTH = 25
# Distinct items per item: where nearly every item is new, the separator is punctuation.
MAX_DISTINCT_ITEMS = 0.8
# Share of the cells with several items that may have one twice.
MAX_SHARE_OF_REPEATS = 0.2
# Share of the cells from which items of fixed places are pairs, as in "Boston, MA".
MIN_SHARE_OF_PAIRS = 0.8


class SetRule(NamedTuple):
    """What must hold before strings are cut at a separator.

    ``min_share`` of the strings have several items; an item has at most ``max_words`` words on
    average; ``min_again`` of the distinct items come in several strings. A separator that is also
    ``punctuation`` ("Boston, MA", "n/a") has to prove more. Under a rule for ``codes`` every item
    is one, such as "en" or "ar-AE".
    """

    min_share: float
    max_words: float
    min_again: float
    punctuation: bool
    codes: bool = False


_RARE = SetRule(0.02, 4, 0.05, punctuation=False)
_COMMON = SetRule(0.1, 2.5, 0.3, punctuation=True)
# No sentence is written in codes, so fewer of them need to come again.
_CODES = SetRule(0.1, 1, 0.1, punctuation=True, codes=True)
# In the order in which they are tried.
SET_RULES = ((";", _RARE), ("|", _RARE), (",", _COMMON), (",", _CODES), ("/", _COMMON))
