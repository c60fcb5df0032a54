"""A page that is closed while own media is being sent says so when it is opened again."""

from __future__ import annotations

import pytest
from playwright.sync_api import FilePayload, Page, Route, expect

from dashboard.models import Membership
from proxyapi.models import Job
from tests.browser.behaviours.conftest import OpenPage
from tests.browser.sandbox_control import wait_until
from tests.contract.staging import png
from tests.dashboard.library import conftest as library
from tests.dashboard.library.parts import conftest as parts

account, token, make_video_job = library.account, library.token, library.make_video_job
job = parts.job

PICTURE: FilePayload = {"name": "river.png", "mimeType": "image/png", "buffer": png()}


NEVER_SEND_JS = "XMLHttpRequest.prototype.send = () => {}"
IS_BEGUN_JS = "Object.keys(localStorage).some((key) => key.startsWith('upload '))"


def send_and_close(page: Page, *, arrives: bool) -> None:
    """Send a picture and close its page before the answer; the other page is loaded meanwhile and
    afterwards."""
    sender, delivered = page.context.new_page(), list[Route]()

    def deliver_without_answer(route: Route) -> None:
        if route.request.method != "POST":
            return route.continue_()
        route.fetch(max_redirects=0)
        delivered.append(route)

    sender.goto(page.url)
    sender.get_by_role("link", name="Use my own").click()
    dialog = sender.locator("dialog[open]")
    dialog.locator("input[type=file]").set_input_files(PICTURE)
    dialog.get_by_label("We may use").check()
    if arrives:
        sender.route("**/own-media/", deliver_without_answer)
    else:
        sender.evaluate(NEVER_SEND_JS)
    dialog.get_by_role("button", name="Use it").click()
    wait_until(lambda: sender.evaluate(IS_BEGUN_JS) and (delivered or not arrives))
    reload(page)
    assert page.locator("[data-said=upload]").count() == 0, "it is still being sent"
    sender.close()
    reload(page)


def reload(page: Page) -> None:
    page.reload()
    expect(page.locator("#live")).to_have_attribute("data-state", "open")


@pytest.fixture
def page(priya: Membership, job: Job, open_page: OpenPage) -> Page:
    """The scenes of a finished video."""
    page = open_page(priya, "/tokens/")
    picture = {"body": png(), "content_type": "image/png"}
    page.context.route("**/media/*", lambda route: route.fulfill(**picture))
    page.goto(f"/videos/{job.pk}/scenes/")
    return page


def test_a_page_closed_amid_an_upload_says_once_that_nothing_was_added(page: Page) -> None:
    send_and_close(page, arrives=False)
    said = page.locator("[data-said=upload]")
    expect(said).to_contain_text("was not added: the page was closed before it was sent")
    reload(page)
    assert said.count() == 0


def test_a_file_that_arrived_before_the_page_was_closed_is_added_without_a_warning(
    page: Page,
) -> None:
    send_and_close(page, arrives=True)
    expect(page.locator("main")).to_contain_text("Your own media is being sent.")
    assert page.locator("[data-said=upload]").count() == 0
