"""Where data sets come from: hashes, packages, downloads, and what is said of missing ones."""

import bz2
import functools
import http.server
import io
import json
import re
import threading
import zipfile
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from studies import Paper, Result, StudyPart, Work, data, run_paper
from studies import recipes as module
from studies.command import show
from studies.forests.published import SETS as FORESTS
from studies.forests.sets import LARGER
from studies.gower.published import SETS as GOWER
from studies.hubs.sets import SOURCES
from studies.order.published import DENSITY_SETS, RETRIEVAL_SETS
from studies.recipes import MissingSet, Recipe, digest, prepare_set, recipes, shared_sets
from studies.similarity.sets import FILES, SENSITIVITY
from studies.write import as_markdown

PACKAGED = [name for name, one in recipes().items() if one.package]
ARCHIVED = [name for name, one in recipes().items() if one.urls]


def read(path):
    if path.suffix == ".parquet":
        return pq.read_table(path)
    with np.load(path) as arrays:
        return dict(arrays)


# -- the recipes -----------------------------------------------------------------------------------


def test_every_set_of_a_study_has_a_recipe_and_every_recipe_one_source():
    used = {*FORESTS.values(), *FILES.values(), *SENSITIVITY.values()}
    used |= {file for file, _ in LARGER.values()} | {one.file for one in GOWER.values()}
    used |= {one.file for one in SOURCES.values()}
    used |= {one[0] for one in (DENSITY_SETS | RETRIEVAL_SETS).values()}
    assert used <= recipes().keys()
    for one in recipes().values():
        assert bool(one.package) + bool(one.urls) + bool(one.archive) == 1, one.name
        assert bool(one.steps) == bool(one.archive), one.name
        assert one.prepare in ("", *module.PREPARE), one.name
        assert re.fullmatch("[0-9a-f]{64}", one.sha256), one.name


@pytest.mark.parametrize("name", shared_sets())
def test_the_hash_is_that_of_the_published_table(data_folder, name):
    assert digest(read(data.find_file(data_folder, name))) == recipes()[name].sha256


def test_packages_give_the_published_values(tmp_path):
    """Equal hashes are equal values: those of the published tables are compared above."""
    prepared = []
    for name in PACKAGED:
        try:
            path = prepare_set(name, tmp_path)
        except MissingSet as error:
            if "is not installed" not in error.reason:
                raise
            continue
        assert digest(read(path)) == recipes()[name].sha256, name
        prepared.append(name)
    assert {"iris", "wine"} <= set(prepared)  # scikit-learn is always there


def test_other_values_have_another_hash():
    table = pa.table({"a": [1.0, None], "target": ["x", "y"]})
    table = table.replace_schema_metadata({"kinds": '{"a": "R"}'})
    changed = [
        table.set_column(0, "a", pa.array([1.5, None])),
        table.set_column(0, "b", table["a"]),
        table.set_column(0, "a", pa.array([1, None])),
        table.replace_schema_metadata({"kinds": '{"a": "O"}'}),
        table.take([1, 0]),
    ]
    assert len({digest(one) for one in (table, *changed)}) == 6
    arrays = {"X": np.arange(4), "y": np.zeros(4)}
    other = [arrays | {"X": np.arange(4.0)}, arrays | {"X": np.arange(4).reshape(2, 2)}]
    assert len({digest(one) for one in (arrays, *other)}) == 3


# -- downloads -------------------------------------------------------------------------------------


@pytest.fixture
def archive(tmp_path):
    """Serve a folder on this machine; return the folder and its address."""
    folder = tmp_path / "archive"
    folder.mkdir()
    handler = functools.partial(Quiet, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield folder, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


TOY = Recipe(
    "toy",
    "",
    columns="a1..a2:iR b:fO target:s",
    rows=2,
    order="target *",
    missing="?",
    codes={"target": {"0": "no"}},
)
LINES = b"class,one,two,three\n% said\n0, 1, 2, ?\n\nyes,3.0,4,0.5\n"
COLUMNS = {"a1": [1, 3], "a2": [2, 4], "b": [None, 0.5], "target": ["no", "yes"]}


@pytest.fixture
def toy(monkeypatch):
    """Return what makes a toy recipe known, with the hash of the right values."""
    table = pa.table(COLUMNS).replace_schema_metadata(
        {"kinds": json.dumps({"a1": "R", "a2": "R", "b": "O"})}
    )

    def known(**changes):
        recipe = replace(TOY, **({"sha256": digest(table)} | changes))
        monkeypatch.setattr(module, "recipes", lambda: {"toy": recipe})
        monkeypatch.setattr(data, "recipes", lambda: {"toy": recipe})

    return known


def zipped(content):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        # Of one date: the bytes are in the names of tests, which all processes must collect alike.
        for name, cells in (("read.me", "nothing"), ("toy.csv", content)):
            archive.writestr(zipfile.ZipInfo(name), cells)
    return out.getvalue()


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("toy.csv", LINES),
        ("toy.csv.bz2", bz2.compress(LINES)),
        ("toy.zip#toy.csv", zipped(LINES)),
    ],
)
def test_a_download_is_prepared_on_request(archive, toy, tmp_path, file, content):
    folder, address = archive
    (folder / file.partition("#")[0]).write_bytes(content)
    toy(urls=[f"{address}/{file}"])
    with pytest.raises(MissingSet, match="--download"):
        prepare_set("toy", tmp_path / "out")
    path = prepare_set("toy", tmp_path / "out", download=True)
    assert pq.read_table(path).to_pydict() == COLUMNS
    assert [one.name for one in (tmp_path / "out").iterdir()] == ["toy.parquet"]


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("toy.csv", LINES.replace(b"0.5", b"0.6"), "other values"),
        ("toy.csv", LINES.replace(b"0.5", b"half"), "not as it was"),
        ("toy.csv", b"<html>gone</html>", "not as it was"),
        ("toy.csv", b"\xff\xfe", "not as it was"),
        ("toy.csv.bz2", LINES, "damaged"),
        ("toy.zip#toy.csv", LINES, "damaged"),
        ("toy.zip#other.csv", zipped(LINES), "damaged"),
        ("gone.csv", None, "could not be read"),
    ],
)
def test_a_download_that_is_not_the_published_table_is_refused(
    archive, toy, tmp_path, file, content, message
):
    folder, address = archive
    if content is not None:
        (folder / file.partition("#")[0]).write_bytes(content)
    toy(urls=[f"{address}/{file}"])
    with pytest.raises(MissingSet, match=message) as error:
        prepare_set("toy", tmp_path / "out", download=True)
    assert error.value.name == "toy"
    assert not (tmp_path / "out").exists()


def test_a_download_has_a_largest_size(archive, toy, tmp_path, monkeypatch):
    folder, address = archive
    (folder / "toy.csv").write_bytes(LINES)
    toy(urls=[f"{address}/toy.csv"])
    monkeypatch.setattr(module, "LARGEST", len(LINES) - 1)
    with pytest.raises(MissingSet, match="more than"):
        prepare_set("toy", tmp_path / "out", download=True)


def source_form(recipe, made):
    """Return files in the form of a recipe's archive that hold prepared values."""
    if recipe.prepare == "matrix_and_labels":
        return [text_of(made["X"], " "), text_of(made["y"][:, None], " ")]
    if recipe.prepare == "libsvm_matrix":
        return [libsvm_of(made["X"].tolist(), made["y"].tolist())]
    columns = made.to_pydict()
    labels = columns["target"]
    if recipe.prepare == "libsvm":
        rows = zip(*(columns[name] for name in columns if name != "target"), strict=True)
        return [libsvm_of(list(rows), labels)]
    if recipe.prepare == "joined_letters":
        rows = zip(columns["sequence"], labels, strict=True)
        return [text_of([["name", *letters, label] for letters, label in rows], ",")]
    assert not recipe.prepare
    listed = recipe.order.split()
    if "*" in listed:
        at = listed.index("*")
        listed[at : at + 1] = [name for name in columns if name not in listed]
    back = {name: {new: old for old, new in codes.items()} for name, codes in recipe.codes.items()}
    cells = [
        ["?" if cell is None else back.get(name, {}).get(str(cell), cell) for cell in columns[name]]
        if name in columns
        else ["unused"] * len(labels)
        for name in listed
    ]
    return [text_of(zip(*cells, strict=True), recipe.separator[0])]


def text_of(rows, separator):
    return "".join(separator.join(map(str, row)) + "\n" for row in rows).encode()


def libsvm_of(rows, labels):
    return "".join(
        " ".join([f"{label:+d}", *(f"{at}:{cell!r}" for at, cell in enumerate(row, 1) if cell)])
        + "\n"
        for row, label in zip(rows, labels, strict=True)
    ).encode()


@pytest.mark.parametrize("name", ARCHIVED)
def test_the_steps_for_an_archive_give_the_published_values(
    archive, data_folder, tmp_path, name, monkeypatch
):
    folder, address = archive
    recipe = recipes()[name]
    contents = source_form(recipe, read(data.find_file(data_folder, name)))
    urls = []
    for url, content in zip(recipe.urls, contents, strict=True):
        place, _, member = url.partition("#")
        file = place.rpartition("/")[2]
        if member:
            out = io.BytesIO()
            with zipfile.ZipFile(out, "w") as made:
                made.writestr(member, content)
            content = out.getvalue()
        (folder / file).write_bytes(bz2.compress(content) if file.endswith(".bz2") else content)
        urls.append(f"{address}/{file}" + (f"#{member}" if member else ""))
    monkeypatch.setattr(module, "recipes", lambda: {name: replace(recipe, urls=urls)})
    path = prepare_set(name, tmp_path / "out", download=True)
    assert digest(read(path)) == recipe.sha256


# -- the order of looking, and what is missing -----------------------------------------------------


def test_a_named_folder_comes_first_then_prepared_sets_then_packages(
    toy, tmp_path, monkeypatch, archive
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(module, "PACKAGES", tmp_path / "packages")
    named = tmp_path / "named"
    named.mkdir()
    toy(package="toys", files=["toys/toy.csv"])
    with pytest.raises(MissingSet, match="toys is not installed"):
        data.find_file(named, "toy")
    (tmp_path / "packages" / "toys").mkdir(parents=True)
    (tmp_path / "packages" / "toys" / "toy.csv").write_bytes(LINES)
    assert data.find_file(named, "toy") == data.prepared_folder() / "toy.parquet"
    (tmp_path / "packages" / "toys" / "toy.csv").unlink()
    assert data.find_file(named, "toy") == data.prepared_folder() / "toy.parquet"
    pq.write_table(pa.table({"a": [1], "target": ["x"]}), named / "toy.parquet")
    assert data.find_file(named, "toy") == named / "toy.parquet"
    with pytest.raises(MissingSet, match="no recipe"):
        data.find_file(named, "unknown")


def test_all_downloads_of_a_run_say_what_became_of_them(archive, toy, tmp_path, monkeypatch):
    folder, address = archive
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    toy(urls=[f"{address}/toy.csv"])
    ((name, reason),) = data.download_sets(tmp_path)
    assert name == "toy"
    assert "could not be read" in reason
    (folder / "toy.csv").write_bytes(LINES)
    assert list(data.download_sets(tmp_path)) == [("toy", "")]
    assert list(data.download_sets(tmp_path)) == []  # it is there now


def test_missing_sets_are_named_and_everything_else_runs(toy, tmp_path, monkeypatch, capsys):
    from rich.console import Console

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    toy(archive="an archive", steps="by hand")
    pq.write_table(pa.table({"target": ["x"]}), tmp_path / "there.parquet")
    seen = []
    parts = [
        StudyPart("some", "Some", lambda work: seen.append(work.available(both)) or Result()),
        StudyPart("none", "None", lambda work: seen.append(work.available(one)) or Result()),
        StudyPart("drawn", "Drawn", lambda work: seen.append("drawn") or Result()),
    ]
    both, one = {"There": "there", "Toy": "toy"}, {"Toy": "toy"}
    paper = Paper("paper", "A paper", "A. Author (1900)", "", parts)
    done = list(run_paper(paper, tmp_path, "quick"))
    assert seen == [["There"], "drawn"]
    reason = "it is prepared by hand from an archive (recipes.toml)"
    assert [part.missing for part in done] == [{"Toy": reason}, {"Toy": reason}, {}]
    page = as_markdown(paper, done)
    assert page.count(f"Unavailable data sets:\n\n- Toy: {reason}\n") == 2
    said = io.StringIO()
    show(Console(file=said, width=200), "None", done[1].result, done[1].missing)
    assert f"not here: Toy ({reason})" in said.getvalue()
    assert Work(tmp_path, "quick").available(one, needed=False) == []
