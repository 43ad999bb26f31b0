"""The committed pages: every flagged value has an explanation, and README agrees with them."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from studies import PAPERS, find_paper
from studies.beyond.questions import WINNERS

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "papers"
pytestmark = pytest.mark.skipif(not PAGES.is_dir(), reason="pages are only in a checkout")
NUMBER = r"[-−+]?\d+(?:\.\d+)?"


def read(name):
    return (PAGES / f"{name}.md").read_text("utf-8")


def cells(line):
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def sections(text):
    """Yield the title, the table (columns, rows) and the lines after it, of each part of a page."""
    for block in re.split(r"^#{2,3} ", text, flags=re.M)[1:]:
        title, *lines = block.splitlines()
        table = [line for line in lines if line.startswith("|")]
        if table:
            after = lines[lines.index(table[-1]) + 1 :]
            yield title, cells(table[0]), [cells(line) for line in table[2:]], after


def unexplained(text):
    """Return the values marked ! without an explanation below their table."""
    found = []
    for title, columns, rows, after in sections(text):
        said = [line for line in after if line.startswith("- ")]
        for row in rows:
            for column, cell in zip(columns, row, strict=True):
                place = f"{row[0]}, {column} ("
                sentence = next((line for line in said if place in line), "")
                # The sentence follows the last place, which ends with its difference in brackets.
                reason = re.split(rf"\({NUMBER}\): ", sentence)[-1] if sentence else ""
                if cell.endswith("!") and (len(reason) < 12 or "No cause is known" in reason):
                    found.append((title, row[0], column))
    return found


@pytest.mark.parametrize("name", PAPERS)
def test_every_flagged_value_has_its_sentence(name):
    assert unexplained(read(name)) == []


def test_a_flagged_value_without_a_sentence_is_found():
    page = "### T\n\n| set | C1 |\n|---|---|\n| a | 1 (2, −1) ! |\n| b | 1 (2, −1) ! |\n\n"
    said = "Differences beyond tolerance:\n\n- a, C1 (−1): The paper rounds twice.\n"
    assert unexplained(page + said) == [("T", "b", "C1")]
    assert len(unexplained(page)) == 2
    assert len(unexplained(page + "- a, C1 (−1); b, C1 (−1): No cause is known yet.\n")) == 2


@pytest.mark.parametrize("name", PAPERS)
def test_a_page_has_every_part_and_every_plot(name):
    text = read(name)
    titles = re.findall(r"^## (.+)$", text, flags=re.M)
    assert [part.title for part in find_paper(name).parts] == titles[-len(find_paper(name).parts) :]
    shown = set(re.findall(r"\]\(([^)]+\.png)\)", text))
    assert shown == {path.name for path in PAGES.glob(f"{name}-*.png")}


@pytest.mark.parametrize("name", ["order", "hubs", "forests", "similarity", "gower"])
def test_a_page_bears_out_three_headlines(name):
    held = re.findall(r"^\| \*\*.+\*\* \| yes \|", read(name), flags=re.M)
    assert len(held) >= 3


# -- README ----------------------------------------------------------------------------------------


def headline(paper, says):
    """Return what README has as printed and as ours for a headline of a paper."""
    rows = [cells(line) for line in (ROOT / "README.md").read_text("utf-8").splitlines()
            if line.startswith("|")]  # fmt: skip
    ((_, _, printed, ours),) = [row for row in rows if paper in row[0] and says in row[1]]
    return printed, ours


def values_of(name, sheet, *row, columns):
    """Return ours and the printed value of some cells of a page, as numbers."""
    ((head, rows),) = [(head, rows) for title, head, rows, _ in sections(read(name))
                       if title == sheet]  # fmt: skip
    (found,) = [one for one in rows if one[: len(row)] == list(row)]
    both = []
    for column in columns:
        numbers = re.findall(NUMBER, re.sub(r"±\S+", "", found[head.index(column)]))
        both.append([float(number.replace("−", "-")) for number in numbers[:2]])
    return [list(each) for each in zip(*both, strict=True)]


def finding(name, says):
    """Return whether a finding of a page holds, and its values."""
    ((_, _, rows, _),) = [one for one in sections(read(name)) if one[0] == "Findings"]
    ((_, holds, values),) = [row for row in rows if says in row[0]]
    return holds == "yes", values


def numbers(text):
    return [float(number.replace("−", "-")) for number in re.findall(r"[-−]?\d*\.\d+", text)]


def test_readme_has_the_zeros_of_simurf():
    printed, ours = headline("Fernando", "similarity 0")
    values = [values_of("order", "Table 1: agreement of two forests", f"SimURF, {trees} trees",
                    columns=["similarity 0, %"]) for trees in (100, 1000, 10000)]  # fmt: skip
    assert numbers(ours) == [one[0][0] for one in values]
    assert numbers(printed) == [one[1][0] for one in values]


def test_readme_has_the_mutual_neighbors():
    printed, ours = headline("Schnitzer", "mutual neighbors")
    _, values = finding("hubs", "Neighbors are mutual more often")
    first, brackets = re.search(r"k = 5: (.*?) \((.*?)\)", values).groups()
    assert numbers(ours) == numbers(first)
    assert numbers(printed) == [float(number) for number in brackets.split(", ")]


def test_readme_has_the_wins_of_ratiorf():
    printed, ours = headline("Bicego", "against Zhu2")
    _, values = finding("forests", "beats Zhu2")
    assert numbers(ours + printed) == numbers(values.split("ARI")[1])


def test_readme_has_the_areas_of_order():
    printed, ours = headline("Piernik", "order")
    here, there = values_of("similarity", "Table I, sequences of sets", "order", "as estimated",
                          columns=["RF", "RSF", "SF"])  # fmt: skip
    assert numbers(ours) == [round(value, 2) for value in here]
    assert numbers(printed) == there


def test_readme_has_the_errors_of_gower():
    printed, ours = headline("Seshadri", "test error")
    sheet = "Tables 2 and 3: test error of nearest neighbors, percent"
    values = [values_of("gower", sheet, row, columns=["mean", "mean, surgery left out"])
            for row in ("Gower, all rows", "Euclidean, plain numbers")]  # fmt: skip
    assert numbers(ours) == [one[0][at] for at in (0, 1) for one in values]
    assert numbers(printed) == [one[1][0] for one in values]


def test_readme_has_the_determinant():
    printed, ours = headline("the same", "determinant")
    values = values_of("gower", "The worked example: three rows, one missing value", "determinant",
                   columns=["similarity"])  # fmt: skip
    assert [round(float(Fraction(one)), 6) for one in (ours, printed)] == [
        values[0][0],
        values[1][0],
    ]


def test_readme_says_what_came_of_going_past_the_papers():
    _, ours = headline("past the papers", "measures x")
    helps, _ = finding("beyond", "mutual proximity improves neighbors, retrieval and medoids")
    beaten = [finding("beyond", f"beats {one} on tables of numbers")[1] for one in WINNERS]
    changed = [finding("beyond", f"auto\" on the validation half: {kind} tables")[0]
               for kind in ("numbers", "mixed", "any")]  # fmt: skip
    assert helps == ("mutual proximity improves" in ours)
    assert all("MP on Gower on ranks" in values for values in beaten) == (
        "MP on ranks is better" in ours
    )
    assert any(changed) != ("`auto` is unchanged" in ours)
