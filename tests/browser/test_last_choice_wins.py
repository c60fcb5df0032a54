"""What was typed or chosen last is what counts, and nothing else is done in its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.held_responses import hold_response
from tests.browser.member_page import MemberPage
from tests.browser.sandbox_control import SandboxControl

DeskOf = Callable[..., MemberPage]
PHONE = {"width": 390, "height": 844}
ONLINE = "window.dispatchEvent(new Event('online'))"


@pytest.fixture
def luca(open_member_page: DeskOf, sandbox_control: SandboxControl) -> Iterator[MemberPage]:
    luca = open_member_page("Luca")
    luca.use_token_of(sandbox_control.create_account())
    yield luca
    luca.page.unroute_all(behavior="ignoreErrors")


def open_page(page: Page, path: str) -> Page:
    page.goto(path)
    expect(page.locator("#live")).to_have_attribute("data-state", "open")
    return page


def test_nothing_is_rendered_beside_words_that_could_not_be_saved(luca: MemberPage) -> None:
    """The film would have the words from before, at their price."""
    page = open_page(luca.page, f"/studio/{luca.create_draft('Older words')}/script/")
    words = page.locator("textarea[name=script]")
    render = page.locator("a.btn--primary:visible", has_text="Render")
    expect(render).to_be_visible()
    page.route("**/script/", lambda route: route.fulfill(status=503))
    words.fill("Newer words, and not many.")
    words.press("Tab")
    expect(page.locator("#step")).to_have_attribute("data-unsaved", "failed")
    render.click()
    expect(page.locator("#toasts")).to_contain_text("Your last change is not saved")
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.unroute_all()
    page.evaluate(ONLINE)
    expect(page.get_by_text("Draft saved")).to_be_visible()
    expect(page.locator("[data-said=unsaved]")).to_have_count(0)
    render.click()
    expect(page.locator("dialog[open]")).to_contain_text("Held until the exact price is known")


def test_beside_words_that_are_being_saved_the_price_is_waited_for(luca: MemberPage) -> None:
    page = open_page(luca.page, f"/studio/{luca.create_draft('On their way')}/script/")
    render = page.locator("a.btn--primary:visible", has_text="Render")
    expect(render).to_be_visible()
    words = page.locator("textarea[name=script]")
    with hold_response(page, "**/script/"):
        words.fill("Newer words, and not many.")
        words.press("Tab")
        expect(page.locator("#step")).to_have_attribute("data-unsaved", "sent")
        render.click()
        expect(page.locator("#toasts")).to_contain_text(
            "is being saved. Render when its price is shown"
        )
        expect(page.locator("dialog[open]")).to_have_count(0)
    expect(page.locator("[data-said=unsaved]")).to_have_count(0)
    render.click()
    expect(page.locator("dialog[open]")).to_contain_text("Held until the exact price is known")


def test_a_voice_that_is_chosen_while_the_list_is_searched_stays_chosen(luca: MemberPage) -> None:
    page = open_page(luca.page, f"/studio/{luca.create_draft('A voice')}/voice/")
    with hold_response(page, re.compile(r"/voice/\?")):
        page.locator("#voices input:not(:checked)").first.check(force=True)
        before = page.locator("#voices input:checked").get_attribute("id")
        page.get_by_label("Search voices").press_sequentially("e")
        page.wait_for_timeout(400)  # its search leaves after a pause
        page.locator("#voices input:not(:checked)").last.check(force=True)
        chosen = page.locator("#voices input:checked").get_attribute("id")
    assert before != chosen
    expect(page.locator("#voice-count")).to_contain_text(" of ")  # of the answer to the second one
    expect(page.locator("#voices input:checked")).to_have_id(chosen or "")


def test_of_a_draft_that_left_the_studio_it_is_not_said_that_somebody_signed_out(
    luca: MemberPage, sandbox_control: SandboxControl
) -> None:
    job = luca.create_draft("Gone meanwhile")
    page = open_page(luca.page, f"/studio/{job}/script/")
    expect(page.locator("a.btn--primary:visible", has_text="Render")).to_be_visible()
    with hold_response(page, "**/script/"):
        page.locator("textarea[name=script]").fill("Newer words.")
        luca.post_form(f"/studio/{job}/renders/", **luca.render_dialog_fields(job))
    toasts = page.locator("#toasts")
    expect(toasts).to_contain_text("This item is no longer open.")
    expect(toasts).not_to_contain_text("signed out")
    toasts.get_by_role("button", name="Close").first.click()
    with page.expect_response("**/script/"):
        page.locator("textarea[name=script]").press_sequentially(" And more.")
    expect(page.locator("[data-said=ended]")).to_have_count(0)


def test_changed_thresholds_are_fetched_after_another_page_was_opened(
    open_member_page: DeskOf,
) -> None:
    page = open_page(open_member_page("Thea").page, "/alerts/")
    asked: list[str] = []

    def stay(dialog: object) -> None:
        asked.append(dialog.type)  # type: ignore[attr-defined]
        dialog.dismiss()  # type: ignore[attr-defined]

    page.on("dialog", stay)
    page.locator("form[action='/alerts/rules/'] input[type=checkbox]:visible").first.click()
    page.get_by_role("link", name="Add threshold").click()
    page.locator("dialog[open]").get_by_role("button", name="Cancel").click()
    page.locator("nav a:visible", has_text="Ledger").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Alerts")
    assert asked == ["beforeunload"]


def test_a_filter_chosen_beside_the_phones_sheet_is_in_it_at_once(open_member_page: DeskOf) -> None:
    page = open_member_page("Vera", viewport=PHONE).page
    open_page(page, "/ledger/?direction=out&period=all")
    choice = page.locator("#filters [name=direction]")
    with hold_response(page, re.compile(r"direction=in")):
        page.locator("#chip-direction").select_option("in")
        page.get_by_role("button", name="Filters").click()
        expect(choice).to_have_value("in")
    page.wait_for_url("**/ledger/?direction=in&period=all")
    expect(choice).to_have_value("in")


def test_days_that_were_typed_and_not_shown_yet_outlive_another_filter(
    open_member_page: DeskOf,
) -> None:
    page = open_page(
        open_member_page("Vera", viewport={"width": 1440, "height": 1000}).page, "/ledger/"
    )
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
