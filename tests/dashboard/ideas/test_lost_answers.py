"""A search that is pressed on the page, over a real sandbox, on its bad days: charged at most once,
and what was paid for is in the list. Rule 2."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from dashboard.models import Role
from proxyapi import failpoints
from proxyapi.charges import dispatch_charge
from proxyapi.models import Charge, ChargeState, Idea
from tests.dashboard.ideas.conftest import Browser, text_of
from tests.factories import MembershipFactory, TeamFactory
from tests.proxyapi.money.conftest import account, control, sandbox, sandbox_account, token
from tests.proxyapi.money.sandbox_account import SandboxAccount, work_until_settled

__all__ = ["account", "control", "sandbox", "sandbox_account", "token"]
DISCOVER = "*/ideas/discover"


class KilledWorker(BaseException):
    """Ends the worker's work where a signal would."""


@pytest.fixture
def press(sandbox_account: SandboxAccount, client_of: Browser) -> Callable[..., Charge]:
    """Presses Search as the token's owner; the charge as it was written."""
    team = TeamFactory(tenant=sandbox_account.token.tenant)
    owner = MembershipFactory(team=team, user=sandbox_account.token.owner, role=Role.PRODUCER)
    browser = client_of(owner)

    def press(keyword: str = "night trains") -> Charge:
        form = {"keyword": keyword, "network": "youtube", "price": "15", "nonce": str(uuid.uuid4())}
        assert browser.post("/ideas/searches/", form).status_code == 302
        return Charge.objects.latest("created_at")

    press.page = lambda: text_of(browser.get("/ideas/"))  # type: ignore[attr-defined]
    return press


@pytest.mark.slow
@pytest.mark.parametrize(
    ("when", "cost", "state"),
    [("after", 15, ChargeState.MATCHED), ("before", 0, ChargeState.REFUSED)],
)
def test_a_timed_out_search_is_read_back_and_never_sent_again(
    when: str,
    cost: int,
    state: ChargeState,
    press: Any,
    sandbox_account: SandboxAccount,
) -> None:
    """Slow: the ledger is given its time. pitfall_35: searched again, it would charge again."""
    charge = press()
    sandbox_account.set_fault(DISCOVER, "close", when)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.UNKNOWN
    assert "It may have cost 15 cr. Look at what you own first" in press.page()
    charge = work_until_settled(charge)
    assert (charge.state, sandbox_account.spent_credits()) == (state, cost)
    assert sandbox_account.count_posts("/ideas/discover") == 1
    assert Idea.objects.count() == (20 if cost else 0)
    told = "It was charged: 15 cr, ledger" if cost else "It was never charged."
    assert told in press.page()


@pytest.mark.slow
@pytest.mark.parametrize("point", ["dequeue", "sent", "answered", "reconcile"])
def test_a_killed_worker_neither_pays_twice_nor_loses_what_was_paid(
    point: str,
    press: Any,
    sandbox_account: SandboxAccount,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Slow, as above. Real processes die in tests/drills/charging/test_kills.py."""
    settings.CHARGE_HEARTBEAT_TIMEOUT_S = 0.3
    dead: list[str] = []

    def die_once(name: str) -> None:
        if name == point and not dead:
            dead.append(name)
            raise KilledWorker

    charge = press()
    if point == "reconcile":
        sandbox_account.set_fault(DISCOVER, "close", "after")
    monkeypatch.setattr(failpoints, "hit_failpoint", die_once)
    for _ in range(2):
        try:
            failpoints.hit_failpoint("dequeue")
            dispatch_charge(charge.pk)
            work_until_settled(charge, seconds=3)
        except KilledWorker:
            charge.refresh_from_db()
    Charge.objects.filter(state=ChargeState.SENDING).update(due_at=timezone.now())
    charge = work_until_settled(charge)
    assert dead == [point]
    paid = sandbox_account.spent_credits()
    assert paid == (charge.cost or Decimal(0)) and paid in (0, 15)
    assert sandbox_account.count_posts("/ideas/discover") <= 1
    assert Idea.objects.count() == (20 if paid else 0)


@pytest.mark.slow
def test_pitfall_35_a_search_made_before_costs_again_and_adds_nothing(
    press: Any, sandbox_account: SandboxAccount
) -> None:
    for _ in range(2):
        charge = press()
        dispatch_charge(charge.pk)
    assert Idea.objects.count() == 20 and sandbox_account.spent_credits() == 30
    page = press.page()
    assert "20 new ideas, 15 cr." in page
    assert "No new idea: all were in the list before. 15 cr." in page
