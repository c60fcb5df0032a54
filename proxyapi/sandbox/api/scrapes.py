"""scrape-images (free) and scrape-script (charges) of a faceless video (spec: URL-based flow)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import StringConstraints

from proxyapi.sandbox import billing, writer
from proxyapi.sandbox.api import scripts, shapes
from proxyapi.sandbox.api.faceless import FacelessEnvelope, find_video
from proxyapi.sandbox.authorization import Caller, make_route_class
from proxyapi.sandbox.envelope import success_body
from proxyapi.sandbox.errors import ValidationError
from proxyapi.sandbox.faceless import assets, changes, record
from proxyapi.sandbox.faceless.changes import Body
from proxyapi.sandbox.scraping import page_reader
from proxyapi.sandbox.writer import retelling

router = APIRouter(
    prefix="/faceless", tags=["Faceless videos"], route_class=make_route_class(find=find_video)
)

Url = Annotated[str, StringConstraints(min_length=1, max_length=2048)]


class PageAddress(Body):
    url: Url


class PageScript(scripts.Options):
    url: Url


@router.post("/{faceless}/scrape-images", response_model=FacelessEnvelope)
async def scrape_images(call: Caller, wanted: PageAddress) -> Response:
    changes.refuse_busy_video(call, call.owned)
    page = await page_reader.read_page(call, page_reader.permitted_address(call, wanted.url))
    files = [] if page.built_in else await page_reader.fetch_pictures(page)
    found = page.pictures if page.built_in else [it for it in files if it is not None]
    if not found and call.world.settings.page_without_images == "refused":
        raise ValidationError({"url": ["No images were found on the page."]})
    video = assets.current_video(call)
    changes.refuse_busy_video(call, video)
    assets.attach_page_pictures(call, video, page, files)
    return success_body(record.show_video(call, video), "Images attached")


@router.post("/{faceless}/scrape-script", response_model=shapes.Charged[shapes.FacelessShape])
async def scrape_script(call: Caller, wanted: PageScript) -> Response:
    """Nothing is charged for a page that cannot be read."""
    changes.refuse_busy_video(call, call.owned)
    address = page_reader.permitted_address(call, wanted.url)
    billing.require_credits(call, scripts.script_use(call))
    page = await page_reader.read_page(call, address)
    call.owned = assets.current_video(call)
    changes.refuse_busy_video(call, call.owned)
    use = scripts.script_use(call)
    billing.require_credits(call, use)
    text = retelling.retell(
        page,
        seconds=wanted.duration,
        style=wanted.style or "",
        tone=wanted.tone or "",
        language=writer.language_code(wanted.language or page.language) or "en",
        chance=call.world.random_source("script"),
    )
    charge = billing.charge_credits(call, use)
    scripts.store_script(call, page.title, text)
    shown = record.show_video(call, call.owned)
    return success_body(shown, "Script generated", meta=billing.credits_meta(call, charge))
