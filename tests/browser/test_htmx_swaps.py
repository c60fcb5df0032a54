"""What arrives while somebody presses, saves or tabs takes nothing out of their hands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import APIResponse, Locator, Page, Route, expect

from tests.browser.budget_actions import add_budget, end_budget
from tests.browser.held_responses import hold_response
from tests.browser.member_page import MemberPage
from tests.browser.sandbox_control import SandboxControl, wait_until

TOUCH = "document.body.dispatchEvent(new CustomEvent('reelroom:budget'))"
REMEMBER = "window.part = document.querySelector('#budgets')"
REPLACED = "window.part !== document.querySelector('#budgets')"
NEWS = """document.dispatchEvent(
    new CustomEvent("live:news", { detail: '<p id="pushed">Pushed</p>' })
)"""
TOUCHED = """document.getElementById("live").dispatchEvent(
    new CustomEvent("live:touched", { bubbles: true, detail: "budget" })
)"""
# A place that nothing else is pushed to.
PLACE = """document.body.insertAdjacentHTML("beforeend", '<p id="pushed"></p>')"""
# What the stream says first: "fresh", or "stale" to a page that fetches its parts by itself then.
HEAR = """window.EventSource = class extends EventSource {
    constructor(...address) {
        super(...address);
        this.addEventListener("hello", (event) => (window.hello = event.data));
    }
}"""
# Whether the answer to what htmx sends next is through its hands, laid or kept.
MIND = """document.addEventListener("htmx:beforeSend", ({ detail }) => {
    detail.xhr.addEventListener("loadend", () => (window.answered = true));
})"""


@pytest.fixture
def page(open_member_page: Callable[..., MemberPage]) -> Iterator[Page]:
    """The budgets: a part that fetches itself, with a link in it that opens a dialog."""
    page = open_member_page("Thea").page
    add_budget(page, "The whole team", "10000")
    page.add_init_script(HEAR)
    wait_until(lambda: mark_page(page) == "fresh")
    page.evaluate(REMEMBER)
    yield page
    end_budget(page, "The whole team")


def mark_page(page: Page) -> object:
    page.goto("/budgets/")
    page.wait_for_selector("#live[data-state=open]", state="attached")
    return page.evaluate("window.hello")


def link(page: Page) -> Locator:
    return page.locator("#budgets").get_by_role("link", name="Change")


def refetch_part(page: Page) -> None:
    """Wait for the answer; the page decides whether it is swapped in."""
    with page.expect_response(lambda answer: answer.url.endswith("/budgets/")) as waiting:
        page.evaluate(TOUCH)
    waiting.value.finished()


def test_a_press_is_not_lost_to_what_arrives_before_its_click(page: Page) -> None:
    page.evaluate(PLACE)
    link(page).hover()
    page.mouse.down()
    refetch_part(page)
    page.evaluate(NEWS)
    assert not page.evaluate(REPLACED)
    expect(page.locator("#pushed")).to_have_text("")
    page.mouse.up()
    expect(page.locator("dialog[open]")).to_be_visible()
    wait_until(lambda: page.evaluate(REPLACED))
    expect(page.locator("#pushed")).to_have_text("Pushed")


def test_after_a_drag_that_clicks_nothing_the_part_is_swapped(page: Page) -> None:
    link(page).hover()
    page.mouse.down()
    refetch_part(page)
    page.mouse.move(5, 5)
    page.mouse.up()
    wait_until(lambda: page.evaluate(REPLACED))
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_what_is_touched_during_a_press_is_asked_of_what_the_press_held_back(page: Page) -> None:
    link(page).hover()
    page.mouse.down()
    refetch_part(page)
    page.evaluate(TOUCHED)
    page.mouse.move(5, 5)
    with page.expect_response(lambda answer: answer.url.endswith("/budgets/")):
        page.mouse.up()


def test_a_selection_that_ends_beside_a_dialog_closes_it_not(page: Page) -> None:
    link(page).click()
    field = page.locator("dialog[open]").get_by_label("Limit")
    field.fill("9000")
    field.hover()
    page.mouse.down()
    page.mouse.move(5, 5)
    page.mouse.up()
    expect(field).to_have_value("9000")


def test_a_press_beside_a_dialog_closes_it_unless_something_is_typed_in_it(page: Page) -> None:
    link(page).click()
    field = page.locator("dialog[open]").get_by_label("Limit")
    field.fill("9000")
    page.mouse.click(5, 5)
    expect(field).to_have_value("9000")
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    link(page).click()
    expect(page.locator("dialog[open]")).to_be_visible()
    page.mouse.click(5, 5)
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_a_link_that_is_a_button_is_pressed_by_space(page: Page) -> None:
    link(page).click()
    expect(page.locator("dialog[open] [data-cancel]")).to_be_focused()
    page.keyboard.press("Space")
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_the_buttons_of_a_video_stay_while_they_are_fetched_again(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    """Each poll of a running video pushes the placeholder of the reader's own buttons."""
    luca = open_member_page("Luca")
    luca.use_token_of(sandbox_control.create_account())
    job = luca.create_draft("Looked at")
    luca.page.goto(f"/videos/{job}/")
    button = luca.page.locator(f"#job-{job}-head-acts").locator("a, button").last
    words = button.inner_text()
    button.focus()
    with luca.page.expect_response(lambda answer: "/actions/" in answer.url):
        assert luca.page.evaluate(LOOKED_AT, job) == words
    wait_until(lambda: not luca.page.locator(f"#job-{job}-head-acts[hx-trigger]").count())
    expect(button).to_be_focused()


# What a push brings for the head of a video's page; answers what the last button says right after.
LOOKED_AT = """(job) => {
    const id = `job-${job}-head-acts`;
    const asks = `hx-get="/videos/${job}/actions/?at=head" hx-trigger="load" hx-swap="outerHTML"`;
    const detail = `<div class="page-head__acts" id="${id}" ${asks}></div>`;
    document.dispatchEvent(new CustomEvent("live:news", { detail }));
    return [...document.getElementById(id).querySelectorAll("a, button")].at(-1)?.innerText;
}"""
# Asks for the reader's own part of the price, and takes its place away before the answer is there.
ORPHAN = """async (url) => {
    window.complaints = [];
    document.body.addEventListener("htmx:oobErrorNoTarget", () => complaints.push("no place"));
    const place = document.querySelector("[id$='-act']");
    const answered = htmx.ajax("GET", url, { source: place, target: place });
    place.remove();
    await answered;
    return complaints;
}"""


def test_what_was_fetched_for_a_part_that_is_gone_is_dropped(visuals_step: Page) -> None:
    assert (
        visuals_step.evaluate(ORPHAN, visuals_step.url.replace("/visuals/", "/price/?part=act"))
        == []
    )


def test_a_filter_is_swapped_into_the_list_that_was_replaced_meanwhile(
    open_member_page: Callable[..., MemberPage],
) -> None:
    page = open_member_page("Vera").page
    page.goto("/library/")
    page.wait_for_selector("#live[data-state=open]", state="attached")
    # A stale page asks for its list by itself; what is asked for meanwhile goes with the old list.
    expect(page.locator("#library")).not_to_have_class(re.compile("htmx-request"))
    page.evaluate("window.part = document.querySelector('#library')")
    with hold_response(page, "**/library/?*sort=oldest"):
        with hold_response(page, "**/library/"):
            page.evaluate("htmx.trigger('#library', 'refresh')")
            page.locator("#chip-sort").select_option("oldest")
        wait_until(lambda: page.evaluate("window.part !== document.querySelector('#library')"))
    expect(page.locator("#library")).to_have_attribute("hx-get", "/library/?sort=oldest")
    assert page.url.endswith("/library/?sort=oldest")


class SlowSaves:
    """The answers to fields that were left: each waits until all are let go."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Route, APIResponse]] = []
        self.is_over = False

    def __call__(self, route: Route) -> None:
        if self.is_over or "hx-request" not in route.request.headers:
            route.continue_()
        else:
            self.waiting.append((route, route.fetch()))
            if self.is_over:
                self.fulfill()

    def release(self, page: Page) -> None:
        """Once a field is saved; it is heard of while the page is asked something."""
        wait_until(lambda: page.evaluate("true") and self.waiting)
        self.is_over = True
        self.fulfill()

    def fulfill(self) -> None:
        while self.waiting:
            route, answer = self.waiting.pop()
            route.fulfill(response=answer)


@pytest.fixture
def slow_saves() -> SlowSaves:
    return SlowSaves()


@pytest.fixture
def visuals_step(
    open_member_page: Callable[..., MemberPage],
    sandbox_control: SandboxControl,
    slow_saves: SlowSaves,
) -> Iterator[Page]:
    """Luca's step of the visuals; each field he leaves is answered slowly.

    A browser that is closed while an answer is still held back may wait for it for ever.
    """
    luca = open_member_page("Luca")
    luca.use_token_of(sandbox_control.create_account())
    job = luca.create_draft("In a hurry")
    luca.page.goto(f"/studio/{job}/visuals/")
    luca.page.route("**/visuals/", slow_saves)
    yield luca.page
    luca.page.unroute_all(behavior="ignoreErrors")


def test_a_field_that_loses_the_focus_by_a_press_is_swapped_after_it(visuals_step: Page) -> None:
    """The press takes the focus, the field is saved, and its answer is there before the click."""
    visuals_step.goto(visuals_step.url.replace("/visuals/", "/type/"))
    visuals_step.locator("input[name=title]").fill("Another name")
    visuals_step.evaluate("window.part = document.querySelector('#kept')")
    visuals_step.evaluate(MIND)
    visuals_step.locator(".actbar [form=step]").hover()
    visuals_step.mouse.down()
    wait_until(lambda: visuals_step.evaluate("window.answered"))
    assert visuals_step.evaluate("window.part === document.querySelector('#kept')")
    visuals_step.mouse.up()
    visuals_step.wait_for_url("**/script/")


def choose_two_and_continue(page: Page, slow: SlowSaves) -> None:
    """The second one while the first is being saved, and the press while both are."""
    for name in ("genre_id", "image_engine_id"):
        page.locator(f"input[name={name}]:not(:checked)").last.check(force=True)
    page.locator(".actbar [form=step]").click()
    slow.release(page)


def test_a_member_who_types_faster_than_saving_gets_no_conflict_with_themselves(
    visuals_step: Page, slow_saves: SlowSaves
) -> None:
    choose_two_and_continue(visuals_step, slow_saves)
    visuals_step.wait_for_url("**/captions/")


def test_a_member_who_saves_over_a_colleague_sees_it_and_nothing_is_overwritten(
    visuals_step: Page, slow_saves: SlowSaves, open_member_page: Callable[..., MemberPage]
) -> None:
    jonas = open_member_page("Jonas").page
    jonas.goto(visuals_step.url)
    jonas.locator("input[name=genre_id]").nth(1).check(force=True)
    jonas.locator(".actbar [form=step]").click()
    jonas.wait_for_url("**/captions/")
    choose_two_and_continue(visuals_step, slow_saves)
    expect(visuals_step.get_by_role("alert")).to_contain_text("Someone else changed this draft.")
    assert visuals_step.url.endswith("/visuals/")
