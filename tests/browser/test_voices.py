"""A voice from a recording and a file to a draft that it reads, over the real processes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.held_responses import hold_response
from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.page_audit import serious_violations
from tests.browser.sandbox_control import SandboxControl
from tests.recordings import make_wav

NAME = "Maren Holt, calm"
# Again until it is heard: an earlier save may be about to replace the card that listens.
ANNOUNCE_JS = """window.announcing = setInterval(
    () => document.body.dispatchEvent(new CustomEvent("reelroom:account")), 500)"""
IS_PLAYING = 'button => button.getAttribute("aria-pressed") === "true"'


def test_a_voice_is_cloned_in_a_bought_slot_played_and_reads_a_draft(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl, tmp_path: Path
) -> None:
    luca = open_member_page("Luca", permissions=["microphone"])
    guest = sandbox_control.create_account()
    sandbox_control.change_settings(clone_slots=0)
    luca.use_token_of(guest)
    page = luca.page
    page.goto("/voices/")
    page.get_by_role("button", name="Clone a voice").click()
    record_too_little(page)
    add_sample(page, tmp_path / "lake.wav")
    fill_voice(page)
    buy_slot(page)
    assert serious_violations(page) == []
    create_voice(page)
    state = page.locator("#voice-state")
    expect(state).to_contain_text("Ready", timeout=RENDERED_TIMEOUT_MS)
    expect(state).to_contain_text("offered in the studio", timeout=RENDERED_TIMEOUT_MS)
    page.get_by_role("button", name=f"Play {NAME}").click()
    assert page.get_by_role("button", name=f"Pause {NAME}").evaluate(IS_PLAYING)
    assert serious_violations(page) == []
    assert sandbox_control.count_requests(guest, "POST", "/voice-clones") == 1
    assert sandbox_control.spent_credits(guest) == 50
    page.get_by_role("button", name="Make a video").click()
    page.wait_for_url("**/studio/**")
    page.goto(f"/studio/{page.url.split('/studio/')[1].split('/')[0]}/voice/")
    expect(page.get_by_role("radio", name=re.compile(NAME))).to_be_checked()


def record_too_little(page: Page) -> None:
    """What was recorded arrives as a file of sound, whose length the server measures."""
    page.get_by_role("button", name="Record").click()
    recorder = page.locator("#recorder")
    expect(recorder.get_by_role("button", name="Stop recording")).to_be_focused()
    expect(recorder.locator(".wave rect").nth(2)).to_be_attached()
    assert recorder.locator(".level rect").count() == 40
    recorder.get_by_role("button", name="Stop recording").click()
    expect(page.locator("#samples")).to_contain_text(
        re.compile(r"“Recording \d\d:\d\d\.wav”: It is shorter than 5 seconds")
    )


def add_sample(page: Page, file: Path) -> None:
    """A wrong file is named; one of 31 seconds is measured, drawn and played."""
    samples, files = page.locator("#samples"), page.locator("#sample-files")
    (wrong := file.with_name("holiday.mp3")).write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(200))
    files.set_input_files(wrong)
    expect(samples).to_contain_text("“holiday.mp3”: This file cannot be read as sound.")
    file.write_bytes(make_wav(31, 220.0))
    files.set_input_files(file)
    expect(samples).to_contain_text("1 of 3")
    expect(samples).to_contain_text("Good level, peak −8 dB")
    expect(samples.locator(".sample .wave rect")).to_have_count(64)
    samples.get_by_role("button", name="Play sample 1").click()
    assert samples.get_by_role("button", name="Pause sample 1").evaluate(IS_PLAYING)


def fill_voice(page: Page) -> None:
    page.get_by_role("textbox", name="Name 60 characters").fill(NAME)
    page.get_by_role("radio", name="Female", exact=True).check(force=True)
    page.get_by_role("radio", name="Another person’s").check(force=True)
    page.get_by_label("Full name of the speaker").fill("Maren Holt")
    page.get_by_label("Agreed on").fill("2026-11-03")
    page.get_by_role("checkbox", name="The speaker agrees").check()


def buy_slot(page: Page) -> None:
    """Slots that are read meanwhile do not undo what is not saved yet."""
    buy = page.get_by_role("checkbox", name="Buy another slot")
    expect(page.locator("#needs")).to_contain_text("No slot is free")
    with hold_response(page, re.compile(r"/voices/[\da-f-]+/$")):
        buy.check(force=True)
        with page.expect_response("**/voices/*/?part=price"):
            page.evaluate(ANNOUNCE_JS)
        page.evaluate("clearInterval(window.announcing)")
    expect(page.locator("#price .btn__price")).to_have_text("50 cr")
    expect(buy).to_be_checked()


def create_voice(page: Page) -> None:
    """Press the button once all is there, and confirm."""
    page.locator("#price").get_by_role("button", name="Create voice").click()
    dialog = page.locator("dialog[open]")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    dialog.get_by_role("button", name="Create voice").click()
