"""What axe says of a page, and the sizes of screens that pages are looked at on."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

WIDE, PHONE, NARROW = 1440, 390, 320  # px
HEIGHT = 900
# Only a rule of less than serious impact needs `preload`, which waits for films.
AXE_OPTIONS: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
# A theme changes colours and nothing else.
CONTRAST = {**AXE_OPTIONS, "runOnly": ["color-contrast"]}
# All that axe says of a page is a megabyte; what is asked for is a line or none.
SERIOUS_VIOLATIONS_JS = """async (options) => (await axe.run(options)).violations
    .filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => node.target[0]).join(", ")}`)
"""
# The colours of a theme arrive one level of the page a frame, and parts of it by requests of their
# own; five seconds are enough for all. An animation that repeats for ever never is over.
WAIT_UNTIL_DRAWN_JS = """async () => {
    const ends = ({ playState, effect }) =>
        playState === "running" && effect.getComputedTiming().endTime < Infinity;
    const busy = () =>
        document.getAnimations().some(ends) || document.querySelector(".htmx-request");
    for (let calm = 0, frames = 0; calm < 3 && frames < 300; frames++) {
        calm = busy() ? 0 : calm + 1;
        await new Promise(requestAnimationFrame);
    }
}"""

REPEATED_IDS_JS = """() => {
    const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
    return [...new Set(ids.filter((id, place) => ids.indexOf(id) < place))];
}"""


def serious_violations(page: Page, options: dict[str, Any] = AXE_OPTIONS) -> list[str]:
    """What axe calls serious or critical on a page as it is now."""
    page.evaluate(WAIT_UNTIL_DRAWN_JS)
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(Axe().axe_script)
    found: list[str] = page.evaluate(SERIOUS_VIOLATIONS_JS, options)
    return found


def repeated_ids(page: Page) -> list[str]:
    """Return the ids that two elements have: a label leads to the first of them alone."""
    return [f"repeats the id {name}" for name in page.evaluate(REPEATED_IDS_JS)]
