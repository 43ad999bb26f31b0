"""What those who run the server ask: is it alive, is it ready."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from lookalike.service.api.shared import Serving, answer, documented

__all__ = ["router"]

router = APIRouter(tags=["operations"])


@router.get("/healthz", responses=documented({"ok": True}, "The process is alive."))
def healthz() -> Response:
    """Say that the process is alive."""
    return answer({"ok": True})


@router.get("/readyz", responses=documented({"ok": True}, "The server can answer."))
def readyz(service: Serving) -> Response:
    """Say whether the store answers and what was asked for at the start is in memory."""
    ok = service.store_answers
    return answer({"ok": ok}, 200 if ok else 503)
