"""Forms of the team's pages: what a press, a choice and a key do before the server answers."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from django.utils import timezone
from playwright.sync_api import APIResponse, Page, Request, Route, expect

from dashboard.models import AuditAction, Budget, Membership
from dashboard.shared.audit_log import record_audit_event
from proxyapi.models import AutoTopUp, ChargeState, Job
from tests.browser.behaviours.conftest import OpenPage
from tests.browser.held_responses import hold_response
from tests.browser.sandbox_control import wait_until
from tests.dashboard.studio.conftest import OPTIONS, WANTED
from tests.dashboard.top_up.conftest import ON
from tests.factories import AccountFactory, JobFactory, TokenFactory


def test_a_request_for_approval_that_is_pressed_twice_is_sent_once_with_the_last_words(
    priya: Membership, open_page: OpenPage
) -> None:
    """Whose press it was is not lost while the session is asked for."""
    account = AccountFactory.create(tenant=priya.team.tenant, options=OPTIONS)
    job: Job = JobFactory.create(
        account=account,
        token=TokenFactory.create(account=account, owner=priya.user),
        draft__settings=WANTED,
        draft__sent_settings=WANTED,
        remote_id="501",
        draft__estimate=Decimal(96),
        draft__estimate_as_of=timezone.now(),
    )
    Budget.objects.create(team=priya.team, member=priya.user, hard=Decimal(5))
    page = open_page(priya, f"/studio/{job.pk}/review/")
    page.locator(".btn--primary:visible", has_text="Render").first.click()
    dialog = page.locator("dialog[open]")
    expect(dialog.get_by_role("button", name="Render")).to_have_count(0)
    note = dialog.get_by_label("Message")
    note.fill("For the fair on")
    sent = list[Request]()
    page.on("request", lambda one: sent.append(one) if one.method == "POST" else None)
    with hold_response(page, re.compile("/session/")):
        dialog.get_by_role("button", name="Request approval").click()
        dialog.get_by_role("button", name="Request approval").press("Enter")
        note.press("End")
        note.press_sequentially(" Tuesday.")
    page.wait_for_url("**/videos/**")
    assert len(sent) == 2, "whether the session stands, and the words"
    charge = job.charges.get(state=ChargeState.DRAFT)
    assert charge.approval_request.note == "For the fair on Tuesday."


@pytest.fixture
def top_up_page(thea: Membership, open_page: OpenPage) -> Page:
    account = AccountFactory.create(tenant=thea.team.tenant)
    TokenFactory.create(account=account, owner=thea.user)
    AutoTopUp.objects.create(account=account, **ON.to_dict(), read_at=timezone.now())
    page = open_page(thea, "/top-up/")
    expect(page.locator("#what-if")).to_contain_text("What if")
    return page


def test_the_focus_is_on_the_field_that_was_refused(top_up_page: Page) -> None:
    top_up_page.get_by_label("More than 100 units").fill("199999")
    top_up_page.get_by_role("button", name="Save").click()
    dialog = top_up_page.locator("dialog[open]")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    typed = dialog.get_by_label("Type 19,999,900 to confirm")
    typed.fill("1999990")
    dialog.get_by_role("button", name="Change top-up").click()
    expect(dialog).to_contain_text("as they are shown above")
    expect(typed).to_be_focused()


def test_typed_units_are_said_in_credits_and_unchoose_the_presets(top_up_page: Page) -> None:
    top_up_page.locator(".unit", has_text="500").first.click()
    typed = top_up_page.get_by_label("More than 100 units")
    typed.fill("150")
    expect(top_up_page.locator("#units-more")).to_have_text("units, that is 15,000 credits")
    expect(top_up_page.locator(".unit input:checked")).to_have_count(0)
    top_up_page.locator(".unit", has_text="500").first.click()
    expect(typed).to_have_value("")
    typed.fill("100")
    top_up_page.get_by_role("button", name="Save").click()
    expect(top_up_page.locator("#id_more_error")).to_contain_text("101 to 199,999")


def test_the_what_if_follows_a_choice_made_just_before_it_is_swapped(top_up_page: Page) -> None:
    """A ledger event swaps it, from the form as it was a moment ago."""
    answers: list[tuple[Route, APIResponse]] = []
    top_up_page.route(
        "**/top-up/what-if/*", lambda route: answers.append((route, route.fetch())), times=1
    )
    top_up_page.evaluate("htmx.trigger(document.body, 'reelroom:ledger')")
    wait_until(lambda: top_up_page.evaluate("true") and answers)
    with top_up_page.expect_request(re.compile(r"/top-up/what-if/\?.*units=3")):
        top_up_page.locator(".unit", has_text="300").first.click()
        route, answer = answers[0]
        route.fulfill(response=answer)


def test_the_drawer_of_an_audit_entry_is_turned_by_the_arrow_keys(
    jonas: Membership, open_page: OpenPage
) -> None:
    for limit in (10, 20):
        record_audit_event(jonas, AuditAction.BUDGET_CHANGE, 1, after={"hard": limit})
    page = open_page(jonas, "/audit/")
    page.locator("#audit tbody tr:not(.table__group)").first.get_by_role("link").click()
    drawer = page.locator("#entry:modal")
    title = drawer.locator("p").first.inner_text()
    page.keyboard.press("ArrowDown")
    expect(drawer.locator("p").first).not_to_have_text(title)
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)


def test_a_box_of_the_notifications_is_saved_when_it_changes(
    priya: Membership, open_page: OpenPage
) -> None:
    page = open_page(priya, "/account/notifications/")
    page.get_by_label("My video is done, e-mail").check()
    expect(page.locator("#notifications .card__note")).to_have_text("saved")
    page.reload()
    expect(page.get_by_label("My video is done, e-mail")).to_be_checked()


def test_a_press_is_marked_as_use_and_what_a_page_asks_by_itself_is_not(
    vera: Membership, open_page: OpenPage
) -> None:
    page = open_page(vera, "/library/")
    with page.expect_request(lambda request: "q=whales" in request.url) as typed:
        page.locator("#library-search").press_sequentially("whales")
    with page.expect_request(lambda request: "hx-request" in request.headers) as polled:
        page.evaluate("document.body.dispatchEvent(new CustomEvent('poll'))")
    assert typed.value.headers["x-used"] == "1"
    assert "x-used" not in polled.value.headers
