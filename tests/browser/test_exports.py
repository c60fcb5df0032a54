"""Exports from the dialog to the playing film, over the real processes."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Locator, expect

from tests.browser.media import expect_playing
from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.page_audit import serious_violations
from tests.browser.sandbox_control import SandboxControl


def open_export_dialog(luca: MemberPage) -> Locator:
    luca.page.locator(".page-head__acts").get_by_role("link", name="Export").click()
    dialog = luca.page.locator("dialog[open]")
    expect(dialog).to_contain_text("Export a restyled cut")
    return dialog


def test_an_export_is_made_watched_and_played(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    job = luca.order_video("Why tides turn")
    page = luca.page
    expect(luca.film_player).to_be_attached(timeout=RENDERED_TIMEOUT_MS)
    dialog = open_export_dialog(luca)
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    dialog.get_by_text("Karaoke").click()
    assert serious_violations(page) == []
    dialog.get_by_role("button", name="Export").click()
    exports = page.locator(f"#job-{job}-exports")
    expect(exports).to_contain_text("Karaoke")
    play = exports.get_by_role("link", name="Play")
    expect(play).to_be_visible(timeout=RENDERED_TIMEOUT_MS)
    expect(page.locator("[id$='-lineage']")).to_contain_text("Export “Karaoke")
    play.click()
    expect_playing(page.locator("dialog[open] video"))
    assert serious_violations(page) == []
    page.keyboard.press("Escape")
    with page.expect_download() as download:
        exports.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename.endswith(".mp4")
    assert sandbox_control.count_requests(guest, "POST", "/export") == 1
    sandbox_control.spent_credits(guest)
