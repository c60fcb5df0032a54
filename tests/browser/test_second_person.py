"""A charge above what one person may spend: requested, talked about and approved by two people,
each in a browser of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.page_audit import serious_violations
from tests.browser.sandbox_control import SandboxControl

QUESTION = "Can it be shorter?"
REASON = "No, the client wants 60 s."


def open_rule_dialog(thea: Page, act: str) -> None:
    thea.goto("/budgets/")
    thea.locator("#second-person").get_by_role("button", name=act).click()
    expect(thea.locator("dialog[open]")).to_be_visible()


@pytest.fixture
def thea(open_member_page: Callable[..., MemberPage]) -> Iterator[Page]:
    """Thea, who requires a second person above 5 cr as long as the test runs."""
    page = open_member_page("Thea").page
    open_rule_dialog(page, "Require a second person")
    page.locator("dialog[open]").get_by_label("Charges above").fill("5")
    page.locator("dialog[open]").get_by_role("button", name="Save rule").click()
    expect(page.locator("#second-person")).to_contain_text("above 5 cr")
    yield page
    open_rule_dialog(page, "Change rule")
    page.locator("dialog[open]").get_by_role("button", name="Remove rule").click()
    expect(page.locator("#second-person")).to_contain_text("No charge needs a second person")


@pytest.fixture
def priya(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> MemberPage:
    desk = open_member_page("Priya")
    desk.use_token_of(sandbox_control.create_account())
    return desk


def request_render(priya: MemberPage) -> str:
    job = priya.create_draft("Twice looked at")
    priya.open_review(job)
    render = priya.page.locator(".btn--primary:visible", has_text="Render").first
    render.click()
    dialog = priya.page.locator("dialog[open]")
    expect(dialog).to_contain_text("Needs a second person")
    expect(dialog.get_by_role("button", name="Render")).to_have_count(0)
    dialog.get_by_label("Message").fill("For the fair.")
    dialog.get_by_role("button", name="Request approval").click()
    priya.page.wait_for_url("**/videos/**")
    expect(priya.video_status).to_have_attribute("data-state", "waiting")
    return job


def test_two_people_talk_about_a_request_and_one_of_them_approves_it(
    thea: Page, priya: MemberPage
) -> None:
    thea.goto("/budgets/")
    job = request_render(priya)
    # Beside it may stand what other tests requested.
    asked = thea.locator("#approval-requests li", has_text="For the fair.")
    expect(asked).to_contain_text("Charges above 5 cr need a second person.")
    asked.get_by_role("link", name="Comment").click()
    thea.get_by_label("Comment").fill(QUESTION)
    thea.get_by_role("button", name="Add comment").click()
    priya.page.get_by_role("link", name="View request").first.click()
    comments = priya.page.locator("#comments")
    expect(comments).to_contain_text(QUESTION)
    assert serious_violations(priya.page) == []
    comments.get_by_label("Comment").fill(REASON)
    # What Thea types stays while the answer appears beside it.
    thea.get_by_label("Comment").fill("I see, then")
    comments.get_by_role("button", name="Add comment").click()
    expect(thea.locator("#comments")).to_contain_text(REASON)
    expect(thea.get_by_label("Comment")).to_have_value("I see, then")
    thea.get_by_role("link", name="Approve").click()
    dialog = thea.locator("dialog[open]")
    expect(dialog).to_contain_text("Charges above 5 cr need a second person.")
    dialog.get_by_role("button", name="Approve").click()
    expect(priya.page.locator("#approval-request .pill").first).to_contain_text("Approved")
    expect(priya.page.get_by_label("Comment")).to_have_count(0)
    priya.page.goto(f"/videos/{job}/")
    expect(priya.film_player).to_be_visible(timeout=RENDERED_TIMEOUT_MS)
    assert priya.shown_cost(job) > 1
    expect(priya.page.locator("#bell-wide")).to_be_visible()
    priya.page.goto("/alerts/")
    expect(priya.page.locator("#alert-history")).to_contain_text("Thea approved")
