"""Accounts that may not, or cannot pay: a trial, a lapsed plan, too few credits."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.desk import PRICED, RENDERED, Desk
from tests.browser.stage import Stage


def test_a_trial_is_told_what_it_may_not_before_it_tries(
    desk_of: Callable[..., Desk], stage: Stage
) -> None:
    """A draft begins on a token that works, if there is one."""
    luca, guest = desk_of("Luca"), stage.account(subscription="trial", plan="Studio trial")
    luca.give_up_tokens()
    luca.join(guest)
    luca.page.goto("/studio/")
    said = "The service allows its API on paid plans only, not on trials."
    expect(luca.page.locator("main")).to_contain_text(said)
    luca.begin("On a trial", topic="Glaciers")
    expect(luca.page.locator("main")).to_contain_text(said)
    luca.page.get_by_role("link", name="Next: Script").click()
    script = luca.page.locator("#script")
    expect(script.get_by_role("button", name="Write the script")).to_be_disabled()
    expect(script).to_contain_text("It opens when the account has a paid plan.")
    assert stage.spent(guest) == 0


def test_a_plan_that_lapses_before_the_press_sends_and_charges_nothing(
    desk_of: Callable[..., Desk], stage: Stage
) -> None:
    luca, guest = desk_of("Luca"), stage.account()
    luca.join(guest)
    dialog = luca.ask_to_render(luca.draft("The plan lapsed"))
    stage.change(guest, subscription="expired")
    luca.confirm(dialog)
    said = "The account has no active plan. Nothing was charged."
    expect(luca.status).to_contain_text(said, timeout=PRICED)
    assert stage.spent(guest) == 0
    luca.page.get_by_role("link", name="Continue").click()
    expect(luca.page.locator("main")).to_contain_text("The plan lapsed")
    expect(luca.page.locator("textarea[name=script]")).not_to_be_empty()


def test_a_plan_that_lapses_while_a_video_renders_pauses_it(
    desk_of: Callable[..., Desk], stage: Stage
) -> None:
    luca, guest = desk_of("Luca"), stage.account()
    luca.join(guest)
    job = luca.make("The plan lapses")
    luca.paid(job)
    stage.change(guest, subscription="expired")
    expect(luca.status).to_contain_text("Paused", timeout=RENDERED)
    expect(luca.status).to_contain_text("Nothing is lost: watching is paused and goes on by itself")
    assert stage.spent(guest) == luca.cost(job)


def test_too_few_credits_are_told_before_the_button_opens(
    desk_of: Callable[..., Desk], stage: Stage
) -> None:
    luca, guest = desk_of("Luca"), stage.account(credits=6)
    luca.join(guest)
    luca.review(luca.draft("Too dear"))
    needs = luca.page.locator("#needs")
    expect(needs).to_contain_text("would be held for it", timeout=PRICED)
    expect(luca.page.locator("button.btn--primary:visible", has_text="Render")).to_be_disabled()


def test_credits_spent_elsewhere_meanwhile_end_in_a_refusal(
    desk_of: Callable[..., Desk], stage: Stage
) -> None:
    luca, guest = desk_of("Luca"), stage.account(credits=50)
    luca.join(guest)
    dialog = luca.ask_to_render(luca.draft("Spent elsewhere"))
    stage.ask("POST", f"accounts/{guest.account}/spend", credits=48)
    dialog.get_by_role("button", name="Render").click()
    # By the service, or by the portal itself where it has read the balance since.
    said = re.compile(r"It needs 1\d cr, (the account has 2|2 are free)\. Nothing was charged\.")
    shown = luca.page.get_by_text(said).filter(visible=True).first
    expect(shown).to_be_visible(timeout=PRICED)
    assert stage.spent(guest) == 48
