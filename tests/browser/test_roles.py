"""The money pages by role: members who manage money can act there, the others can view."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.member_page import MemberPage

MANAGE = {"Mira", "Thea"}  # the owner and the treasurer
EVERYBODY = MANAGE | {"Jonas", "Luca", "Vera"}
# A page, what stands on it for those who manage the money, and who else may open it.
PAGES = (
    ("/", "Export CSV", EVERYBODY),
    ("/ledger/", "Export CSV", EVERYBODY),
    ("/costs/", "", EVERYBODY),
    ("/forecast/", "", EVERYBODY),
    ("/reconciliation/", "", EVERYBODY),
    ("/budgets/", "Add budget", MANAGE),
    ("/alerts/", "Send test", MANAGE),
    ("/top-up/", "Save", MANAGE),
)
CLOSED = {"/top-up/"}  # to those who do not manage the money


@pytest.mark.parametrize("name", sorted(EVERYBODY))
def test_the_money_pages_offer_each_role_what_it_may_do(
    open_member_page: Callable[..., MemberPage], name: str
) -> None:
    page = open_member_page(name).page
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    for path, act, whose in PAGES:
        answer = page.goto(path)
        assert answer is not None
        shut = path in CLOSED and name not in MANAGE
        assert answer.status == (403 if shut else 200), path
        expect(page.locator("h1")).to_be_visible()
        if act:
            assert bool(acts(page, act)) == (name in whose), (path, act)
    assert complaints == []


def acts(page: Page, label: str) -> int:
    return sum(
        page.locator("main").get_by_role(role, name=label).count() for role in ("link", "button")
    )
