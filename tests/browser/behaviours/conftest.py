"""A behaviour of a page in Chromium without a portal: about a second a test.

`open_page(luca, "/studio/")` opens the real page for that person of `tests/people.py`, with the
real scripts and style sheets. It shows rows made by factories, as in the tests of views; its forms
and parts are answered by the real views. To answer otherwise, use `page.route` or `hold_response`;
`page_server.push("touched", "budget")` is an event of the live stream. A message in the console
fails the test, unless `@pytest.mark.console("503")` expects it. There is no worker: what
a task would do, such as the price of a draft, is a row of the test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, Page, expect

from dashboard.models import Membership
from tests.browser.console_messages import ConsoleMessages
from tests.browser.member_page import RENDERED_TIMEOUT_MS
from tests.browser.page_server import PageServer, running_page_server
from tests.browser.ready_pages import new_page
from tests.dashboard.studio.conftest import account, ready, token  # noqa: F401  # fixtures

OpenPage = Callable[..., Page]


@pytest.fixture(scope="session")
def running_server() -> Iterator[PageServer]:
    with running_page_server() as server:
        yield server


@pytest.fixture
def page_server(running_server: PageServer, db: None) -> Iterator[PageServer]:
    with running_server.in_transaction_of_test():
        yield running_server


@pytest.fixture
def open_page(
    chromium: Browser, page_server: PageServer, console_messages: ConsoleMessages
) -> Iterator[OpenPage]:
    """`open_page(luca, "/studio/")`, with options of a browser context such as `viewport`: a page
    in a context of its own, its live stream open."""
    contexts = []

    def open_page(member: Membership, path: str, **options: object) -> Page:
        client = Client()
        client.force_login(member.user)
        context = chromium.new_context(
            base_url=page_server.address,
            **{"reduced_motion": "reduce", **options},  # type: ignore[arg-type]
        )
        contexts.append(context)
        name = settings.SESSION_COOKIE_NAME
        cookie = {"name": name, "value": client.cookies[name].value, "url": page_server.address}
        context.add_cookies([cookie])  # type: ignore[list-item]
        context.set_default_navigation_timeout(RENDERED_TIMEOUT_MS)  # the first imports the site
        console_messages.watch(context)
        page = new_page(context)
        page.goto(path)
        expect(page.locator("#live")).to_have_attribute("data-state", "open")
        return page

    yield open_page
    for context in contexts:
        for page in context.pages:
            page.unroute_all(behavior="ignoreErrors")  # what is held back would never be answered
        context.close()
