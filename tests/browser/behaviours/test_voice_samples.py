"""Samples that a browser cannot give: without a microphone, and too large to send."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect

from dashboard.models import Membership
from proxyapi.models import Job
from tests.browser.behaviours.conftest import OpenPage
from tests.dashboard.voices import conftest as voices

REFUSE_MICROPHONE_JS = """() => {
    const refusal = new DOMException("", "NotAllowedError");
    navigator.mediaDevices.getUserMedia = () => Promise.reject(refusal);
}"""
account, token, slots, voice = voices.account, voices.token, voices.slots, voices.voice


def test_a_refused_microphone_and_a_file_that_is_too_large_are_said(
    priya: Membership, voice: Job, open_page: OpenPage, tmp_path: Path
) -> None:
    page = open_page(priya, f"/voices/{voice.pk}/")
    problem = page.locator("#sample-problem")
    page.evaluate(REFUSE_MICROPHONE_JS)
    page.get_by_role("button", name="Record").click()
    expect(problem).to_contain_text("The browser gives no microphone.")
    large = tmp_path / "large.wav"
    with large.open("wb") as file:
        file.truncate(26 * 1024**2)
    page.locator("#sample-files").set_input_files(large)
    expect(problem).to_contain_text("“large.wav” has 26 MB. At most 25 MB are allowed.")
    expect(page.locator("#samples")).to_contain_text("1 of 3")
