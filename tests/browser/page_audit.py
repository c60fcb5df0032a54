"""The audit of one page: accessibility by axe, its size, and its requests to other hosts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

WIDE, PHONE, NARROW = 1440, 390, 320  # px
HEIGHT = 900
MAX_PAGE_BYTES = 60_000  # bytes that a page may weigh
MAX_PICTURE_BYTES = 30_000  # bytes of its pictures, which come after it
PICTURES = ("/static/stills/",)  # drawings of options: they load lazily
MEDIA_PATHS = ("/media/", "/poster/")  # of a video: loaded near the viewport, besides the page
AXE_OPTIONS: dict[str, Any] = {"resultTypes": ["violations"]}
# A theme changes colours and nothing else.
CONTRAST = {**AXE_OPTIONS, "runOnly": ["color-contrast"]}
# Each change of the theme draws the page anew, so it changes once a width.
AUDITED_VIEWS = ((WIDE, "light"), (WIDE, "dark"), (PHONE, "dark"), (PHONE, "light"))
# All that axe says of a page is a megabyte; what is asked for is a line or none.
SERIOUS_VIOLATIONS_JS = """async (options) => (await axe.run(options)).violations
    .filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.target[0]).join(", ")}`)
"""
# The colours of a theme arrive one level of the page a frame; five seconds are enough for all.
WAIT_UNTIL_DRAWN_JS = """async () => {
    for (let calm = 0, frames = 0; calm < 3 && frames < 300; frames++) {
        calm = document.getAnimations().length ? 0 : calm + 1;
        await new Promise(requestAnimationFrame);
    }
}"""


@dataclass(slots=True)
class PageAudit:
    """`weight` is in bytes as they came over the wire, with a cold cache, without media and without
    the pictures that load lazily, which `pictures` counts."""

    complaints: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    weight: int = 0
    pictures: int = 0
    narrowest: int = 0  # px that the page needs at 320


def serious_violations(page: Page) -> list[str]:
    """What axe calls serious or critical on a page as it is now."""
    page.evaluate(WAIT_UNTIL_DRAWN_JS)
    page.evaluate(Axe().axe_script)
    found: list[str] = page.evaluate(SERIOUS_VIOLATIONS_JS, AXE_OPTIONS)
    return found


def audit_page(browser: Browser, portal: str, path: str, state: Any) -> PageAudit:
    """Load the page and audit it in both themes and three widths. A page that is too large is
    loaded again, because an update may have arrived during the load."""
    found = audit_once(browser, portal, path, state)
    if found.weight > MAX_PAGE_BYTES:
        found.weight = audit_once(browser, portal, path, state).weight
    return found


def audit_once(browser: Browser, portal: str, path: str, state: Any) -> PageAudit:
    with browser.new_context(
        base_url=portal,
        storage_state=state,
        viewport={"width": WIDE, "height": HEIGHT},
        reduced_motion="reduce",
    ) as context:
        page, found = context.new_page(), PageAudit()
        collect_complaints(page, portal, found)
        page.goto(path)
        page.evaluate(WAIT_UNTIL_DRAWN_JS)
        weight = found.weight  # what is pushed and fetched later is news, not the page
        page.evaluate(Axe().axe_script)
        for width, theme in AUDITED_VIEWS:
            page.set_viewport_size({"width": width, "height": HEIGHT})
            audit_at_width(page, width, theme, found)
        page.set_viewport_size({"width": NARROW, "height": HEIGHT})
        found.weight = weight
        found.narrowest = page.evaluate("document.scrollingElement.scrollWidth")
        return found


def collect_complaints(page: Page, portal: str, found: PageAudit) -> None:
    """Keep what the page complains of and sends for, and count what comes."""
    own = urlsplit(portal).netloc
    media: set[str] = set()
    pictures: set[str] = set()
    network = page.context.new_cdp_session(page)
    network.send("Network.enable")
    network.send("Network.setCacheDisabled", {"cacheDisabled": True})

    def answered(event: dict[str, Any]) -> None:
        address = urlsplit(event["response"]["url"])
        if any(part in address.path for part in PICTURES):
            pictures.add(event["requestId"])
        if event["type"] == "Media" or address.path.endswith(MEDIA_PATHS):
            media.add(event["requestId"])
        if address.scheme != "data" and address.netloc != own:
            found.strangers.append(address.geturl())

    def finished(event: dict[str, Any]) -> None:
        if event["requestId"] in pictures:
            found.pictures += int(event["encodedDataLength"])
        elif event["requestId"] not in media:
            found.weight += int(event["encodedDataLength"])

    network.on("Network.responseReceived", answered)
    network.on("Network.loadingFinished", finished)
    page.on("pageerror", lambda error: found.complaints.append(str(error)))
    page.on("console", lambda said: found.complaints.append(f"{said.type}: {said.text}"))


def audit_at_width(page: Page, width: int, theme: str, found: PageAudit) -> None:
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    page.evaluate(WAIT_UNTIL_DRAWN_JS)
    rules = AXE_OPTIONS if theme == "light" else CONTRAST
    for violation in page.evaluate(SERIOUS_VIOLATIONS_JS, rules):
        found.violations.append(f"{width} {theme} {violation}")
