"""Accounts that may not, or cannot pay: a trial, a lapsed plan, too few credits."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.sandbox_control import SandboxControl


def test_a_trial_sees_what_it_may_not_do_before_it_tries(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    """A draft begins on a token that works, if there is one."""
    luca, guest = (
        open_member_page("Luca"),
        sandbox_control.create_account(subscription="trial", plan="Studio trial"),
    )
    luca.remove_tokens()
    luca.use_token_of(guest)
    luca.page.goto("/studio/")
    said = "The service allows its API on paid plans only, not on trials."
    expect(luca.page.locator("main")).to_contain_text(said)
    luca.begin_draft("Glaciers")
    expect(luca.page.locator("main")).to_contain_text(said)
    script = luca.page.locator("#script")
    expect(script.get_by_role("button", name="Write the script")).to_be_disabled()
    expect(script).to_contain_text("The account has no paid plan.")
    assert sandbox_control.spent_credits(guest) == 0


def test_a_plan_that_lapses_before_the_press_sends_and_charges_nothing(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    dialog = luca.open_render_dialog(luca.create_draft("The plan lapsed"))
    sandbox_control.change_account(guest, subscription="expired")
    luca.confirm_dialog(dialog)
    said = "The account has no active plan. Nothing was charged."
    expect(luca.video_status).to_contain_text(said)
    assert sandbox_control.spent_credits(guest) == 0
    luca.page.get_by_role("link", name="Continue").click()
    expect(luca.page).to_have_url(re.compile(r"/(type|review)/$"))  # with or without a format
    expect(luca.page.locator("main")).to_contain_text("The plan lapsed")
    luca.page.goto(re.sub(r"/(type|review)/$", "/script/", luca.page.url))
    expect(luca.page.locator("textarea[name=script]")).not_to_be_empty()


def test_a_plan_that_lapses_while_a_video_renders_pauses_it(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    job = luca.make_video("The plan lapses")
    luca.wait_until_price_is_final(job)
    sandbox_control.change_account(guest, subscription="expired")
    expect(luca.video_status).to_contain_text("Paused", timeout=RENDERED_TIMEOUT_MS)
    expect(luca.video_status).to_contain_text("Status checks are paused and resume automatically")
    assert sandbox_control.spent_credits(guest) == luca.shown_cost(job)


def test_too_few_credits_are_shown_before_the_button_is_enabled(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account(credits=6)
    luca.use_token_of(guest)
    luca.open_review(luca.create_draft("Too dear"))
    needs = luca.page.locator("#needs")
    expect(needs).to_contain_text("would be held")
    expect(luca.page.locator("button.btn--primary:visible", has_text="Render")).to_be_disabled()


def test_credits_spent_elsewhere_meanwhile_end_in_a_refusal(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account(credits=50)
    luca.use_token_of(guest)
    dialog = luca.open_render_dialog(luca.create_draft("Spent elsewhere"))
    sandbox_control.control_request("POST", f"accounts/{guest.account}/spend", credits=48)
    dialog.get_by_role("button", name="Render").click()
    # By the service, or by the portal itself where it has read the balance since.
    said = re.compile(r"It needs 1\d cr; (the account has 2|2 are free)\. Nothing was charged\.")
    shown = luca.page.get_by_text(said).filter(visible=True).first
    expect(shown).to_be_visible()
    assert sandbox_control.spent_credits(guest) == 48
