"""What was typed or chosen last is what counts, and nothing else is done in its place."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal

import pytest
from django.utils import timezone
from playwright.sync_api import Dialog, Locator, Page, expect

from dashboard.alerts.default_rules import create_default_rules
from dashboard.models import Membership
from proxyapi.models import Account, Draft, Job, JobState
from tests.browser.behaviours.conftest import OpenPage
from tests.browser.held_responses import hold_response
from tests.browser.page_server import PageServer
from tests.dashboard.studio.conftest import step_url

PHONE = {"width": 390, "height": 844}
ONLINE = "window.dispatchEvent(new Event('online'))"


@pytest.fixture
def script_step(priya: Membership, ready: Job, open_page: OpenPage) -> Page:
    page = open_page(priya, step_url(ready, "script"))
    expect(render_link(page)).to_be_visible()
    return page


def render_link(page: Page) -> Locator:
    return page.locator("a.btn--primary:visible", has_text="Render")


@pytest.fixture
def set_price(ready: Job, page_server: PageServer) -> Callable[[], None]:
    """As a worker does it after each save: the open page shows the price of what was saved."""

    def set_price() -> None:
        with page_server.lock:
            saved = Draft.objects.values_list("settings", flat=True).get(job=ready)
            Draft.objects.filter(job=ready).update(
                sent_settings=saved, estimate=Decimal(80), estimate_as_of=timezone.now()
            )
        page_server.push("refetch", "price")

    return set_price


@pytest.mark.console("503")
def test_nothing_is_rendered_beside_words_that_could_not_be_saved(
    script_step: Page, set_price: Callable[[], None]
) -> None:
    """The film would have the words from before, at their price."""
    page = script_step
    words = page.locator("textarea[name=script]")
    page.route("**/script/", lambda route: route.fulfill(status=503))
    words.fill("Newer words, and not many.")
    words.press("Tab")
    expect(page.locator("#step")).to_have_attribute("data-unsaved", "failed")
    render_link(page).click()
    expect(page.locator("#toasts")).to_contain_text("Your last change is not saved")
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.unroute_all()
    page.evaluate(ONLINE)
    expect(page.get_by_text("Draft saved")).to_be_visible()
    expect(page.locator("[data-said=unsaved]")).to_have_count(0)
    set_price()
    render_link(page).click()
    expect(page.locator("dialog[open]")).to_contain_text("Held until the exact price is known")


def test_beside_words_that_are_being_saved_the_price_is_waited_for(script_step: Page) -> None:
    page = script_step
    words = page.locator("textarea[name=script]")
    with hold_response(page, "**/script/"):
        words.fill("Newer words, and not many.")
        words.press("Tab")
        expect(page.locator("#step")).to_have_attribute("data-unsaved", "sent")
        render_link(page).click()
        expect(page.locator("#toasts")).to_contain_text(
            "is being saved. Render when its price is shown"
        )
        expect(page.locator("dialog[open]")).to_have_count(0)
    expect(page.locator("[data-said=unsaved]")).to_have_count(0)


def test_a_voice_that_is_chosen_while_the_list_is_searched_stays_chosen(
    priya: Membership, ready: Job, open_page: OpenPage
) -> None:
    page = open_page(priya, step_url(ready, "voice"))
    search = re.compile(r"/voice/\?")
    with hold_response(page, search):
        with page.expect_request(search):  # it leaves after a pause
            page.get_by_label("Search voices").press_sequentially("e")
        before = page.locator("#voices input:checked").get_attribute("id")
        page.locator("#voices input:not(:checked)").last.check(force=True)
        chosen = page.locator("#voices input:checked").get_attribute("id")
    assert before != chosen
    expect(page.locator("#voice-count")).to_contain_text(" of ")  # of the answer to the second one
    expect(page.locator("#voices input:checked")).to_have_id(chosen or "")


def test_of_a_draft_that_left_the_studio_it_is_not_said_that_somebody_signed_out(
    script_step: Page, ready: Job, page_server: PageServer
) -> None:
    page = script_step
    with hold_response(page, "**/script/"):
        page.locator("textarea[name=script]").fill("Newer words.")
        with page_server.lock:
            Job.objects.filter(pk=ready.pk).update(
                state=JobState.RUNNING, next_poll_at=timezone.now()
            )
    toasts = page.locator("#toasts")
    expect(toasts).to_contain_text("This item is no longer open.")
    expect(toasts).not_to_contain_text("signed out")
    toasts.get_by_role("button", name="Close").first.click()
    with page.expect_response("**/script/"):
        page.locator("textarea[name=script]").press_sequentially(" And more.")
    expect(page.locator("[data-said=ended]")).to_have_count(0)


def test_changed_thresholds_are_fetched_after_another_page_was_opened(
    thea: Membership, open_page: OpenPage
) -> None:
    create_default_rules(thea.team)
    page = open_page(thea, "/alerts/rules/")
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.locator("form[action='/alerts/rules/'] input[type=checkbox]:visible").first.click()
    page.get_by_role("link", name="Add threshold").click()
    page.locator("dialog[open]").get_by_role("button", name="Cancel").click()
    page.locator("nav a:visible", has_text="Ledger").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Alerts")
    assert asked == ["beforeunload"]


def test_a_filter_chosen_beside_the_phones_sheet_is_in_it_at_once(
    vera: Membership, account: Account, open_page: OpenPage
) -> None:
    page = open_page(vera, "/ledger/?direction=out&period=all", viewport=PHONE)
    choice = page.locator("#filters [name=direction]")
    with hold_response(page, re.compile(r"direction=in")):
        page.locator("#chip-direction").select_option("in")
        page.get_by_role("button", name="Filters").click()
        expect(choice).to_have_value("in")
    page.wait_for_url("**/ledger/?direction=in&period=all")
    expect(choice).to_have_value("in")


def test_days_that_were_typed_and_not_shown_yet_outlive_another_filter(
    vera: Membership, account: Account, open_page: OpenPage
) -> None:
    page = open_page(vera, "/ledger/", viewport={"width": 1440, "height": 1000})
    days = [page.locator(f"#ledger-dates [name={name}]") for name in ("from", "to")]
    for day, value in zip(days, ("2026-11-03", "2026-11-09"), strict=True):
        day.fill(value)
    page.locator("#chip-direction").focus()
    page.locator("#chip-direction").select_option("out")
    page.wait_for_url("**/ledger/?direction=out")
    expect(page.locator("#ledger-chips .chip--on")).to_contain_text("out")
    for day, value in zip(days, ("2026-11-03", "2026-11-09"), strict=True):
        expect(day).to_have_value(value)
    page.locator("#chip-period").select_option("all")
    page.wait_for_url("**/ledger/?direction=out&period=all")
    expect(days[0]).to_have_value("2026-11-03")
    page.get_by_role("button", name="Show these days").click()
    page.wait_for_url(re.compile("from=2026-11-03"))
