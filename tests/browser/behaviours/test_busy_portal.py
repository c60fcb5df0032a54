"""A press that the portal was too busy to take: its page sends it again, with the same key."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Page, Route, expect

from dashboard.models import Membership
from proxyapi.models import Charge, Job
from tests.browser.behaviours.conftest import OpenPage
from tests.dashboard.clips import conftest as clips

account, token, priced = clips.account, clips.token, clips.priced
PAUSE_S = 0.05
pytestmark = pytest.mark.console("503")


class BusyPortal:
    """It refuses so many presses; `keys` are those of all that came."""

    def __init__(self, page: Page, refused: int) -> None:
        self.keys: list[str] = []
        self._refused = refused
        page.route("**/studio/clips/**", self.answer)

    def answer(self, route: Route) -> None:
        fields = parse_qs(route.request.post_data or "")
        if "nonce" not in fields:
            return route.fallback()
        self.keys += fields["nonce"]
        if len(self.keys) > self._refused:
            return route.fallback()
        return route.fulfill(status=503, headers={"Retry-After": str(PAUSE_S)}, body="busy")


@pytest.fixture
def question(priya: Membership, priced: Job, open_page: OpenPage) -> Page:
    page = open_page(priya, "/studio/clips/")
    page.get_by_label("Prompt").focus()
    page.keyboard.press("Control+Enter")
    return page


def test_a_press_is_sent_again_with_its_key_until_the_portal_takes_it(question: Page) -> None:
    portal = BusyPortal(question, refused=3)
    question.locator("#confirm button[type=submit]").click()
    expect(question.locator("#confirm")).to_have_count(0)
    assert len(portal.keys) == 4
    assert {str(nonce) for nonce in Charge.objects.values_list("nonce", flat=True)} == {
        *portal.keys
    }


def test_after_four_the_person_is_told_that_they_may_press_again(question: Page) -> None:
    portal = BusyPortal(question, refused=4)
    press = question.locator("#confirm button[type=submit]")
    press.click()
    expect(question.locator("#confirm")).to_contain_text("Press again: it is charged at most once.")
    assert (len(portal.keys), Charge.objects.count()) == (4, 0)
    press.click()
    expect(question.locator("#confirm")).to_have_count(0)
    assert (len({*portal.keys}), Charge.objects.count()) == (1, 1)
