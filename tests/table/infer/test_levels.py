"""Words with an order: scales, numbered answers, bands."""

from lookalike.table import read_table
from lookalike.table.infer import levels, thresholds
from lookalike.table.infer.levels import (
    find_bands,
    find_circle,
    find_levels,
    find_numbered,
    is_partly_bands,
    is_partly_scale,
    say_shared_level,
)


def counted(*words):
    return dict.fromkeys(words, 1)


def assert_levels(found, *levels):
    assert found is not None, levels
    assert found.levels == levels


def test_scales_are_known_from_low_to_high():
    assert_levels(find_levels("size", counted("high", "low", "medium")), "low", "medium", "high")
    words = counted("StronglyAgree", "Agree", "StronglyDisagree")
    assert_levels(find_levels("q1", words), "StronglyDisagree", "Agree", "StronglyAgree")
    assert_levels(find_levels("x", counted("high risk", "low risk")), "low risk", "high risk")
    assert find_levels("x", counted("low")) is None
    assert find_levels("x", counted("low", "purple")) is None


def test_two_spellings_of_one_level_are_said():
    words = counted("Low", "LOW", "high")
    assert find_levels("x", words) is None
    assert "'Low' and 'LOW' are one level" in say_shared_level("x", words)
    assert say_shared_level("x", counted("low", "high")) == ""


def test_numbered_answers():
    found = find_numbered(counted("2. mid", "1. low", "10. high"))
    assert_levels(found, "1. low", "2. mid", "10. high")
    assert find_numbered(counted("1. married", "2. widowed")).close == "category"
    assert find_numbered(counted("1. low", "1. high")) is None
    assert find_numbered(counted("1. low", "high")) is None


def test_bands_do_not_overlap():
    assert_levels(find_bands(counted("25-34", "18-24", "65+")), "18-24", "25-34", "65+")
    assert_levels(find_bands(counted("<1 year", "1-2 years")), "<1 year", "1-2 years")
    assert_levels(find_bands(counted("1,000-1,999", "0-999")), "0-999", "1,000-1,999")
    money = find_bands(counted("$1k-2k", "under $1k", "over $2k"))
    assert_levels(money, "under $1k", "$1k-2k", "over $2k")
    assert_levels(find_bands(counted("1960-64", "1955-59")), "1955-59", "1960-64")
    assert_levels(find_bands(counted("1940-", "1935-")), "1935-", "1940-")
    assert_levels(find_bands(counted("30-39", "40-")), "30-39", "40-")
    assert_levels(find_bands(counted("3 days", "1-2 weeks")), "3 days", "1-2 weeks")
    assert_levels(find_bands(counted("3", ">3", "1-2")), "1-2", "3", ">3")
    for overlapping in (("10-20", "15-25"), ("1", "2"), ("20-10", "5-6"), ("3 kg", "1-2 lb")):
        assert find_bands(counted(*overlapping)) is None, overlapping


def test_most_of_a_scale_is_a_second_reading():
    assert is_partly_scale("x", counted("low", "medium", "high", "purple"))
    assert not is_partly_scale("x", counted("low", "high", "purple"))
    assert is_partly_scale("x", counted("a", "b", "c+"))
    assert not is_partly_scale("x", counted("a", "b", "zz"))
    # Three words of a scale are the fewest, whatever share of all words they are.
    assert not is_partly_scale("x", counted("low", "high"))
    many = [f"word {i}" for i in range(thresholds.MAX_LEVELS)]
    assert not is_partly_scale("x", counted("low", "medium", "high", *many))
    assert is_partly_bands(counted("1-2", "3-4", "5", "many"))
    assert not is_partly_bands(counted("1-2", "3", "many", "few"))
    assert not is_partly_bands(counted("1", "3", "4", "5-6"))


def test_nothing_is_a_scale_of_very_many_levels():
    bands = [f"{10 * i}-{10 * i + 9}" for i in range(thresholds.MAX_LEVELS + 1)]
    assert find_bands(counted(*bands)) is None
    assert_levels(find_bands(counted(*bands[:-1])), *bands[:-1])


def test_months_over_more_than_half_a_year_come_round():
    found = find_levels("when", counted("Oct", "Feb", "Jan"))
    assert found.role == "cycle"
    assert found.reason.startswith("months, which come round")
    assert found.levels == tuple("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split())
    # From January to July is half of the circle: no way round is shorter.
    half = find_levels("when", counted("JULY", "JANUARY", "MAY"))
    assert (half.levels, half.role) == (("JANUARY", "MAY", "JULY"), "")
    full = find_levels("when", counted("AUGUST", "JANUARY", "MAY"))
    assert full.role == "cycle"
    assert full.levels[:5] == ("JANUARY", "FEBRUARY", "MARCH", "APRIL", "MAY")
    assert find_levels("day", counted("mon", "thurs", "fri")).levels == (
        "mon", "tue", "wed", "thurs", "fri", "sat", "sun",
    )  # fmt: skip
    assert find_levels("when", counted("May", "Jan", "Oct")).levels[:2] == ("Jan", "Feb")
    assert find_levels("when", counted("may", "October", "Jan")).levels[1] == "February"
    assert not find_levels("day", counted("Thur", "Fri", "Sat", "Sun")).role


def test_compass_points_are_known_under_names_of_directions():
    words = counted("N", "SW", "E", "NNW")
    found = find_levels("wind_dir", words)
    assert found.role == "cycle"
    assert len(found.levels) == 16
    assert found.levels.index("SW") == 10
    assert found.levels[:3] == ("N", "NNE", "NE")
    assert find_levels("region", words) is None
    spelled = find_levels("direction", counted("North", "North-East", "West", "South"))
    assert spelled.levels[:5] == (
        "North",
        "North North East",
        "North-East",
        "East North East",
        "East",
    )


def test_a_circle_is_found_by_its_words_alone():
    assert find_circle(["s", "w"])[:2] == ("n", "nne")
    assert find_circle(["Sun", "Thur"]) == ("Mon", "Tue", "Wed", "Thur", "Fri", "Sat", "Sun")
    assert find_circle(["low", "high"]) is None  # a scale, of which the ends are far apart
    assert find_circle(["Mon", "Monday"]) is None
    assert find_circle(["Mon", "noon"]) is None


def test_long_texts_are_no_bands():
    """Each bracket of a form may begin at every digit: without a limit this takes hours."""
    words = ["1," * 20_000 + word for word in ("a", "b", "c")] * 3
    assert read_table({"c": words, "n": list(range(9))}).kinds["c"].name != "order"
    assert levels._span("1-2" + " " * 200) == (1.0, 2.0)
    assert levels._span("1 " + "x" * 98) == (1.0, 1.0)
    assert levels._span("1 " + "x" * 99) is None
