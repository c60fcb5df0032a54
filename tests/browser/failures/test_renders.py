"""A render that fails, a reader who is offline, a portal that is killed while a video renders."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, expect

from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage, sign_in
from tests.browser.portal_process import portal_context
from tests.browser.sandbox_control import FAST_SETTINGS, SandboxControl, wait_until
from tests.leaks import Canaries

REASON = "Image for scene 7 could not be made."


def test_a_failed_render_says_why_and_offers_a_retry_at_its_price(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    sandbox_control.script_outcome("rendering", "failed", code="SCENE-IMAGE-FAILED", message=REASON)
    job = luca.make_video("The seventh scene")
    expect(luca.video_status).to_contain_text(f"“{REASON}”", timeout=RENDERED_TIMEOUT_MS)
    expect(luca.video_status).to_contain_text("A retry costs about 10 cr.")
    expect(luca.video_status.locator("code")).to_have_text("SCENE-IMAGE-FAILED")
    luca.page.locator(".page-head__acts").get_by_text("Retry").click()
    dialog = luca.page.locator("dialog[open]")
    expect(dialog.locator(".btn--primary")).to_contain_text("≈ 10 cr")
    dialog.get_by_role("button", name="Retry").click()
    expect(luca.film_player).to_be_attached(timeout=RENDERED_TIMEOUT_MS)
    assert sandbox_control.spent_credits(guest) == luca.shown_cost(job) == 20


def test_who_was_offline_sees_the_present_state_without_a_reload(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, vera = open_member_page("Luca"), open_member_page("Vera")
    luca.use_token_of(sandbox_control.create_account())
    job = luca.make_video("While she was away")
    vera.page.goto(f"/videos/{job}/")
    expect(vera.page.locator("#live")).to_have_attribute("data-state", "open")
    vera.page.context.set_offline(True)
    expect(vera.page.get_by_text("You are offline.")).to_be_visible()
    expect(vera.page.locator("main")).to_contain_text("Renders continue.")
    expect(luca.film_player).to_be_attached(timeout=RENDERED_TIMEOUT_MS)
    vera.page.context.set_offline(False)
    expect(vera.film_player).to_be_attached()
    expect(vera.page.get_by_text("You are offline.")).to_be_hidden()


def test_a_portal_killed_while_a_video_renders_resumes_it(
    chromium: Browser, tmp_path_factory
) -> None:
    """Not one process ends as it should; the page stays open and shows the film by itself."""
    var: Path = tmp_path_factory.mktemp("killed")
    with portal_context(var) as site, chromium.new_context(base_url=site.portal) as context:
        ports = str(urlsplit(site.portal).port), str(urlsplit(site.sandbox).port)
        luca, stage = MemberPage(context.new_page()), SandboxControl(site.sandbox, Canaries())
        sign_in(luca.page, site.person("Luca"))
        guest = stage.create_account()
        luca.use_token_of(guest)
        stage.change_settings(**{**FAST_SETTINGS, "render_seconds": 12})
        job = luca.make_video("It goes on")
        luca.wait_until_price_is_final(job)
        os.kill(site.pid, signal.SIGKILL)
        expect(luca.page.get_by_text("Live updates are interrupted.")).to_be_visible()
        wait_until(lambda: all(is_free(port) for port in ports))
        with portal_context(var, ports):
            expect(luca.film_player, "without a reload").to_be_attached(timeout=RENDERED_TIMEOUT_MS)
            expect(luca.page.get_by_text("Live updates are interrupted.")).to_be_hidden()
            assert stage.count_requests(guest, "POST", "/render") == 1
            assert stage.spent_credits(guest) == luca.shown_cost(job)
        stage.http.close()


def is_free(port: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(port))) != 0
