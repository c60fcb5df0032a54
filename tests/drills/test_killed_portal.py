"""The whole portal is killed while a film renders: the next start goes on with it, and the page
that stayed open shows it."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import expect

from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage, sign_in
from tests.browser.portal_process import portal_context
from tests.browser.sandbox_control import FAST_SETTINGS, SandboxControl, wait_until
from tests.drills.figures import Figures
from tests.drills.outage import signed_in_visitor
from tests.leaks import Canaries

RENDER_S = 12  # of the sandbox's clock: it is not done when the portal is killed


def test_a_portal_killed_while_a_video_renders_resumes_it(tmp_path: Path) -> None:
    figures = Figures("portal killed")
    with portal_context(tmp_path) as site, signed_in_visitor(site) as context:
        ports = str(urlsplit(site.portal).port), str(urlsplit(site.sandbox).port)
        luca, stage = MemberPage(context.new_page()), SandboxControl(site.sandbox, Canaries())
        sign_in(luca.page, site.person("Luca"))
        guest = stage.create_account()
        luca.use_token_of(guest)
        stage.change_settings(**{**FAST_SETTINGS, "render_seconds": RENDER_S})
        job = luca.make_video("It goes on")
        luca.wait_until_price_is_final(job)
        os.kill(site.pid, signal.SIGKILL)
        expect(luca.page.get_by_text("Live updates are interrupted.")).to_be_visible()
        wait_until(lambda: all(is_free(port) for port in ports))
        with portal_context(tmp_path, ports):
            expect(luca.film_player, "without a reload").to_be_attached(timeout=RENDERED_TIMEOUT_MS)
            expect(luca.page.get_by_text("Live updates are interrupted.")).to_be_hidden()
            sent = stage.count_requests(guest, "POST", "/render")
            figures.report(f"{sent} requests to render", "1", holds=sent == 1)
            spent, shown = stage.spent_credits(guest), luca.shown_cost(job)
            figures.report(f"{spent} cr spent, {shown} shown", "equal", holds=spent == shown)
        stage.http.close()
    figures.close()


def is_free(port: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(port))) != 0
