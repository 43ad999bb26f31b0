"""The HTTP API from Python, in the same words, on httpx."""

from __future__ import annotations

import json
import os
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import numpy as np

from lookalike.errors import InvalidInput, LookalikeError, MissingExtra, NoAnswer

VERSION = "/api/v1"  # which later servers answer as well
POLL_SECONDS = 0.05  # between two requests for a job that is waited for


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
    """Client of a ``lookalike serve``.

    A client is thread-safe. ``close`` it when done, or use it in a ``with`` block.

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
        try:  # only here: the server imports this module too, and needs no client
            import httpx
        except ImportError as error:
            hint = 'Run pip install "lookalike[service]"'
            raise MissingExtra("Client", "the package httpx", "not installed", hint) from error
        self.address = address.rstrip("/")
        self._http = httpx.Client(
            base_url=self.address,
            headers={} if token is None else {"Authorization": f"Bearer {token}"},
            timeout=timeout,
            # The certificates that this machine trusts, a company's own among them.
            verify=ssl.create_default_context(),
            # A proxy of the environment would be asked for servers on this machine as well.
            trust_env=False,
        )
        self._lost = httpx.TransportError

    def __repr__(self) -> str:
        return f"Client({self.address!r})"

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    # -- collections -------------------------------------------------------------------------------

    def collections(self) -> list[dict[str, Any]]:
        """Return all collections."""
        return self.get(f"{VERSION}/collections")["collections"]

    def opening(self, collection: str | None = None) -> dict[str, Any]:
        """Return all collections, a description of one (or the first), and its first hits."""
        return self.get(f"{VERSION}/opening", {"collection": collection})

    def create(
        self,
        name: str | None = None,
        *,
        rows: Sequence[Mapping[str, Any]] | None = None,
        file: str | os.PathLike[str] | None = None,
        path: str | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Create a collection.

        Parameters
        ----------
        name : str, optional
            By default the name of the file.
        rows : records, or
        file : path of a table that is uploaded, or
        path : path of a table on the server, below the folder that it allows
        options : title, kinds, missing, id_column, label_column, measure
        """
        records = None if rows is None else list(rows)
        # Only what was given: the server refuses two sources, and has the defaults.
        named = {"name": name, "rows": records, "path": path}
        given = options | {key: value for key, value in named.items() if value is not None}
        if file is None:
            return self.post(f"{VERSION}/collections", given)
        with Path(file).open("rb") as content:
            files, data = {"file": (Path(file).name, content)}, {"options": json.dumps(given)}
            return self.request("POST", f"{VERSION}/collections", files=files, data=data)

    def describe(self, collection: str) -> dict[str, Any]:
        """Return the description of a collection: columns, kinds, measure, drift."""
        return self.get(path_of(collection))

    def drop(self, collection: str) -> None:
        """Delete a collection."""
        self.request("DELETE", path_of(collection))

    # -- rows --------------------------------------------------------------------------------------

    def rows(self, collection: str, text: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield all rows, or those that contain a text."""
        after: Any = None
        while True:
            asked = {"limit": 1000, "after": after, "text": text}
            page = self.get(f"{path_of(collection)}/rows", asked)
            yield from page["rows"]
            after = page["next"]
            if after is None:
                return

    def row(self, collection: str, id: Any) -> dict[str, Any]:
        """Return one row."""
        return self.get(path_of(collection, "rows", id))

    def add(
        self, collection: str, rows: Sequence[Mapping[str, Any]], key: str | None = None
    ) -> dict[str, Any]:
        """Add rows, all or none; they are durable when this returns.

        Parameters
        ----------
        collection : str
        rows : list of dict
        key : str, optional
            Names this write: rows that are sent again with it, after a lost answer, are added once.
        """
        return self.request("POST", f"{path_of(collection)}/rows", {"rows": list(rows)}, key)

    def replace(self, collection: str, id: Any, row: Mapping[str, Any]) -> dict[str, Any]:
        """Replace a row, which keeps its id, or create it."""
        return self.request("PUT", path_of(collection, "rows", id), {"row": dict(row)})

    def delete(self, collection: str, id: Any) -> dict[str, Any]:
        """Delete a row."""
        return self.request("DELETE", path_of(collection, "rows", id))

    # -- questions ---------------------------------------------------------------------------------

    def search(self, collection: str, query: Any, k: int = 10, **options: Any) -> dict[str, Any]:
        """Return the rows most like a row (its id) or a record (a dictionary).

        Parameters
        ----------
        collection : str
        query : id, name of a row, record, or list of them
        k : int
        options : like, unlike, gamma, filter, weights, columns, explain, space, at_least
        """
        asked = {"query": _query(query), "k": k, **options}
        return self.post(f"{path_of(collection)}/search", asked)

    def session(self, collection: str, query: Any, k: int = 10, **options: Any) -> dict[str, Any]:
        """Start a search that is refined by feedback."""
        asked = {"query": _query(query), "k": k, **options}
        return self.post(f"{path_of(collection)}/sessions", asked)

    def mark(
        self, collection: str, session: str, like: Sequence[Any] = (), unlike: Sequence[Any] = ()
    ) -> dict[str, Any]:
        """Mark rows as liked or not."""
        marks = {"like": list(like), "unlike": list(unlike)}
        return self.post(path_of(collection, "sessions", session) + "/marks", marks)

    def undo(self, collection: str, session: str) -> dict[str, Any]:
        """Undo the last round of a session."""
        return self.post(path_of(collection, "sessions", session) + "/undo", None)

    def graph(self, collection: str, id: Any, **options: Any) -> dict[str, Any]:
        """Return the neighbors of a row, their neighbors, and so on."""
        return self.get(f"{path_of(collection)}/graph", {"id": id, **options})

    def profile(self, collection: str, ids: Sequence[Any]) -> dict[str, Any]:
        """Return what makes some rows different from all others."""
        return self.post(f"{path_of(collection)}/profile", {"ids": list(ids)})

    def hubs(self, collection: str, **options: Any) -> dict[str, Any]:
        """Count hubs and unreachable rows; waits for the job."""
        return self._waited(f"{path_of(collection)}/hubs", options)

    def clusters(self, collection: str) -> dict[str, Any]:
        """Find clusters; waits for the job."""
        return self._waited(f"{path_of(collection)}/clusters", {})

    def map(self, collection: str) -> tuple[dict[str, Any], np.ndarray]:
        """Return the head of the map and the coordinates of its rows; waits for the job."""
        raw: bytes = self._waited(f"{path_of(collection)}/map", {})
        line, _, cells = raw.partition(b"\n")
        return json.loads(line), np.frombuffer(cells, "<f4").reshape(2, -1).T

    # -- jobs --------------------------------------------------------------------------------------

    def refit(self, collection: str, measure: str = "auto", **options: Any) -> dict[str, Any]:
        """Fit the measure again, or another one; waits for the job."""
        job = self.post(f"{path_of(collection)}/measure", {"measure": measure, **options})["job"]
        return self.wait(job["id"])

    def repair(self, collection: str) -> dict[str, Any]:
        """Compute the space with reduced hubness; waits for the job."""
        return self.wait(self.post(f"{path_of(collection)}/repair", None)["job"]["id"])

    def wait(self, job: str) -> dict[str, Any]:
        """Wait for a job; raise if it failed or was cancelled."""
        while True:
            found = self.get(f"{VERSION}/jobs/{quote(job, safe='')}")
            if found["state"] == "done":
                return found
            if found["state"] in ("failed", "cancelled"):
                raise ServiceError(found["problem"] or {"detail": f"the job was {found['state']}"})
            time.sleep(POLL_SECONDS)

    # -- requests ----------------------------------------------------------------------------------

    def get(self, path: str, query: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send a GET request; return the answer."""
        given = {name: value for name, value in (query or {}).items() if value is not None}
        return self.request("GET", path, params=given or None)

    def post(self, path: str, body: Any) -> dict[str, Any]:
        """Send a POST request; return the answer."""
        return self.request("POST", path, body)

    def _waited(self, path: str, options: Mapping[str, Any]) -> Any:
        while True:
            found = self.get(path, options)
            # The answer is asked for again after the job, whose result only says that it is there.
            if not (isinstance(found, dict) and set(found) == {"job"}):
                return found
            self.wait(found["job"]["id"])

    def request(
        self, method: str, path: str, body: Any = None, key: str | None = None, **more: Any
    ) -> Any:
        """Send a request, named by a key where there is one; return the answer, or raise."""
        headers = {} if key is None else {"Idempotency-Key": key}
        if body is not None:
            headers["Content-Type"] = "application/json"
            # Not json= of httpx: it cannot encode half of a surrogate pair; the server says so.
            more["content"] = json.dumps(body, allow_nan=False).encode()
        try:
            answer = self._http.request(method, path, headers=headers, **more)
        except self._lost as error:
            found = f"{type(error).__name__}: {error}"
            raise NoAnswer(self.address, "an answer", found, "Is the server running?") from error
        kind = answer.headers.get("content-type", "").partition(";")[0]
        value = answer.json() if kind.endswith("json") else answer.content
        if answer.is_error:
            problem = value if isinstance(value, dict) else {"detail": answer.reason_phrase}
            raise ServiceError({"status": answer.status_code, **problem})
        return value if answer.content else None


def path_of(*parts: Any) -> str:
    """Return the path of a collection, or of something in it.

    Examples
    --------
    >>> path_of("films", "rows", "a/b")
    '/api/v1/collections/films/rows/a%2Fb'
    """
    # Dots are quoted too: a row whose id is ".." would otherwise be a step up in the path.
    quoted = (quote(str(part), safe="").replace(".", "%2E") for part in parts)
    return f"{VERSION}/collections/" + "/".join(quoted)


def _query(query: Any) -> Any:
    """Return a query as the service takes it: a record, an id, the name of a row, or a list."""
    if isinstance(query, list):
        return [_query(one) for one in query]
    return {"record": dict(query)} if isinstance(query, Mapping) else query
