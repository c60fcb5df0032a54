"""How long it takes until an open page shows what a poll read."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from uuid import UUID

from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.portal_process import LivePortal
from tests.browser.sandbox_control import SandboxControl

# Answers the time at which the card says that its video is done, in milliseconds since 1970; a
# page that is loaded again meanwhile, or too late, fails.
WATCH_CARD_JS = """([id, patience]) => new Promise((done, late) => {
    setTimeout(() => late(new Error("the card never said that it is done")), patience);
    const look = () => {
        const card = document.getElementById(`job-${id}`);
        if (card && card.dataset.state === "completed") { watch.disconnect(); done(Date.now()); }
    };
    const watch = new MutationObserver(look);
    watch.observe(document.body, { subtree: true, childList: true, attributes: true });
    look();
})"""


def measure_update_delays(
    site: LivePortal, luca: MemberPage, vera: MemberPage, stage: SandboxControl, renders: int
) -> list[float]:
    """Seconds from the poll that read the end to the card in Vera's open library."""
    waits = []
    for number in range(renders):
        luca.use_token_of(stage.create_account())
        job = luca.create_draft(f"Seen at once {number}")
        vera.page.goto("/library/")
        luca.render_video(job)
        shown = vera.page.evaluate(WATCH_CARD_JS, [job, RENDERED_TIMEOUT_MS]) / 1000
        waits.append(shown - read_finished_at(site, job))
    return waits


def read_finished_at(site: LivePortal, job: str) -> float:
    """When the portal wrote down that it is done; its database is only read."""
    with sqlite3.connect(f"file:{site.var}/reelroom.sqlite3?mode=ro", uri=True) as database:
        query = "SELECT finished_at FROM proxyapi_job WHERE id = ?"
        (text,) = database.execute(query, [UUID(job).hex]).fetchone()
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
