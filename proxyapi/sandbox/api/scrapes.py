"""scrape-images (free) and scrape-script (charges) of a faceless video (spec: URL-based flow)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import StringConstraints

from proxyapi.sandbox import money, writer
from proxyapi.sandbox.api import scripts, shapes
from proxyapi.sandbox.api.faceless import Shown, find
from proxyapi.sandbox.envelope import success
from proxyapi.sandbox.errors import Invalid
from proxyapi.sandbox.faceless import assets, changes, record
from proxyapi.sandbox.faceless.changes import Body
from proxyapi.sandbox.gate import Caller, gated
from proxyapi.sandbox.scraping import reading
from proxyapi.sandbox.writer import retelling

router = APIRouter(prefix="/faceless", tags=["Faceless videos"], route_class=gated(find=find))

Url = Annotated[str, StringConstraints(min_length=1, max_length=2048)]


class PageAddress(Body):
    url: Url


class PageScript(scripts.Options):
    url: Url


@router.post("/{faceless}/scrape-images", response_model=Shown)
async def scrape_images(call: Caller, wanted: PageAddress) -> Response:
    changes.refuse_busy(call, call.owned)
    page = await reading.read(call, reading.permitted(call, wanted.url))
    files = [] if page.built_in else await reading.pictures(page)
    found = page.pictures if page.built_in else [it for it in files if it is not None]
    if not found and call.world.settings.page_without_images == "refused":
        raise Invalid({"url": ["No images were found on the page."]})
    video = assets.current(call)
    changes.refuse_busy(call, video)
    assets.attach(call, video, page, files)
    return success(record.show(call, video), "Images attached")


@router.post("/{faceless}/scrape-script", response_model=shapes.Charged[shapes.FacelessShape])
async def scrape_script(call: Caller, wanted: PageScript) -> Response:
    """Nothing is charged for a page that cannot be read."""
    changes.refuse_busy(call, call.owned)
    address = reading.permitted(call, wanted.url)
    money.require(call, scripts.use(call))
    page = await reading.read(call, address)
    call.owned = assets.current(call)
    changes.refuse_busy(call, call.owned)
    use = scripts.use(call)
    money.require(call, use)
    text = retelling.retell(
        page,
        seconds=wanted.duration,
        style=wanted.style or "",
        tone=wanted.tone or "",
        language=writer.language_code(wanted.language or page.language) or "en",
        chance=call.world.chance("script"),
    )
    charge = money.charge(call, use)
    scripts.keep(call, page.title, text)
    shown = record.show(call, call.owned)
    return success(shown, "Script generated", meta=money.meta(call, charge))
