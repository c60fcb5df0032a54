"""Voices over the real processes: cloned from files and a recording, played, used in a film."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.held_responses import hold_response
from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.page_audit import serious_violations
from tests.browser.sandbox_control import SandboxControl, wait_until
from tests.recordings import make_wav

IS_PLAYING = 'button => button.getAttribute("aria-pressed") === "true"'


def start_voice(person: MemberPage) -> Page:
    person.page.goto("/voices/")
    person.page.get_by_role("button", name="Clone a voice").click()
    expect(person.page.get_by_role("heading", name="Clone a voice")).to_be_visible()
    return person.page


def write_wav(folder: Path, name: str, seconds: float, pitch_hz: float = 220.0) -> Path:
    file = folder / name
    file.write_bytes(make_wav(seconds, pitch_hz))
    return file


def add_file(page: Page, *files: Path) -> Locator:
    page.locator("#sample-files").set_input_files(list(files))
    return page.locator("#samples")


def fill_voice(page: Page, name: str) -> None:
    page.get_by_role("textbox", name="Name 60 characters").fill(name)
    page.get_by_role("radio", name="Female", exact=True).check(force=True)
    page.get_by_role("radio", name="Another person’s").check(force=True)
    page.get_by_label("Full name of the speaker").fill("Maren Holt")
    page.get_by_label("Agreed on").fill("2026-11-03")
    page.get_by_role("checkbox", name="The speaker agrees").check()


def create_voice(page: Page) -> None:
    """Press the button once all is there, and confirm."""
    button = page.locator("#price").get_by_role("button", name="Create voice")
    expect(button).to_be_enabled()
    button.click()
    dialog = page.locator("dialog[open]")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    dialog.get_by_role("button", name="Create voice").click()


def voice_state(page: Page) -> Locator:
    return page.locator("#voice-state")


def test_a_voice_is_cloned_played_and_reads_a_film(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl, tmp_path: Path
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    page = start_voice(luca)
    samples = add_file(
        page, write_wav(tmp_path, "lake.wav", 31), write_wav(tmp_path, "wind.wav", 12, 330)
    )
    expect(samples).to_contain_text("2 of 3")
    expect(samples).to_contain_text("Good level, peak −8 dB")
    expect(samples.locator(".sample").first.locator(".wave rect")).to_have_count(64)
    samples.get_by_role("button", name="Play sample 1").click()
    assert samples.get_by_role("button", name="Pause sample 1").evaluate(IS_PLAYING)
    fill_voice(page, "Maren Holt, calm")
    assert serious_violations(page) == []
    create_voice(page)
    expect(voice_state(page)).to_contain_text("Ready", timeout=RENDERED_TIMEOUT_MS)
    expect(voice_state(page)).to_contain_text("offered in the studio", timeout=RENDERED_TIMEOUT_MS)
    page.get_by_role("button", name="Play Maren Holt, calm").click()
    assert page.get_by_role("button", name="Pause Maren Holt, calm").evaluate(IS_PLAYING)
    assert serious_violations(page) == []
    assert sandbox_control.count_requests(guest, "POST", "/voice-clones") == 1
    page.get_by_role("button", name="Make a video").click()
    page.wait_for_url("**/studio/**")
    job = page.url.split("/studio/")[1].split("/")[0]
    page.goto(f"/studio/{job}/voice/")
    voice = page.get_by_role("radio", name=re.compile("Maren Holt, calm"))
    expect(voice).to_be_checked()
    render_with_voice(luca, job)


def render_with_voice(luca: MemberPage, job: str) -> None:
    """The film that the cloned voice reads."""
    assert luca.post_form(f"/studio/{job}/script/", script="The lake is still.").ok
    saved = luca.post_form(f"/studio/{job}/visuals/", **luca.offered_choices(job, "visuals"))
    assert saved.ok, saved.text()
    wait_until(lambda: "price" in luca.render_dialog_fields(job))
    sent = luca.post_form(f"/studio/{job}/renders/", **luca.render_dialog_fields(job))
    luca.page.goto(sent.url)
    expect(luca.film_player).to_be_attached(timeout=3 * RENDERED_TIMEOUT_MS)


def test_a_sample_is_recorded_played_and_removed(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca = open_member_page("Luca", permissions=["microphone"])
    guest = sandbox_control.create_account()
    luca.use_token_of(guest)
    page = start_voice(luca)
    samples = page.locator("#samples")
    page.get_by_role("button", name="Record").click()
    recorder = page.locator("#recorder")
    expect(recorder).to_be_visible()
    expect(recorder.get_by_role("button", name="Stop recording")).to_be_focused()
    expect(recorder.locator("[data-clock]")).to_have_text("0:06")
    assert recorder.locator(".wave rect").count() > 20
    assert recorder.locator(".level rect").count() == 40
    assert serious_violations(page) == []
    recorder.get_by_role("button", name="Stop recording").click()
    expect(samples).to_contain_text("1 of 3")
    expect(samples).to_contain_text(re.compile(r"Recording \d\d:\d\d\.wav\s*0:\d\d"))
    samples.get_by_role("button", name="Play sample 1").click()
    assert samples.get_by_role("button", name="Pause sample 1").evaluate(IS_PLAYING)
    samples.get_by_role("button", name="Remove sample 1").click()
    expect(samples).to_contain_text("0 of 3")


def test_a_slot_is_bought_knowingly_and_a_lost_answer_is_never_sent_again(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl, tmp_path: Path
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    sandbox_control.change_settings(clone_slots=0)
    try:
        luca.use_token_of(guest)
        page = start_voice(luca)
        add_file(page, write_wav(tmp_path, "lake.wav", 8))
        fill_voice(page, "Bought")
        buy = page.get_by_role("checkbox", name="Buy another slot")
        expect(page.locator("#needs")).to_contain_text("No slot is free")
        # Slots that are read meanwhile do not undo what is not saved yet.
        with hold_response(page, re.compile(r"/voices/[\da-f-]+/$")):
            buy.check(force=True)
            with page.expect_response("**/voices/*/?part=price"):
                page.evaluate("document.body.dispatchEvent(new CustomEvent('reelroom:account'))")
        expect(page.locator("#price .btn__price")).to_have_text("50 cr")
        expect(buy).to_be_checked()
        fault = {"when": "after", "times": 1}
        sandbox_control.set_fault(guest, "html", "POST", "*/voice-clones", **fault)
        create_voice(page)
        expect(page.locator(".page-head h1")).to_have_text("Bought")
        expect(voice_state(page)).to_contain_text("Made", timeout=RENDERED_TIMEOUT_MS)
        assert sandbox_control.count_requests(guest, "POST", "/voice-clones") == 1
        assert sandbox_control.spent_credits(guest) == 50
    finally:
        sandbox_control.change_settings(clone_slots=1)
