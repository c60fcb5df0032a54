"""Assets of an ai-visuals video: own media, and another image for a scene."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter, Response
from starlette.datastructures import UploadFile

from proxyapi.sandbox import money
from proxyapi.sandbox.api import shapes
from proxyapi.sandbox.api.faceless import Shown
from proxyapi.sandbox.api.shortcuts import finder
from proxyapi.sandbox.envelope import success
from proxyapi.sandbox.errors import Invalid
from proxyapi.sandbox.faceless import assets, changes, record
from proxyapi.sandbox.gate import Call, Caller, gated
from proxyapi.sandbox.scraping import addresses, articles, reading

router = APIRouter(
    prefix="/ai-visuals",
    tags=["Typed shortcuts"],
    route_class=gated(find=finder("ai-visuals"), part=assets.find),
)

_URL = {"type": "string", "format": "uri", "maxLength": addresses.LONGEST}
_FILE = {"type": "string", "contentMediaType": "application/octet-stream"}
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {"type": "object", "properties": {"file": _FILE, "url": _URL}}
            },
            "application/json": {
                "schema": {"type": "object", "required": ["url"], "properties": {"url": _URL}}
            },
        },
    }
}


@router.post(
    "/{faceless}/assets/upload", response_model=Shown, status_code=201, openapi_extra=_BODY
)
async def upload_asset(call: Caller) -> Response:
    """`file` or `url`: png, jpg, gif, webp or mp4."""
    try:
        await _add(call, await _form(call))
    finally:
        await call.request.close()  # the files of the form
    status = call.world.settings.create_status
    return success(record.show(call, assets.current(call)), "Asset added", status=status)


@router.post(
    "/{faceless}/assets/{asset}/regenerate",
    response_model=shapes.Charged[shapes.FacelessShape],
)
async def regenerate_asset(call: Caller) -> Response:
    charge = assets.regenerate(call, call.owned, call.part)
    shown = record.show(call, call.owned)
    return success(shown, "Image regenerated", meta=money.meta(call, charge))


async def _add(call: Call, form: dict[str, Any]) -> None:
    file, url = form.get("file"), form.get("url")
    changes.refuse_busy(call, call.owned)
    if isinstance(file, UploadFile) and (file.filename or file.size):
        data, kind = _accepted(call, await file.read())
        assets.upload(call, assets.current(call), data, kind)
    elif isinstance(url, str) and url:
        await _fetch(call, url)
    elif url is not None and not isinstance(url, str):
        raise Invalid({"url": ["The url field must be a string."]})
    else:
        raise Invalid({"file": ["The file field is required when url is not present."]})


async def _form(call: Call) -> dict[str, Any]:
    kind = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in ("multipart/form-data", "application/x-www-form-urlencoded"):
        return dict(await call.request.form())
    try:
        body = json.loads(await call.request.body() or b"{}")
    except (ValueError, RecursionError):
        raise Invalid({"body": ["The body is no JSON."]}) from None
    if not isinstance(body, dict):
        raise Invalid({"body": ["The body field must be an object."]})
    return body


def _accepted(call: Call, data: bytes) -> tuple[bytes, str]:
    most = call.world.settings.upload_bytes
    if len(data) > most:
        raise Invalid({"file": [f"The file must not be greater than {most} bytes."]})
    kind = reading.extension(data)
    if kind is None:
        raise Invalid({"file": ["The file must be a png, jpg, gif, webp or mp4."]})
    return data, kind


async def _fetch(call: Call, url: str) -> None:
    """Add what is at an address: a built-in article's picture, or a file on loopback."""
    address = reading.permitted(call, url)
    if not address.loopback:
        shown = articles.find_picture(address)
        if shown is None:
            raise addresses.unreachable()
        assets.upload_shown(call, call.owned, shown)
        return
    found = await reading.media(url)
    if found is None:
        raise addresses.unreachable()
    data, kind = _accepted(call, found[0])
    assets.upload(call, assets.current(call), data, kind, url)
