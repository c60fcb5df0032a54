"""What a script sends: path, query and body, read within limits and given on as they are."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request

from proxyapi.gateway.answers import GatewayRefusal
from proxyapi.models import Upload
from proxyapi.operations import Operation
from proxyapi.upstream.endpoint import RequestBody

MAX_JSON_BYTES = 1024**2
MAX_JSON_DEPTH = 100  # the charge log cannot be written far above it
MAX_FORM_BYTES = 80 * 1024**2  # three samples of a voice, of 25 MB each
MAX_PARTS = 100  # fields, and files, of a form
ID_RE = re.compile(r"[A-Za-z0-9_-]{1,128}")
MAX_QUERY_PAIRS = 50
MAX_UPLOAD_CHARS = {"field": 30, "name": 100, "content_type": 100}  # as the columns of `Upload`


@dataclass(frozen=True, slots=True)
class ServiceRequest:
    """One request for the service. `fields` is the JSON object, or the fields of a form."""

    operation: Operation
    path: Mapping[str, str]
    query: Mapping[str, list[str]]
    fields: dict[str, Any] | None
    uploads: tuple[Upload, ...] = ()
    fingerprint: str = field(default="", repr=False)

    @property
    def arguments(self) -> dict[str, Any]:
        """The parts as `calls.send_request` takes them."""
        parts: dict[str, Any] = {"path": self.path, "query": self.query}
        if self.uploads:
            files = [
                (upload.field, (upload.name, bytes(upload.content), upload.content_type))
                for upload in self.uploads
            ]
            return {**parts, "data": self.fields or {}, "files": files}
        return {**parts, "json": self.fields}


async def read_request(request: Request, operation: Operation) -> ServiceRequest:
    """Read the whole request. Raises `GatewayRefusal` for what cannot be passed on."""
    path = {name: str(value) for name, value in request.path_params.items()}
    if b"%" in request.scope["raw_path"] or not all(map(ID_RE.fullmatch, path.values())):
        raise GatewayRefusal(404, "GEN-NOT-FOUND", "This path does not exist.")
    query = read_query(request)
    fields: dict[str, Any] | None
    content_type = media_type(request)
    if operation.body is RequestBody.MULTIPART and content_type == "multipart/form-data":
        fields, uploads, digest = await read_form(request)
    else:
        body = await read_body(request, MAX_JSON_BYTES)
        takes_body = operation.body is not RequestBody.NONE
        fields = parse_object(body, content_type) if takes_body else None
        uploads, digest = (), hashlib.sha256(body).hexdigest()
    target = f"{operation.name} {sorted(path.items())} {sorted(query.items())} {digest}"
    return ServiceRequest(
        operation, path, query, fields, uploads, hashlib.sha256(target.encode()).hexdigest()
    )


def read_query(request: Request) -> dict[str, list[str]]:
    pairs = request.query_params.multi_items()
    if len(pairs) > MAX_QUERY_PAIRS:
        raise GatewayRefusal(400, "GEN-WRONG-ARGS", "The query has too many parameters.")
    query: dict[str, list[str]] = {}
    for name, value in pairs:
        query.setdefault(name, []).append(value)
    return query


async def read_body(request: Request, limit: int) -> bytes:
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > limit:
        raise too_large(limit)
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > limit:
                raise too_large(limit)
    except ClientDisconnect:
        raise GatewayRefusal(400, "GEN-WRONG-ARGS", "The request ended before its end.") from None
    return bytes(body)


def too_large(limit: int) -> GatewayRefusal:
    return GatewayRefusal(
        413,
        "REQUEST-TOO-LARGE",
        f"The body is larger than {limit // 1024**2} MB. Nothing was sent.",
        headers={"connection": "close"},
    )


async def read_object(request: Request) -> dict[str, Any] | None:
    """The JSON object of a request; None without a body. Raises `GatewayRefusal`."""
    return parse_object(await read_body(request, MAX_JSON_BYTES), media_type(request))


def media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def parse_object(body: bytes, content_type: str) -> dict[str, Any] | None:
    """The JSON object of a body; None for an empty one. Raises `GatewayRefusal` for any other."""
    if not body.strip():
        return None
    if content_type != "application/json":
        message = "The body must be JSON, with Content-Type: application/json. Nothing was sent."
        raise GatewayRefusal(400, "GEN-WRONG-ARGS", message)
    try:
        value = json.loads(body, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        message = "The body is not valid JSON. Nothing was sent."
        raise GatewayRefusal(400, "GEN-WRONG-ARGS", message) from None
    if not isinstance(value, dict):
        message = "The body must be a JSON object. Nothing was sent."
        raise GatewayRefusal(400, "GEN-WRONG-ARGS", message)
    level: list[Any] = [value]
    for _ in range(MAX_JSON_DEPTH):
        parts = [item.values() if isinstance(item, dict) else item for item in level]
        level = [item for part in parts for item in part if isinstance(item, dict | list)]
    if level:
        message = f"The body has more than {MAX_JSON_DEPTH} levels. Nothing was sent."
        raise GatewayRefusal(400, "GEN-WRONG-ARGS", message)
    return value


def refuse_constant(name: str) -> None:
    """NaN and Infinity are no JSON."""
    raise ValueError(name)


async def read_form(request: Request) -> tuple[dict[str, Any], tuple[Upload, ...], str]:
    """The fields and files of a form, and the hash of both."""
    announced = request.headers.get("content-length", "")
    if not announced.isdigit() or int(announced) > MAX_FORM_BYTES:
        raise too_large(MAX_FORM_BYTES)
    try:
        form = await request.form(max_files=MAX_PARTS, max_fields=MAX_PARTS)
    except (MultiPartException, HTTPException, ClientDisconnect):
        message = "The form cannot be read. Nothing was sent."
        raise GatewayRefusal(400, "GEN-WRONG-ARGS", message) from None
    try:
        return await read_parts(form)
    finally:
        await form.close()


async def read_parts(form: FormData) -> tuple[dict[str, Any], tuple[Upload, ...], str]:
    fields: dict[str, Any] = {}
    uploads, digest = [], hashlib.sha256()
    for name, value in form.multi_items():
        digest.update(f"\0{name}\0".encode())
        if isinstance(value, UploadFile):
            content = await value.read()
            digest.update(content)
            uploads.append(build_upload(name, value, content))
        else:
            digest.update(value.encode())
            fields[name] = [*as_list(fields[name]), value] if name in fields else value
    return fields, tuple(uploads), digest.hexdigest()


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def build_upload(name: str, file: UploadFile, content: bytes) -> Upload:
    file_name, content_type = file.filename or "file", file.content_type or ""
    texts = {"field": name, "name": file_name, "content_type": content_type}
    if any(len(texts[field]) > most for field, most in MAX_UPLOAD_CHARS.items()):
        message = "The name or type of a file is too long. Nothing was sent."
        raise GatewayRefusal(400, "GEN-WRONG-ARGS", message)
    return Upload(**texts, content=content)
