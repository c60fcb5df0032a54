"""A service whose answers get lost: at the script and at the render, before and after it did
what it was asked for."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.sandbox_control import SandboxControl

# The service may book late: "never charged" is concluded after CHARGE_BOOKING_GRACE_S only.
DECIDED_TIMEOUT_MS = 60_000
DOUBT = "We do not know whether"


def test_a_lost_answer_is_read_back_and_paid_once_and_what_was_never_done_is_free(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    sandbox_control.set_fault(guest, "stall", "PUT", "*/scripts", when="after", times=1, seconds=1)
    sandbox_control.set_fault(guest, "reset", "POST", "*/render", times=1)
    job = luca.create_draft("The answers got lost", script="")
    luca.write_script(job)
    expect(luca.page.locator("textarea[name=script]")).not_to_be_empty()
    luca.render_video(job)
    expect(luca.video_status).to_contain_text(DOUBT)
    expect(luca.video_status).to_contain_text("It was never charged.", timeout=DECIDED_TIMEOUT_MS)
    assert sandbox_control.spent_credits(guest) == 4  # the script
    sandbox_control.set_fault(guest, "html", "POST", "*/render", when="after", times=1)
    luca.render_video(job)
    # The doubt is over as soon as it is read back, which may be before the page shows it.
    told = re.compile("It will not be sent again|nothing was sent twice")
    expect(luca.video_status).to_contain_text(told)
    expect(luca.film_player).to_be_attached(timeout=RENDERED_TIMEOUT_MS)
    assert sandbox_control.spent_credits(guest) == luca.shown_cost(job)
    assert sandbox_control.count_requests(guest, "PUT", "/scripts") == 1
    assert sandbox_control.count_requests(guest, "POST", "/render") == 2
