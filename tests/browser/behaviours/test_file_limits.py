"""A file that is too large is named when it is chosen, with the limit of its own field, and nothing
of it is sent."""

from __future__ import annotations

from django.urls import reverse
from playwright.sync_api import Request, expect

from dashboard.models import Membership
from tests.browser.behaviours.conftest import OpenPage
from tests.storyboards import create_storyboard, create_storyboard_token

MEGABYTE = 1024**2
# A file of that many bytes, as a person chooses it.
CHOOSE = """(input, bytes) => {
    const files = new DataTransfer();
    files.items.add(new File([new Uint8Array(bytes)], "face.jpg", { type: "image/jpeg" }));
    input.files = files.files;
    for (const name of ["input", "change"]) input.dispatchEvent(new Event(name, { bubbles: true }));
}"""


def test_each_field_for_files_refuses_what_exceeds_the_limit_beside_it(
    priya: Membership, open_page: OpenPage
) -> None:
    storyboard = create_storyboard(priya, create_storyboard_token(priya), "Waves")
    page, sent = open_page(priya, "/tokens/"), list[Request]()
    page.on("request", lambda one: sent.append(one) if one.resource_type == "document" else None)
    places = {
        reverse("storyboard", args=[storyboard.pk]): ("input[type=file]", 20),
        reverse("character-new"): ("#id_file", 10),
        reverse("clips"): ("input[type=file]", 20),
    }
    for address, (field, most) in places.items():
        page.goto(address)
        sent.clear()
        page.locator(field).first.evaluate(CHOOSE, most * MEGABYTE + 1)
        says = f"“face.jpg” has {most + 1} MB. At most {most} MB are taken. Nothing was sent."
        expect(page.locator("#toasts")).to_contain_text(says)
        expect(page.locator(field).first).to_have_value("")
        assert sent == []
