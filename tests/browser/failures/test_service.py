"""A service that answers HTML, stalls, or hangs up: at the price, the script, the render."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.sandbox_control import SandboxControl

# The service may book late: "never charged" is concluded after CHARGE_BOOKING_GRACE_S only.
DECIDED = 40_000
DOUBT = "We do not know whether"


def test_a_lost_answer_is_read_back_and_paid_once(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    """The service wrote and rendered, its answers got lost: nothing is asked for again."""
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    sandbox_control.set_fault(guest, "stall", "PUT", "*/scripts", when="after", times=1, seconds=1)
    sandbox_control.set_fault(guest, "html", "POST", "*/render", when="after", times=1)
    job = luca.create_draft("The answers got lost", script="")
    luca.write_script(job)
    expect(luca.page.locator("textarea[name=script]")).not_to_be_empty()
    luca.render_video(job)
    # The doubt is over as soon as it is read back, which may be before the page shows it.
    told = re.compile("It will not be sent again|nothing was sent twice")
    expect(luca.video_status).to_contain_text(told)
    expect(luca.film_player).to_be_attached(timeout=RENDERED_TIMEOUT_MS)
    assert sandbox_control.spent_credits(guest) == luca.shown_cost(job)
    assert (
        sandbox_control.count_requests(guest, "POST", "/render")
        == sandbox_control.count_requests(guest, "PUT", "/scripts")
        == 1
    )


def test_what_was_never_done_is_never_charged_and_said_so(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    """The service hung up before it did anything: a script and a render, at the same time."""
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    writer = open_member_page("Luca")
    for method, path in (("PUT", "*/scripts"), ("POST", "*/render")):
        sandbox_control.set_fault(guest, "reset", method, path, times=1)
    writer.write_script(writer.create_draft("Never written", script=""))
    job = luca.create_draft("Never rendered")
    luca.render_video(job)
    expect(luca.video_status).to_contain_text(DOUBT)
    expect(luca.video_status).to_contain_text("It was never charged.", timeout=DECIDED)
    script = writer.page.locator("#script")
    expect(script).to_contain_text("It was never charged. The 4 cr held", timeout=DECIDED)
    assert sandbox_control.spent_credits(guest) == 0
    luca.open_render_dialog(job)
