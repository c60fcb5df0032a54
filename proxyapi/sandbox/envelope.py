"""Bodies of answers: the success envelope, refusals and validation errors (spec: Endpoints)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi.responses import JSONResponse

from proxyapi.sandbox.dialect import BARE_STATUSES
from proxyapi.sandbox.errors import ApiError, InsufficientCredits, ValidationError
from proxyapi.sandbox.settings import Settings


def success_body(
    data: Any,
    message: str = "Success",
    *,
    status: int = 200,
    meta: Mapping[str, Any] | None = None,
    links: Mapping[str, Any] | None = None,
) -> JSONResponse:
    body: dict[str, Any] = {"message": message, "status": status, "data": data}
    if meta is not None:
        body["meta"] = meta
    if links is not None:
        body["links"] = links
    return JSONResponse(body, status)


def refusal_body(error: ApiError, settings: Settings) -> JSONResponse:
    if settings.dialect == "service-v1" and error.status in BARE_STATUSES:
        return JSONResponse({"message": error.message}, error.status, headers=error.headers)
    described: dict[str, Any] = {"code": error.code, "message": error.message}
    body: dict[str, Any] = {"message": error.message, "status": error.status}
    place = settings.insufficient_credits_place
    if not isinstance(error, InsufficientCredits) or place != "top_level":
        described.update(error.details)
    if isinstance(error, InsufficientCredits) and place != "error":
        body.update(error.details)
    body["error"] = described
    return JSONResponse(body, error.status, headers=error.headers)


def validation_body(error: ValidationError) -> JSONResponse:
    return JSONResponse({"message": error.message, "errors": error.errors}, 422)


def field_errors(errors: list[Any]) -> ValidationError:
    """pydantic's errors in the words of the upstream: a map of sentences by field."""
    found: dict[str, list[str]] = {}
    for error in errors:
        place = [str(part) for part in error["loc"] if part not in ("body", "query")]
        field = ".".join(place).replace("[]", "") or "body"
        found.setdefault(field, []).append(_error_sentence(field, error))
    return ValidationError(found)


_TYPES = {
    "int": "an integer",
    "string": "a string",
    "bool": "true or false",
    "float": "a number",
    "list": "an array",
    "dict": "an object",
    "model": "an object",
}


def _error_sentence(field: str, error: Mapping[str, Any]) -> str:
    kind, limits = str(error["type"]), error.get("ctx", {})
    name = f"The {field.replace('_', ' ')} field"
    if kind == "missing":
        return f"{name} is required."
    if kind in ("literal_error", "enum"):
        return f"The selected {field.replace('_', ' ')} is invalid."
    if kind == "string_too_long":
        return f"{name} must not be greater than {limits['max_length']} characters."
    if kind == "string_too_short":
        return f"{name} must be at least {limits['min_length']} characters."
    if kind == "greater_than_equal":
        return f"{name} must be at least {limits['ge']}."
    if kind == "less_than_equal":
        return f"{name} must not be greater than {limits['le']}."
    if str(limits.get("error", "")).startswith("Expected UploadFile"):
        return f"{name} must be a file."
    if kind == "value_error":
        return str(limits["error"])
    for prefix, noun in _TYPES.items():
        if kind.startswith(prefix):
            return f"{name} must be {noun}."
    return f"{name} is invalid."
