"""A render that fails, a reader who is offline, a house that is killed while a video renders."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, expect

from tests.browser.desk import PRICED, RENDERED, Desk, sign_in
from tests.browser.house import running_house
from tests.browser.stage import QUICK, Stage, until
from tests.leaks import Canaries

started = contextmanager(running_house)
REASON = "Image for scene 7 could not be made."


def test_a_failed_render_says_why_and_offers_a_retry_at_its_price(
    desk_of: Callable[..., Desk], stage: Stage
) -> None:
    luca, guest = desk_of("Luca"), stage.account()
    luca.join(guest)
    stage.outcome("rendering", "failed", code="SCENE-IMAGE-FAILED", message=REASON)
    job = luca.make("The seventh scene")
    expect(luca.status).to_contain_text(f"“{REASON}”", timeout=RENDERED)
    expect(luca.status).to_contain_text("A retry costs about 10 cr again.")
    expect(luca.status.locator("code")).to_have_text("SCENE-IMAGE-FAILED")
    luca.page.locator(".page-head__acts").get_by_text("Retry").click()
    dialog = luca.page.locator("dialog[open]")
    expect(dialog.locator(".btn--primary")).to_contain_text("≈ 10 cr")
    dialog.get_by_role("button", name="Retry").click()
    expect(luca.film).to_be_attached(timeout=RENDERED)
    assert stage.spent(guest) == luca.cost(job) == 20


def test_who_was_offline_sees_the_present_state_without_a_reload(
    desk_of: Callable[..., Desk], stage: Stage
) -> None:
    luca, vera = desk_of("Luca"), desk_of("Vera")
    luca.join(stage.account())
    job = luca.make("While she was away")
    vera.page.goto(f"/videos/{job}/")
    expect(vera.page.locator("#live")).to_have_attribute("data-state", "open")
    vera.page.context.set_offline(True)
    expect(vera.page.get_by_text("You are offline.")).to_be_visible()
    expect(vera.page.locator("main")).to_contain_text("Renders go on.")
    expect(luca.film).to_be_attached(timeout=RENDERED)
    vera.page.context.set_offline(False)
    expect(vera.film).to_be_attached(timeout=PRICED)
    expect(vera.page.get_by_text("You are offline.")).to_be_hidden()


def test_a_house_killed_while_a_video_renders_goes_on_with_it(
    chromium: Browser, tmp_path_factory
) -> None:
    """Not one process ends as it should; the page stays open and shows the film by itself."""
    var: Path = tmp_path_factory.mktemp("killed")
    with started(var) as house, chromium.new_context(base_url=house.portal) as context:
        ports = str(urlsplit(house.portal).port), str(urlsplit(house.sandbox).port)
        luca, stage = Desk(context.new_page()), Stage(house.sandbox, Canaries())
        sign_in(luca.page, house.person("Luca"))
        guest = stage.account()
        luca.join(guest)
        stage.settings(**{**QUICK, "render_seconds": 12})
        job = luca.make("It goes on")
        luca.paid(job)
        os.kill(house.pid, signal.SIGKILL)
        expect(luca.page.get_by_text("Live news is interrupted.")).to_be_visible(timeout=PRICED)
        until(lambda: all(is_free(port) for port in ports))
        with started(var, ports):
            expect(luca.film, "without a reload").to_be_attached(timeout=RENDERED)
            expect(luca.page.get_by_text("Live news is interrupted.")).to_be_hidden()
            assert stage.sent(guest, "POST", "/render") == 1
            assert stage.spent(guest) == luca.cost(job)
        stage.http.close()


def is_free(port: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(port))) != 0
