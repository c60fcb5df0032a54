"""Answers that come when a test wants them to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, Route

from tests.browser.sandbox_control import wait_until


@contextmanager
def hold_response(page: Page, path: str | re.Pattern[str]) -> Iterator[None]:
    """What the page asks for there waits for the end of this, and has been asked for by then."""
    waiting: list[Route] = []

    def keep(route: Route) -> None:
        waiting.append(route)

    page.route(path, keep)
    try:
        yield
        wait_until(
            lambda: page.evaluate("true") and waiting
        )  # it is heard of while the page is asked
    finally:  # a page with what is held waits for it for ever when it is closed
        for route in waiting:
            route.continue_()
        page.unroute(path, keep)
