"""The HTTP API from Python: the same words, with Python's own library alone."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import select
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import numpy as np

from lookalike.errors import InvalidInput, LookalikeError

CHUNK = 2**16


class ServiceError(LookalikeError):
    """The server refused a request.

    Parameters
    ----------
    problem : dict
        The problem document: type, title, status, detail, who, needed, found, hint.
    """

    def __init__(self, problem: Mapping[str, Any]) -> None:
        self.problem = dict(problem)
        self.status = int(problem.get("status", 0))
        super().__init__(str(problem.get("detail", "")))


class Client:
    """Talk to a ``lookalike serve`` from Python.

    One client may be used by several threads at once. ``close`` it when done, or use it in a
    ``with`` block.

    Parameters
    ----------
    address : str
        Such as ``http://127.0.0.1:8571``.
    token : str, optional
    timeout : float
        Seconds to wait for an answer.

    Examples
    --------
    >>> from lookalike.service import Client
    >>> client = Client("http://127.0.0.1:8571")
    >>> client
    Client('http://127.0.0.1:8571')

    With a server that runs, ``client.search("films", 0, k=5)`` returns what the page shows.
    """

    def __init__(self, address: str, token: str | None = None, timeout: float = 60.0) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            hint = "Write for example http://127.0.0.1:8571"
            raise InvalidInput("Client", "an address of http or https", repr(address), hint)
        self.address = address.rstrip("/")
        self._parts, self._token, self._timeout = parts, token, timeout
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []

    def __repr__(self) -> str:
        return f"Client({self.address!r})"

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections; the next request opens a new one."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    # -- collections -------------------------------------------------------------------------------

    def collections(self) -> list[dict[str, Any]]:
        """Return all collections."""
        found: list[dict[str, Any]] = self.get("/api/collections")["collections"]
        return found

    def opening(self, collection: str | None = None) -> dict[str, Any]:
        """Return all collections, a description of one (or the first), and its first hits."""
        chosen = {} if collection is None else {"collection": collection}
        found: dict[str, Any] = self.get(f"/api/opening?{urlencode(chosen)}")
        return found

    def create(
        self,
        name: str | None = None,
        *,
        rows: Sequence[Mapping[str, Any]] | None = None,
        file: str | os.PathLike[str] | None = None,
        path: str | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Make a collection.

        Parameters
        ----------
        name : str, optional
            By default the name of the file.
        rows : records, or
        file : path of a table that is uploaded, or
        path : path of a table on the server, below the folder that it allows
        options : title, kinds, missing, id_column, label_column, measure
        """
        given = dict(options) | ({} if name is None else {"name": name})
        if file is not None:
            return self._upload(Path(file), given)
        if rows is not None:
            given["rows"] = list(rows)
        if path is not None:
            given["path"] = path
        return self.post("/api/collections", given)

    def describe(self, collection: str) -> dict[str, Any]:
        """Return what a collection is: columns, kinds, measure, drift."""
        return self.get(_at(collection))

    def drop(self, collection: str) -> None:
        """Delete a collection."""
        self.request("DELETE", _at(collection))

    # -- rows --------------------------------------------------------------------------------------

    def rows(self, collection: str, text: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield all rows, or those that a text is found in."""
        after: Any = None
        while True:
            asked = {"limit": 1000, "after": after, "text": text}
            page = self.get(f"{_at(collection)}/rows", asked)
            yield from page["rows"]
            after = page["next"]
            if after is None:
                return

    def row(self, collection: str, id: Any) -> dict[str, Any]:
        """Return one row."""
        return self.get(_at(collection, "rows", id))

    def add(self, collection: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Add rows, all or none; they are durable when this returns."""
        return self.post(f"{_at(collection)}/rows", {"rows": list(rows)})

    def replace(self, collection: str, id: Any, row: Mapping[str, Any]) -> dict[str, Any]:
        """Put another row in the place of one."""
        found: dict[str, Any] = self.request("PUT", _at(collection, "rows", id), {"row": dict(row)})
        return found

    def delete(self, collection: str, id: Any) -> dict[str, Any]:
        """Delete a row."""
        found: dict[str, Any] = self.request("DELETE", _at(collection, "rows", id))
        return found

    # -- questions ---------------------------------------------------------------------------------

    def search(self, collection: str, query: Any, k: int = 10, **options: Any) -> dict[str, Any]:
        """Return the rows most like a row (its id) or a record (a dictionary).

        Parameters
        ----------
        collection : str
        query : id, record, or list of them
        k : int
        options : like, unlike, gamma, filter, weights, columns, explain, space, at_least
        """
        asked = [_query(q) for q in query] if isinstance(query, list) else _query(query)
        return self.post(f"{_at(collection)}/search", {"query": asked, "k": k, **options})

    def session(self, collection: str, query: Any, k: int = 10, **options: Any) -> dict[str, Any]:
        """Start a search that is refined by feedback."""
        asked = {"query": _query(query), "k": k, **options}
        return self.post(f"{_at(collection)}/sessions", asked)

    def mark(
        self, collection: str, session: str, like: Sequence[Any] = (), unlike: Sequence[Any] = ()
    ) -> dict[str, Any]:
        """Mark rows as right and others as wrong."""
        marks = {"like": list(like), "unlike": list(unlike)}
        return self.post(_at(collection, "sessions", session) + "/marks", marks)

    def undo(self, collection: str, session: str) -> dict[str, Any]:
        """Take the last round of a session back."""
        return self.post(_at(collection, "sessions", session) + "/undo", None)

    def graph(self, collection: str, id: Any, **options: Any) -> dict[str, Any]:
        """Return the neighbors of a row, their neighbors, and so on."""
        return self.get(f"{_at(collection)}/graph", {"id": id, **options})

    def profile(self, collection: str, ids: Sequence[Any]) -> dict[str, Any]:
        """Say what makes some rows different from all others."""
        return self.post(f"{_at(collection)}/profile", {"ids": list(ids)})

    def hubs(self, collection: str, **options: Any) -> dict[str, Any]:
        """Count hubs and unreachable rows; waits for the job."""
        found: dict[str, Any] = self._waited(f"{_at(collection)}/hubs", options)
        return found

    def clusters(self, collection: str) -> dict[str, Any]:
        """Find clusters; waits for the job."""
        found: dict[str, Any] = self._waited(f"{_at(collection)}/clusters", {})
        return found

    def map(self, collection: str) -> tuple[dict[str, Any], np.ndarray]:
        """Return the head of the map and the places of its rows; waits for the job."""
        raw: bytes = self._waited(f"{_at(collection)}/map", {})
        line, _, cells = raw.partition(b"\n")
        return json.loads(line), np.frombuffer(cells, "<f4").reshape(2, -1).T

    # -- jobs --------------------------------------------------------------------------------------

    def refit(self, collection: str, measure: str = "auto", **options: Any) -> dict[str, Any]:
        """Fit the measure again, or another one; waits for the job."""
        job = self.post(f"{_at(collection)}/measure", {"measure": measure, **options})["job"]
        return self.wait(job["id"])

    def repair(self, collection: str) -> dict[str, Any]:
        """Make the space without hubs; waits for the job."""
        return self.wait(self.post(f"{_at(collection)}/repair", None)["job"]["id"])

    def wait(self, job: str) -> dict[str, Any]:
        """Wait for a job; one that failed or was ended is an error."""
        while True:
            found = self.get(f"/api/jobs/{quote(job, safe='')}")
            if found["state"] == "done":
                return found
            if found["state"] in ("failed", "cancelled"):
                raise ServiceError(found["problem"] or {"detail": f"the job was {found['state']}"})
            time.sleep(0.05)

    # -- requests ----------------------------------------------------------------------------------

    def get(self, path: str, query: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send a GET request; return the answer."""
        given = {name: value for name, value in (query or {}).items() if value is not None}
        found: dict[str, Any] = self.request(
            "GET", path + (f"?{urlencode(given)}" if given else "")
        )
        return found

    def post(self, path: str, body: Any) -> dict[str, Any]:
        """Send a POST request; return the answer."""
        found: dict[str, Any] = self.request("POST", path, body)
        return found

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request; return what was answered, or raise the problem."""
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        headers = {} if body is None else {"Content-Type": "application/json"}
        return self._send(method, path, data, headers)

    def _waited(self, path: str, options: Mapping[str, Any]) -> Any:
        while True:
            found = self.get(path, options)
            if not (isinstance(found, dict) and set(found) == {"job"}):
                return found
            self.wait(found["job"]["id"])

    def _upload(self, file: Path, options: Mapping[str, Any]) -> dict[str, Any]:
        mark = secrets.token_hex(16)
        name = file.name.replace('"', "%22").replace("\r", " ").replace("\n", " ")
        head = (
            f'--{mark}\r\nContent-Disposition: form-data; name="options"\r\n\r\n'
            f"{json.dumps(options)}\r\n"
            f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        ).encode()
        data = head + file.read_bytes() + f"\r\n--{mark}--\r\n".encode()
        headers = {"Content-Type": f"multipart/form-data; boundary={mark}"}
        found: dict[str, Any] = self._send("POST", "/api/collections", data, headers)
        return found

    def _send(self, method: str, path: str, data: bytes | None, headers: dict[str, str]) -> Any:
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        while True:
            connection, fresh = self._connection()
            try:
                connection.request(method, self._parts.path.rstrip("/") + path, data, headers)
                answer = connection.getresponse()
                body = answer.read()
                break
            except BaseException as error:
                connection.close()
                # The server may have closed a connection that was idle: then with another one.
                lost = isinstance(error, OSError | http.client.HTTPException)
                if fresh or not lost or method not in ("GET", "HEAD"):
                    raise
        with self._lock:
            self._idle.append(connection)
        kind = answer.headers.get_content_type()
        value = json.loads(body) if kind.endswith("json") else body
        if answer.status >= 400:
            problem = value if isinstance(value, dict) else {"detail": answer.reason}
            raise ServiceError({"status": answer.status, **problem})
        return value if body else None

    def _connection(self) -> tuple[http.client.HTTPConnection, bool]:
        """Return a connection that nobody uses, and whether it is a new one."""
        with self._lock:
            while self._idle:
                idle = self._idle.pop()
                # One that has something to read was closed by the server meanwhile.
                if idle.sock is not None and not select.select([idle.sock], [], [], 0)[0]:
                    return idle, False
                idle.close()
        kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
        make = kinds[self._parts.scheme]
        return make(self._parts.hostname or "", self._parts.port, timeout=self._timeout), True


def _at(*parts: Any) -> str:
    return "/api/collections/" + "/".join(quote(str(part), safe="") for part in parts)


def _query(query: Any) -> dict[str, Any]:
    return {"record": dict(query)} if isinstance(query, Mapping) else {"id": query}
