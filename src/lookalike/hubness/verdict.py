"""What the figures of a hubness report mean, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike._runtime.text import percent

if TYPE_CHECKING:
    from lookalike.hubness.report import HubnessReport
    from lookalike.table import Table

SOME = 1.0  # skewness of the k-occurrence from which hubs are worth a look
MANY = 1.4  # and from which few rows rule; the threshold of the hubness literature
TOP = 10  # rows in the most lists that are looked at for gaps


def verdict(report: HubnessReport) -> str:
    """Say whether hubs are a problem, what a repair changed, and whether labels agree better.

    Parameters
    ----------
    report : HubnessReport
    """
    before, *after = report.figures.values()
    sentences = [_state(before, report), *(_change(before, one) for one in after)]
    if not after and _number(before, "skewness") > SOME:
        sentences.append("A repair, such as mutual proximity, may help.")
    if report.test is not None:
        word = "significant" if report.test.significant else "not significant"
        sentences.append(
            f"Votes that are right only after the repair: {report.test.only_second}, only before: "
            f"{report.test.only_first} (McNemar p = {report.test.pvalue:.3g}, {word})."
        )
    return " ".join(sentences)


def _number(figures: dict[str, float | None], name: str) -> float:
    value = figures.get(name)
    return 0.0 if value is None else value


def _state(figures: dict[str, float | None], report: HubnessReport) -> str:
    skewness = _number(figures, "skewness")
    largest, orphans = _number(figures, "largest"), _number(figures, "orphans")
    many = 1.0 - _number(figures, "reachability")
    lists = f"the row in the most lists is in {largest:,.0f} where {report.k} is the mean"
    none = "every row is in at least one"
    if orphans:
        rows = "1 row" if round(orphans) == 1 else f"{orphans:,.0f} rows"
        none = f"{rows} ({percent(many)}) {'is' if rows == '1 row' else 'are'} in none"
    if skewness > MANY:
        word = "Strong hubness"
    elif skewness > SOME:
        word = "Some hubness"
    else:
        word = "No hubness to speak of"
    return f"{word} (skewness {skewness:.2f}): {lists}, and {none}."


def _change(before: dict[str, float | None], after: dict[str, float | None]) -> str:
    old, new = _number(before, "skewness"), _number(after, "skewness")
    word = "lowers" if new < old else "does not lower"
    largest = f"{_number(before, 'largest'):,.0f} to {_number(after, 'largest'):,.0f} lists"
    orphans = f"{_number(before, 'orphans'):,.0f} to {_number(after, 'orphans'):,.0f}"
    return (
        f"The repair {word} the skewness ({old:.2f} to {new:.2f}); the largest hub goes from "
        f"{largest}, the rows in none from {orphans}."
    )


def gaps_of_hubs(report: HubnessReport, table: Table) -> str | None:
    """Say so if the rows in the most lists are rows with missing cells.

    What is missing cannot differ, so rows with gaps may be near to everybody.

    Parameters
    ----------
    report : HubnessReport
    table : Table
        The rows it is about.

    Returns
    -------
    A sentence, or None where the largest hubs have no more gaps than other rows.
    """
    gaps: Any = np.zeros(len(table), dtype=np.int64)
    for column in table:
        gaps = gaps + column.missing
    top = [int(line["row"]) for line in report.top(TOP)]
    have, usual = float((gaps[top] > 0).mean()), float((gaps > 0).mean())
    if have <= usual + 0.25 or have < 0.5:
        more, mean = float(gaps[top].mean()), float(gaps.mean())
        if more < 2.0 * mean or more < 1.0:
            return None
        return (
            f"The {len(top)} rows in the most lists lack {more:.1f} cells each, where {mean:.1f} "
            "is the mean: what is missing cannot differ, so they are near to everybody."
        )
    return (
        f"{percent(have)} of the {len(top)} rows in the most lists have a missing cell, "
        f"{percent(usual)} of all rows do: what is missing cannot differ, so they are near to "
        "everybody."
    )
