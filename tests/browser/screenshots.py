"""The pictures of the README: pages of the demo with its past, taken by test_past.py.

With `REELROOM_PICTURES=docs/img` they are written there; otherwise nothing is taken.
"""

from __future__ import annotations

import os
from pathlib import Path

from playwright.sync_api import Page

from tests.browser.page_audit import WAIT_UNTIL_DRAWN_JS


class ScreenshotAlbum:
    """Takes a picture in each theme under a name."""

    def __init__(self, folder: str | None) -> None:
        self.folder = Path(folder) if folder else None

    @classmethod
    def from_environment(cls) -> ScreenshotAlbum:
        return cls(os.environ.get("REELROOM_PICTURES"))

    def take(self, page: Page, name: str) -> None:
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.evaluate(WAIT_UNTIL_DRAWN_JS)
            target = self.folder / f"{name}-{scheme}.jpg"
            # Hiding the caret would put a style into the page, which its policy refuses.
            page.screenshot(path=target, type="jpeg", quality=82, caret="initial")
        page.emulate_media(color_scheme="light", reduced_motion="no-preference")
