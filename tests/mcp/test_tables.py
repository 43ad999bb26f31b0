"""Agents reach the files of one folder, and none outside of it."""

import os

import pytest

from lookalike import Index
from lookalike.errors import InvalidInput, LookalikeError, MissingFile
from lookalike.mcp.tables import MAX_KEPT, Tables

PETS = "name,weight\nTom,4\nRex,30\nKit,5\n"


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "inside"
    (inside / "deep").mkdir(parents=True)
    (inside / "pets.csv").write_text(PETS)
    (inside / "deep" / "more.csv").write_text(PETS)
    (inside / "notes.md").write_text("no table")
    (tmp_path / "secret.csv").write_text(PETS)
    return inside


def test_tables_below_the_folder_are_listed(folder):
    assert Tables(folder).listed() == ["deep/more.csv", "pets.csv"]


@pytest.mark.parametrize("name", ["../secret.csv", "deep/../../secret.csv", "{tmp}/secret.csv"])
def test_a_path_outside_is_refused(folder, name):
    with pytest.raises(InvalidInput, match="outside"):
        Tables(folder).source(name.format(tmp=folder.parent))


def test_a_link_to_a_file_outside_is_refused_and_not_listed(folder):
    os.symlink(folder.parent / "secret.csv", folder / "link.csv")
    tables = Tables(folder)
    with pytest.raises(InvalidInput, match="outside"):
        tables.source("link.csv")
    assert "link.csv" not in tables.listed()


def test_a_folder_with_a_link_to_the_outside_is_refused(folder):
    os.symlink(folder.parent / "secret.csv", folder / "deep" / ".part.csv")
    with pytest.raises(InvalidInput, match="outside"):
        Tables(folder).source("deep")


def test_a_link_within_the_folder_is_followed(folder):
    os.symlink(folder / "pets.csv", folder / "same.csv")
    assert len(Tables(folder).source("same.csv").rows().table) == 3


def test_links_in_a_circle_pipes_and_names_of_any_length_are_no_tables(folder):
    os.symlink("loop.csv", folder / "loop.csv")
    os.mkfifo(folder / "pipe.csv")
    tables = Tables(folder)
    assert tables.listed() == ["deep/more.csv", "pets.csv"]
    for name in ("loop.csv", "a" * 5_000, "http://127.0.0.1/pets.csv"):
        with pytest.raises(MissingFile):
            tables.source(name)


def test_a_folder_of_very_many_files_is_not_walked(folder, monkeypatch):
    monkeypatch.setattr("lookalike.mcp.tables.MAX_VISITED", 2)
    with pytest.raises(InvalidInput, match="more than 2 files"):
        Tables(folder).source(".")


def test_patterns_are_refused(folder):
    with pytest.raises(InvalidInput, match="one file"):
        Tables(folder).source("*.csv")


def test_a_mistyped_name_is_answered_with_the_nearest(folder):
    with pytest.raises(MissingFile, match=r"Did you mean 'pets\.csv'"):
        Tables(folder).source("pest.csv")


def test_a_folder_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(LookalikeError):
        Tables(tmp_path / "none")


def test_a_table_is_read_once_until_it_changes(folder):
    tables = Tables(folder)
    first = tables.source("pets.csv").given
    assert tables.source("pets.csv").given is first
    assert tables.source("pets.csv", {"weight": "category"}).given is not first
    (folder / "pets.csv").write_text(PETS + "Ann,7\n")
    assert len(tables.source("pets.csv").given) == 4


def test_the_longest_unused_tables_are_forgotten(folder):
    tables = Tables(folder)
    first = tables.source("pets.csv").given
    for i in range(MAX_KEPT):
        (folder / f"{i}.csv").write_text(PETS)
        tables.source(f"{i}.csv")
    assert tables.source("pets.csv").given is not first


def test_a_saved_index_is_a_table_with_kinds_of_its_own(folder):
    Index().fit({"size": [1.0, 2.0, 4.0]}).save(folder / "sizes.lookalike")
    tables = Tables(folder)
    assert len(tables.source("sizes.lookalike").rows().table) == 3
    with pytest.raises(InvalidInput, match="kinds"):
        tables.source("sizes.lookalike", {"size": "category"})
