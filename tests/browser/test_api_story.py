"""A key is made on its page, and a script that was written for the service makes films with it.

They appear in a library that is open, with the key's name and their cost. One above the key's limit
waits until a second person approves it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.member_page import RENDERED_TIMEOUT_MS, SCRIPT_TEXT, MemberPage
from tests.browser.portal_process import LivePortal
from tests.browser.sandbox_control import SandboxControl, wait_until

DAILY_LIMIT = 30


class FilmScript:
    """What a script does with the API of the service: it knows nothing of the portal."""

    def __init__(self, base_url: str, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        self.api = httpx.Client(base_url=base_url, headers=headers, timeout=120, trust_env=False)

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        answer = self.api.request(method, path, json=body)
        assert answer.is_success, answer.text
        return answer.json()["data"]

    def create(self, title: str) -> str:
        choices = self.ask("GET", "/faceless/options")["mandatory"]
        video = self.ask("POST", "/faceless", {"type": "ai-visuals", "title": title})["id"]
        picked = {"voice_id": choices["voices"][0]["id"], "genre_id": choices["genres"][0]["id"]}
        self.ask("PATCH", f"/faceless/{video}", {"script": SCRIPT_TEXT, **picked})
        return str(video)

    def film_of(self, video: str) -> bytes:
        """The film, when it is rendered."""
        while (shown := self.ask("GET", f"/faceless/{video}")["video"])["status"] != "completed":
            assert shown["status"] != "failed", shown
            time.sleep(1)
        return httpx.get(shown["url"], trust_env=False, timeout=120).content


@pytest.fixture
def luca(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> MemberPage:
    desk = open_member_page("Luca")
    desk.use_token_of(sandbox_control.create_account())
    return desk


@pytest.fixture
def script(luca: MemberPage, live_portal: LivePortal) -> Iterator[FilmScript]:
    made = FilmScript(f"{live_portal.portal}/api/v2", create_key(luca.page, "nightly films"))
    yield made
    made.api.close()


def create_key(page: Page, name: str) -> str:
    """Make a key on its page and copy its value, which is shown once."""
    page.goto("/api-keys/")
    page.get_by_role("button", name="Create key").first.click()
    dialog = page.locator("dialog[open]")
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_label("Credits a day").fill(str(DAILY_LIMIT))
    dialog.get_by_role("button", name="Create key").click()
    value = page.locator("#key-value").inner_text()
    page.get_by_label("I have saved it").check()
    page.get_by_role("button", name="Done").click()
    expect(page.locator("#key-value")).to_have_count(0)
    return value


def test_a_script_makes_films_that_the_team_sees_and_approves(
    script: FilmScript, luca: MemberPage, open_member_page: Callable[..., MemberPage]
) -> None:
    thea = open_member_page("Thea").page
    thea.goto("/library/")
    film = script.create("A glacier by night")
    script.ask("POST", f"/faceless/{film}/render")
    card = thea.locator("article.video", has_text="A glacier by night")
    expect(card).to_contain_text("nightly films")
    assert b"ftyp" in script.film_of(film)[:16]
    expect(card).to_have_attribute("data-state", "completed", timeout=RENDERED_TIMEOUT_MS)
    thea.goto(str(card.locator("a.video__title").get_attribute("href")))
    expect(thea.locator(".player video")).to_be_attached()
    expect(thea.locator("main")).to_contain_text("nightly films")

    longer = script.create("A glacier by day")
    charged = script.ask(
        "PUT", f"/faceless/{longer}/scripts", {"duration": 300, "topic": "Why glaciers are blue"}
    )
    assert charged["script"]
    waiting = script.ask("POST", f"/faceless/{longer}/render")
    assert waiting["state"] == "approval_required"
    thea.goto(waiting["approval_url"])
    expect(thea.locator("main")).to_contain_text("nightly films")
    thea.get_by_role("link", name="Approve").first.click()
    thea.locator("dialog[open]").get_by_role("button", name="Approve").click()

    def is_sent() -> bool:
        return bool(script.ask("GET", f"/_charges/{waiting['charge']}")["sent_at"])

    wait_until(is_sent)
    assert b"ftyp" in script.film_of(longer)[:16]

    luca.page.goto("/api-keys/requests/")
    expect(luca.page.locator("main")).to_contain_text(re.compile("Render|faceless"))
