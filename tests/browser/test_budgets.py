"""Over budget: requested in one browser, decided in another, shown live in the first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, Request, expect

from tests.browser.budget_actions import add_budget, end_budget
from tests.browser.held_responses import hold_response
from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.sandbox_control import SandboxControl


@pytest.fixture
def thea(open_member_page: Callable[..., MemberPage]) -> Iterator[Page]:
    """Thea, with two budgets that are ended afterwards; Priya's lets no render through."""
    page = open_member_page("Thea").page
    add_budget(page, "The whole team", "10000", "8000")
    add_budget(page, "Priya Raman", "5", "4")
    yield page
    end_budget(page, "Priya Raman")
    end_budget(page, "The whole team")


@pytest.fixture
def priya(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> MemberPage:
    desk = open_member_page("Priya")
    desk.use_token_of(sandbox_control.create_account())
    return desk


def open_refused_render(priya: MemberPage, job: str) -> Locator:
    """The question before a render that the budget refuses."""
    priya.open_review(job)
    render = priya.page.locator(".btn--primary:visible", has_text="Render").first
    render.click()
    dialog = priya.page.locator("dialog[open]")
    expect(dialog).to_contain_text(re.compile(r"[05] of your 5 are left until \d+ \w+"))
    expect(dialog.get_by_role("button", name="Render")).to_have_count(0)
    return dialog


def request_approval(priya: MemberPage, title: str, note: str) -> str:
    """Up to the video that waits for a word."""
    job = priya.create_draft(title)
    dialog = open_refused_render(priya, job)
    dialog.get_by_label("Message").fill(note)
    dialog.get_by_role("button", name="Request approval").click()
    priya.page.wait_for_url("**/videos/**")
    expect(priya.video_status).to_have_attribute("data-state", "waiting")
    return job


def test_what_was_asked_for_and_approved_is_rendered(thea: Page, priya: MemberPage) -> None:
    """Nobody loads a page again: the ask, the approval and the film come by themselves."""
    thea.goto("/budgets/")
    job = request_approval(priya, "Who owns the Moon?", "For the fair on Tuesday.")
    asks = thea.locator("#approval-requests")
    expect(asks).to_contain_text("“For the fair on Tuesday.”")
    asks.get_by_role("link", name="Approve").click()
    thea.locator("dialog[open]").get_by_role("button", name="Approve").click()
    expect(asks).to_have_count(0)
    expect(priya.film_player).to_be_visible(timeout=RENDERED_TIMEOUT_MS)
    assert priya.shown_cost(job) > 1
    expect(priya.page.locator("#bell-wide")).to_be_visible()
    priya.page.goto("/alerts/")
    expect(priya.page.locator("#alert-history")).to_contain_text("Thea approved")


def test_what_was_declined_says_why_beside_the_video(thea: Page, priya: MemberPage) -> None:
    job = request_approval(priya, "A film too many", "")
    thea.goto(f"/videos/{job}/")
    thea.get_by_role("link", name="Decline").click()
    dialog = thea.locator("dialog[open]")
    dialog.get_by_label("Reason").fill("Not before the fair is paid.")
    dialog.get_by_role("button", name="Decline").click()
    expect(thea.locator("#toasts")).to_contain_text("Priya is notified of the reason.")
    told = "Thea declined: “Not before the fair is paid.”"
    expect(priya.video_status).to_contain_text(told)
    assert priya.shown_spending(job).count() == 0


def test_one_takes_ones_own_back_and_goes_on_with_the_draft(thea: Page, priya: MemberPage) -> None:
    job = request_approval(priya, "Second thoughts", "")
    priya.page.get_by_role("link", name="Withdraw request").first.click()
    priya.page.locator("dialog[open]").get_by_role("button", name="Withdraw request").click()
    expect(priya.page.locator("#toasts")).to_contain_text("Request withdrawn.")
    priya.page.goto(f"/studio/{job}/script/")
    expect(priya.page.locator("textarea[name=script]")).to_be_editable()


@pytest.mark.usefixtures("thea")
def test_who_goes_back_to_the_words_at_once_has_asked_all_the_same(priya: MemberPage) -> None:
    """Whose press it was is not lost while the session is asked for, and a second one is none."""
    job = priya.create_draft("Still writing")
    dialog = open_refused_render(priya, job)
    note = dialog.get_by_label("Message")
    note.fill("For the fair on")
    asked = list[Request]()
    priya.page.on("request", lambda sent: asked.append(sent) if sent.method == "POST" else None)
    with hold_response(priya.page, "**/session/"):
        dialog.get_by_role("button", name="Request approval").click()
        dialog.get_by_role("button", name="Request approval").press("Enter")
        note.press_sequentially(" Tuesday.")
    priya.page.wait_for_url("**/videos/**")
    assert len(asked) == 2, "whether the session stands, and the words"
    expect(priya.video_status).to_have_attribute("data-state", "waiting")
    assert priya.shown_spending(job).count() == 0
