"""The table of README, from the page of the board: ``python -m studies.board.headlines``."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "papers" / "board.md"
HEAD = "| task (tables) | ours | mean | rank | best of the others | mean | rank |"


def headlines(page: str) -> list[str]:
    """Return one line per task: the default of ours and the best other, by mean, reported half.

    Parameters
    ----------
    page : str, the page as Markdown

    Examples
    --------
    >>> from studies.board.headlines import headlines
    >>> page = '''### Toys, half reported
    ... Scores times 100, mean over 9 tables.
    ... | contender | ours | mean | mean rank |
    ... |---|---|---|---|
    ... | a | yes | 70.0 | 1.50 |
    ... | b |  | 71.0 | 1.25 |
    ... | c |  | 71.5 | 3.25 |
    ... ### Toys, a against each
    ... | against | wins |
    ... '''
    >>> headlines(page)[-1]
    '| Toys (9) | a | 70.0 | 1.50 | c | 71.5 | 3.25 |'
    """
    lines = [HEAD, "|---|---|---|---|---|---|---|"]
    for block in re.split(r"^### ", page, flags=re.M)[1:]:
        title = block.splitlines()[0].removesuffix(", half reported")
        if title == block.splitlines()[0]:
            continue
        n_tables = re.findall(r"mean over (\d+) tables", block)[0]
        cells = [line.strip("| ").split("|") for line in block.splitlines() if line[:1] == "|"]
        rows = [[cell.strip() for cell in row] for row in cells[2:]]
        against = re.search(rf"^### {re.escape(title)}, (.+) against each$", page, flags=re.M)
        assert against is not None
        ours = next(row for row in rows if row[0] == against[1])
        other = max((row for row in rows if row[1] != "yes"), key=lambda row: float(row[2]))
        shown = [ours[0], *ours[2:4], other[0], *other[2:4]]
        lines.append(f"| {title} ({n_tables}) | {' | '.join(shown)} |")
    return lines


if __name__ == "__main__":
    print("\n".join(headlines(PAGE.read_text("utf-8"))))
