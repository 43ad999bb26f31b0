"""The core installs nothing whose licence asks more of its users than ours does."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from docs._generate import ADVISORIES, brought_by, dependencies_page
from test_repository import pins, requirements

ROOT = Path(__file__).parents[1]
CORE = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
COPYLEFT = re.compile(r"\b(A|L)?GPL|GNU (Affero|Lesser|General)", re.IGNORECASE)


def licence_of(facts):
    classifiers = [c for c in facts.get_all("Classifier") or [] if c.startswith("License ::")]
    words = [facts.get("License-Expression") or "", *classifiers]
    first_lines = (facts.get("License") or "").strip().splitlines()[:3]
    return " | ".join([*words, *first_lines])


EVERYBODY = brought_by(CORE)


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


def test_the_page_of_dependencies_names_each_with_a_licence():
    page = dependencies_page()
    licences, advisories = page.split("## Known vulnerabilities")
    lines = [line for line in licences.splitlines() if line.startswith("| [")]
    assert all(f"[{one[1]}]" in advisories for one in ADVISORIES)
    names = [line.split("]")[0].removeprefix("| [") for line in lines]
    assert names == sorted(set(names))
    assert set(EVERYBODY) <= set(names)
    assert not [line for line in lines if not line.split("|")[3].strip()]
    core = {name for name, line in zip(names, lines, strict=True) if line.endswith("| core |")}
    assert core == set(EVERYBODY)


@pytest.mark.parametrize(("name", "advisory", "what", "fixed"), ADVISORIES, ids=str)
def test_no_known_vulnerability_is_pinned_or_within_our_bounds(name, advisory, what, fixed):
    (pinned,) = pins()[name].specifier
    assert Version(pinned.version) >= Version(fixed)
    for requirement in requirements():
        if requirement.name == name:
            lowest = [bound.version for bound in requirement.specifier if bound.operator == ">="]
            assert Version(lowest[0]) >= Version(fixed)
