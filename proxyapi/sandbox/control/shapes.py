"""Shapes of the control plane's refusals, for /openapi.json."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from proxyapi.sandbox.api.shapes import InvalidShape


class ControlRefusal(BaseModel):
    message: str | list[dict[str, Any]]
    status: int


REFUSALS: dict[int | str, dict[str, Any]] = {
    **{status: {"model": ControlRefusal} for status in (400, 403, 404)},
    422: {"model": InvalidShape | ControlRefusal},
}
