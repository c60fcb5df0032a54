"""A service that answers HTML, stalls, or hangs up: at the price, the script, the render."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.desk import PRICED, RENDERED, Desk
from tests.browser.stage import Stage

# The service may book late: "never charged" is said only after CHARGE_BOOKED_WITHIN of this house.
DECIDED = 40_000
DOUBT = "We do not know whether"


@pytest.mark.parametrize(
    ("action", "options", "said"),
    [
        ("html", {}, "The service answered with a fault of its own. Nothing was charged."),
        ("reset", {}, "The answer of the service got lost. Nothing was charged."),
        ("stall", {"seconds": 1}, "The answer of the service got lost. Nothing was charged."),
    ],
)
def test_a_price_that_did_not_come_can_be_asked_again(
    desk_of: Callable[..., Desk], stage: Stage, action: str, options: dict[str, int], said: str
) -> None:
    luca, guest = desk_of("Luca"), stage.account()
    luca.join(guest)
    stage.fault(guest, action, "GET", "*/estimate", **options)
    luca.review(luca.draft(f"No price: {action}"))
    price = luca.page.locator("aside")
    expect(price).to_contain_text(f"No price yet. {said}", timeout=PRICED)
    stage.lift()
    price.get_by_role("button", name="Ask the price again").click()
    expect(price.locator(".figure")).to_contain_text("≈", timeout=PRICED)


def test_a_lost_answer_is_read_back_and_paid_once(
    desk_of: Callable[..., Desk], stage: Stage
) -> None:
    """The service wrote and rendered, its answers got lost: nothing is asked for again."""
    luca, guest = desk_of("Luca"), stage.account()
    luca.join(guest)
    stage.fault(guest, "stall", "PUT", "*/scripts", when="after", times=1, seconds=1)
    stage.fault(guest, "html", "POST", "*/render", when="after", times=1)
    job = luca.draft("The answers got lost", script="")
    luca.have_written(job)
    expect(luca.page.locator("textarea[name=script]")).not_to_be_empty(timeout=PRICED)
    luca.render(job)
    # The doubt is over as soon as it is read back, which may be before the page shows it.
    told = re.compile("It will not be sent again|nothing was sent twice")
    expect(luca.status).to_contain_text(told, timeout=PRICED)
    expect(luca.film).to_be_attached(timeout=RENDERED)
    assert stage.spent(guest) == luca.cost(job)
    assert stage.sent(guest, "POST", "/render") == stage.sent(guest, "PUT", "/scripts") == 1


def test_what_was_never_done_is_never_charged_and_said_so(
    desk_of: Callable[..., Desk], stage: Stage
) -> None:
    """The service hung up before it did anything: a script and a render, at the same time."""
    luca, guest = desk_of("Luca"), stage.account()
    luca.join(guest)
    writer = desk_of("Luca")
    for method, path in (("PUT", "*/scripts"), ("POST", "*/render")):
        stage.fault(guest, "reset", method, path, times=1)
    writer.have_written(writer.draft("Never written", script=""))
    job = luca.draft("Never rendered")
    luca.render(job)
    expect(luca.status).to_contain_text(DOUBT, timeout=PRICED)
    expect(luca.status).to_contain_text("It was never charged.", timeout=DECIDED)
    script = writer.page.locator("#script")
    expect(script).to_contain_text("It was never charged. The 4 cr held", timeout=DECIDED)
    assert stage.spent(guest) == 0
    luca.ask_to_render(job)
