"""Scene images and own media of a finished video, over the real processes."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.browser.media import expect_loaded
from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.page_audit import serious_violations
from tests.browser.sandbox_control import SandboxControl

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


def open_own_media(page: Page) -> Locator:
    page.get_by_role("link", name="Use my own").click()
    return page.locator("dialog[open]")
