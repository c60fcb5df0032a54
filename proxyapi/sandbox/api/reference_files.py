"""The body that creates a clip or gives a scene its frames: JSON, or a form in which references
may be files.

A file is kept and becomes the address of our own media."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.datastructures import UploadFile

from proxyapi.sandbox import errors, media_url
from proxyapi.sandbox.authorization import ApiCall
from proxyapi.sandbox.scraping import page_reader

FRAME_FIELDS = ("first_frame", "last_frame")
PICTURE_FIELDS = (*FRAME_FIELDS, "image")
FILM_FIELD = "video"
PICTURES = ("png", "jpg", "webp")
_FILE = {"type": "string", "contentMediaType": "application/octet-stream"}

BodyModel = TypeVar("BodyModel", bound=BaseModel)


class ClipBody(NamedTuple):
    fields: Any
    is_form: bool


async def read_body(call: ApiCall) -> ClipBody:
    """The fields of the request, its files kept as addresses."""
    kind = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "multipart/form-data":
        return ClipBody(await _read_json(call), is_form=False)
    form = await call.request.form()
    try:
        fields = dict(form)
        for name in (*PICTURE_FIELDS, FILM_FIELD):
            if isinstance(file := fields.get(name), UploadFile):
                fields[name] = await _keep_file(call, name, file)
        return ClipBody(fields, is_form=True)
    finally:
        await call.request.close()


async def _read_json(call: ApiCall) -> Any:
    try:
        return json.loads(await call.request.body() or b"{}")
    except (ValueError, RecursionError):
        raise errors.ValidationError({"body": ["The body is no JSON."]}) from None


async def _keep_file(call: ApiCall, name: str, file: UploadFile) -> str:
    data, most = await file.read(), call.world.settings.upload_bytes
    if len(data) > most:
        raise errors.ValidationError({name: [f"The {name} must not be greater than {most} bytes."]})
    kind = page_reader.sniff_extension(data)
    wanted = ("mp4",) if name == FILM_FIELD else PICTURES
    if kind not in wanted:
        raise errors.ValidationError({name: [f"The {name} must be a {', '.join(wanted)}."]})
    kept = call.request.app.state.studio.pictures.keep(data, kind)
    return media_url.build_media_url(call, kept)


def validate(model: type[BodyModel], body: ClipBody) -> BodyModel:
    """The fields as a model. Raises `RequestValidationError`, as for a declared body."""
    try:
        return model.model_validate(body.fields)
    except ValidationError as error:
        found = [{**one, "loc": ("body", *one["loc"])} for one in error.errors(include_url=False)]
        raise RequestValidationError(found) from None


def document_body(
    model: type[BaseModel], file_fields: tuple[str, ...] = (*PICTURE_FIELDS, FILM_FIELD)
) -> dict[str, Any]:
    """The body for /openapi.json: the model as JSON, and as a form with files."""
    schema = model.model_json_schema()
    inner = schema.pop("$defs", {})
    schema = json.loads(
        json.dumps(schema), object_hook=lambda part: _without_reference(part, inner)
    )
    files = dict.fromkeys(file_fields, _FILE)
    form = {**schema, "properties": {**schema["properties"], **files}}
    form["properties"].pop("modifiers", None)
    content = {"application/json": {"schema": schema}, "multipart/form-data": {"schema": form}}
    return {"requestBody": {"required": True, "content": content}}


def _without_reference(part: dict[str, Any], inner: dict[str, Any]) -> dict[str, Any]:
    name = str(part.get("$ref", "")).rpartition("/")[2]
    return dict(inner[name]) if name in inner else part
