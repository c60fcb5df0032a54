"""What differs between the types of video, each to its film, over the real processes of `make run`;
test_first_video.py makes one of AI visuals."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.page_audit import serious_violations
from tests.browser.sandbox_control import SandboxControl, SandboxGuest, wait_until

PAGE = "https://travel.example.com/2026/night-trains-return"
NAMES = [
    "The night train leaves the city after dark",
    "A train in the mountains in the snow at night",
    "A house with a light in the window among firs",
    "Mountains in the first light of the morning",
    "A cup of coffee at the table by the window",
]


def test_b_roll_from_a_topic_over_a_written_script_to_the_film(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    page = luca.page
    wait_until(lambda: "aspect_ratio" in page.request.get("/studio/").text())  # options are read
    page.goto("/studio/")
    begin_with_topic(page, "B-roll")
    # A service may require these three; "Automatic" is the first choice of each where it does not.
    for label in ("Style", "Tone", "Language"):
        page.get_by_label(label, exact=True).select_option(index=1)
    page.get_by_role("button", name="Write the script").click()
    expect(page.locator(".figure").first).to_contain_text("≈")  # nothing else has to be chosen
    expect(page.locator(".btn--primary:visible", has_text="Render")).to_be_enabled()
    continue_to(page, "Voice")
    page.locator("input[name=voice_id]").nth(1).check(force=True)
    continue_to(page, "Visuals")
    expect(page.locator("#step")).not_to_contain_text("Genre")
    page.locator("input[name=overlay]").nth(1).check(force=True)
    continue_to(page, "Captions")
    continue_to(page, "Review")
    assert render(luca, "B-roll, 16:9") == sandbox_control.spent_credits(guest)


def test_ai_clips_at_the_rate_of_an_engine_to_the_film(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    page = luca.page
    job = luca.create_draft("The last lighthouse keeper")
    page.goto(f"/studio/{job}/type/")
    page.get_by_role("radio", name="AI clips").check(timeout=RENDERED_TIMEOUT_MS)  # its options
    continue_to(page, "Script")
    page.goto(f"/studio/{job}/visuals/")
    choose_engine(page)
    page.get_by_role("radio", name="Noir").check()
    expect(page.locator("#needs")).not_to_contain_text("To do:")
    expect(page.locator(".rate")).to_contain_text("Kestrel Voice, 720p, sound on")
    continue_to(page, "Captions")
    continue_to(page, "Review")
    expect(page.locator("dl.facts").filter(has_text="Clip engine")).to_contain_text("Sound on")
    assert render(luca, "AI clips, 16:9") == sandbox_control.spent_credits(guest)


def test_a_web_page_with_its_images_in_another_order_to_the_film(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    page = luca.page
    fill_pool(sandbox_control, guest)
    page.goto("/studio/")
    luca.begin_draft(PAGE)
    page.wait_for_url("**/studio/*-*/*/")
    page.goto(f"/studio/{page.url.split('/')[-3]}/source/")
    expect(page.locator("#image-said")).to_have_text(
        "5 images found, 5 used.", timeout=RENDERED_TIMEOUT_MS
    )
    put_in_order_with_the_keyboard(page)
    expect(page.locator("#steps")).to_contain_text("4 images, no script yet")
    page.reload()
    assert order_shown(page) == [NAMES[1], NAMES[3], NAMES[0], NAMES[4]]
    assert serious_violations(page) == []
    page.get_by_role("button", name="Write a script from it").click()
    expect(page.locator("textarea[name=script]")).not_to_have_value("")
    continue_to(page, "Voice")
    page.locator("input[name=voice_id]").first.check(force=True)
    continue_to(page, "Visuals")
    continue_to(page, "Captions")
    continue_to(page, "Review")
    assert render(luca, "16:9") == sandbox_control.spent_credits(guest)
    assert sandbox_control.count_requests(guest, "POST", "/scrape-images") == 2


def begin_with_topic(page: Page, type_label: str) -> None:
    """What is typed is read meanwhile; a wrong field is marked until it is mended."""
    field, reading = page.locator("textarea[name=start]"), page.locator("#id_start_help")
    page.get_by_role("button", name="Continue").click()
    expect(field).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Type").select_option(label=type_label)
    field.fill("Ice moves. Snow falls on it every year. In summer it melts a little.")
    expect(reading).to_contain_text("Reads as a script")
    expect(field).to_have_attribute("aria-invalid", "false")
    reading.get_by_role("button", name="Use it as the topic").click()
    expect(reading).to_contain_text("Reads as a topic")
    field.press("Control+Enter")
    page.wait_for_url("**/script/")


def continue_to(page: Page, step: str) -> None:
    page.get_by_role("button", name=f"Next: {step}").click()
    page.wait_for_url(f"**/{step.lower()}/")


def render(luca: MemberPage, question: str) -> int:
    """From the review to the film; answers the credits that its page shows as spent."""
    luca.page.locator(".btn--primary:visible", has_text="Render").first.click()
    dialog = luca.page.locator("dialog[open]")
    expect(dialog).to_contain_text(question)
    luca.confirm_dialog(dialog)
    expect(luca.film_player).to_be_attached(timeout=RENDERED_TIMEOUT_MS)
    return luca.shown_cost(luca.page.url.split("/")[-2])


def choose_engine(page: Page) -> None:
    """By keyboard: an engine, then a price of its own with sound."""
    engine = page.get_by_role("radio", name="Kestrel Voice", exact=False).first
    expect(page.get_by_role("radio", name="720p, sound on")).to_be_hidden()
    engine.check()
    price = page.get_by_role("radio", name="720p, sound off")
    expect(price).to_be_checked()
    price.press("ArrowRight")
    expect(page.get_by_role("radio", name="720p, sound on")).to_be_checked()
    expect(page.locator(".pick:visible")).to_contain_text("not offered")


def fill_pool(sandbox_control: SandboxControl, guest: SandboxGuest) -> None:
    """The first reading is answered with the 429 of the shared pool: the portal reads again."""
    told = {"code": 429, "headers": {"Retry-After": "1"}}
    sandbox_control.set_fault(guest, "status", "POST", "*/scrape-images", times=1, **told)


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
