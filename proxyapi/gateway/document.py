"""GET /api/v2/openapi.json: the description of the gateway, for clients and for people. It needs no
key, and `make fix` writes it."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

DOCUMENT_PATH = Path(__file__).with_name("openapi.json")


async def show_document(request: Request) -> Response:
    return Response(DOCUMENT_PATH.read_bytes(), media_type="application/json")
