"""What was typed or chosen is saved, or the page says that it is not; and no failure is silent."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Dialog, Locator, Page, Request, expect

from dashboard.models import Membership
from proxyapi.models import Job
from tests.browser.behaviours.conftest import OpenPage
from tests.browser.sandbox_control import wait_until
from tests.dashboard.studio.conftest import step_url
from tests.factories import ChargeFactory

DOUBT = "We do not know yet whether it was sent. Press again: it is charged at most once."
OLD = "This page has expired. Nothing was sent. Reload it."
POLL = "document.body.dispatchEvent(new CustomEvent('poll'))"
# Until a part that asked for itself has its answer.
POLLED = """() => new Promise((done) => {
    document.addEventListener("htmx:afterRequest", () => done(), { once: true });
    document.body.dispatchEvent(new CustomEvent("poll"));
})"""
# One of these parts is replaced, as by a push, before it has its answer.
POLLED_AND_REPLACED = """() => new Promise((done) => {
    const part = document.querySelector("[hx-trigger*='poll from:body']");
    part.addEventListener("htmx:afterRequest", () => setTimeout(done), { once: true });
    document.body.dispatchEvent(new CustomEvent("poll"));
    part.replaceWith(part.cloneNode(true));
})"""
ENDED = "Copy what you typed"
REMEMBER = "window.told = document.querySelector('[data-said=ended]')"
STILL_THERE = "[...document.querySelectorAll('[data-said=ended]')].map((one) => one === told)"
OTHER_PRICE = "document.querySelector('#confirm [name=price]').value = '1'"


@pytest.fixture
def open_step(priya: Membership, ready: Job, open_page: OpenPage) -> Callable[[str], Page]:
    """Opens a step of a draft that has all that a render needs."""
    return lambda step: open_page(priya, step_url(ready, step))


@pytest.fixture
def studio(priya: Membership, ready: Job, open_page: OpenPage) -> Page:
    return open_page(priya, "/studio/")


@pytest.fixture
def budget_dialog(thea: Membership, open_page: OpenPage) -> Page:
    page = open_page(thea, "/budgets/")
    page.get_by_role("link", name="Add budget").first.click()
    expect(page.locator("dialog[open]")).to_be_visible()
    return page


def fail_posts(page: Page, path: str, status: int = 0) -> None:
    """Without a status nobody answers."""
    page.unroute_all()
    page.route(
        path,
        lambda route: (
            route.fallback()
            if route.request.method == "GET"
            else route.fulfill(status=status, body="")
            if status
            else route.abort()
        ),
    )


def open_render_dialog(page: Page) -> Locator:
    page.locator(".btn--primary:visible", has_text="Render").first.click()
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("Held until the exact price is known")
    return dialog


@pytest.mark.console("ERR_FAILED", "503", "403", "htmx:sendError")
def test_a_priced_press_without_an_answer_is_reported_in_its_dialog(
    open_step: Callable[[str], Page],
) -> None:
    page = open_step("review")
    dialog = open_render_dialog(page)
    alert, render = dialog.get_by_role("alert"), dialog.get_by_role("button", name="Render")
    for status, sentence in ((0, DOUBT), (503, DOUBT), (403, OLD)):
        fail_posts(page, "**/renders/", status)
        render.click()
        expect(alert).to_have_text(sentence)
    alert.get_by_role("button", name="Close").click()
    expect(alert).to_have_count(0)
    expect(dialog).to_be_visible()
    page.unroute_all()
    page.context.set_offline(True)
    render.click()
    expect(dialog.get_by_role("status")).to_contain_text("Nothing can be sent until the network")
    page.context.set_offline(False)
    expect(dialog.get_by_text("You are offline.")).to_be_hidden()
    render.click()
    page.wait_for_url("**/videos/**")


def test_a_question_stays_open_when_its_draft_was_sent_in_another_tab(
    open_step: Callable[[str], Page], ready: Job
) -> None:
    page = open_step("review")
    dialog = open_render_dialog(page)
    ChargeFactory.create(job=ready)
    with page.expect_response("**/price/"):
        page.evaluate(POLL)
    dialog.get_by_role("button", name="Render").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Nothing was sent twice.")


def test_after_a_refused_render_the_focus_is_back_on_its_link(
    open_step: Callable[[str], Page],
) -> None:
    page = open_step("review")
    dialog = open_render_dialog(page)
    page.evaluate(OTHER_PRICE)
    dialog.get_by_role("button", name="Render").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.locator(".btn--primary:visible", has_text="Render")).to_be_focused()


@pytest.mark.console("ERR_INTERNET_DISCONNECTED", "htmx:sendError")
def test_what_was_chosen_offline_is_sent_when_the_network_is_back(
    open_step: Callable[[str], Page],
) -> None:
    page = open_step("voice")
    page.context.set_offline(True)
    page.locator("#voices input:not(:checked)").first.check(force=True)
    expect(page.get_by_text("Not saved yet")).to_be_visible()
    expect(page.get_by_text("Draft saved")).to_be_hidden()
    page.locator(".actbar [form=step]").click()
    expect(page.get_by_text("Nothing can be sent until the network is back.")).to_be_visible()
    assert page.url.endswith("/voice/")
    chosen = page.locator("#voices input:checked").get_attribute("id")
    page.context.set_offline(False)
    expect(page.get_by_text("Draft saved")).to_be_visible()
    expect(page.get_by_text("Not saved yet")).to_be_hidden()
    page = open_step("voice")
    expect(page.locator("#voices input:checked")).to_have_id(chosen or "")


def test_a_refused_field_is_reported_and_scrolled_into_view(
    open_step: Callable[[str], Page],
) -> None:
    page = open_step("type")
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.get_by_label("Title").click()
    page.get_by_label("Title").fill("")
    page.keyboard.press("Tab")
    expect(page.get_by_role("alert")).to_contain_text("Enter a title")
    leave_in_vain(page)
    page.locator(".actbar [form=step]").click()
    expect(page.locator("#id_title_error")).to_contain_text("Enter a title")
    leave_in_vain(page)
    assert asked == ["beforeunload"] * 2
    page.get_by_label("Title").fill("It has one")
    page.locator("#steps a", has_text="Voice").click()
    page.wait_for_url("**/voice/")
    assert asked == ["beforeunload"] * 2


def leave_in_vain(page: Page) -> None:
    page.locator("#steps a", has_text="Voice").click()
    expect(page.get_by_text("Not saved yet")).to_be_visible()
    assert page.url.endswith("/type/")


def test_refused_words_outlast_a_refused_press_and_no_other_form_leaves_them_unasked(
    open_step: Callable[[str], Page],
) -> None:
    page = open_step("script")
    words, other = page.locator("textarea[name=script]"), page.locator("#account-menu [name=theme]")
    page.on("dialog", lambda dialog: dialog.dismiss())
    page.locator("#script form:not(#step) [name=price]").evaluate("price => price.value = '1'")
    words.fill("")
    page.get_by_role("button", name="Write the script").click()
    expect(page.locator("#script")).to_contain_text("Not sent. The price was 1 cr")
    expect(words).to_have_value("")
    expect(page.get_by_text("Not saved yet")).to_be_visible()
    page.locator("[popovertarget=account-menu]:visible").click()
    for _ in range(2):  # who stays may press again, and is asked again
        with page.expect_event("dialog"):
            other.first.click()
    expect(words).to_have_value("")


def test_typing_is_saved_while_one_types_and_not_again_on_leaving(
    open_step: Callable[[str], Page],
) -> None:
    page = open_step("script")
    words, sent = page.locator("textarea[name=script]"), []

    def count(request: Request) -> None:
        if request.method == "POST":
            sent.append(request.url)

    page.on("request", count)
    words.click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("New words. ")
    expect(page.get_by_text("Not saved yet")).to_be_visible()
    expect(page.get_by_text("Draft saved")).to_be_visible()
    page.keyboard.type("And")
    assert words.input_value().startswith("New words. And")
    expect(page.get_by_text("Draft saved")).to_be_visible()
    page.keyboard.press("Tab")
    typed = words.input_value()
    page.reload()
    expect(words).to_have_value(typed)
    assert len(sent) == 2


def type_topic(page: Page, topic: str) -> None:
    """Until the page has asked how it reads."""
    with page.expect_response("**/studio/reading/"):
        page.locator("textarea[name=start]").fill(topic)


@pytest.mark.parametrize("typed", ["How glaciers move", ""])
def test_typed_words_outlive_the_session(studio: Page, typed: str) -> None:
    """A part that fetches itself would redirect the window to sign-in and lose the text."""
    page = studio
    topic = page.locator("textarea[name=start]")
    if typed:
        type_topic(page, typed)
    page.context.clear_cookies()
    page.evaluate(POLL)
    if not typed:
        expect(page).to_have_url(re.compile("/accounts/login/"))
        return
    expect(page.locator("#toasts")).to_contain_text(ENDED)
    page.evaluate(POLL)
    expect(page.locator("[data-said=ended]")).to_have_count(1)
    expect(topic).to_have_value(typed)


def press_too_late(button: Locator) -> None:
    button.click()
    expect(button).not_to_have_attribute("aria-busy", "true")
    expect(button.page.locator("#toasts")).to_contain_text(ENDED)


def test_typed_words_outlive_a_press_that_comes_too_late(studio: Page) -> None:
    """After signing out in another tab, the press would show the sign-in page."""
    page = studio
    topic = page.locator("textarea[name=start]")
    type_topic(page, "How glaciers move")
    page.context.clear_cookies(name=re.compile("session"))
    press_too_late(page.get_by_role("button", name="Continue"))
    expect(topic).to_have_value("How glaciers move")
    assert page.url.endswith("/studio/")


@pytest.mark.console("403 .*/session/")
def test_a_press_after_signing_in_again_in_another_tab_sends_what_was_typed(studio: Page) -> None:
    type_topic(studio, "How glaciers move")
    studio.context.clear_cookies(name=re.compile("csrf"))
    studio.get_by_role("button", name="Continue").click()
    expect(studio).to_have_url(re.compile("/studio/.+/script/$"))


@pytest.mark.console("503", "403")
def test_words_that_could_not_be_saved_outlive_a_press_that_comes_too_late(
    open_step: Callable[[str], Page],
) -> None:
    page = open_step("script")
    words = page.locator("textarea[name=script]")
    fail_posts(page, "**/script/", 503)
    words.fill("New words.")
    words.press("Tab")
    expect(page.locator("#step")).to_have_attribute("data-unsaved", "failed")
    page.unroute_all()
    page.context.clear_cookies()
    press_too_late(page.locator(".actbar [form=step]"))
    expect(words).to_have_value("New words.")
    assert page.url.endswith("/script/")


def test_in_a_dialog_the_end_of_the_session_is_reported_there_and_once(budget_dialog: Page) -> None:
    page = budget_dialog
    limit = page.locator("dialog[open]").get_by_label("Limit")
    limit.fill("9000")
    page.context.clear_cookies()
    page.evaluate(POLL)
    expect(page.locator("dialog:modal [data-said=ended]")).to_contain_text(ENDED)
    page.evaluate(REMEMBER)
    page.evaluate(POLLED)
    assert page.evaluate(STILL_THERE) == [True]
    expect(limit).to_have_value("9000")


def test_a_replaced_part_whose_session_ended_does_not_leave_the_page(budget_dialog: Page) -> None:
    page = budget_dialog
    limit = page.locator("dialog[open]").get_by_label("Limit")
    limit.fill("9000")
    page.context.clear_cookies()
    page.evaluate(POLLED_AND_REPLACED)
    expect(limit).to_have_value("9000")


def test_who_cancels_a_dialog_that_was_refused_is_not_asked(budget_dialog: Page) -> None:
    page = budget_dialog
    dialog = page.locator("dialog[open]")
    dialog.get_by_label("Limit").fill("5")
    dialog.get_by_label("Alert at").fill("10")
    dialog.get_by_role("button", name="Add budget").click()
    expect(dialog).to_contain_text("It must not be below the alert: 10.")
    dialog.get_by_label("Limit").fill("20")
    page.on("dialog", lambda question: question.dismiss())
    dialog.get_by_role("button", name="Cancel").click()
    page.wait_for_url("**/budgets/")


def begin_draft(page: Page, words: str) -> None:
    page.locator("textarea[name=start]").fill(words)
    page.get_by_role("button", name="Continue").click()


def test_who_leaves_typed_words_is_asked_and_who_sends_them_is_not(studio: Page) -> None:
    page, asked = studio, []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    page.locator("textarea[name=start]").press_sequentially("Glaciers")
    page.evaluate("location.assign('/tokens/')")
    expect(page.locator("textarea[name=start]")).to_have_value("Glaciers")
    wait_until(lambda: asked == ["beforeunload"])
    begin_draft(page, "Glaciers")
    expect(page).to_have_url(re.compile("/studio/.+/script/$"))
    assert asked == ["beforeunload"]


def test_words_that_came_back_refused_are_not_left_unasked(studio: Page) -> None:
    page, words = studio, "word " * 3001
    begin_draft(page, words)
    expect(page).to_have_url(re.compile("/studio/drafts/$"))
    page.on("dialog", lambda dialog: dialog.dismiss())
    with page.expect_event("dialog"):
        page.locator("a[href='/library/']:visible").first.click()
    expect(page.locator("textarea[name=start]")).to_have_value(words)
