"""Feedback sessions that outlive the server: marks are stored, answers are computed again."""

from __future__ import annotations

import datetime as dt
import json
import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

import sqlalchemy as sa

from lookalike.index import FeedbackSession
from lookalike.index.hits import SearchInfo
from lookalike.service.answers import answer_of, read_options, read_query
from lookalike.service.cells import dumps
from lookalike.service.collection import Collection, View
from lookalike.service.problems import collected
from lookalike.service.store import database as t
from lookalike.service.store.database import Database
from lookalike.service.store.store import NotFound, now

MAX_LIVE_SESSIONS = 200  # in memory, each with the hits of its rounds; chosen by hand
N_LOCKS = 64
EXPIRY_DAYS = 30  # after the last mark


# A session, and its round after each stored round: one whose rows were all deleted since has added
# none.
Replayed = tuple[FeedbackSession, list[int]]


class Live(NamedTuple):
    """A session in memory, with what it was replayed from."""

    generation: int
    rounds: list[dict[str, Any]]
    replayed: Replayed


class Sessions:
    """The feedback sessions of a store.

    Parameters
    ----------
    database : Database
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        # A fixed number: a lock for each session would have to be freed with it.
        self._locks = [threading.Lock() for _ in range(N_LOCKS)]
        self._live: OrderedDict[str, Live] = OrderedDict()

    def _lock_of(self, id: str) -> threading.Lock:
        """Return the lock of a session; few share one."""
        return self._locks[hash(id) % N_LOCKS]

    def start(self, collection: Collection, view: View, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Begin a session with a search; return its document."""
        id = secrets.token_hex(8)
        query = asked["query"]
        # By its id from now on: rows that are added later may have the same name.
        if isinstance(query, str | int):
            query = {"id": read_query(view, query)}
        document: dict[str, Any] = {"asked": {**asked, "query": query}, "rounds": []}
        answer = self._answer(id, view, document)  # without its lock: no client knows the id yet
        values = {"id": id, "collection": collection.key, "document": dumps(document)}
        with self._database.write() as connection:
            connection.execute(t.sessions.insert().values(**values, touched=now()))
        return answer

    def get(self, collection: Collection, view: View, id: str) -> dict[str, Any]:
        """Return the document of a session, with a new answer if rows have changed."""
        with self._database.read() as connection:
            document = json.loads(_read(connection, collection, id))
        with self._lock_of(id):
            return self._answer(id, view, document)

    def mark(
        self, collection: Collection, view: View, id: str, like: list[Any], unlike: list[Any]
    ) -> dict[str, Any]:
        """Mark rows as liked or not; return the document after it."""
        view.require([*like, *unlike])

        def change(session: FeedbackSession, became: list[int], rounds: list[Any]) -> list[int]:
            with collected():
                session.mark(like=like, unlike=unlike)
            last = session.history[-1]
            rounds.append({"like": list(last.like), "unlike": list(last.unlike)})
            return [*became, session.round]

        return self._change(collection, view, id, change)

    def undo(self, collection: Collection, view: View, id: str) -> dict[str, Any]:
        """Take the last round back; return the document after it."""

        def change(session: FeedbackSession, became: list[int], rounds: list[Any]) -> list[int]:
            left = became[-2] if len(became) > 1 else 0
            # A round that has added none has nothing to undo; without rounds this is an error.
            if session.round > left or not rounds:
                session.undo()
            rounds.pop()
            return became[:-1]

        return self._change(collection, view, id, change)

    def delete(self, collection: Collection, id: str) -> None:
        """Forget a session."""
        with self._database.write() as connection:
            _read(connection, collection, id)
            connection.execute(t.sessions.delete().where(t.sessions.c.id == id))
        with self._lock:
            self._live.pop(id, None)

    def sweep(self) -> int:
        """Delete expired sessions; return how many."""
        month = dt.timedelta(days=EXPIRY_DAYS)
        old = (dt.datetime.now(dt.UTC) - month).isoformat(timespec="seconds")
        with self._database.write() as connection:
            done = connection.execute(t.sessions.delete().where(t.sessions.c.touched < old))
        return int(done.rowcount)

    # -- parts -------------------------------------------------------------------------------------

    def _change(self, collection: Collection, view: View, id: str, change: Any) -> dict[str, Any]:
        """Change a session; the search runs before the write transaction begins."""
        # Inside of it all other writers would wait: seconds where there are millions of rows.
        with self._lock_of(id):
            while True:
                with self._database.read() as connection:
                    before = _read(connection, collection, id)
                document = json.loads(before)
                session, became = self._session(id, view, document)
                became = change(session, became, document["rounds"])
                self._keep(id, view, document, (session, became))
                with self._database.write() as connection:
                    if _read(connection, collection, id, lock=True) == before:
                        query = t.sessions.update().where(t.sessions.c.id == id)
                        connection.execute(query.values(document=dumps(document), touched=now()))
                        break
                # Another server has written meanwhile: its document is changed instead.
            return self._answer(id, view, document)

    def _session(self, id: str, view: View, document: Mapping[str, Any]) -> Replayed:
        """Return the session with all its rounds, and the round that each stored one became."""
        with self._lock:
            live = self._live.get(id)
            # The rounds are compared: another server may have marked rows of this session.
            same = (view.generation, document["rounds"])
            if live is not None and (live.generation, live.rounds) == same:
                self._live.move_to_end(id)
                return live.replayed
        asked = document["asked"]
        gamma = {} if asked["gamma"] is None else {"gamma": asked["gamma"]}
        options = read_options(view, asked) | gamma
        space, query = view.space(asked["space"]), read_query(view, asked["query"])
        with collected():
            session = FeedbackSession(space, query, k=asked["k"], **options)
            became = []
            for one in document["rounds"]:
                # Rows that were deleted since no longer count.
                like = [row for row in one["like"] if row in view.index]
                unlike = [row for row in one["unlike"] if row in view.index]
                if like or unlike:
                    session.mark(like=like, unlike=unlike)
                became.append(session.round)
        return self._keep(id, view, document, (session, became))

    def _keep(
        self, id: str, view: View, document: Mapping[str, Any], replayed: Replayed
    ) -> Replayed:
        with self._lock:
            self._live[id] = Live(view.generation, list(document["rounds"]), replayed)
            self._live.move_to_end(id)
            while len(self._live) > MAX_LIVE_SESSIONS:
                self._live.popitem(last=False)
        return replayed

    def _answer(self, id: str, view: View, document: Mapping[str, Any]) -> dict[str, Any]:
        session, _ = self._session(id, view, document)
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
            "liked": [row for one in rounds for row in one["like"]],
            "unliked": [row for one in rounds for row in one["unlike"]],
            "asked": asked,
            "answer": answer,
        }


def _read(connection: sa.Connection, collection: Collection, id: str, lock: bool = False) -> str:
    c = t.sessions.c
    query = sa.select(c.document).where(c.id == id[:32], c.collection == collection.key)
    if lock and connection.dialect.name != "sqlite":
        query = query.with_for_update()
    found = connection.execute(query).scalar()
    if found is None:
        who, hint = f"session {id[:32]!r}", "POST .../sessions starts a new one"
        raise NotFound(who, "the id of a session", "none", hint, problem="not found")
    return str(found)
