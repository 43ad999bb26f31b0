"""The core installs nothing whose licence asks more of its users than ours does."""

import importlib.metadata as metadata
import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
CORE = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
COPYLEFT = re.compile(r"\b(A|L)?GPL|GNU (Affero|Lesser|General)", re.IGNORECASE)


def installed_by(lines):
    """Every distribution that these requirements bring along, theirs included."""
    todo, seen = [Requirement(line) for line in lines], {}
    while todo:
        requirement = todo.pop()
        name = requirement.name.lower().replace("_", "-")
        if name in seen or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        seen[name] = metadata.metadata(requirement.name)
        todo += [Requirement(line) for line in metadata.requires(requirement.name) or []]
    return seen


def licence_of(facts):
    classifiers = [c for c in facts.get_all("Classifier") or [] if c.startswith("License ::")]
    words = [facts.get("License-Expression") or "", *classifiers]
    first_lines = (facts.get("License") or "").strip().splitlines()[:3]
    return " | ".join([*words, *first_lines])


EVERYBODY = installed_by(CORE)


@pytest.mark.parametrize("name", sorted(EVERYBODY))
def test_no_copyleft_in_the_core(name):
    licence = licence_of(EVERYBODY[name])
    assert licence.strip(" |"), f"{name} does not say its licence"
    assert not COPYLEFT.search(licence), f"{name}: {licence}"


def test_the_check_would_notice():
    assert COPYLEFT.search("GPL-3.0-or-later")
    assert COPYLEFT.search("License :: OSI Approved :: GNU General Public License v3 (GPLv3)")
    assert not COPYLEFT.search("BSD-3-Clause | MIT")


def test_k_medoids_of_others_is_a_rival_only():
    assert not any(Requirement(line).name == "kmedoids" for line in CORE)
