"""A storyboard from its scenes to its film, over the real processes: what was confirmed is what is
charged."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.page_audit import serious_violations
from tests.browser.sandbox_control import SandboxControl, SandboxGuest
from tests.browser.test_storyboard_editor import (
    PROMPTS,
    chain,
    pick,
    start_storyboard,
)

FAST_CLIPS = {"clip_seconds": 1, "clip_seconds_per_second": 0, "render_seconds": 2}
PLAYS = "film => film.readyState > 2 && !film.error"


@pytest.fixture
def guest(sandbox_control: SandboxControl) -> SandboxGuest:
    return sandbox_control.create_account()


@pytest.fixture
def luca(open_member_page: Callable[..., MemberPage], guest: SandboxGuest) -> MemberPage:
    member = open_member_page("Luca")
    member.use_token_of(guest)
    return member


def start_with(luca: MemberPage, title: str, *prompts: str) -> str:
    """Start a storyboard with these scenes and open it; answer its address."""
    address = start_storyboard(luca.page, title)  # it has one empty scene
    path = f"{urlsplit(address).path}scenes/"
    for _ in prompts[1:]:
        assert luca.post_form(path, action="add").ok
    shown = luca.page.request.get(address).text()
    for id, prompt in zip(re.findall(r'id="tile-([0-9a-f-]{36})"', shown), prompts, strict=True):
        fields = {"prompt": prompt, "prompt_seen": "other", "overwrite": "prompt"}
        assert luca.post_form(f"{path}{id}/", **fields).ok
    luca.page.goto(address)
    return address


def confirm(page: Page, label: str) -> str:
    """Press a priced button of the rail, then that of its question; answers the price."""
    page.locator("#rail .btn--primary").locator("visible=true").filter(has_text=label).first.click(
        timeout=RENDERED_TIMEOUT_MS
    )
    button = page.locator("dialog[open]").get_by_role("button", name=label)
    expect(button).to_be_visible()
    text = button.locator(".btn__price").all_inner_texts()
    button.click()
    page.wait_for_url("**/studio/storyboards/*-*/**")
    expect(page.locator("dialog[open]")).to_have_count(0)
    return text[0].strip() if text else ""


def render_card(page: Page) -> Locator:
    return page.locator("#render")


def add_frame(page: Page, number: int, picture: Path) -> None:
    Image.new("RGB", (320, 180), (40, 90, 120)).save(picture)
    pick(page, number)
    page.locator("#slot-last_frame input[type=file]").set_input_files(picture)
    expect(page.locator("#slot-last_frame img")).to_be_visible()


def test_a_storyboard_by_hand_from_scenes_to_the_film(
    luca: MemberPage, guest: SandboxGuest, sandbox_control: SandboxControl, tmp_path: Path
) -> None:
    sandbox_control.change_settings(**FAST_CLIPS)
    page = luca.page
    start_with(luca, "Night train north", *PROMPTS[:3])
    chain(page, 2)
    add_frame(page, 1, tmp_path / "dawn.png")
    page.get_by_role("button", name="Get the exact price").click()
    expect(render_card(page)).to_contain_text("exact", timeout=RENDERED_TIMEOUT_MS)
    pick(page, 3)
    page.keyboard.press("Alt+ArrowLeft")
    expect(page.locator("#board-said")).to_contain_text("Scene 3 is now scene 2 of 3.")
    chain(page, 3)
    confirm(page, "Generate 3 clips")
    expect(page.locator("#needs")).to_contain_text("nothing left", timeout=RENDERED_TIMEOUT_MS)
    assert serious_violations(page) == []
    price = confirm(page, "Render")
    expect(render_card(page)).to_contain_text("Open the film", timeout=RENDERED_TIMEOUT_MS)
    assert f"{sandbox_control.spent_credits(guest)} cr" == price
    page.get_by_role("link", name="Open the film").click()
    film = page.locator("video").first
    expect(film).to_be_visible()
    page.wait_for_function(PLAYS, arg=film.element_handle())
