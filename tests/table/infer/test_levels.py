"""Words with an order: scales, numbered answers, bands."""

from lookalike.table.infer import thresholds
from lookalike.table.infer.levels import (
    find_bands,
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
    assert find_numbered(counted("1. married", "2. widowed")).open
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
    assert is_partly_bands(counted("1-2", "3-4", "5", "many"))
    assert not is_partly_bands(counted("1-2", "3", "many", "few"))
    assert not is_partly_bands(counted("1", "3", "4", "5-6"))


def test_nothing_is_a_scale_of_very_many_levels():
    bands = [f"{10 * i}-{10 * i + 9}" for i in range(thresholds.MAX_LEVELS + 1)]
    assert find_bands(counted(*bands)) is None
    assert_levels(find_bands(counted(*bands[:-1])), *bands[:-1])
