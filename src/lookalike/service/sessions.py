"""Feedback sessions that outlive the server: marks are stored, answers are computed again."""

from __future__ import annotations

import datetime as dt
import json
import secrets
from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any

import sqlalchemy as sa

from lookalike.errors import InvalidInput
from lookalike.index import FeedbackSession
from lookalike.index.hits import SearchInfo
from lookalike.service.answers import answer_of, read_options, read_query
from lookalike.service.cells import dumps
from lookalike.service.collection import View
from lookalike.service.problems import collected
from lookalike.service.store import database as t
from lookalike.service.store.database import Database
from lookalike.service.store.store import NotFound, now

EXPIRY_DAYS = 30  # after the last mark
SIDES = ("like", "unlike")


class Sessions:
    """The feedback sessions of a store.

    Parameters
    ----------
    database : Database
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def start(self, view: View, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Begin a session with a search; return its document."""
        id = secrets.token_hex(8)
        query = asked["query"]
        # By its id from now on: rows that are added later may have the same name.
        if isinstance(query, str | int):
            query = {"id": read_query(view, query)}
        document: dict[str, Any] = {"asked": {**asked, "query": query}, "rounds": []}
        answer = _answer(id, view, document)
        self.sweep()
        values = {"id": id, "collection": view.key, "document": dumps(document)}
        self._database.change(t.sessions.insert().values(**values, touched=now()))
        return answer

    def get(self, view: View, id: str) -> dict[str, Any]:
        """Return the document of a session, with a new answer if rows have changed."""
        return _answer(id, view, json.loads(self._read(view, id)))

    def mark(self, view: View, id: str, like: list[Any], unlike: list[Any]) -> dict[str, Any]:
        """Mark rows as liked or not; return the document after it."""
        view.require([*like, *unlike])

        def change(document: dict[str, Any]) -> None:
            session = _replay(view, document)
            session.mark(like=like, unlike=unlike)
            last = session.history[-1]
            document["rounds"].append({"like": list(last.like), "unlike": list(last.unlike)})

        return self._change(view, id, change)

    def undo(self, view: View, id: str) -> dict[str, Any]:
        """Take the last round back; return the document after it."""

        def change(document: dict[str, Any]) -> None:
            if not document["rounds"]:
                raise InvalidInput("session", "a round to take back", "none", "Mark rows first")
            document["rounds"].pop()

        return self._change(view, id, change)

    def delete(self, view: View, id: str) -> None:
        """Forget a session."""
        self._read(view, id)
        self._database.change(t.sessions.delete().where(t.sessions.c.id == id))

    def sweep(self) -> int:
        """Delete expired sessions; return how many."""
        old = now(dt.timedelta(days=EXPIRY_DAYS))
        return self._database.change(t.sessions.delete().where(t.sessions.c.touched < old))

    def _change(self, view: View, id: str, change: Callable[[Any], None]) -> dict[str, Any]:
        """Change a session; the search runs before the write transaction begins."""
        # Inside of it all other writers would wait: seconds where there are millions of rows.
        while True:
            before = self._read(view, id)
            document = json.loads(before)
            with collected():
                change(document)
            # Another request, or server, may have written meanwhile: then its document is changed.
            c = t.sessions.c
            query = t.sessions.update().where(c.id == id, c.document == before)
            if self._database.change(query.values(document=dumps(document), touched=now())):
                return _answer(id, view, document)

    def _read(self, view: View, id: str) -> str:
        c = t.sessions.c
        query = sa.select(c.document).where(c.id == id[:32], c.collection == view.key)
        for (document,) in self._database.fetch(query):  # one at most
            return str(document)
        who, hint = f"session {id[:32]!r}", "POST .../sessions starts a new one"
        raise NotFound(who, "the id of a session", "none", hint, problem="not found")


def _replay(view: View, document: Mapping[str, Any]) -> FeedbackSession:
    """Return a session after its rounds: the last one, and one of all marks before it."""
    # Only the last has to be a round of its own, as hits say how they have moved since.
    asked, rounds = document["asked"], document["rounds"]
    gamma = {} if asked["gamma"] is None else {"gamma": asked["gamma"]}
    options = read_options(view, asked) | gamma
    space, query = view.space(asked["space"]), read_query(view, asked["query"])
    session = FeedbackSession(space, query, k=asked["k"], **options)
    for some in (rounds[:-1], rounds[-1:]):
        # Rows that were deleted since no longer count.
        marks = {s: [row for one in some for row in one[s] if row in view.index] for s in SIDES}
        if any(marks.values()):
            session.mark(**marks)
    return session


def _answer(id: str, view: View, document: Mapping[str, Any]) -> dict[str, Any]:
    with collected():
        session = _replay(view, document)
    asked, rounds, history = document["asked"], document["rounds"], session.history
    query = None if isinstance(session.query, Mapping) else session.query
    answer = answer_of(view, session.hits.with_info(SearchInfo(id=query)), asked["explain"])
    # Before the first mark every row is where it was.
    before = history[-2].hits.ids if len(history) > 1 else session.hits.ids
    ranks = {id: rank for rank, id in enumerate(before, 1)}
    for hit in answer["hits"]:
        was = ranks.get(hit["id"])
        hit["moved"] = "new" if was is None else was - hit["rank"]
    answer["matched"] = session.index.count(session.filter)
    answer |= {"generation": view.generation, "space": asked["space"]}
    return {
        "id": id,
        "round": len(rounds),
        "history": [
            {"round": number, "liked": one["like"], "unliked": one["unlike"]}
            for number, one in enumerate(rounds, 1)
        ],
        "liked": [*chain.from_iterable(one["like"] for one in rounds)],
        "unliked": [*chain.from_iterable(one["unlike"] for one in rounds)],
        "asked": asked,
        "answer": answer,
    }
