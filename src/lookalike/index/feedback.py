"""Relevance feedback in rounds: mark rows as right or wrong, and search again."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from lookalike.errors import InPython, InvalidInput
from lookalike.index.hits import Hits
from lookalike.index.index import Index
from lookalike.index.segments import as_id


@dataclass(frozen=True, eq=False)
class Round:
    """One round of a session.

    Parameters
    ----------
    like, unlike : tuple of ids that were marked in this round
    hits : Hits, the answer after it
    """

    like: tuple[Any, ...]
    unlike: tuple[Any, ...]
    hits: Hits


@dataclass(eq=False, repr=False)
class FeedbackSession:
    """Refine a search by saying which rows are right and which are not.

    Every mark counts in all later rounds; marked rows are no longer listed.

    Parameters
    ----------
    index : Index, fitted
    query : id or record
    k : int
        The number of rows in each round.
    gamma : float
        The weight of rows that are not liked.
    filter : optional
        Which rows may be found (see ``Index.search``).
    weights, columns : optional
        How much columns matter in all rounds of feedback (see ``Index.search``).

    Examples
    --------
    >>> import lookalike as la
    >>> from lookalike.index import FeedbackSession
    >>> index = la.Index().fit({"size": [1.0, 2.0, 3.0, 7.0, 8.0, 9.0]})
    >>> session = FeedbackSession(index, 0, k=2)
    >>> session.hits.ids
    [1, 2]
    >>> session.like(4).ids
    [2, 3]
    >>> session.unlike([1, 2]).ids
    [3, 5]
    >>> session.undo().ids, session.round
    ([2, 3], 1)
    """

    index: Index
    query: Any
    _: KW_ONLY
    k: int = 10
    gamma: float = 0.5
    filter: Any = None
    weights: Mapping[str, float] | None = None
    columns: Any = None

    def __post_init__(self) -> None:
        self._rounds = [Round((), (), self._search((), ()))]

    @property
    def hits(self) -> Hits:
        """The current answer."""
        return self._rounds[-1].hits

    @property
    def round(self) -> int:
        """How many rounds of feedback there have been."""
        return len(self._rounds) - 1

    @property
    def history(self) -> list[Round]:
        """All rounds; the first is the search without feedback."""
        return list(self._rounds)

    @property
    def liked(self) -> tuple[Any, ...]:
        """All ids that are liked, in the order in which they were marked."""
        return tuple(id for each in self._rounds for id in each.like)

    @property
    def unliked(self) -> tuple[Any, ...]:
        """All ids that are not liked, in the order in which they were marked."""
        return tuple(id for each in self._rounds for id in each.unlike)

    def like(self, ids: Any) -> Hits:
        """Mark rows as right and search again: a round of its own.

        Parameters
        ----------
        ids : id, or ids
        """
        return self.mark(like=ids)

    def unlike(self, ids: Any) -> Hits:
        """Mark rows as wrong and search again: a round of its own.

        Parameters
        ----------
        ids : id, or ids
        """
        return self.mark(unlike=ids)

    def mark(self, like: Any = (), unlike: Any = ()) -> Hits:
        """Mark rows as right and others as wrong, and search again, in one round.

        Repeating a mark has no effect. An unknown id, or one on both sides, is an error that
        changes nothing.

        Parameters
        ----------
        like, unlike : id, or ids
        """
        who, yes, no = "FeedbackSession.mark", _listed(like), _listed(unlike)
        if not yes and not no:
            raise InvalidInput(who, "ids to mark", "none", "Name at least one")
        for ids, other, word in ((yes, self.unliked, "not liked"), (no, self.liked, "liked")):
            for id in ids:
                if id in other:
                    found = f"id {id!r}, which is marked as {word}"
                    hint = ("Take the earlier mark back", InPython(" with undo()"))
                    raise InvalidInput(who, "each row on one side only", found, hint)
        yes = tuple(id for id in yes if id not in self.liked)
        no = tuple(id for id in no if id not in self.unliked)
        # The search may raise: the round is added after it, so that an error changes nothing.
        hits = self._search((*self.liked, *yes), (*self.unliked, *no))
        self._rounds.append(Round(yes, no, hits))
        return hits

    def undo(self) -> Hits:
        """Take the last round back; return the answer as it was before."""
        if not self.round:
            who = "FeedbackSession.undo"
            raise InvalidInput(who, "a round to take back", "none", "Mark rows first")
        self._rounds.pop()
        return self.hits

    def _search(self, like: tuple[Any, ...], unlike: tuple[Any, ...]) -> Hits:
        names = ("gamma", "filter", "weights", "columns")
        options = {name: getattr(self, name) for name in names}
        hits = self.index.search(self.query, self.k, like=like, unlike=unlike, **options)
        if isinstance(hits, list):
            hint = "Start a session for each of them"
            raise InvalidInput("FeedbackSession", "one query", f"{len(hits)}", hint)
        return hits


def _listed(ids: Any) -> tuple[Any, ...]:
    """Return ids as a tuple, each once."""
    several = isinstance(ids, list | tuple | set | frozenset | np.ndarray)
    return tuple(dict.fromkeys(as_id(id) for id in (ids if several else [ids])))
