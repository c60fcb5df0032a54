"""From an address to the first quoted film: the SDK's OAuth client, and a browser in which nobody
has signed in."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from queue import Queue
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
)
from playwright.sync_api import Locator, Page
from pydantic import AnyUrl

from tests.browser.member_page import SCRIPT_TEXT, MemberPage
from tests.browser.portal_process import LivePortal
from tests.browser.sandbox_control import SandboxControl
from tests.dashboard.agents import conftest
from tests.dashboard.agents.conftest import Documents, Program
from tests.dashboard.agents.test_sdk_client import Storage

program = conftest.program
MOST_PRESSES = 4
ANSWER_TIMEOUT_S = 120
NOBODY: dict[str, list[Any]] = {"cookies": [], "origins": []}


class FilmProgram:
    """It knows the address of the server and nothing else; what is opened and answered in the
    browser of its user passes through two queues."""

    def __init__(self, program: Program, url: str) -> None:
        self.url, self.client_id = url, program.client_id
        self.callback = f"{program.client_id.removesuffix(conftest.DOCUMENT_PATH)}/callback"
        self.opened: Queue[str] = Queue()
        self.answered: Queue[dict[str, str]] = Queue()

    def provider(self) -> OAuthClientProvider:
        storage, redirects = Storage(), [AnyUrl(self.callback)]
        storage.client = OAuthClientInformationFull(
            client_id=self.client_id, redirect_uris=redirects, token_endpoint_auth_method="none"
        )

        async def open_browser(url: str) -> None:
            self.opened.put(url)

        async def wait_for_code() -> AuthorizationCodeResult:
            given = await asyncio.to_thread(self.answered.get, timeout=ANSWER_TIMEOUT_S)
            return AuthorizationCodeResult.model_validate(given)

        metadata = OAuthClientMetadata(redirect_uris=redirects, token_endpoint_auth_method="none")
        return OAuthClientProvider(self.url, metadata, storage, open_browser, wait_for_code)

    async def quote_film(self) -> dict[str, Any]:
        """Connect, choose the first voice and genre, and quote a film."""
        async with (
            httpx2.AsyncClient(
                auth=self.provider(), timeout=ANSWER_TIMEOUT_S, trust_env=False
            ) as http,
            Client(streamable_http_client(self.url, http_client=http)) as client,
        ):
            settings = {}
            for setting, group in (("voice_id", "voices"), ("genre_id", "genres")):
                found = await client.call_tool("find_options", {"group": group})
                settings[setting] = dict(found.structured_content or {})["options"][group][0]["id"]
            film = {"kind": "video", "script": SCRIPT_TEXT, "settings": settings}
            quoted = await client.call_tool("quote", film)
            return dict(quoted.structured_content or {})


def test_the_first_quoted_film_takes_four_presses_at_most_and_nothing_is_pasted(
    open_fresh_page: Callable[..., Page],
    open_member_page: Callable[..., MemberPage],
    sandbox_control: SandboxControl,
    live_portal: LivePortal,
    program: Program,
) -> None:
    Documents.answers["/callback"] = (200, {"Content-Type": "text/html"}, b"<title>Back</title>")
    open_member_page("Luca").use_token_of(sandbox_control.create_account())
    page, presses = open_fresh_page("Luca", storage_state=NOBODY), ["Add, in the program"]
    film, luca = FilmProgram(program, f"{live_portal.portal}/mcp"), live_portal.person("Luca")

    def press(button: Locator) -> None:
        presses.append(button.inner_text())
        button.click()

    with ThreadPoolExecutor(1) as thread:
        start = time.monotonic()
        quoting = thread.submit(asyncio.run, film.quote_film())
        page.goto(film.opened.get(timeout=ANSWER_TIMEOUT_S))
        page.locator("input[name=login]").fill(luca.email)
        page.locator("input[name=password]").fill(luca.password)
        press(page.locator("main form button[type=submit]").first)
        press(page.get_by_role("button", name="Connect", exact=True))
        page.wait_for_url(f"{film.callback}?*")
        film.answered.put(dict(parse_qsl(urlsplit(page.url).query)))
        quoted = quoting.result(timeout=ANSWER_TIMEOUT_S)
        seconds = time.monotonic() - start
    print(f"\nfrom an address to the first quoted film: {seconds:.1f} s, {len(presses)} presses")
    assert quoted["status"] == "quoted", quoted
    assert float(quoted["quote"]["price"]) > 0
    assert len(presses) <= MOST_PRESSES, presses
