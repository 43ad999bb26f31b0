"""Bodies from strangers: bounded, not nested deeply, without NaN, and no number out of range."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response

from lookalike.saving.safe_json import parse_json
from lookalike.service.limits import Limits
from lookalike.service.problems import Refused

LARGEST = 2**63


class StrictRequest(Request):
    """A request whose JSON is read by our own rules."""

    async def json(self) -> Any:
        """Return the body, or say what is wrong with it."""
        if not hasattr(self, "_json"):
            self._json = read_json(await self.body(), self.app.state.service.limits)
        return self._json


class StrictRoute(APIRoute):
    """A route whose requests are strict."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request."""
        usual = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await usual(StrictRequest(request.scope, request.receive))

        return handle


def read_json(body: bytes, limits: Limits) -> Any:
    """Read a JSON text by our rules."""
    try:
        value = parse_json(body, limits.depth)
    except (ValueError, UnicodeDecodeError) as error:
        found = str(error).splitlines()[0][:120]
        hint = "Send JSON in UTF-8, without NaN, Infinity and repeated keys"
        raise Refused(422, "body", "a JSON text", found, hint) from error
    check_json(value, limits)
    return value


def check_json(value: Any, limits: Limits) -> None:
    """Refuse numbers that no column can hold, texts that are huge, and broken letters."""
    todo = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, dict):
            todo.extend(one.keys())
            todo.extend(one.values())
        elif isinstance(one, list):
            todo.extend(one)
        elif isinstance(one, str):
            _check_text(one, limits)
        elif isinstance(one, float):
            if not abs(one) < float("inf"):
                raise _refuse("numbers that a float can hold", "a larger one")
        elif isinstance(one, int) and not -LARGEST <= one < LARGEST:
            raise _refuse("whole numbers of at most 64 bits", "a larger one")


def _check_text(text: str, limits: Limits) -> None:
    if len(text) > limits.cell:
        needed = f"texts of at most {limits.cell:,} characters"
        raise Refused(413, "body", needed, f"one of {len(text):,}", "Shorten it")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _refuse("whole letters", "half of a surrogate pair") from error


def _refuse(needed: str, found: str) -> Refused:
    return Refused(422, "body", needed, found, "Correct the value")
