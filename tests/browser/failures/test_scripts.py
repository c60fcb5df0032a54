"""A script that is empty, and one that is longer than a video can be."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.member_page import MemberPage
from tests.browser.sandbox_control import SandboxControl

LONG = " ".join(["word"] * 3_017)
TOO_LONG = "3,017 words are too many. The limit is 3,000 words (20 minutes)"


def test_an_empty_script_says_what_is_missing(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca = open_member_page("Luca")
    luca.use_token_of(sandbox_control.create_account())
    luca.page.goto("/studio/")
    luca.begin_draft("   ")
    error = luca.page.locator(".field__error")
    expect(error).to_contain_text("Enter a topic, a script or a link")
    luca.begin_draft("Ice moves.")
    luca.page.locator("textarea[name=script]").fill("")
    luca.page.get_by_role("button", name="Next: Voice").click()
    expect(error).to_contain_text("Enter a script")


def test_a_script_that_is_too_long_is_kept_and_refused(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca = open_member_page("Luca")
    luca.use_token_of(sandbox_control.create_account())
    luca.page.goto("/studio/")
    luca.begin_draft(LONG)
    expect(luca.page.locator(".field__error")).to_contain_text(TOO_LONG)
    expect(luca.page.locator("textarea[name=start]")).to_have_value(LONG)
