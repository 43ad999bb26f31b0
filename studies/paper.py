"""A paper and its parts, and where they are found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

from lookalike.errors import InvalidInput
from studies.result import Result
from studies.work import Work

# One module each, with the name PAPER in it; imported when it is asked for.
PAPERS = {
    "order": "studies.order",
    "hubs": "studies.hubs",
    "forests": "studies.forests",
    "similarity": "studies.similarity",
    "gower": "studies.gower",
    "beyond": "studies.beyond",
    "scales": "studies.scales",
    "map": "studies.maps",
}


@dataclass(frozen=True)
class StudyPart:
    """One table or figure of a paper: ``run`` is given the work's folder, effort and memory."""

    name: str
    title: str
    run: Callable[[Work], Result]


@dataclass(frozen=True)
class Reading:
    """Something a paper leaves open: in which tables, what, and how it is read here."""

    where: str
    left_open: str
    used: str


@dataclass(frozen=True)
class Paper:
    """A paper: what it claims, and the parts that check it.

    Parameters
    ----------
    name : str, as on the command line
    title : str, of the page
    citation : str, authors, year, title, DOI
    about : str, a paragraph: what the paper claims, in our words
    parts : the tables and figures, in the paper's order
    summary : what came out, as Markdown, written after reading the figures
    readings : what the paper leaves open, and what was taken instead
    """

    name: str
    title: str
    citation: str
    about: str
    parts: Sequence[StudyPart]
    summary: str = ""
    readings: Sequence[Reading] = ()


def find_paper(name: str) -> Paper:
    """Return a paper by its name on the command line.

    Parameters
    ----------
    name : str, one of ``PAPERS``

    Examples
    --------
    >>> from studies import find_paper
    >>> find_paper("hubs").citation[:15]
    'D. Schnitzer, A'
    """
    if name not in PAPERS:
        do = f"Choose one of {', '.join(PAPERS)}"
        raise InvalidInput("studies", "the name of a paper", repr(name), do)
    path = PAPERS[name]
    paper: Paper = import_module(path).PAPER
    return paper
