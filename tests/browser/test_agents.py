"""A member connects an agent in the browser, with nothing pasted; its token works until it is
ended."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
from playwright.sync_api import Page, expect

from tests.browser.page_audit import serious_violations
from tests.browser.portal_process import LivePortal
from tests.browser.screenshots import ScreenshotAlbum
from tests.browser.session_age import management_environment
from tests.dashboard.agents import conftest
from tests.dashboard.agents.conftest import VERIFIER, Documents, Program

program = conftest.program
FIND_AGENT = """
from dashboard.api_keys.team_rules import PortalTeamRules
agent = PortalTeamRules().find_agent_key({token!r})
print(f"{{agent.name}} {{agent.allowance:f}}" if agent else "refused")
"""


def find_agent(portal: LivePortal, token: str) -> str:
    """What the gateway knows of who has this token."""
    script = (sys.executable, "manage.py", "shell", "--no-imports", "-c")
    command = [*script, FIND_AGENT.format(token=token)]
    environ = management_environment(portal) | {"PORTAL_URL": portal.portal}
    return subprocess.run(
        command, env=environ, check=True, timeout=120, capture_output=True, text=True
    ).stdout.strip()


def read_metadata(portal: LivePortal, name: str) -> dict[str, Any]:
    answer = httpx.get(f"{portal.portal}/.well-known/{name}", trust_env=False)
    metadata: dict[str, Any] = answer.json()
    return metadata


def exchange(portal: LivePortal, program: Program, **values: str) -> httpx.Response:
    url = read_metadata(portal, "oauth-authorization-server")["token_endpoint"]
    return httpx.post(url, data={"client_id": program.client_id, **values}, trust_env=False)


def open_from_menu(page: Page, what: str) -> None:
    """By its address: an event that comes after the page may close the menu."""
    page.goto(page.locator(f'#agents a[href$="/{what}/"]').get_attribute("href") or "")


def connect(
    page: Page, portal: LivePortal, program: Program, album: ScreenshotAlbum
) -> dict[str, Any]:
    """The member presses Connect; returns the tokens of the program."""
    resource = read_metadata(portal, "oauth-protected-resource/mcp")
    server = read_metadata(portal, "oauth-authorization-server")
    assert resource["authorization_servers"] == [server["issuer"]]
    target = f"{program.client_id.removesuffix(conftest.DOCUMENT_PATH)}/callback"
    page.goto(program.consent_url(redirect_uri=target, resource=resource["resource"]))
    expect(page.get_by_role("heading", name="Connect Film helper?")).to_be_visible()
    assert serious_violations(page) == []
    album.take(page, "consent")
    page.get_by_role("button", name="Connect", exact=True).click()
    page.wait_for_url(f"{target}?*")
    code = parse_qs(urlsplit(page.url).query)["code"][0]
    values = {"grant_type": "authorization_code", "code": code, "code_verifier": VERIFIER}
    answer = exchange(portal, program, **values, redirect_uri=target)
    tokens: dict[str, Any] = answer.json()
    return tokens


def test_a_member_connects_an_agent_raises_its_allowance_and_ends_it(
    open_fresh_page: Callable[..., Page],
    live_portal: LivePortal,
    program: Program,
    album: ScreenshotAlbum,
) -> None:
    Documents.answers["/callback"] = (200, {"Content-Type": "text/html"}, b"<title>Back</title>")
    page = open_fresh_page("Mira")
    tokens = connect(page, live_portal, program, album)
    assert find_agent(live_portal, tokens["access_token"]) == "Film helper 50.0000"

    page.goto("/agents/")
    open_from_menu(page, "credits")
    question = page.get_by_role("dialog", name="Raise the allowance of Film helper?")
    expect(question.get_by_text("With 50 cr more it may go on at once.")).to_be_visible()
    question.get_by_role("button", name="Raise the allowance").click()
    expect(page.get_by_text("Film helper may spend 50 cr more: 100 in all.")).to_be_visible()
    assert find_agent(live_portal, tokens["access_token"]) == "Film helper 100.0000"
    assert serious_violations(page) == []

    open_from_menu(page, "ends")
    question = page.get_by_role("dialog", name="End Film helper?")
    question.get_by_role("button", name="End Film helper").click()
    expect(page.get_by_text("Film helper is ended.")).to_be_visible()
    assert find_agent(live_portal, tokens["access_token"]) == "refused"
    values = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    refused = exchange(live_portal, program, **values)
    assert (refused.status_code, refused.json()) == (400, {"error": "invalid_grant"})
