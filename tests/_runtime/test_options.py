"""Options written as text."""

from lookalike._runtime.options import read_option, split_options


def test_values_are_json_or_words():
    words = ("3", "0.5", '"3"', "[1, 2]", "None", "True", "False", "cosine", "[1", "[" * 100_000)
    expected = [3, 0.5, "3", [1, 2], None, True, False, "cosine", "[1", "[" * 100_000]
    assert [read_option(word) for word in words] == expected


def test_commas_inside_brackets_and_quotes_do_not_split():
    assert split_options("a=1,b=2") == ["a=1", "b=2"]
    assert split_options('a=[1,{"b": 2,"c": 3}],d="e,f",g') == [
        'a=[1,{"b": 2,"c": 3}]',
        'd="e,f"',
        "g",
    ]
    assert split_options('a="]",b=1') == ['a="]"', "b=1"]
    assert split_options("a=],b=1") == ["a=]", "b=1"]
    assert split_options(" ,a,,") == ["a"]
    assert split_options("") == []
