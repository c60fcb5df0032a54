"""Scene images and own media of a finished video, over the real processes."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

from playwright.sync_api import FilePayload, Locator, Page, Route, expect

from tests.browser.media import expect_loaded
from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.page_audit import serious_violations
from tests.browser.sandbox_control import SandboxControl, wait_until

ARTICLE_PICTURE = "https://garden.example.org/media/roof.jpg"


def small_png() -> bytes:
    """A red square with the place where it was taken in a text chunk."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    size, row = 48, b"\0" + b"\xd0\x20\x20" * 48
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0))
    place = chunk(b"tEXt", b"GPS\0 59.91, 10.75")
    picture = chunk(b"IDAT", zlib.compress(row * size))
    return b"\x89PNG\r\n\x1a\n" + head + place + picture + chunk(b"IEND", b"")


def picture_file(name: str, content: bytes) -> FilePayload:
    return {"name": name, "mimeType": "image/png", "buffer": content}


def open_scenes(luca: MemberPage, title: str) -> Page:
    """The scenes of a video that was just rendered."""
    luca.order_video(title)
    expect(luca.film_player).to_be_attached(timeout=RENDERED_TIMEOUT_MS)
    luca.page.get_by_role("link", name="Scenes").click()
    luca.page.wait_for_url("**/scenes/")
    return luca.page


def test_a_scene_gets_a_new_image_and_the_video_is_rendered_again(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    page = open_scenes(luca, "How glaciers move")
    first = page.locator(".scene-card").first
    picture = first.locator("img")
    expect(picture).to_have_js_property("complete", True)
    before = picture.get_attribute("src")
    assert serious_violations(page) == []
    first.get_by_role("button", name="New image").click()
    expect(picture).not_to_have_attribute("src", before or "")
    expect(page.locator("main")).to_contain_text("Changed since the last render")
    expect_loaded(picture)
    assert sandbox_control.count_requests(guest, "POST", "/regenerate") == 1
    page.get_by_role("link", name="Render again").click()
    dialog = page.locator("dialog[open]")
    expect(dialog).to_contain_text("the new video replaces the present one")
    dialog.get_by_role("button", name="Render again").click()
    page.wait_for_url("**/videos/**")
    expect(luca.film_player).to_be_attached(timeout=RENDERED_TIMEOUT_MS)
    assert sandbox_control.count_requests(guest, "POST", "/render") == 2
    expect(page.locator("[id$='-lineage']")).to_contain_text("New image")
    sandbox_control.spent_credits(guest)


def test_own_media_is_checked_and_added_from_a_file_and_from_an_address(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    page = open_scenes(luca, "Where bees live")
    dialog = open_own_media(page)
    assert serious_violations(page) == []
    program = picture_file("photo.png", b"MZ\x90\0" + b"\0" * 99)
    dialog.locator("input[type=file]").set_input_files(program)
    dialog.get_by_label("We may use").check()
    dialog.get_by_role("button", name="Use it").click()
    expect(dialog).to_contain_text("not a picture or film, whatever its name says")
    dialog.locator("input[type=file]").set_input_files(picture_file("cliffs.png", small_png()))
    expect(dialog).to_contain_text("cliffs.png")
    expect(dialog).to_contain_text("48 × 48")
    dialog.get_by_role("button", name="Use it").click()
    expect(page.locator(".scene-card__own")).to_have_count(1)
    dialog = open_own_media(page)
    dialog.get_by_label("From an address").check()
    dialog.get_by_label("Address of").fill("http://127.0.0.1:6379/")
    dialog.get_by_label("We may use").check()
    dialog.get_by_role("button", name="Use it").click()
    expect(dialog).to_contain_text("only reachable inside a network")
    dialog.get_by_label("Address of").fill(ARTICLE_PICTURE)
    dialog.get_by_role("button", name="Use it").click()
    expect(page.locator(".scene-card__own")).to_have_count(2, timeout=RENDERED_TIMEOUT_MS)
    assert sandbox_control.count_requests(guest, "POST", "/assets/upload") == 2


def send_slowly(page: Page, bytes_per_s: int) -> None:
    """What the page sends from now on leaves at this speed, in bytes a second; -1 ends it."""
    network = page.context.new_cdp_session(page)
    network.send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": 0,
            "downloadThroughput": -1,
            "uploadThroughput": bytes_per_s,
        },
    )


def test_a_page_closed_amid_an_upload_leaves_nothing_half_sent_and_says_so(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    page = open_scenes(luca, "Where rivers begin")
    address, closed = page.url, page.context.new_page()
    closed.goto(address)
    dialog = open_own_media(closed)
    large = small_png() + b"\0" * 3_000_000
    dialog.locator("input[type=file]").set_input_files(picture_file("river.png", large))
    dialog.get_by_label("We may use").check()
    send_slowly(closed, 200_000)
    dialog.get_by_role("button", name="Use it").click()
    expect(dialog.locator("[data-sent]")).to_have_js_property("hidden", False)
    page.reload()  # another tab, while it is being sent
    expect(page.locator(".scene-card").first).to_be_visible()
    assert page.locator("[data-said=upload]").count() == 0
    closed.close()
    page.reload()
    said = page.locator("[data-said=upload]")
    expect(said).to_contain_text("was not added: the page was closed before it was sent")
    expect(page.locator(".scene-card__own")).to_have_count(0)
    assert page.locator("[data-received-uploads]").get_attribute("data-received-uploads") == ""
    page.reload()
    expect(page.locator(".scene-card").first).to_be_visible()
    assert said.count() == 0
    assert sandbox_control.count_requests(guest, "POST", "/assets/upload") == 0


def test_a_file_that_arrived_before_the_page_was_closed_is_added_without_a_warning(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    page = open_scenes(luca, "Where rivers end")
    closed = page.context.new_page()
    closed.goto(page.url)
    dialog = open_own_media(closed)
    dialog.locator("input[type=file]").set_input_files(picture_file("sea.png", small_png()))
    dialog.get_by_label("We may use").check()
    arrived: list[Route] = []

    def deliver_without_answer(route: Route) -> None:
        route.fetch(max_redirects=0)
        arrived.append(route)

    closed.route("**/own-media/", deliver_without_answer)
    dialog.get_by_role("button", name="Use it").click()
    wait_until(lambda: closed.evaluate("true") and arrived)
    closed.close()
    page.reload()
    expect(page.locator(".scene-card__own")).to_have_count(1)
    assert page.locator("[data-said=upload]").count() == 0
    assert sandbox_control.count_requests(guest, "POST", "/assets/upload") == 1


def open_own_media(page: Page) -> Locator:
    page.get_by_role("link", name="Use my own").click()
    return page.locator("dialog[open]")
