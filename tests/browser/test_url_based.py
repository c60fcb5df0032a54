"""A video from a web page, over the real processes of `make run`: its images put in order with the
keyboard, a script from the page, the finished film; a page that is left while it is read."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from tests.browser.media import expect_playing
from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.sandbox_control import SandboxControl, SandboxGuest
from tests.browser.test_b_roll import continue_to

PAGE = "https://travel.example.com/2026/night-trains-return"
NAMES = [
    "The night train leaves the city after dark",
    "A train in the mountains in the snow at night",
    "A house with a light in the window among firs",
    "Mountains in the first light of the morning",
    "A cup of coffee at the table by the window",
]


def test_a_web_page_from_a_new_draft_to_the_film(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    guest, luca = sandbox_control.create_account(), open_member_page("Luca")
    page = luca.page
    begin_page_draft(luca, guest)
    expect(page.locator("#image-said")).to_have_text(
        "5 images found, 5 used.", timeout=RENDERED_TIMEOUT_MS
    )
    page.get_by_label("Address").fill("https://youtu.be/4k")
    page.get_by_role("button", name="Read the page again").click()
    expect(page.locator("#id_url_error")).to_contain_text("does not read video and social sites")
    put_in_order_with_the_keyboard(page)
    expect(page.locator("#steps")).to_contain_text("4 images, no script yet")
    page.reload()
    assert order_shown(page) == [NAMES[1], NAMES[3], NAMES[0], NAMES[4]]
    page.get_by_role("button", name="Write a script from it").click()
    expect(page.locator("textarea[name=script]")).not_to_have_value("")
    continue_to(page, "Voice")
    page.locator("input[name=voice_id]").first.check(force=True)
    continue_to(page, "Visuals")
    expect(page.locator("#step")).not_to_contain_text("Genre")
    continue_to(page, "Captions")
    continue_to(page, "Review")
    job = draft_of(page)
    luca.render_video(job)
    expect(luca.film_player).to_be_attached(timeout=RENDERED_TIMEOUT_MS)
    expect_playing(luca.film_player)
    luca.wait_until_price_is_final(job)
    assert sandbox_control.count_requests(guest, "POST", "/scrape-images") == 1


def test_a_page_waits_for_the_shared_pool_and_is_read_while_it_is_left(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    guest, luca = sandbox_control.create_account(), open_member_page("Luca")
    page = luca.page
    fill_pool(sandbox_control, guest)
    begin_page_draft(luca, guest)
    source = page.url
    expect(page.locator("#source .banner")).to_contain_text("Reelroom tries again")
    page.goto("/library/")
    page.goto(source)
    expect(page.locator("#image-said")).to_have_text(
        "5 images found, 5 used.", timeout=RENDERED_TIMEOUT_MS
    )


def test_a_script_waits_for_the_shared_pool_and_is_charged_once(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    guest, luca = sandbox_control.create_account(), open_member_page("Luca")
    page = luca.page
    begin_page_draft(luca, guest)
    expect(page.locator("#image-said")).to_have_text(
        "5 images found, 5 used.", timeout=RENDERED_TIMEOUT_MS
    )
    spent = sandbox_control.spent_credits(guest)
    fill_pool(sandbox_control, guest, "scrape-script")
    page.get_by_role("button", name="Write a script from it").click()
    waiting = page.locator("main", has_text="The service is reading pages for others right now")
    expect(waiting).to_be_visible()
    expect(waiting).to_contain_text("It is sent again by itself")
    source = page.url
    page.goto("/library/")
    page.goto(source)
    expect(page.locator("textarea[name=script]")).not_to_have_value("", timeout=RENDERED_TIMEOUT_MS)
    assert sandbox_control.count_requests(guest, "POST", "/scrape-script") == 2
    assert sandbox_control.spent_credits(guest) - spent == 4


def begin_page_draft(luca: MemberPage, guest: SandboxGuest) -> None:
    """A link in the field of the start page makes a draft whose page is read. Without the options
    of a new account its format is asked for first."""
    luca.use_token_of(guest)
    luca.page.goto("/studio/")
    luca.begin_draft(PAGE)
    luca.page.wait_for_url("**/studio/*-*/*/")
    luca.page.goto(f"/studio/{draft_of(luca.page)}/source/")


def draft_of(page: Page) -> str:
    """The id in the address of a step."""
    return page.url.split("/")[-3]


def fill_pool(
    sandbox_control: SandboxControl, guest: SandboxGuest, request: str = "scrape-images"
) -> None:
    """The next request is answered with the pool's 429; the token itself has requests left."""
    told = {"code": 429, "headers": {"Retry-After": "6"}}
    sandbox_control.set_fault(guest, "status", "POST", f"*/{request}", times=1, **told)


def put_in_order_with_the_keyboard(page: Page) -> None:
    """The first image goes to the third place, one is put back and one is removed; each is said."""
    said = page.locator("#image-said")
    handle(page, NAMES[0]).press("Space")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(said).to_have_text(f"“{NAMES[0]}”: place 3 of 5.")
    expect(handle(page, NAMES[0])).to_be_focused()
    page.keyboard.press("Space")
    handle(page, NAMES[4]).press("Space")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Escape")
    expect(said).to_have_text(f"“{NAMES[4]}”: place 5 of 5.")
    page.get_by_role("button", name=f"Move {NAMES[3]} earlier").press("Enter")
    page.get_by_role("button", name=f"Move {NAMES[3]} earlier").press("Enter")
    page.get_by_role("button", name=f"Remove {NAMES[2]}").press("Enter")
    expect(said).to_have_text(f"“{NAMES[2]}”: not used.")
    expect(page.get_by_role("button", name=f"Use {NAMES[2]}")).to_be_focused()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    expect(page.locator("form[data-unsaved]")).to_have_count(0)


def handle(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=f"Reorder {name}")


def order_shown(page: Page) -> list[str]:
    tiles = page.locator("#tiles-used > .tile")
    return [str(tile.get_attribute("data-name")) for tile in tiles.all()]
