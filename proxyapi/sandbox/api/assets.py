"""Assets of an ai-visuals video: own media, and another image for a scene."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter, Response
from starlette.datastructures import UploadFile

from proxyapi.sandbox import billing
from proxyapi.sandbox.api import shapes
from proxyapi.sandbox.api.faceless import FacelessEnvelope
from proxyapi.sandbox.api.shortcuts import finder
from proxyapi.sandbox.authorization import ApiCall, Caller, make_route_class
from proxyapi.sandbox.envelope import success_body
from proxyapi.sandbox.errors import ValidationError
from proxyapi.sandbox.faceless import assets, changes, record
from proxyapi.sandbox.scraping import addresses, articles, page_reader

router = APIRouter(
    prefix="/ai-visuals",
    tags=["Typed shortcuts"],
    route_class=make_route_class(find=finder("ai-visuals"), part=assets.find_asset),
)

_URL = {"type": "string", "format": "uri", "maxLength": addresses.MAX_URL_CHARS}
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
    "/{faceless}/assets/upload",
    response_model=FacelessEnvelope,
    status_code=201,
    openapi_extra=_BODY,
)
async def upload_asset(call: Caller) -> Response:
    """`file` or `url`: png, jpg, gif, webp or mp4."""
    try:
        await _add_asset(call, await _read_form(call))
    finally:
        await call.request.close()  # the files of the form
    status = call.world.settings.create_status
    return success_body(
        record.show_video(call, assets.current_video(call)), "Asset added", status=status
    )


@router.post(
    "/{faceless}/assets/{asset}/regenerate",
    response_model=shapes.Charged[shapes.FacelessShape],
)
async def regenerate_asset(call: Caller) -> Response:
    charge = assets.regenerate_asset(call, call.owned, call.part)
    shown = record.show_video(call, call.owned)
    return success_body(shown, "Image regenerated", meta=billing.credits_meta(call, charge))


async def _add_asset(call: ApiCall, form: dict[str, Any]) -> None:
    file, url = form.get("file"), form.get("url")
    changes.refuse_busy_video(call, call.owned)
    if isinstance(file, UploadFile) and (file.filename or file.size):
        data, kind = _accept_upload(call, await file.read())
        assets.add_upload(call, assets.current_video(call), data, kind)
    elif isinstance(url, str) and url:
        await _fetch_media(call, url)
    elif url is not None and not isinstance(url, str):
        raise ValidationError({"url": ["The url field must be a string."]})
    else:
        raise ValidationError({"file": ["The file field is required when url is not present."]})


async def _read_form(call: ApiCall) -> dict[str, Any]:
    kind = call.request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind in ("multipart/form-data", "application/x-www-form-urlencoded"):
        return dict(await call.request.form())
    try:
        body = json.loads(await call.request.body() or b"{}")
    except (ValueError, RecursionError):
        raise ValidationError({"body": ["The body is no JSON."]}) from None
    if not isinstance(body, dict):
        raise ValidationError({"body": ["The body field must be an object."]})
    return body


def _accept_upload(call: ApiCall, data: bytes) -> tuple[bytes, str]:
    most = call.world.settings.upload_bytes
    if len(data) > most:
        raise ValidationError({"file": [f"The file must not be greater than {most} bytes."]})
    kind = page_reader.sniff_extension(data)
    if kind is None:
        raise ValidationError({"file": ["The file must be a png, jpg, gif, webp or mp4."]})
    return data, kind


async def _fetch_media(call: ApiCall, url: str) -> None:
    """Add what is at an address: a built-in article's picture, or a file on loopback."""
    address = page_reader.permitted_address(call, url)
    if not address.loopback:
        shown = articles.find_article_picture(address)
        if shown is None:
            raise addresses.page_unreachable()
        assets.add_article_picture(call, call.owned, shown)
        return
    found = await page_reader.fetch_media(url)
    if found is None:
        raise addresses.page_unreachable()
    data, kind = _accept_upload(call, found[0])
    assets.add_upload(call, assets.current_video(call), data, kind, url)
