"""A paper and its parts: where they are found, and how they are run."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module

from lookalike.errors import InvalidInput
from studies.recipes import MissingSet
from studies.result import Result
from studies.work import Work, source_of

# One module each, with the name PAPER in it; imported when it is asked for.
PAPERS = {
    "order": "studies.order",
    "hubs": "studies.hubs",
    "forests": "studies.forests",
    "similarity": "studies.similarity",
    "gower": "studies.gower",
    "beyond": "studies.beyond",
    "defaults": "studies.defaults",
    "outliers": "studies.outliers",
    "neighbors": "studies.neighbors",
    "imputation": "studies.imputation",
    "scales": "studies.scales",
    "map": "studies.maps",
    "board": "studies.board",
}


@dataclass(frozen=True)
class StudyPart:
    """One table or figure of a paper: ``run`` gets the data folder, the effort and the cache."""

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
    summary : the conclusions, as Markdown
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


@dataclass(frozen=True)
class FinishedPart:
    """A part that was run: its result, seconds, effort, and the unavailable data sets."""

    part: StudyPart
    result: Result
    seconds: float
    effort: str
    missing: Mapping[str, str] = field(default_factory=dict)


def run_paper(
    paper: Paper,
    data: str | os.PathLike[str],
    effort: str = "default",
    keep: str | os.PathLike[str] | None = None,
    parts: Sequence[str] | None = None,
    efforts: Mapping[str, str] | None = None,
) -> Iterator[FinishedPart]:
    """Run a paper's parts and give each as soon as it is done.

    Parameters
    ----------
    paper : Paper
    data : path, the folder in which data sets are looked for first
    effort : "quick", "default" or "full"
    keep : path, the folder of cached results; None: no cache
    parts : names of parts; None for all
    efforts : mapping of a part's name to its own effort, instead of the common one

    Examples
    --------
    >>> from studies import Finding, Paper, StudyPart, Result, run_paper
    >>> part = StudyPart(
    ...     "one", "One", lambda work: Result(findings=[Finding("1 < 2", 1 < 2, "1, 2")])
    ... )
    >>> paper = Paper("toy", "A toy", "A. Author (1900)", "", [part])
    >>> [done.result.findings[0].holds for done in run_paper(paper, ".", "quick")]
    [True]
    """
    known = [part.name for part in paper.parts]
    own = efforts or {}
    # An effort for a part that is not run would have no effect.
    for names, allowed in ((parts or (), known), (own, parts or known)):
        for name in names:
            if name not in allowed:
                do = f"Choose from {', '.join(allowed)}"
                who = f"studies {paper.name}"
                raise InvalidInput(who, "the name of a part", repr(name), do)
    for part in paper.parts:
        if parts and part.name not in parts:
            continue
        started = time.perf_counter()
        much = own.get(part.name, effort)
        source = source_of(inspect.getmodule(part.run))
        work = Work(data, much, keep, f"{paper.name}-{part.name}", source)
        try:
            result = part.run(work)
        except MissingSet as error:  # of this part nothing can be run; the others go on
            work.missing[error.name] = error.reason
            result = Result()
        seconds = time.perf_counter() - started
        yield FinishedPart(part, result, seconds, much, work.missing)
