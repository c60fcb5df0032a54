"""Over the budget: asked for in one browser, decided in another, told live in the first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, Request, expect

from tests.browser.album import Album
from tests.browser.desk import PRICED, RENDERED, Desk
from tests.browser.held import held
from tests.browser.limits import add, end
from tests.browser.stage import Stage

MINE = 20_000  # ms; what happened elsewhere is shown within


@pytest.fixture
def thea(desk_of: Callable[..., Desk]) -> Iterator[Page]:
    """Thea, with two budgets that are ended afterwards; Priya's lets no render through."""
    page = desk_of("Thea").page
    add(page, "The whole team", "10000", "8000")
    add(page, "Priya Raman", "5", "4")
    yield page
    end(page, "Priya Raman")
    end(page, "The whole team")


@pytest.fixture
def priya(desk_of: Callable[..., Desk], stage: Stage) -> Desk:
    desk = desk_of("Priya")
    desk.join(stage.account())
    return desk


def over(priya: Desk, job: str) -> Locator:
    """The question before a render that the budget refuses."""
    priya.review(job)
    render = priya.page.locator(".btn--primary:visible", has_text="Render").first
    render.click(timeout=PRICED)
    dialog = priya.page.locator("dialog[open]")
    expect(dialog).to_contain_text(re.compile(r"[05] of your 5 are left until \d+ \w+"))
    expect(dialog.get_by_role("button", name="Render")).to_have_count(0)
    return dialog


def ask(priya: Desk, title: str, note: str) -> str:
    """Up to the video that waits for a word."""
    job = priya.draft(title)
    dialog = over(priya, job)
    dialog.get_by_label("A word to them").fill(note)
    dialog.get_by_role("button", name="Ask for it").click()
    priya.page.wait_for_url("**/videos/**")
    expect(priya.status).to_have_attribute("data-state", "waiting")
    return job


def test_what_was_asked_for_and_approved_is_rendered(thea: Page, priya: Desk, album: Album) -> None:
    """Nobody loads a page again: the ask, the approval and the film come by themselves."""
    thea.goto("/budgets/")
    job = ask(priya, "Who owns the Moon?", "For the fair on Tuesday.")
    asks = thea.locator("#asks")
    expect(asks).to_contain_text("“For the fair on Tuesday.”", timeout=MINE)
    album.take(thea, "budgets")
    asks.get_by_role("link", name="Approve").click()
    thea.locator("dialog[open]").get_by_role("button", name="Approve").click()
    expect(asks).to_have_count(0)
    expect(priya.film).to_be_visible(timeout=RENDERED)
    assert priya.cost(job) > 1
    expect(priya.page.locator("#bell-wide")).to_be_visible(timeout=2 * MINE)
    priya.page.goto("/alerts/")
    expect(priya.page.locator("#told")).to_contain_text("Thea approved")


def test_what_was_declined_says_why_beside_the_video(thea: Page, priya: Desk) -> None:
    job = ask(priya, "A film too many", "")
    thea.goto(f"/videos/{job}/")
    thea.get_by_role("link", name="Decline").click()
    dialog = thea.locator("dialog[open]")
    dialog.get_by_label("Why not").fill("Not before the fair is paid.")
    dialog.get_by_role("button", name="Decline").click()
    expect(thea.locator("#toasts")).to_contain_text("Priya reads why it was declined.")
    told = "Thea declined: “Not before the fair is paid.”"
    expect(priya.status).to_contain_text(told, timeout=MINE)
    assert priya.spent(job).count() == 0


def test_one_takes_ones_own_back_and_goes_on_with_the_draft(thea: Page, priya: Desk) -> None:
    job = ask(priya, "Second thoughts", "")
    priya.page.get_by_role("link", name="Take it back").first.click()
    priya.page.locator("dialog[open]").get_by_role("button", name="Take it back").click()
    expect(priya.page.locator("#toasts")).to_contain_text("It waits no more.")
    priya.page.goto(f"/studio/{job}/script/")
    expect(priya.page.locator("textarea[name=script]")).to_be_editable()


@pytest.mark.usefixtures("thea")
def test_who_goes_back_to_the_words_at_once_has_asked_all_the_same(priya: Desk) -> None:
    """Whose press it was is not lost while the session is asked for, and a second one is none."""
    job = priya.draft("Still writing")
    dialog = over(priya, job)
    note = dialog.get_by_label("A word to them")
    note.fill("For the fair on")
    asked = list[Request]()
    priya.page.on("request", lambda sent: asked.append(sent) if sent.method == "POST" else None)
    with held(priya.page, "**/session/"):
        dialog.get_by_role("button", name="Ask for it").click()
        dialog.get_by_role("button", name="Ask for it").press("Enter")
        note.press_sequentially(" Tuesday.")
    priya.page.wait_for_url("**/videos/**")
    assert len(asked) == 2, "whether the session stands, and the words"
    expect(priya.status).to_have_attribute("data-state", "waiting")
    assert priya.spent(job).count() == 0
