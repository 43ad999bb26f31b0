"""Find the rows most like a row or a record, with reasons and with feedback."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from lookalike.errors import InvalidInput, Param, Phrase
from lookalike.index.filters import read_filter
from lookalike.index.hits import Hit, Hits
from lookalike.index.index_base import AUTO, _IndexBase
from lookalike.index.query import Queries
from lookalike.index.reasons import Reasons
from lookalike.index.relevance import check_gamma
from lookalike.index.segments import Feedback, rows_at
from lookalike.index.snapshot import Snapshot
from lookalike.index.weights import reweigh
from lookalike.measures.contract.base import Measure
from lookalike.measures.contract.explanation import Explanation
from lookalike.measures.contract.rows import concatenate as join_rows
from lookalike.neighbors.graph import NeighborGraph
from lookalike.saving.fields import Integer

WHO = "Index.search"
INFINITY = float("inf")


class Index(_IndexBase):
    """Find the rows most like a row or a record, and keep doing so while rows come and go.

    Every row has an id that stays: whole numbers from 0 in the order of the rows, never given
    twice, or the values of a column, or the labels of a pandas frame (see ``fit``). Rows that are
    added are read and encoded as the fitted ones were; nothing is learned from them until
    ``refit``. Deleting hides a row.

    Parameters
    ----------
    measure : Measure, name of one, or "auto"
        How alike rows are: ``Gower()``, or "gower" (see ``lookalike.measures.make_measure``).
        "auto" chooses by the columns, the gaps, the number of rows and the hubs of a sample;
        ``reason_`` says why (see ``choose_measure``). A clone is fitted; the frozen form of a
        fitted measure keeps what it has learned.
    id_column : str, optional
        A column whose values name the rows; they must differ, and are not compared. Ids written
        with leading zeros in a CSV file need ``kinds={id_column: "text"}``.
    kinds : mapping of column to kind, optional
        What columns hold, where reading them does not guess it (see ``read_table``).
    approximate : bool
        Whether a search may miss some of the nearest rows, to be quicker on very many rows. Rows
        are linked to near ones, and a search walks the links; what it finds is compared by the
        measure itself, so distances are exact. For ``StochasticForest``, ``ForestProximity`` by
        shared leaves and ``Vector``; other measures are searched exactly, and so are tables where
        that is as quick (fewer than 8,192 rows, or 8 million leaves: rows times trees). Needs the
        extra "fast" (faiss).
    recall : float
        The share of the ten nearest rows that an approximate search should find. How far it looks
        is tuned until a sample of the rows is found as well; ``recall_`` says how well.
    n_jobs : int, optional
        Threads; None: the setting of ``lookalike.config``. Answers do not depend on it.

    Attributes
    ----------
    measure_ : the fitted measure
    recall_ : float, the measured share of the ten nearest rows found; 1 for exact search
    reason_ : str
        Why this measure.
    schema_ : how rows are read
    n_features_in_ : number of columns that are compared

    Notes
    -----
    Lists are ordered by (score, age of the row): ties go to the row that came first. They hold
    fewer than k rows if fewer are there. Rows with nothing to compare to the query come last, at
    distance None.

    Several threads may use one index at once. Every call that reads (``search``, ``explain``,
    ``get``, ``ids``, ``table``, ``save``, ...) reads the index as it stood when the call began (a
    snapshot) and never waits. Calls that write (``add``, ``delete``, ``refit``) take turns, and a
    row is there for everybody once the call that added it has returned. Two calls may see two
    states: an id that was found may be deleted before it is asked for.

    Examples
    --------
    >>> import lookalike as la
    >>> index = la.Index().fit(la.datasets.load_films())
    >>> star_wars = index.search({"title": "Star Wars", "year": 1977, "length": 121}, k=3)
    """

    def __init__(
        self,
        measure: Measure | str = AUTO,
        *,
        id_column: str | None = None,
        kinds: Mapping[str, Any] | None = None,
        approximate: bool = False,
        recall: float = 0.95,
        n_jobs: int | None = None,
    ) -> None:
        self.measure = measure
        self.id_column = id_column
        self.kinds = kinds
        self.approximate = approximate
        self.recall = recall
        self.n_jobs = n_jobs

    # -- searching ---------------------------------------------------------------------------------

    def search(
        self,
        query: Any,
        k: int = 10,
        *,
        like: Any = (),
        unlike: Any = (),
        gamma: float = 0.5,
        filter: Any = None,
        weights: Mapping[str, float] | None = None,
        columns: Any = None,
    ) -> Hits | list[Hits]:
        """Return the rows most like the query.

        With ``like`` and ``unlike`` rows are ranked by their mean distance to the query and the
        rows that are liked, minus ``gamma`` times their mean distance to those that are not
        (see ``rocchio``). Rows that were marked are not in the answer, nor is the query.

        Parameters
        ----------
        query : id, record, row of a table, or several of them
            A record is a dictionary; columns that it does not name are gaps, where the measure
            takes gaps. A list of ids and records, or a table of several rows, is answered by a
            list of answers.
        k : int
            How many rows to find; fewer are returned if there are not as many.
        like, unlike : ids or records
        gamma : float
            How much the rows that are not liked count.
        filter : mapping, callable, ids or boolean array, optional
            Which rows may be found. A mapping of column to condition: a value, ``(">=", 5)``,
            ``{"in": [...]}`` or None for a gap; operators are == != < <= > >= in "not in" and
            contains, and all conditions must hold. A function of the record that returns a bool.
            A list of ids. A boolean array with one entry per row, in the order of ``ids``.
        weights : mapping of column to number of at least 0, optional
            How much columns matter in this question: each number multiplies the fitted weight of
            its column, which is 1 unless the measure was given another; columns that are not named
            keep theirs, and 0 leaves a column out. The answer is that of an index fitted with
            these weights. For measures that weigh columns, such as ``Gower``; those that learned
            from the fitted weights, such as hubness reducers, raise an error with the reason.
        columns : name or names, optional
            Only these columns count in this question; the others have weight 0.

        Returns
        -------
        Hits, or a list of Hits for several queries

        Examples
        --------
        >>> import lookalike as la
        >>> pets = {"weight": [4.0, 30.0, 5.0, 28.0], "animal": ["cat", "dog", "cat", "wolf"]}
        >>> index = la.Index().fit(pets)
        >>> index.search(0, k=2).ids
        [2, 3]
        >>> index.search({"weight": 29.0}, k=2, filter={"animal": {"in": ["dog", "wolf"]}}).ids
        [1, 3]
        >>> index.search(0, k=1, unlike=2)[0].row
        {'weight': 28.0, 'animal': 'wolf'}
        >>> index.search({"weight": 29.0, "animal": "cat"}, k=2, weights={"animal": 3}).ids
        [2, 0]
        >>> index.search({"weight": 29.0, "animal": "cat"}, k=2, columns="weight").ids
        [1, 3]
        """
        now = self._now()
        reader = now.reader
        Integer(1).check(WHO, "k", k, "Ask for at least one row")
        check_gamma(gamma, WHO)
        k = max(1, min(int(k), len(now.segments)))  # room for lists is made in advance
        queries = reader.read(query, Phrase(Param("query", of=WHO)))
        liked = reader.read_some(like, Phrase(Param("like", of=WHO)))
        unliked = reader.read_some(unlike, Phrase(Param("unlike", of=WHO)))
        _check_marks(now, queries, liked, unliked)
        measure = reweigh(now.measure, now.schema, weights, columns, WHO)
        masks = read_filter(filter, now.names, now.schema)
        if liked is None and unliked is None:
            nobody = np.empty(0, np.int64)
            sketches = self._sketches if measure is now.measure else None
            graph = now.segments.nearest(
                measure, queries.rows, k, queries.places, nobody, masks, sketches
            )
            answers = [_hits(now, measure, queries, i, graph, i) for i in range(len(queries))]
        else:
            answers = []
            for i in range(len(queries)):
                feedback, hide = _feedback(queries, i, liked, unliked, gamma)
                graph = now.segments.best(measure, feedback, k, hide, masks)
                answers.append(_hits(now, measure, queries, i, graph, 0, by_distance=False))
        return answers[0] if queries.one else answers

    def explain(
        self,
        a: Any,
        b: Any,
        *,
        weights: Mapping[str, float] | None = None,
        columns: Any = None,
    ) -> Explanation:
        """Say why two rows are alike, column by column.

        Parameters
        ----------
        a, b : ids, records, or tables of one row
        weights, columns
            How much columns matter, as in ``search``; the reasons add up under these weights.
        """
        now = self._now()
        one, other = (_read_one(now, side) for side in (a, b))
        measure = reweigh(now.measure, now.schema, weights, columns, "Index.explain")
        found = Reasons(
            measure, one.rows, one.cells[0], lambda: other.rows, other.cells, now.styles
        )
        return found.of(0)


def _check_marks(
    now: Snapshot, queries: Queries, liked: Queries | None, unliked: Queries | None
) -> None:
    """Refuse a row that is wanted and not wanted at once."""
    if unliked is None:
        return
    no = set(unliked.places[unliked.places >= 0].tolist())
    for what, wanted in (("like", liked), ("the query", queries)):
        both = [] if wanted is None else [p for p in wanted.places.tolist() if p in no]
        if both:
            id = now.names.of(both[:1])[0]
            found = f"id {id!r} in unlike and {'in ' if what == 'like' else 'as '}{what}"
            raise InvalidInput(
                WHO, "each row on one side only", found, "Take it out of one of them"
            )


def _feedback(
    queries: Queries, i: int, liked: Queries | None, unliked: Queries | None, gamma: float
) -> tuple[Feedback, np.ndarray]:
    """Return what one query wants to be near to and far from, and the rows not to be listed."""
    own = int(queries.places[i])
    yes = None if liked is None else liked.once(own)
    no = None if unliked is None else unliked.once(own)
    positive = [queries.rows[i : i + 1], *([] if yes is None else [yes])]
    marked = [m.places for m in (liked, unliked) if m is not None]
    hide = np.unique(np.concatenate([[own], *marked]))
    return Feedback(join_rows(positive), no, gamma), hide[hide >= 0]


def _hits(
    now: Snapshot,
    measure: Measure,
    queries: Queries,
    i: int,
    graph: NeighborGraph,
    at: int,
    by_distance: bool = True,
) -> Hits:
    """Return what was found for query i, list ``at`` of a graph, with the similarities to it."""
    indices, scores = graph.indices[at], graph.distances[at]
    if (indices < 0).any():  # fewer were there
        indices, scores = indices[indices >= 0], scores[indices >= 0]
    places = indices.tolist()
    query, one = queries.rows[i : i + 1], queries.cells[i]
    hits = []
    if places:
        looked_up = now.segments.look_up(places)
        cells = [(segment.table, row) for segment, row in looked_up]
        reasons = Reasons(measure, query, one, partial(rows_at, looked_up), cells, now.styles)
        far, near = scores, measure.similarity_at(scores) if by_distance else None
        if near is None:
            far, near = (values[0] for values in measure.both_blocks(query, reasons.rows))
        columns = now.names.of(places), scores.tolist(), far.tolist(), near.tolist()
        for number, (id, score, apart, alike) in enumerate(zip(*columns, strict=True)):
            why = partial(reasons.of, number)
            hits.append(Hit(id, _finite(score), _finite(apart), _finite(alike), cells[number], why))
    table, row = one
    return Hits(hits, partial(table.record, row))


def _read_one(now: Snapshot, side: Any) -> Queries:
    read = now.reader.read(side, "Index.explain")
    if len(read) != 1:
        needed, hint = "one row on each side", "Give an id, a record, or a table of one row"
        raise InvalidInput("Index.explain", needed, f"{len(read)} rows", hint)
    return read


def _finite(value: float) -> float | None:
    return value if -INFINITY < value < INFINITY else None
