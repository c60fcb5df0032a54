"""What arrives while somebody presses, saves or tabs takes nothing out of their hands."""

from __future__ import annotations

from copy import deepcopy
from decimal import Decimal

import pytest
from playwright.sync_api import Locator, Page, expect

from dashboard.models import Budget, Membership
from proxyapi.models import Job
from tests.browser.behaviours.conftest import OpenPage
from tests.browser.held_responses import hold_response
from tests.browser.page_server import PageServer
from tests.browser.sandbox_control import wait_until
from tests.dashboard.studio.conftest import OPTIONS, step_url

TOUCH = "document.body.dispatchEvent(new CustomEvent('reelroom:budget'))"
REMEMBER = "window.part = document.querySelector('#budgets')"
REPLACED = "window.part !== document.querySelector('#budgets')"
# A place that nothing else is pushed to.
PLACE = """document.body.insertAdjacentHTML("beforeend", '<p id="pushed"></p>')"""
NEWS = """document.dispatchEvent(
    new CustomEvent("live:news", { detail: '<p id="pushed">Pushed</p>' })
)"""
TOUCHED = """document.getElementById("live").dispatchEvent(
    new CustomEvent("live:touched", { bubbles: true, detail: "budget" })
)"""
# Whether the answer to what htmx sends next is through its hands, laid or kept.
MIND = """document.addEventListener("htmx:beforeSend", ({ detail }) => {
    detail.xhr.addEventListener("loadend", () => (window.answered = true));
})"""
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


@pytest.fixture
def page(thea: Membership, open_page: OpenPage) -> Page:
    """The budgets: a part that fetches itself, with a link in it that opens a dialog."""
    Budget.objects.create(team=thea.team, hard=Decimal(10_000))
    page = open_page(thea, "/budgets/")
    page.evaluate(REMEMBER)
    return page


def link(page: Page) -> Locator:
    return page.locator("#budgets").get_by_role("link", name="Change")


def refetch_part(page: Page) -> None:
    """Wait for the answer; the page decides whether it is swapped in."""
    with page.expect_response("**/budgets/") as waiting:
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
    with page.expect_response("**/budgets/"):
        page.mouse.up()


def test_a_press_beside_a_dialog_closes_it_unless_something_is_typed_in_it(page: Page) -> None:
    link(page).click()
    field = page.locator("dialog[open]").get_by_label("Limit")
    field.fill("9000")
    field.hover()
    page.mouse.down()
    page.mouse.move(5, 5)
    page.mouse.up()  # a selection that ends beside it
    expect(field).to_have_value("9000")
    page.mouse.click(5, 5)
    expect(field).to_have_value("9000")
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    link(page).click()
    expect(page.locator("dialog[open]")).to_be_visible()
    page.mouse.click(5, 5)
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_enter_in_a_limit_saves_it_and_space_presses_a_link_that_is_a_button(page: Page) -> None:
    link(page).click()
    expect(page.locator("dialog[open] [data-cancel]")).to_be_focused()
    page.keyboard.press("Space")
    expect(page.locator("dialog[open]")).to_have_count(0)
    link(page).click()
    field = page.locator("dialog[open]").get_by_label("Limit")
    field.fill("9000")
    field.press("Enter")
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(page.locator("#budgets")).to_contain_text("9,000")


def test_the_focus_stays_on_the_link_that_was_swapped(page: Page, page_server: PageServer) -> None:
    link(page).focus()
    page_server.push("touched", "budget")
    wait_until(lambda: page.evaluate(REPLACED))
    expect(link(page)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("dialog[open]")).to_be_visible()


def test_the_buttons_of_a_video_stay_while_they_are_fetched_again(
    priya: Membership, ready: Job, open_page: OpenPage
) -> None:
    """Each poll of a running video pushes the placeholder of the reader's own buttons."""
    page = open_page(priya, f"/videos/{ready.pk}/")
    button = page.locator(f"#job-{ready.pk}-head-acts").locator("a, button").last
    words = button.inner_text()
    button.focus()
    with page.expect_response(lambda answer: "/actions/" in answer.url):
        assert page.evaluate(LOOKED_AT, str(ready.pk)) == words
    expect(page.locator(f"#job-{ready.pk}-head-acts[hx-trigger]")).to_have_count(0)
    expect(button).to_be_focused()


def test_what_was_fetched_for_a_part_that_is_gone_is_dropped(
    priya: Membership, ready: Job, open_page: OpenPage
) -> None:
    page = open_page(priya, step_url(ready, "visuals"))
    assert page.evaluate(ORPHAN, f"/studio/{ready.pk}/price/?part=act") == []


def test_a_filter_is_swapped_into_the_list_that_was_replaced_meanwhile(
    vera: Membership, open_page: OpenPage
) -> None:
    page = open_page(vera, "/library/")
    page.evaluate("window.part = document.querySelector('#library')")
    with hold_response(page, "**/library/?*sort=oldest"):
        with hold_response(page, "**/library/"):
            page.evaluate("htmx.trigger('#library', 'refresh')")
            page.locator("#chip-sort").select_option("oldest")
        wait_until(lambda: page.evaluate("window.part !== document.querySelector('#library')"))
    expect(page.locator("#library")).to_have_attribute("hx-get", "/library/?sort=oldest")
    assert page.url.endswith("/library/?sort=oldest")


def test_a_field_that_loses_the_focus_by_a_press_is_swapped_after_it(
    priya: Membership, ready: Job, open_page: OpenPage
) -> None:
    """The press takes the focus, the field is saved, and its answer is there before the click."""
    page = open_page(priya, step_url(ready, "type"))
    page.locator("input[name=title]").fill("Another name")
    page.evaluate("window.part = document.querySelector('#kept')")
    page.evaluate(MIND)
    page.locator(".actbar [form=step]").hover()
    page.mouse.down()
    wait_until(lambda: page.evaluate("window.answered"))
    assert page.evaluate("window.part === document.querySelector('#kept')")
    page.mouse.up()
    page.wait_for_url("**/script/")


def choose_two_and_continue(page: Page) -> None:
    """The second one while the first is being saved, and the press while both are."""
    with hold_response(page, "**/visuals/"):
        for name in ("genre_id", "image_engine_id"):
            page.locator(f"input[name={name}]:not(:checked)").last.check(force=True)
        page.locator(".actbar [form=step]").click()


def test_a_member_who_types_faster_than_saving_gets_no_conflict_with_themselves(
    priya: Membership, ready: Job, open_page: OpenPage
) -> None:
    page = open_page(priya, step_url(ready, "visuals"))
    choose_two_and_continue(page)
    page.wait_for_url("**/captions/")


def test_a_member_who_saves_over_a_colleague_sees_it_and_nothing_is_overwritten(
    priya: Membership, jonas: Membership, ready: Job, open_page: OpenPage
) -> None:
    ready.account.options = deepcopy(OPTIONS)
    ready.account.options["mandatory"]["genres"].insert(1, {"id": 943, "name": "Dream"})
    ready.account.save()
    page, other = (open_page(who, step_url(ready, "visuals")) for who in (priya, jonas))
    other.locator("input[name=genre_id]:not(:checked)").first.check(force=True)
    other.locator(".actbar [form=step]").click()
    other.wait_for_url("**/captions/")
    choose_two_and_continue(page)
    expect(page.get_by_role("alert")).to_contain_text("This draft was changed in another window")
    assert page.url.endswith("/visuals/")


def test_a_menu_stays_open_while_its_list_is_replaced(
    mira: Membership, luca: Membership, open_page: OpenPage, page_server: PageServer
) -> None:
    page = open_page(mira, "/members/")
    page.get_by_role("button", name=f"Actions for {luca.user.name}").click()
    menu = page.get_by_role("dialog", name=luca.user.name)
    box = menu.bounding_box()
    with page.expect_response("**/members/*"):
        page_server.push("touched", "member")
    expect(page.locator("#members.htmx-request")).to_have_count(0)
    assert menu.bounding_box() == box
    menu.get_by_role("button", name="Deactivate").click()
    expect(page.get_by_role("dialog", name=f"Deactivate {luca.user.name}?")).to_be_visible()
