"""Pressed twice, pressed in two tabs, and pressed by who may not: one charge or none."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.desk import Desk
from tests.browser.stage import Stage


def test_a_double_click_on_render_sends_one_request(
    desk_of: Callable[..., Desk], stage: Stage
) -> None:
    luca, guest = desk_of("Luca"), stage.account()
    luca.join(guest)
    job = luca.draft("Pressed twice")
    luca.ask_to_render(job).get_by_role("button", name="Render").dblclick()
    luca.page.wait_for_url("**/videos/**")
    luca.paid(job)
    assert stage.sent(guest, "POST", "/render") == 1
    assert stage.spent(guest) == luca.cost(job)


def test_a_draft_confirmed_in_two_tabs_is_charged_once(
    desk_of: Callable[..., Desk], stage: Stage
) -> None:
    luca, guest = desk_of("Luca"), stage.account()
    luca.join(guest)
    job = luca.draft("Confirmed twice")
    tab = Desk(luca.page.context.new_page())
    dialog, other = luca.ask_to_render(job), tab.ask_to_render(job)
    luca.confirm(dialog)
    other.get_by_role("button", name="Render").click()
    banner = other.get_by_role("alert")
    expect(banner).to_contain_text("This video")
    expect(banner).to_contain_text("Nothing was sent twice.")
    other.get_by_role("link", name="To the video").click()
    tab.page.wait_for_url("**/videos/**")
    assert stage.spent(guest) == luca.cost(job) == tab.cost(job)
    assert stage.sent(guest, "POST", "/render") == 1


def test_a_viewer_sees_the_draft_and_cannot_render_it(
    desk_of: Callable[..., Desk], stage: Stage
) -> None:
    luca, vera, guest = desk_of("Luca"), desk_of("Vera"), stage.account()
    luca.join(guest)
    job = luca.draft("To be looked at")
    vera.review(job)
    expect(vera.page.get_by_role("heading", name="To be looked at")).to_be_visible()
    expect(vera.page.locator("main")).to_contain_text("Your role looks and changes nothing")
    expect(vera.page.locator(".btn__price")).to_have_count(0)
    assert vera.send(f"/studio/{job}/renders/").status == 403
    vera.page.goto(f"/studio/{job}/renders/")
    expect(vera.page.locator("main")).to_contain_text("Your role")
    assert stage.sent(guest, "POST", "/render") == 0
