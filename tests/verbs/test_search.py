"""Search finds what the definition says, in every form, and says what is wrong with a question."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest

import lookalike as la
from cli.run import run
from lookalike.measures import Gower
from lookalike.prediction import NeighborClassifier
from verbs.defaults import defaults_of

RECORDS = [
    {"code": "p-1", "mass": 4.0, "kind": "cat", "tags": ["x", "y"]},
    {"code": "p-2", "mass": 30.0, "kind": "dog", "tags": ["y"]},
    {"code": "p-3", "mass": 5.0, "kind": "cat", "tags": ["x", "y"]},
    {"code": "p-4", "mass": None, "kind": "dog", "tags": ["z"]},
    {"code": "p-5", "mass": 14.0, "kind": None, "tags": []},
]
KINDS = ("--kinds", "code=aside")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "pets.jsonl"
    path.write_text("\n".join(map(json.dumps, RECORDS)))
    return path


@pytest.fixture
def numbers(tmp_path):
    values = np.random.default_rng(3).integers(0, 50, (30, 4)) / 2
    path = tmp_path / "numbers.csv"
    head = "a,b,c,d\n"
    path.write_text(head + "\n".join(",".join(map(str, row)) for row in values.tolist()))
    return path, values


def answer(*words):
    done = run("search", *words, "--output", "json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def one_line(*words):
    done = run("search", *words)
    assert (done.exit_code, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    return line


def place(mass):
    """Return the share of the pets that are lighter, plus half of those as heavy."""
    known = [pet["mass"] for pet in RECORDS if pet["mass"] is not None]
    return sum((other < mass) + (other == mass) / 2 for other in known) / len(known)


def similarity(one, two):
    """The default similarity of two pets, plainly: masses by rank, a missing cell counts half.

    Columns that the first, a record, does not name are not compared.
    """
    shares = dict.fromkeys((name for name in ("mass", "kind", "tags") if name in one), 0.5)
    if one.get("mass") is not None and two.get("mass") is not None:
        shares["mass"] = 1 - abs(place(one["mass"]) - place(two["mass"]))
    if one.get("kind") is not None and two.get("kind") is not None:
        shares["kind"] = float(one["kind"] == two["kind"])
    if one.get("tags") is not None and two.get("tags") is not None:
        a, b = set(one["tags"]), set(two["tags"])
        shares["tags"] = len(a & b) / len(a | b) if a | b else 1.0
    return sum(shares.values()) / len(shares), {k: v / len(shares) for k, v in shares.items()}


@pytest.mark.parametrize("row", range(5))
def test_mixed_columns_are_compared_by_gower(file, row):
    found = answer(file, *KINDS, "--row", row, "-k", 4)
    assert found["measure"] == "Gower"
    assert found["query"] == {"id": row, "label": f"p-{row + 1}", "row": RECORDS[row]}
    expected = {
        other: similarity(RECORDS[row], RECORDS[other])[0] for other in range(5) if other != row
    }
    order = sorted(expected, key=lambda other: (-expected[other], other))
    assert [hit["id"] for hit in found["hits"]] == order
    for hit in found["hits"]:
        assert hit["similarity"] == pytest.approx(expected[hit["id"]])
        assert hit["distance"] == pytest.approx(1 - expected[hit["id"]])
        assert hit["row"] == RECORDS[hit["id"]]
        assert "reasons" not in hit


def test_a_record_with_gaps(file):
    record = {"mass": 6, "kind": "dog"}
    found = answer(file, *KINDS, "--like", json.dumps(record), "-k", 5)
    assert found["query"]["id"] is None
    assert found["query"]["row"] == {"mass": 6, "kind": "dog", "tags": None}
    expected = [similarity(record, other)[0] for other in RECORDS]
    order = sorted(range(5), key=lambda other: (-expected[other], other))
    assert [hit["id"] for hit in found["hits"]] == order
    assert [hit["similarity"] for hit in found["hits"]] == pytest.approx(sorted(expected)[::-1])


def test_why_gives_reasons_with_both_cells(file):
    for hit in answer(file, *KINDS, "--row", 0, "-k", 4, "--why")["hits"]:
        _, shares = similarity(RECORDS[0], RECORDS[hit["id"]])
        missing_share = {name: 1 / len(shares) - share for name, share in shares.items()}
        for side, expected in (("for", shares), ("against", missing_share)):
            result = {reason["column"]: reason for reason in hit["reasons"][side]}
            assert len(hit["reasons"][side]) <= 2
            for name, reason in result.items():
                assert reason["share"] == pytest.approx(expected[name])
                assert reason["query"] == RECORDS[0][name]
                assert reason["found"] == RECORDS[hit["id"]][name]


def test_why_for_a_record(file):
    (hit,) = answer(file, *KINDS, "--like", '{"mass": 5}', "-k", 1, "--why")["hits"]
    assert hit["id"] == 2
    said = {"kind": "number", "text": "same mass: 5"}
    assert hit["reasons"]["for"] == [{"column": "mass", "share": 1, "query": 5, "found": 5, **said}]
    assert hit["reasons"]["against"] == []


@pytest.mark.parametrize(
    ("name", "distance"),
    [
        ("cityblock", lambda x, y: np.abs(x - y).sum()),
        ("vector", lambda x, y: np.sqrt(((x - y) ** 2).sum())),
        ("Vector:metric=chebyshev", lambda x, y: np.abs(x - y).max()),
    ],
)
def test_another_measure(numbers, name, distance):
    path, values = numbers
    found = answer(path, "--row", 7, "-k", 29, "--measure", name)["hits"]
    expected = [distance(values[7], row) for row in values]
    order = sorted((i for i in range(30) if i != 7), key=lambda i: (expected[i], i))
    assert [hit["id"] for hit in found] == order
    assert [hit["distance"] for hit in found] == pytest.approx([expected[i] for i in order])


def test_options_of_a_measure_change_the_answer(numbers):
    path, values = numbers
    unit = np.ptp(values, axis=0)
    words = [path, "--row", 0, "-k", 3, "--measure", "vector:metric=cityblock,scale=minmax"]
    found = answer(*words)["hits"]
    expected = (np.abs(values - values[0]) / unit).sum(axis=1)
    assert [hit["distance"] for hit in found] == pytest.approx(sorted(expected)[1:4])


def test_columns_limits_the_comparison_and_still_shows_the_rest(numbers):
    path, values = numbers
    found = answer(path, "--row", 0, "-k", 5, "--measure", "cityblock", "--columns", "c, a")
    expected = np.abs(values - values[0])[:, [0, 2]].sum(axis=1)
    assert [hit["distance"] for hit in found["hits"]] == pytest.approx(sorted(expected)[1:6])
    assert set(found["hits"][0]["row"]) == {"a", "b", "c", "d"}


def test_columns_may_bring_back_one_set_aside(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("id,x\n" + "\n".join(f"{i},{(i * 7) % 5}" for i in range(1, 9)))
    found = answer(path, "--row", 3, "-k", 2, "--columns", "id")
    assert [hit["id"] for hit in found["hits"]] == [2, 4]


def test_csv_form(file):
    done = run("search", file, *KINDS, "--row", 0, "-k", 2, "--output", "csv", "--why")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    heads = ["id", "score", "distance", "similarity", "compared", "compared_of", "for", "against"]
    heads += ["code", "mass", "kind", "tags"]
    assert list(rows[0]) == heads
    assert rows[0]["id"] == "2"
    assert rows[0]["for"] == "same tags: x, y; same kind: cat"
    assert rows[0]["against"] == "mass 4 against 5 (a little higher)"
    assert json.loads(rows[0]["tags"]) == ["x", "y"]


def test_csv_keeps_columns_of_the_table_apart_from_ours(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("id,distance,for\n3,1.5,a b\n7,2.5,c d\n5,9.5,a b\n")
    words = ["--row", 0, "-k", 1, "--columns", "distance", "--output", "csv"]
    (row,) = csv.DictReader(io.StringIO(run("search", path, *words).stdout))
    assert (row["id"], row["table.id"], row["table.distance"], row["for"]) == (
        *("1", "7", "2.5", "c d"),
    )


def test_table_form(file):
    out = run("search", file, *KINDS, "--row", 0, "-k", 2, "--why").stdout
    assert "the 2 rows most like row 0 (p-1), by Gower" in " ".join(out.split())
    assert "+ same tags: x, y; same kind: cat" in out
    assert "- mass 4 against 5" in out
    assert "p-1" in out  # the row that was asked about
    one = run("search", file, *KINDS, "--like", '{"kind": "dog"}', "-k", 1).stdout
    assert "the row most like the record, by Gower" in " ".join(one.split())


def test_table_form_says_what_does_not_fit(tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"column_number_{j}" for j in range(12)]
    rows = [",".join(str(i * j % 7) for j in range(12)) for i in range(5)]
    path.write_text("\n".join([",".join(names), *rows]))
    out = run("search", path, "--row", 0, "-k", 2).stdout
    assert all(len(line) <= 100 for line in out.splitlines()[1:])
    assert "not shown: column_number_4" in out
    assert " and 2 more (csv and json" in out


def test_square_brackets_are_not_styles(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("name,x\n[red]one[/red] two,1\n[/oops] three four,2\nfive six,3\n")
    done = run("search", path, "--row", 0, "-k", 2, "--why")
    assert done.exit_code == 0
    assert "[red]one[/red] two" in done.stdout
    assert "[/oops] three four" in done.stdout


def test_an_empty_row_is_half_alike_or_last_and_pointed_out(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,x\n2,y\n,\n4,x\n3,y\n")
    done = run("search", path, "--row", 0, "-k", 4, "--output", "json")
    similarities = {hit["id"]: hit["similarity"] for hit in json.loads(done.stdout)["hits"]}
    assert similarities[2] == 0.5
    ignoring = (path, "--row", 0, "-k", 4, "--measure", "gower")
    done = run("search", *ignoring, "--output", "json")
    last = json.loads(done.stdout)["hits"][-1]
    assert (last["id"], last["distance"], last["similarity"]) == (2, None, None)
    shown = run("search", *ignoring, "--why").stdout
    assert "1 of the 4 rows found have nothing to compare: no column is filled in both" in shown
    assert "–" in shown


def test_a_new_category_is_pointed_out(file):
    done = run("search", file, *KINDS, "--like", '{"kind": "fish", "mass": 5}', "-k", 1)
    assert done.exit_code == 0
    assert "needs a category that occurs in the column 'kind', found 'fish'" in done.stderr


def test_missing_tokens_hold_for_the_record_too(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,5\n2,?\n9,6\n")
    found = answer(path, "--missing", "?", "--like", '{"a": 9, "b": "?"}', "-k", 1)
    assert found["query"]["row"] == {"a": 9, "b": None}
    assert found["hits"][0]["similarity"] == 1


def test_a_measure_of_numbers_says_what_it_leaves_out_and_refuses_gaps(file):
    words = [file, *KINDS, "--columns", "mass,kind", "--measure", "vector", "--row", 0]
    done = run("search", *words)
    assert (done.exit_code, done.stdout) == (1, "")
    warning, error = done.stderr.splitlines()
    assert "leaves out 'kind'" in warning
    assert "needs numbers without missing" in error


def test_a_table_without_numbers_is_refused_by_a_measure_of_numbers(file):
    words = [file, *KINDS, "--kinds", "mass=aside", "--measure", "vector", "--row", 0]
    assert "needs at least one number column" in one_line(*words)


def test_a_record_need_not_name_what_a_measure_leaves_out(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,color\n1,red\n2,blue\n4,red\n8,blue\n")
    found = answer(path, "--measure", "vector", "--like", '{"a": 5}', "-k", 2)
    assert [(hit["id"], hit["distance"]) for hit in found["hits"]] == [(2, 1), (1, 3)]


def test_a_record_for_a_measure_without_gaps(numbers):
    path, values = numbers
    words = [path, "--measure", "ranked", "-k", 1]
    line = one_line(*words, "--like", '{"a": 1, "c": 2}')
    assert "with Ranked: needs a value in every number column" in line
    assert "found a record without 'b', 'd'" in line
    assert "such as Gower" in line
    record = dict(zip("abcd", values[4].tolist(), strict=True))
    (hit,) = answer(*words, "--like", json.dumps(record))["hits"]
    assert (hit["id"], hit["distance"]) == (4, 0)


def test_rows_are_offered_by_names_that_tell_them_apart(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("sex,age\nf,30\nm,31\nf,40\nm,45\nf,22\nm,26\n")
    assert "needs a row from 0 to 5, found nobody" in one_line(path, "--row", "nobody")
    path.write_text("name,age\nAnn,30\nBob,31\nCarl,40\nDora,45\nEve,22\n")
    assert "Did you mean 'Carl'?" in one_line(path, "--row", "Karl")
    # Half of the rows have a name of their own: enough to be found by.
    path.write_text("name,age\nAnn,30\nAnn,31\nCarl,40\nCarl,45\n")
    assert "found 'Karl'. Did you mean 'Carl'?" in one_line(path, "--row", "Karl")


def test_columns_that_the_question_names_are_shown_first():
    rows = {f"x{j}": [float(j * i % 7) for i in range(6)] for j in range(9)}
    rows["name"] = list("abcdef")
    asked = la.search(rows, {"x7": 1.0, "x1": None}, weights={"x5": 2}, filter="x3>=1", k=2)
    assert asked.info.asked == ("x7", "x5", "x3")
    heads = next(line for line in str(asked).splitlines() if "similarity" in line)
    for shown in (heads, asked.text(60)):
        places = [shown.index(name) for name in ("name", "x7", "x5", "x3")]
        assert places == sorted(places)
        assert "x0" not in shown[: places[-1]]
    assert la.search(rows, 0, k=2).info.asked == ()


def test_a_row_of_a_frame_is_a_record_everywhere():
    frame = pd.DataFrame({"age": [30.0, 31.0, 45.0, 60.0], "pet": ["cat", "cat", "dog", None]})
    record, fourth = frame.iloc[0].to_dict(), frame.iloc[3]
    named = next(frame.itertuples(index=False))
    alike = [la.search(frame, start, k=2).ids for start in (record, frame.iloc[0], named)]
    assert alike == [[0, 1]] * 3
    marked = la.search(frame, like=[frame.iloc[0], 1], unlike=fourth, k=2)
    assert marked.ids == la.search(frame, like=[record, 1], unlike=fourth.to_dict(), k=2).ids
    pair = la.explain(frame, frame.iloc[0], fourth)
    assert pair.explanation.plus == la.explain(frame, record, fourth.to_dict()).explanation.plus
    gower = Gower().fit(frame)
    assert gower.explain(frame.iloc[0], fourth).plus == gower.explain(0, 3).plus
    index = la.Index().fit(frame)
    assert index.search(named, k=2).ids == index.search(frame.iloc[0], k=2).ids == [0, 1]
    assert index.add(fourth) == [4]
    assert NeighborClassifier(n_neighbors=1).fit(frame[:3], "pet").predict(fourth[["age"]]) == "dog"
    with pytest.raises(la.errors.InvalidInput, match="1D array"):
        gower.encode(frame["age"])


def test_a_position_where_rows_have_ids_of_their_own_is_told_its_id():
    frame = pd.DataFrame({"age": [30, 31, 45]}, index=["p", "q", "r"])
    with pytest.raises(la.errors.InvalidInput, match="By position, row 2 is 'r'"):
        la.search(frame, row=2)
    with pytest.raises(la.errors.InvalidInput, match="Known: 'p', 'q', 'r'"):
        la.search(frame, row=3)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--row", "5"], "--row: needs a row from 0 to 4, found 5"),
        ([], "say what to look for: a row of the table or a record"),
        (["--row", "1", "--like", "{}"], "Use --row 17 or --like "),
        (["--row", "first"], "--row: needs the id or the name of a row, found 'first'"),
        (["--row", "-1"], "--row: needs a row from 0 to 4, found -1"),
        (["--like", "{mass: 1}"], "needs a JSON object"),
        (["--like", "[1]"], "needs a JSON object"),
        (["--like", "7"], "needs a row from 0 to 4"),
        (["--like", "[" * 100_000], "needs a JSON object"),
        (["--like", "{}"], "found a record without any of them"),
        (["--like", '{"mass": null}'], "found a record without any of them"),
        (["--like", '{"mass": NaN}'], "found a record without any of them"),
        (["--like", '{"code": "p-9"}'], "found a record without any of them"),
        (["--like", '{"mas": 1}'], "Did you mean 'mass'?"),
        (["--like", '{"mass": "heavy"}'], "'heavy'"),
        (["--like", '{"tags": "x"}'], "a string is not a set"),
        (["--row", "0", "--columns", "mas"], "Did you mean 'mass'?"),
        (["--row", "0", "--columns", ","], "--columns: needs columns of the table, found ','"),
        (["--row", "0", "--measure", "gowr"], "Did you mean 'gower'?"),
        (["--row", "0", "--measure", "gower:missing=nothing"], "'midpoint'"),
    ],
)
def test_wrong_questions_are_one_line(file, words, complaint):
    assert complaint in one_line(file, *KINDS, *words)


@pytest.mark.parametrize(
    ("words", "rows"),
    [(["--row", 0, "-k", 5], 4), (["--like", '{"mass": 1}', "-k", 1_000_000], 5)],
)
def test_fewer_rows_than_asked_for_are_pointed_out(file, words, rows):
    done = run("search", file, *KINDS, *words, "--output", "json")
    assert done.exit_code == 0
    assert len(json.loads(done.stdout)["hits"]) == rows
    assert f"only {rows} rows can be found; " in run("search", file, *KINDS, *words).stdout


@pytest.mark.parametrize("form", ["text", "csv", "json"])
def test_one_row_has_no_neighbors(tmp_path, form):
    path = tmp_path / "rows.csv"
    path.write_text("a\n1\n")
    done = run("search", path, "--row", 0, "--output", form)
    assert done.exit_code == 0
    assert done.stderr == ""
    assert form != "text" or done.stdout == "there is no other row to find\n"


def test_a_note_is_printed_where_the_order_says_nothing(tmp_path):
    path = tmp_path / "same.csv"
    path.write_text("a,b\n" + "1.5,x\n" * 4)
    assert "note: all 3 rows are equally near" in run("search", path, "--row", 0, "-k", 3).stdout
    assert answer(path, "--row", 0, "-k", 3)["note"].startswith("all 3 rows are equally near")
    assert answer(path, "--row", 0, "-k", 1)["note"] is None


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_hits_take_one_line_each_and_reasons_are_whole(file, width):
    words = ("search", file, *KINDS, "--row", 0, "-k", 3, "--why")
    lines = run(*words, COLUMNS=str(width)).stdout.splitlines()
    assert all(len(line) <= width for line in lines[1:])
    (hit,) = [line for line in lines if "p-3" in line]
    if width >= 160:  # beside the row
        assert "+ same tags: x, y; same kind: cat" in hit
    elif width >= 80:  # below it
        below = lines[lines.index(hit) + 1]
        assert below.strip() == "+ same tags: x, y; same kind: cat"
        assert lines[lines.index(hit) + 2].strip() == "- mass 4 against 5 (a little higher)"
    else:
        assert lines[lines.index(hit) + 1].strip().startswith("+ same tags: x, y")


def test_a_new_level_of_a_guessed_order_is_pointed_out(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("size,mass\nsmall,1\nmedium,2\nlarge,3\nsmall,4\n")
    asked = ("search", path, "--like", '{"size": "huge", "mass": 3}', "-k", 1)
    done = run(*asked, "--output", "json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["hits"][0]["id"] == 2
    assert done.stderr.count("found 'huge' in 'size'. They are taken as missing") == 1
    declared = run(*asked, "--kinds", 'size=["small", "medium", "large"]')
    assert declared.exit_code == 1
    assert "one of the levels 'small', 'medium', 'large'" in declared.stderr


# -- rows by name, missing cells, feedback ---------------------------------------------------------

FILMS = {
    "title": ["Toy Story", "Toy Story 2", "Alien", "Aliens", "Solaris"],
    "year": [1995.0, 1999.0, 1979.0, 1986.0, 1972.0],
    "length": [81.0, 92.0, None, 137.0, None],
    "budget": [30.0, 90.0, 11.0, None, None],
}


@pytest.fixture
def films(tmp_path):
    path = tmp_path / "films.csv"
    pd.DataFrame(FILMS).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", ["Toy Story", "toy story", "title=Toy Story", "0"])
def test_a_row_is_named(films, name):
    assert answer(films, "--row", name, "-k", 1)["query"]["id"] == 0
    assert la.search(FILMS, name, k=1).to_dict()["query"]["label"] == "Toy Story"


def test_several_rows_of_one_name_are_listed(films):
    line = one_line(films, "--row", "toy")
    assert "found 2 rows: 0 (title Toy Story, year 1995" in line
    assert "1 (title Toy Story 2" in line
    assert "Choose one by its id: --row 0" in line
    assert "Did you mean 'Solaris'?" in one_line(films, "--row", "Solariss")


def test_ids_of_an_index_and_labels_are_both_found():
    rows = FILMS | {"code": [f"tt{i}" for i in range(5)]}
    index = la.Index(id_column="code").fit(rows)
    index.delete("tt0")
    assert la.search(index, "alien", k=1).info.id == la.search(index, "tt2", k=1).info.id == "tt2"
    assert la.search(index, "toy story", k=1).info.id == "tt1"  # the other one was deleted


def test_a_record_says_what_is_not_compared_and_offers_the_row(films):
    words = ("search", films, "--kinds", "title=aside", "-k", 1)
    done = run(*words, "--like", '{"title": "Alien", "year": 1979}', "--label-column", "title")
    assert "needs columns that are compared, found 'title'" in done.stderr
    assert "called 'Alien', use --row 2" in done.stderr
    assert run(*words, "--like", '{"year": 1979}').stderr == ""


def test_hits_say_in_how_many_columns_they_were_compared(films):
    hits = la.search(FILMS, 0, k=4)
    compared = {hit.id: (hit.compared, hit.compared_of) for hit in hits}
    assert compared == {1: (3, 3), 2: (2, 3), 3: (2, 3), 4: (1, 3)}
    assert {hit["id"]: hit["compared"] for hit in answer(films, "--row", 0)["hits"]}[4] == 1
    shown = run("search", films, "--row", 0).stdout
    assert "compared" in shown
    assert "1 of 3" in shown
    assert "1 of 3" in hits.to_html()
    alone = str(la.search(FILMS, 0, k=1)).splitlines()
    assert "compared" not in next(line for line in alone if "similarity" in line)
    # What a record does not say, or weighs nothing, is no part of the question.
    (hit,) = la.search(FILMS, {"year": 1990.0, "length": 90.0}, k=1)
    assert hit.compared_of == 2
    assert la.search(FILMS, 0, k=1, columns=["year"])[0].compared_of == 1


def test_with_feedback_the_score_is_shown_that_rows_are_ordered_by(films):
    lines = run("search", films, "--row", "0", "--unlike", "1").stdout.splitlines()
    heads = next(line for line in lines if " similarity" in line).split()
    assert heads[:3] == ["row", "score", "similarity"]
    at = next(i for i, line in enumerate(lines) if "───" in line) + 1
    scores = [float(line.split()[1]) for line in lines[at : at + 3]]
    assert scores == sorted(scores)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_terminal(films, width):
    out = run("search", films, "--row", 0, COLUMNS=str(width)).stdout
    words = [word for line in out.splitlines() for word in line.split()]
    longest = max(width, max(map(len, words)))  # a path is not cut
    assert all(len(line.rstrip()) <= longest for line in out.splitlines())


PEOPLE = {
    "name": [f"{a} {b}" for a in ("Anna", "Berta", "Carl", "Doris") for b in ("Maier", "Wolf")],
    "x": [float(i % 5) for i in range(8)],
}


def test_a_record_that_cannot_be_used_is_refused_before_fitting(monkeypatch):
    def fit(*args, **more):
        raise AssertionError("fitted")

    monkeypatch.setattr(la.Index, "fit", fit)
    with pytest.raises(la.errors.InvalidInput, match="columns of the table, found 'y'"):
        la.search(PEOPLE, {"y": 3})
    with pytest.raises(la.errors.InvalidInput, match="Column 'x': needs numbers"):
        la.search(PEOPLE, like={"x": "heavy"})
    with pytest.raises(la.errors.InvalidInput, match="a record without any of them"):
        la.search(PEOPLE, {"name": "Anna Wolf"})
    with pytest.raises(AssertionError, match="fitted"):
        la.search(PEOPLE, {"x": 3.0})


def test_a_warning_about_a_record_is_given_once():
    rows = {"x": [1.0, 2.0, 3.0, 4.0], "kind": ["a", "b", "a", "b"]}
    with pytest.warns(la.errors.LookalikeWarning, match="No row shares it") as warned:
        la.search(rows, {"kind": "c", "x": 1.0})
    assert len(warned) == 1


def test_a_name_that_is_weighed_is_compared():
    assert "name" not in la.read_table(PEOPLE).names
    hits = la.search(PEOPLE, 0, weights={"name": 50}, k=2)
    assert hits.table.names == ("x", "name")
    assert hits[0].row["name"] in ("Anna Wolf", "Carl Maier", "Berta Maier", "Doris Maier")
    assert hits[0].compared_of == 2
    # The record of it too, and rows are still called by it.
    assert la.search(PEOPLE, {"name": "Doris Wolf"}, weights={"name": 1}, k=1).ids == [7]
    assert la.search(PEOPLE, "Doris Wolf", weights={"name": 1}, k=1).info.id == 7
    assert la.search(PEOPLE, 0, columns=["name"], k=1).table.names == ("name",)
    # Two wishes that contradict each other.
    with pytest.raises(la.errors.InvalidInput, match="'name', which is set aside"):
        la.search(PEOPLE, 0, weights={"name": 2}, columns=["x"])


def test_the_defaults_are_those_that_are_documented():
    assert defaults_of("search") == {
        "row": None,
        "like": None,
        "unlike": None,
        "k": 10,
        "measure": None,
        "weights": None,
        "columns": None,
        "filter": None,
        "why": False,
    }
